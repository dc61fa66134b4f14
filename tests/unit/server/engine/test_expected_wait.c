#include "server/engine/expected_wait.h"

#include <check.h>
#include <math.h>

#define MS INT64_C(1000000)
#define START_NS (1000 * MS)

/* A rush in which a cost of `taken` goes every step_ms. Returns the time of its last turn. */
static int64_t rush(struct mt_expected_wait *wait, int64_t now_ns, int64_t n_ms, int64_t step_ms,
                    uint64_t taken)
{
    mt_expected_wait_count(wait, 1000, true, now_ns); /* what comes at once at its beginning */
    for (int64_t ms = step_ms; ms <= n_ms; ms += step_ms)
        mt_expected_wait_count(wait, taken, true, now_ns + ms * MS);
    return now_ns + n_ms / step_ms * step_ms * MS;
}

static void expect_near(double value, double expected, double share)
{
    ck_assert_msg(fabs(value - expected) <= share * expected, "%g, expected about %g", value,
                  expected);
}

START_TEST(nothing_waits_for_nothing)
{
    struct mt_expected_wait wait = {0};
    ck_assert(mt_expected_wait_seconds(&wait, 0, 0, START_NS) == 0);
    int64_t now = rush(&wait, START_NS, 5000, 10, 20);
    ck_assert(mt_expected_wait_seconds(&wait, 0, 100, now) == 0);
}
END_TEST

/* A cost of 20 each 10 ms is 2000 a second; 6000 of them wait 3 s. What was taken at the rush's
 * beginning, into an empty batch, counts for nothing. */
START_TEST(it_is_what_waits_over_the_rate)
{
    static const int64_t lengths_ms[] = {200, 1000, 10000, 60000};
    struct mt_expected_wait wait = {0};
    int64_t now = rush(&wait, START_NS, lengths_ms[_i], 10, 20);
    expect_near(mt_expected_wait_seconds(&wait, 6000, 100, now), 3, 0.06);
    expect_near(mt_expected_wait_seconds(&wait, 12000, 100, now), 6, 0.06);
}
END_TEST

/* Sentences end together, so that much is taken at some turns and nothing at most. */
START_TEST(it_is_steady_where_sentences_go_in_bunches)
{
    struct mt_expected_wait wait = {0};
    int64_t now = rush(&wait, START_NS, 20000, 10, 20);
    for (int i = 1; i <= 2000; i++) {
        now += 10 * MS;
        mt_expected_wait_count(&wait, i % 50 == 0 ? 1000 : 0, true, now);
        expect_near(mt_expected_wait_seconds(&wait, 6000, 100, now), 3, 0.06);
    }
}
END_TEST

START_TEST(it_follows_a_change_within_the_window)
{
    struct mt_expected_wait wait = {0};
    int64_t now = rush(&wait, START_NS, 60000, 10, 20);
    for (int i = 1; i <= 3000; i++)
        mt_expected_wait_count(&wait, 10, true, now + i * 10 * MS);
    expect_near(mt_expected_wait_seconds(&wait, 6000, 100, now + 30000 * MS), 6, 0.06);
}
END_TEST

/* Else the first burst after a quiet hour would look like a wait of hours. */
START_TEST(quiet_times_do_not_count)
{
    struct mt_expected_wait wait = {0};
    int64_t now = rush(&wait, START_NS, 20000, 10, 20);
    mt_expected_wait_count(&wait, 20, false, now + 10 * MS);
    now += 3600000 * MS;
    for (int i = 0; i < 1000; i++)
        mt_expected_wait_count(&wait, 1, false, now + i * 1000 * MS);
    expect_near(mt_expected_wait_seconds(&wait, 6000, 100, now + 2000000 * MS), 3, 0.06);
}
END_TEST

/* In the first rush ever, until the first sentence ends. */
START_TEST(what_runs_stands_for_the_rate_until_there_is_one)
{
    struct mt_expected_wait wait = {0};
    mt_expected_wait_count(&wait, 640, true, START_NS);
    expect_near(mt_expected_wait_seconds(&wait, 6400, 640, START_NS + 200 * MS), 2, 0.02);
}
END_TEST

START_TEST(it_grows_while_nothing_moves_up_to_an_hour)
{
    struct mt_expected_wait wait = {0};
    int64_t now = rush(&wait, START_NS, 20000, 10, 20);
    double before = mt_expected_wait_seconds(&wait, 6000, 100, now);
    for (int seconds = 1; seconds <= 100; seconds++) {
        double value = mt_expected_wait_seconds(&wait, 6000, 1, now + seconds * 1000 * MS);
        ck_assert(value > before || value >= MT_WAIT_MAX_SECONDS);
        before = value;
    }
    ck_assert(mt_expected_wait_seconds(&wait, UINT64_MAX, 0, now) <= MT_WAIT_MAX_SECONDS);
    ck_assert(mt_expected_wait_seconds(&wait, 6000, 0, INT64_MAX) <= MT_WAIT_MAX_SECONDS);
}
END_TEST

Suite *suite_expected_wait(void)
{
    Suite *suite = suite_create("expected_wait");
    TCase *tcase = tcase_create("expected_wait");
    tcase_add_test(tcase, nothing_waits_for_nothing);
    tcase_add_loop_test(tcase, it_is_what_waits_over_the_rate, 0, 4);
    tcase_add_test(tcase, it_is_steady_where_sentences_go_in_bunches);
    tcase_add_test(tcase, it_follows_a_change_within_the_window);
    tcase_add_test(tcase, quiet_times_do_not_count);
    tcase_add_test(tcase, what_runs_stands_for_the_rate_until_there_is_one);
    tcase_add_test(tcase, it_grows_while_nothing_moves_up_to_an_hour);
    suite_add_tcase(suite, tcase);
    return suite;
}
