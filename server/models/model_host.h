/*
 * Where served models live: the engine that decodes for all of them, the memory that they may take
 * together, and the thread that loads and unloads them.
 *
 * A model is loaded when somebody waits for it; one after the other, in the order in which they
 * were asked for. Where there is no room (options.memory_bytes), those that nobody holds are
 * unloaded, the least recently used first. Where all are held, the load waits until one is let go;
 * after MT_LOAD_PATIENCE_MS the least recently used is closed to newcomers, who then wait in their
 * turn, so that steady traffic to some models does not keep another out for ever. Work ends by its
 * deadline; but one that is still held MT_CLOSING_PATIENCE_MS after its last, as by the reader of a
 * stream who stands still, is given back to newcomers, and not closed again before
 * MT_REOPENED_MS have passed. settings->model waits behind nobody.
 *
 * Who keeps whom: a request its generation, and the model that it holds; a generation its catalog
 * and its host; a catalog its served models, which generations share; the host the engine. A lane
 * is there as long as its model is in memory, so jobs end before their request lets go of the
 * model. One that no catalog has any more is held by no request, and goes.
 *
 * Locks are taken in this order: an exchange's or the generations' -> the host's -> the engine's
 * (attaching, mutex). on_done and on_progress are called with none of them, and may take any.
 *
 * Thread-safety: safe, but for create and the last let_go.
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
/* A model that could not be loaded is tried again, where somebody asks for it, after that. */
#define MT_LOAD_RETRY_MS 10000

struct mt_model_host_options {
    struct mt_engine_options engine;
    /* Borrowed as long as the host lives; made ready for the languages of each model that is loaded
     * (warm_up.h). NULL: there are none. */
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
};

/* With one holder. Starts the engine's threads and the host's own. MT_INVALID, MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_host_create(const struct mt_model_host_options *options,
                                                  struct mt_model_host **out, struct mt_error *err);
void mt_model_host_hold(struct mt_model_host *host);

/* The last one ends it: waits end with MT_CANCELLED, and a load under way is waited for. NULL is
 * nobody. No served model may be left then. */
void mt_model_host_let_go(struct mt_model_host *host);

/* May change at any time. */
struct mt_model_host_limits {
    uint64_t memory_bytes; /* of all loaded models but pinned ones; 0: any */
    int64_t idle_ns;       /* a model that nobody has used for so long is unloaded; 0: none */
};
void mt_model_host_set_limits(struct mt_model_host *host,
                              const struct mt_model_host_limits *limits);

/* From now on nothing is loaded; who waits gets MT_CANCELLED. False: a load is still under way
 * after timeout_ms. */
bool mt_model_host_stop(struct mt_model_host *host, int64_t timeout_ms);

/* Borrowed. */
struct mt_engine *mt_model_host_engine(const struct mt_model_host *host);

/* A snapshot. */
struct mt_model_host_counts {
    uint64_t loaded_bytes, memory_bytes; /* what is loaded, and its limit (0: none): not pinned */
    size_t n_loaded, n_waiting;
    uint64_t n_loads, n_unloads, n_failures;
};
void mt_model_host_count(struct mt_model_host *host, struct mt_model_host_counts *out);

/* --- served models of the host --- */

/* What a served model is to be. Everything is copied. */
struct mt_served_model_options {
    struct mt_served_model_info info;
    const struct mt_model_options *model; /* precision, kernels, ... */
    const char *warm_up_text;             /* "": no warm-up */
    const char *warm_up_answer;           /* "": any */
    size_t warm_up_beam_size;             /* 0: the model's */
    const char *fingerprint; /* two of one fingerprint are the same (mt_served_model_is) */
    size_t expected_bytes;   /* in memory, at least: what counts until it was loaded once; 0 */
    const struct mt_error *failure; /* NULL, or why it can never be loaded */
};

/* Creates a model that belongs to one catalog. Another catalog that has it too calls
 * mt_served_model_share. Requests hold a model in another way (mt_served_model_hold). */
MT_MUST_CHECK enum mt_status mt_served_model_create(struct mt_model_host *host,
                                                    const struct mt_served_model_options *options,
                                                    struct mt_served_model **out,
                                                    struct mt_error *err);
void mt_served_model_share(struct mt_served_model *served);
/* The last one: it is unloaded and destroyed, by the host's thread. Takes NULL. */
void mt_served_model_drop(struct mt_served_model *served);

/* Whether it may be shared by another catalog that wants this: same host and fingerprint, and
 * neither failed nor damaged. */
bool mt_served_model_is(struct mt_served_model *served, const struct mt_model_host *host,
                        const char *fingerprint);

/* Whether it can be asked for now: false where it has just failed. */
bool mt_served_model_is_usable(struct mt_served_model *served);

/* Looks at the files of a model that is in memory, so that damage shows without traffic. */
void mt_served_model_look_after(struct mt_served_model *served);

/* What lies in a directory now, newcomer, is to take the place of former, which it held before, and
 * is loaded while former answers; for it nobody is unloaded. Where there is no room for both, its
 * files are checked and it stays as it is. MT_OK: former can go. Also where it is not in memory, or
 * damaged: nothing is lost then. Failures as the lowest level found them: former stays, shared once
 * more, and what can be seen of it says why (mt_served_model_describe); it is not unloaded for being
 * idle, and last for others. Waits here and now. */
MT_MUST_CHECK enum mt_status mt_served_model_succeed(struct mt_served_model *former,
                                                     struct mt_served_model *newcomer,
                                                     struct mt_error *err);

/* Waits here and now until the model is loaded; a pinned one then stays where *out is as long as it
 * is in a catalog. Failures as the lowest level found them. */
MT_MUST_CHECK enum mt_status mt_served_model_load(struct mt_served_model *served,
                                                  const struct mt_loaded_model **out,
                                                  struct mt_error *err);

#endif
