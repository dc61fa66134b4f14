#include "server/data/messages.h"

#include "base/clock.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct mt_error err;
static int ends[2];
static struct mt_message message;
static struct mt_message_values values;

static void setup(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static void teardown(void)
{
    close(ends[0]);
    close(ends[1]);
    mt_message_finish(&message);
}

/* What the other process may send, whatever it is. */
static enum mt_status receive_raw(const void *bytes, size_t length)
{
    ck_assert_int_eq(write(ends[0], bytes, length), (ssize_t)length);
    return mt_message_receive(ends[1], mt_now_ms() + 20, &message, &err);
}

static enum mt_status receive_head(uint32_t kind, uint32_t length)
{
    const uint32_t head[] = {kind, length};
    return receive_raw(head, sizeof head);
}

START_TEST(a_statement_arrives_as_it_was)
{
    const struct mt_value sent[] = {
        mt_value_text("it's \xC3\xA4"), {.type = MT_VALUE_NULL}, mt_value_integer(INT64_MIN)};
    const char *sql;
    struct mt_text out;
    mt_message_begin(&out);
    mt_message_put_statement(&out, "SELECT $1");
    mt_message_put_values(&out, sent, 3);
    ck_assert_int_eq(mt_message_send(ends[0], -1, MT_MESSAGE_RUN, &out, &err), MT_OK);
    ck_assert_int_eq(mt_message_receive(ends[1], -1, &message, &err), MT_OK);
    ck_assert(mt_message_read_run(&message, &sql, &values));
    ck_assert_str_eq(sql, "SELECT $1");
    ck_assert_uint_eq(values.n, 3);
    ck_assert_str_eq(values.values[0].text, "it's \xC3\xA4");
    ck_assert_uint_eq(values.values[0].length, 7);
    ck_assert_int_eq(values.values[1].type, MT_VALUE_NULL);
    ck_assert_int_eq(values.values[2].integer, INT64_MIN);
    ck_assert_str_eq(values.values[2].text, "-9223372036854775808");
    ck_assert(!mt_message_read_row(&message, &values)); /* it is of another kind */
}
END_TEST

START_TEST(what_is_cut_or_changed_is_refused_or_well_formed)
{
    const struct mt_value sent[] = {mt_value_text("a"), mt_value_integer(7)};
    struct mt_text out;
    mt_message_begin(&out);
    mt_message_put_values(&out, sent, 2);
    ck_assert_int_eq(mt_message_send(ends[0], -1, MT_MESSAGE_ROW, &out, &err), MT_OK);
    ck_assert_int_eq(mt_message_receive(ends[1], -1, &message, &err), MT_OK);
    size_t length = message.length;
    for (size_t n = 0; n < length; n++) {
        /* A copy of just these bytes, so that a sanitizer sees whoever reads beyond. */
        struct mt_message cut = {.kind = MT_MESSAGE_ROW, .bytes = malloc(n), .length = n};
        memcpy(cut.bytes, message.bytes, n);
        ck_assert(!mt_message_read_row(&cut, &values));
        free(cut.bytes);
    }
    for (size_t i = 0; i < 8 * length; i++) {
        message.bytes[i / 8] = (char)(message.bytes[i / 8] ^ 1 << i % 8);
        if (mt_message_read_row(&message, &values))
            for (size_t k = 0; k < values.n; k++)
                ck_assert(values.values[k].type == MT_VALUE_NULL ||
                          strlen(values.values[k].text) == values.values[k].length);
        message.bytes[i / 8] = (char)(message.bytes[i / 8] ^ 1 << i % 8);
    }
}
END_TEST

/* Short ones together, and one that is longer than what is read at a time among them. */
START_TEST(what_is_collected_arrives_one_by_one)
{
    enum { N = 3000, LONG = 1000 };
    static char text[3 * MT_MESSAGE_BUFFER_BYTES];
    struct mt_text waiting = {0}, out;
    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0, n_read = 0; i <= N; i++) {
        struct mt_value sent[] = {mt_value_integer((int64_t)i), mt_value_text(text)};
        sent[1].length = i == LONG ? sizeof text - 1 : i % 50;
        mt_message_begin(&out);
        mt_message_put_values(&out, sent, 2);
        if (i < N)
            ck_assert_int_eq(mt_message_collect(ends[0], -1, MT_MESSAGE_ROW, &out, &waiting, &err),
                             MT_OK);
        else
            mt_text_finish(&out);
        if (i == N)
            ck_assert_int_eq(mt_message_flush(ends[0], -1, &waiting, &err), MT_OK);
        if (waiting.length > 0)
            continue;
        for (; n_read < (i < N ? i + 1 : N); n_read++) {
            ck_assert_int_eq(mt_message_receive(ends[1], 0, &message, &err), MT_OK);
            ck_assert(mt_message_read_row(&message, &values));
            ck_assert_int_eq(values.values[0].integer, (int64_t)n_read);
            ck_assert_uint_eq(values.values[1].length,
                              n_read == LONG ? sizeof text - 1 : n_read % 50);
        }
    }
    ck_assert_int_eq(mt_message_receive(ends[1], mt_now_ms(), &message, &err), MT_TIMEOUT);
}
END_TEST

START_TEST(heads_that_make_no_sense)
{
    ck_assert_int_eq(receive_head(MT_N_MESSAGE_KINDS, 0), MT_FORMAT);
    ck_assert_int_eq(receive_head(MT_MESSAGE_ROW, UINT32_MAX), MT_FORMAT);
    ck_assert_int_eq(receive_head(MT_MESSAGE_ROW, MT_MESSAGE_MAX_BYTES + 1), MT_FORMAT);
    ck_assert_int_eq(receive_head(MT_MESSAGE_ROW, 1), MT_TIMEOUT);
    close(ends[0]);
    ck_assert_int_eq(mt_message_receive(ends[1], -1, &message, &err), MT_IO);
    ends[0] = -1;
}
END_TEST

START_TEST(what_is_too_long_is_not_sent)
{
    char *text = calloc(1, MT_MESSAGE_MAX_BYTES);
    memset(text, 'x', MT_MESSAGE_MAX_BYTES - 1);
    const struct mt_value value = mt_value_text(text);
    struct mt_text out;
    mt_message_begin(&out);
    mt_message_put_values(&out, &value, 1);
    ck_assert_int_eq(mt_message_send(ends[0], -1, MT_MESSAGE_ROW, &out, &err), MT_LIMIT);
    ck_assert_int_eq(mt_message_receive(ends[1], mt_now_ms(), &message, &err), MT_TIMEOUT);
    free(text);
}
END_TEST

START_TEST(failures)
{
    const struct mt_message_failure sent = {.status = MT_BUSY, .is_lost = true, .message = "gone"};
    struct mt_message_failure found;
    struct mt_text out;
    mt_message_begin(&out);
    mt_message_put_failure(&out, &sent);
    ck_assert_int_eq(mt_message_send(ends[0], -1, MT_MESSAGE_FAILED, &out, &err), MT_OK);
    ck_assert_int_eq(mt_message_receive(ends[1], -1, &message, &err), MT_OK);
    ck_assert(mt_message_read_failed(&message, &found));
    ck_assert_int_eq(found.status, MT_BUSY);
    ck_assert(found.is_lost);
    ck_assert_str_eq(found.message, "gone");
    memset(message.bytes, 0, 8); /* a failure that is none */
    ck_assert(!mt_message_read_failed(&message, &found));
}
END_TEST

Suite *suite_database_messages(void)
{
    Suite *suite = suite_create("database_messages");
    TCase *tcase = tcase_create("database_messages");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_statement_arrives_as_it_was);
    tcase_add_test(tcase, what_is_cut_or_changed_is_refused_or_well_formed);
    tcase_add_test(tcase, what_is_collected_arrives_one_by_one);
    tcase_add_test(tcase, heads_that_make_no_sense);
    tcase_add_test(tcase, what_is_too_long_is_not_sent);
    tcase_add_test(tcase, failures);
    suite_add_tcase(suite, tcase);
    return suite;
}
