/*
 * One model directory as the daemon serves it: what it is called, which languages it translates,
 * and whether it is in memory now. Loading, unloading and the memory that all of them may take
 * together are the host's (model_host.h); successive generations share a served model as long as
 * its files do not change.
 *
 *        wait                    loaded, warmed up
 *   COLD ----> LOADING ------------------------------> READY --.  hold, let_go
 *    ^            | anything wrong                       |  ^--'
 *    |            v                                      |
 *    |<------- FAILED, with the reason                   |
 *    |  after a while, or with another generation        |
 *    '---------------------------------------------------' idle, or memory is needed for others
 *
 * A request finds its model in its generation's catalog (catalog.h), and then:
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

/* One that a model translates from or to. */
struct mt_model_language {
    char code[MT_LANGUAGE_BYTES]; /* normalised (language.h) */
    /* ">>deu<<": what a text begins with where the model translates into several languages; of a
     * model of many, on both sides, its own code ("deu_Latn"); NULL: nothing. */
    const char *token;
};

/* What its config.json says of its size; all 0 where it could not be read. */
struct mt_model_shape {
    size_t n_encoder_layers, n_decoder_layers, n_heads, d_model, d_ff;
    size_t n_source_vocab, n_target_vocab;
    bool has_ssru; /* the decoder's layers have a recurrent cell, and no self-attention */
};

/* What does not change as long as the served model exists. Borrowed from it. */
struct mt_served_model_info {
    const char *id;        /* the directory's name, fit for a URL and a metrics label */
    const char *directory; /* its path, as it was given or found */
    const struct mt_model_language *sources, *targets; /* none: the directory does not say */
    size_t n_sources, n_targets;
    struct mt_model_shape shape;
    /* When its files were read; "": they do not say. */
    char licence[MT_LICENCE_BYTES], from[MT_ORIGIN_FROM_BYTES];
    const struct mt_model_defaults *defaults; /* aliases, beam_size, ... */
    size_t max_positions; /* tokens of its longest sentence; 0: its files do not say it simply */
    size_t n_beams;       /* where nobody says how many; 0 likewise */
    bool is_pinned;       /* settings->model: in memory as long as its generation */
};
const struct mt_served_model_info *mt_served_model_info(const struct mt_served_model *served);

/* A model in memory. Immutable; valid from hold (or a wait's end) to let_go. */
struct mt_loaded_model {
    struct mt_served_model *served;
    const struct mt_model *model;
    struct mt_engine *engine; /* where its jobs are submitted */
    struct mt_lane *lane;     /* what its jobs say they belong to */
    const char *label;        /* the id */
    /* The only language on either side; "" where the model knows several or does not say: then the
     * route that led here tells (struct mt_model_route_step in catalog.h). */
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES];
    const struct mt_model_defaults *defaults;
    struct mt_alignment_choice alignment; /* as attentiond.json says */
};

/* NULL unless it is ready. Each one needs a let_go. The generation in whose catalog the model was
 * found must be held meanwhile. */
const struct mt_loaded_model *mt_served_model_hold(struct mt_served_model *served);
void mt_served_model_let_go(struct mt_served_model *served);

/*
 * Somebody who waits for a model. The caller owns the struct and keeps it alive until on_done has
 * been called, or stop_waiting has returned true.
 */
struct mt_model_wait {
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none. Then status is MT_TIMEOUT */
    /*
     * Called exactly once for every wait that was accepted, unless stop_waiting took it back; from
     * a thread of the host, perhaps before mt_served_model_wait returns, holding no lock: it may
     * hold and let go of models and submit jobs, but must be short. MT_OK: wait->model is held
     * already. Else wait->err says why: what was wrong with the model (MT_BUSY: for now it cannot
     * be served, whatever the lower level called it), MT_TIMEOUT, or MT_CANCELLED where the daemon
     * ends. The wait is no longer touched.
     */
    void (*on_done)(struct mt_model_wait *wait, enum mt_status status);
    void *user; /* the caller's */

    /* Filled before on_done. */
    const struct mt_loaded_model *model; /* NULL but on MT_OK */
    struct mt_error err;

    /* The host's own, zeroed by the caller. */
    struct mt_model_wait *next, *previous;
    struct mt_served_model *served; /* NULL: not waiting */
};

/* Asks for the model to be loaded, which it may be already. MT_BUSY, and on_done is not called:
 * loading it has just failed, with the reason; MT_TIMEOUT: too late already; MT_CANCELLED: the
 * daemon ends. */
MT_MUST_CHECK enum mt_status mt_served_model_wait(struct mt_served_model *served,
                                                  struct mt_model_wait *wait, struct mt_error *err);

/* Nobody waits any more. True: on_done will not be called. False: it has been, or is being called
 * now; a caller for whom that matters holds a lock of its own here that on_done takes before it
 * lets go of the wait. */
bool mt_served_model_stop_waiting(struct mt_served_model *served, struct mt_model_wait *wait);

/* Whether what the model has decoded so far is sound: MT_BUSY, with a message for clients, from the
 * moment on that its files are found damaged (mt_model_check). For a model that is held. The first
 * to find it so logs it. */
MT_MUST_CHECK enum mt_status mt_served_model_check(struct mt_served_model *served,
                                                   struct mt_error *err);

/* Loads it in the background, if there is room without unloading others; nobody waits. */
void mt_served_model_prefetch(struct mt_served_model *served);

/* Unloads it, if it is in memory, as soon as nobody holds it or waits for it. MT_INVALID for a
 * pinned one. */
MT_MUST_CHECK enum mt_status mt_served_model_unload(struct mt_served_model *served,
                                                    struct mt_error *err);

enum mt_served_state {
    MT_SERVED_COLD,    /* not in memory, and nobody waits for it */
    MT_SERVED_LOADING, /* or in the line of those that are to be loaded */
    MT_SERVED_READY,   /* in memory, to the end of unloading it, when newcomers wait already */
    MT_SERVED_FAILED
};

/* "cold", "loading", "ready", "failed". */
const char *mt_served_state_name(enum mt_served_state state);

/* A snapshot. */
struct mt_served_model_status {
    enum mt_served_state state;
    bool is_damaged; /* FAILED because its files were changed under it */
    /* FAILED: why. Of another: why what lies in its directory now has not taken its place, or "". */
    char reason[MT_ERROR_BYTES];
    size_t n_holders, n_waiting;
    uint64_t n_holds; /* requests that have used it so far */
    uint64_t n_loads, n_unloads, n_failures;
    double load_seconds; /* of the last load; 0: none yet */
    /* As it was when it was last loaded; 0: never. cache_bytes: of keys and values, as they were
     * looked at last (mt_lane_cache_bytes). */
    size_t n_parameters;
    size_t mapped_bytes, private_bytes, cache_bytes;
    /* The sum of the three while it is in memory, else 0. */
    size_t loaded_bytes;
};
void mt_served_model_describe(struct mt_served_model *served, struct mt_served_model_status *out);

#endif
