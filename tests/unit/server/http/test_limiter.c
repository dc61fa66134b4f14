#include "server/http/limiter.h"

#include <check.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define START (INT64_C(123456) * SECOND)

static struct mt_limiter *create(size_t max_clients)
{
    struct mt_limiter *limiter;
    ck_assert_int_eq(mt_limiter_create(max_clients, &limiter, NULL), MT_OK);
    return limiter;
}

static bool take(struct mt_limiter *limiter, uint64_t client, const struct mt_limits *limits,
                 uint64_t n_requests, int64_t now_ns, struct mt_limiter_refusal *refusal)
{
    const uint64_t amounts[MT_N_RATES] = {
        [MT_RATE_MINUTE] = n_requests,
        [MT_RATE_HOUR] = n_requests,
        [MT_RATE_DAY] = n_requests,
    };
    return mt_limiter_take(limiter, client, limits, amounts, now_ns, refusal);
}

START_TEST(no_limit_is_no_limit)
{
    const struct mt_limits limits = {.rates = {0}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    for (int i = 0; i < 1000; i++)
        ck_assert(take(limiter, 7, &limits, 1000000, START, &refusal));
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(a_period_may_be_used_at_once_and_then_it_drips)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 20}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    for (int i = 0; i < 20; i++)
        ck_assert(take(limiter, 7, &limits, 1, START, &refusal));
    ck_assert(!take(limiter, 7, &limits, 1, START, &refusal));
    ck_assert_int_eq(refusal.rate, MT_RATE_MINUTE);
    ck_assert_int_eq(refusal.retry_seconds, 3);
    ck_assert(!take(limiter, 7, &limits, 1, START + 2 * SECOND, &refusal));
    ck_assert_int_eq(refusal.retry_seconds, 1);
    /* What is refused costs nothing: at the time that was named there is room, for exactly one. */
    ck_assert(take(limiter, 7, &limits, 1, START + 3 * SECOND, &refusal));
    ck_assert(!take(limiter, 7, &limits, 1, START + 3 * SECOND, &refusal));
    /* After a pause of any length: one period's worth, no more. */
    for (int i = 0; i < 20; i++)
        ck_assert(take(limiter, 7, &limits, 1, START + 90000 * SECOND, &refusal));
    ck_assert(!take(limiter, 7, &limits, 1, START + 90000 * SECOND, &refusal));
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(over_a_long_time_the_rate_is_kept_to_the_request)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 7}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    int n = 0;
    for (int64_t ms = 0; ms < 3600 * 1000; ms += 17)
        n += take(limiter, 7, &limits, 1, START + ms * 1000000, &refusal);
    /* 7 at the start, and 7 in each of the 60 minutes; the last is due as the hour ends. */
    ck_assert_int_ge(n, 7 + 7 * 60 - 1);
    ck_assert_int_le(n, 7 + 7 * 60);
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(a_batch_costs_its_texts)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 20}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    ck_assert(take(limiter, 7, &limits, 15, START, &refusal));
    ck_assert(!take(limiter, 7, &limits, 6, START, &refusal));
    ck_assert_int_eq(refusal.retry_seconds, 3);
    ck_assert(take(limiter, 7, &limits, 5, START, &refusal));
    /* One that never fits. */
    ck_assert(!take(limiter, 8, &limits, 21, START, &refusal));
    ck_assert_int_le(refusal.retry_seconds, 60);
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(all_limits_count_and_the_one_that_is_full_is_named)
{
    const struct mt_limits limits = {.rates = {10, 15, 18, 0, 0}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    ck_assert(take(limiter, 7, &limits, 10, START, &refusal));
    ck_assert(!take(limiter, 7, &limits, 10, START + 60 * SECOND, &refusal));
    ck_assert_int_eq(refusal.rate, MT_RATE_HOUR);
    ck_assert(take(limiter, 7, &limits, 5, START + 60 * SECOND, &refusal));
    ck_assert(!take(limiter, 7, &limits, 10, START + 7200 * SECOND, &refusal));
    ck_assert_int_eq(refusal.rate, MT_RATE_DAY);
    ck_assert_int_gt(refusal.retry_seconds, 7000);
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(clients_do_not_share)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 1}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(1000);
    for (uint64_t client = 1; client <= 1000; client++)
        ck_assert(take(limiter, client, &limits, 1, START, &refusal));
    for (uint64_t client = 1; client <= 1000; client++)
        ck_assert(!take(limiter, client, &limits, 1, START, &refusal));
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(the_one_that_was_quiet_for_longest_is_forgotten)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 1}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(3);
    for (uint64_t client = 1; client <= 3; client++)
        ck_assert(take(limiter, client, &limits, 1, START, &refusal));
    ck_assert(!take(limiter, 1, &limits, 1, START, &refusal)); /* 1 is the newest now */
    ck_assert(take(limiter, 4, &limits, 1, START, &refusal));  /* 2 goes */
    ck_assert(!take(limiter, 3, &limits, 1, START, &refusal));
    ck_assert(!take(limiter, 1, &limits, 1, START, &refusal));
    ck_assert(take(limiter, 2, &limits, 1, START, &refusal)); /* 4 goes */
    ck_assert(take(limiter, 4, &limits, 1, START, &refusal));
    mt_limiter_destroy(limiter);
}
END_TEST

/* Against a plain list of who was seen when. */
START_TEST(a_small_table_under_many_clients_stays_a_table)
{
    enum { N = 8, CLIENTS = 40, STEPS = 20000 };
    const struct mt_limits limits = {.rates = {[MT_RATE_DAY] = 1000000}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(N);
    uint64_t counts[CLIENTS] = {0}, random = 1;
    int last[CLIENTS] = {0};
    for (int step = 1; step <= STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t client = (random >> 33) % CLIENTS;
        size_t n_newer = 0;
        for (size_t i = 0; i < CLIENTS; i++)
            n_newer += i != client && last[i] > last[client];
        counts[client] = last[client] > 0 && n_newer < N ? counts[client] + 1 : 1;
        last[client] = step;
        ck_assert(take(limiter, client + 1, &limits, 1, START, &refusal));
        ck_assert_uint_eq(mt_limiter_level(limiter, client + 1, &limits, MT_RATE_DAY, START),
                          counts[client]);
    }
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(what_is_given_back_can_be_taken_again)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_CHARS] = 100}};
    const uint64_t amounts[MT_N_RATES] = {[MT_RATE_CHARS] = 80};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    ck_assert(mt_limiter_take(limiter, 7, &limits, amounts, START, &refusal));
    ck_assert_uint_eq(mt_limiter_level(limiter, 7, &limits, MT_RATE_CHARS, START), 80);
    ck_assert(!mt_limiter_take(limiter, 7, &limits, amounts, START, &refusal));
    mt_limiter_give_back(limiter, 7, MT_RATE_CHARS, 80);
    ck_assert_uint_eq(mt_limiter_level(limiter, 7, &limits, MT_RATE_CHARS, START), 0);
    ck_assert(mt_limiter_take(limiter, 7, &limits, amounts, START, &refusal));
    mt_limiter_give_back(limiter, 7, MT_RATE_CHARS, 1000);
    mt_limiter_give_back(limiter, 99, MT_RATE_CHARS, 1000);
    ck_assert_uint_eq(mt_limiter_level(limiter, 7, &limits, MT_RATE_CHARS, START), 0);
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(bans_end)
{
    struct mt_limiter *limiter = create(4);
    ck_assert_int_eq(mt_limiter_banned_seconds(limiter, 7, START), 0);
    mt_limiter_ban(limiter, 7, START + 10 * SECOND);
    ck_assert_int_eq(mt_limiter_banned_seconds(limiter, 7, START), 10);
    ck_assert_int_eq(mt_limiter_banned_seconds(limiter, 8, START), 0);
    ck_assert_int_eq(mt_limiter_banned_seconds(limiter, 7, START + 10 * SECOND - 1), 1);
    ck_assert_int_eq(mt_limiter_banned_seconds(limiter, 7, START + 10 * SECOND), 0);
    mt_limiter_destroy(limiter);
}
END_TEST

START_TEST(a_clock_that_stands_or_goes_back_gives_nothing_away)
{
    const struct mt_limits limits = {.rates = {[MT_RATE_MINUTE] = 2}};
    struct mt_limiter_refusal refusal;
    struct mt_limiter *limiter = create(4);
    ck_assert(take(limiter, 7, &limits, 2, START, &refusal));
    ck_assert(!take(limiter, 7, &limits, 1, START - 100 * SECOND, &refusal));
    ck_assert(!take(limiter, 7, &limits, 1, START, &refusal));
    mt_limiter_destroy(limiter);
}
END_TEST

Suite *suite_limiter(void)
{
    Suite *suite = suite_create("limiter");
    TCase *tcase = tcase_create("limiter");
    tcase_add_test(tcase, no_limit_is_no_limit);
    tcase_add_test(tcase, a_period_may_be_used_at_once_and_then_it_drips);
    tcase_add_test(tcase, over_a_long_time_the_rate_is_kept_to_the_request);
    tcase_add_test(tcase, a_batch_costs_its_texts);
    tcase_add_test(tcase, all_limits_count_and_the_one_that_is_full_is_named);
    tcase_add_test(tcase, clients_do_not_share);
    tcase_add_test(tcase, the_one_that_was_quiet_for_longest_is_forgotten);
    tcase_add_test(tcase, a_small_table_under_many_clients_stays_a_table);
    tcase_add_test(tcase, what_is_given_back_can_be_taken_again);
    tcase_add_test(tcase, bans_end);
    tcase_add_test(tcase, a_clock_that_stands_or_goes_back_gives_nothing_away);
    suite_add_tcase(suite, tcase);
    return suite;
}
