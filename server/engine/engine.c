#include "server/engine/engine.h"

#include "base/clock.h"
#include "base/cores.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/size.h"
#include "base/team.h"
#include "model/scratch.h"
#include "model/sentence.h"
#include "server/engine/engine_state.h"
#include "server/engine/queue.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TEAM_BY_DEFAULT 4
#define MAX_WORKERS 256
#define DEFAULT_MAX_BATCH_ROWS 64
#define DEFAULT_MAX_QUEUED_SENTENCES 4096
#define DEFAULT_IDLE_MS 1000

/* Number of steps over which a lane's recent rows and sentences are averaged. They are reset once
 * the lane has had none for RECENT_NS. */
#define RECENT_STEPS 64.0
#define RECENT_NS (5 * INT64_C(1000000))

/* A step that takes longer does not count: the program or the machine was probably stopped. A model
 * whose steps really take as long keeps the layout presumed for it. */
#define STOPPED_NS (500 * INT64_C(1000000))

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* --- making and ending the engine --- */

void mt_engine_default_threads(size_t n_cores, size_t *n_workers, size_t *threads_per_worker)
{
    n_cores = mt_size_max(n_cores, 1);
    *n_workers = (n_cores + MAX_TEAM_BY_DEFAULT - 1) / MAX_TEAM_BY_DEFAULT;
    *threads_per_worker = n_cores / *n_workers;
}

static void choose_threads(struct mt_engine *engine, const struct mt_engine_options *options)
{
    size_t n_cores = mt_cores_available();
    engine->n_workers = options->n_workers;
    engine->threads_per_worker = options->threads_per_worker;
    if (!options->n_workers && !options->threads_per_worker)
        mt_engine_default_threads(n_cores, &engine->n_workers, &engine->threads_per_worker);
    else if (!options->n_workers)
        engine->n_workers = mt_size_max(1, n_cores / options->threads_per_worker);
    else if (!options->threads_per_worker)
        engine->threads_per_worker = mt_size_max(1, n_cores / options->n_workers);
    engine->n_main_workers = engine->n_workers;
    size_t n_spare = options->n_spare_workers;
    size_t n_threads = engine->n_workers * engine->threads_per_worker;
    if (!n_spare && !options->n_workers)
        n_spare = mt_size_min(n_cores, n_threads) - engine->n_workers;
    /* with too few workers the rest still works, so this is no failure */
    if (engine->n_workers < MAX_WORKERS)
        engine->n_workers += mt_size_min(n_spare, MAX_WORKERS - engine->n_workers);
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* A spare worker works at the same time as those before it, so that fewer threads are left for
 * it. */
static size_t team_size(const struct mt_engine *engine, size_t index)
{
    size_t n_threads = engine->threads_per_worker * engine->n_main_workers;
    return mt_size_min(engine->threads_per_worker, n_threads / (index + 1) + 1);
}

static enum mt_status start_worker(struct mt_engine *engine, size_t index, struct mt_error *err)
{
    struct mt_engine_worker *worker = &engine->workers[index];
    worker->engine = engine;
    worker->holes_ns = INT64_MAX;
    worker->index = index;
    enum mt_status status = mt_team_create(team_size(engine, index), &worker->team, err);
    if (status)
        return status;
    int code = pthread_create(&worker->thread, NULL, mt_engine_run_worker, worker);
    if (code)
        return mt_fail(err, MT_IO, "cannot start worker %zu: %s", index, strerror(code));
    worker->is_started = true;
    return MT_OK;
}

static enum mt_status start_workers(struct mt_engine *engine, struct mt_error *err)
{
    if (engine->n_workers > MAX_WORKERS || engine->threads_per_worker > MT_TEAM_MAX_THREADS)
        return mt_fail(err, MT_INVALID, "%zu workers of %zu threads: at most %d of %d",
                       engine->n_workers, engine->threads_per_worker, MAX_WORKERS,
                       MT_TEAM_MAX_THREADS);
    engine->workers = calloc(engine->n_workers, sizeof *engine->workers);
    if (!engine->workers)
        return mt_fail_memory(err, engine->n_workers * sizeof *engine->workers, "workers");
    for (size_t i = 0; i < engine->n_workers; i++)
        init_condition(&engine->workers[i].work);
    sigset_t old; /* other threads of the program handle signals */
    mt_fault_block_others(&old);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < engine->n_workers && !status; i++)
        status = start_worker(engine, i, err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum mt_status mt_engine_create(const struct mt_engine_options *options, struct mt_engine **out,
                                struct mt_error *err)
{
    struct mt_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return mt_fail_memory(err, sizeof *engine, "the engine");
    choose_threads(engine, options);
    engine->max_rows = options->max_batch_rows ? options->max_batch_rows : DEFAULT_MAX_BATCH_ROWS;
    engine->idle_ns = (options->idle_ms ? options->idle_ms : DEFAULT_IDLE_MS) * NS_PER_MS;
    engine->max_queued_sentences = options->max_queued_sentences ? options->max_queued_sentences
                                                                 : DEFAULT_MAX_QUEUED_SENTENCES;
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_mutex_init(&engine->attaching, NULL);
    init_condition(&engine->quiet);

    enum mt_status status =
        mt_queue_create(engine->max_queued_sentences, options->max_follow_up_jobs,
                        options->late_ms * NS_PER_MS, &engine->queue, err);
    if (!status)
        status = start_workers(engine, err);
    if (status) {
        mt_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return MT_OK;
}

/* Called with the mutex held. */
static void empty_queue(struct mt_engine *engine, struct mt_lane *lane)
{
    struct mt_job *job;
    while (mt_queue_peek(lane->waiting, false, &job))
        mt_engine_end_early(engine, job, MT_CANCELLED);
}

/* Called with the mutex held. */
static void wake_all(struct mt_engine *engine)
{
    for (size_t i = 0; engine->workers && i < engine->n_workers; i++)
        pthread_cond_signal(&engine->workers[i].work);
}

/* From now on workers drop their sentences, and end when on_done has been called for all jobs. */
static void stop(struct mt_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    engine->is_stopping = true;
    for (struct mt_lane *lane = engine->lanes.first; lane; lane = lane->next)
        empty_queue(engine, lane);
    wake_all(engine);
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
    while (engine->lanes.first)
        mt_engine_detach(engine, engine->lanes.first);
    for (size_t i = 0; engine->workers && i < engine->n_workers; i++) {
        mt_scratch_let_go(engine->workers[i].scratch);
        mt_team_destroy(engine->workers[i].team);
        pthread_cond_destroy(&engine->workers[i].work);
    }
    mt_queue_destroy(engine->queue);
    pthread_cond_destroy(&engine->quiet);
    pthread_mutex_destroy(&engine->mutex);
    pthread_mutex_destroy(&engine->attaching);
    free(engine->workers);
    free(engine);
}

/* --- waiting, and sharing what waits --- */

size_t mt_engine_load_of(const struct mt_lane *lane, double n_rows, double n_sentences)
{
    double n_workers = (double)lane->engine->n_workers;
    double loads = n_rows * n_workers / (double)mt_layout_rows(&lane->layout);
    return (size_t)ceil(MT_LOAD_APART * fmin(loads, n_sentences));
}

/* Adds the time since the last change to the lane's busy time. */
static void count_time(struct mt_lane *lane)
{
    int64_t now = mt_now_ns();
    int64_t passed_ns = now - lane->changed_ns;
    if (lane->n_sentences)
        lane->work.busy_ns += passed_ns < STOPPED_NS ? passed_ns : 0;
    else if (passed_ns > RECENT_NS)
        lane->recent_rows = lane->recent_sentences = 0.0;
    lane->changed_ns = now;
}

/* Counts sentences with n_rows rows that enter the lane. Called with the mutex held. */
static void count_in(struct mt_lane *lane, size_t n_rows, size_t n_sentences)
{
    count_time(lane);
    lane->n_rows += n_rows;
    lane->n_sentences += n_sentences;
    lane->recent_rows = fmax(lane->recent_rows, (double)lane->n_rows);
    lane->recent_sentences = fmax(lane->recent_sentences, (double)lane->n_sentences);
}

void mt_engine_count_out(struct mt_lane *lane, size_t n_rows, size_t n_sentences)
{
    count_time(lane);
    lane->n_rows -= n_rows;
    lane->n_sentences -= n_sentences;
    lane->work.n_sentences += n_sentences;
}

static void decay(double *recent, size_t now)
{
    *recent = fmax((double)now, *recent - *recent / RECENT_STEPS);
}

/* The lane's speed is only measured where no other lane has sentences. */
static bool has_engine_alone(const struct mt_lane *lane)
{
    for (const struct mt_lane *l = lane->engine->lanes.first; l; l = l->next)
        if (l != lane && l->n_sentences)
            return false;
    return true;
}

void mt_engine_learn(struct mt_lane *lane, const struct mt_batch_stats *done)
{
    struct mt_engine *engine = lane->engine;
    count_time(lane);
    lane->work.encode_ns += (int64_t)(done->encode_seconds * 1e9);
    lane->work.n_rows += done->n_step_rows;
    lane->work.n_tokens += done->n_source_tokens;
    size_t n_running = 0;
    for (size_t i = 0; i < engine->n_workers; i++)
        n_running += lane->batches[i].n_slots;
    if (has_engine_alone(lane))
        mt_layout_note(&lane->layout, &lane->work, lane->recent_rows, n_running,
                       mt_engine_n_taking(engine));
    else
        mt_layout_interrupt(&lane->layout, lane->work.busy_ns);
    decay(&lane->recent_rows, lane->n_rows);
    decay(&lane->recent_sentences, lane->n_sentences);
}

size_t mt_engine_n_taking(const struct mt_engine *engine)
{
    size_t load = 0;
    for (const struct mt_lane *lane = engine->lanes.first; lane; lane = lane->next) {
        size_t n_on_trial = mt_layout_on_trial(&lane->layout);
        if (!lane->n_sentences)
            continue;
        if (n_on_trial)
            return n_on_trial;
        load += mt_engine_load_of(lane, lane->recent_rows, lane->recent_sentences);
    }
    return mt_size_max(engine->n_main_workers,
                       mt_size_min(load / MT_LOAD_APART, engine->n_workers));
}

void mt_engine_wake_takers(struct mt_engine *engine)
{
    size_t n = mt_engine_n_taking(engine), n_waiting = mt_queue_n_sentences(engine->queue);
    for (size_t i = 0; i < n && n_waiting; i++) {
        if (!engine->workers[i].is_idle)
            continue;
        pthread_cond_signal(&engine->workers[i].work);
        n_waiting--;
    }
}

/* Has one worker look for jobs that have ended or have to end. Called with the mutex held. */
static void wake_one(struct mt_engine *engine)
{
    for (size_t i = 0; i < engine->n_workers; i++)
        if (!engine->workers[i].is_idle)
            return; /* this worker looks after its step */
    pthread_cond_signal(&engine->workers[0].work);
}

bool mt_engine_wait(struct mt_engine *engine, pthread_cond_t *condition, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX)
        return pthread_cond_wait(condition, &engine->mutex) == 0;
    const struct timespec until = mt_timespec_of_ns(deadline_ns);
    return pthread_cond_timedwait(condition, &engine->mutex, &until) != ETIMEDOUT;
}

/* --- lanes --- */

/* Also frees a lane that is half built. */
static void free_lane(struct mt_lane *lane)
{
    for (size_t i = 0; i < lane->engine->n_workers; i++) {
        mt_batch_destroy(lane->batches[i].model_batch);
        free(lane->batches[i].slots);
    }
    free(lane);
}

static enum mt_status make_batches(struct mt_lane *lane, const struct mt_model *model,
                                   struct mt_error *err)
{
    struct mt_engine *engine = lane->engine;
    for (size_t i = 0; i < engine->n_workers; i++) {
        struct mt_worker_batch *batch = &lane->batches[i];
        batch->lane = lane;
        const struct mt_batch_options options = {
            .max_rows = engine->max_rows,
            .team = engine->workers[i].team,
            .scratch = &engine->workers[i].scratch,
        };
        batch->slots = calloc(engine->max_rows, sizeof *batch->slots);
        if (!batch->slots)
            return mt_fail_memory(err, engine->max_rows * sizeof *batch->slots, "a lane");
        enum mt_status status = mt_batch_create(model, &options, &batch->model_batch, err);
        if (status)
            return status;
        lane->reserved_bytes += mt_batch_reserved_bytes(batch->model_batch);
        if (i == 0)
            mt_layout_init(&lane->layout, engine->n_main_workers, engine->n_workers,
                           mt_batch_rows_apart(batch->model_batch) * engine->n_workers);
        if (i < engine->n_main_workers)
            lane->expected_bytes += mt_batch_cache_bytes(batch->model_batch, MT_COUNTED_TOKENS);
    }
    return MT_OK;
}

static enum mt_status add_lane(struct mt_lane *lane, struct mt_error *err)
{
    struct mt_engine *engine = lane->engine;
    pthread_mutex_lock(&engine->mutex);
    enum mt_status status = mt_queue_add_lane(engine->queue, &lane->waiting, err);
    if (!status)
        MT_LIST_PREPEND(&engine->lanes, lane);
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

enum mt_status mt_engine_attach(struct mt_engine *engine, const struct mt_model *model,
                                struct mt_lane **out, struct mt_error *err)
{
    size_t n_bytes = sizeof(struct mt_lane) + engine->n_workers * sizeof(struct mt_worker_batch);
    struct mt_lane *lane = calloc(1, n_bytes);
    if (!lane)
        return mt_fail_memory(err, n_bytes, "a lane");
    lane->engine = engine;
    pthread_mutex_lock(&engine->attaching);
    enum mt_status status = make_batches(lane, model, err);
    pthread_mutex_unlock(&engine->attaching);
    if (!status)
        status = add_lane(lane, err);
    if (status) {
        free_lane(lane);
        return status;
    }
    *out = lane;
    return MT_OK;
}

/* The activations belong to the worker. The pages that this batch has touched are given back by the
 * worker's busy batches or, where it has none, here. A batch that is not warm has given them
 * back. */
static void let_go_of_batch(const struct mt_engine_worker *worker, struct mt_worker_batch *batch)
{
    bool is_warm = batch->list == &worker->warm;
    mt_engine_move_batch(batch, NULL);
    if (is_warm && !worker->busy.first)
        mt_batch_trim(batch->model_batch);
}

void mt_engine_detach(struct mt_engine *engine, struct mt_lane *lane)
{
    if (!lane)
        return;
    pthread_mutex_lock(&engine->mutex);
    lane->is_leaving = true;
    empty_queue(engine, lane);
    wake_one(engine);
    while (lane->n_live_jobs)
        pthread_cond_wait(&engine->quiet, &engine->mutex);
    for (size_t i = 0; i < engine->n_workers; i++)
        let_go_of_batch(&engine->workers[i], &lane->batches[i]);
    mt_queue_remove_lane(engine->queue, lane->waiting);
    MT_LIST_REMOVE(&engine->lanes, lane);
    pthread_mutex_unlock(&engine->mutex);
    free_lane(lane);
}

size_t mt_lane_reserved_bytes(const struct mt_lane *lane)
{
    return lane->reserved_bytes;
}

size_t mt_lane_resident_bytes(struct mt_lane *lane)
{
    size_t n_bytes = 0;
    pthread_mutex_lock(&lane->engine->mutex);
    for (size_t i = 0; i < lane->engine->n_workers; i++)
        n_bytes += lane->batches[i].resident_bytes;
    pthread_mutex_unlock(&lane->engine->mutex);
    return n_bytes;
}

bool mt_lane_is_busy(struct mt_lane *lane)
{
    pthread_mutex_lock(&lane->engine->mutex);
    bool is_busy = lane->n_live_jobs > 0;
    pthread_mutex_unlock(&lane->engine->mutex);
    return is_busy;
}

size_t mt_lane_cache_bytes(struct mt_lane *lane)
{
    return mt_size_max(lane->expected_bytes, mt_lane_resident_bytes(lane));
}

/* --- what other threads ask for --- */

/* Called with the mutex held. */
static enum mt_status accept_job(struct mt_engine *engine, struct mt_job *job, size_t n_rows,
                                 uint64_t cost, struct mt_error *err)
{
    if (engine->is_stopping)
        return mt_fail(err, MT_CANCELLED, "the engine is shutting down");
    if (job->lane->is_leaving)
        return mt_fail(err, MT_CANCELLED, "the model is being unloaded");
    enum mt_status status = mt_queue_put(engine->queue, job->lane->waiting, job, err);
    if (status)
        return status;
    job->submitted_ns = mt_now_ns();
    engine->n_accepted++;
    engine->n_live_jobs++;
    job->lane->n_live_jobs++;
    count_in(job->lane, n_rows, job->n_sentences);
    engine->waiting_cost += cost;
    mt_engine_wake_takers(engine);
    return MT_OK;
}

enum mt_status mt_engine_submit(struct mt_engine *engine, struct mt_job *job, struct mt_error *err)
{
    assert(job->n_sentences > 0 && job->lane && job->lane->engine == engine);
    enum mt_status status = MT_OK;
    size_t n_rows = 0;
    uint64_t cost = 0;
    for (size_t i = 0; i < job->n_sentences && !status; i++) {
        status = mt_batch_check(job->lane->batches[0].model_batch, job->sentences[i], err);
        n_rows += mt_sentence_n_rows(job->sentences[i]);
        cost += mt_queue_cost(job->sentences[i]);
    }
    pthread_mutex_lock(&engine->mutex);
    if (!status)
        status = accept_job(engine, job, n_rows, cost, err);
    if (status)
        engine->n_refused++;
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

bool mt_engine_run_idle(struct mt_engine *engine, void (*run)(void *argument), void *argument)
{
    struct mt_engine_worker *worker = &engine->workers[0];
    pthread_mutex_lock(&engine->mutex);
    bool is_free = worker->is_idle && !engine->n_live_jobs && !engine->idle_task.run;
    if (is_free) {
        engine->idle_task.run = run;
        engine->idle_task.argument = argument;
        pthread_cond_signal(&worker->work);
    }
    pthread_mutex_unlock(&engine->mutex);
    return is_free;
}

bool mt_engine_has_room(struct mt_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    bool has_room = mt_queue_n_sentences(engine->queue) < engine->max_queued_sentences;
    pthread_mutex_unlock(&engine->mutex);
    return has_room;
}

enum mt_status mt_engine_check_room(struct mt_engine *engine, struct mt_error *err)
{
    pthread_mutex_lock(&engine->mutex);
    size_t n_sentences = mt_queue_n_sentences(engine->queue), limit = engine->max_queued_sentences;
    bool is_full = mt_queue_is_full(engine->queue);
    if (is_full)
        engine->n_refused++;
    pthread_mutex_unlock(&engine->mutex);
    if (!is_full)
        return MT_OK;
    if (n_sentences < limit)
        return mt_fail(err, MT_BUSY,
                       "the queue is full: %zu sentences wait, and what is left to the limit of "
                       "%zu is kept for larger requests",
                       n_sentences, limit);
    return mt_fail(err, MT_BUSY, "the queue is full: %zu sentences wait, which is the limit",
                   n_sentences);
}

void mt_engine_cancel(struct mt_engine *engine, struct mt_job *job)
{
    pthread_mutex_lock(&engine->mutex);
    mt_engine_end_early(engine, job, MT_CANCELLED);
    wake_one(engine);
    pthread_mutex_unlock(&engine->mutex);
}

static void add_worker_stats(const struct mt_engine_worker *worker, struct mt_engine_stats *out)
{
    const struct mt_batch_stats *total = &worker->total;
    out->n_steps += total->n_steps;
    out->n_step_rows += total->n_step_rows;
    out->n_encoder_passes += total->n_encoder_passes;
    out->n_source_tokens += total->n_source_tokens;
    out->encode_seconds += total->encode_seconds;
    out->step_seconds += total->step_seconds;
}

/* Called with the mutex held. */
static double expected_wait(const struct mt_engine *engine)
{
    return mt_expected_wait_seconds(&engine->expected_wait, engine->waiting_cost,
                                    engine->running_cost, mt_now_ns());
}

void mt_engine_stats(struct mt_engine *engine, struct mt_engine_stats *out)
{
    pthread_mutex_lock(&engine->mutex);
    *out = (struct mt_engine_stats){
        .n_workers = engine->n_main_workers,
        .n_spare_workers = engine->n_workers - engine->n_main_workers,
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
        .expected_wait_seconds = expected_wait(engine),
    };
    for (size_t i = 0; i < engine->n_workers; i++)
        add_worker_stats(&engine->workers[i], out);
    for (const struct mt_lane *lane = engine->lanes.first; lane; lane = lane->next)
        for (size_t i = 0; i < engine->n_workers; i++)
            out->n_running_rows += lane->batches[i].n_rows;
    pthread_mutex_unlock(&engine->mutex);
}
