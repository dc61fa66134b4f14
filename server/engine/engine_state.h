/*
 * The inside of the engine, shared by engine.c (which other threads call) and engine_worker.c (a
 * worker's turn).
 *
 *               worker 0   worker 1
 *   lane en-de  batch      batch      <- made when the model is attached
 *   lane en-fr  batch      batch
 *               |
 *               `- among worker 0's busy batches while sentences are in its slots, then among its
 *                  warm ones until it has given back the memory that they needed
 *
 * The way of a job: its lane of the queue -> slots of one or more workers -> ended -> on_done. A
 * cancelled or expired one leaves the queue at once and the slots at their worker's next turn.
 */
#ifndef MT_SERVER_ENGINE_ENGINE_STATE_H
#define MT_SERVER_ENGINE_ENGINE_STATE_H

#include "model/batch.h"
#include "server/engine/engine.h"
#include "server/engine/expected_wait.h"
#include "server/engine/layout.h"

#include <pthread.h>
#include <stdatomic.h>

/* A sentence in a batch, and its job. */
struct mt_engine_slot {
    struct mt_sentence *sentence;
    struct mt_job *job;
    size_t n_told;                /* tokens that on_progress has been called for */
    int64_t begun_ns, encoder_ns; /* of its first step; 0 before that */
};

/*
 * A lane's batch at one worker. Only the worker's thread touches model_batch. The slots decide
 * whether it may, and change under the mutex: whenever the mutex is free, a batch is busy exactly
 * if it has slots, and then its jobs keep the lane alive. An idle batch is trimmed under the mutex.
 */
struct mt_worker_batch {
    struct mt_lane *lane;
    struct mt_batch *model_batch;
    struct mt_engine_slot *slots; /* [max_rows]: all sentences of the batch */
    size_t n_slots;
    size_t n_followed;  /* slots whose job has an on_progress */
    size_t n_short;     /* slots of short jobs */
    bool has_newcomers; /* there are slots whose sentence has had no step yet */
    size_t n_rows;      /* of the sentences in the slots */
    /* step_ns, short_step_ns: how long the decoder took lately, for all jobs and for short jobs
     * alone. short_left_ns: how long steps for short jobs alone may go on before the next step for
     * all. n_short_tries: how many of those there were since short_step_ns is 0.
     * n_steps_since_short: how many steps for all there were since the last one for short jobs
     * alone. */
    int64_t step_ns, short_step_ns, short_left_ns;
    unsigned n_short_tries, n_steps_since_short;
    struct mt_batch_stats stats;    /* as far as they are part of the worker's total */
    size_t resident_bytes;          /* memory of the batch, after its last step */
    int64_t idle_since_ns;          /* since when it is in the list of warm batches */
    struct mt_worker_batches *list; /* that it is in, or NULL */
    struct mt_worker_batch *next, *previous;
};

struct mt_worker_batches {
    struct mt_worker_batch *first, *last;
};

/* The engine's mutex guards it, except members that do not change while it is attached. */
struct mt_lane {
    struct mt_engine *engine;
    struct mt_queue_lane *waiting;
    size_t reserved_bytes, expected_bytes; /* expected: for sentences of MT_COUNTED_TOKENS */
    size_t n_rows, n_sentences;            /* waiting and running */
    struct mt_layout layout;
    struct mt_layout_work work;           /* busy_ns: until changed_ns */
    int64_t changed_ns;                   /* when n_rows or n_sentences changed last */
    double recent_rows, recent_sentences; /* the present or recent most, which decays */
    size_t n_live_jobs;                   /* accepted jobs whose on_done has not returned */
    bool is_leaving;                      /* new jobs are refused, and the present ones end */
    struct mt_lane *next, *previous;
    struct mt_worker_batch batches[]; /* [n_workers] */
};

/* The steps of a team since it was last observed: how long they took, the sum of its members'
 * times, and for how much of that sum members were held up. */
struct mt_team_steps {
    int64_t step_ns, members_ns, held_up_ns;
};

struct mt_engine_worker {
    struct mt_engine *engine;
    size_t index;
    pthread_t thread;
    bool is_started;
    struct mt_team *team;
    struct mt_scratch *scratch; /* of its batches; the mutex attaching guards it */
    /* Used by the worker's thread alone: until when it works without its team, and for how long. */
    int64_t alone_end_ns, alone_ns;
    struct mt_team_steps observed;
    /* The engine's mutex guards these. */
    bool is_idle;                  /* it waits for work */
    pthread_cond_t work;           /* signalled when there may be work */
    struct mt_worker_batches busy; /* the first is stepped next */
    struct mt_worker_batches warm; /* the first has been idle longest */
    int64_t holes_ns;              /* when it gives unused memory back again; INT64_MAX: never */
    unsigned n_looks;              /* how often it did, since it last had work */
    struct mt_batch_stats total;   /* of all lanes, also of those that are detached */
};

struct mt_engine {
    size_t n_main_workers; /* these come first; the others are spare */
    size_t n_workers, threads_per_worker, max_rows, max_queued_sentences;
    int64_t idle_ns;
    struct mt_engine_worker *workers;
    pthread_mutex_t attaching; /* held while a lane is made; taken before mutex */

    pthread_mutex_t mutex; /* guards what follows, and the engine's members of every job */
    pthread_cond_t quiet;  /* signalled when n_live_jobs of a lane becomes 0 */
    struct {
        struct mt_lane *first, *last;
    } lanes;
    struct mt_queue *queue;
    struct {
        struct mt_job *first, *last;
    } ended;            /* jobs whose on_done has to be called */
    size_t n_live_jobs; /* accepted jobs whose on_done has not returned */
    struct {
        void (*run)(void *argument); /* NULL: none */
        void *argument;
    } idle_task; /* what mt_engine_run_idle has the first worker run */
    size_t n_running_sentences;
    bool is_stopping;
    uint64_t n_accepted, n_done, n_cancelled, n_expired, n_refused;
    uint64_t n_target_tokens, n_admitted;
    int64_t queue_wait_ns;
    /* mt_queue_cost of all sentences in the queue, and in all batches. */
    uint64_t waiting_cost, running_cost;
    struct mt_expected_wait expected_wait;
};

/* The function of a worker's thread, until the engine's end; worker is a struct
 * mt_engine_worker. */
void *mt_engine_run_worker(void *worker);

/* Waits until one of the engine's conditions is signalled, at most until deadline_ns (INT64_MAX:
 * for ever). Returns false where deadline_ns has passed. Called with the mutex held. */
bool mt_engine_wait(struct mt_engine *engine, pthread_cond_t *condition, int64_t deadline_ns);

/*
 * A load counts rows in units of what a thread needs to work faster with a batch of its own than in
 * a team (mt_layout_rows): with that many rows the load is MT_LOAD_APART. A single sentence's load
 * is MT_LOAD_APART at most: two workers cannot share it, however many rows its beam has.
 */
#define MT_LOAD_APART 65536

/* Returns the load of n_rows rows that belong to n_sentences sentences. Called with the mutex
 * held. */
size_t mt_engine_load_of(const struct mt_lane *lane, double n_rows, double n_sentences);

/* Counts sentences with n_rows rows that leave the lane. Called with the mutex held. */
void mt_engine_count_out(struct mt_lane *lane, size_t n_rows, size_t n_sentences);

/* Lets the layout learn from a step of the lane. done is what the step did. Called with the mutex
 * held. */
void mt_engine_learn(struct mt_lane *lane, const struct mt_batch_stats *done);

/* How many workers, counted from the first, take sentences now: the main ones, and as many spare
 * ones as there is work for. Called with the mutex held. */
size_t mt_engine_n_taking(const struct mt_engine *engine);

/* Wakes those of these workers that are idle and have a share of what waits. Called with the mutex
 * held. */
void mt_engine_wake_takers(struct mt_engine *engine);

/* One row of a batch in this many is reserved for short jobs. */
#define MT_RESERVED_FOR_SHORT 8

/* Moves a batch from the list that it is in to the end of another; NULL: to none. Called with the
 * mutex held. */
void mt_engine_move_batch(struct mt_worker_batch *batch, struct mt_worker_batches *to);

/* Ends a job early with this status, unless it has ended or is going to end for another reason.
 * Called with the mutex held; afterwards one worker has to be woken, because workers call
 * on_done. */
void mt_engine_end_early(struct mt_engine *engine, struct mt_job *job, enum mt_status status);

#endif
