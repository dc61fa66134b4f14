/*
 * The inside of a catalog, shared by catalog.c (what is in it), catalog_scan.c (where that
 * comes from) and catalog_routes.c (where it leads).
 */
#ifndef MT_SERVER_MODELS_CATALOG_STATE_H
#define MT_SERVER_MODELS_CATALOG_STATE_H

#include "server/models/catalog.h"

/* The languages of one model, as indices into the graph's, in the model's own order. The model
 * leads from each source to each target. */
struct mt_graph_model {
    const size_t *sources, *targets;
    size_t n_sources, n_targets; /* 0 of one that failed at the scan */
};

/*
 * The graph: languages[i] are its nodes, in order; a model of s and t languages stands for its s x t
 * edges. hops is [n_languages, n_languages]. serves[i, j] says whether a text in language i may be
 * given to a model from j: 2 for the same language, 1 for one that mt_language_matches, 0.
 */
struct mt_language_graph {
    char (*languages)[MT_LANGUAGE_BYTES];
    size_t n_languages;
    struct mt_graph_model *models; /* of the catalog's, in its order */
    size_t *indices;
    unsigned char *hops, *serves;
};

struct mt_catalog {
    struct mt_served_model **models;
    bool *has_failed; /* at the scan */
    size_t n, capacity, failed_capacity;
    size_t n_too_large; /* refused by check_sentence, the last of them for */
    struct mt_error too_large;
    struct mt_language_graph graph;
};

/* The one of that id, whatever the aliases are; NULL. */
struct mt_served_model *mt_catalog_find_id(const struct mt_catalog *catalog, const char *id);

/* Fills catalog->models: mt_catalog_create without the graph. What is there on failure, too, is to
 * be dropped. */
MT_MUST_CHECK enum mt_status mt_catalog_scan(struct mt_catalog *catalog,
                                             const struct mt_catalog_options *options,
                                             struct mt_error *err);

/* Fills catalog->graph. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_language_graph_build(struct mt_catalog *catalog,
                                                     struct mt_error *err);
void mt_language_graph_finish(struct mt_language_graph *graph);

#endif
