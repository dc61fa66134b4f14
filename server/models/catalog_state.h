/*
 * The inside of a catalog, shared by catalog.c (its models), catalog_scan.c (which finds them in
 * the directories) and catalog_routes.c (the ways between languages).
 */
#ifndef MT_SERVER_MODELS_CATALOG_STATE_H
#define MT_SERVER_MODELS_CATALOG_STATE_H

#include "server/models/catalog.h"

/* The languages of one model, as indexes into the graph's, in the model's order. The model leads
 * from each source to each target. */
struct mt_graph_model {
    const size_t *sources, *targets;
    size_t n_sources, n_targets; /* 0 for a model that failed at the scan */
};

/*
 * The graph. Its nodes are languages[i], in order; a model with s source and t target languages has
 * s x t edges. hops is [n_languages, n_languages]. serves[i, j] tells whether a model from language
 * j takes a text in language i: 2 for the same language, 1 for one that mt_language_matches,
 * otherwise 0.
 */
struct mt_language_graph {
    char (*languages)[MT_LANGUAGE_BYTES];
    size_t n_languages;
    struct mt_graph_model *models; /* one for each of the catalog's models, in the same order */
    size_t *indices;
    unsigned char *hops, *serves;
};

struct mt_catalog {
    struct mt_served_model **models;
    bool *has_failed; /* at the scan */
    size_t n, capacity, failed_capacity;
    /* models that check_sentence refused; too_large is the error of the last one */
    size_t n_too_large;
    struct mt_error too_large;
    struct mt_language_graph graph;
};

/* Finds a model by its id only; NULL: there is none. */
struct mt_served_model *mt_catalog_find_id(const struct mt_catalog *catalog, const char *id);

/* Fills catalog->models, which is the first part of mt_catalog_create. After a failure the caller
 * drops the models that are there. */
MT_MUST_CHECK enum mt_status mt_catalog_scan(struct mt_catalog *catalog,
                                             const struct mt_catalog_options *options,
                                             struct mt_error *err);

/* Fills catalog->graph. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_language_graph_build(struct mt_catalog *catalog,
                                                     struct mt_error *err);
void mt_language_graph_finish(struct mt_language_graph *graph);

#endif
