#include "server/desk.h"

#include "base/clock.h"

#include <check.h>
#include <string.h>

#define N_PLACES 8

struct request {
    struct mt_desk_place place;
    int n_called;
};

struct fixture {
    struct mt_desk desk;
    struct request requests[N_PLACES];
};

static void count_call(struct mt_desk_place *place)
{
    ((struct request *)place)->n_called++;
}

static struct fixture make(void)
{
    return (struct fixture){.desk = {.call = count_call}};
}

static void join(struct fixture *f, int i, enum mt_desk_line line)
{
    mt_desk_join(&f->desk, &f->requests[i].place, line, 7, INT64_MAX);
}

static void leave(struct fixture *f, int i)
{
    mt_desk_leave(&f->desk, &f->requests[i].place);
}

/* Which one has the desk, and was called for it; -1: none. */
static int holder(const struct fixture *f)
{
    int found = -1;
    for (int i = 0; i < N_PLACES; i++) {
        if (!mt_desk_has(&f->desk, &f->requests[i].place))
            continue;
        ck_assert_int_eq(found, -1);
        ck_assert_int_eq(f->requests[i].n_called, 1);
        found = i;
    }
    return found;
}

START_TEST(one_at_a_time_in_the_order_of_arrival)
{
    struct fixture f = make();
    ck_assert_int_eq(holder(&f), -1);
    for (int i = 0; i < N_PLACES; i++)
        join(&f, i, MT_DESK_LONG);
    for (int i = 0; i < N_PLACES; i++) {
        ck_assert_int_eq(holder(&f), i);
        for (int k = i + 1; k < N_PLACES; k++)
            ck_assert_int_eq(f.requests[k].n_called, 0);
        leave(&f, i);
    }
    ck_assert_int_eq(holder(&f), -1);
}
END_TEST

START_TEST(who_leaves_may_come_again)
{
    struct fixture f = make();
    join(&f, 0, MT_DESK_LONG);
    join(&f, 1, MT_DESK_LONG);
    leave(&f, 0);
    f.requests[0].n_called = 0;
    join(&f, 0, MT_DESK_LONG);
    ck_assert_int_eq(holder(&f), 1);
    leave(&f, 1);
    ck_assert_int_eq(holder(&f), 0);
}
END_TEST

START_TEST(endings_go_first_and_long_ones_last)
{
    struct fixture f = make();
    join(&f, 0, MT_DESK_LONG);
    join(&f, 1, MT_DESK_LONG);
    join(&f, 3, MT_DESK_SHORT);
    join(&f, 2, MT_DESK_ENDINGS);
    ck_assert_int_eq(holder(&f), 0); /* who has the desk keeps it */
    leave(&f, 0);
    ck_assert_int_eq(holder(&f), 2);
    leave(&f, 2);
    ck_assert_int_eq(holder(&f), 3);
    leave(&f, 3);
    ck_assert_int_eq(holder(&f), 1);
}
END_TEST

/* Who comes behind many of one client, and what each of them asks for then. */
START_TEST(clients_take_turns)
{
    static const uint64_t clients[N_PLACES] = {1, 1, 1, 1, 2, 2, 3, 1};
    static const int expected[N_PLACES] = {0, 1, 4, 6, 2, 5, 3, 7};
    struct fixture f = make();
    for (int i = 0; i < N_PLACES; i++)
        mt_desk_join(&f.desk, &f.requests[i].place, MT_DESK_LONG, clients[i], INT64_MAX);
    for (int i = 0; i < N_PLACES; i++) {
        ck_assert_int_eq(holder(&f), expected[i]);
        leave(&f, expected[i]);
    }
    ck_assert_int_eq(holder(&f), -1);
}
END_TEST

START_TEST(nobody_is_ahead_for_having_come_seldom)
{
    struct fixture f = make();
    for (int i = 0; i < 100; i++) { /* rounds go by */
        mt_desk_join(&f.desk, &f.requests[i % 2].place, MT_DESK_LONG, 1, INT64_MAX);
        if (i > 0)
            leave(&f, (i + 1) % 2);
        f.requests[i % 2].n_called = 1;
    }
    ck_assert_int_eq(holder(&f), 1);
    f.requests[0].n_called = 0;
    mt_desk_join(&f.desk, &f.requests[0].place, MT_DESK_LONG, 1, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[2].place, MT_DESK_LONG, 2, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[3].place, MT_DESK_LONG, 2, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[4].place, MT_DESK_LONG, 2, INT64_MAX);
    leave(&f, 1);
    ck_assert_int_eq(holder(&f), 0);
    leave(&f, 0);
    ck_assert_int_eq(holder(&f), 2);
    leave(&f, 2);
    ck_assert_int_eq(holder(&f), 3);
}
END_TEST

/* Two who ask again as soon as they were served, and one that has asked twice. */
START_TEST(nobody_waits_for_ever_behind_others_who_ask_again)
{
    struct fixture f = make();
    mt_desk_join(&f.desk, &f.requests[0].place, MT_DESK_LONG, 1, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[1].place, MT_DESK_LONG, 1, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[2].place, MT_DESK_LONG, 2, INT64_MAX);
    mt_desk_join(&f.desk, &f.requests[3].place, MT_DESK_LONG, 3, INT64_MAX);
    leave(&f, 0);
    for (int i = 0; i < 10 && f.requests[1].n_called == 0; i++) {
        int which = mt_desk_has(&f.desk, &f.requests[2].place) ? 2 : 3;
        leave(&f, which);
        mt_desk_join(&f.desk, &f.requests[which].place, MT_DESK_LONG, (uint64_t)which, INT64_MAX);
    }
    ck_assert_int_eq(f.requests[1].n_called, 1);
}
END_TEST

START_TEST(short_ones_let_long_ones_go_first_now_and_then)
{
    struct fixture f = make();
    int n_before = 0;
    join(&f, 0, MT_DESK_SHORT);
    join(&f, 1, MT_DESK_SHORT);
    join(&f, 2, MT_DESK_LONG);
    while (!mt_desk_has(&f.desk, &f.requests[2].place)) {
        int which = mt_desk_has(&f.desk, &f.requests[0].place) ? 0 : 1;
        leave(&f, which);
        join(&f, which, MT_DESK_SHORT);
        ck_assert_int_lt(++n_before, 20);
    }
    ck_assert_int_gt(n_before, 2);
    leave(&f, 2);
    ck_assert(!mt_desk_has(&f.desk, &f.requests[2].place));
}
END_TEST

START_TEST(who_leaves_the_line_is_not_called)
{
    for (int gone = 1; gone < N_PLACES; gone++) {
        struct fixture f = make();
        for (int i = 0; i < N_PLACES; i++)
            join(&f, i, MT_DESK_LONG);
        leave(&f, gone);
        leave(&f, gone); /* it has nothing to leave any more */
        for (int i = 0; i < N_PLACES; i++) {
            if (i == gone)
                continue;
            ck_assert_int_eq(holder(&f), i);
            leave(&f, i);
        }
        ck_assert_int_eq(holder(&f), -1);
        ck_assert_int_eq(f.requests[gone].n_called, 0);
    }
}
END_TEST

START_TEST(who_is_late_is_told_so_in_line)
{
    struct fixture f = make();
    join(&f, 0, MT_DESK_LONG);
    join(&f, 1, MT_DESK_LONG);
    mt_desk_join(&f.desk, &f.requests[2].place, MT_DESK_LONG, 7, mt_now_ns() - 1);
    mt_desk_join(&f.desk, &f.requests[3].place, MT_DESK_LONG, 7,
                 mt_now_ns() + INT64_C(3600000000000));
    leave(&f, 0);
    ck_assert_int_eq(holder(&f), 1);
    ck_assert_int_eq(f.requests[2].n_called, 1);
    ck_assert(!mt_desk_has(&f.desk, &f.requests[2].place));
    ck_assert_int_eq(f.requests[3].n_called, 0);
    leave(&f, 2);
    leave(&f, 1);
    ck_assert_int_eq(holder(&f), 3);
}
END_TEST

START_TEST(work_beside_the_desk_takes_a_share_of_the_time)
{
    const int64_t ms = 1000000;
    struct fixture f = make();
    int64_t now = mt_now_ns();
    ck_assert(mt_desk_has_time_beside(&f.desk, now));
    mt_desk_count_beside(&f.desk, 9 * ms);
    ck_assert(mt_desk_has_time_beside(&f.desk, now));
    mt_desk_count_beside(&f.desk, 9 * ms);
    ck_assert(!mt_desk_has_time_beside(&f.desk, now));
    ck_assert(!mt_desk_has_time_beside(&f.desk, now + 15 * ms));
    ck_assert(mt_desk_has_time_beside(&f.desk, now + 17 * ms));
    /* What was not used is not saved up. */
    now += 1000 * ms;
    ck_assert(mt_desk_has_time_beside(&f.desk, now));
    mt_desk_count_beside(&f.desk, 10 * ms);
    ck_assert(!mt_desk_has_time_beside(&f.desk, now));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("desk");
    TCase *all = tcase_create("all");
    tcase_add_test(all, one_at_a_time_in_the_order_of_arrival);
    tcase_add_test(all, who_leaves_may_come_again);
    tcase_add_test(all, endings_go_first_and_long_ones_last);
    tcase_add_test(all, clients_take_turns);
    tcase_add_test(all, nobody_is_ahead_for_having_come_seldom);
    tcase_add_test(all, nobody_waits_for_ever_behind_others_who_ask_again);
    tcase_add_test(all, short_ones_let_long_ones_go_first_now_and_then);
    tcase_add_test(all, who_leaves_the_line_is_not_called);
    tcase_add_test(all, who_is_late_is_told_so_in_line);
    tcase_add_test(all, work_beside_the_desk_takes_a_share_of_the_time);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed > 0;
}
