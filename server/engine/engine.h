/*
 * The engine: a bounded queue of jobs and the workers that carry them out, for any number of
 * models. A worker is a team of threads with a batch for each model; it retires what has ended,
 * admits what has room, and steps the next of the batches that are not empty, in that order, again
 * and again.
 *
 * Few sentences are best together in one batch, whose team then shares the reading of the weights.
 * Many are better off in a batch for each thread, because the members of a team wait for each other
 * at every operation. So there are spare workers: as soon as there are enough rows for two, which is
 * learned while they work (layout.h), the first of them takes its share of the sentences that come,
 * and so on up to one for each thread, and the teams are smaller meanwhile. There are never more threads at work
 * than with the teams alone.
 *
 * A sentence stays in a batch until it has ended, which may take hundreds of steps. So that a short
 * job (queue.h) begins at the next step nevertheless, the last eighth of a batch's rows is for such
 * jobs: all others together fill seven eighths of them, however many they are. And so that it does not
 * take as long as so many steps of a full batch, its sentences have steps of their own in between,
 * up to half of the time, where these are much shorter.
 *
 * A model takes part from attach to detach; its lane is what jobs for it are submitted with. Lanes
 * come and go while others work, and what a sentence gets does not depend on them.
 *
 * The daemon and the command line drive the same engine.
 *
 * Thread-safety: every function may be called from any thread, but create and destroy.
 */
#ifndef MT_SERVER_ENGINE_ENGINE_H
#define MT_SERVER_ENGINE_ENGINE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine;
struct mt_lane;
struct mt_model;
struct mt_queue_flow;
struct mt_sentence;

/* {0} means the defaults. */
struct mt_engine_options {
    size_t n_workers;            /* default: mt_engine_default_threads of the cores that we may
                                    use; where only one of the two is given, the other covers them */
    size_t threads_per_worker;   /* default: likewise */
    size_t n_spare_workers;      /* beside n_workers; default: where n_workers is not given, what
                                    makes one worker for each thread, else none */
    size_t max_batch_rows;       /* rows of one step of a worker, for one model; default 64 */
    size_t max_queued_sentences; /* waiting, in flight not counted; default 4096 */
    /* So many jobs with n_follow_up may wait when the queue is full. With one for each request that
     * there can be at once, none of them is ever refused for lack of room. Default 0. */
    size_t max_follow_up_jobs;
    /* With less than that until its deadline a job goes before the others of its client; default:
     * none does. */
    int64_t late_ms;
    int64_t idle_ms; /* after so long without a sentence a batch gives memory back; default 1000 */
};

/*
 * Where a job's time went, by the sentence that the job waited for, the one that ended last: what
 * is told adds up to no more than the time from its submission to its end. Sentences share steps,
 * so that the times of several jobs add up to more than the clock's.
 */
struct mt_job_account {
    int64_t queue_ns;   /* from submission to the beginning of the sentence's first step */
    int64_t encoder_ns; /* the encoder pass in that step, which newcomers share */
    int64_t decoder_ns; /* from there to the end of its last step */
    int64_t ended_ns;   /* when that was seen; 0: no sentence has ended */
    size_t n_source_tokens, n_target_tokens; /* of all sentences that have ended */
};

/*
 * A job: sentences that were asked for together. The caller owns the struct and the sentences and
 * keeps both alive until on_done has been called.
 */
struct mt_job {
    struct mt_sentence **sentences; /* in order */
    size_t n_sentences;             /* at least 1 */
    struct mt_lane *lane;           /* of the model that they were made for */
    uint64_t client;                /* whom the queue is fair to; 0: nobody in particular */
    size_t max_client_sentences;    /* waiting, of this client with this job; 0: any number */
    /* Not 0: the job continues a request of which the engine has accepted one before; what a client
     * may have waiting does not count against so many sentences. */
    size_t n_follow_up;
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none. Expired jobs end with MT_TIMEOUT */

    /*
     * Called exactly once for every accepted job, from a worker's thread, holding no lock: it may
     * submit and cancel jobs. The worker's batch waits meanwhile, so it should be short. status:
     * MT_OK when every sentence has ended; MT_CANCELLED or MT_TIMEOUT otherwise, and then no
     * sentence may be read, only destroyed. The engine no longer touches the job.
     */
    void (*on_done)(struct mt_job *job, enum mt_status status);
    /*
     * Called from a worker's thread after a step that brought one of the job's sentences further
     * than mt_sentence_progress had told before; never after on_done. Holding no lock, as above,
     * and it must be very short. NULL: nobody wants to know.
     */
    void (*on_progress)(struct mt_job *job);
    void *user; /* the caller's */

    /* The engine's own, zeroed by the caller. */
    struct mt_job *next, *previous, *sooner, *later;
    struct mt_queue_flow *flow;
    uint64_t finish;
    bool is_short, is_late;
    int64_t submitted_ns;
    size_t n_taken, n_ended;
    struct mt_job_account account; /* for on_done to read */
    bool was_last;                 /* for on_done to read: the engine has nothing else to do */
    bool cancelled;
    enum mt_status status;
};

/* One team of all cores up to 4; above, as few teams of at most 4 as cover the cores, all of one
 * size. Never 0. */
void mt_engine_default_threads(size_t n_cores, size_t *n_workers, size_t *threads_per_worker);

/* Starts the threads; signals are blocked in all of them.
 * MT_INVALID, MT_IO (threads), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_engine_create(const struct mt_engine_options *options,
                                              struct mt_engine **out, struct mt_error *err);

/* Takes NULL. Cancels what is left (on_done is called for each), joins the threads, and detaches
 * the lanes that are left. */
void mt_engine_destroy(struct mt_engine *engine);

/* Makes the model's batches, one for each worker. model is borrowed until detach. MT_MEMORY, and
 * what mt_batch_create says. */
MT_MUST_CHECK enum mt_status mt_engine_attach(struct mt_engine *engine,
                                              const struct mt_model *model, struct mt_lane **out,
                                              struct mt_error *err);

/* Cancels the lane's jobs, waits until on_done has returned for each, and frees the batches, with
 * what they touched of the workers' activations; jobs that are submitted meanwhile are refused. The
 * lane is gone then. Takes a NULL lane. Not to be called from on_done or on_progress, which it
 * waits for. */
void mt_engine_detach(struct mt_engine *engine, struct mt_lane *lane);

/* Memory of the lane's batches: reserved, not necessarily resident. */
size_t mt_lane_reserved_bytes(const struct mt_lane *lane);

/* How much of it is resident: an upper estimate. It grows with what is asked of the lane, keys and
 * values of each sentence in flight, and is given back when the lane is idle. */
size_t mt_lane_resident_bytes(struct mt_lane *lane);

/* Whether jobs of the lane have been accepted that are not done. */
bool mt_lane_is_busy(struct mt_lane *lane);

/* What the lane's keys and values are to be counted as where memory is shared out: full batches of
 * sentences of MT_COUNTED_TOKENS tokens, those of spare workers not among them, or what is
 * resident, if that is more. */
size_t mt_lane_cache_bytes(struct mt_lane *lane);
#define MT_COUNTED_TOKENS 64

/* Accepts the whole job or nothing. MT_BUSY: the queue has no room for its sentences; MT_THROTTLED:
 * the client has its share of it (neither as long as n_follow_up says otherwise); MT_LIMIT: a
 * sentence that never fits a batch; MT_CANCELLED: the engine is draining, or the lane is being
 * detached. After MT_OK on_done will be called, possibly before this returns. */
MT_MUST_CHECK enum mt_status mt_engine_submit(struct mt_engine *engine, struct mt_job *job,
                                              struct mt_error *err);

/* Where the engine has nothing to do, one of its threads calls run(argument), soon, and then decodes
 * what that submits: nobody has to be woken in between. run takes a few milliseconds at most, in
 * which others' jobs may wait. It is called without a lock, and may submit and cancel jobs; it must
 * not call what waits for the workers (mt_engine_detach, _drain, _destroy), which would wait for
 * itself. False: it is not called, because something waits or runs. */
bool mt_engine_run_idle(struct mt_engine *engine, void (*run)(void *argument), void *argument);

/* Whether a job of one sentence would be accepted now; the next moment that may be otherwise. */
bool mt_engine_has_room(struct mt_engine *engine);

/* MT_BUSY: the queue is full, or what is left of it is kept for larger jobs (queue.h), and nothing
 * has to be done for a new one; this counts as a refusal. After MT_OK a job may be refused
 * nevertheless. */
MT_MUST_CHECK enum mt_status mt_engine_check_room(struct mt_engine *engine, struct mt_error *err);

/* Asks for the job's end: its rows are free at the next step and on_done gets MT_CANCELLED, unless
 * it ended before. The job must still exist: a caller whose on_done may run at the same time holds
 * a lock of its own here that on_done takes before it lets go of the job. */
void mt_engine_cancel(struct mt_engine *engine, struct mt_job *job);

/* Refuses new jobs from now on and waits until all accepted ones are done, at most timeout_ms.
 * MT_TIMEOUT: some are left. */
MT_MUST_CHECK enum mt_status mt_engine_drain(struct mt_engine *engine, int64_t timeout_ms,
                                             struct mt_error *err);

/* A snapshot for metrics. Counters are since creation. */
struct mt_engine_stats {
    /* n_workers without the spare ones. */
    size_t n_workers, n_spare_workers, threads_per_worker;
    size_t n_queued_sentences, n_running_sentences, n_running_rows, max_queued_sentences;
    uint64_t n_jobs_accepted, n_jobs_done, n_jobs_cancelled, n_jobs_expired, n_jobs_refused;
    uint64_t n_sentences_admitted; /* queue_wait_seconds is the sum of their waits */
    uint64_t n_steps, n_step_rows, n_encoder_passes, n_source_tokens, n_target_tokens;
    double encode_seconds, step_seconds, queue_wait_seconds;
    double expected_wait_seconds; /* of a sentence that came now (expected_wait.h) */
};
void mt_engine_stats(struct mt_engine *engine, struct mt_engine_stats *out);

#endif
