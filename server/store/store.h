/*
 * The models on this machine: their names, and which model a name means.
 *
 * Thread-safety: safe while nobody changes the environment; a list is immutable.
 */
#ifndef MT_SERVER_STORE_STORE_H
#define MT_SERVER_STORE_STORE_H

#include "server/store/origin.h"
#include "server/store/places.h"

#include <stdint.h>

/* Most models in a list. */
#define MT_MAX_STORED_MODELS 16384

struct mt_stored_model {
    char *name; /* name of its directory or file; in the hub "ORG/NAME" */
    char *path;
    enum mt_place_kind place;
    struct mt_origin origin;
};

/* Ordered by place, and in each place by name. */
struct mt_store {
    struct mt_places places;
    struct mt_stored_model *models;
    size_t n, capacity;
};

/* Lists the models of all places. A model is recognised by the names of its files; one in the hub
 * needs its weights, too. Names that begin with a dot are ignored. models_directory is the setting.
 * A place that cannot be read is treated as empty. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_store_open(const char *models_directory, struct mt_store *out,
                                           struct mt_error *err);
/* A zeroed store is allowed. */
void mt_store_close(struct mt_store *store);

/*
 * Finds the model that a name means, which is the first one of these:
 *
 *   NAME of a model in a models directory ("opus-mt-en-fr"; ".argosmodel" may be left out)
 *   the origin of such a model: ORG/NAME, ORG/NAME@COMMIT, argos:en-fr, any name that attentiond
 *       pull takes; "hf:" may be left out
 *   ORG/NAME in the hub, at main, or with @REVISION at a branch, a tag or a commit
 *   NAME in the hub: Helsinki-NLP's, or the only one of that name
 *   NAME of an Argos package, or of a bundled model
 *
 * The caller frees *out, a path. MT_NOT_FOUND tells which places were searched, the most similar
 * name, and how to pull the model; MT_INVALID: several models in the hub have the name; MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_store_find(const struct mt_store *store, const char *name,
                                           char **out, struct mt_error *err);

/* Whether a text can be a model's name. A path that begins with "/", "./" or "~", or that has
 * several directories, cannot. */
bool mt_store_is_name(const char *text);

/* Returns the size of its files, including its folders and the targets of links. */
uint64_t mt_stored_model_bytes(const struct mt_stored_model *model);

/* Returns the model of that name in a models directory, by the rules of mt_store_find; NULL: there
 * is none. */
const struct mt_stored_model *mt_store_find_in_models(const struct mt_store *store,
                                                      const char *name);

#endif
