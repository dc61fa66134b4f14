#include "base/log.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_BYTES 24 /* 2026-01-31T12:00:00.123Z */

static FILE *captured;

/* Tests run in processes of their own: standard error need not be restored. */
static void capture_log(void)
{
    captured = tmpfile();
    ck_assert_ptr_nonnull(captured);
    ck_assert_int_ge(dup2(fileno(captured), STDERR_FILENO), 0);
}

/* Everything logged so far, malloc'd. */
static char *read_log(void)
{
    off_t length = lseek(STDERR_FILENO, 0, SEEK_END);
    ck_assert_int_ge(length, 0);
    char *bytes = calloc(1, (size_t)length + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(pread(STDERR_FILENO, bytes, (size_t)length, 0), length);
    return bytes;
}

static bool is_time(const char *text)
{
    static const char pattern[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    for (size_t i = 0; i < TIME_BYTES; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (pattern[i] == 'd' ? !is_digit : text[i] != pattern[i])
            return false;
    }
    return true;
}

START_TEST(a_line_has_time_level_and_message)
{
    capture_log();
    mt_log_configure(MT_LOG_INFO, false);
    mt_log(MT_LOG_INFO, "listening on %s:%d", "127.0.0.1", 5000);
    mt_log(MT_LOG_ERROR, "failed");
    char *log = read_log();
    ck_assert(is_time(log));
    ck_assert_int_eq(strncmp(log + TIME_BYTES, " info  listening on 127.0.0.1:5000\n", 35), 0);
    char *second = strchr(log, '\n') + 1;
    ck_assert(is_time(second));
    ck_assert_str_eq(second + TIME_BYTES, " error failed\n");
    free(log);
}
END_TEST

START_TEST(json_lines_parse_whatever_the_message)
{
    static const char message[] = "say \"hi\"\n\\ \x1b[31m \xC3\xA4 \xFF";
    capture_log();
    mt_log_configure(MT_LOG_DEBUG, true);
    mt_log(MT_LOG_DEBUG, "%s", message);
    char *log = read_log();
    ck_assert_ptr_eq(strchr(log, '\n'), log + strlen(log) - 1);
    cJSON *tree;
    ck_assert_int_eq(mt_json_parse(log, strlen(log), NULL, "log", &tree, NULL), MT_OK);
    const char *time = NULL, *level = NULL, *text = NULL;
    ck_assert_int_eq(mt_json_get_string(tree, "time", &time, NULL, NULL), MT_OK);
    ck_assert_int_eq(mt_json_get_string(tree, "level", &level, NULL, NULL), MT_OK);
    ck_assert_int_eq(mt_json_get_string(tree, "message", &text, NULL, NULL), MT_OK);
    ck_assert(strlen(time) == TIME_BYTES && is_time(time));
    ck_assert_str_eq(level, "debug");
    ck_assert_str_eq(text, "say \"hi\"\n\\ \x1b[31m \xC3\xA4 \xEF\xBF\xBD");
    cJSON_Delete(tree);
    free(log);
}
END_TEST

/* A message must not forge lines nor drive a terminal. */
START_TEST(control_characters_are_escaped)
{
    capture_log();
    mt_log_configure(MT_LOG_INFO, false);
    mt_log(MT_LOG_INFO, "%s",
           "a\nb\rc\td\x1b[2Je\x7f"
           "f\xC2\x9Bg\xFFh\xC3\xA4i\xE2\x82");
    char *log = read_log();
    ck_assert_str_eq(log + TIME_BYTES,
                     " info  a\\nb\\x0dc\\x09d\\x1b[2Je\\x7ff\\x9bg\xEF\xBF\xBDh\xC3\xA4i"
                     "\xEF\xBF\xBD\xEF\xBF\xBD\n");
    free(log);
}
END_TEST

START_TEST(events_below_the_level_are_dropped)
{
    static const char *const expected[] = {"debug info warn error ", "info warn error ",
                                           "warn error ", "error ", ""};
    capture_log();
    mt_log_configure((enum mt_log_level)_i, false);
    mt_log(MT_LOG_DEBUG, "event");
    mt_log(MT_LOG_INFO, "event");
    mt_log(MT_LOG_WARN, "event");
    mt_log(MT_LOG_ERROR, "event");
    mt_log(MT_LOG_NONE, "event");
    char *log = read_log(), found[64] = "", *rest = log;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char level[8];
        ck_assert_int_eq(sscanf(line + TIME_BYTES, " %7s event", level), 1);
        strcat(strcat(found, level), " ");
    }
    ck_assert_str_eq(found, expected[_i]);
    free(log);
}
END_TEST

START_TEST(long_messages_are_cut)
{
    capture_log();
    char message[5000];
    memset(message, 'x', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    mt_log(MT_LOG_INFO, "%s", message);
    char *log = read_log();
    size_t length = strlen(log);
    ck_assert_uint_lt(length, 4096);
    ck_assert_str_eq(log + length - 5, "x...\n");
    free(log);
}
END_TEST

/* A pipe takes no longer line in one piece. */
START_TEST(messages_of_escapes_are_cut_to_a_line)
{
    capture_log();
    mt_log_configure(MT_LOG_INFO, _i == 1);
    char message[2001];
    memset(message, _i == 2 ? 'x' : '\x1b', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    mt_log(MT_LOG_INFO, "%s", message);
    char *log = read_log();
    size_t length = strlen(log);
    ck_assert_uint_le(length, PIPE_BUF);
    ck_assert_uint_gt(length, 2000);
    ck_assert_ptr_eq(strchr(log, '\n'), log + length - 1);
    ck_assert_ptr_nonnull(strstr(log, _i == 1 ? "b...\"}" : _i == 2 ? "x\n" : "b...\n"));
    free(log);
}
END_TEST

/* Any bytes in its texts: one line, and valid JSON where that is wanted. */
START_TEST(records_are_one_line_whatever_is_in_them)
{
    static const char evil[] = "a\"b\\c\n{}\x1b[2J \xC3\xA4 \xC2\x9B \xFF";
    const struct mt_log_field fields[] = {
        {.name = "plain", .kind = MT_LOG_TEXT, .text = "/translate"},
        {.name = "evil", .kind = MT_LOG_TEXT, .text = evil},
        {.name = "absent", .kind = MT_LOG_TEXT},
        {.name = "empty", .kind = MT_LOG_TEXT, .text = ""},
        {.name = "number", .kind = MT_LOG_NUMBER, .number = -5},
        {.name = "time_ms", .kind = MT_LOG_MS, .number = 12345678},
    };
    capture_log();
    mt_log_configure(MT_LOG_INFO, false);
    mt_log_record(MT_LOG_DEBUG, "event", fields, 6);
    mt_log_record(MT_LOG_INFO, "event", fields, 6);
    char *log = read_log();
    ck_assert_str_eq(log + TIME_BYTES,
                     " info  event plain=/translate evil=\"a\\\"b\\\\c\\n{}\\x1b[2J \xC3\xA4 \\x9b "
                     "\xEF\xBF\xBD\" empty=\"\" number=-5 time_ms=12.345\n");
    free(log);

    capture_log();
    mt_log_configure(MT_LOG_INFO, true);
    mt_log_record(MT_LOG_INFO, "event", fields, 6);
    log = read_log();
    ck_assert_ptr_eq(strchr(log, '\n'), log + strlen(log) - 1);
    cJSON *tree;
    ck_assert_int_eq(mt_json_parse(log, strlen(log), NULL, "log", &tree, NULL), MT_OK);
    const char *text = NULL;
    double ms = 0;
    int64_t number = 0;
    ck_assert_int_eq(mt_json_get_string(tree, "evil", &text, NULL, NULL), MT_OK);
    ck_assert_str_eq(text, "a\"b\\c\n{}\x1b[2J \xC3\xA4 \xC2\x9B \xEF\xBF\xBD");
    ck_assert_int_eq(mt_json_get_integer(tree, "number", -9, 9, &number, NULL, NULL), MT_OK);
    ck_assert_int_eq(number, -5);
    ck_assert_int_eq(mt_json_get_number(tree, "time_ms", 0, 99, &ms, NULL, NULL), MT_OK);
    ck_assert_double_eq(ms, 12.345);
    ck_assert_ptr_null(cJSON_GetObjectItem(tree, "absent"));
    cJSON_Delete(tree);
    free(log);
}
END_TEST

START_TEST(records_of_long_texts_are_cut_to_a_line)
{
    char text[5000];
    struct mt_log_field fields[MT_LOG_FIELDS];
    memset(text, '\x01', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < MT_LOG_FIELDS; i++)
        fields[i] = (struct mt_log_field){.name = "some_name", .kind = MT_LOG_TEXT, .text = text};
    capture_log();
    mt_log_configure(MT_LOG_INFO, _i == 1);
    mt_log_record(MT_LOG_INFO, "event", fields, MT_LOG_FIELDS);
    char *log = read_log();
    ck_assert_uint_le(strlen(log), PIPE_BUF);
    ck_assert_uint_gt(strlen(log), 1500);
    ck_assert_ptr_eq(strchr(log, '\n'), log + strlen(log) - 1);
    ck_assert(_i == 0 || log[strlen(log) - 2] == '}');
    free(log);
}
END_TEST

START_TEST(level_names_are_known_exactly)
{
    static const char *const names[] = {"debug", "info", "warn", "error", "none"};
    enum mt_log_level level = MT_LOG_NONE;
    for (int i = 0; i < 5; i++) {
        ck_assert(mt_log_level_parse(names[i], &level));
        ck_assert_int_eq(level, i);
    }
    ck_assert(!mt_log_level_parse("INFO", &level));
    ck_assert(!mt_log_level_parse("", &level));
    ck_assert(!mt_log_level_parse("warning", &level));
    ck_assert_int_eq(level, MT_LOG_NONE);
}
END_TEST

#define N_THREADS 4
#define N_LINES 500

static void *log_many(void *argument)
{
    for (int i = 0; i < N_LINES; i++)
        mt_log(MT_LOG_INFO, "thread %d line %d end", *(int *)argument, i);
    return NULL;
}

START_TEST(lines_of_many_threads_stay_whole)
{
    capture_log();
    mt_log_configure(MT_LOG_INFO, false);
    pthread_t threads[N_THREADS];
    int indices[N_THREADS], next[N_THREADS] = {0};
    for (int i = 0; i < N_THREADS; i++) {
        indices[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, log_many, &indices[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    char *log = read_log(), *rest = log;
    int n_lines = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; n_lines++) {
        int thread, number, n_read = 0;
        ck_assert_int_eq(
            sscanf(line + TIME_BYTES, " info thread %d line %d end%n", &thread, &number, &n_read),
            2);
        ck_assert_uint_eq(TIME_BYTES + (size_t)n_read, strlen(line));
        ck_assert_int_eq(number, next[thread]++);
    }
    ck_assert_int_eq(n_lines, N_THREADS * N_LINES);
    free(log);
}
END_TEST

/* A daemon does not stop, nor die, for its log. */
START_TEST(a_closed_standard_error_is_no_matter)
{
    mt_log_configure(MT_LOG_INFO, false);
    close(STDERR_FILENO);
    mt_log(MT_LOG_INFO, "lost");
    ck_assert_int_eq(write(STDERR_FILENO, "", 1), -1);
}
END_TEST

#define N_UNREAD 2000

static size_t read_pipe(int fd, char *bytes, size_t n_max)
{
    size_t n = 0;
    for (ssize_t more; n < n_max && (more = read(fd, bytes + n, n_max - n)) > 0;)
        n += (size_t)more;
    bytes[n] = '\0';
    return n;
}

/* Were each line to wait, the test would take minutes; were one to block, for ever. */
START_TEST(nobody_waits_for_a_reader_that_stands_still)
{
    static char log[1 << 20];
    int ends[2], n_lines = 0, number = -1, last = -1, n_read;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    ck_assert_int_gt(fcntl(STDERR_FILENO, F_SETPIPE_SZ, 4 * PIPE_BUF), 0);
    mt_log_configure(MT_LOG_INFO, false);
    for (int i = 0; i < N_UNREAD; i++)
        mt_log(MT_LOG_INFO, "line %d that nobody reads", i);

    read_pipe(ends[0], log, sizeof log - 1);
    for (char *line = log; *line; line = strchr(line, '\n') + 1, n_lines++) {
        ck_assert_int_eq(
            sscanf(line + TIME_BYTES, " info line %d that nobody reads%n", &number, &n_read), 1);
        ck_assert_int_eq(line[TIME_BYTES + n_read], '\n'); /* whole, all that there are */
        ck_assert_int_eq(number, ++last);
    }
    ck_assert_int_gt(n_lines, 0);
    ck_assert_int_lt(n_lines, N_UNREAD);

    mt_log(MT_LOG_INFO, "heard");
    mt_log(MT_LOG_INFO, "again");
    read_pipe(ends[0], log, sizeof log - 1);
    ck_assert_int_eq(
        sscanf(log + TIME_BYTES, " warn %d lines of the log were lost%n", &number, &n_read), 1);
    ck_assert_int_eq(number, N_UNREAD - n_lines);
    char *heard = strchr(log, '\n') + 1, *again = strchr(heard, '\n') + 1;
    ck_assert_int_eq(strncmp(heard + TIME_BYTES, " info  heard\n", 13), 0);
    ck_assert_str_eq(again + TIME_BYTES, " info  again\n");
    ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0); /* it is others', too */
}
END_TEST

/* A terminal that has room says nothing of how much. */
START_TEST(nobody_waits_for_a_terminal_that_stands_still)
{
    static char log[1 << 20];
    size_t n = 0;
    int number, master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (master < 0)
        return; /* there are none here */
    ck_assert(grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(dup2(terminal, STDERR_FILENO), 0);
    mt_log_configure(MT_LOG_INFO, false);
    for (int i = 0; i < N_UNREAD; i++)
        mt_log(MT_LOG_INFO, "line %d that nobody reads", i);

    /* What was written comes to the reader bit by bit. */
    while (!strstr(log, " info  heard\r\n")) {
        mt_log(MT_LOG_INFO, "heard");
        n += read_pipe(master, log + n, sizeof log - 1 - n);
    }
    const char *warning = strstr(log, " warn ");
    ck_assert_ptr_nonnull(warning);
    ck_assert_int_eq(sscanf(warning, " warn %d lines of the log were lost", &number), 1);
    ck_assert(warning[-TIME_BYTES - 1] == '\n' && is_time(warning - TIME_BYTES));
    ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

Suite *suite_log(void)
{
    Suite *suite = suite_create("log");
    TCase *tcase = tcase_create("lines");
    tcase_add_test(tcase, a_line_has_time_level_and_message);
    tcase_add_test(tcase, json_lines_parse_whatever_the_message);
    tcase_add_test(tcase, control_characters_are_escaped);
    tcase_add_loop_test(tcase, events_below_the_level_are_dropped, 0, 5);
    tcase_add_test(tcase, long_messages_are_cut);
    tcase_add_loop_test(tcase, messages_of_escapes_are_cut_to_a_line, 0, 3);
    tcase_add_test(tcase, records_are_one_line_whatever_is_in_them);
    tcase_add_loop_test(tcase, records_of_long_texts_are_cut_to_a_line, 0, 2);
    tcase_add_test(tcase, level_names_are_known_exactly);
    tcase_add_test(tcase, lines_of_many_threads_stay_whole);
    tcase_add_test(tcase, a_closed_standard_error_is_no_matter);
    tcase_add_test(tcase, nobody_waits_for_a_reader_that_stands_still);
    tcase_add_test(tcase, nobody_waits_for_a_terminal_that_stands_still);
    suite_add_tcase(suite, tcase);
    return suite;
}
