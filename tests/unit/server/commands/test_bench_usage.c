#include "server/commands/bench_usage.h"

#include <check.h>
#include <stdint.h>
#include <time.h>

static const char *const lines[] = {
    "cpu  4000 40 800 80000 400 20 20 100 7 0\n", /* of all: not looked at */
    "cpu0 1000 10 200 3000 50 5 5 30 7 0\n",
    "cpu1 2000 0 0 2000 0 0 0 0 0 0\n",
    "cpu2 9000 9000 9000 9000 9000 9000 9000 9000 0 0\n", /* not ours */
    "intr 1 2 3 4 5 6 7 8 9\n",
};

static cpu_set_t first_two(void)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    CPU_SET(1, &processors);
    return processors;
}

START_TEST(times_of_our_processors_are_added)
{
    cpu_set_t processors = first_two();
    struct mt_bench_usage usage = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert(mt_bench_usage_add(&usage, lines[i], &processors, 100));
    ck_assert_double_eq_tol(usage.used, 12.20 + 20, 1e-9);
    ck_assert_double_eq_tol(usage.stolen, 0.30, 1e-9);
    ck_assert_double_eq_tol(usage.all, 12.20 + 0.30 + 30.50 + 40, 1e-9);
}
END_TEST

START_TEST(a_line_that_says_less_is_no_answer)
{
    cpu_set_t processors = first_two();
    struct mt_bench_usage usage = {0};
    ck_assert(!mt_bench_usage_add(&usage, "cpu1 1 2 3 4 5 6 7\n", &processors, 100));
    ck_assert(!mt_bench_usage_add(&usage, "cpu0 \n", &processors, 100));
    ck_assert(!mt_bench_usage_add(&usage, "cpu0 1 2 three 4 5 6 7 8\n", &processors, 100));
    ck_assert(mt_bench_usage_add(&usage, "cpu99999 1\n", &processors, 100));
}
END_TEST

START_TEST(shares_are_what_others_and_the_host_took)
{
    struct mt_bench_usage before = {.all = 100, .used = 50, .stolen = 1, .own = 3};
    struct mt_bench_usage after = {.all = 120, .used = 65, .stolen = 2, .own = 13};
    struct mt_bench_shares shares = mt_bench_shares(&before, &after);
    ck_assert_double_eq_tol(shares.others, 0.25, 1e-9);
    ck_assert_double_eq_tol(shares.host, 0.05, 1e-9);
    after.used = 59.9; /* ticks are coarser than our own clock */
    ck_assert_double_eq(mt_bench_shares(&before, &after).others, 0);
    ck_assert_double_eq(mt_bench_shares(&before, &before).host, 0);
}
END_TEST

/* This process spins for a while: its time is its own, not others'. */
START_TEST(our_own_time_is_told_apart)
{
    struct mt_bench_usage before, after;
    ck_assert(mt_bench_usage_now(&before));
    volatile uint64_t count = 0;
    while (clock() < (clock_t)(before.own * CLOCKS_PER_SEC) + CLOCKS_PER_SEC / 5)
        count++;
    ck_assert(mt_bench_usage_now(&after));
    ck_assert_double_ge(after.own - before.own, 0.19);
    ck_assert_double_ge(after.all - before.all, 0.15);
    ck_assert_double_ge(after.used - before.used, 0.1);
    /* Both are sums of hundredths of a second, which doubles round. */
    ck_assert_double_ge(after.all - before.all + 1e-6, after.used - before.used);
}
END_TEST

Suite *suite_bench_usage(void)
{
    Suite *suite = suite_create("bench_usage");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, times_of_our_processors_are_added);
    tcase_add_test(tcase, a_line_that_says_less_is_no_answer);
    tcase_add_test(tcase, shares_are_what_others_and_the_host_took);
    tcase_add_test(tcase, our_own_time_is_told_apart);
    suite_add_tcase(suite, tcase);
    return suite;
}
