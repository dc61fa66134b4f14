/*
 * One model directory as the daemon serves it: its names, its languages, and whether it is in
 * memory. The host (model_host.h) loads and unloads it, and limits the memory of all models
 * together. Successive snapshots share a served model as long as its files do not change.
 *
 *        wait                    loaded, warmed up
 *   COLD ----> LOADING ------------------------------> READY --.  hold, let_go
 *    ^            | anything wrong                       |  ^--'
 *    |            v                                      |
 *    |<------- FAILED, with the reason                   |
 *    |  after a while, or with another snapshot        |
 *    '---------------------------------------------------' idle, or memory is needed for others
 *
 * A request finds its model in its snapshot's catalog (catalog.h), and then:
 *
 *   model = mt_served_model_hold(served);
 *   if (!model) {
 *       status = mt_served_model_wait(served, &wait, &err);   -> wait.on_done, with the model held
 *       ...
 *   }
 *   ... jobs with .lane = model->lane, submitted to model->engine ...
 *   mt_served_model_let_go(served);                           after the last of them is done
 *
 * Thread-safety: every function may be called from any thread.
 */
#ifndef MT_SERVER_MODELS_SERVED_MODEL_H
#define MT_SERVER_MODELS_SERVED_MODEL_H

#include "server/text/language.h"
#include "server/models/model_card.h"
#include "server/models/model_defaults.h"
#include "server/store/origin.h"

#include <stdint.h>

struct mt_engine;
struct mt_lane;
struct mt_model;
struct mt_served_model;

/* A language that a model translates from or to. */
struct mt_model_language {
    char code[MT_LANGUAGE_BYTES]; /* normalised (language.h) */
    /* The token at the beginning of a text. A model with several target languages has ">>deu<<",
     * and a model of many languages has the language's own code ("deu_Latn") on both sides. NULL:
     * there is none. */
    const char *token;
};

/* The model's size, from its config.json; all 0 where that could not be read. */
struct mt_model_shape {
    size_t n_encoder_layers, n_decoder_layers, n_heads, d_model, d_ff;
    size_t n_source_vocab, n_target_vocab;
    bool has_ssru; /* the decoder's layers have a recurrent cell, and no self-attention */
};

/* Facts that do not change as long as the served model exists. Borrowed from it. */
struct mt_served_model_info {
    /* the directory's name, in a form that suits URLs and labels of metrics */
    const char *id;
    const char *directory;                             /* path as it was given or found */
    const struct mt_model_language *sources, *targets; /* none: the directory does not name them */
    size_t n_sources, n_targets;
    struct mt_model_shape shape;
    /* From the files when they were read; "": unknown. */
    char licence[MT_LICENCE_BYTES], from[MT_ORIGIN_FROM_BYTES];
    const struct mt_model_defaults *defaults; /* aliases, beam_size, ... */
    size_t max_positions; /* tokens of its longest sentence; 0: its files do not tell directly */
    size_t n_beams;       /* default beam; 0: its files do not tell */
    bool is_pinned;       /* settings->model, which is in memory as long as its snapshot */
};
const struct mt_served_model_info *mt_served_model_info(const struct mt_served_model *served);

/* A model in memory. It is immutable, and valid from hold (or the end of a wait) to let_go. */
struct mt_loaded_model {
    struct mt_served_model *served;
    const struct mt_model *model;
    struct mt_engine *engine; /* the engine for its jobs */
    struct mt_lane *lane;     /* the lane for its jobs */
    const char *label;        /* the id */
    /* The only language on a side; "" where the model has several, or does not name it. Then the
     * route that led here has it (struct mt_model_route_step in catalog.h). */
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES];
    const struct mt_model_defaults *defaults;
    struct mt_alignment_choice alignment; /* from attentiond.json */
};

/* Returns NULL unless the model is ready. Each successful call needs a let_go. Meanwhile the caller
 * keeps the snapshot whose catalog has the model. */
const struct mt_loaded_model *mt_served_model_hold(struct mt_served_model *served);
void mt_served_model_let_go(struct mt_served_model *served);

/*
 * A wait for a model. The caller owns the struct and keeps it alive until on_done has been called,
 * or stop_waiting has returned true.
 */
struct mt_model_wait {
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none. After it status is MT_TIMEOUT */
    /*
     * Called exactly once for every wait that was accepted, unless stop_waiting revoked it. The
     * call comes from a thread of the host, perhaps before mt_served_model_wait returns, and
     * without any lock: it may hold and let go of models and submit jobs, but must be short. With
     * MT_OK the model is already held. Otherwise wait->err has the reason: a fault of the model
     * (MT_BUSY: it cannot be served for now, whatever status the lower level returned), MT_TIMEOUT,
     * or MT_CANCELLED where the daemon ends. The host does not use the wait after this.
     */
    void (*on_done)(struct mt_model_wait *wait, enum mt_status status);
    void *user; /* the caller's */

    /* Filled before on_done. */
    const struct mt_loaded_model *model; /* NULL unless the status is MT_OK */
    struct mt_error err;

    /* Used by the host, and zeroed by the caller. */
    struct mt_model_wait *next, *previous;
    struct mt_served_model *served; /* NULL: not waiting */
};

/* Asks for the model to be loaded; it may be loaded already. on_done is called unless this fails.
 * MT_BUSY: loading it has just failed, with the reason; MT_TIMEOUT: the deadline has passed;
 * MT_CANCELLED: the daemon ends. */
MT_MUST_CHECK enum mt_status mt_served_model_wait(struct mt_served_model *served,
                                                  struct mt_model_wait *wait, struct mt_error *err);

/* Revokes a wait. True: on_done will not be called. False: it has been called, or is running now. A
 * caller for whom that matters calls this with a lock that on_done takes before it releases the
 * wait. */
bool mt_served_model_stop_waiting(struct mt_served_model *served, struct mt_model_wait *wait);

/* Whether all that the model has decoded so far is valid. MT_BUSY, with a message for clients, once
 * its files are found damaged (mt_model_check). The model has to be held. The first call that finds
 * the damage logs it. */
MT_MUST_CHECK enum mt_status mt_served_model_check(struct mt_served_model *served,
                                                   struct mt_error *err);

/* Loads the model in the background, if there is room without unloading others. Nobody waits for
 * it. */
void mt_served_model_prefetch(struct mt_served_model *served);

/* Unloads the model, if it is in memory, as soon as nobody holds it or waits for it. MT_INVALID for
 * a pinned one. */
MT_MUST_CHECK enum mt_status mt_served_model_unload(struct mt_served_model *served,
                                                    struct mt_error *err);

enum mt_served_state {
    MT_SERVED_COLD,    /* not in memory, and nobody waits for it */
    MT_SERVED_LOADING, /* or waiting for its turn to be loaded */
    /* in memory, until it is unloaded, even while it is closed and new requests already wait */
    MT_SERVED_READY,
    MT_SERVED_FAILED
};

/* Returns "cold", "loading", "ready" or "failed". */
const char *mt_served_state_name(enum mt_served_state state);

/* A snapshot. */
struct mt_served_model_status {
    enum mt_served_state state;
    bool is_damaged; /* FAILED because its files were changed while it was in memory */
    /* Why it is FAILED; otherwise why the model that its directory has now has not replaced it, or
     * "". */
    char reason[MT_ERROR_BYTES];
    size_t n_holders, n_waiting;
    uint64_t n_holds; /* number of requests that have used it */
    uint64_t n_loads, n_unloads, n_failures;
    double load_seconds; /* of the last load; 0: there was none */
    /* As of the last load; 0: it was never loaded. cache_bytes is the memory of keys and values
     * when it was last checked (mt_lane_cache_bytes). */
    size_t n_parameters;
    size_t mapped_bytes, private_bytes, cache_bytes;
    /* The sum of the three while the model is in memory, otherwise 0. */
    size_t loaded_bytes;
};
void mt_served_model_describe(struct mt_served_model *served, struct mt_served_model_status *out);

#endif
