/*
 * The models that lie on this machine: what they are called, and which one a name means.
 *
 * Thread-safety: safe while nobody changes the environment; a list is immutable.
 */
#ifndef MT_SERVER_STORE_STORE_H
#define MT_SERVER_STORE_STORE_H

#include "server/store/origin.h"
#include "server/store/places.h"

#include <stdint.h>

/* Most models that are looked at. */
#define MT_MAX_STORED_MODELS 16384

struct mt_stored_model {
    char *name; /* its directory's, or its file's; of the hub "ORG/NAME" */
    char *path;
    enum mt_place_kind place;
    struct mt_origin origin;
};

/* By place, and in each by name. */
struct mt_store {
    struct mt_places places;
    struct mt_stored_model *models;
    size_t n, capacity;
};

/* Looks at every place: what is a model by the names of its files, and of the hub's what has its
 * weights. Names that begin with a dot are no models'. models_directory is the setting. A place
 * that cannot be read has none. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_store_open(const char *models_directory, struct mt_store *out,
                                           struct mt_error *err);
/* Takes zeroed ones. */
void mt_store_close(struct mt_store *store);

/*
 * The model that a name means, the first of these that is there:
 *
 *   NAME of a model in a models directory ("opus-mt-en-fr"; ".argosmodel" may be left out)
 *   what one there was pulled from: ORG/NAME, ORG/NAME@COMMIT, argos:en-fr, whatever attentiond
 *       pull was given; "hf:" may be left out
 *   ORG/NAME in the hub, at main, or with @REVISION at a branch, a tag or a commit
 *   NAME in the hub: Helsinki-NLP's, or that of whoever has the only one
 *   NAME of an Argos package, or of a bundled model
 *
 * The caller frees *out, a path. MT_NOT_FOUND says where was looked, which name is the nearest, and
 * how to fetch it; MT_INVALID: the name is of several in the hub; MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_store_find(const struct mt_store *store, const char *name,
                                           char **out, struct mt_error *err);

/* Whether a text could be a model's name at all. A path that begins with "/", "./" or "~", or goes
 * through several directories, is none. */
bool mt_store_is_name(const char *text);

/* What its files take, those of its folders too, and of links what they lead to. */
uint64_t mt_stored_model_bytes(const struct mt_stored_model *model);

/* The one of that name in a models directory, as mt_store_find means it; NULL. */
const struct mt_stored_model *mt_store_find_in_models(const struct mt_store *store,
                                                      const char *name);

#endif
