#include "server/engine.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/size.h"
#include "base/team.h"
#include "model/batch.h"
#include "model/sentence.h"
#include "server/queue.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TEAM_BY_DEFAULT 4
#define MAX_WORKERS 256
#define DEFAULT_MAX_BATCH_ROWS 64
#define DEFAULT_MAX_QUEUED_SENTENCES 4096

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* A sentence in a batch, and whose it is. */
struct slot {
    struct mt_sentence *sentence;
    struct mt_job *job;
    size_t n_told; /* tokens of its progress that on_progress was called for */
};

struct worker {
    struct mt_engine *engine;
    pthread_t thread;
    bool is_started;
    struct mt_team *team;

    /* The worker's thread alone. */
    struct mt_batch *batch;
    struct slot *slots; /* [max_rows]: everything that is in the batch */
    size_t n_slots;
    size_t n_followed; /* slots whose job has an on_progress */

    /* Guarded by the engine's mutex: copies for the statistics. */
    struct mt_batch_stats stats;
    size_t n_rows;
};

/*
 * The way of a job: queue -> slots of one or more workers -> ended -> on_done. A cancelled or
 * expired one leaves the queue at once and the slots at their worker's next step.
 */
struct mt_engine {
    size_t n_workers, threads_per_worker, max_rows, max_queued_sentences;
    struct worker *workers;

    pthread_mutex_t mutex; /* guards what follows, and the engine's own fields of every job */
    pthread_cond_t work;   /* the queue, ended or stopping changed */
    pthread_cond_t quiet;  /* n_live_jobs became 0 */
    struct mt_queue *queue;
    struct mt_job *ended, *ended_last; /* on_done is still to be called; linked by next */
    size_t n_live_jobs;                /* accepted, on_done has not returned */
    size_t n_running_sentences;
    size_t n_idle; /* workers that wait for work */
    bool is_draining, is_stopping;
    uint64_t n_accepted, n_done, n_cancelled, n_expired, n_refused;
    uint64_t n_target_tokens, n_admitted;
    int64_t queue_wait_ns;
};

/* --- the end of sentences and jobs; all with the mutex held --- */

/* Workers deliver what they ended themselves; another thread that ends a job wakes one. */
static void end_job(struct mt_engine *engine, struct mt_job *job)
{
    job->next = NULL;
    if (engine->ended)
        engine->ended_last->next = job;
    else
        engine->ended = job;
    engine->ended_last = job;
}

static void count_ended(struct mt_engine *engine, struct mt_job *job, size_t n)
{
    job->n_ended += n;
    if (job->n_ended == job->n_sentences)
        end_job(engine, job);
}

/* Nothing happens to a job that has ended, or is about to for another reason. */
static void end_early(struct mt_engine *engine, struct mt_job *job, enum mt_status status)
{
    if (job->cancelled || job->n_ended == job->n_sentences)
        return;
    job->cancelled = true;
    job->status = status;
    size_t n_waiting = job->n_sentences - job->n_taken;
    if (n_waiting) {
        mt_queue_remove(engine->queue, job);
        count_ended(engine, job, n_waiting);
    }
}

static void count_job(struct mt_engine *engine, enum mt_status status)
{
    if (status == MT_OK)
        engine->n_done++;
    else if (status == MT_TIMEOUT)
        engine->n_expired++;
    else
        engine->n_cancelled++;
}

/* Calls on_done of what has ended; lets go of the mutex meanwhile. */
static void deliver(struct mt_engine *engine)
{
    while (engine->ended) {
        struct mt_job *job = engine->ended;
        engine->ended = job->next;
        job->next = NULL;
        enum mt_status status = job->status;
        count_job(engine, status);

        pthread_mutex_unlock(&engine->mutex);
        job->on_done(job, status);
        pthread_mutex_lock(&engine->mutex);

        if (--engine->n_live_jobs == 0)
            pthread_cond_broadcast(&engine->quiet);
    }
}

/* --- one turn of a worker; all with the mutex held but the step itself --- */

static struct mt_job *leave_slot(struct worker *worker, size_t index)
{
    struct mt_job *job = worker->slots[index].job;
    worker->n_followed -= job->on_progress != NULL;
    worker->slots[index] = worker->slots[--worker->n_slots];
    worker->engine->n_running_sentences--;
    return job;
}

static size_t find_slot(const struct worker *worker, const struct mt_sentence *sentence)
{
    size_t i = 0;
    while (worker->slots[i].sentence != sentence) {
        i++;
        assert(i < worker->n_slots);
    }
    return i;
}

static void retire(struct worker *worker)
{
    struct mt_engine *engine = worker->engine;
    struct mt_sentence *sentence;
    while ((sentence = mt_batch_take_finished(worker->batch))) {
        struct mt_job *job = leave_slot(worker, find_slot(worker, sentence));
        if (mt_sentence_n_hypotheses(sentence))
            engine->n_target_tokens += mt_sentence_hypothesis(sentence, 0).n_ids;
        count_ended(engine, job, 1);
    }
}

static void expire(struct worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    struct mt_job *waiting;
    while ((waiting = mt_queue_find_expired(engine->queue, now)))
        end_early(engine, waiting, MT_TIMEOUT);
    for (size_t i = 0; i < worker->n_slots; i++) {
        struct mt_job *job = worker->slots[i].job;
        if (engine->is_stopping)
            end_early(engine, job, MT_CANCELLED);
        else if (job->deadline_ns && job->deadline_ns <= now)
            end_early(engine, job, MT_TIMEOUT);
    }
}

static void drop_cancelled(struct worker *worker)
{
    for (size_t i = worker->n_slots; i-- > 0;) {
        if (!worker->slots[i].job->cancelled)
            continue;
        mt_batch_cancel(worker->batch, worker->slots[i].sentence);
        count_ended(worker->engine, leave_slot(worker, i), 1);
    }
}

/*
 * Takes sentences from the queue while the batch has room, but leaves the workers that have
 * nothing to do their share; they have been woken. The sentence whose turn it is waits until it
 * fits: others do not overtake it, or a wide one would never get in.
 */
static void admit(struct worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    size_t n_sharing = engine->n_idle + 1;
    size_t share = (mt_queue_n_sentences(engine->queue) + n_sharing - 1) / n_sharing;
    for (size_t i = 0; i < share; i++) {
        struct mt_job *job;
        struct mt_sentence *sentence = mt_queue_peek(engine->queue, &job);
        if (!sentence || !mt_batch_admit(worker->batch, sentence))
            break;
        mt_queue_take(engine->queue);
        worker->slots[worker->n_slots++] = (struct slot){.sentence = sentence, .job = job};
        worker->n_followed += job->on_progress != NULL;
        engine->n_running_sentences++;
        engine->n_admitted++;
        /* One submitted since this turn began has not waited. */
        if (now > job->submitted_ns)
            engine->queue_wait_ns += now - job->submitted_ns;
    }
    assert(worker->n_slots || mt_queue_n_sentences(engine->queue) == 0);
}

/* Without the mutex: a job with a sentence in a slot lives, and its on_progress does not change. */
static void tell_progress(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_slots; i++) {
        struct slot *slot = &worker->slots[i];
        if (!slot->job->on_progress)
            continue;
        struct mt_progress progress = mt_sentence_progress(slot->sentence);
        if (progress.n_ids == slot->n_told && !progress.has_ended)
            continue;
        slot->n_told = progress.n_ids;
        slot->job->on_progress(slot->job);
    }
}

/* False: the engine stops, and nothing is left to do. */
static bool wait_for_work(struct worker *worker)
{
    struct mt_engine *engine = worker->engine;
    while (!worker->n_slots && !engine->ended && !mt_queue_n_sentences(engine->queue)) {
        if (engine->is_stopping)
            return false;
        engine->n_idle++;
        pthread_cond_wait(&engine->work, &engine->mutex);
        engine->n_idle--;
    }
    return true;
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct mt_engine *engine = worker->engine;
    pthread_mutex_lock(&engine->mutex);
    while (wait_for_work(worker)) {
        int64_t now = mt_now_ns();
        retire(worker);
        expire(worker, now);
        drop_cancelled(worker);
        deliver(engine);
        admit(worker, now);

        pthread_mutex_unlock(&engine->mutex);
        mt_batch_step(worker->batch);
        if (worker->n_followed)
            tell_progress(worker);
        pthread_mutex_lock(&engine->mutex);
        worker->stats = mt_batch_stats(worker->batch);
        worker->n_rows = mt_batch_n_rows(worker->batch);
    }
    pthread_mutex_unlock(&engine->mutex);
    return NULL;
}

/* --- making and ending the engine --- */

void mt_engine_default_threads(size_t n_cores, size_t *n_workers, size_t *threads_per_worker)
{
    n_cores = mt_size_max(n_cores, 1);
    *n_workers = (n_cores + MAX_TEAM_BY_DEFAULT - 1) / MAX_TEAM_BY_DEFAULT;
    *threads_per_worker = n_cores / *n_workers;
}

static size_t count_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (size_t)CPU_COUNT(&allowed);
    return 1;
}

static void choose_threads(struct mt_engine *engine, const struct mt_engine_options *options)
{
    size_t n_cores = count_cores();
    engine->n_workers = options->n_workers;
    engine->threads_per_worker = options->threads_per_worker;
    if (!options->n_workers && !options->threads_per_worker)
        mt_engine_default_threads(n_cores, &engine->n_workers, &engine->threads_per_worker);
    else if (!options->n_workers)
        engine->n_workers = mt_size_max(1, n_cores / options->threads_per_worker);
    else if (!options->threads_per_worker)
        engine->threads_per_worker = mt_size_max(1, n_cores / options->n_workers);
}

static enum mt_status start_worker(struct mt_engine *engine, size_t index,
                                   const struct mt_model *model, size_t encode_tokens,
                                   struct mt_error *err)
{
    struct worker *worker = &engine->workers[index];
    worker->engine = engine;
    worker->slots = calloc(engine->max_rows, sizeof *worker->slots);
    if (!worker->slots)
        return mt_fail_memory(err, engine->max_rows * sizeof *worker->slots, "a worker");
    enum mt_status status = mt_team_create(engine->threads_per_worker, &worker->team, err);
    if (status)
        return status;
    const struct mt_batch_options options = {
        .max_rows = engine->max_rows,
        .encode_tokens = encode_tokens,
        .team = worker->team,
    };
    status = mt_batch_create(model, &options, &worker->batch, err);
    if (status)
        return status;
    int code = pthread_create(&worker->thread, NULL, run_worker, worker);
    if (code)
        return mt_fail(err, MT_IO, "cannot start worker %zu: %s", index, strerror(code));
    worker->is_started = true;
    char name[16];
    snprintf(name, sizeof name, "worker-%u", (unsigned)index);
    pthread_setname_np(worker->thread, name);
    return MT_OK;
}

static enum mt_status start_workers(struct mt_engine *engine, const struct mt_model *model,
                                    size_t encode_tokens, struct mt_error *err)
{
    if (engine->n_workers > MAX_WORKERS || engine->threads_per_worker > MT_TEAM_MAX_THREADS)
        return mt_fail(err, MT_INVALID, "%zu workers of %zu threads: at most %d of %d",
                       engine->n_workers, engine->threads_per_worker, MAX_WORKERS,
                       MT_TEAM_MAX_THREADS);
    engine->workers = calloc(engine->n_workers, sizeof *engine->workers);
    if (!engine->workers)
        return mt_fail_memory(err, engine->n_workers * sizeof *engine->workers, "workers");
    sigset_t old; /* signals are for the program's own threads */
    mt_fault_block_others(&old);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < engine->n_workers && !status; i++)
        status = start_worker(engine, i, model, encode_tokens, err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum mt_status mt_engine_create(const struct mt_model *model,
                                const struct mt_engine_options *options, struct mt_engine **out,
                                struct mt_error *err)
{
    struct mt_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return mt_fail_memory(err, sizeof *engine, "the engine");
    choose_threads(engine, options);
    engine->max_rows = options->max_batch_rows ? options->max_batch_rows : DEFAULT_MAX_BATCH_ROWS;
    engine->max_queued_sentences = options->max_queued_sentences ? options->max_queued_sentences
                                                                 : DEFAULT_MAX_QUEUED_SENTENCES;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_cond_init(&engine->work, NULL);
    pthread_cond_init(&engine->quiet, &monotonic);
    pthread_condattr_destroy(&monotonic);

    enum mt_status status = mt_queue_create(engine->max_queued_sentences, &engine->queue, err);
    if (!status)
        status = start_workers(engine, model, options->encode_tokens, err);
    if (status) {
        mt_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return MT_OK;
}

/* From now on workers drop what they have, and leave when everybody has been told. */
static void stop(struct mt_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    engine->is_draining = engine->is_stopping = true;
    struct mt_job *job;
    while (engine->queue && mt_queue_peek(engine->queue, &job))
        end_early(engine, job, MT_CANCELLED);
    pthread_cond_broadcast(&engine->work);
    pthread_mutex_unlock(&engine->mutex);
}

void mt_engine_destroy(struct mt_engine *engine)
{
    if (!engine)
        return;
    stop(engine);
    for (size_t i = 0; engine->workers && i < engine->n_workers; i++)
        if (engine->workers[i].is_started)
            pthread_join(engine->workers[i].thread, NULL);
    for (size_t i = 0; engine->workers && i < engine->n_workers; i++) {
        mt_batch_destroy(engine->workers[i].batch);
        mt_team_destroy(engine->workers[i].team);
        free(engine->workers[i].slots);
    }
    mt_queue_destroy(engine->queue);
    pthread_cond_destroy(&engine->quiet);
    pthread_cond_destroy(&engine->work);
    pthread_mutex_destroy(&engine->mutex);
    free(engine->workers);
    free(engine);
}

/* --- what other threads ask for --- */

/* With the mutex held. */
static enum mt_status accept_job(struct mt_engine *engine, struct mt_job *job, struct mt_error *err)
{
    if (engine->is_draining)
        return mt_fail(err, MT_CANCELLED, "the engine is shutting down");
    enum mt_status status = mt_queue_put(engine->queue, job, err);
    if (status)
        return status;
    job->submitted_ns = mt_now_ns();
    engine->n_accepted++;
    engine->n_live_jobs++;
    if (job->n_sentences == 1)
        pthread_cond_signal(&engine->work);
    else
        pthread_cond_broadcast(&engine->work);
    return MT_OK;
}

enum mt_status mt_engine_submit(struct mt_engine *engine, struct mt_job *job, struct mt_error *err)
{
    assert(job->n_sentences > 0);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < job->n_sentences && !status; i++)
        status = mt_batch_check(engine->workers[0].batch, job->sentences[i], err);
    pthread_mutex_lock(&engine->mutex);
    if (!status)
        status = accept_job(engine, job, err);
    if (status)
        engine->n_refused++;
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

void mt_engine_cancel(struct mt_engine *engine, struct mt_job *job)
{
    pthread_mutex_lock(&engine->mutex);
    end_early(engine, job, MT_CANCELLED);
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->mutex);
}

enum mt_status mt_engine_drain(struct mt_engine *engine, int64_t timeout_ms, struct mt_error *err)
{
    int64_t until_ns = mt_now_ns() + timeout_ms * NS_PER_MS;
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / NS_PER_S),
        .tv_nsec = (long)(until_ns % NS_PER_S),
    };
    int code = 0;
    pthread_mutex_lock(&engine->mutex);
    engine->is_draining = true;
    while (engine->n_live_jobs && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&engine->quiet, &engine->mutex, &until);
    size_t n_left = engine->n_live_jobs;
    pthread_mutex_unlock(&engine->mutex);
    if (n_left)
        return mt_fail(err, MT_TIMEOUT, "%zu jobs are not done after %lld ms", n_left,
                       (long long)timeout_ms);
    return MT_OK;
}

size_t mt_engine_reserved_bytes(const struct mt_engine *engine)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < engine->n_workers; i++)
        n_bytes += mt_batch_reserved_bytes(engine->workers[i].batch);
    return n_bytes;
}

static void add_worker_stats(const struct worker *worker, struct mt_engine_stats *out)
{
    out->n_running_rows += worker->n_rows;
    out->n_steps += worker->stats.n_steps;
    out->n_step_rows += worker->stats.n_step_rows;
    out->n_encoder_passes += worker->stats.n_encoder_passes;
    out->n_source_tokens += worker->stats.n_source_tokens;
    out->encode_seconds += worker->stats.encode_seconds;
    out->step_seconds += worker->stats.step_seconds;
}

void mt_engine_stats(struct mt_engine *engine, struct mt_engine_stats *out)
{
    pthread_mutex_lock(&engine->mutex);
    *out = (struct mt_engine_stats){
        .n_workers = engine->n_workers,
        .threads_per_worker = engine->threads_per_worker,
        .n_queued_sentences = mt_queue_n_sentences(engine->queue),
        .n_running_sentences = engine->n_running_sentences,
        .max_queued_sentences = engine->max_queued_sentences,
        .n_jobs_accepted = engine->n_accepted,
        .n_jobs_done = engine->n_done,
        .n_jobs_cancelled = engine->n_cancelled,
        .n_jobs_expired = engine->n_expired,
        .n_jobs_refused = engine->n_refused,
        .n_sentences_admitted = engine->n_admitted,
        .n_target_tokens = engine->n_target_tokens,
        .queue_wait_seconds = (double)engine->queue_wait_ns / (double)NS_PER_S,
    };
    for (size_t i = 0; i < engine->n_workers; i++)
        add_worker_stats(&engine->workers[i], out);
    pthread_mutex_unlock(&engine->mutex);
}
