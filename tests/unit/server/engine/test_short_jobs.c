#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>

/* However long what is in the batch stays there, and however many wait for its places. */
START_TEST(a_short_job_begins_beside_long_ones_of_its_client)
{
    test_start(1, 16, 1000);
    struct mt_lane *lane = test_attach(NULL);
    fake_close_gate();
    struct test_job *first = test_submit(lane, 1, 100, 1, 10000);
    fake_wait_for_batches(1);
    struct test_job *second = test_submit(lane, 1, 100, 1, 10000);
    fake_allow_steps(1);
    fake_wait_for_batches(1);
    struct test_job *single = test_submit(lane, 1, 1, 1, 3);
    fake_allow_steps(5); /* the step under way, its three, and one more to be noticed */
    test_wait(1);
    test_expect_decoded(single);
    ck_assert_int_eq(first->n_calls + second->n_calls, 0);
    fake_wait_for_batches(1);
    ck_assert_uint_eq(fake_admitted(NULL, 0), 14 + 1); /* nobody else got the place that it left */
    mt_engine_cancel(test_engine, &first->job);
    mt_engine_cancel(test_engine, &second->job);
    fake_open_gate();
    test_wait(3);
    test_finish();
}
END_TEST

/* Whether steps for few rows are worth it, and how many of the document's steps a short job may see. */
static const struct {
    int64_t fixed_ns, row_ns;
    size_t n_least, n_most;
} step_times[] = {
    /* A step of all takes as long as 15 of the short job alone: it gets some 16 out of two. */
    {0, 2000000, 2, 20},
    /* All steps take as long. */
    {2000000, 0, 30, 60},
};

static const struct mt_sentence *document_sentence;
static size_t n_document_steps; /* when the short job had ended */

static void count_document_steps(struct mt_job *job, enum mt_status status)
{
    n_document_steps = fake_n_steps(document_sentence);
    test_on_done(job, status);
}

START_TEST(a_short_job_has_steps_of_its_own_where_these_are_short)
{
    enum { N_STEPS = 60 };
    test_start(1, 16, 1000);
    struct mt_lane *lane = test_attach(NULL);
    fake_close_gate();
    struct test_job *document = test_submit(lane, 1, 100, 1, LONG);
    fake_wait_for_batches(1);
    fake_take_time(step_times[_i].fixed_ns, step_times[_i].row_ns);
    struct test_job *short_job = test_make(lane, 1, 1, 1, N_STEPS);
    document_sentence = document->sentences[0];
    short_job->job.on_done = count_document_steps;
    ck_assert_int_eq(mt_engine_submit(test_engine, &short_job->job, NULL), MT_OK);
    fake_open_gate();
    test_wait(1);
    fake_take_time(0, 0);
    test_expect_decoded(short_job);
    ck_assert_uint_ge(n_document_steps, step_times[_i].n_least);
    ck_assert_uint_le(n_document_steps, step_times[_i].n_most);
    mt_engine_cancel(test_engine, &document->job);
    test_wait(2);
    test_finish();
}
END_TEST

Suite *suite_short_jobs(void)
{
    Suite *suite = suite_create("short_jobs");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, a_short_job_begins_beside_long_ones_of_its_client);
    tcase_add_loop_test(tcase, a_short_job_has_steps_of_its_own_where_these_are_short, 0,
                        sizeof step_times / sizeof step_times[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
