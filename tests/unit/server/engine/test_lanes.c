/* Several models in one engine. What it does with one alone is test_engine.c's. */
#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LANES 8

/* The engine hands models through to the batches, and the fake ones only tell them apart. */
static char models[MAX_LANES];
static struct mt_lane *lanes[MAX_LANES];

static const struct mt_model *model(size_t index)
{
    return (const struct mt_model *)(const void *)&models[index];
}

static void start(size_t n_lanes, size_t n_workers, size_t max_rows, size_t max_queued)
{
    test_start(n_workers, max_rows, max_queued);
    for (size_t i = 0; i < n_lanes; i++)
        lanes[i] = test_attach(model(i));
}

static void expect_model(const struct test_job *test, size_t index)
{
    for (size_t i = 0; i < test->job.n_sentences; i++)
        ck_assert_ptr_eq(fake_model_of(test->sentences[i]), model(index));
}

START_TEST(sentences_get_into_their_own_models_batches)
{
    static const size_t workers[] = {1, 2, 3};
    size_t n_tokens = 0;
    start(5, workers[_i], 4, 4096);
    for (size_t i = 0; i < 300; i++) {
        size_t n = 1 + i % 7, n_steps = 1 + i * 7 % 13;
        test_submit(lanes[i % 5], i % 3, n, 1 + i % 3, n_steps);
        n_tokens += n * n_steps;
    }
    test_wait(300);
    for (size_t i = 0; i < 300; i++) {
        test_expect_decoded(&test_jobs[i]);
        expect_model(&test_jobs[i], i % 5);
    }
    struct mt_engine_stats stats;
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_target_tokens, n_tokens);
    ck_assert_uint_eq(stats.n_queued_sentences + stats.n_running_sentences, 0);
    test_finish();
}
END_TEST

/* --- lanes beside each other --- */

START_TEST(a_full_lane_holds_up_no_other)
{
    start(2, 1, 2, 100);
    fake_close_gate();
    test_submit(lanes[0], 1, 2, 1, LONG);
    fake_wait_for_batches(1);
    struct test_job *waiting = test_submit(lanes[0], 1, 20, 1, LONG);
    struct test_job *other = test_submit(lanes[1], 1, 1, 1, 3); /* of the same client */
    fake_open_gate();
    test_wait(1);
    test_expect_decoded(other);
    expect_model(other, 1);
    ck_assert(!fake_was_admitted(waiting->sentences[0]));
    test_finish();
}
END_TEST

START_TEST(within_a_full_lane_nobody_is_overtaken)
{
    start(2, 1, 4, 1000);
    fake_close_gate();
    test_submit(lanes[0], 1, 3, 1, 5);
    fake_wait_for_batches(1);
    struct test_job *wide = test_submit(lanes[0], 2, 1, 4, 3);
    struct test_job *narrow = test_submit(lanes[0], 3, 30, 1, 3);
    struct test_job *other = test_submit(lanes[1], 4, 30, 1, 3);
    fake_open_gate();
    test_wait(4);
    ck_assert_uint_lt(test_turn(wide->sentences[0]), test_turn(narrow->sentences[0]));
    ck_assert_uint_lt(test_turn(other->sentences[0]), test_turn(wide->sentences[0]));
    test_finish();
}
END_TEST

/* Each batch is stepped as often as the others, however many rows they have. */
START_TEST(batches_are_stepped_in_turn)
{
    start(3, 1, 8, 100);
    fake_close_gate();
    test_submit(lanes[0], 1, 8, 1, LONG);
    test_submit(lanes[1], 2, 1, 1, LONG);
    fake_wait_for_batches(1);
    fake_allow_steps(5);
    fake_wait_for_batches(1);
    struct test_job *quick = test_submit(lanes[2], 3, 1, 1, 4);
    fake_allow_steps(1 + 3 * 4); /* the step under way, and four of each */
    fake_wait_for_batches(1);
    test_wait(1);
    test_expect_decoded(quick);
    test_finish();
}
END_TEST

START_TEST(a_document_in_every_lane_does_not_hold_up_another_client)
{
    start(4, 1, 4, 4096);
    fake_close_gate();
    for (size_t i = 0; i < 4; i++)
        test_submit(lanes[i], 1, 200, 1, 10);
    fake_wait_for_batches(1);
    struct test_job *single = test_submit(lanes[2], 2, 1, 1, 10);
    fake_open_gate();
    test_wait(5);
    ck_assert_uint_eq(single->n_done_before, 0);
    test_finish();
}
END_TEST

START_TEST(deadlines_and_cancelling_concern_their_own_jobs)
{
    start(2, 1, 2, 100);
    fake_close_gate();
    struct test_job *late[2], *cancelled[2], *well[2];
    for (size_t i = 0; i < 2; i++) {
        late[i] = test_make(lanes[i], 1, 1, 1, LONG);
        late[i]->job.deadline_ns = test_now_ns() + 300000000;
        ck_assert_int_eq(mt_engine_submit(test_engine, &late[i]->job, NULL), MT_OK);
        cancelled[i] = test_submit(lanes[i], 2, 2, 1, LONG);
        well[i] = test_submit(lanes[i], 3, 4, 1, 3);
    }
    fake_wait_for_batches(1);
    mt_engine_cancel(test_engine, &cancelled[0]->job);
    usleep(310000);
    fake_open_gate();
    test_wait(3); /* both late ones, and the one that was cancelled */
    mt_engine_cancel(test_engine, &cancelled[1]->job);
    test_wait(6);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(test_status(late[i]), MT_TIMEOUT);
        ck_assert_int_eq(test_status(cancelled[i]), MT_CANCELLED);
        test_expect_decoded(well[i]);
    }
    test_finish();
}
END_TEST

/* What waits may expire in a lane that nothing else happens in. */
START_TEST(a_job_expires_while_its_lane_is_full)
{
    start(2, 1, 1, 100);
    fake_close_gate();
    test_submit(lanes[0], 1, 1, 1, LONG);
    fake_wait_for_batches(1);
    struct test_job *late = test_make(lanes[0], 2, 3, 1, 1);
    late->job.deadline_ns = test_now_ns() + 1000000;
    ck_assert_int_eq(mt_engine_submit(test_engine, &late->job, NULL), MT_OK);
    test_submit(lanes[1], 3, 1, 1, LONG);
    usleep(2000);
    fake_open_gate();
    test_wait(1);
    ck_assert_int_eq(test_status(late), MT_TIMEOUT);
    ck_assert(!fake_was_admitted(late->sentences[0]));
    test_finish();
}
END_TEST

/* --- attaching and detaching --- */

START_TEST(detaching_ends_the_jobs_of_its_lane_alone)
{
    static const size_t workers[] = {1, 2};
    start(2, workers[_i], 2, 100);
    struct test_job *other = test_submit(lanes[0], 1, 2, 1, 200);
    struct test_job *ended[5];
    for (size_t i = 0; i < 5; i++) /* in flight, partly, and waiting */
        ended[i] = test_submit(lanes[1], 2, 3, 1, LONG);
    while (fake_admitted(NULL, 0) < 4)
        usleep(1000);
    mt_engine_detach(test_engine, lanes[1]);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(test_status(ended[i]), MT_CANCELLED);
    test_wait(6);
    test_expect_decoded(other);
    struct test_job *next = test_submit(lanes[0], 1, 1, 1, 1);
    test_wait(7);
    test_expect_decoded(next);
    test_finish();
}
END_TEST

START_TEST(counters_outlive_a_lane)
{
    struct mt_engine_stats before, after;
    start(2, 1, 4, 100);
    test_submit(lanes[0], 1, 3, 1, 4);
    test_submit(lanes[1], 1, 3, 1, 5);
    test_wait(2);
    mt_engine_stats(test_engine, &before);
    ck_assert_uint_ge(before.n_steps, 9);
    ck_assert_uint_eq(before.n_step_rows, 3 * 4 + 3 * 5);
    mt_engine_detach(test_engine, lanes[1]);
    mt_engine_stats(test_engine, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    mt_engine_detach(test_engine, lanes[0]);
    mt_engine_detach(test_engine, NULL);
    test_finish();
}
END_TEST

static void *detach_lane_1(void *argument)
{
    mt_engine_detach(test_engine, lanes[1]);
    return argument;
}

START_TEST(a_lane_that_is_leaving_takes_no_more_jobs)
{
    struct mt_error err = {0};
    pthread_t thread;
    start(2, 1, 2, 100);
    fake_close_gate();
    test_submit(lanes[1], 1, 1, 1, LONG);
    fake_wait_for_batches(1);
    struct test_job *waiting = test_submit(lanes[1], 1, 2, 2, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, detach_lane_1, NULL), 0);
    struct mt_engine_stats stats;
    do { /* the queue is emptied at once; the batch is only free of its row after the step */
        usleep(1000);
        mt_engine_stats(test_engine, &stats);
    } while (stats.n_queued_sentences > 0);
    struct test_job *late = test_make(lanes[1], 1, 1, 1, 1);
    ck_assert_int_eq(mt_engine_submit(test_engine, &late->job, &err), MT_CANCELLED);
    ck_assert_ptr_nonnull(strstr(err.message, "unloaded"));
    ck_assert_uint_eq(stats.n_running_sentences, 1);
    fake_open_gate();
    pthread_join(thread, NULL);
    ck_assert_uint_eq(test_n_done(), 2);
    ck_assert_int_eq(test_status(waiting), MT_CANCELLED);
    ck_assert_int_eq(late->n_calls, 0);
    test_finish();
}
END_TEST

static void done_slowly(struct mt_job *job, enum mt_status status)
{
    usleep(50000);
    test_on_done(job, status);
}

START_TEST(detaching_waits_for_on_done)
{
    start(1, 1, 2, 100);
    struct test_job *slow = test_make(lanes[0], 1, 1, 1, LONG);
    slow->job.on_done = done_slowly;
    ck_assert_int_eq(mt_engine_submit(test_engine, &slow->job, NULL), MT_OK);
    usleep(5000);
    mt_engine_detach(test_engine, lanes[0]);
    ck_assert_int_eq(test_status(slow), MT_CANCELLED);
    test_finish();
}
END_TEST

/* --- memory --- */

/* That it comes about is what the test case's time limit checks. */
static void wait_until_trimmed(struct mt_lane *lane)
{
    while (mt_lane_resident_bytes(lane) > 0)
        usleep(5000);
}

START_TEST(an_idle_lane_gives_its_memory_back)
{
    start(2, 1, 4, 100);
    ck_assert_uint_eq(mt_lane_resident_bytes(lanes[0]), 0);
    for (size_t round = 1; round <= 3; round++) {
        fake_close_gate();
        struct test_job *job = test_submit(lanes[0], 1, 3, 1, 4);
        fake_wait_for_batches(1);
        fake_allow_steps(1);
        fake_wait_for_batches(1);
        ck_assert_uint_eq(mt_lane_resident_bytes(lanes[0]), 3 * FAKE_ROW_BYTES);
        ck_assert_uint_eq(mt_lane_cache_bytes(lanes[0]), 3 * FAKE_ROW_BYTES);
        fake_open_gate();
        test_wait(round);
        test_expect_decoded(job);
        wait_until_trimmed(lanes[0]);
        ck_assert_uint_eq(mt_lane_resident_bytes(lanes[1]), 0);
        /* What the fake one expects of four rows is what two really take. */
        ck_assert_uint_eq(mt_lane_cache_bytes(lanes[0]), 2 * FAKE_ROW_BYTES);
    }
    test_finish();
}
END_TEST

START_TEST(an_idle_lane_gives_its_memory_back_while_others_work)
{
    start(3, 1, 4, 100);
    test_submit(lanes[1], 1, 2, 1, LONG);
    test_submit(lanes[0], 1, 3, 1, 4);
    test_submit(lanes[2], 1, 1, 1, 4);
    test_wait(2);
    wait_until_trimmed(lanes[0]);
    wait_until_trimmed(lanes[2]);
    ck_assert_uint_eq(mt_lane_resident_bytes(lanes[1]), 2 * FAKE_ROW_BYTES);
    mt_engine_detach(test_engine, lanes[0]);
    test_finish();
}
END_TEST

/* A worker's batches share their activations, which outlive each of them. */
START_TEST(a_lane_that_leaves_gives_back_what_it_touched)
{
    test_start(2, 4, 100);
    for (size_t round = 1; round <= 20; round++) {
        struct mt_lane *lane = test_attach(model(0));
        test_submit(lane, 1, 8, 1, 2);
        test_wait(round);
        mt_engine_detach(test_engine, lane);
    }
    ck_assert_uint_eq(fake_left_touched(), 0);
    test_finish();
}
END_TEST

/* Whether it has given its memory back by then or not. */
START_TEST(detaches_a_lane_that_is_still_warm)
{
    start(3, 2, 4, 100);
    for (size_t i = 0; i < 3; i++)
        test_submit(lanes[i], 1, 4, 1, 2);
    test_wait(3);
    mt_engine_detach(test_engine, lanes[1]);
    wait_until_trimmed(lanes[0]);
    mt_engine_detach(test_engine, lanes[0]);
    test_submit(lanes[2], 1, 4, 1, 2);
    test_wait(4);
    test_finish();
}
END_TEST

enum { N_THREADS = 4, JOBS_OF_A_THREAD = 200 };

/* A model that comes and goes, with jobs that it may or may not have time for. */
static void *come_and_go(void *argument)
{
    size_t index = (size_t)((char *)argument - models);
    struct test_job *own = &test_jobs[index * JOBS_OF_A_THREAD];
    for (size_t i = 0; i < JOBS_OF_A_THREAD;) {
        struct mt_lane *lane;
        if (mt_engine_attach(test_engine, model(index), &lane, NULL))
            abort();
        for (size_t n = i + 1 + i % 9; i < n && i < JOBS_OF_A_THREAD; i++) {
            own[i].job.lane = lane;
            while (mt_engine_submit(test_engine, &own[i].job, NULL))
                usleep(100);
        }
        if (i % 2)
            usleep(300);
        mt_engine_detach(test_engine, lane);
    }
    return NULL;
}

START_TEST(lanes_come_and_go_under_load)
{
    pthread_t threads[N_THREADS];
    start(1, 2, 4, 256);
    /* Made here, where they may be made; the lanes come later. */
    for (size_t i = 0; i < N_THREADS * JOBS_OF_A_THREAD; i++)
        test_make(NULL, i % 5, 1 + i % 4, 1 + i % 3, 1 + i % 20);
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &models[i]), 0);
    size_t n_steady = 0;
    for (; n_steady < 100; n_steady++) {
        struct test_job *steady = test_make(lanes[0], 9, 2, 1, 1 + n_steady % 7);
        while (mt_engine_submit(test_engine, &steady->job, NULL))
            usleep(100);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    test_wait(N_THREADS * JOBS_OF_A_THREAD + n_steady);

    size_t n_decoded = 0;
    for (size_t i = 0; i < N_THREADS * JOBS_OF_A_THREAD; i++) {
        if (test_status(&test_jobs[i]) == MT_CANCELLED)
            continue;
        test_expect_decoded(&test_jobs[i]);
        expect_model(&test_jobs[i], i / JOBS_OF_A_THREAD);
        n_decoded++;
    }
    ck_assert_uint_gt(n_decoded, 0);
    for (size_t i = 0; i < n_steady; i++) {
        test_expect_decoded(&test_jobs[N_THREADS * JOBS_OF_A_THREAD + i]);
        expect_model(&test_jobs[N_THREADS * JOBS_OF_A_THREAD + i], 0);
    }
    test_finish();
}
END_TEST

Suite *suite_lanes(void)
{
    Suite *suite = suite_create("lanes");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, sentences_get_into_their_own_models_batches, 0, 3);
    tcase_add_test(tcase, a_full_lane_holds_up_no_other);
    tcase_add_test(tcase, within_a_full_lane_nobody_is_overtaken);
    tcase_add_test(tcase, batches_are_stepped_in_turn);
    tcase_add_test(tcase, a_document_in_every_lane_does_not_hold_up_another_client);
    tcase_add_test(tcase, deadlines_and_cancelling_concern_their_own_jobs);
    tcase_add_test(tcase, a_job_expires_while_its_lane_is_full);
    tcase_add_loop_test(tcase, detaching_ends_the_jobs_of_its_lane_alone, 0, 2);
    tcase_add_test(tcase, counters_outlive_a_lane);
    tcase_add_test(tcase, a_lane_that_is_leaving_takes_no_more_jobs);
    tcase_add_test(tcase, detaching_waits_for_on_done);
    tcase_add_test(tcase, an_idle_lane_gives_its_memory_back);
    tcase_add_test(tcase, an_idle_lane_gives_its_memory_back_while_others_work);
    tcase_add_test(tcase, a_lane_that_leaves_gives_back_what_it_touched);
    tcase_add_test(tcase, detaches_a_lane_that_is_still_warm);
    tcase_add_test(tcase, lanes_come_and_go_under_load);
    suite_add_tcase(suite, tcase);
    return suite;
}
