/*
 * The host of served models: it has the engine that decodes for all of them, limits the memory that
 * they take together, and has a thread that loads and unloads them.
 *
 * A model is loaded when somebody waits for it. Models are loaded one after the other, in the order
 * in which they were requested. If there is no room (options.memory_bytes), then models that nobody
 * holds are unloaded, the least recently used first. If all are held, then the load waits until one
 * is let go. After MT_LOAD_PATIENCE_MS the least recently used one is closed: requests that want it
 * now have to wait, so that steady traffic to some models does not keep out another one for ever.
 * Requests normally end by their deadline. A model that is still held MT_CLOSING_PATIENCE_MS after
 * its last work, for example by a client that stopped reading a stream, is opened again, and not
 * closed again within MT_REOPENED_MS. Loading settings->model waits for no other model.
 *
 * Who keeps whom alive: a request keeps its snapshot, and the model that it holds; a snapshot
 * its catalog and its host; a catalog its served models, which snapshots share; the host the
 * engine. A model has a lane as long as it is in memory, so jobs end before their request lets go
 * of the model. A model that is in no catalog any more is held by no request, and is destroyed.
 *
 * Locks are taken in this order: an exchange's or the snapshots' -> the host's -> the engine's
 * (attaching, mutex). on_done and on_progress are called without any of them, and may take any.
 *
 * Thread-safety: safe, except for create and the last let_go.
 */
#ifndef MT_SERVER_MODELS_MODEL_HOST_H
#define MT_SERVER_MODELS_MODEL_HOST_H

#include "server/engine/engine.h"
#include "server/models/served_model.h"

struct mt_model_host;
struct mt_model_options;
struct mt_number_words;
struct mt_splitter;

#define MT_LOAD_PATIENCE_MS 500
#define MT_CLOSING_PATIENCE_MS 1000
#define MT_REOPENED_MS 10000
/* A model that could not be loaded may be tried again after this time, when somebody requests
 * it. */
#define MT_LOAD_RETRY_MS 10000

struct mt_model_host_options {
    struct mt_engine_options engine;
    /* Both are borrowed as long as the host lives, and prepared for the languages of each model
     * that is loaded (warm_up.h). NULL: there are none. */
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
};

/* Creates a host with one holder, and starts the engine's threads and its own. MT_INVALID, MT_IO,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_host_create(const struct mt_model_host_options *options,
                                                  struct mt_model_host **out, struct mt_error *err);
void mt_model_host_hold(struct mt_model_host *host);

/* The last call destroys the host: waits end with MT_CANCELLED, and a load in progress is completed
 * first. No served model may be left. NULL is allowed. */
void mt_model_host_let_go(struct mt_model_host *host);

/* These may be changed at any time. */
struct mt_model_host_limits {
    uint64_t memory_bytes; /* of all loaded models except pinned ones; 0: no limit */
    int64_t idle_ns;       /* a model is unloaded when nobody has used it for this time; 0: never */
};
void mt_model_host_set_limits(struct mt_model_host *host,
                              const struct mt_model_host_limits *limits);

/* Stops loading: those who wait get MT_CANCELLED. Returns false where a load is still in progress
 * after timeout_ms. */
bool mt_model_host_stop(struct mt_model_host *host, int64_t timeout_ms);

/* Returns the engine, which is borrowed. */
struct mt_engine *mt_model_host_engine(const struct mt_model_host *host);

/* A snapshot. */
struct mt_model_host_counts {
    /* of loaded models, without pinned ones, and their limit (0: none) */
    uint64_t loaded_bytes, memory_bytes;
    size_t n_loaded, n_waiting;
    uint64_t n_loads, n_unloads, n_failures;
};
void mt_model_host_count(struct mt_model_host *host, struct mt_model_host_counts *out);

/* --- served models of the host --- */

/* Describes a served model. Everything is copied. */
struct mt_served_model_options {
    struct mt_served_model_info info;
    const struct mt_model_options *model; /* precision, kernels, ... */
    const char *warm_up_text;             /* "": there is no warm-up */
    const char *warm_up_answer;           /* "": any answer is accepted */
    size_t warm_up_beam_size;             /* 0: the model's default */
    const char *fingerprint; /* models with equal fingerprints are the same (mt_served_model_is) */
    /* least memory that it needs, which counts until it was loaded once; 0: unknown */
    size_t expected_bytes;
    const struct mt_error *failure; /* why it can never be loaded; NULL: it can */
};

/* Creates a model that belongs to one catalog. Another catalog with the same model calls
 * mt_served_model_share. Requests hold a model in another way (mt_served_model_hold). */
MT_MUST_CHECK enum mt_status mt_served_model_create(struct mt_model_host *host,
                                                    const struct mt_served_model_options *options,
                                                    struct mt_served_model **out,
                                                    struct mt_error *err);
void mt_served_model_share(struct mt_served_model *served);
/* The last call unloads and destroys the model, in the host's thread. NULL is allowed. */
void mt_served_model_drop(struct mt_served_model *served);

/* Whether another catalog may share the model: it has the same host and fingerprint, and is neither
 * failed nor damaged. */
bool mt_served_model_is(struct mt_served_model *served, const struct mt_model_host *host,
                        const char *fingerprint);

/* Returns false where loading the model has just failed. */
bool mt_served_model_is_usable(struct mt_served_model *served);

/* Checks the files of a model that is in memory, so that damage is found without traffic. */
void mt_served_model_look_after(struct mt_served_model *served);

/* Replaces former, a loaded model, by newcomer, which is what its directory contains now. newcomer
 * is loaded while former serves requests, without unloading others for it. If there is no room for
 * both, then its files are checked, and it stays unloaded. MT_OK: former can be dropped. This is
 * also so where former is not in memory, or is damaged, since nothing is lost then. Other statuses
 * come from loading newcomer: former is kept, shared once more, and its description has the reason
 * (mt_served_model_describe); it is not unloaded for being idle, and is the last to be unloaded for
 * others. The call blocks. */
MT_MUST_CHECK enum mt_status mt_served_model_succeed(struct mt_served_model *former,
                                                     struct mt_served_model *newcomer,
                                                     struct mt_error *err);

/* Blocks until the model is loaded. A pinned model then stays at *out as long as it is in a
 * catalog. Other statuses come from loading it. */
MT_MUST_CHECK enum mt_status mt_served_model_load(struct mt_served_model *served,
                                                  const struct mt_loaded_model **out,
                                                  struct mt_error *err);

#endif
