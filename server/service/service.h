/*
 * What all requests work with, and also the command line for the same work.
 */
#ifndef MT_SERVER_SERVICE_SERVICE_H
#define MT_SERVER_SERVICE_SERVICE_H

struct mt_budget;
struct mt_catalog;
struct mt_document_jobs;
struct mt_engine;
struct mt_file_store;
struct mt_snapshot;
struct mt_snapshots;
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

/* The objects that all handlers use. Immutable while any request holds it; borrowed everywhere. A
 * request keeps the same one from its first line to its end, regardless of reloads. */
struct mt_service {
    struct mt_snapshot *snapshot; /* the snapshot that this belongs to */
    struct mt_snapshots *snapshots;
    const struct mt_settings *settings;
    const struct mt_catalog *catalog; /* the models */
    /* settings->model, in memory as long as the snapshot. NULL: there is only a
     * models_directory. */
    const struct mt_loaded_model *pinned;
    struct mt_engine *engine;
    /* translations of sentences that were decoded before; NULL: none are stored */
    struct mt_result_cache *results;
    struct mt_metrics *metrics;
    struct mt_http *http;
    /* limit for the numbers in traces of all requests together */
    struct mt_budget *attention_budget;
    struct mt_file_store *files;        /* translated files until they are downloaded */
    struct mt_document_jobs *documents; /* documents that are translated while no client waits */
    struct mt_glossaries *glossaries;   /* glossaries of clients; NULL: they are not supported */
    /* translation memories of clients; NULL: they are not supported */
    struct mt_memories *memories;
    struct mt_splitter *splitter; /* for mt_translation_create, which only begin may call */
    struct mt_number_words *number_words;
    struct mt_meters *meters;   /* how much clients have requested */
    const struct mt_keys *keys; /* NULL: there is no api_keys_file */
    const struct mt_tls *tls;   /* NULL: no TLS */
};

#endif
