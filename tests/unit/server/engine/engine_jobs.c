#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

struct test_job test_jobs[MAX_JOBS];
struct mt_engine *test_engine;
pthread_mutex_t test_mutex = PTHREAD_MUTEX_INITIALIZER;

static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static size_t n_jobs, n_done;

int64_t test_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void start(size_t n_workers, size_t n_spare, size_t n_threads, size_t max_rows,
                  size_t max_queued)
{
    const struct mt_engine_options options = {
        .n_workers = n_workers,
        .n_spare_workers = n_spare,
        .threads_per_worker = n_threads,
        .max_batch_rows = max_rows,
        .max_queued_sentences = max_queued,
        .idle_ms = TEST_IDLE_MS,
    };
    struct mt_error err = {0};
    ck_assert_msg(!mt_engine_create(&options, &test_engine, &err), "%s", err.message);
}

void test_start(size_t n_workers, size_t max_rows, size_t max_queued)
{
    start(n_workers, 0, 1, max_rows, max_queued);
}

void test_start_with_spare(size_t max_rows, size_t max_queued)
{
    start(1, 1, 2, max_rows, max_queued);
}

void test_finish(void)
{
    fake_open_gate();
    mt_engine_destroy(test_engine);
    for (size_t i = 0; i < n_jobs; i++) {
        for (size_t k = 0; k < test_jobs[i].job.n_sentences; k++)
            mt_sentence_destroy(test_jobs[i].sentences[k]);
        free(test_jobs[i].sentences);
    }
}

struct mt_lane *test_attach(const struct mt_model *model)
{
    struct mt_error err = {0};
    struct mt_lane *lane;
    ck_assert_msg(!mt_engine_attach(test_engine, model, &lane, &err), "%s", err.message);
    return lane;
}

void test_on_done(struct mt_job *job, enum mt_status status)
{
    struct test_job *test = job->user;
    pthread_mutex_lock(&test_mutex);
    test->n_calls++;
    test->status = status;
    test->n_done_before = n_done++;
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&test_mutex);
}

struct test_job *test_make(struct mt_lane *lane, uint64_t client, size_t n_sentences, size_t n_rows,
                           size_t n_steps)
{
    ck_assert_uint_lt(n_jobs, MAX_JOBS);
    struct test_job *test = &test_jobs[n_jobs++];
    test->sentences = calloc(n_sentences, sizeof *test->sentences);
    ck_assert_ptr_nonnull(test->sentences);
    for (size_t i = 0; i < n_sentences; i++)
        test->sentences[i] = fake_sentence(10, n_rows, n_steps);
    test->job = (struct mt_job){
        .sentences = test->sentences,
        .n_sentences = n_sentences,
        .lane = lane,
        .client = client,
        .on_done = test_on_done,
        .user = test,
    };
    return test;
}

struct test_job *test_submit(struct mt_lane *lane, uint64_t client, size_t n_sentences,
                             size_t n_rows, size_t n_steps)
{
    struct test_job *test = test_make(lane, client, n_sentences, n_rows, n_steps);
    struct mt_error err = {0};
    ck_assert_msg(!mt_engine_submit(test_engine, &test->job, &err), "%s", err.message);
    return test;
}

void test_wait(size_t n)
{
    pthread_mutex_lock(&test_mutex);
    while (n_done < n)
        pthread_cond_wait(&done, &test_mutex);
    pthread_mutex_unlock(&test_mutex);
}

size_t test_n_done(void)
{
    pthread_mutex_lock(&test_mutex);
    size_t n = n_done;
    pthread_mutex_unlock(&test_mutex);
    return n;
}

enum mt_status test_status(const struct test_job *test)
{
    pthread_mutex_lock(&test_mutex);
    int n_calls = test->n_calls;
    enum mt_status status = test->status;
    pthread_mutex_unlock(&test_mutex);
    ck_assert_int_eq(n_calls, 1);
    return status;
}

void test_expect_decoded(const struct test_job *test)
{
    ck_assert_int_eq(test_status(test), MT_OK);
    for (size_t i = 0; i < test->job.n_sentences; i++)
        ck_assert(fake_is_decoded(test->sentences[i]));
}

size_t test_turn(const struct mt_sentence *sentence)
{
    static const struct mt_sentence *order[4096];
    size_t n = fake_admitted(order, 4096);
    for (size_t i = 0; i < n; i++)
        if (order[i] == sentence)
            return i;
    ck_abort_msg("never admitted");
}
