/*
 * The models that one generation serves, what they are called, and which languages lead where.
 *
 *   en --[en-de]--> de      settings->model comes first, then the subdirectories of each of
 *    |              ^       settings->models_directory, by name; each is an edge of this graph for
 *    '--[en-fr]--> fr       every pair of languages that it translates
 *                   '--[fr-de]--'
 *
 * Thread-safety: immutable after create; its served models take care of themselves.
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

/* The longest sentence that models take, and the widest beam that they have where nobody says one;
 * 0: none says. */
struct mt_longest_sentence {
    size_t n_positions, n_beams;
};

/* All borrowed, during the call alone but for the host. */
struct mt_catalog_options {
    const struct mt_settings *settings;
    struct mt_model_host *host;
    const struct mt_catalog *former; /* whose unchanged models are shared; NULL: there is none */
    bool shows_progress;             /* of packing settings->model, on a terminal */
    /* Whether there is memory for sentences of a model in a directory; one that is refused is FAILED.
     * NULL: nobody looks. */
    enum mt_status (*check_sentence)(void *context, const struct mt_longest_sentence *longest,
                                     struct mt_error *err);
    void *context;
};

/* Reads what there is: settings->model, and the subdirectories of settings->models_directory. A
 * subdirectory with which something is wrong is in the catalog all the same, FAILED, and logged. No
 * model is loaded. MT_INVALID, MT_NOT_FOUND and the like for settings->model and for a
 * models_directory that cannot be read, or has no model in it but is one; check_sentence's where it
 * has refused all; MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_catalog_create(const struct mt_catalog_options *options,
                                               struct mt_catalog **out, struct mt_error *err);

/* Takes NULL. Models that no other catalog shares are unloaded, soon: nobody holds them. */
void mt_catalog_destroy(struct mt_catalog *catalog);

/* Loads in the background those that want it (defaults->preload), and those that replace one that
 * was in memory. */
void mt_catalog_prefetch(const struct mt_catalog *catalog, const struct mt_catalog *former);

/* In order. */
size_t mt_catalog_n(const struct mt_catalog *catalog);
struct mt_served_model *mt_catalog_at(const struct mt_catalog *catalog, size_t i);

/* The one of that id, or else of that alias; NULL. */
struct mt_served_model *mt_catalog_find(const struct mt_catalog *catalog, const char *id_or_alias);

/* The id that is most like it, for a message; NULL. */
const char *mt_catalog_nearest(const struct mt_catalog *catalog, const char *id_or_alias);

/* For requests that name neither model nor languages: settings->model, else the first that has not
 * failed at the scan; NULL where there is none. */
struct mt_served_model *mt_catalog_default(const struct mt_catalog *catalog);

/* One model on the way. */
struct mt_model_route_step {
    struct mt_served_model *served;
    const struct mt_model_language *source, *target; /* of served; NULL where it does not say */
};

struct mt_model_route {
    size_t n; /* 1: direct */
    struct mt_model_route_step steps[MT_MAX_ROUTE];
};

/*
 * The way from source to target, both normalised. Fewest models first, then the highest sum of
 * their qualities, then the order of the catalog. "en" serves "en-US" (mt_language_matches), on the
 * way, too. Models that failed at the scan are no way; those that failed since, or are damaged,
 * only where there is no other: waiting for them says why. MT_NOT_FOUND: there is none, and whether
 * source, target or the way between them is what is missing.
 */
MT_MUST_CHECK enum mt_status mt_catalog_route(const struct mt_catalog *catalog, const char *source,
                                              const char *target, struct mt_model_route *out,
                                              struct mt_error *err);

/* As mt_catalog_route, with one model alone: whether it translates that way, and the step. source
 * or target may be "": whatever the model has, where it has only one. A model that does not say its
 * languages takes any. MT_INVALID says which languages it has. */
MT_MUST_CHECK enum mt_status mt_catalog_step(struct mt_served_model *served, const char *source,
                                             const char *target, struct mt_model_route_step *out,
                                             struct mt_error *err);

/* The longest sentence of all models of the catalog. */
struct mt_longest_sentence mt_catalog_longest_sentence(const struct mt_catalog *catalog);

/* All languages of all models, sorted, each once. */
size_t mt_catalog_n_languages(const struct mt_catalog *catalog);
const char *mt_catalog_language(const struct mt_catalog *catalog, size_t i);

/* How many models lead from one of them to another: 1 to MT_MAX_ROUTE; 0: no way, or both are the
 * same and no model translates the language into itself. */
size_t mt_catalog_hops(const struct mt_catalog *catalog, size_t from, size_t to);

#endif
