#include "tests/unit/server/engine/fake_batch.h"

#include "base/clock.h"
#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_LOG 4096
#define MAX_ROWS 64
#define MAX_IDS 1024

struct mt_sentence {
    size_t n_source, n_rows, n_steps;
    atomic_size_t n_done;
    void *user;
    bool was_admitted, is_short;
    const struct mt_model *model; /* of the batch that took it in */
    const struct mt_batch *batch; /* in flight in */
    int32_t ids[MAX_IDS];
    atomic_size_t progress; /* n << 1 | has ended, as in model/sentence_state.h */
};

struct mt_batch {
    struct mt_batch_options options;
    const struct mt_model *model;
    struct mt_sentence *sentences[MAX_ROWS];
    size_t n, n_rows, n_waiting_tokens, n_admitted, n_touched_rows;
    atomic_bool is_in_use;
    struct mt_batch_stats stats;
};

/* Shared by the tests of one program, which run one at a time. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_closed;
static size_t n_allowed, n_standing;
static size_t n_rounds, n_in_round; /* calls of fake_step_each; batches that are yet to pass */
static const struct mt_sentence *admitted[MAX_LOG];
static size_t n_admitted, largest_share, last_width;
static atomic_size_t n_left_touched;
static _Atomic int64_t member_delay_ns, fixed_step_ns, row_step_ns;

static void demand(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fake batch: %s\n", what);
    abort();
}

static void enter(struct mt_batch *batch)
{
    demand(!atomic_exchange(&batch->is_in_use, true), "two threads in one batch");
}

static void leave(struct mt_batch *batch)
{
    atomic_store(&batch->is_in_use, false);
}

/* --- the gate and the log --- */

void fake_close_gate(void)
{
    pthread_mutex_lock(&mutex);
    is_closed = true;
    n_allowed = 0;
    pthread_mutex_unlock(&mutex);
}

void fake_allow_steps(size_t n)
{
    pthread_mutex_lock(&mutex);
    n_allowed += n;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void fake_step_each(void)
{
    pthread_mutex_lock(&mutex);
    n_rounds++;
    n_in_round = n_standing;
    pthread_cond_broadcast(&changed);
    while (n_in_round > 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

void fake_open_gate(void)
{
    pthread_mutex_lock(&mutex);
    is_closed = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void fake_wait_for_batches(size_t n)
{
    pthread_mutex_lock(&mutex);
    while (n_standing < n || n_allowed > 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void pass_gate(const struct mt_batch *batch)
{
    pthread_mutex_lock(&mutex);
    last_width = mt_team_width(batch->options.team);
    n_standing++;
    size_t round = n_rounds;
    pthread_cond_broadcast(&changed);
    while (is_closed && n_allowed == 0 && round == n_rounds)
        pthread_cond_wait(&changed, &mutex);
    n_standing--;
    if (round != n_rounds) {
        n_in_round--;
        pthread_cond_broadcast(&changed);
    } else if (is_closed) {
        n_allowed--;
    }
    pthread_mutex_unlock(&mutex);
}

size_t fake_admitted(const struct mt_sentence **out, size_t capacity)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < n_admitted && i < capacity; i++)
        out[i] = admitted[i];
    size_t n = n_admitted;
    pthread_mutex_unlock(&mutex);
    return n;
}

size_t fake_left_touched(void)
{
    return atomic_load(&n_left_touched);
}

size_t fake_largest_share(void)
{
    pthread_mutex_lock(&mutex);
    size_t n = largest_share;
    pthread_mutex_unlock(&mutex);
    return n;
}

void fake_delay_members(int64_t ns)
{
    atomic_store(&member_delay_ns, ns);
}

void fake_take_time(int64_t fixed_ns, int64_t row_ns)
{
    atomic_store(&fixed_step_ns, fixed_ns);
    atomic_store(&row_step_ns, row_ns);
}

size_t fake_last_width(void)
{
    pthread_mutex_lock(&mutex);
    size_t n = last_width;
    pthread_mutex_unlock(&mutex);
    return n;
}

static void log_admitted(struct mt_batch *batch, const struct mt_sentence *sentence)
{
    pthread_mutex_lock(&mutex);
    if (n_admitted < MAX_LOG)
        admitted[n_admitted] = sentence;
    n_admitted++;
    if (++batch->n_admitted > largest_share)
        largest_share = batch->n_admitted;
    pthread_mutex_unlock(&mutex);
}

/* --- sentences --- */

struct mt_sentence *fake_sentence(size_t n_source, size_t n_rows, size_t n_steps)
{
    struct mt_sentence *sentence = calloc(1, sizeof *sentence);
    demand(sentence, "out of memory");
    sentence->n_source = n_source;
    sentence->n_rows = n_rows;
    sentence->n_steps = n_steps;
    return sentence;
}

void mt_sentence_destroy(struct mt_sentence *sentence)
{
    demand(!sentence || !sentence->batch, "a sentence destroyed in flight");
    free(sentence);
}

bool fake_is_decoded(const struct mt_sentence *sentence)
{
    size_t n = sentence->n_steps < MAX_IDS ? sentence->n_steps : MAX_IDS;
    for (size_t i = 0; i < n; i++)
        if (sentence->ids[i] != (int32_t)(sentence->n_source + i))
            return false;
    return sentence->n_done == sentence->n_steps && !sentence->batch;
}

size_t fake_n_steps(const struct mt_sentence *sentence)
{
    return sentence->n_done;
}

bool fake_was_admitted(const struct mt_sentence *sentence)
{
    return sentence->was_admitted;
}

const struct mt_model *fake_model_of(const struct mt_sentence *sentence)
{
    return sentence->model;
}

void mt_sentence_set_short(struct mt_sentence *sentence)
{
    demand(!sentence->batch, "a sentence in flight becomes short");
    sentence->is_short = true;
}

size_t mt_sentence_n_source(const struct mt_sentence *sentence)
{
    return sentence->n_source;
}

size_t mt_sentence_n_rows(const struct mt_sentence *sentence)
{
    return sentence->n_rows;
}

size_t mt_sentence_n_hypotheses(const struct mt_sentence *sentence)
{
    return 1;
}

struct mt_hypothesis mt_sentence_hypothesis(const struct mt_sentence *sentence, size_t index)
{
    return (struct mt_hypothesis){.ids = sentence->ids, .n_ids = sentence->n_done};
}

struct mt_progress mt_sentence_progress(const struct mt_sentence *sentence)
{
    size_t progress = atomic_load(&sentence->progress);
    return (struct mt_progress){
        .ids = sentence->ids, .n_ids = progress >> 1, .has_ended = progress & 1};
}

/* --- batches --- */

enum mt_status mt_batch_create(const struct mt_model *model, const struct mt_batch_options *options,
                               struct mt_batch **out, struct mt_error *err)
{
    struct mt_batch *batch = calloc(1, sizeof *batch);
    demand(batch && options->max_rows <= MAX_ROWS, "a batch that the fake cannot be");
    batch->options = *options;
    batch->model = model;
    if (!batch->options.encode_tokens)
        batch->options.encode_tokens = 512;
    *out = batch;
    return MT_OK;
}

void mt_batch_destroy(struct mt_batch *batch)
{
    if (!batch)
        return;
    enter(batch);
    demand(!batch->n, "a batch destroyed with sentences in flight");
    atomic_fetch_add(&n_left_touched, batch->n_touched_rows > 0);
    free(batch);
}

enum mt_status mt_batch_check(const struct mt_batch *batch, const struct mt_sentence *sentence,
                              struct mt_error *err)
{
    if (sentence->n_rows > batch->options.max_rows)
        return mt_fail(err, MT_LIMIT, "%zu rows", sentence->n_rows);
    return MT_OK;
}

bool mt_batch_admit(struct mt_batch *batch, struct mt_sentence *sentence)
{
    enter(batch);
    demand(!sentence->was_admitted, "a sentence admitted twice");
    bool fits = batch->n_rows + sentence->n_rows <= batch->options.max_rows &&
                batch->n_waiting_tokens + sentence->n_source <= batch->options.encode_tokens;
    if (fits) {
        sentence->was_admitted = true;
        sentence->batch = batch;
        sentence->model = batch->model;
        batch->sentences[batch->n++] = sentence;
        batch->n_rows += sentence->n_rows;
        if (batch->n_rows > batch->n_touched_rows)
            batch->n_touched_rows = batch->n_rows;
        batch->n_waiting_tokens += sentence->n_source;
        log_admitted(batch, sentence);
    }
    leave(batch);
    return fits;
}

static void delay_members(void *context, size_t member, size_t n_members)
{
    (void)n_members;
    const struct timespec delay = {.tv_nsec = *(const int64_t *)context};
    if (member > 0)
        nanosleep(&delay, NULL);
}

/* Returns how many seconds that were. */
static double take_time(size_t n_rows)
{
    int64_t ns = fixed_step_ns + (int64_t)n_rows * row_step_ns, begin_ns = mt_now_ns();
    const struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    if (ns > 0)
        nanosleep(&time, NULL);
    return (double)(mt_now_ns() - begin_ns) * 1e-9;
}

static void step(struct mt_batch *batch, bool is_for_short)
{
    size_t n_rows = 0;
    enter(batch);
    if (batch->n)
        pass_gate(batch);
    int64_t delay_ns = atomic_load(&member_delay_ns);
    if (delay_ns > 0)
        mt_team_run(batch->options.team, delay_members, &delay_ns);
    for (size_t i = 0; i < batch->n; i++) {
        struct mt_sentence *s = batch->sentences[i];
        if (is_for_short && !s->is_short)
            continue;
        n_rows += s->n_rows;
        if (s->n_done < MAX_IDS)
            s->ids[s->n_done] = (int32_t)(s->n_source + s->n_done);
        s->n_done++;
        atomic_store(&s->progress, s->n_done << 1 | (s->n_done == s->n_steps));
    }
    batch->stats.step_seconds += take_time(n_rows);
    batch->n_waiting_tokens = 0;
    batch->stats.n_steps += n_rows > 0;
    batch->stats.n_step_rows += n_rows;
    leave(batch);
}

void mt_batch_step(struct mt_batch *batch)
{
    step(batch, false);
}

void mt_batch_step_short(struct mt_batch *batch)
{
    step(batch, true);
}

static void remove_at(struct mt_batch *batch, size_t index)
{
    struct mt_sentence *sentence = batch->sentences[index];
    batch->sentences[index] = batch->sentences[--batch->n];
    batch->n_rows -= sentence->n_rows;
    sentence->batch = NULL;
}

struct mt_sentence *mt_batch_take_finished(struct mt_batch *batch)
{
    struct mt_sentence *finished = NULL;
    enter(batch);
    for (size_t i = 0; i < batch->n && !finished; i++)
        if (batch->sentences[i]->n_done == batch->sentences[i]->n_steps) {
            finished = batch->sentences[i];
            remove_at(batch, i);
        }
    leave(batch);
    return finished;
}

void mt_batch_cancel(struct mt_batch *batch, struct mt_sentence *sentence)
{
    enter(batch);
    size_t i = 0;
    while (i < batch->n && batch->sentences[i] != sentence)
        i++;
    demand(i < batch->n, "a sentence cancelled that is not in this batch");
    remove_at(batch, i);
    leave(batch);
}

size_t mt_batch_rows_apart(const struct mt_batch *batch)
{
    demand(batch, "no batch");
    return FAKE_ROWS_APART;
}

size_t mt_batch_n_rows(const struct mt_batch *batch)
{
    return batch->n_rows;
}

size_t mt_batch_reserved_bytes(const struct mt_batch *batch)
{
    (void)batch;
    return 1 << 20;
}

struct mt_batch_stats mt_batch_stats(const struct mt_batch *batch)
{
    return batch->stats;
}

size_t mt_batch_resident_bytes(const struct mt_batch *batch)
{
    return batch->n_touched_rows * FAKE_ROW_BYTES;
}

void mt_batch_trim(struct mt_batch *batch)
{
    enter(batch);
    demand(!batch->n, "a batch trimmed with sentences in flight");
    batch->n_touched_rows = 0;
    leave(batch);
}

size_t mt_batch_cache_bytes(const struct mt_batch *batch, size_t n_tokens)
{
    (void)n_tokens;
    return batch->options.max_rows * FAKE_ROW_BYTES / 2;
}
