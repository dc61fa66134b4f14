/*
 * The directories for models on this machine. They depend on the environment, in the same way as
 * for the programs that write them:
 *
 *   models    models_directory, one directory or several, with ':' between them; where it is empty,
 *             attentiond/models below XDG_DATA_HOME, else below .local/share in HOME, else
 *             /var/lib/attentiond/models. Pulled models are stored in the first one.
 *   argos     LibreTranslate's packages: ARGOS_PACKAGES_DIR, ARGOS_TRANSLATE_PACKAGES_DIR, else
 *             argos-translate/packages below XDG_DATA_HOME or .local/share in HOME
 *   bundled   ../share/attentiond relative to the program, where it was installed
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

/* Splits the setting at ':'. A text that is the name of something existing is one directory,
 * whatever characters it has. Empty parts are ignored. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_directories_split(const char *models_directory,
                                                  struct mt_directories *out, struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_directories_finish(struct mt_directories *directories);

enum mt_place_kind {
    MT_PLACE_MODELS,
    MT_PLACE_ARGOS,
    MT_PLACE_BUNDLED,
    MT_PLACE_HUB,
};

/* Returns "models", "argos", "bundled", "huggingface". */
const char *mt_place_name(enum mt_place_kind kind);

struct mt_projected_tag {
    enum mt_place_kind kind;
    char *path;
};

/* In the order in which models are served (catalog.h), with the hub last. The first place is always
 * there, even if its directory does not exist yet; the others only if their directories exist. */
struct mt_places {
    struct mt_projected_tag list[MT_MAX_DIRECTORIES + 3];
    size_t n;
};

/* models_directory is the setting, which may be "". MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_places_find(const char *models_directory, struct mt_places *out,
                                            struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_places_finish(struct mt_places *places);

/* Whether a path is that of a package in LibreTranslate's directory. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_places_is_argos(const char *path, bool *out, struct mt_error *err);

/* Returns the directory for pulled models, which is borrowed. */
const char *mt_places_root(const struct mt_places *places);

/* Returns NULL where there is no hub. Borrowed. */
const char *mt_places_hub(const struct mt_places *places);

#endif
