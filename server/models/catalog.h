/*
 * The models that one snapshot serves, their names, and the ways between their languages.
 *
 *   en --[en-de]--> de      settings->model comes first, then the subdirectories of each of
 *    |              ^       settings->models_directory, by name; each is an edge of this graph for
 *    '--[en-fr]--> fr       every pair of languages that it translates
 *                   '--[fr-de]--'
 *
 * Thread-safety: immutable after create; its served models are safe by themselves.
 */
#ifndef MT_SERVER_MODELS_CATALOG_H
#define MT_SERVER_MODELS_CATALOG_H

#include "server/models/served_model.h"

struct mt_catalog;
struct mt_model_host;
struct mt_settings;

/* Most models on the way from one language to another. */
#define MT_MAX_ROUTE 3
#define MT_MAX_SERVED_MODELS 4096
#define MT_MAX_CATALOG_LANGUAGES 1024

/* The longest sentence of all models, and the widest of their default beams; 0: no model has
 * any. */
struct mt_longest_sentence {
    size_t n_positions, n_beams;
};

/* All are borrowed during the call, and the host for longer. */
struct mt_catalog_options {
    const struct mt_settings *settings;
    struct mt_model_host *host;
    /* a catalog whose unchanged models are shared; NULL: there is none */
    const struct mt_catalog *former;
    /* shows the progress of packing settings->model on a terminal */
    bool shows_progress;
    /* Checks whether there is memory for sentences of a model in a directory. A model that is
     * refused is FAILED. NULL: it is not checked. */
    enum mt_status (*check_sentence)(void *context, const struct mt_longest_sentence *longest,
                                     struct mt_error *err);
    void *context;
};

/* Creates a catalog of settings->model and the subdirectories of settings->models_directory. A
 * faulty subdirectory is in the catalog, too, as FAILED, and is logged. No model is loaded.
 * MT_INVALID, MT_NOT_FOUND and the like are for settings->model, and for a models_directory that
 * cannot be read, or that is a model itself instead of holding some; the status of check_sentence
 * where it has refused all models; MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_catalog_create(const struct mt_catalog_options *options,
                                               struct mt_catalog **out, struct mt_error *err);

/* NULL is allowed. Models that no other catalog shares are unloaded soon, since nobody can hold
 * them. */
void mt_catalog_destroy(struct mt_catalog *catalog);

/* Loads in the background the models with defaults->preload, and those that replace a loaded model
 * of former. */
void mt_catalog_prefetch(const struct mt_catalog *catalog, const struct mt_catalog *former);

/* The models, in order. */
size_t mt_catalog_n(const struct mt_catalog *catalog);
struct mt_served_model *mt_catalog_at(const struct mt_catalog *catalog, size_t i);

/* Finds a model by its id, or else by an alias; NULL: there is none. */
struct mt_served_model *mt_catalog_find(const struct mt_catalog *catalog, const char *id_or_alias);

/* Returns the most similar id, for a message; NULL: there is none. */
const char *mt_catalog_nearest(const struct mt_catalog *catalog, const char *id_or_alias);

/* Returns the model for requests that name neither model nor languages: settings->model, otherwise
 * the first one that did not fail at the scan; NULL where there is none. */
struct mt_served_model *mt_catalog_default(const struct mt_catalog *catalog);

/* One model of a route. */
struct mt_model_route_step {
    struct mt_served_model *served;
    /* languages of served; NULL where it does not name them */
    const struct mt_model_language *source, *target;
};

struct mt_model_route {
    size_t n; /* number of models; 1: direct */
    struct mt_model_route_step steps[MT_MAX_ROUTE];
};

/*
 * Finds the way from source to target, both normalised. The fewest models are preferred, then the
 * highest sum of their qualities, then the catalog's order. "en" serves "en-US"
 * (mt_language_matches), also between two models. Models that failed at the scan are never used.
 * Those that failed later, or are damaged, are used only where there is no other way, because the
 * wait for them then ends with the reason. MT_NOT_FOUND: there is no way; the message tells whether
 * the source, the target or only a connection is missing.
 */
MT_MUST_CHECK enum mt_status mt_catalog_route(const struct mt_catalog *catalog, const char *source,
                                              const char *target, struct mt_model_route *out,
                                              struct mt_error *err);

/* Checks whether a single model translates from source to target. Either may be "" where the model
 * has only one language on that side. A model that does not name its languages takes any.
 * MT_INVALID lists its languages. */
MT_MUST_CHECK enum mt_status mt_catalog_step(struct mt_served_model *served, const char *source,
                                             const char *target, struct mt_model_route_step *out,
                                             struct mt_error *err);

/* Returns the longest sentence of all models in the catalog. */
struct mt_longest_sentence mt_catalog_longest_sentence(const struct mt_catalog *catalog);

/* The languages of all models, sorted, without duplicates. */
size_t mt_catalog_n_languages(const struct mt_catalog *catalog);
const char *mt_catalog_language(const struct mt_catalog *catalog, size_t i);

/* Returns how many models lead from one language to another: 1 to MT_MAX_ROUTE; 0: there is no way,
 * or both are the same and no model translates the language into itself. */
size_t mt_catalog_hops(const struct mt_catalog *catalog, size_t from, size_t to);

#endif
