/*
 * The engine: a bounded queue of jobs and the workers that carry them out, for any number of
 * models. A worker is a team of threads with a batch for each model. Again and again it retires the
 * sentences that have ended, admits those that there is room for, and steps the next of its batches
 * that are not empty.
 *
 * Few sentences are fastest together in one batch, whose team reads the weights once for all of
 * them. Many are faster in a batch for each thread, because the members of a team wait for each
 * other at every operation. So there are spare workers: as soon as there are enough rows for two
 * workers, which is learned while they work (layout.h), the first spare one takes its share of the
 * sentences, and so on up to one worker for each thread. The teams are smaller meanwhile, so that
 * there are never more threads at work than with the teams alone.
 *
 * A sentence stays in a batch until it has ended, which may take hundreds of steps. So that a short
 * job (queue.h) can begin at the next step nevertheless, the last eighth of a batch's rows is
 * reserved for such jobs. So that it does not take as long as so many steps of a full batch, short
 * jobs' sentences also have steps of their own in between, up to half of the time, where these
 * steps are much shorter.
 *
 * A model takes part from attach to detach, and jobs for it are submitted with its lane. Lanes come
 * and go while others work, and the translation of a sentence does not depend on them.
 *
 * The daemon and the command line use the same engine.
 *
 * Thread-safety: every function may be called from any thread, except create and destroy.
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
    /* default: mt_engine_default_threads of the usable cores; where only one of these two is given,
     * the other is chosen to cover all cores */
    size_t n_workers;
    size_t threads_per_worker; /* default: see n_workers */
    /* in addition to n_workers; default: where n_workers is not given, enough for one worker per
     * thread, else none */
    size_t n_spare_workers;
    size_t max_batch_rows;       /* most rows of a worker's step, for one model; default 64 */
    size_t max_queued_sentences; /* most that wait, without those in flight; default 4096 */
    /* How many jobs with n_follow_up may wait although the queue is full. If this is the greatest
     * possible number of requests, no such job is ever refused for lack of room. Default 0. */
    size_t max_follow_up_jobs;
    /* A job that has less time than this until its deadline goes before the others of its client.
     * Default: no job does. */
    int64_t late_ms;
    /* after this time without sentences a batch gives memory back; default 1000 */
    int64_t idle_ms;
};

/*
 * Where a job's time went. The times are those of the sentence that ended last, because the job
 * waited for it; their sum is no more than the time from the job's submission to its end. Sentences
 * share steps, so that the times of several jobs add up to more than the clock's.
 */
struct mt_job_account {
    int64_t queue_ns;   /* from submission to the beginning of the sentence's first step */
    int64_t encoder_ns; /* the encoder pass in that step, shared by all newcomers */
    int64_t decoder_ns; /* from then to the end of its last step */
    int64_t ended_ns;   /* when that step ended; 0: no sentence has ended */
    size_t n_source_tokens, n_target_tokens; /* of all sentences that have ended */
};

/*
 * A job: sentences that one request asks for together. The caller owns the struct and the
 * sentences, and keeps both alive until on_done has been called.
 */
struct mt_job {
    struct mt_sentence **sentences; /* in order */
    size_t n_sentences;             /* at least 1 */
    struct mt_lane *lane;           /* of the model for which the sentences were made */
    uint64_t client;                /* the queue is fair to clients; 0: a client of its own */
    /* most sentences of this client that may wait, including this job; 0: any number */
    size_t max_client_sentences;
    /* If this is not 0, the job belongs to a request of which the engine has accepted another job
     * before. It may have this many sentences even if the client already has its share of the
     * queue. */
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
     * Called after a step that made progress with one of the job's sentences beyond what
     * mt_sentence_progress had told before; never after on_done. It is called like on_done, but
     * must be very short. NULL: not called.
     */
    void (*on_progress)(struct mt_job *job);
    void *user; /* for the caller's use */

    /* For the engine's use; the caller sets them to zero. */
    struct mt_job *next, *previous, *sooner, *later;
    struct mt_queue_flow *flow;
    uint64_t finish;
    bool is_short, is_late;
    int64_t submitted_ns;
    size_t n_taken, n_ended;
    struct mt_job_account account; /* valid in on_done */
    bool was_last;                 /* valid in on_done: the engine has nothing else to do */
    bool cancelled;
    enum mt_status status;
};

/* Chooses one team of all cores, where there are no more than 4; else as few teams of at most 4
 * threads as cover the cores, all of the same size. Never 0. */
void mt_engine_default_threads(size_t n_cores, size_t *n_workers, size_t *threads_per_worker);

/* Starts the threads, in which all signals are blocked. MT_INVALID, MT_IO (threads), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_engine_create(const struct mt_engine_options *options,
                                              struct mt_engine **out, struct mt_error *err);

/* Cancels all jobs (on_done is called for each), joins the threads, and detaches all lanes. engine
 * may be NULL. */
void mt_engine_destroy(struct mt_engine *engine);

/* Makes the model's batches, one for each worker. model is borrowed until detach. MT_MEMORY, and
 * statuses of mt_batch_create. */
MT_MUST_CHECK enum mt_status mt_engine_attach(struct mt_engine *engine,
                                              const struct mt_model *model, struct mt_lane **out,
                                              struct mt_error *err);

/* Cancels the lane's jobs, waits until on_done has returned for each, and frees the lane and its
 * batches, with the pages that they touched of the workers' activations. Jobs submitted meanwhile
 * are refused. lane may be NULL. Must not be called from on_done or on_progress, for which it
 * waits. */
void mt_engine_detach(struct mt_engine *engine, struct mt_lane *lane);

/* Memory reserved for the lane's batches; it need not be resident. */
size_t mt_lane_reserved_bytes(const struct mt_lane *lane);

/* An upper estimate of how much of that memory is resident. It grows with the keys and values of
 * each sentence in flight, and is given back when the lane is idle. */
size_t mt_lane_resident_bytes(struct mt_lane *lane);

/* Whether jobs of the lane have been accepted that are not done yet. */
bool mt_lane_is_busy(struct mt_lane *lane);

/* How much memory to count for the lane's keys and values where memory is shared out: that of full
 * batches of sentences of MT_COUNTED_TOKENS tokens, without those of spare workers, or what is
 * resident, if that is more. */
size_t mt_lane_cache_bytes(struct mt_lane *lane);
#define MT_COUNTED_TOKENS 64

/* Accepts the whole job or nothing. MT_BUSY: the queue has no room for its sentences; MT_THROTTLED:
 * the client has its share of the queue (n_follow_up may allow either nevertheless); MT_LIMIT: a
 * sentence never fits a batch; MT_CANCELLED: the engine is draining, or the lane is being detached.
 * After MT_OK on_done will be called, possibly before this returns. */
MT_MUST_CHECK enum mt_status mt_engine_submit(struct mt_engine *engine, struct mt_job *job,
                                              struct mt_error *err);

/* Where the engine has nothing to do, one of its threads soon calls run(argument), and then decodes
 * what run submits, without another thread being woken in between. run should take a few
 * milliseconds at most, because jobs of others may wait for it. It is called without a lock, and
 * may submit and cancel jobs; it must not call functions that wait for the workers
 * (mt_engine_detach, _drain, _destroy): they would wait for themselves. Returns false where it will
 * not be called, because something waits or runs. */
bool mt_engine_run_idle(struct mt_engine *engine, void (*run)(void *argument), void *argument);

/* Whether a job of one sentence would be accepted now. This may change at any moment. */
bool mt_engine_has_room(struct mt_engine *engine);

/* MT_BUSY where the queue is full, or the rest of it is reserved for larger jobs (queue.h), so that
 * a new job need not be prepared; this counts as a refusal. After MT_OK a job may be refused
 * nevertheless. */
MT_MUST_CHECK enum mt_status mt_engine_check_room(struct mt_engine *engine, struct mt_error *err);

/* Asks for the job's end: its rows are free at the next step and on_done gets MT_CANCELLED, unless
 * the job ended before. The job must still exist. So where on_done may run at the same time, the
 * caller holds a lock that on_done takes before it frees the job. */
void mt_engine_cancel(struct mt_engine *engine, struct mt_job *job);

/* A snapshot for metrics. Counters are since creation. */
struct mt_engine_stats {
    /* n_workers does not include the spare ones. */
    size_t n_workers, n_spare_workers, threads_per_worker;
    size_t n_queued_sentences, n_running_sentences, n_running_rows, max_queued_sentences;
    uint64_t n_jobs_accepted, n_jobs_done, n_jobs_cancelled, n_jobs_expired, n_jobs_refused;
    uint64_t n_sentences_admitted; /* queue_wait_seconds is the sum of their waits */
    uint64_t n_steps, n_step_rows, n_encoder_passes, n_source_tokens, n_target_tokens;
    double encode_seconds, step_seconds, queue_wait_seconds;
    double expected_wait_seconds; /* for a sentence that came now (expected_wait.h) */
};
void mt_engine_stats(struct mt_engine *engine, struct mt_engine_stats *out);

#endif
