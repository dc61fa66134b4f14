#include "server/http/stream.h"

#include <check.h>
#include <string.h>

/* Numbers 0 to n - 1, one per piece. */
struct counter {
    size_t next, n, n_destroyed, fail_at;
};

static bool counter_next(void *state, struct mt_text *out)
{
    struct counter *counter = state;
    if (counter->next == counter->n)
        return false;
    if (counter->next == counter->fail_at)
        out->status = MT_MEMORY;
    mt_text_appendf(out, "%zu,", counter->next++);
    return true;
}

static void counter_destroy(void *state)
{
    ((struct counter *)state)->n_destroyed++;
}

static struct mt_error err;

static struct mt_stream *start(struct counter *counter)
{
    struct mt_stream *stream;
    struct mt_stream_source source = {
        .next = counter_next, .destroy = counter_destroy, .state = counter};
    ck_assert_int_eq(mt_stream_create(source, MT_STREAM_UNKNOWN, &stream, &err), MT_OK);
    return stream;
}

START_TEST(bytes_come_in_any_portion)
{
    for (size_t portion = 1; portion < 40; portion++) {
        struct counter counter = {.n = 12, .fail_at = SIZE_MAX};
        struct mt_stream *stream = start(&counter);
        char all[100] = "", buffer[40];
        ssize_t n;
        while ((n = mt_stream_read(stream, buffer, portion)) > 0)
            strncat(all, buffer, (size_t)n);
        ck_assert_int_eq(n, 0);
        ck_assert_str_eq(all, "0,1,2,3,4,5,6,7,8,9,10,11,");
        mt_stream_destroy(stream);
        ck_assert_uint_eq(counter.n_destroyed, 1);
    }
}
END_TEST

START_TEST(pieces_are_made_only_when_they_are_wanted)
{
    struct counter counter = {.n = 100, .fail_at = SIZE_MAX};
    struct mt_stream *stream = start(&counter);
    char buffer[4];
    ck_assert_int_eq(mt_stream_read(stream, buffer, 4), 4);
    ck_assert_uint_eq(counter.next, 2);
    mt_stream_destroy(stream);
}
END_TEST

START_TEST(a_slow_source_is_asked_once_for_each_read)
{
    struct counter counter = {.n = 3, .fail_at = SIZE_MAX};
    struct mt_stream *stream;
    struct mt_stream_source source = {
        .next = counter_next, .destroy = counter_destroy, .state = &counter, .is_slow = true};
    ck_assert_int_eq(mt_stream_create(source, MT_STREAM_UNKNOWN, &stream, &err), MT_OK);
    char buffer[64];
    for (size_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(mt_stream_read(stream, buffer, sizeof buffer), 2);
        ck_assert_uint_eq(counter.next, i);
    }
    ck_assert_int_eq(mt_stream_read(stream, buffer, sizeof buffer), 0);
    mt_stream_destroy(stream);
}
END_TEST

START_TEST(a_failed_source_gives_what_it_had_and_then_fails)
{
    struct counter counter = {.n = 10, .fail_at = 3};
    struct mt_stream *stream = start(&counter);
    char buffer[64];
    ck_assert_int_eq(mt_stream_read(stream, buffer, sizeof buffer), 6);
    ck_assert_int_eq(mt_stream_read(stream, buffer, sizeof buffer), -1);
    mt_stream_destroy(stream);

    counter = (struct counter){.n = 10, .fail_at = 3};
    stream = start(&counter);
    ck_assert_int_eq(mt_stream_gzip(stream, &stream, &err), MT_OK);
    ssize_t n;
    while ((n = mt_stream_read(stream, buffer, sizeof buffer)) > 0)
        ;
    ck_assert_int_eq(n, -1);
    mt_stream_destroy(stream);
    ck_assert_uint_eq(counter.n_destroyed, 1);
}
END_TEST

Suite *suite_stream(void)
{
    Suite *suite = suite_create("stream");
    TCase *tests = tcase_create("stream");
    tcase_add_test(tests, bytes_come_in_any_portion);
    tcase_add_test(tests, pieces_are_made_only_when_they_are_wanted);
    tcase_add_test(tests, a_slow_source_is_asked_once_for_each_read);
    tcase_add_test(tests, a_failed_source_gives_what_it_had_and_then_fails);
    suite_add_tcase(suite, tests);
    return suite;
}
