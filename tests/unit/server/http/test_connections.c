#include "server/http/connections.h"

#include "base/clock.h"
#include "server/http/client.h"
#include "tests/unit/server/http/connection_pairs.h"

#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    struct mt_connections *connections;
    int n_cancelled, n_asked, n_woken;
    bool has_left;
    void *cancelled;
    enum mt_answer answer;
};

static void cancel(void *context, void *work, bool has_left)
{
    struct fixture *fixture = context;
    fixture->cancelled = work;
    fixture->has_left = has_left;
    fixture->n_cancelled++;
}

static enum mt_answer ask(void *context, void *work)
{
    struct fixture *fixture = context;
    ck_assert_ptr_nonnull(work);
    fixture->n_asked++;
    return fixture->answer;
}

static void wake(void *context, void *sleeper)
{
    struct fixture *fixture = context;
    ck_assert_ptr_nonnull(sleeper);
    fixture->n_woken++;
}

static void create(struct fixture *fixture, struct mt_connections_options options)
{
    memset(fixture, 0, sizeof *fixture);
    options.cancel = cancel;
    options.ask = ask;
    options.wake = wake;
    options.context = fixture;
    struct mt_error err;
    ck_assert_int_eq(mt_connections_create(&options, &fixture->connections, &err), MT_OK);
}

/* Runs until the number is reached, and for so long at most. */
static bool becomes(struct fixture *fixture, const int *number, int n, int ms)
{
    for (; ms > 0 && *number < n; ms -= 5)
        mt_connections_wait(fixture->connections, 5);
    return *number == n;
}

#define LONG_MS 60000
static const struct mt_connections_options patient = {.max_connections = 4, .max_over_limit = 2};

START_TEST(phase_that_takes_too_long_ends_the_connection)
{
    struct fixture fixture;
    create(&fixture, (struct mt_connections_options){
                         .max_connections = 4,
                         .max_over_limit = 2,
                         .timeout_ms = {[MT_PHASE_FRESH] = LONG_MS, [MT_PHASE_HEADER] = 200}});
    struct pair slow = connect_pair(), quick = connect_pair(), fresh = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, slow.server, NULL);
    struct mt_connection *other = mt_connections_add(fixture.connections, quick.server, NULL);
    struct mt_connection *third = mt_connections_add(fixture.connections, fresh.server, NULL);
    int64_t began_ns = mt_now_ns();
    mt_connections_enter(fixture.connections, slot, MT_PHASE_HEADER);
    mt_connections_enter(fixture.connections, other, MT_PHASE_HEADER);
    mt_connections_enter(fixture.connections, other, MT_PHASE_WORK);
    ck_assert(becomes_shut(fixture.connections, &slow, 2000));
    ck_assert_int_ge(mt_now_ns() - began_ns, INT64_C(200000000));
    run_for(fixture.connections, 300);
    ck_assert(!is_shut(&quick));
    ck_assert(!is_shut(&fresh));
    struct mt_connection_counts counts;
    mt_connections_count(fixture.connections, &counts);
    ck_assert_uint_eq(counts.n_timed_out, 1);
    ck_assert_uint_eq(counts.n_open, 3);
    ck_assert_uint_eq(counts.n_active, 2);
    mt_connections_remove(fixture.connections, slot);
    mt_connections_remove(fixture.connections, other);
    mt_connections_remove(fixture.connections, third);
    mt_connections_count(fixture.connections, &counts);
    ck_assert_uint_eq(counts.n_open, 0);
    ck_assert_uint_eq(counts.n_active, 0);
    mt_connections_destroy(fixture.connections);
}
END_TEST

START_TEST(request_that_can_never_be_complete_ends_the_connection)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair ended = connect_pair(), unread = connect_pair(), open = connect_pair();
    struct pair *pairs[] = {&ended, &unread, &open};
    struct mt_connection *slots[3];
    for (size_t i = 0; i < 3; i++) {
        slots[i] = mt_connections_add(fixture.connections, pairs[i]->server, NULL);
        mt_connections_enter(fixture.connections, slots[i], MT_PHASE_BODY);
        ck_assert_int_eq(send(pairs[i]->client, "half", 4, 0), 4);
        if (i < 2)
            shutdown(pairs[i]->client, SHUT_WR);
    }
    char bytes[4];
    ck_assert_int_eq(recv(ended.server, bytes, 4, 0), 4);
    ck_assert_int_eq(recv(open.server, bytes, 4, 0), 4);
    ck_assert(becomes_shut(fixture.connections, &ended, 3000));
    ck_assert(!is_shut(&unread) && !is_shut(&open));
    for (size_t i = 0; i < 3; i++)
        mt_connections_remove(fixture.connections, slots[i]);
    mt_connections_destroy(fixture.connections);
}
END_TEST

enum leaving { CLOSES, RESETS, HALF_CLOSES_THEN_CLOSES };

static void leave(struct pair *pair, enum leaving how)
{
    const struct linger at_once = {.l_onoff = 1};
    if (how == RESETS)
        setsockopt(pair->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (how == HALF_CLOSES_THEN_CLOSES) {
        shutdown(pair->client, SHUT_WR);
        sleep_ms(100);
    }
    close(pair->client);
}

static void finish_work(struct fixture *fixture, struct mt_connection *slot,
                        const struct pair *pair)
{
    mt_connections_watch(fixture->connections, slot, NULL);
    mt_connections_remove(fixture->connections, slot);
    close(pair->server);
    mt_connections_destroy(fixture->connections);
}

START_TEST(client_that_leaves_cancels_its_work)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int work;
    fixture.answer = MT_PROBE;
    mt_connections_enter(fixture.connections, slot, MT_PHASE_WORK);
    mt_connections_watch(fixture.connections, slot, &work);
    leave(&pair, (enum leaving)_i);
    ck_assert(becomes(&fixture, &fixture.n_cancelled, 1, 2000));
    ck_assert_ptr_eq(fixture.cancelled, &work);
    ck_assert(fixture.has_left);
    finish_work(&fixture, slot, &pair);
}
END_TEST

/* What can be sent at first, and what is sent in the end. */
static const struct {
    enum mt_answer first, then;
    size_t n_received;
} answers[] = {
    {MT_PROBE, MT_PROBE, 25},
    {MT_ASK_AGAIN, MT_PROBE, 25},
    {MT_SENT, MT_SENT, 0},
};

START_TEST(half_closed_client_keeps_its_work)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int work;
    fixture.answer = answers[_i].first;
    mt_connections_enter(fixture.connections, slot, MT_PHASE_WORK);
    mt_connections_watch(fixture.connections, slot, &work);
    shutdown(pair.client, SHUT_WR);
    run_for(fixture.connections, 300);
    fixture.answer = answers[_i].then;
    run_for(fixture.connections, 300);
    ck_assert_int_eq(fixture.n_cancelled, 0);
    ck_assert(answers[_i].first == MT_ASK_AGAIN ? fixture.n_asked > 1 : fixture.n_asked == 1);
    char received[64] = "";
    ssize_t n = recv(pair.client, received, sizeof received, MSG_DONTWAIT);
    ck_assert_int_eq((int)n, answers[_i].n_received > 0 ? (int)answers[_i].n_received : -1);
    ck_assert_str_eq(received, n > 0 ? "HTTP/1.1 100 Continue\r\n\r\n" : "");
    finish_work(&fixture, slot, &pair);
}
END_TEST

/* What has been sent meanwhile is answered by a reset. */
START_TEST(a_client_that_left_before_it_could_be_asked_is_noticed)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int work;
    leave(&pair, CLOSES);
    run_for(fixture.connections, 100);
    mt_connections_enter(fixture.connections, slot, MT_PHASE_WORK);
    mt_connections_watch(fixture.connections, slot, &work);
    fixture.answer = MT_PROBE;
    ck_assert(becomes(&fixture, &fixture.n_cancelled, 1, 2000));
    ck_assert_ptr_eq(fixture.cancelled, &work);
    finish_work(&fixture, slot, &pair);
}
END_TEST

START_TEST(a_silent_stream_is_asked_again_and_again)
{
    struct fixture fixture;
    struct mt_connections_options options = patient;
    options.nudge_ms = 250;
    create(&fixture, options);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int work;
    fixture.answer = MT_SENT;
    mt_connections_watch(fixture.connections, slot, &work);
    int64_t longest_ns = 0;
    for (int i = 0; i < 20; i++) { /* one that speaks */
        int64_t began_ns = mt_now_ns();
        mt_connections_enter(fixture.connections, slot, MT_PHASE_STREAM);
        run_for(fixture.connections, 20);
        int64_t took_ns = mt_now_ns() - began_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    /* On a busy machine it may have been silent for so long that it was rightly asked. */
    ck_assert(fixture.n_asked == 0 || longest_ns >= INT64_C(250000000));
    fixture.n_asked = 0;
    for (int i = 0; i < 2000 && fixture.n_asked < 3; i++)
        run_for(fixture.connections, 5);
    ck_assert_int_ge(fixture.n_asked, 3);
    finish_work(&fixture, slot, &pair);
}
END_TEST

START_TEST(work_that_ended_is_not_cancelled)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int work;
    mt_connections_enter(fixture.connections, slot, MT_PHASE_WORK);
    mt_connections_watch(fixture.connections, slot, &work);
    mt_connections_watch(fixture.connections, slot, NULL);
    close(pair.client);
    run_for(fixture.connections, 200);
    mt_connections_cancel_all(fixture.connections);
    ck_assert_int_eq(fixture.n_cancelled, 0);
    ck_assert_int_eq(fixture.n_asked, 0);
    finish_work(&fixture, slot, &pair);
}
END_TEST

START_TEST(what_sleeps_is_woken_once_by_bytes_and_by_the_end)
{
    struct fixture fixture;
    struct mt_connections_options options = patient;
    options.timeout_ms[MT_PHASE_HEADER] = 300;
    create(&fixture, options);
    struct pair pair = connect_pair(), other = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int sleeper;
    char byte = 'x';
    mt_connections_sleep(fixture.connections, slot, &sleeper);
    run_for(fixture.connections, 100);
    ck_assert_int_eq(fixture.n_woken, 0);
    ck_assert_int_eq((int)send(pair.client, &byte, 1, 0), 1);
    ck_assert(becomes(&fixture, &fixture.n_woken, 1, 2000));
    ck_assert_int_eq((int)send(pair.client, &byte, 1, 0), 1);
    run_for(fixture.connections, 100);
    ck_assert_int_eq(fixture.n_woken, 1);
    /* Bytes that are there already. */
    mt_connections_sleep(fixture.connections, slot, &sleeper);
    ck_assert(becomes(&fixture, &fixture.n_woken, 2, 2000));
    /* The end that we make, of a connection that takes too long. */
    struct mt_connection *second = mt_connections_add(fixture.connections, other.server, NULL);
    mt_connections_enter(fixture.connections, second, MT_PHASE_HEADER);
    mt_connections_sleep(fixture.connections, second, &sleeper);
    ck_assert(becomes(&fixture, &fixture.n_woken, 3, 2000));
    ck_assert(becomes_shut(fixture.connections, &other, 100));
    mt_connections_remove(fixture.connections, slot);
    mt_connections_remove(fixture.connections, second);
    leave(&pair, CLOSES);
    leave(&other, CLOSES);
    mt_connections_destroy(fixture.connections);
}
END_TEST

START_TEST(nothing_sleeps_after_wake_all)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    int sleeper;
    mt_connections_sleep(fixture.connections, slot, &sleeper);
    mt_connections_wake_all(fixture.connections);
    ck_assert_int_eq(fixture.n_woken, 1);
    mt_connections_sleep(fixture.connections, slot, &sleeper);
    ck_assert_int_eq(fixture.n_woken, 2);
    mt_connections_remove(fixture.connections, slot);
    leave(&pair, CLOSES);
    mt_connections_destroy(fixture.connections);
}
END_TEST

START_TEST(cancel_all_cancels_what_is_watched)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair pair = connect_pair(), other = connect_pair();
    struct mt_connection *slot = mt_connections_add(fixture.connections, pair.server, NULL);
    struct mt_connection *second = mt_connections_add(fixture.connections, other.server, NULL);
    int work;
    mt_connections_enter(fixture.connections, slot, MT_PHASE_WORK);
    mt_connections_watch(fixture.connections, slot, &work);
    mt_connections_cancel_all(fixture.connections);
    ck_assert_int_eq(fixture.n_cancelled, 1);
    ck_assert(!fixture.has_left);
    mt_connections_watch(fixture.connections, second, &work);
    mt_connections_cancel_all(fixture.connections);
    ck_assert_int_eq(fixture.n_cancelled, 3);
    mt_connections_watch(fixture.connections, slot, NULL);
    mt_connections_watch(fixture.connections, second, NULL);
    mt_connections_remove(fixture.connections, slot);
    mt_connections_remove(fixture.connections, second);
    mt_connections_destroy(fixture.connections);
}
END_TEST

static const enum mt_phase awaiting[] = {MT_PHASE_FRESH, MT_PHASE_HEADER, MT_PHASE_IDLE};

/* Its bytes lie there because nobody reads; that ends, too. */
START_TEST(deadlines_wait_for_those_that_have_sent)
{
    struct fixture fixture;
    enum mt_phase phase = awaiting[_i];
    struct mt_connections_options options = {.max_connections = 4, .max_over_limit = 2};
    options.timeout_ms[phase] = 1000;
    create(&fixture, options);
    struct pair spoke = connect_pair(), silent = connect_pair();
    int64_t began_ns = mt_now_ns();
    struct mt_connection *slots[] = {
        mt_connections_add(fixture.connections, spoke.server, NULL),
        mt_connections_add(fixture.connections, silent.server, NULL),
    };
    mt_connections_enter(fixture.connections, slots[0], phase);
    mt_connections_enter(fixture.connections, slots[1], phase);
    ck_assert_int_eq(send(spoke.client, "G", 1, 0), 1);
    ck_assert(becomes_shut(fixture.connections, &silent, 3000));
    bool is_early = is_shut(&spoke);
    /* On a busy machine this thread may not have looked for so long that both are due. */
    ck_assert(!is_early || mt_now_ns() - began_ns >= INT64_C(2000000000));
    ck_assert(becomes_shut(fixture.connections, &spoke, 5000));
    for (size_t i = 0; i < 2; i++)
        mt_connections_remove(fixture.connections, slots[i]);
    mt_connections_destroy(fixture.connections);
}
END_TEST

START_TEST(idle_connections_are_closed_but_not_those_that_speak)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct pair idle = connect_pair(), speaking = connect_pair(), busy = connect_pair();
    struct mt_connection *slots[] = {
        mt_connections_add(fixture.connections, idle.server, NULL),
        mt_connections_add(fixture.connections, speaking.server, NULL),
        mt_connections_add(fixture.connections, busy.server, NULL),
    };
    mt_connections_enter(fixture.connections, slots[2], MT_PHASE_BODY);
    ck_assert_int_eq(send(speaking.client, "G", 1, 0), 1);
    sleep_ms(50);
    mt_connections_close_idle(fixture.connections, LONG_MS);
    ck_assert(!is_shut(&idle));
    mt_connections_close_idle(fixture.connections, 20);
    ck_assert(becomes_shut(fixture.connections, &idle, 1000));
    ck_assert(!is_shut(&speaking) && !is_shut(&busy));
    for (size_t i = 0; i < 3; i++)
        mt_connections_remove(fixture.connections, slots[i]);
    mt_connections_destroy(fixture.connections);
}
END_TEST

START_TEST(one_address_is_one_client)
{
    struct fixture fixture;
    create(&fixture, patient);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F000001)};
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F000002)};
    struct mt_connection *a =
        mt_connections_add(fixture.connections, 1000, (struct sockaddr *)&here);
    here.sin_port = 17;
    struct mt_connection *b =
        mt_connections_add(fixture.connections, 1001, (struct sockaddr *)&here);
    struct mt_connection *c =
        mt_connections_add(fixture.connections, 1002, (struct sockaddr *)&there);
    ck_assert(mt_address_client(mt_connection_address(a)) ==
              mt_address_client(mt_connection_address(b)));
    ck_assert(mt_address_client(mt_connection_address(a)) !=
              mt_address_client(mt_connection_address(c)));
    mt_connections_remove(fixture.connections, a);
    mt_connections_remove(fixture.connections, b);
    mt_connections_remove(fixture.connections, c);
    mt_connections_destroy(fixture.connections);
}
END_TEST

Suite *suite_connections(void)
{
    Suite *suite = suite_create("connections");
    TCase *tcase = tcase_create("connections");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, phase_that_takes_too_long_ends_the_connection);
    tcase_add_test(tcase, request_that_can_never_be_complete_ends_the_connection);
    tcase_add_loop_test(tcase, client_that_leaves_cancels_its_work, 0, 3);
    tcase_add_loop_test(tcase, half_closed_client_keeps_its_work, 0,
                        sizeof answers / sizeof answers[0]);
    tcase_add_test(tcase, a_client_that_left_before_it_could_be_asked_is_noticed);
    tcase_add_test(tcase, a_silent_stream_is_asked_again_and_again);
    tcase_add_test(tcase, work_that_ended_is_not_cancelled);
    tcase_add_test(tcase, what_sleeps_is_woken_once_by_bytes_and_by_the_end);
    tcase_add_test(tcase, nothing_sleeps_after_wake_all);
    tcase_add_test(tcase, cancel_all_cancels_what_is_watched);
    tcase_add_loop_test(tcase, deadlines_wait_for_those_that_have_sent, 0,
                        sizeof awaiting / sizeof awaiting[0]);
    tcase_add_test(tcase, idle_connections_are_closed_but_not_those_that_speak);
    tcase_add_test(tcase, one_address_is_one_client);
    suite_add_tcase(suite, tcase);
    return suite;
}
