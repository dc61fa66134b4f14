/*
 * What all requests work with, and the command line where it does the same work.
 */
#ifndef MT_SERVER_SERVICE_SERVICE_H
#define MT_SERVER_SERVICE_SERVICE_H

struct mt_budget;
struct mt_catalog;
struct mt_document_jobs;
struct mt_engine;
struct mt_file_store;
struct mt_generation;
struct mt_generations;
struct mt_glossaries;
struct mt_http;
struct mt_loaded_model;
struct mt_memories;
struct mt_metrics;
struct mt_number_words;
struct mt_result_cache;
struct mt_settings;
struct mt_splitter;
struct mt_tls;

/* What all handlers work with. Immutable while any request holds it; borrowed everywhere. A request
 * has the same one from its first line to its end, whatever is reloaded meanwhile. */
struct mt_service {
    struct mt_generation *generation; /* whose service this is */
    struct mt_generations *generations;
    const struct mt_settings *settings;
    const struct mt_catalog *catalog; /* the models */
    /* settings->model, in memory as long as the generation. NULL: there is only a directory. */
    const struct mt_loaded_model *pinned;
    struct mt_engine *engine;
    struct mt_result_cache *results; /* of sentences that were decoded before; NULL: none kept */
    struct mt_metrics *metrics;
    struct mt_http *http;
    struct mt_budget *attention_budget; /* numbers in traces of all requests together */
    struct mt_file_store *files;        /* translated ones, until they are fetched */
    struct mt_document_jobs *documents; /* that are translated while nobody waits */
    struct mt_glossaries *glossaries;   /* that clients left here. NULL: none are taken */
    struct mt_memories *memories;       /* of translations; NULL likewise */
    struct mt_splitter *splitter;       /* for mt_translation_create, in begin alone */
    struct mt_number_words *number_words;
    struct mt_meters *meters;   /* how much clients have asked for */
    const struct mt_keys *keys; /* NULL: there is no api_keys_file */
    const struct mt_tls *tls;   /* NULL: no TLS */
};

#endif
