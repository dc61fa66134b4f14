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

/* How often unused memory is given back while no work comes. */
#define MOST_LOOKS 4

/* --- the end of sentences and jobs; all with the mutex held --- */

/* Workers call on_done for jobs that they ended themselves; any other thread that ends a job wakes
 * a worker. */
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
    size_t n_waiting = job->n_sentences - job->n_taken, n_rows = 0;
    for (size_t i = job->n_taken; i < job->n_sentences; i++) {
        n_rows += mt_sentence_n_rows(job->sentences[i]);
        engine->waiting_cost -= mt_queue_cost(job->sentences[i]);
    }
    mt_engine_count_out(job->lane, n_rows, n_waiting);
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

/* Calls on_done of the jobs that have ended, without holding the mutex meanwhile. */
static void deliver(struct mt_engine *engine)
{
    while (engine->ended.first) {
        struct mt_job *job = engine->ended.first;
        MT_LIST_REMOVE(&engine->ended, job);
        struct mt_lane *lane = job->lane; /* it exists as long as it has live jobs */
        enum mt_status status = job->status;
        count_job(engine, status);
        job->was_last = engine->n_live_jobs == 1;

        pthread_mutex_unlock(&engine->mutex);
        job->on_done(job, status);
        pthread_mutex_lock(&engine->mutex);

        lane->n_live_jobs--;
        engine->n_live_jobs--;
        if (!lane->n_live_jobs)
            pthread_cond_broadcast(&engine->quiet);
    }
}

/* --- lists of batches --- */

void mt_engine_move_batch(struct mt_worker_batch *batch, struct mt_worker_batches *to)
{
    if (batch->list)
        MT_LIST_REMOVE(batch->list, batch);
    if (to)
        MT_LIST_APPEND(to, batch);
    batch->list = to;
}

/* --- one turn of a worker; all with the mutex held but the step itself --- */

static struct mt_job *leave_slot(struct mt_engine_worker *worker, struct mt_worker_batch *batch,
                                 size_t index)
{
    struct mt_engine *engine = worker->engine;
    struct mt_job *job = batch->slots[index].job;
    const struct mt_sentence *sentence = batch->slots[index].sentence;
    batch->n_rows -= mt_sentence_n_rows(sentence);
    mt_engine_count_out(job->lane, mt_sentence_n_rows(sentence), 1);
    batch->n_followed -= job->on_progress != NULL;
    batch->n_short -= job->is_short;
    batch->slots[index] = batch->slots[--batch->n_slots];
    engine->n_running_sentences--;
    engine->running_cost -= mt_queue_cost(sentence);
    return job;
}

static size_t find_slot(const struct mt_worker_batch *batch, const struct mt_sentence *sentence)
{
    size_t i = 0;
    while (batch->slots[i].sentence != sentence) {
        i++;
        assert(i < batch->n_slots);
    }
    return i;
}

/* Where several sentences of a job end at once, the job gets the times of the one that waited
 * longest. */
static void account_for(const struct mt_engine_slot *slot, int64_t now)
{
    struct mt_job_account *account = &slot->job->account;
    int64_t queue_ns = slot->begun_ns - slot->job->submitted_ns;
    account->n_source_tokens += mt_sentence_n_source(slot->sentence);
    if (mt_sentence_n_hypotheses(slot->sentence))
        account->n_target_tokens += mt_sentence_hypothesis(slot->sentence, 0).n_ids;
    if (now == account->ended_ns && queue_ns <= account->queue_ns)
        return;
    account->queue_ns = queue_ns;
    account->encoder_ns = slot->encoder_ns;
    account->decoder_ns = now - slot->begun_ns - slot->encoder_ns;
    account->ended_ns = now;
}

static void retire(struct mt_engine_worker *worker, struct mt_worker_batch *batch, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    struct mt_sentence *sentence;
    while ((sentence = mt_batch_take_finished(batch->model_batch))) {
        size_t index = find_slot(batch, sentence);
        account_for(&batch->slots[index], now);
        struct mt_job *job = leave_slot(worker, batch, index);
        if (mt_sentence_n_hypotheses(sentence))
            engine->n_target_tokens += mt_sentence_hypothesis(sentence, 0).n_ids;
        count_ended(engine, job, 1);
    }
}

static void expire(struct mt_engine *engine, struct mt_worker_batch *batch, int64_t now)
{
    for (size_t i = 0; i < batch->n_slots; i++) {
        struct mt_job *job = batch->slots[i].job;
        if (engine->is_stopping || job->lane->is_leaving)
            mt_engine_end_early(engine, job, MT_CANCELLED);
        else if (job->deadline_ns && job->deadline_ns <= now)
            mt_engine_end_early(engine, job, MT_TIMEOUT);
    }
}

static void drop_cancelled(struct mt_engine_worker *worker, struct mt_worker_batch *batch)
{
    for (size_t i = batch->n_slots; i-- > 0;) {
        if (!batch->slots[i].job->cancelled)
            continue;
        mt_batch_cancel(batch->model_batch, batch->slots[i].sentence);
        count_ended(worker->engine, leave_slot(worker, batch, i), 1);
    }
}

/* Moves the batches that have no sentences any more to the list of warm ones. They do not keep
 * their lanes alive, so they must not be stepped again. */
static void leave_idle_batches(struct mt_engine_worker *worker, int64_t now)
{
    for (struct mt_worker_batch *batch = worker->busy.first, *next; batch; batch = next) {
        next = batch->next;
        if (batch->n_slots)
            continue;
        batch->idle_since_ns = now;
        mt_engine_move_batch(batch, &worker->warm);
    }
}

/* Trims at most one batch, because the mutex is held for about a millisecond. Returns whether there
 * was one to trim. */
static bool trim(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_worker_batch *batch = worker->warm.first;
    if (!batch || now - batch->idle_since_ns < worker->engine->idle_ns)
        return false;
    mt_batch_trim(batch->model_batch);
    batch->resident_bytes = 0;
    mt_engine_move_batch(batch, NULL);
    return true;
}

/* Retires the sentences that ended in the last step, and those that had to end without it. */
static void clear(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    for (struct mt_worker_batch *batch = worker->busy.first; batch; batch = batch->next)
        retire(worker, batch, now);
    struct mt_job *waiting;
    while ((waiting = mt_queue_find_expired(engine->queue, now)))
        mt_engine_end_early(engine, waiting, MT_TIMEOUT);
    mt_queue_promote_late(engine->queue, now);
    for (struct mt_worker_batch *batch = worker->busy.first; batch; batch = batch->next) {
        expire(engine, batch, now);
        drop_cancelled(worker, batch);
    }
    leave_idle_batches(worker, now);
}

static void take_slot(struct mt_engine_worker *worker, struct mt_worker_batch *batch,
                      struct mt_sentence *sentence, struct mt_job *job)
{
    if (!batch->n_slots)
        mt_engine_move_batch(batch, &worker->busy);
    batch->slots[batch->n_slots++] = (struct mt_engine_slot){.sentence = sentence, .job = job};
    batch->has_newcomers = true;
    batch->n_followed += job->on_progress != NULL;
    batch->n_short += job->is_short;
    batch->n_rows += mt_sentence_n_rows(sentence);
}

/* The load of the sentences in the worker's slots. */
static size_t load_of_worker(const struct mt_engine_worker *worker)
{
    size_t load = 0;
    for (const struct mt_worker_batch *batch = worker->busy.first; batch; batch = batch->next)
        load += mt_engine_load_of(batch->lane, (double)batch->n_rows, (double)batch->n_slots);
    return load;
}

/* Whether the batch's free rows are those reserved for short jobs. */
static bool is_for_short(const struct mt_engine *engine, const struct mt_worker_batch *batch)
{
    return mt_batch_n_rows(batch->model_batch) >=
           engine->max_rows - engine->max_rows / MT_RESERVED_FOR_SHORT;
}

/* Takes sentences of the lane while its batch has room and the worker has less than its share. A
 * sentence that does not fit waits for its turn, and later ones of its lane do not overtake it:
 * otherwise one with many rows would never get in. Returns the cost of the sentences taken. */
static uint64_t admit_from(struct mt_engine_worker *worker, struct mt_lane *lane, size_t share,
                           int64_t now)
{
    uint64_t cost = 0;
    struct mt_engine *engine = worker->engine;
    struct mt_worker_batch *batch = &lane->batches[worker->index];
    while (load_of_worker(worker) < share) {
        struct mt_job *job;
        bool is_short = is_for_short(engine, batch);
        struct mt_sentence *sentence = mt_queue_peek(lane->waiting, is_short, &job);
        if (sentence && job->is_short)
            mt_sentence_set_short(sentence);
        if (!sentence || !mt_batch_admit(batch->model_batch, sentence))
            break;
        mt_queue_take(engine->queue, lane->waiting, job);
        take_slot(worker, batch, sentence, job);
        cost += mt_queue_cost(sentence);
        engine->n_running_sentences++;
        engine->n_admitted++;
        /* A job submitted since this turn began has not waited. */
        if (now > job->submitted_ns)
            engine->queue_wait_ns += now - job->submitted_ns;
    }
    engine->waiting_cost -= cost;
    engine->running_cost += cost;
    return cost;
}

/* How many of the first n workers wait for work. */
static size_t count_idle(const struct mt_engine *engine, size_t n)
{
    size_t n_idle = 0;
    for (size_t i = 0; i < n; i++)
        n_idle += engine->workers[i].is_idle;
    return n_idle;
}

/* Returns the load that the worker should have, of all that waits and runs; 0: it takes nothing
 * now. While something waits, at least one worker has less than its share. */
static size_t share_of(const struct mt_engine_worker *worker)
{
    const struct mt_engine *engine = worker->engine;
    size_t n = mt_engine_n_taking(engine), load = 0;
    for (const struct mt_lane *lane = engine->lanes.first; lane; lane = lane->next)
        load += mt_engine_load_of(lane, (double)lane->n_rows, (double)lane->n_sentences);
    return worker->index < n ? (load + n - 1) / n : 0;
}

/*
 * Takes sentences from the queue while the batches have room, but leaves the other workers their
 * share. It goes lane by lane instead of taking turns, because sentences of one model share its
 * steps: a worker is faster with many sentences of few models.
 */
static void admit(struct mt_engine_worker *worker, int64_t now)
{
    struct mt_engine *engine = worker->engine;
    size_t share = share_of(worker);
    uint64_t cost = 0;
    for (struct mt_lane *lane = engine->lanes.first; lane && load_of_worker(worker) < share;
         lane = lane->next)
        cost += admit_from(worker, lane, share, now);
    bool still_waits = mt_queue_n_sentences(engine->queue) > 0 &&
                       count_idle(engine, mt_engine_n_taking(engine)) == 0;
    mt_expected_wait_count(&engine->expected_wait, cost, still_waits, now);
    mt_engine_wake_takers(engine);
}

/*
 * Where another program occupies one of the processors, a team is many times slower than one of its
 * threads alone, because all members wait at each barrier for the one that does not run. A team
 * that is held up for more than two fifths of its members' time leaves the next steps to one thread
 * for a while, and then tries again, after a longer time each time that this happens.
 *
 * It is measured over at least two milliseconds of steps: to wake a member takes a tenth of one,
 * which is much of a small model's first step, but which working alone would not make better.
 */
#define OBSERVED_NS (2 * INT64_C(1000000))
#define MAX_HELD_UP_FIFTHS 2
#define MIN_ALONE_NS (20 * INT64_C(1000000))
#define MAX_ALONE_NS (1000 * INT64_C(1000000))

static void detect_stall(struct mt_engine_worker *worker, int64_t step_ns, int64_t held_up_ns,
                         int64_t now)
{
    size_t width = mt_team_width(worker->team);
    if (width == 1)
        return;
    worker->observed.step_ns += step_ns;
    worker->observed.members_ns += step_ns * (int64_t)width;
    worker->observed.held_up_ns += held_up_ns;
    if (worker->observed.step_ns < OBSERVED_NS)
        return;
    bool is_held_up =
        worker->observed.held_up_ns * 5 > worker->observed.members_ns * MAX_HELD_UP_FIFTHS;
    worker->observed = (struct mt_team_steps){0};
    if (!is_held_up) {
        worker->alone_ns = 0;
        return;
    }
    int64_t longer = 2 * worker->alone_ns;
    worker->alone_ns = longer < MIN_ALONE_NS ? MIN_ALONE_NS : longer;
    if (worker->alone_ns > MAX_ALONE_NS)
        worker->alone_ns = MAX_ALONE_NS;
    worker->alone_end_ns = now + worker->alone_ns;
}

/*
 * A sentence takes tens of steps, and where arithmetic takes most of the time a step of a full
 * batch takes ten times as long as one of a few rows: beside a document, a line would take half a
 * second. So the sentences of short jobs have steps of their own in between, for as long as the
 * steps for all take, where such a step takes no more than a third of the time.
 */
#define MIN_SHORT_GAIN 3
/* Number of steps only for short jobs after which their duration is known. If they take too long,
 * they are tried again after SHORT_RETRY_STEPS steps for all jobs. */
#define SHORT_TRIES 3
#define SHORT_RETRY_STEPS 32

static bool steps_short_alone(const struct mt_worker_batch *batch)
{
    if (batch->n_short == 0 || batch->n_short == batch->n_slots || batch->short_left_ns <= 0)
        return false;
    return batch->n_short_tries < SHORT_TRIES ||
           MIN_SHORT_GAIN * batch->short_step_ns <= batch->step_ns;
}

/* Keeps the shortest of the recent times: in longer ones another program may have had the
 * processor. An old minimum grows by an eighth with each new time, so that it is forgotten. */
static void track_least(int64_t *least_ns, int64_t ns)
{
    *least_ns += *least_ns / 8;
    if (*least_ns == 0 || ns < *least_ns)
        *least_ns = ns;
}

/* decoder_ns is the part of ns without the encoder's pass. */
static void note_duration(struct mt_worker_batch *batch, bool was_short, int64_t ns,
                          int64_t decoder_ns)
{
    if (was_short) {
        track_least(&batch->short_step_ns, decoder_ns);
        batch->short_left_ns -= ns;
        batch->n_short_tries += batch->n_short_tries < SHORT_TRIES;
        batch->n_steps_since_short = 0;
        return;
    }
    track_least(&batch->step_ns, decoder_ns);
    batch->short_left_ns = ns;
    batch->n_steps_since_short += batch->n_short > 0;
    if (batch->n_steps_since_short < SHORT_RETRY_STEPS)
        return;
    batch->n_steps_since_short = batch->n_short_tries = 0;
    batch->short_step_ns = 0;
}

/* Steps the batch. Returns when the step began. */
static int64_t step(struct mt_engine_worker *worker, struct mt_worker_batch *batch, bool is_short)
{
    int64_t begin_ns = mt_now_ns(), held_up_ns = mt_team_held_up_ns(worker->team);
    if (is_short)
        mt_batch_step_short(batch->model_batch);
    else
        mt_batch_step(batch->model_batch);
    int64_t now = mt_now_ns();
    detect_stall(worker, now - begin_ns, mt_team_held_up_ns(worker->team) - held_up_ns, now);
    return begin_ns;
}

/* While there are more workers that need a thread, now or in a moment, than main workers, each team
 * works with fewer threads. Teams that are too large notice it at their next step. */
static void set_width(struct mt_engine_worker *worker, int64_t now)
{
    const struct mt_engine *engine = worker->engine;
    size_t n_taking = mt_engine_n_taking(engine);
    size_t n_active = 0, rank = 0; /* rank: how many of them come before this worker */
    for (size_t i = 0; i < engine->n_workers; i++) {
        bool needs_thread = !engine->workers[i].is_idle || i < n_taking;
        rank += i < worker->index && needs_thread;
        n_active += needs_thread;
    }
    size_t n_threads = engine->threads_per_worker * engine->n_main_workers;
    size_t width = n_threads / n_active + (rank < n_threads % n_active);
    if (now < worker->alone_end_ns)
        width = 1;
    mt_team_set_width(worker->team, mt_size_max(1, mt_size_min(width, mt_team_size(worker->team))));
}

/* Called without the mutex: a job exists while it has a sentence in a slot, and its on_progress
 * does not change. */
static void tell_progress(struct mt_worker_batch *batch)
{
    for (size_t i = 0; i < batch->n_slots; i++) {
        struct mt_engine_slot *slot = &batch->slots[i];
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

/* Returns the batch that is stepped next: busy batches take turns. NULL where none is
 * busy. */
static struct mt_worker_batch *next_batch(struct mt_engine_worker *worker)
{
    struct mt_worker_batch *batch = worker->busy.first;
    if (batch)
        mt_engine_move_batch(batch, &worker->busy);
    return batch;
}

/* Notes the times of the newcomers, all of which have been through the encoder in this step. */
static void note_first_step(struct mt_worker_batch *batch, bool was_short, double encode_seconds,
                            int64_t begun_ns)
{
    batch->has_newcomers = false;
    for (size_t i = 0; i < batch->n_slots; i++) {
        struct mt_engine_slot *slot = &batch->slots[i];
        if (slot->begun_ns)
            continue;
        if (was_short && !slot->job->is_short) {
            batch->has_newcomers = true;
            continue;
        }
        slot->begun_ns = begun_ns;
        slot->encoder_ns = (int64_t)(encode_seconds * 1e9);
    }
}

static void count_step(struct mt_engine_worker *worker, struct mt_worker_batch *batch,
                       bool was_short, int64_t begun_ns)
{
    struct mt_batch_stats now = mt_batch_stats(batch->model_batch);
    if (batch->has_newcomers)
        note_first_step(batch, was_short, now.encode_seconds - batch->stats.encode_seconds,
                        begun_ns);
    double decoder_seconds = now.step_seconds - batch->stats.step_seconds;
    note_duration(batch, was_short, mt_now_ns() - begun_ns, (int64_t)(decoder_seconds * 1e9));
    struct mt_batch_stats done = {0};
    add_stats(&done, &now, &batch->stats);
    mt_engine_learn(batch->lane, &done);
    add_stats(&worker->total, &now, &batch->stats);
    batch->stats = now;
    batch->resident_bytes = mt_batch_resident_bytes(batch->model_batch);
}

/* Sleeps until there is work, or a warm batch may be trimmed. */
static void sleep_until_work(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    worker->is_idle = true;
    const struct mt_worker_batch *warm = worker->warm.first;
    (void)mt_engine_wait(engine, &worker->work,
                         warm ? warm->idle_since_ns + engine->idle_ns : worker->holes_ns);
    worker->is_idle = false;
}

static bool has_idle_task(const struct mt_engine_worker *worker)
{
    return worker->index == 0 && worker->engine->idle_task.run;
}

static bool has_work(const struct mt_engine_worker *worker)
{
    const struct mt_engine *engine = worker->engine;
    bool may_take =
        mt_queue_n_sentences(engine->queue) && load_of_worker(worker) < share_of(worker);
    return worker->busy.first || engine->ended.first || may_take || has_idle_task(worker);
}

/* Calls what mt_engine_run_idle was given, without holding the mutex meanwhile. It mostly is a
 * short request, whose first step follows at once. */
static void run_idle_task(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    void (*run)(void *) = engine->idle_task.run;
    void *argument = engine->idle_task.argument;
    engine->idle_task.run = NULL;
    pthread_mutex_unlock(&engine->mutex);
    mt_team_wake_up(worker->team);
    run(argument);
    pthread_mutex_lock(&engine->mutex);
}

/*
 * glibc keeps memory that requests have freed: a request of thousands of sentences leaves a
 * gigabyte. To give so much back takes a tenth of a second, in which other threads wait for memory,
 * so it is done when all workers are idle. Other threads may still be writing replies then. So it
 * is done again, each time after four times as long. The mutex is not held meanwhile.
 */
static void give_holes_back(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    worker->holes_ns = INT64_MAX;
    if (worker->warm.first || count_idle(engine, engine->n_workers) + 1 < engine->n_workers)
        return;
    pthread_mutex_unlock(&engine->mutex);
    malloc_trim(0);
    pthread_mutex_lock(&engine->mutex);
    if (++worker->n_looks < MOST_LOOKS)
        worker->holes_ns = mt_now_ns() + (engine->idle_ns << (2 * worker->n_looks));
}

/* Returns false where the engine stops, and nothing is left to do. */
static bool wait_for_work(struct mt_engine_worker *worker)
{
    struct mt_engine *engine = worker->engine;
    while (!has_work(worker)) {
        if (engine->is_stopping)
            return false;
        int64_t now = mt_now_ns();
        if (trim(worker, now))
            give_holes_back(worker);
        else if (!worker->warm.first && now >= worker->holes_ns)
            give_holes_back(worker);
        else
            sleep_until_work(worker);
    }
    worker->n_looks = 0;
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
        if (has_idle_task(worker))
            run_idle_task(worker);
        int64_t now = mt_now_ns();
        clear(worker, now);
        deliver(engine);
        admit(worker, now);
        (void)trim(worker, now);

        struct mt_worker_batch *batch = next_batch(worker);
        if (!batch)
            continue;
        set_width(worker, now);
        bool is_short = steps_short_alone(batch);
        pthread_mutex_unlock(&engine->mutex);
        int64_t begun_ns = step(worker, batch, is_short);
        if (batch->n_followed)
            tell_progress(batch);
        pthread_mutex_lock(&engine->mutex);
        count_step(worker, batch, is_short, begun_ns);
    }
    pthread_mutex_unlock(&engine->mutex);
    return NULL;
}
