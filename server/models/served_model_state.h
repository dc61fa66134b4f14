/*
 * The inside of a served model, shared by served_model.c (for requests), model_host.c (which
 * decides when it is loaded and unloaded) and model_loading.c (which does it).
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
    PHASE_LOADING, /* the loader is loading it */
    PHASE_READY,
    PHASE_CLOSING,   /* in memory, but only for those who already hold it */
    PHASE_UNLOADING, /* the loader is unloading it */
    PHASE_FAILED,
};

struct mt_served_model {
    struct mt_model_host *host;
    struct mt_arena *arena; /* holds everything that info, options and the strings below point to */
    struct mt_served_model_info info;
    struct mt_model_defaults defaults;
    struct mt_model_options options;
    const char *warm_up_text, *warm_up_answer, *fingerprint;
    size_t warm_up_beam_size;
    size_t expected_bytes;    /* before it was loaded for the first time */
    size_t fresh_cache_bytes; /* memory of its caches when it was last loaded */

    /* Written by the loader, and constant while anybody may hold the model. */
    struct mt_model *model;
    struct mt_loaded_model loaded;

    atomic_bool is_damaged;

    /* The host's mutex guards the members below. */
    enum mt_served_phase phase;
    struct mt_error failure; /* FAILED */
    bool is_hopeless;        /* FAILED permanently */
    int64_t failed_ns;
    size_t n_catalogs, n_holders;
    struct {
        struct mt_model_wait *first, *last;
    } waits;
    size_t n_waiting;
    bool is_prefetched, wants_unload;
    /* it is loaded to replace another model, so nothing is unloaded for it */
    bool is_newcomer;
    bool has_no_room;        /* there was no room for both models */
    struct mt_error refused; /* why the model that its directory has now has not replaced it */
    uint64_t turn;           /* order of those that wait to be loaded; 0: it does not wait */
    int64_t wanted_ns, used_ns;
    int64_t busy_ns; /* CLOSING: when it last had work, or was closed */
    /* it was opened again, and is not closed before this time */
    int64_t open_end_ns;
    struct mt_served_model_status counts; /* without state, reason and the counts above */
    struct mt_served_model *next, *previous;
};

struct mt_model_host {
    struct mt_engine *engine;
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
    pthread_t loader, keeper;
    bool has_loader, has_keeper;

    pthread_mutex_t mutex;  /* guards the members below, and those of served models */
    pthread_cond_t changed; /* any member under the mutex has changed */
    struct {
        struct mt_served_model *first, *last;
    } models;
    struct mt_model_host_limits limits;
    struct mt_model_host_counts counts;
    uint64_t last_turn;
    size_t n_hosted; /* number of the host's holders */
    bool is_stopping, is_at_work;
    bool is_watching; /* the loader wakes up again soon to check the caches */
};

/* --- model_loading.c: called by the loader's thread, without the mutex --- */

struct mt_model_size {
    size_t n_parameters;
    size_t mapped_bytes, private_bytes, cache_bytes;
};

/* Fills served->model and served->loaded, or leaves both empty. */
MT_MUST_CHECK enum mt_status mt_model_loading_begin(struct mt_served_model *served,
                                                    struct mt_model_size *out,
                                                    struct mt_error *err);
/* Whether the model could be loaded, as far as its files tell. */
MT_MUST_CHECK enum mt_status mt_model_loading_check(const struct mt_served_model *served,
                                                    struct mt_error *err);
/* Returns the memory of a loaded model's caches now, which grows with the sentences that it gets.
 * The caller has the host's mutex. */
size_t mt_model_loading_cache_bytes(const struct mt_served_model *served);
/* Whether someone who holds a loaded model has work for it. The caller has the host's mutex. */
bool mt_model_loading_is_busy(const struct mt_served_model *served);
/* Unloads the model, which nobody holds. */
void mt_model_loading_end(struct mt_served_model *served);

/* --- model_host.c: called with the mutex --- */

/* Removes a wait from the list. */
void mt_model_wait_unlink(struct mt_model_wait *wait);

/* Gives the model a turn to be loaded, if it has none. */
void mt_served_model_want(struct mt_served_model *served);

#endif
