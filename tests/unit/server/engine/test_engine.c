#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The one lane of these tests. The engine hands the model through to the batch, and the fake one
 * needs none. */
static struct mt_lane *lane;

static void start(size_t n_workers, size_t max_rows, size_t max_queued)
{
    test_start(n_workers, max_rows, max_queued);
    lane = test_attach(NULL);
}

/* --- what it is for --- */

START_TEST(decodes_every_sentence_once)
{
    static const size_t workers[] = {1, 2, 3};
    size_t n_tokens = 0, n_sentences = 0;
    start(workers[_i], 8, 4096);
    for (size_t i = 0; i < 300; i++) {
        size_t n = 1 + i % 7, n_steps = 1 + i * 7 % 13;
        test_submit(lane, i % 5, n, 1 + i % 3, n_steps);
        n_tokens += n * n_steps;
        n_sentences += n;
    }
    test_wait(300);
    for (size_t i = 0; i < 300; i++)
        test_expect_decoded(&test_jobs[i]);

    struct mt_engine_stats stats;
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_workers, workers[_i]);
    ck_assert_uint_eq(stats.n_jobs_accepted, 300);
    ck_assert_uint_eq(stats.n_jobs_done, 300);
    ck_assert_uint_eq(stats.n_target_tokens, n_tokens);
    ck_assert_uint_eq(stats.n_queued_sentences + stats.n_running_sentences, 0);
    ck_assert_uint_eq(fake_admitted(NULL, 0), n_sentences);
    test_finish();
}
END_TEST

START_TEST(a_short_sentence_overtakes_a_long_one)
{
    start(1, 8, 100);
    fake_close_gate();
    struct test_job *slow = test_submit(lane, 1, 1, 1, 500);
    fake_wait_for_batches(1);
    fake_allow_steps(3);
    fake_wait_for_batches(1);
    struct test_job *quick = test_submit(lane, 1, 1, 1, 5);
    fake_allow_steps(7); /* the step under way, then its five, and one more to be noticed */
    test_wait(1);
    test_expect_decoded(quick);
    ck_assert_int_eq(slow->n_calls, 0);
    fake_open_gate();
    test_wait(2);
    test_expect_decoded(slow);
    test_finish();
}
END_TEST

START_TEST(a_job_is_done_when_its_last_sentence_is)
{
    start(2, 2, 100);
    struct test_job *job = test_submit(lane, 1, 20, 1, 3);
    test_wait(1);
    test_expect_decoded(job);
    test_finish();
}
END_TEST

START_TEST(a_document_does_not_hold_up_another_client)
{
    start(1, 4, 1000);
    fake_close_gate();
    struct test_job *document = test_submit(lane, 1, 500, 1, 10);
    fake_wait_for_batches(1);
    struct test_job *single = test_submit(lane, 2, 1, 1, 10);
    fake_open_gate();
    test_wait(2);
    ck_assert_uint_eq(test_turn(single->sentences[0]),
                      4); /* behind the four that were in already */
    ck_assert_uint_eq(single->n_done_before, 0);
    test_expect_decoded(document);
    test_finish();
}
END_TEST

/* Of 100 sentences of a beam of 2, 2 at a time run, for two steps each. */
START_TEST(the_expected_wait_is_of_what_waits)
{
    struct mt_engine_stats stats;
    start(1, 4, 1000);
    mt_engine_stats(test_engine, &stats);
    ck_assert(stats.expected_wait_seconds == 0);
    fake_close_gate();
    struct test_job *job = test_submit(lane, 1, 100, 2, 2);
    fake_wait_for_batches(1);
    fake_allow_steps(9);
    fake_wait_for_batches(1);
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_gt(stats.n_queued_sentences, 50);
    double before = stats.expected_wait_seconds;
    ck_assert(before > 0 && before < 3600);
    usleep(20000); /* nothing moves: what waits waits longer */
    mt_engine_stats(test_engine, &stats);
    ck_assert(stats.expected_wait_seconds > before);
    mt_engine_cancel(test_engine, &job->job);
    mt_engine_stats(test_engine, &stats);
    ck_assert(stats.expected_wait_seconds == 0);
    fake_open_gate();
    test_wait(1);
    test_finish();
}
END_TEST

/* Of the sentence that ended last; the others' tokens count, too. */
START_TEST(a_job_is_told_where_its_time_went)
{
    start(1, 2, 100);
    fake_close_gate();
    struct test_job *job = test_submit(lane, 1, 3, 1, 4); /* the third has to wait for room */
    fake_wait_for_batches(1);
    usleep(20000);
    int64_t begin_ns = test_now_ns();
    fake_open_gate();
    test_wait(1);
    const struct mt_job_account *account = &job->job.account;
    int64_t whole_ns = account->ended_ns - job->job.submitted_ns;
    ck_assert_int_ge(account->queue_ns, 20000000);
    ck_assert_int_eq(account->encoder_ns, 0); /* the pretended batch's passes take no time */
    ck_assert_int_ge(account->decoder_ns, 0);
    ck_assert_int_eq(account->queue_ns + account->encoder_ns + account->decoder_ns, whole_ns);
    ck_assert_int_ge(account->ended_ns, begin_ns);
    ck_assert_uint_eq(account->n_target_tokens, 12);
    ck_assert_uint_eq(account->n_source_tokens, 3 * mt_sentence_n_source(job->sentences[0]));
    test_finish();
}
END_TEST

START_TEST(a_wide_sentence_is_not_starved)
{
    start(1, 4, 1000);
    fake_close_gate();
    test_submit(lane, 1, 50, 1, 3);
    fake_wait_for_batches(1);
    struct test_job *wide = test_submit(lane, 2, 1, 4, 3);
    test_submit(lane, 3, 50, 1, 3);
    fake_open_gate();
    test_wait(3);
    ck_assert_uint_eq(test_turn(wide->sentences[0]), 4);
    test_finish();
}
END_TEST

START_TEST(idle_workers_share_what_comes)
{
    start(2, 16, 100);
    usleep(50000); /* both wait for work */
    fake_close_gate();
    test_submit(lane, 1, 8, 1, 2);
    fake_wait_for_batches(2);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 8);
    ck_assert_uint_eq(fake_largest_share(), 4);
    test_finish();
}
END_TEST

/* Where a busy machine holds up the worker as well, its team seems no slower, and is tried again. */
START_TEST(a_worker_whose_team_is_held_up_works_alone_for_a_while)
{
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    size_t n_jobs = 0;
    fake_delay_members(10000000);
    for (int i = 0; i < 20 && fake_last_width() != 1; i++) {
        test_submit(lane, 1, 1, 1, 3);
        test_wait(++n_jobs);
    }
    ck_assert_uint_eq(fake_last_width(), 1);
    fake_delay_members(0);
    for (int i = 0; i < 20 && fake_last_width() != 2; i++) {
        usleep(100000);
        test_submit(lane, 1, 1, 1, 1);
        test_wait(++n_jobs);
    }
    ck_assert_uint_eq(fake_last_width(), 2);
    test_finish();
}
END_TEST

/* As where a member has to be woken first. A busy machine may take a processor from the team for
 * longer: then it is tried again when the worker has its team back. */
START_TEST(a_team_that_waited_a_moment_goes_on_as_a_team)
{
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    size_t n_jobs = 0;
    for (int i = 0; i < 20 && fake_last_width() != 2; i++) {
        usleep(i > 0 ? 1100000 : 0);
        fake_delay_members(300000);
        test_submit(lane, 1, 1, 1, 1);
        test_wait(++n_jobs);
        fake_delay_members(0);
        test_submit(lane, 1, 1, 1, 1);
        test_wait(++n_jobs);
    }
    ck_assert_uint_eq(fake_last_width(), 2);
    test_finish();
}
END_TEST

START_TEST(a_job_is_told_whether_it_was_the_last)
{
    start(1, 4, 100);
    fake_close_gate();
    struct test_job *short_job = test_submit(lane, 1, 1, 1, 1);
    struct test_job *lengthy = test_submit(lane, 2, 1, 1, 3);
    fake_open_gate();
    test_wait(2);
    ck_assert(!short_job->job.was_last);
    ck_assert(lengthy->job.was_last);
    test_finish();
}
END_TEST

/* A sentence of its own is decoded by a team of `width`. A worker that had something a moment ago still counts
 * until it waits, which takes it as long as the machine lets it. */
static void expect_team(struct mt_lane *of, size_t n_jobs, size_t width)
{
    for (size_t i = 0; i < 100; i++) {
        test_submit(of, 1, 1, 1, 3);
        test_wait(n_jobs + i + 1);
        if (fake_last_width() == width)
            return;
        usleep(10000);
    }
    ck_abort_msg("a team of %zu still", fake_last_width());
}

/* One worker of two threads, and a spare one. Sentences are in a batch for each thread as soon as
 * there are FAKE_ROWS_APART rows for each. */
START_TEST(spare_workers_take_sentences_where_there_are_enough_for_all)
{
    struct mt_engine_stats stats;
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    usleep(50000); /* both wait for work */
    fake_close_gate();
    test_submit(lane, 1, FAKE_ROWS_APART, 1, 10);
    fake_wait_for_batches(1);
    test_submit(lane, 1, FAKE_ROWS_APART - 1, 1, 10);
    fake_allow_steps(1);
    fake_wait_for_batches(1);
    usleep(50000); /* a spare worker that took something would have by now */
    ck_assert_uint_eq(fake_largest_share(), 2 * FAKE_ROWS_APART - 1);
    ck_assert_uint_eq(fake_last_width(), 2);

    test_submit(lane, 1, 1, 1, 10);
    fake_wait_for_batches(2);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 2 * FAKE_ROWS_APART);
    test_submit(lane, 1, 4, 1, 10); /* the spare worker is to have as many rows as the other */
    fake_step_each();
    fake_wait_for_batches(2);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 2 * FAKE_ROWS_APART + 4);
    ck_assert_uint_eq(fake_largest_share(), 2 * FAKE_ROWS_APART - 1);
    ck_assert_uint_eq(fake_last_width(), 1);
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_running_rows, 2 * FAKE_ROWS_APART + 4);
    ck_assert_uint_eq(stats.n_workers, 1);
    ck_assert_uint_eq(stats.n_spare_workers, 1);

    fake_open_gate();
    test_wait(4);
    usleep(50000); /* the spare worker has noticed, too */
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_running_rows, 0);
    expect_team(lane, 4, 2);
    for (size_t i = 0; i < 5; i++)
        test_expect_decoded(&test_jobs[i]);
    test_finish();
}
END_TEST

/* What one model had lately says nothing about another. */
START_TEST(a_crowd_that_has_gone_leaves_the_team_to_others)
{
    struct mt_lane *other;
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    other = test_attach(NULL);
    test_submit(lane, 1, 8 * FAKE_ROWS_APART, 1, 10);
    test_wait(1);
    expect_team(other, 1, 2);
    test_finish();
}
END_TEST

/* Two rows of the one are as much as one of the other: a beam counts by its rows. */
START_TEST(workers_share_by_rows)
{
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    usleep(50000);
    fake_close_gate();
    test_submit(lane, 1, 3, 4, 10);
    fake_wait_for_batches(2);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 3);
    ck_assert_uint_eq(fake_largest_share(), 2);
    test_finish();
}
END_TEST

/* However many rows its beam has: the other worker could take nothing of it. */
START_TEST(a_wide_sentence_is_work_for_one_worker)
{
    test_start_with_spare(32, 100);
    lane = test_attach(NULL);
    usleep(50000);
    fake_close_gate();
    test_submit(lane, 1, 1, 4 * FAKE_ROWS_APART, 10);
    fake_wait_for_batches(1);
    fake_allow_steps(1);
    fake_wait_for_batches(1);
    ck_assert_uint_eq(fake_last_width(), 2);
    test_finish();
}
END_TEST

START_TEST(spare_workers_and_others_decode_every_sentence_once)
{
    size_t n_sentences = 0;
    test_start_with_spare(8, 4096);
    lane = test_attach(NULL);
    for (size_t i = 0; i < 900; i++) {
        size_t n = 1 + i % 7;
        struct test_job *job = test_submit(lane, i % 5, n, 1 + i % 3, 1 + i * 7 % 13);
        if (i % 9 == 0)
            mt_engine_cancel(test_engine, &job->job);
        if (i % 50 == 0)
            usleep(2000);
        n_sentences += n;
    }
    test_wait(900);
    for (size_t i = 0; i < 900; i++)
        if (i % 9 != 0)
            test_expect_decoded(&test_jobs[i]);
    ck_assert_uint_le(fake_admitted(NULL, 0), n_sentences);
    test_finish();
}
END_TEST

/* One after the other, each waited for: a wakeup that is lost once hangs here. */
START_TEST(wakes_up_every_time)
{
    start(2, 4, 100);
    for (size_t i = 0; i < MAX_JOBS; i++) {
        test_submit(lane, 0, 1, 1, 1);
        test_wait(i + 1);
    }
    test_finish();
}
END_TEST

START_TEST(idles_without_using_the_cpu)
{
    struct rusage before, after;
    start(2, 4, 100);
    test_submit(lane, 0, 1, 1, 1);
    test_wait(1);
    usleep(50000);
    getrusage(RUSAGE_SELF, &before);
    usleep(300000);
    getrusage(RUSAGE_SELF, &after);
    long used_us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000L +
                   after.ru_utime.tv_usec - before.ru_utime.tv_usec;
    ck_assert_int_lt(used_us, 30000);
    test_finish();
}
END_TEST

/* --- refusals --- */

START_TEST(refuses_what_the_queue_cannot_hold)
{
    struct mt_error err = {0};
    struct mt_engine_stats stats;
    start(1, 1, 4);
    fake_close_gate();
    test_submit(lane, 1, 1, 1, 5);
    fake_wait_for_batches(1);
    test_submit(lane, 1, 3, 1, 1);
    struct test_job *refused = test_make(lane, 2, 2, 1, 1);
    ck_assert_int_eq(mt_engine_submit(test_engine, &refused->job, &err), MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "full"));
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_queued_sentences, 3);
    ck_assert_uint_eq(stats.max_queued_sentences, 4);
    ck_assert_uint_eq(stats.n_running_sentences, 1);
    ck_assert_uint_eq(stats.n_jobs_refused, 1);
    ck_assert_int_eq(mt_engine_check_room(test_engine, &err), MT_OK); /* for one */
    ck_assert(mt_engine_has_room(test_engine));
    test_submit(lane, 3, 1, 1, 1);
    ck_assert(!mt_engine_has_room(test_engine));
    ck_assert_int_eq(mt_engine_check_room(test_engine, &err), MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "full: 4 sentences"));
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_jobs_refused, 2);
    fake_open_gate();
    test_wait(3);
    ck_assert_int_eq(mt_engine_check_room(test_engine, &err), MT_OK);
    ck_assert_int_eq(mt_engine_submit(test_engine, &refused->job, &err), MT_OK);
    test_wait(4);
    test_finish();
}
END_TEST

START_TEST(refuses_what_never_fits_a_batch)
{
    start(1, 4, 100);
    struct test_job *wide = test_make(lane, 1, 2, 5, 1);
    ck_assert_int_eq(mt_engine_submit(test_engine, &wide->job, NULL), MT_LIMIT);
    test_finish();
    ck_assert_int_eq(wide->n_calls, 0);
}
END_TEST

START_TEST(refuses_absurd_numbers_of_threads)
{
    struct mt_error err = {0};
    const struct mt_engine_options options = {.n_workers = 1000000, .threads_per_worker = 1};
    ck_assert_int_eq(mt_engine_create(&options, &test_engine, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "1000000"));
}
END_TEST

/* --- cancelling and deadlines --- */

START_TEST(a_cancelled_job_in_the_queue_is_never_admitted)
{
    start(1, 1, 100);
    fake_close_gate();
    test_submit(lane, 1, 1, 1, 3);
    fake_wait_for_batches(1);
    struct test_job *queued = test_submit(lane, 2, 2, 1, 3);
    mt_engine_cancel(test_engine, &queued->job);
    mt_engine_cancel(test_engine, &queued->job); /* twice is once */
    fake_allow_steps(1);
    test_wait(1);
    ck_assert_int_eq(test_status(queued), MT_CANCELLED);
    ck_assert(!fake_was_admitted(queued->sentences[0]));
    fake_open_gate();
    test_wait(2);
    test_expect_decoded(&test_jobs[0]);
    test_finish();
}
END_TEST

START_TEST(a_cancelled_job_frees_its_rows_at_the_next_step)
{
    start(1, 2, 100);
    fake_close_gate();
    struct test_job *hog = test_submit(lane, 1, 2, 1, LONG);
    fake_wait_for_batches(1);
    struct test_job *next = test_submit(lane, 2, 1, 1, 1);
    mt_engine_cancel(test_engine, &hog->job);
    fake_allow_steps(1); /* the step under way */
    fake_wait_for_batches(1);
    ck_assert_int_eq(test_status(hog), MT_CANCELLED);
    ck_assert(fake_was_admitted(next->sentences[0]));
    fake_open_gate();
    test_wait(2);
    test_expect_decoded(next);
    test_finish();
}
END_TEST

START_TEST(cancels_a_job_that_is_partly_done_partly_running_partly_queued)
{
    struct mt_engine_stats stats;
    start(1, 2, 100);
    fake_close_gate();
    struct test_job *mixed = test_make(lane, 1, 4, 1, 1);
    mt_sentence_destroy(mixed->sentences[1]);
    mixed->sentences[1] = fake_sentence(10, 1, LONG);
    ck_assert_int_eq(mt_engine_submit(test_engine, &mixed->job, NULL), MT_OK);
    fake_allow_steps(1);
    fake_wait_for_batches(1); /* 0 is done, 1 and 2 run, 3 waits */
    ck_assert(fake_is_decoded(mixed->sentences[0]));
    mt_engine_cancel(test_engine, &mixed->job);
    fake_allow_steps(1);
    test_wait(1);
    ck_assert_int_eq(test_status(mixed), MT_CANCELLED);
    ck_assert(!fake_was_admitted(mixed->sentences[3]));
    fake_open_gate();
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_jobs_cancelled, 1);
    ck_assert_uint_eq(stats.n_running_sentences + stats.n_queued_sentences, 0);
    test_finish();
}
END_TEST

START_TEST(a_deadline_ends_a_job_in_the_queue_and_one_in_flight)
{
    struct mt_engine_stats stats;
    start(1, 1, 100);
    fake_close_gate();
    struct test_job *running = test_make(lane, 1, 1, 1, LONG),
                    *queued = test_make(lane, 2, 3, 1, 1);
    running->job.deadline_ns = queued->job.deadline_ns = test_now_ns() + 500000000;
    ck_assert_int_eq(mt_engine_submit(test_engine, &running->job, NULL), MT_OK);
    fake_wait_for_batches(1);
    ck_assert_int_eq(mt_engine_submit(test_engine, &queued->job, NULL), MT_OK);
    struct test_job *patient = test_submit(lane, 3, 1, 1, 2);
    usleep(510000);
    fake_open_gate();
    test_wait(3);
    ck_assert_int_eq(test_status(running), MT_TIMEOUT);
    ck_assert_int_eq(test_status(queued), MT_TIMEOUT);
    ck_assert(!fake_was_admitted(queued->sentences[0]));
    test_expect_decoded(patient);
    mt_engine_stats(test_engine, &stats);
    ck_assert_uint_eq(stats.n_jobs_expired, 2);
    test_finish();
}
END_TEST

START_TEST(a_job_that_expired_before_it_came_is_not_admitted)
{
    start(1, 4, 100);
    struct test_job *late = test_make(lane, 1, 1, 1, 1);
    late->job.deadline_ns = test_now_ns() - 1;
    ck_assert_int_eq(mt_engine_submit(test_engine, &late->job, NULL), MT_OK);
    test_wait(1);
    ck_assert_int_eq(test_status(late), MT_TIMEOUT);
    ck_assert(!fake_was_admitted(late->sentences[0]));
    test_finish();
}
END_TEST

static void cancel_the_next(struct mt_job *job, enum mt_status status)
{
    struct test_job *next = (struct test_job *)job->user + 1;
    mt_engine_cancel(test_engine, &next->job);
    test_on_done(job, status);
}

/* Two jobs end in one step; while the first is being told, the second is cancelled. */
START_TEST(cancelling_a_job_that_has_ended_changes_nothing)
{
    start(1, 4, 100);
    fake_close_gate();
    test_submit(lane, 1, 1, 1, 5);
    fake_wait_for_batches(1);
    struct test_job *first = test_make(lane, 1, 1, 1, 1), *second = test_make(lane, 1, 1, 1, 1);
    first->job.on_done = cancel_the_next;
    ck_assert_int_eq(mt_engine_submit(test_engine, &first->job, NULL), MT_OK);
    ck_assert_int_eq(mt_engine_submit(test_engine, &second->job, NULL), MT_OK);
    fake_open_gate();
    test_wait(3);
    ck_assert_uint_eq(first->n_done_before + 1, second->n_done_before);
    test_expect_decoded(first);
    test_expect_decoded(second);
    test_finish();
}
END_TEST

/* Cancels at random moments, holding a lock that on_done takes, as the server does: whatever the
 * moment, on_done is called once. */
START_TEST(cancelling_at_any_moment_is_safe)
{
    start(2, 4, 4096);
    for (size_t i = 0; i < 600; i++) {
        struct test_job *test = test_submit(lane, i % 3, 1 + i % 4, 1, 1 + i % 5);
        pthread_mutex_lock(&test_mutex);
        struct test_job *victim = &test_jobs[i * 7919 % (i + 1)];
        if (!victim->n_calls)
            mt_engine_cancel(test_engine, &victim->job);
        if (i % 3 == 0 && !test->n_calls)
            mt_engine_cancel(test_engine, &test->job);
        pthread_mutex_unlock(&test_mutex);
    }
    test_wait(600);
    size_t n_cancelled = 0;
    for (size_t i = 0; i < 600; i++) {
        enum mt_status status = test_status(&test_jobs[i]);
        n_cancelled += status == MT_CANCELLED;
        if (!status)
            test_expect_decoded(&test_jobs[i]);
        else
            ck_assert_int_eq(status, MT_CANCELLED);
    }
    ck_assert_uint_gt(n_cancelled, 0);
    test_finish();
}
END_TEST

/* --- the end --- */

START_TEST(destroying_cancels_what_is_left)
{
    start(2, 4, 100);
    for (size_t i = 0; i < 4; i++) /* wholly in flight */
        test_submit(lane, i, 1, 1, LONG);
    while (fake_admitted(NULL, 0) < 4)
        usleep(1000);
    for (size_t i = 0; i < 20; i++) /* partly, or waiting */
        test_submit(lane, i, 2, 1, LONG);
    usleep(5000);
    test_finish();
    ck_assert_uint_eq(test_n_done(), 24);
    for (size_t i = 0; i < 24; i++)
        ck_assert_int_eq(test_status(&test_jobs[i]), MT_CANCELLED);
}
END_TEST

START_TEST(destroys_an_engine_that_never_worked)
{
    mt_engine_destroy(NULL);
    start(3, 4, 100);
    test_finish();
}
END_TEST

static void submit_next(struct mt_job *job, enum mt_status status)
{
    struct test_job *next = (struct test_job *)job->user + 1;
    test_on_done(job, status);
    if (next->sentences && mt_engine_submit(test_engine, &next->job, NULL))
        abort();
}

/* Guarded by mutex: what on_progress saw. */
static size_t n_progress, n_told;

static void watch_progress(struct mt_job *job)
{
    struct test_job *test = job->user;
    struct mt_progress progress = mt_sentence_progress(test->sentences[0]);
    pthread_mutex_lock(&test_mutex);
    ck_assert_int_eq(test->n_calls, 0); /* of on_done */
    ck_assert_uint_gt(progress.n_ids, n_told);
    for (size_t i = n_told; i < progress.n_ids; i++)
        ck_assert_int_eq(progress.ids[i], 10 + (int)i);
    ck_assert_int_eq(progress.has_ended, progress.n_ids == 5);
    n_told = progress.n_ids;
    n_progress++;
    pthread_mutex_unlock(&test_mutex);
}

START_TEST(progress_is_told_step_by_step_to_those_who_ask)
{
    start(1, 4, 100);
    fake_close_gate();
    struct test_job *silent = test_submit(lane, 1, 1, 1, 7);
    struct test_job *followed = test_make(lane, 2, 1, 1, 5);
    followed->job.on_progress = watch_progress;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_engine_submit(test_engine, &followed->job, &err), MT_OK);
    for (size_t i = 0; i < 12; i++)
        fake_allow_steps(1);
    fake_open_gate();
    test_wait(2);
    test_expect_decoded(silent);
    test_expect_decoded(followed);
    ck_assert_uint_eq(n_progress, 5);
    ck_assert_uint_eq(n_told, 5);
    test_finish();
}
END_TEST

START_TEST(on_done_may_submit)
{
    enum { N = 100 };
    start(2, 4, 4);
    for (size_t i = 0; i < N; i++)
        test_make(lane, 1, 1, 1, 1)->job.on_done = submit_next;
    ck_assert_int_eq(mt_engine_submit(test_engine, &test_jobs[0].job, NULL), MT_OK);
    test_wait(N);
    test_expect_decoded(&test_jobs[N - 1]);
    test_finish();
}
END_TEST

static void *submit_many(void *argument)
{
    struct test_job *first = argument;
    for (size_t i = 0; i < 100; i++)
        while (mt_engine_submit(test_engine, &first[i].job, NULL))
            usleep(100);
    return NULL;
}

START_TEST(many_threads_submit_at_once)
{
    pthread_t threads[8];
    start(2, 8, 32);
    for (size_t i = 0; i < 800; i++)
        test_make(lane, i / 100, 1 + i % 3, 1, 1 + i % 4);
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, submit_many, &test_jobs[100 * i]), 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    test_wait(800);
    for (size_t i = 0; i < 800; i++)
        test_expect_decoded(&test_jobs[i]);
    test_finish();
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

Suite *suite_engine(void)
{
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, decodes_every_sentence_once, 0, 3);
    tcase_add_test(tcase, a_short_sentence_overtakes_a_long_one);
    tcase_add_test(tcase, a_job_is_done_when_its_last_sentence_is);
    tcase_add_test(tcase, a_document_does_not_hold_up_another_client);
    tcase_add_test(tcase, the_expected_wait_is_of_what_waits);
    tcase_add_test(tcase, a_job_is_told_where_its_time_went);
    tcase_add_test(tcase, a_wide_sentence_is_not_starved);
    tcase_add_test(tcase, idle_workers_share_what_comes);
    tcase_add_test(tcase, spare_workers_take_sentences_where_there_are_enough_for_all);
    tcase_add_test(tcase, a_crowd_that_has_gone_leaves_the_team_to_others);
    tcase_add_test(tcase, workers_share_by_rows);
    tcase_add_test(tcase, a_worker_whose_team_is_held_up_works_alone_for_a_while);
    tcase_add_test(tcase, a_team_that_waited_a_moment_goes_on_as_a_team);
    tcase_add_test(tcase, a_job_is_told_whether_it_was_the_last);
    tcase_add_test(tcase, a_wide_sentence_is_work_for_one_worker);
    tcase_add_test(tcase, spare_workers_and_others_decode_every_sentence_once);
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
    tcase_add_test(tcase, destroying_cancels_what_is_left);
    tcase_add_test(tcase, destroys_an_engine_that_never_worked);
    tcase_add_test(tcase, progress_is_told_step_by_step_to_those_who_ask);
    tcase_add_test(tcase, on_done_may_submit);
    tcase_add_test(tcase, many_threads_submit_at_once);
    tcase_add_test(tcase, default_threads_cover_the_cores_in_teams_of_at_most_four);
    suite_add_tcase(suite, tcase);
    return suite;
}
