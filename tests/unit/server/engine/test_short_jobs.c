#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>

/* However long what is in the batch stays there, and however many wait for its places. */
START_TEST(a_brief_job_begins_beside_long_ones_of_its_client)
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

/* Whether steps for few rows are worth it, and how many of the document's steps a brief job may see. */
static const struct {
    int64_t fixed_ns, row_ns;
    size_t n_least, n_most;
} step_times[] = {
    /* A step of all takes as long as 15 of the brief job alone: it gets some 16 out of two. */
    {0, 2000000, 2, 20},
    /* All steps take as long. */
    {2000000, 0, 30, 60},
};

START_TEST(a_brief_job_has_steps_of_its_own_where_these_are_short)
{
    enum { N_STEPS = 60 };
    test_start(1, 16, 1000);
    struct mt_lane *lane = test_attach(NULL);
    fake_close_gate();
    struct test_job *document = test_submit(lane, 1, 100, 1, LONG);
    fake_wait_for_batches(1);
    fake_take_time(step_times[_i].fixed_ns, step_times[_i].row_ns);
    struct test_job *brief = test_submit(lane, 1, 1, 1, N_STEPS);
    fake_open_gate();
    test_wait(1);
    size_t n_steps = fake_n_steps(document->sentences[0]);
    fake_take_time(0, 0);
    test_expect_decoded(brief);
    ck_assert_uint_ge(n_steps, step_times[_i].n_least);
    /* What the document does until this thread has a processor comes on top. */
    ck_assert_uint_le(n_steps, step_times[_i].n_most + 20);
    mt_engine_cancel(test_engine, &document->job);
    test_wait(2);
    test_finish();
}
END_TEST

Suite *suite_brief(void)
{
    Suite *suite = suite_create("brief");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, a_brief_job_begins_beside_long_ones_of_its_client);
    tcase_add_loop_test(tcase, a_brief_job_has_steps_of_its_own_where_these_are_short, 0,
                        sizeof step_times / sizeof step_times[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
