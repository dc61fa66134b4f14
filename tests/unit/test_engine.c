#include "server/engine.h"
#include "tests/unit/fake_batch.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_JOBS 1024
#define LONG 1000000000 /* steps: does not end by itself */

/* The engine hands the model through to the batch, and the fake one needs none. */
static const struct mt_model *const no_model = NULL;
static struct mt_engine *engine;

struct test_job {
    struct mt_job job;
    struct mt_sentence **sentences;
    int n_calls; /* of on_done */
    enum mt_status status;
    size_t n_done_before; /* jobs that were done before this one */
};
static struct test_job jobs[MAX_JOBS];
static size_t n_jobs;

/* Guards what on_done writes. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static size_t n_done;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void start(size_t n_workers, size_t max_rows, size_t max_queued)
{
    const struct mt_engine_options options = {
        .n_workers = n_workers,
        .threads_per_worker = 1,
        .max_batch_rows = max_rows,
        .max_queued_sentences = max_queued,
    };
    struct mt_error err = {0};
    ck_assert_msg(!mt_engine_create(no_model, &options, &engine, &err), "%s", err.message);
}

static void finish(void)
{
    fake_open_gate();
    mt_engine_destroy(engine);
    for (size_t i = 0; i < n_jobs; i++) {
        for (size_t k = 0; k < jobs[i].job.n_sentences; k++)
            mt_sentence_destroy(jobs[i].sentences[k]);
        free(jobs[i].sentences);
    }
}

static void on_done(struct mt_job *job, enum mt_status status)
{
    struct test_job *test = job->user;
    pthread_mutex_lock(&mutex);
    test->n_calls++;
    test->status = status;
    test->n_done_before = n_done++;
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&mutex);
}

static struct test_job *make(uint64_t client, size_t n_sentences, size_t n_rows, size_t n_steps)
{
    ck_assert_uint_lt(n_jobs, MAX_JOBS);
    struct test_job *test = &jobs[n_jobs++];
    test->sentences = calloc(n_sentences, sizeof *test->sentences);
    ck_assert_ptr_nonnull(test->sentences);
    for (size_t i = 0; i < n_sentences; i++)
        test->sentences[i] = fake_sentence(10, n_rows, n_steps);
    test->job = (struct mt_job){
        .sentences = test->sentences,
        .n_sentences = n_sentences,
        .client = client,
        .on_done = on_done,
        .user = test,
    };
    return test;
}

static struct test_job *submit(uint64_t client, size_t n_sentences, size_t n_rows, size_t n_steps)
{
    struct test_job *test = make(client, n_sentences, n_rows, n_steps);
    struct mt_error err = {0};
    ck_assert_msg(!mt_engine_submit(engine, &test->job, &err), "%s", err.message);
    return test;
}

/* Waits until n jobs are done altogether. The test case's time limit is the check. */
static void wait_for_jobs(size_t n)
{
    pthread_mutex_lock(&mutex);
    while (n_done < n)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

static enum mt_status status_of(const struct test_job *test)
{
    pthread_mutex_lock(&mutex);
    int n_calls = test->n_calls;
    enum mt_status status = test->status;
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(n_calls, 1);
    return status;
}

static void expect_decoded(const struct test_job *test)
{
    ck_assert_int_eq(status_of(test), MT_OK);
    for (size_t i = 0; i < test->job.n_sentences; i++)
        ck_assert(fake_is_decoded(test->sentences[i]));
}

/* Where a sentence came in the order of admission. */
static size_t turn_of(const struct mt_sentence *sentence)
{
    static const struct mt_sentence *order[4096];
    size_t n = fake_admitted(order, 4096);
    for (size_t i = 0; i < n; i++)
        if (order[i] == sentence)
            return i;
    ck_abort_msg("never admitted");
}

/* --- what it is for --- */

START_TEST(decodes_every_sentence_once)
{
    static const size_t workers[] = {1, 2, 3};
    size_t n_tokens = 0, n_sentences = 0;
    start(workers[_i], 8, 4096);
    for (size_t i = 0; i < 300; i++) {
        size_t n = 1 + i % 7, n_steps = 1 + i * 7 % 13;
        submit(i % 5, n, 1 + i % 3, n_steps);
        n_tokens += n * n_steps;
        n_sentences += n;
    }
    wait_for_jobs(300);
    for (size_t i = 0; i < 300; i++)
        expect_decoded(&jobs[i]);

    struct mt_engine_stats stats;
    ck_assert_int_eq(mt_engine_drain(engine, 10000, NULL), MT_OK);
    mt_engine_stats(engine, &stats);
    ck_assert_uint_eq(stats.n_workers, workers[_i]);
    ck_assert_uint_eq(stats.n_jobs_accepted, 300);
    ck_assert_uint_eq(stats.n_jobs_done, 300);
    ck_assert_uint_eq(stats.n_target_tokens, n_tokens);
    ck_assert_uint_eq(stats.n_queued_sentences + stats.n_running_sentences, 0);
    ck_assert_uint_eq(fake_admitted(NULL, 0), n_sentences);
    finish();
}
END_TEST

START_TEST(a_short_sentence_overtakes_a_long_one)
{
    start(1, 8, 100);
    fake_close_gate();
    struct test_job *slow = submit(1, 1, 1, 500);
    fake_wait_for_batches(1);
    fake_allow_steps(3);
    fake_wait_for_batches(1);
    struct test_job *quick = submit(1, 1, 1, 5);
    fake_allow_steps(7); /* the step under way, then its five, and one more to be noticed */
    wait_for_jobs(1);
    expect_decoded(quick);
    ck_assert_int_eq(slow->n_calls, 0);
    fake_open_gate();
    wait_for_jobs(2);
    expect_decoded(slow);
    finish();
}
END_TEST

START_TEST(a_job_is_done_when_its_last_sentence_is)
{
    start(2, 2, 100);
    struct test_job *job = submit(1, 20, 1, 3);
    wait_for_jobs(1);
    expect_decoded(job);
    finish();
}
END_TEST

START_TEST(a_document_does_not_hold_up_another_client)
{
    start(1, 4, 1000);
    fake_close_gate();
    struct test_job *document = submit(1, 500, 1, 10);
    fake_wait_for_batches(1);
    struct test_job *single = submit(2, 1, 1, 10);
    fake_open_gate();
    wait_for_jobs(2);
    ck_assert_uint_eq(turn_of(single->sentences[0]), 4); /* behind the four that were in already */
    ck_assert_uint_eq(single->n_done_before, 0);
    expect_decoded(document);
    finish();
}
END_TEST

START_TEST(a_wide_sentence_is_not_starved)
{
    start(1, 4, 1000);
    fake_close_gate();
    submit(1, 50, 1, 3);
    fake_wait_for_batches(1);
    struct test_job *wide = submit(2, 1, 4, 3);
    submit(3, 50, 1, 3);
    fake_open_gate();
    wait_for_jobs(3);
    ck_assert_uint_eq(turn_of(wide->sentences[0]), 4);
    finish();
}
END_TEST

START_TEST(idle_workers_share_what_comes)
{
    start(2, 16, 100);
    usleep(50000); /* both wait for work */
    fake_close_gate();
    submit(1, 8, 1, 2);
    fake_wait_for_batches(2);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 8);
    ck_assert_uint_eq(fake_largest_share(), 4);
    finish();
}
END_TEST

/* One after the other, each waited for: a wakeup that is lost once hangs here. */
START_TEST(wakes_up_every_time)
{
    start(2, 4, 100);
    for (size_t i = 0; i < MAX_JOBS; i++) {
        submit(0, 1, 1, 1);
        wait_for_jobs(i + 1);
    }
    finish();
}
END_TEST

START_TEST(idles_without_using_the_cpu)
{
    struct rusage before, after;
    start(2, 4, 100);
    submit(0, 1, 1, 1);
    wait_for_jobs(1);
    usleep(50000);
    getrusage(RUSAGE_SELF, &before);
    usleep(300000);
    getrusage(RUSAGE_SELF, &after);
    long used_us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000L +
                   after.ru_utime.tv_usec - before.ru_utime.tv_usec;
    ck_assert_int_lt(used_us, 30000);
    finish();
}
END_TEST

/* --- refusals --- */

START_TEST(refuses_what_the_queue_cannot_hold)
{
    struct mt_error err = {0};
    struct mt_engine_stats stats;
    start(1, 1, 4);
    fake_close_gate();
    submit(1, 1, 1, 5);
    fake_wait_for_batches(1);
    submit(1, 3, 1, 1);
    struct test_job *refused = make(2, 2, 1, 1);
    ck_assert_int_eq(mt_engine_submit(engine, &refused->job, &err), MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "full"));
    mt_engine_stats(engine, &stats);
    ck_assert_uint_eq(stats.n_queued_sentences, 3);
    ck_assert_uint_eq(stats.max_queued_sentences, 4);
    ck_assert_uint_eq(stats.n_running_sentences, 1);
    ck_assert_uint_eq(stats.n_jobs_refused, 1);
    fake_open_gate();
    wait_for_jobs(2);
    ck_assert_int_eq(mt_engine_submit(engine, &refused->job, &err), MT_OK);
    wait_for_jobs(3);
    finish();
}
END_TEST

START_TEST(refuses_what_never_fits_a_batch)
{
    start(1, 4, 100);
    struct test_job *wide = make(1, 2, 5, 1);
    ck_assert_int_eq(mt_engine_submit(engine, &wide->job, NULL), MT_LIMIT);
    finish();
    ck_assert_int_eq(wide->n_calls, 0);
}
END_TEST

START_TEST(refuses_absurd_numbers_of_threads)
{
    struct mt_error err = {0};
    const struct mt_engine_options options = {.n_workers = 1000000, .threads_per_worker = 1};
    ck_assert_int_eq(mt_engine_create(no_model, &options, &engine, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "1000000"));
}
END_TEST

/* --- cancelling and deadlines --- */

START_TEST(a_cancelled_job_in_the_queue_is_never_admitted)
{
    start(1, 1, 100);
    fake_close_gate();
    submit(1, 1, 1, 3);
    fake_wait_for_batches(1);
    struct test_job *queued = submit(2, 2, 1, 3);
    mt_engine_cancel(engine, &queued->job);
    mt_engine_cancel(engine, &queued->job); /* twice is once */
    fake_allow_steps(1);
    wait_for_jobs(1);
    ck_assert_int_eq(status_of(queued), MT_CANCELLED);
    ck_assert(!fake_was_admitted(queued->sentences[0]));
    fake_open_gate();
    wait_for_jobs(2);
    expect_decoded(&jobs[0]);
    finish();
}
END_TEST

START_TEST(a_cancelled_job_frees_its_rows_at_the_next_step)
{
    start(1, 2, 100);
    fake_close_gate();
    struct test_job *hog = submit(1, 2, 1, LONG);
    fake_wait_for_batches(1);
    struct test_job *next = submit(2, 1, 1, 1);
    mt_engine_cancel(engine, &hog->job);
    fake_allow_steps(1); /* the step under way */
    fake_wait_for_batches(1);
    ck_assert_int_eq(status_of(hog), MT_CANCELLED);
    ck_assert(fake_was_admitted(next->sentences[0]));
    fake_open_gate();
    wait_for_jobs(2);
    expect_decoded(next);
    finish();
}
END_TEST

START_TEST(cancels_a_job_that_is_partly_done_partly_running_partly_queued)
{
    struct mt_engine_stats stats;
    start(1, 2, 100);
    fake_close_gate();
    struct test_job *mixed = make(1, 4, 1, 1);
    mt_sentence_destroy(mixed->sentences[1]);
    mixed->sentences[1] = fake_sentence(10, 1, LONG);
    ck_assert_int_eq(mt_engine_submit(engine, &mixed->job, NULL), MT_OK);
    fake_allow_steps(1);
    fake_wait_for_batches(1); /* 0 is done, 1 and 2 run, 3 waits */
    ck_assert(fake_is_decoded(mixed->sentences[0]));
    mt_engine_cancel(engine, &mixed->job);
    fake_allow_steps(1);
    wait_for_jobs(1);
    ck_assert_int_eq(status_of(mixed), MT_CANCELLED);
    ck_assert(!fake_was_admitted(mixed->sentences[3]));
    fake_open_gate();
    ck_assert_int_eq(mt_engine_drain(engine, 10000, NULL), MT_OK);
    mt_engine_stats(engine, &stats);
    ck_assert_uint_eq(stats.n_jobs_cancelled, 1);
    ck_assert_uint_eq(stats.n_running_sentences + stats.n_queued_sentences, 0);
    finish();
}
END_TEST

START_TEST(a_deadline_ends_a_job_in_the_queue_and_one_in_flight)
{
    struct mt_engine_stats stats;
    start(1, 1, 100);
    fake_close_gate();
    struct test_job *running = make(1, 1, 1, LONG), *queued = make(2, 3, 1, 1);
    running->job.deadline_ns = queued->job.deadline_ns = now_ns() + 500000000;
    ck_assert_int_eq(mt_engine_submit(engine, &running->job, NULL), MT_OK);
    fake_wait_for_batches(1);
    ck_assert_int_eq(mt_engine_submit(engine, &queued->job, NULL), MT_OK);
    struct test_job *patient = submit(3, 1, 1, 2);
    usleep(510000);
    fake_open_gate();
    wait_for_jobs(3);
    ck_assert_int_eq(status_of(running), MT_TIMEOUT);
    ck_assert_int_eq(status_of(queued), MT_TIMEOUT);
    ck_assert(!fake_was_admitted(queued->sentences[0]));
    expect_decoded(patient);
    mt_engine_stats(engine, &stats);
    ck_assert_uint_eq(stats.n_jobs_expired, 2);
    finish();
}
END_TEST

START_TEST(a_job_that_expired_before_it_came_is_not_admitted)
{
    start(1, 4, 100);
    struct test_job *late = make(1, 1, 1, 1);
    late->job.deadline_ns = now_ns() - 1;
    ck_assert_int_eq(mt_engine_submit(engine, &late->job, NULL), MT_OK);
    wait_for_jobs(1);
    ck_assert_int_eq(status_of(late), MT_TIMEOUT);
    ck_assert(!fake_was_admitted(late->sentences[0]));
    finish();
}
END_TEST

static void cancel_the_next(struct mt_job *job, enum mt_status status)
{
    struct test_job *next = (struct test_job *)job->user + 1;
    mt_engine_cancel(engine, &next->job);
    on_done(job, status);
}

/* Two jobs end in one step; while the first is being told, the second is cancelled. */
START_TEST(cancelling_a_job_that_has_ended_changes_nothing)
{
    start(1, 4, 100);
    fake_close_gate();
    submit(1, 1, 1, 5);
    fake_wait_for_batches(1);
    struct test_job *first = make(1, 1, 1, 1), *second = make(1, 1, 1, 1);
    first->job.on_done = cancel_the_next;
    ck_assert_int_eq(mt_engine_submit(engine, &first->job, NULL), MT_OK);
    ck_assert_int_eq(mt_engine_submit(engine, &second->job, NULL), MT_OK);
    fake_open_gate();
    wait_for_jobs(3);
    ck_assert_uint_eq(first->n_done_before + 1, second->n_done_before);
    expect_decoded(first);
    expect_decoded(second);
    finish();
}
END_TEST

/* Cancels at random moments, holding a lock that on_done takes, as the server does: whatever the
 * moment, on_done is called once. */
START_TEST(cancelling_at_any_moment_is_safe)
{
    start(2, 4, 4096);
    for (size_t i = 0; i < 600; i++) {
        struct test_job *test = submit(i % 3, 1 + i % 4, 1, 1 + i % 5);
        pthread_mutex_lock(&mutex);
        struct test_job *victim = &jobs[i * 7919 % (i + 1)];
        if (!victim->n_calls)
            mt_engine_cancel(engine, &victim->job);
        if (i % 3 == 0 && !test->n_calls)
            mt_engine_cancel(engine, &test->job);
        pthread_mutex_unlock(&mutex);
    }
    wait_for_jobs(600);
    size_t n_cancelled = 0;
    for (size_t i = 0; i < 600; i++) {
        enum mt_status status = status_of(&jobs[i]);
        n_cancelled += status == MT_CANCELLED;
        if (status == MT_OK)
            expect_decoded(&jobs[i]);
        else
            ck_assert_int_eq(status, MT_CANCELLED);
    }
    ck_assert_uint_gt(n_cancelled, 0);
    finish();
}
END_TEST

/* --- the end --- */

START_TEST(draining_finishes_what_was_accepted_and_refuses_the_rest)
{
    struct mt_error err = {0};
    start(2, 2, 100);
    fake_close_gate();
    submit(1, 10, 1, 3);
    ck_assert_int_eq(mt_engine_drain(engine, 20, &err), MT_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(err.message, "1 jobs"));
    struct test_job *late = make(1, 1, 1, 1);
    ck_assert_int_eq(mt_engine_submit(engine, &late->job, &err), MT_CANCELLED);
    fake_open_gate();
    ck_assert_int_eq(mt_engine_drain(engine, 10000, &err), MT_OK);
    ck_assert_uint_eq(n_done, 1);
    expect_decoded(&jobs[0]);
    finish();
}
END_TEST

START_TEST(destroying_cancels_what_is_left)
{
    start(2, 4, 100);
    for (size_t i = 0; i < 4; i++) /* wholly in flight */
        submit(i, 1, 1, LONG);
    while (fake_admitted(NULL, 0) < 4)
        usleep(1000);
    for (size_t i = 0; i < 20; i++) /* partly, or waiting */
        submit(i, 2, 1, LONG);
    usleep(5000);
    finish();
    ck_assert_uint_eq(n_done, 24);
    for (size_t i = 0; i < 24; i++)
        ck_assert_int_eq(status_of(&jobs[i]), MT_CANCELLED);
}
END_TEST

START_TEST(destroys_an_engine_that_never_worked)
{
    mt_engine_destroy(NULL);
    start(3, 4, 100);
    finish();
}
END_TEST

static void submit_next(struct mt_job *job, enum mt_status status)
{
    struct test_job *next = (struct test_job *)job->user + 1;
    on_done(job, status);
    if (next->sentences && mt_engine_submit(engine, &next->job, NULL))
        abort();
}

/* Guarded by mutex: what on_progress saw. */
static size_t n_progress, n_told;

static void watch_progress(struct mt_job *job)
{
    struct test_job *test = job->user;
    struct mt_progress progress = mt_sentence_progress(test->sentences[0]);
    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(test->n_calls, 0); /* of on_done */
    ck_assert_uint_gt(progress.n_ids, n_told);
    for (size_t i = n_told; i < progress.n_ids; i++)
        ck_assert_int_eq(progress.ids[i], 10 + (int)i);
    ck_assert_int_eq(progress.has_ended, progress.n_ids == 5);
    n_told = progress.n_ids;
    n_progress++;
    pthread_mutex_unlock(&mutex);
}

START_TEST(progress_is_told_step_by_step_to_those_who_ask)
{
    start(1, 4, 100);
    fake_close_gate();
    struct test_job *silent = submit(1, 1, 1, 7);
    struct test_job *followed = make(2, 1, 1, 5);
    followed->job.on_progress = watch_progress;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_engine_submit(engine, &followed->job, &err), MT_OK);
    for (size_t i = 0; i < 12; i++)
        fake_allow_steps(1);
    fake_open_gate();
    wait_for_jobs(2);
    expect_decoded(silent);
    expect_decoded(followed);
    ck_assert_uint_eq(n_progress, 5);
    ck_assert_uint_eq(n_told, 5);
    finish();
}
END_TEST

START_TEST(on_done_may_submit)
{
    enum { N = 100 };
    start(2, 4, 4);
    for (size_t i = 0; i < N; i++)
        make(1, 1, 1, 1)->job.on_done = submit_next;
    ck_assert_int_eq(mt_engine_submit(engine, &jobs[0].job, NULL), MT_OK);
    wait_for_jobs(N);
    expect_decoded(&jobs[N - 1]);
    finish();
}
END_TEST

static void *submit_many(void *argument)
{
    struct test_job *first = argument;
    for (size_t i = 0; i < 100; i++)
        while (mt_engine_submit(engine, &first[i].job, NULL))
            usleep(100);
    return NULL;
}

START_TEST(many_threads_submit_at_once)
{
    pthread_t threads[8];
    start(2, 8, 32);
    for (size_t i = 0; i < 800; i++)
        make(i / 100, 1 + i % 3, 1, 1 + i % 4);
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, submit_many, &jobs[100 * i]), 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    wait_for_jobs(800);
    for (size_t i = 0; i < 800; i++)
        expect_decoded(&jobs[i]);
    finish();
}
END_TEST

START_TEST(default_threads_cover_the_cores_in_teams_of_at_most_four)
{
    static const struct {
        size_t n_cores, n_workers, threads_per_worker;
    } cases[] = {{0, 1, 1}, {1, 1, 1}, {2, 1, 2}, {4, 1, 4},   {5, 2, 2},
                 {6, 2, 3}, {8, 2, 4}, {9, 3, 3}, {64, 16, 4}, {96, 24, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n_workers, threads_per_worker;
        mt_engine_default_threads(cases[i].n_cores, &n_workers, &threads_per_worker);
        ck_assert_uint_eq(n_workers, cases[i].n_workers);
        ck_assert_uint_eq(threads_per_worker, cases[i].threads_per_worker);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, decodes_every_sentence_once, 0, 3);
    tcase_add_test(tcase, a_short_sentence_overtakes_a_long_one);
    tcase_add_test(tcase, a_job_is_done_when_its_last_sentence_is);
    tcase_add_test(tcase, a_document_does_not_hold_up_another_client);
    tcase_add_test(tcase, a_wide_sentence_is_not_starved);
    tcase_add_test(tcase, idle_workers_share_what_comes);
    tcase_add_test(tcase, wakes_up_every_time);
    tcase_add_test(tcase, idles_without_using_the_cpu);
    tcase_add_test(tcase, refuses_what_the_queue_cannot_hold);
    tcase_add_test(tcase, refuses_what_never_fits_a_batch);
    tcase_add_test(tcase, refuses_absurd_numbers_of_threads);
    tcase_add_test(tcase, a_cancelled_job_in_the_queue_is_never_admitted);
    tcase_add_test(tcase, a_cancelled_job_frees_its_rows_at_the_next_step);
    tcase_add_test(tcase, cancels_a_job_that_is_partly_done_partly_running_partly_queued);
    tcase_add_test(tcase, a_deadline_ends_a_job_in_the_queue_and_one_in_flight);
    tcase_add_test(tcase, a_job_that_expired_before_it_came_is_not_admitted);
    tcase_add_test(tcase, cancelling_a_job_that_has_ended_changes_nothing);
    tcase_add_test(tcase, cancelling_at_any_moment_is_safe);
    tcase_add_test(tcase, draining_finishes_what_was_accepted_and_refuses_the_rest);
    tcase_add_test(tcase, destroying_cancels_what_is_left);
    tcase_add_test(tcase, destroys_an_engine_that_never_worked);
    tcase_add_test(tcase, progress_is_told_step_by_step_to_those_who_ask);
    tcase_add_test(tcase, on_done_may_submit);
    tcase_add_test(tcase, many_threads_submit_at_once);
    tcase_add_test(tcase, default_threads_cover_the_cores_in_teams_of_at_most_four);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
