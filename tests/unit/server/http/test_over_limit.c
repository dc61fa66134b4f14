#include "server/http/connections.h"

#include "base/clock.h"
#include "server/http/client.h"
#include "tests/unit/server/http/connection_pairs.h"

#include <check.h>

/* Longer than a connection that has just become idle is spared. */
#define IDLE_MS 120

/* The times that connections.c gives an idle connection and a fresh one. A busy machine may let them
 * go by in the middle of a test, which then cannot tell what it wanted to. */
#define IDLE_GRACE_MS 100
#define FRESH_GRACE_MS 1000

static bool has_gone_by(int ms, int64_t since_ns)
{
    return mt_now_ns() - since_ns >= ms * INT64_C(1000000);
}

static const struct mt_connections_options patient = {.max_connections = 4, .max_over_limit = 2};

static struct mt_connections *create(const struct mt_connections_options *options)
{
    struct mt_connections *connections;
    ck_assert_int_eq(mt_connections_create(options, &connections, NULL), MT_OK);
    return connections;
}

START_TEST(connections_over_the_limit_are_marked_and_room_is_made)
{
    struct mt_connections *connections = create(&patient);
    struct pair pairs[8];
    struct mt_connection *slots[8];
    for (size_t i = 0; i < 8; i++)
        pairs[i] = connect_pair();
    for (size_t i = 0; i < 4; i++) {
        slots[i] = mt_connections_add(connections, pairs[i].server, NULL);
        mt_connections_enter(connections, slots[i], MT_PHASE_WORK);
        ck_assert(!mt_connection_over_limit(slots[i]));
    }
    slots[4] = mt_connections_add(connections, pairs[4].server, NULL);
    ck_assert(mt_connection_over_limit(slots[4]));
    mt_connections_remove(connections, slots[4]);

    /* The one that has been idle for longest goes. */
    mt_connections_enter(connections, slots[2], MT_PHASE_IDLE);
    sleep_ms(2);
    mt_connections_enter(connections, slots[1], MT_PHASE_IDLE);
    sleep_ms(IDLE_MS);
    slots[4] = mt_connections_add(connections, pairs[4].server, NULL);
    ck_assert(!mt_connection_over_limit(slots[4]));
    ck_assert(becomes_shut(connections, &pairs[2], 1000) && !is_shut(&pairs[1]));
    slots[5] = mt_connections_add(connections, pairs[5].server, NULL);
    ck_assert(!mt_connection_over_limit(slots[5]));
    ck_assert(becomes_shut(connections, &pairs[1], 1000));
    ck_assert_ptr_null(mt_connections_add(connections, pairs[6].server, NULL));
    for (size_t i = 0; i < 6; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(room_is_not_made_at_the_cost_of_requests_on_their_way)
{
    struct mt_connections *connections =
        create(&(struct mt_connections_options){.max_connections = 3, .max_over_limit = 2});
    struct pair pairs[5];
    struct mt_connection *slots[5];
    for (size_t i = 0; i < 5; i++)
        pairs[i] = connect_pair();
    for (size_t i = 0; i < 3; i++)
        slots[i] = mt_connections_add(connections, pairs[i].server, NULL);
    /* The first has sent, the last has just had its reply: only the one between may go. */
    for (size_t i = 0; i < 2; i++)
        mt_connections_enter(connections, slots[i], MT_PHASE_IDLE);
    mt_connections_enter(connections, slots[2], MT_PHASE_WORK);
    ck_assert_int_eq(send(pairs[0].client, "G", 1, 0), 1);
    sleep_ms(IDLE_MS);
    slots[3] = mt_connections_add(connections, pairs[3].server, NULL);
    ck_assert(!mt_connection_over_limit(slots[3]));
    ck_assert(becomes_shut(connections, &pairs[1], 1000));
    int64_t idle_ns = mt_now_ns();
    mt_connections_enter(connections, slots[2], MT_PHASE_IDLE);
    slots[4] = mt_connections_add(connections, pairs[4].server, NULL);
    if (!has_gone_by(IDLE_GRACE_MS, idle_ns)) {
        ck_assert_int_eq(mt_connection_over_limit(slots[4]), MT_OVER_LIMIT_OF_ALL);
        ck_assert(!is_shut(&pairs[0]) && !is_shut(&pairs[2]));
        /* But those that have left make room at once. */
        mt_connections_remove(connections, slots[4]);
        mt_connections_enter(connections, slots[2], MT_PHASE_IDLE);
        shutdown(pairs[2].client, SHUT_WR);
        mt_connections_wait(connections, 50);
        slots[4] = mt_connections_add(connections, pairs[4].server, NULL);
        ck_assert(!mt_connection_over_limit(slots[4]));
        ck_assert(becomes_shut(connections, &pairs[2], 1000) && !is_shut(&pairs[0]));
    }
    for (size_t i = 0; i < 5; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

static struct sockaddr_in ipv4(uint32_t address)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
}

#define HERE 0x7F000001
#define CUSTOMER 0xCB007101
#define PROXY 0x0A000001

/* Four connections of one client, of which two are allowed. */
static const struct {
    uint32_t address;
    bool limits_this_machine;
    bool is_limited;
} shares[] = {
    {CUSTOMER, false, true}, {CUSTOMER, true, true}, {HERE, false, false},
    {HERE, true, true},      {PROXY, false, false},  {PROXY, true, false},
};

START_TEST(a_client_has_its_share_of_the_connections)
{
    struct mt_proxies proxies;
    struct mt_connections_options options = patient;
    ck_assert_int_eq(mt_proxies_parse("10.0.0.0/8", "x", &proxies, NULL), MT_OK);
    options.max_connections = 6;
    options.max_client_connections = 2;
    options.limits_this_machine = shares[_i].limits_this_machine;
    options.proxies = &proxies;
    struct mt_connections *connections = create(&options);
    struct sockaddr_in one = ipv4(shares[_i].address), other = ipv4(CUSTOMER + 1);
    struct mt_connection *slots[6];
    struct pair pairs[6];
    for (size_t i = 0; i < 4; i++) {
        pairs[i] = connect_pair();
        slots[i] = mt_connections_add(connections, pairs[i].server, (struct sockaddr *)&one);
        mt_connections_enter(connections, slots[i], MT_PHASE_WORK);
        bool is_over = shares[_i].is_limited && i >= 2;
        ck_assert_int_eq(mt_connection_over_limit(slots[i]),
                         is_over ? MT_OVER_LIMIT_OF_CLIENT : MT_OVER_NO_LIMIT);
    }
    slots[4] = mt_connections_add(connections, 1000, (struct sockaddr *)&other);
    ck_assert(!mt_connection_over_limit(slots[4]));
    for (size_t i = 0; i < 5; i++)
        mt_connections_remove(connections, slots[i]);
    slots[0] = mt_connections_add(connections, pairs[0].server, (struct sockaddr *)&one);
    ck_assert(!mt_connection_over_limit(slots[0]));
    mt_connections_remove(connections, slots[0]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(a_client_makes_room_for_itself)
{
    struct mt_connections_options options = patient;
    options.max_client_connections = 2;
    struct mt_connections *connections = create(&options);
    struct sockaddr_in one = ipv4(CUSTOMER), other = ipv4(CUSTOMER + 1);
    struct pair pairs[4] = {connect_pair(), connect_pair(), connect_pair(), connect_pair()};
    struct mt_connection *slots[4];
    for (size_t i = 0; i < 4; i++) {
        if (i == 3) {
            mt_connections_enter(connections, slots[1], MT_PHASE_IDLE);
            sleep_ms(IDLE_MS);
        }
        slots[i] = mt_connections_add(connections, pairs[i].server,
                                      (struct sockaddr *)(i == 0 ? &other : &one));
        mt_connections_enter(connections, slots[i], i ? MT_PHASE_WORK : MT_PHASE_IDLE);
    }
    ck_assert(!mt_connection_over_limit(slots[3]));
    ck_assert(
        becomes_shut(connections, &pairs[1], 1000)); /* its own, though the other's is older */
    ck_assert(!is_shut(&pairs[0]));
    for (size_t i = 0; i < 4; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

/* One that is older stays, and so does one of the crowd that has said something. */
START_TEST(the_client_that_has_most_makes_room_for_another)
{
    enum { N = 6 };
    struct mt_connections_options options = patient;
    options.max_connections = N - 1;
    struct mt_connections *connections = create(&options);
    struct sockaddr_in crowd = ipv4(HERE), other = ipv4(HERE + 1);
    struct pair pairs[N];
    struct mt_connection *slots[N];
    int64_t began_ns = mt_now_ns();
    for (size_t i = 0; i < N; i++) {
        bool is_other = i == 0 || i == N - 1;
        pairs[i] = connect_pair();
        if (i == 1)
            ck_assert_int_eq(send(pairs[1].client, "G", 1, 0), 1);
        if (i == N - 1)
            sleep_ms(IDLE_MS); /* the crowd has been there for less than a second */
        slots[i] = mt_connections_add(connections, pairs[i].server,
                                      (struct sockaddr *)(is_other ? &other : &crowd));
        ck_assert_int_eq(mt_connection_over_limit(slots[i]), MT_OVER_NO_LIMIT);
        if (i == 0)
            mt_connections_enter(connections, slots[0], MT_PHASE_IDLE);
    }
    bool is_late = has_gone_by(FRESH_GRACE_MS, began_ns);
    for (size_t i = 0; i < N; i++)
        ck_assert(is_late || is_shut(&pairs[i]) == (i == 2));
    for (size_t i = 0; i < N; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

/* It asks for a place that it has taken itself. */
START_TEST(a_crowd_gets_no_room_before_its_time)
{
    struct sockaddr_in crowd = ipv4(HERE);
    struct pair pairs[5];
    struct mt_connection *slots[5];
    struct mt_connections *connections = create(&patient);
    int64_t began_ns = mt_now_ns();
    for (size_t i = 0; i < 5; i++) {
        pairs[i] = connect_pair();
        if (i == 4)
            sleep_ms(IDLE_MS);
        slots[i] = mt_connections_add(connections, pairs[i].server, (struct sockaddr *)&crowd);
    }
    ck_assert(has_gone_by(FRESH_GRACE_MS, began_ns) ||
              mt_connection_over_limit(slots[4]) == MT_OVER_LIMIT_OF_ALL);
    for (size_t i = 0; i < 5; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(of_connections_over_the_limit_the_first_goes_whatever_it_is_at)
{
    enum { MAX = 2, TOLD = 3, N = MAX + TOLD };
    struct mt_connection_counts counts;
    struct mt_connection *slots[N + 2];
    struct pair pairs[N + 2];
    struct mt_connections *connections =
        create(&(struct mt_connections_options){.max_connections = MAX, .max_over_limit = 6});
    for (int i = 0; i < N + 2; i++) {
        pairs[i] = connect_pair();
        slots[i] = mt_connections_add(connections, pairs[i].server, NULL);
        ck_assert_int_eq(mt_connection_over_limit(slots[i]),
                         i < MAX ? MT_OVER_NO_LIMIT : MT_OVER_LIMIT_OF_ALL);
        mt_connections_enter(connections, slots[i],
                             i < MAX ? MT_PHASE_WORK : (enum mt_phase)(MT_PHASE_HEADER + i % 2));
    }
    for (int i = 0; i < N + 2; i++)
        ck_assert_int_eq(is_shut(&pairs[i]), i == MAX || i == MAX + 1);
    mt_connections_count(connections, &counts);
    ck_assert_uint_eq(counts.n_came, N + 2);
    ck_assert_uint_eq(counts.n_evicted, 2);
    for (int i = 0; i < N + 2; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

/* Else those with work could become as many as connections are at all. */
START_TEST(no_connection_over_the_limit_leaves_a_place)
{
    struct mt_connection *slots[4];
    struct pair pairs[4];
    struct mt_connections *connections =
        create(&(struct mt_connections_options){.max_connections = 1, .max_over_limit = 4});
    for (size_t i = 0; i < 4; i++) {
        pairs[i] = connect_pair();
        if (i == 3)
            sleep_ms(IDLE_MS);
        slots[i] = mt_connections_add(connections, pairs[i].server, NULL);
        mt_connections_enter(connections, slots[i], i ? MT_PHASE_IDLE : MT_PHASE_WORK);
    }
    ck_assert_int_eq(mt_connection_over_limit(slots[3]), MT_OVER_LIMIT_OF_ALL);
    for (size_t i = 0; i < 4; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(a_head_that_does_not_come_makes_room)
{
    struct pair pairs[3] = {connect_pair(), connect_pair(), connect_pair()};
    struct mt_connection *slots[3];
    struct mt_connections *connections =
        create(&(struct mt_connections_options){.max_connections = 1, .max_over_limit = 4});
    int64_t began_ns = mt_now_ns();
    slots[0] = mt_connections_add(connections, pairs[0].server, NULL);
    mt_connections_enter(connections, slots[0], MT_PHASE_HEADER);
    slots[1] = mt_connections_add(connections, pairs[1].server, NULL);
    ck_assert(has_gone_by(FRESH_GRACE_MS, began_ns) ||
              mt_connection_over_limit(slots[1]) == MT_OVER_LIMIT_OF_ALL);
    sleep_ms(1100);
    slots[2] = mt_connections_add(connections, pairs[2].server, NULL);
    ck_assert_int_eq(mt_connection_over_limit(slots[2]), MT_OVER_NO_LIMIT);
    ck_assert(is_shut(&pairs[0]));
    for (size_t i = 0; i < 3; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(room_that_is_wanted_is_made_once)
{
    struct pair pairs[3] = {connect_pair(), connect_pair(), connect_pair()};
    struct mt_connection *slots[3];
    struct mt_connections *connections = create(&patient);
    for (size_t i = 0; i < 3; i++) {
        slots[i] = mt_connections_add(connections, pairs[i].server, NULL);
        mt_connections_enter(connections, slots[i], i ? MT_PHASE_IDLE : MT_PHASE_WORK);
        sleep_ms(2);
    }
    mt_connections_want_room(connections); /* before any of them may go */
    ck_assert(becomes_shut(connections, &pairs[1], 2000));
    run_for(connections, 250);
    ck_assert(!is_shut(&pairs[0]) && !is_shut(&pairs[2]));
    for (size_t i = 0; i < 3; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

START_TEST(of_those_that_are_far_too_many_the_first_are_not_told)
{
    enum { N = 2 + MT_POLITE_OVER_LIMIT };
    struct mt_connections_options options = patient;
    struct mt_connection_counts counts;
    struct mt_connection *slots[N + 1];
    struct pair pairs[N + 1];
    struct sockaddr_in one = ipv4(CUSTOMER);
    options.max_connections = 100;
    options.max_client_connections = 2;
    struct mt_connections *connections = create(&options);
    for (size_t i = 0; i <= N; i++) {
        pairs[i] = connect_pair();
        slots[i] = mt_connections_add(connections, pairs[i].server, (struct sockaddr *)&one);
        mt_connections_enter(connections, slots[i], MT_PHASE_WORK);
        ck_assert(!is_shut(&pairs[i]));
        ck_assert_int_eq(is_shut(&pairs[2]), i == N);
    }
    mt_connections_remove(connections, slots[N]);
    mt_connections_remove(connections, slots[5]);
    slots[5] = mt_connections_add(connections, pairs[5].server, (struct sockaddr *)&one);
    ck_assert_int_eq(mt_connection_over_limit(slots[5]), MT_OVER_LIMIT_OF_CLIENT);
    for (size_t i = 3; i < N; i++)
        ck_assert(!is_shut(&pairs[i]));
    mt_connections_count(connections, &counts);
    ck_assert_uint_eq(counts.n_refused_of_client, MT_POLITE_OVER_LIMIT + 2);
    for (size_t i = 0; i < N; i++)
        mt_connections_remove(connections, slots[i]);
    mt_connections_destroy(connections);
}
END_TEST

Suite *suite_over_limit(void)
{
    Suite *suite = suite_create("over_limit");
    TCase *tcase = tcase_create("over_limit");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, connections_over_the_limit_are_marked_and_room_is_made);
    tcase_add_test(tcase, room_is_not_made_at_the_cost_of_requests_on_their_way);
    tcase_add_loop_test(tcase, a_client_has_its_share_of_the_connections, 0,
                        sizeof shares / sizeof shares[0]);
    tcase_add_test(tcase, a_client_makes_room_for_itself);
    tcase_add_test(tcase, the_client_that_has_most_makes_room_for_another);
    tcase_add_test(tcase, a_crowd_gets_no_room_before_its_time);
    tcase_add_test(tcase, of_connections_over_the_limit_the_first_goes_whatever_it_is_at);
    tcase_add_test(tcase, no_connection_over_the_limit_leaves_a_place);
    tcase_add_test(tcase, a_head_that_does_not_come_makes_room);
    tcase_add_test(tcase, room_that_is_wanted_is_made_once);
    tcase_add_test(tcase, of_those_that_are_far_too_many_the_first_are_not_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
