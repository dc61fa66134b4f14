#include "server/commands/line_reader.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int input[2], other[2];
static struct mt_line_reader reader;

static void open_pipes(void)
{
    ck_assert_int_eq(pipe(input), 0);
    ck_assert_int_eq(pipe(other), 0);
    reader = (struct mt_line_reader){.fd = input[0]};
}

static void close_pipes(void)
{
    mt_line_reader_finish(&reader);
    close(input[0]);
    close(other[0]);
    close(other[1]);
}

static void send_bytes(const char *bytes)
{
    ck_assert_int_eq(write(input[1], bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

/* expected NULL: there is no line. */
static void expect_line(const char *expected)
{
    const char *line;
    size_t length;
    struct mt_error err = {0};
    ck_assert_msg(!mt_line_reader_next(&reader, other[0], &line, &length, &err), "%s", err.message);
    if (!expected) {
        ck_assert_ptr_null(line);
        return;
    }
    ck_assert_ptr_nonnull(line);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_int_eq(memcmp(line, expected, length), 0);
}

START_TEST(returns_lines_without_their_line_feeds)
{
    send_bytes("one\n\ntwo\r\n\n  three");
    close(input[1]);
    static const char *const lines[] = {"one", "", "two\r", "", "  three"};
    for (size_t i = 0; i < 5; i++) {
        expect_line(lines[i]);
        ck_assert_uint_eq(reader.n_lines, i + 1);
    }
    expect_line(NULL);
    ck_assert(reader.has_ended);
    expect_line(NULL);
}
END_TEST

START_TEST(a_line_feed_at_the_end_begins_no_line)
{
    send_bytes("one\n");
    close(input[1]);
    expect_line("one");
    expect_line(NULL);
    ck_assert(reader.has_ended);
}
END_TEST

START_TEST(empty_input_has_no_lines)
{
    close(input[1]);
    expect_line(NULL);
    ck_assert(reader.has_ended);
    ck_assert_uint_eq(reader.n_lines, 0);
}
END_TEST

START_TEST(the_other_descriptor_ends_the_wait_and_loses_nothing)
{
    send_bytes("half");
    ck_assert_int_eq(write(other[1], "!", 1), 1);
    expect_line(NULL);
    ck_assert(!reader.has_ended);
    char byte;
    ck_assert_int_eq(read(other[0], &byte, 1), 1);
    send_bytes(" a line\nnext\n");
    expect_line("half a line");
    /* What has been read already needs no wait. */
    ck_assert_int_eq(write(other[1], "!", 1), 1);
    expect_line("next");
    close(input[1]);
}
END_TEST

static void *write_long_lines(void *unused)
{
    char *bytes = malloc(300000);
    for (size_t i = 0; i < 300000; i++)
        bytes[i] = i % 100000 == 99999 ? '\n' : (char)('a' + i / 100000);
    for (size_t n = 0, step = 1; n < 300000; step = step * 2 % 9973 + 1) {
        size_t left = 300000 - n;
        /* Where the process is stopped and goes on meanwhile, not all of it is written. */
        ssize_t n_written = write(input[1], bytes + n, step < left ? step : left);
        if (n_written < 0)
            break;
        n += (size_t)n_written;
    }
    close(input[1]);
    free(bytes);
    return unused;
}

START_TEST(puts_lines_together_from_pieces_of_any_size)
{
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_long_lines, NULL), 0);
    for (char c = 'a'; c <= 'c'; c++) {
        const char *line;
        size_t length;
        ck_assert_int_eq(mt_line_reader_next(&reader, other[0], &line, &length, NULL), MT_OK);
        ck_assert_uint_eq(length, 99999);
        for (size_t i = 0; i < length; i++)
            ck_assert_int_eq(line[i], c);
    }
    expect_line(NULL);
    pthread_join(writer, NULL);
}
END_TEST

START_TEST(refuses_a_line_over_the_limit)
{
    close(input[0]);
    close(input[1]);
    reader.fd = input[0] = open("/dev/zero", O_RDONLY);
    ck_assert_int_ge(reader.fd, 0);
    const char *line;
    size_t length;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_line_reader_next(&reader, other[0], &line, &length, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "line 1"));
    ck_assert_uint_le(reader.capacity, 4 * MT_MAX_LINE_BYTES);
}
END_TEST

START_TEST(says_what_cannot_be_read)
{
    close(input[0]);
    close(input[1]);
    reader.fd = input[0] = open("/", O_RDONLY | O_DIRECTORY);
    const char *line;
    size_t length;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_line_reader_next(&reader, other[0], &line, &length, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "Is a directory"));
}
END_TEST

Suite *suite_line_reader(void)
{
    Suite *suite = suite_create("line_reader");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, open_pipes, close_pipes);
    tcase_add_test(tcase, returns_lines_without_their_line_feeds);
    tcase_add_test(tcase, a_line_feed_at_the_end_begins_no_line);
    tcase_add_test(tcase, empty_input_has_no_lines);
    tcase_add_test(tcase, the_other_descriptor_ends_the_wait_and_loses_nothing);
    tcase_add_test(tcase, puts_lines_together_from_pieces_of_any_size);
    tcase_add_test(tcase, refuses_a_line_over_the_limit);
    tcase_add_test(tcase, says_what_cannot_be_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
