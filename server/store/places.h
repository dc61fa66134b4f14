/*
 * Where models lie on this machine. The environment says it, as it says it to the programs that
 * keep them:
 *
 *   models    models_directory, one directory or several, with ':' between them; where it is empty,
 *             attentiond/models below XDG_DATA_HOME, else below .local/share in HOME, else
 *             /var/lib/attentiond/models. The first one is where pulled models are kept.
 *   argos     LibreTranslate's packages: ARGOS_PACKAGES_DIR, ARGOS_TRANSLATE_PACKAGES_DIR, else
 *             argos-translate/packages below XDG_DATA_HOME or .local/share in HOME
 *   bundled   ../share/attentiond, seen from the program: where it was installed
 *   hub       Hugging Face's cache: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, hub below HF_HOME, else
 *             huggingface/hub below XDG_CACHE_HOME or .cache in HOME
 *
 * Thread-safety: safe while nobody changes the environment.
 */
#ifndef MT_SERVER_STORE_PLACES_H
#define MT_SERVER_STORE_PLACES_H

#include "base/status.h"

#include <stdbool.h>

/* Most directories of one models_directory. */
#define MT_MAX_DIRECTORIES 16

/* The directories of a models_directory, in order. */
struct mt_directories {
    char *paths[MT_MAX_DIRECTORIES];
    size_t n;
};

/* A text that names something that exists is one directory, whatever characters are in it. Empty
 * parts name none. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_directories_split(const char *models_directory,
                                                  struct mt_directories *out, struct mt_error *err);
/* Takes zeroed ones. */
void mt_directories_finish(struct mt_directories *directories);

enum mt_place_kind {
    MT_PLACE_MODELS,
    MT_PLACE_ARGOS,
    MT_PLACE_BUNDLED,
    MT_PLACE_HUB,
};

/* "models", "argos", "bundled", "huggingface". */
const char *mt_place_name(enum mt_place_kind kind);

struct mt_place {
    enum mt_place_kind kind;
    char *path;
};

/* The order is that in which models are served (catalog.h); the hub is last. The first is there
 * always, and its directory perhaps not yet; of the others, those whose directories are there. */
struct mt_places {
    struct mt_place list[MT_MAX_DIRECTORIES + 3];
    size_t n;
};

/* models_directory: the setting, which may be "". MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_places_find(const char *models_directory, struct mt_places *out,
                                            struct mt_error *err);
/* Takes zeroed ones. */
void mt_places_finish(struct mt_places *places);

/* Whether a path is that of a package in LibreTranslate's directory of them. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_places_is_argos(const char *path, bool *out, struct mt_error *err);

/* Where pulled models are kept. Borrowed. */
const char *mt_places_root(const struct mt_places *places);

/* NULL: there is none. Borrowed. */
const char *mt_places_hub(const struct mt_places *places);

#endif
