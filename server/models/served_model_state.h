/*
 * The inside of a served model, shared by served_model.c (what requests ask of it), model_host.c
 * (when it is loaded and unloaded) and model_loading.c (how).
 */
#ifndef MT_SERVER_MODELS_SERVED_MODEL_STATE_H
#define MT_SERVER_MODELS_SERVED_MODEL_STATE_H

#include "model/model.h"
#include "server/models/model_host.h"
#include "server/models/served_model.h"

#include <pthread.h>
#include <stdatomic.h>

enum mt_served_phase {
    PHASE_COLD,
    PHASE_LOADING, /* the loader is at it */
    PHASE_READY,
    PHASE_CLOSING,   /* in memory, but only for those who hold it already */
    PHASE_UNLOADING, /* the loader is at it */
    PHASE_FAILED,
};

struct mt_served_model {
    struct mt_model_host *host;
    struct mt_arena *arena; /* all that info, options and the strings below point to */
    struct mt_served_model_info info;
    struct mt_model_defaults defaults;
    struct mt_model_options options;
    const char *warm_up_text, *warm_up_answer, *fingerprint;
    size_t warm_up_beam_size;
    size_t expected_bytes;    /* before it was ever loaded */
    size_t fresh_cache_bytes; /* of its caches, as it was when it was last loaded */

    /* The loader's, and constant while anybody may hold the model. */
    struct mt_model *model;
    struct mt_loaded_model loaded;

    atomic_bool is_damaged;

    /* The host's mutex guards what follows. */
    enum mt_served_phase phase;
    struct mt_error failure; /* FAILED */
    bool is_hopeless;        /* FAILED for good */
    int64_t failed_ns;
    size_t n_catalogs, n_holders;
    struct {
        struct mt_model_wait *first, *last;
    } waits;
    size_t n_waiting;
    bool is_prefetched, wants_unload;
    bool is_newcomer;        /* it is loaded to take another's place: for it nobody is unloaded */
    bool has_no_room;        /* there was none for it beside the other */
    struct mt_error refused; /* why what lies in its directory now has not taken its place */
    uint64_t turn;           /* among those that are to be loaded; 0: it is not */
    int64_t wanted_ns, used_ns;
    int64_t busy_ns;                      /* CLOSING: when it last had work, or was closed */
    int64_t open_end_ns;                  /* it was given back, and is not closed before */
    struct mt_served_model_status counts; /* of which state, reason and what is here are not kept */
    struct mt_served_model *next, *previous;
};

struct mt_model_host {
    struct mt_engine *engine;
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
    pthread_t loader, keeper;
    bool has_loader, has_keeper;

    pthread_mutex_t mutex;  /* guards what follows, and what served models say it guards */
    pthread_cond_t changed; /* any of it */
    struct {
        struct mt_served_model *first, *last;
    } models;
    struct mt_model_host_limits limits;
    struct mt_model_host_counts counts;
    uint64_t last_turn;
    size_t n_hosted; /* holders of the host */
    bool is_stopping, is_at_work;
    bool is_watching; /* the loader looks at the caches again before long, or need not */
};

/* --- of model_loading.c; the loader's thread, without the mutex --- */

struct mt_model_size {
    size_t n_parameters;
    size_t mapped_bytes, private_bytes, cache_bytes;
};

/* Fills served->model and served->loaded, or leaves nothing. */
MT_MUST_CHECK enum mt_status mt_model_loading_begin(struct mt_served_model *served,
                                                    struct mt_model_size *out,
                                                    struct mt_error *err);
/* Whether it could be loaded, as far as its files tell. */
MT_MUST_CHECK enum mt_status mt_model_loading_check(const struct mt_served_model *served,
                                                    struct mt_error *err);
/* What the caches of a loaded one count as now; they grow with what is asked of it. With the host's
 * mutex. */
size_t mt_model_loading_cache_bytes(const struct mt_served_model *served);
/* Whether somebody who holds a loaded one has work for it. With the host's mutex. */
bool mt_model_loading_is_busy(const struct mt_served_model *served);
/* Nobody holds it. */
void mt_model_loading_end(struct mt_served_model *served);

/* --- of model_host.c; with the mutex --- */

/* Takes one off the list of those who wait. */
void mt_model_wait_unlink(struct mt_model_wait *wait);

/* Gives it a turn if it has none. */
void mt_served_model_want(struct mt_served_model *served);

#endif
