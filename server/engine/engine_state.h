/*
 * The inside of the engine, shared by engine.c (which other threads call) and engine_worker.c (a
 * worker's turn).
 *
 *              worker 0        worker 1
 *   lane en-de  place: batch    place: batch     <- attached with the model
 *   lane en-fr  place: batch    place: batch
 *                  |
 *                  `- among worker 0's busy places while sentences are in its slots, then among
 *                     its warm ones until it has given back the memory that they needed
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

/* A sentence in a batch, and whose it is. */
struct mt_engine_slot {
    struct mt_sentence *sentence;
    struct mt_job *job;
    size_t n_told;                /* tokens of its progress that on_progress was called for */
    int64_t begun_ns, encoder_ns; /* of its first step; 0: there was none yet */
};

/*
 * A lane's place at one worker. The batch is touched by the worker's thread alone, and what decides
 * whether it may be, the slots, changes under the mutex: while the mutex is free, a place is busy
 * exactly if it has slots, and then its jobs keep the lane from going. An idle one is trimmed under
 * the mutex.
 */
struct mt_engine_place {
    struct mt_lane *lane;
    struct mt_batch *batch;
    struct mt_engine_slot *slots; /* [max_rows]: everything that is in the batch */
    size_t n_slots;
    size_t n_followed;  /* slots whose job has an on_progress */
    size_t n_short;     /* slots of short jobs */
    bool has_newcomers; /* slots of sentences that had no step yet */
    size_t n_rows;      /* of the sentences in the slots */
    /* How long the decoder takes of late, for all and for short jobs alone; for how long there may
     * be more steps of the latter kind before the next of the former; how many there were since
     * short_step_ns is 0, and how many of the former since the last of the latter. */
    int64_t step_ns, short_step_ns, short_left_ns;
    unsigned n_short_tries, n_steps_since_short;
    struct mt_batch_stats stats;   /* as far as the worker's total has them */
    size_t resident_bytes;         /* of the batch, after its last step */
    int64_t idle_since_ns;         /* in the list of warm places */
    struct mt_engine_places *list; /* in which it is, or NULL */
    struct mt_engine_place *next, *previous;
};

struct mt_engine_places {
    struct mt_engine_place *first, *last;
};

/* Guarded by the engine's mutex, but for what does not change while it is attached. */
struct mt_lane {
    struct mt_engine *engine;
    struct mt_queue_lane *waiting;
    size_t reserved_bytes, expected_bytes; /* expected: for sentences of MT_COUNTED_TOKENS */
    size_t n_rows, n_sentences;            /* waiting and running */
    struct mt_layout layout;
    struct mt_layout_work work;           /* busy_ns: up to the last change */
    int64_t changed_ns;                   /* when that was */
    double recent_rows, recent_sentences; /* or what is left of the most that there were lately */
    size_t n_live_jobs;                   /* accepted, on_done has not returned */
    bool is_leaving;                      /* no new jobs, and those that there are end */
    struct mt_lane *next, *previous;
    struct mt_engine_place places[]; /* [n_workers] */
};

/* The steps of a team since it was last looked at: how long they took, their members' time in all, and
 * what of that members were held up. */
struct mt_team_steps {
    int64_t step_ns, members_ns, held_up_ns;
};

struct mt_engine_worker {
    struct mt_engine *engine;
    size_t index;
    pthread_t thread;
    bool is_started;
    struct mt_team *team;
    struct mt_scratch *scratch; /* of its batches; guarded by attaching */
    /* Its thread's own: it works alone, without its team, until then, and how long that is for. */
    int64_t alone_end_ns, alone_ns;
    struct mt_team_steps observed;
    /* Guarded by the mutex. */
    bool is_idle;                 /* waits for work */
    pthread_cond_t work;          /* something of what it waits for may have come */
    struct mt_engine_places busy; /* the first is stepped next */
    struct mt_engine_places warm; /* the first has been idle longest */
    int64_t holes_ns;            /* when it looks for memory to give back again; INT64_MAX: never */
    unsigned n_looks;            /* for it, since it had work */
    struct mt_batch_stats total; /* of all lanes, also of those that are gone */
};

struct mt_engine {
    size_t n_main_workers; /* the first; the others are spare */
    size_t n_workers, threads_per_worker, max_rows, max_queued_sentences;
    int64_t idle_ns;
    struct mt_engine_worker *workers;
    pthread_mutex_t attaching; /* one lane is made at a time; taken before mutex */

    pthread_mutex_t mutex; /* guards what follows, and the engine's own fields of every job */
    pthread_cond_t quiet;  /* the n_live_jobs of the engine, or of a lane, became 0 */
    struct {
        struct mt_lane *first, *last;
    } lanes;
    struct mt_queue *queue;
    struct {
        struct mt_job *first, *last;
    } ended;            /* on_done is still to be called */
    size_t n_live_jobs; /* accepted, on_done has not returned */
    struct {
        void (*run)(void *argument); /* NULL: none */
        void *argument;
    } idle_task; /* what the first worker is lent for */
    size_t n_running_sentences;
    bool is_draining, is_stopping;
    uint64_t n_accepted, n_done, n_cancelled, n_expired, n_refused;
    uint64_t n_target_tokens, n_admitted;
    int64_t queue_wait_ns;
    /* mt_queue_cost of what is in the queue, and in all batches. */
    uint64_t waiting_cost, running_cost;
    struct mt_expected_wait expected_wait;
};

/* A worker's thread, from its start to the engine's end; worker is a struct mt_engine_worker. */
void *mt_engine_run_worker(void *worker);

/* Waits until one of the engine's conditions is signalled, but not longer than deadline_ns; INT64_MAX:
 * however long. False: it is later than that. With the mutex held. */
bool mt_engine_wait(struct mt_engine *engine, pthread_cond_t *condition, int64_t deadline_ns);

/*
 * A load counts rows, each as a part of what a thread needs to be better off with a batch of its
 * own than in a team (mt_layout_rows): with that many rows the load is MT_LOAD_APART. A sentence's
 * is MT_LOAD_APART at most: two workers cannot share it, however many rows its beam has.
 */
#define MT_LOAD_APART 65536

/* The load of rows that belong to so many sentences. With the mutex held. */
size_t mt_engine_load_of(const struct mt_lane *lane, double n_rows, double n_sentences);

/* Sentences with so many rows come to the lane, or leave it. With the mutex held. */
void mt_engine_count_in(struct mt_lane *lane, size_t n_rows, size_t n_sentences);
void mt_engine_count_out(struct mt_lane *lane, size_t n_rows, size_t n_sentences);

/* A step of the lane has ended, with the mutex held: the layout learns from it. done: what it did. */
void mt_engine_learn(struct mt_lane *lane, const struct mt_batch_stats *done);

/* How many workers, the first ones, take sentences now: the main ones, and of the spare ones as
 * many as there is work for by themselves. With the mutex held. */
size_t mt_engine_n_taking(const struct mt_engine *engine);

/* Wakes those of them that are idle and have a share of what waits. With the mutex held. */
void mt_engine_wake_takers(struct mt_engine *engine);

/* Has one worker look for what has ended or is to end. With the mutex held. */
void mt_engine_wake_one(struct mt_engine *engine);

/* One of so many rows of a batch is reserved for short jobs. */
#define MT_KEPT_FOR_BRIEF 8

/* Puts a place at the end of a list, out of the one that it is in; NULL: in none. With the mutex
 * held. */
void mt_engine_move_place(struct mt_engine_place *place, struct mt_engine_places *to);

/* Ends a job with this status before its time; nothing happens to one that has ended, or is about
 * to for another reason. With the mutex held; one worker is to be woken then, because another
 * thread's job is delivered by a worker. */
void mt_engine_end_early(struct mt_engine *engine, struct mt_job *job, enum mt_status status);

#endif
