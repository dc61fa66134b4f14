#include "server/engine/engine_state.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/size.h"
#include "base/team.h"
#include "model/sentence.h"
#include "server/engine/queue.h"

#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/prctl.h>

/* --- the end of sentences and jobs; all with the mutex held --- */

/* Workers deliver what they ended themselves; another thread that ends a job wakes one. */
static void count_ended(struct mt_engine *engine, struct mt_job *job, size_t n)
{
    job->n_ended += n;
    if (job->n_ended == job->n_sentences)
        MT_LIST_APPEND(&engine->ended, job);
}

void mt_engine_end_early(struct mt_engine *engine, struct mt_job *job, enum mt_status status)
{
    if (job->cancelled || job->n_ended == job->n_sentences)
        return;
    job->cancelled = true;
    job->status = status;
    size_t n_waiting = job->n_sentences - job->n_taken;
    if (n_waiting) {
        mt_queue_remove(engine->queue, job->lane->waiting, job);
        count_ended(engine, job, n_waiting);
    }
}

static void count_job(struct mt_engine *engine, enum mt_status status)
{
    if (!status)
        engine->n_done++;
    else if (status == MT_TIMEOUT)
        engine->n_expired++;
    else
        engine->n_cancelled++;
}

/* Calls on_done of what has ended; lets go of the mutex meanwhile. */
static void deliver(struct mt_engine *engine)
{
    while (engine->ended.first) {
        struct mt_job *job = engine->ended.first;
        MT_LIST_REMOVE(&engine->ended, job);
        struct mt_lane *lane = job->lane; /* lives as long as it has live jobs */
        enum mt_status status = job->status;
        count_job(engine, status);

        pthread_mutex_unlock(&engine->mutex);
        job->on_done(job, status);
        pthread_mutex_lock(&engine->mutex);

        lane->n_live_jobs--;
        engine->n_live_jobs--;
        if (!lane->n_live_jobs || !engine->n_live_jobs)
            pthread_cond_broadcast(&engine->quiet);
    }
}

/* --- lists of places --- */

void mt_engine_move_place(struct mt_engine_place *place, struct mt_engine_places *to)
{
    if (place->list)
        MT_LIST_REMOVE(place->list, place);
    if (to)
        MT_LIST_APPEND(to, place);
    place->list = to;
}

/* --- one turn of a worker; all with the mutex held but the step itself --- */

static struct mt_job *leave_slot(struct mt_engine *engine, struct mt_engine_place *place,
                                 size_t index)
{
    struct mt_job *job = place->slots[index].job;
    place->n_followed -= job->on_progress != NULL;
    place->slots[index] = place->slots[--place->n_slots];
    engine->n_running_sentences--;
    return job;
}

static size_t find_slot(const struct mt_engine_place *place, const struct mt_sentence *sentence)
{
    size_t i = 0;
    while (place->slots[i].sentence != sentence) {
        i++;
        assert(i < place->n_slots);
    }
    return i;
}

static void retire(struct mt_engine *engine, struct mt_engine_place *place)
{
    struct mt_sentence *sentence;
    while ((sentence = mt_batch_take_finished(place->batch))) {
        struct mt_job *job = leave_slot(engine, place, find_slot(place, sentence));
        if (mt_sentence_n_hypotheses(sentence))
            engine->n_target_tokens += mt_sentence_hypothesis(sentence, 0).n_ids;
        count_ended(engine, job, 1);
    }
}

static void expire(struct mt_engine *engine, struct mt_engine_place *place, int64_t now)
{
    for (size_t i = 0; i < place->n_slots; i++) {
        struct mt_job *job = place->slots[i].job;
        if (engine->is_stopping || job->lane->is_leaving)
            mt_engine_end_early(engine, job, MT_CANCELLED);
        else if (job->deadline_ns && job->deadline_ns <= now)
            mt_engine_end_early(engine, job, MT_TIMEOUT);
    }
}

static void drop_cancelled(struct mt_engine *engine, struct mt_engine_place *place)
{
    for (size_t i = place->n_slots; i-- > 0;) {
        if (!place->slots[i].job->cancelled)
            continue;
        mt_batch_cancel(place->batch, place->slots[i].sentence);
        count_ended(engine, leave_slot(engine, place, i), 1);
    }
}

/* Nothing keeps the lane of a place without slots from going: it is not stepped again. */
static void leave_idle_places(struct mt_engine_worker *worker, int64_t now)
{
    for (struct mt_engine_place *place = worker->busy.first, *next; place; place = next) {
        next = place->next;
        place->n_rows = mt_batch_n_rows(place->batch);
        if (place->n_slots)
            continue;
        place->idle_since_ns = now;
        mt_engine_move_place(place, &worker->warm);
    }
}

/* At most one place: the mutex is held for about a millisecond. Whether one was due. */
static bool trim(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_engine_place *place = worker->warm.first;
    if (!place || now - place->idle_since_ns < worker->engine->idle_ns)
        return false;
    mt_batch_trim(place->batch);
    place->resident_bytes = 0;
    mt_engine_move_place(place, NULL);
    return true;
}

/* Takes in what the last step ended, and what was to end without it. */
static void clear(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    for (struct mt_engine_place *place = worker->busy.first; place; place = place->next)
        retire(engine, place);
    struct mt_job *waiting;
    while ((waiting = mt_queue_find_expired(engine->queue, now)))
        mt_engine_end_early(engine, waiting, MT_TIMEOUT);
    for (struct mt_engine_place *place = worker->busy.first; place; place = place->next) {
        expire(engine, place, now);
        drop_cancelled(engine, place);
    }
    leave_idle_places(worker, now);
}

static void take_slot(struct mt_engine_worker *worker, struct mt_engine_place *place,
                      struct mt_sentence *sentence, struct mt_job *job)
{
    if (!place->n_slots)
        mt_engine_move_place(place, &worker->busy);
    place->slots[place->n_slots++] = (struct mt_engine_slot){.sentence = sentence, .job = job};
    place->n_followed += job->on_progress != NULL;
}

/* Whether what is left of the batch is for brief jobs. */
static bool is_for_brief(const struct mt_engine *engine, const struct mt_engine_place *place)
{
    return mt_batch_n_rows(place->batch) >= engine->max_rows - engine->max_rows / MT_KEPT_FOR_BRIEF;
}

/* Takes at most n sentences of the lane, while its batch has room. The sentence whose turn it is
 * waits until it fits: others of its lane do not overtake it, or a wide one would never get in. */
static size_t admit_from(struct mt_engine_worker *worker, struct mt_lane *lane, size_t n,
                         int64_t now)
{
    struct mt_engine *engine = worker->engine;
    struct mt_engine_place *place = &lane->places[worker->index];
    size_t n_admitted = 0;
    while (n_admitted < n) {
        struct mt_job *job;
        bool is_brief = is_for_brief(engine, place);
        struct mt_sentence *sentence = mt_queue_peek(lane->waiting, is_brief, &job);
        if (!sentence) {
            worker->is_full = worker->is_full || mt_queue_lane_n_sentences(lane->waiting);
            break;
        }
        if (!mt_batch_admit(place->batch, sentence)) {
            size_t n_rows = mt_batch_n_rows(place->batch) + mt_sentence_n_rows(sentence);
            worker->is_full = worker->is_full || n_rows > engine->max_rows;
            break;
        }
        mt_queue_take(engine->queue, lane->waiting, job);
        take_slot(worker, place, sentence, job);
        n_admitted++;
        /* One submitted since this turn began has not waited. */
        if (now > job->submitted_ns)
            engine->queue_wait_ns += now - job->submitted_ns;
    }
    engine->n_running_sentences += n_admitted;
    engine->n_admitted += n_admitted;
    return n_admitted;
}

/* Of the first n workers, those that wait for work. */
static size_t count_idle(const struct mt_engine *engine, size_t n)
{
    size_t n_idle = 0;
    for (size_t i = 0; i < n; i++)
        n_idle += engine->workers[i].is_idle;
    return n_idle;
}

/*
 * Takes sentences from the queue while the batches have room, but leaves the workers that have
 * nothing to do their share; they have been woken. Lane after lane rather than in turn: sentences
 * of one model share its steps, so a worker better has many of few models.
 */
static void admit(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    size_t n_sharing = count_idle(engine, engine->n_main_workers) + 1;
    size_t share = (mt_queue_n_sentences(engine->queue) + n_sharing - 1) / n_sharing;
    if (worker->is_spare && !mt_engine_has_surge(engine, 1))
        share = 0;
    worker->is_full = false;
    for (struct mt_lane *lane = engine->lanes.first; lane && share; lane = lane->next)
        share -= admit_from(worker, lane, share, now);
    assert(worker->is_spare || worker->busy.first || mt_queue_n_sentences(engine->queue) == 0);
    if (mt_engine_has_surge(engine, MT_MIN_SPARE_SENTENCES))
        pthread_cond_signal(&engine->surge);
}

/* While more workers are busy than there are teams for, each team gets by with fewer threads. Those
 * that were larger a moment ago notice at their next step. */
static void set_width(struct mt_engine_worker *worker)
{
    const struct mt_engine *engine = worker->engine;
    size_t n_busy = engine->n_workers - count_idle(engine, engine->n_workers);
    size_t rank = worker->index - count_idle(engine, worker->index); /* among those */
    size_t n_threads = engine->threads_per_worker, n_all = n_threads * engine->n_main_workers;
    size_t width = n_all / n_busy + (rank < n_all % n_busy);
    mt_team_set_width(worker->team, mt_size_max(1, mt_size_min(width, n_threads)));
}

/* Without the mutex: a job with a sentence in a slot lives, and its on_progress does not change. */
static void tell_progress(struct mt_engine_place *place)
{
    for (size_t i = 0; i < place->n_slots; i++) {
        struct mt_engine_slot *slot = &place->slots[i];
        if (!slot->job->on_progress)
            continue;
        struct mt_progress progress = mt_sentence_progress(slot->sentence);
        if (progress.n_ids == slot->n_told && !progress.has_ended)
            continue;
        slot->n_told = progress.n_ids;
        slot->job->on_progress(slot->job);
    }
}

static void add_stats(struct mt_batch_stats *total, const struct mt_batch_stats *now,
                      const struct mt_batch_stats *before)
{
    total->n_steps += now->n_steps - before->n_steps;
    total->n_step_rows += now->n_step_rows - before->n_step_rows;
    total->n_encoder_passes += now->n_encoder_passes - before->n_encoder_passes;
    total->n_source_tokens += now->n_source_tokens - before->n_source_tokens;
    total->encode_seconds += now->encode_seconds - before->encode_seconds;
    total->step_seconds += now->step_seconds - before->step_seconds;
}

/* The place whose batch is stepped next: all that are busy, in turn. NULL: none is. */
static struct mt_engine_place *next_place(struct mt_engine_worker *worker)
{
    struct mt_engine_place *place = worker->busy.first;
    if (place)
        mt_engine_move_place(place, &worker->busy);
    return place;
}

static void count_step(struct mt_engine_worker *worker, struct mt_engine_place *place)
{
    struct mt_batch_stats now = mt_batch_stats(place->batch);
    add_stats(&worker->total, &now, &place->stats);
    place->stats = now;
    place->resident_bytes = mt_batch_resident_bytes(place->batch);
}

/* Until there is, or a warm place may be trimmed. */
static void sleep_until_work(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    worker->is_idle = true;
    worker->is_full = false;
    const struct mt_engine_place *warm = worker->warm.first;
    (void)mt_engine_wait(engine, worker->is_spare ? &engine->surge : &engine->work,
                         warm ? warm->idle_since_ns + engine->idle_ns : INT64_MAX);
    worker->is_idle = false;
}

static bool has_work(const struct mt_engine_worker *worker)
{
    const struct mt_engine *engine = worker->engine;
    if (worker->is_spare)
        return worker->busy.first || mt_engine_has_surge(engine, MT_MIN_SPARE_SENTENCES);
    return worker->busy.first || engine->ended.first || mt_queue_n_sentences(engine->queue);
}

/*
 * Requests leave holes in the heaps, which glibc keeps: one of thousands of sentences leaves a
 * gigabyte. That much takes a tenth of a second, in which others wait for memory, so everybody
 * rests before. Lets go of the mutex meanwhile.
 */
static void give_holes_back(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    if (worker->warm.first || count_idle(engine, engine->n_workers) + 1 < engine->n_workers)
        return;
    pthread_mutex_unlock(&engine->mutex);
    malloc_trim(0);
    pthread_mutex_lock(&engine->mutex);
}

/* False: the engine stops, and nothing is left to do. */
static bool wait_for_work(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    while (!has_work(worker)) {
        if (engine->is_stopping)
            return false;
        if (trim(worker, mt_now_ns()))
            give_holes_back(worker);
        else
            sleep_until_work(worker);
    }
    return true;
}

void *mt_engine_run_worker(void *argument)
{
    struct mt_engine_worker *worker = argument;
    struct mt_engine *engine = worker->engine;
    char name[16];
    snprintf(name, sizeof name, "worker-%u", (unsigned)worker->index);
    prctl(PR_SET_NAME, name);
    pthread_mutex_lock(&engine->mutex);
    while (wait_for_work(worker)) {
        int64_t now = mt_now_ns();
        clear(worker, now);
        deliver(engine);
        admit(worker, now);
        (void)trim(worker, now);

        struct mt_engine_place *place = next_place(worker);
        if (!place)
            continue;
        set_width(worker);
        pthread_mutex_unlock(&engine->mutex);
        mt_batch_step(place->batch);
        if (place->n_followed)
            tell_progress(place);
        pthread_mutex_lock(&engine->mutex);
        count_step(worker, place);
    }
    pthread_mutex_unlock(&engine->mutex);
    return NULL;
}
