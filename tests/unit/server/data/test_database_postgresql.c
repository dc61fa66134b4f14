#include "database_promises.h"

#include "base/log.h"
#include "base/text.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

/* tests/http/postgresql.py, which has PostgreSQL run. */
static FILE *commands, *answers;
static pid_t server;
static char url[256], program[512];

static void become_server(int input, int output)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/http/postgresql.py", getenv("MT_SOURCE_DIR"));
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execlp("python3", "python3", "-B", path, NULL);
    _exit(1);
}

static void read_answer(char out[256])
{
    ck_assert_ptr_nonnull(fgets(out, 256, answers));
    out[strcspn(out, "\n")] = '\0';
}

/* Before there are tests: without PostgreSQL there are none. */
static void start_server(void)
{
    int to[2], from[2], status;
    char answer[256] = "";
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 || (server = fork()) < 0)
        abort();
    if (server == 0)
        become_server(to[0], from[1]);
    close(to[0]);
    close(from[1]);
    commands = fdopen(to[1], "w");
    answers = fdopen(from[0], "r");
    if (fgets(answer, sizeof answer, answers) && strcmp(answer, "ready\n") == 0)
        return;
    waitpid(server, &status, 0);
    fputs(answer, stderr);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void stop_server(void)
{
    fclose(commands);
    waitpid(server, NULL, 0);
    fclose(answers);
}

static void tell(const char *command, char answer[256])
{
    ck_assert_int_ge(fprintf(commands, "%s\n", command), 0);
    ck_assert_int_eq(fflush(commands), 0);
    read_answer(answer);
}

static void order(const char *command)
{
    char answer[256];
    tell(command, answer);
}

static struct mt_database_options options(void)
{
    return (struct mt_database_options){.url = url, .program = program, .is_confined = true};
}

static enum mt_status open_it(struct mt_database **out)
{
    const struct mt_database_options usual = options();
    return mt_database_open(&usual, out, &err);
}

static const char *name(void)
{
    return strrchr(url, '/') + 1;
}

/* Each case has a database of its own. */
static void setup(void)
{
    char command[64];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(command, sizeof command, "create n%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    tell(command, url);
    snprintf(program, sizeof program, "%s/attentiond-database", getenv("MT_BUILD_DIR"));
    mt_log_set_level(MT_LOG_NONE);
    ck_assert_int_eq(open_it(&database), MT_OK);
}

static void teardown(void)
{
    mt_database_close(database);
}

static void run_elsewhere(const char *sql)
{
    char command[512];
    snprintf(command, sizeof command, "run %s %s", name(), sql);
    order(command);
}

static enum mt_status write_good(void)
{
    enum mt_status good = MT_OK;
    return mt_database_do(database, write_row, &good, &err);
}

/* The moment at which it can be used again is not ours to choose. */
static void expect_return(void)
{
    enum mt_status status = MT_BUSY;
    for (int i = 0; i < 3000 && status == MT_BUSY; i++) {
        status = write_good();
        usleep(20000);
    }
    ck_assert_msg(status == MT_OK, "%s", err.message);
}

START_TEST(one_that_was_restarted_is_used_at_once)
{
    ck_assert_int_eq(write_good(), MT_OK);
    order("stop");
    order("start");
    ck_assert_msg(write_good() == MT_OK, "%s", err.message);
    size_t n = 0;
    ck_assert_msg(mt_database_read(database, count_rows, &n, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(n, 4);
}
END_TEST

START_TEST(one_that_is_away_is_busy_until_it_is_back)
{
    size_t n = 0;
    ck_assert_int_eq(write_good(), MT_OK);
    order("stop");
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(write_good(), MT_BUSY);
        ck_assert_str_eq(err.message, "the database cannot be reached now: try again later");
        ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_BUSY);
    }
    order("start");
    expect_return();
}
END_TEST

START_TEST(one_that_is_away_at_the_start_is_waited_for)
{
    const struct mt_database_options usual = options();
    struct mt_database_options trial = usual;
    struct mt_database *other = NULL;
    trial.is_trial = true;
    order("stop");
    mt_database_close(database);
    database = NULL;
    ck_assert_int_eq(mt_database_open(&trial, &other, &err), MT_BUSY);
    ck_assert_msg(strstr(err.message, "Connection refused"), "%s", err.message);
    ck_assert_ptr_null(strstr(err.message, "secret"));
    ck_assert_int_eq(open_it(&database), MT_OK);
    ck_assert_int_eq(write_good(), MT_BUSY);
    order("start");
    size_t n = 0;
    enum mt_status status = MT_BUSY; /* who reads first makes the tables, too */
    for (int i = 0; i < 3000 && status == MT_BUSY; i++) {
        status = mt_database_read(database, count_rows, &n, &err);
        usleep(20000);
    }
    ck_assert_msg(status == MT_IO && strstr(err.message, "\"test\""), "%s", err.message);
    ck_assert_int_eq(write_good(), MT_OK);
    ck_assert_int_eq(mt_database_open(&trial, &other, &err), MT_OK);
    mt_database_close(other);
}
END_TEST

START_TEST(one_that_hangs_is_given_up)
{
    ck_assert_int_eq(write_good(), MT_OK);
    order("pause");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(write_good(), MT_BUSY);
    order("resume");
    expect_return();
}
END_TEST

/* A statement that fails ends what can be kept. */
static enum mt_status go_on_after_failure(struct mt_connection *connection, void *context,
                                          struct mt_error *error)
{
    enum mt_status good = MT_OK;
    enum mt_status status = write_row(connection, &good, error);
    if (!status)
        (void)!mt_database_run(connection, "SELECT wrong", NULL, 0, NULL, NULL, NULL, error);
    return status;
}

START_TEST(nothing_is_kept_after_a_failure)
{
    size_t n = 0;
    ck_assert_int_eq(write_good(), MT_OK);
    ck_assert_int_eq(mt_database_do(database, go_on_after_failure, NULL, &err), MT_IO);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_OK);
    ck_assert_uint_eq(n, 2);
}
END_TEST

/* Its process dies in the middle of a transaction: it is undone, and another process does the next. */
static enum mt_status lose_process(struct mt_connection *connection, void *context,
                                   struct mt_error *error)
{
    enum mt_status good = MT_OK;
    enum mt_status status = write_row(connection, &good, error);
    run_elsewhere("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                  "current_database() AND pid <> pg_backend_pid()");
    return status;
}

START_TEST(what_is_lost_in_the_middle_is_undone)
{
    size_t n = 0;
    ck_assert_int_eq(write_good(), MT_OK);
    ck_assert_int_eq(mt_database_do(database, lose_process, NULL, &err), MT_BUSY);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(write_good(), MT_OK);
}
END_TEST

/* ---- several at a time ---- */

static enum mt_status take_integer(void *context, const struct mt_value *columns,
                                   struct mt_error *error)
{
    *(int64_t *)context = columns[0].integer;
    return MT_OK;
}

/* Counts the rows and adds one of that number, which no two do at a time. */
static enum mt_status add_number(struct mt_connection *connection, void *context,
                                 struct mt_error *error)
{
    int64_t n = 0;
    enum mt_status status = mt_database_run(connection, "SELECT COUNT(*) FROM numbers", NULL, 0,
                                            take_integer, &n, NULL, error);
    const struct mt_value value = mt_value_integer(n);
    return status ? status
                  : mt_database_run(connection, "INSERT INTO numbers VALUES ($1)", &value, 1, NULL,
                                    NULL, NULL, error);
}

static enum mt_status make_numbers(struct mt_connection *connection, void *context,
                                   struct mt_error *error)
{
    return mt_database_run(connection, "CREATE TABLE numbers (n BIGINT NOT NULL)", NULL, 0, NULL,
                           NULL, NULL, error);
}

static enum mt_status find_most(struct mt_connection *connection, void *context,
                                struct mt_error *error)
{
    return mt_database_run(connection, "SELECT COUNT(DISTINCT n) FROM numbers", NULL, 0,
                           take_integer, context, NULL, error);
}

static void *add_numbers(void *context)
{
    struct mt_error error;
    for (int n = 0; n < 50;) /* who waits for too long is told, and has written nothing */
        n += mt_database_do(context, add_number, NULL, &error) == MT_OK;
    return NULL;
}

START_TEST(replicas_write_one_after_the_other)
{
    struct mt_database *other = NULL;
    pthread_t threads[4];
    int64_t n = 0;
    ck_assert_int_eq(open_it(&other), MT_OK);
    ck_assert_int_eq(mt_database_do(database, make_numbers, NULL, &err), MT_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_numbers, i % 2 ? database : other),
                         0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(mt_database_read(other, find_most, &n, &err), MT_OK);
    ck_assert_int_eq(n, 200);
    mt_database_close(other);
}
END_TEST

/* In a transaction of another replica. */
static enum mt_status write_beside(struct mt_connection *connection, void *context,
                                   struct mt_error *error)
{
    ck_assert_int_eq(write_good(), MT_BUSY);
    ck_assert_str_eq(err.message,
                     "the database cannot be used now: canceling statement due to lock "
                     "timeout");
    return MT_OK;
}

START_TEST(one_that_others_hold_is_waited_for_and_then_busy)
{
    struct mt_database *other = NULL;
    ck_assert_int_eq(open_it(&other), MT_OK);
    ck_assert_int_eq(mt_database_do(other, write_beside, NULL, &err), MT_OK);
    ck_assert_int_eq(write_good(), MT_OK);
    mt_database_close(other);
}
END_TEST

/* ---- what the operator may have wrong ---- */

static void expect_refusal(const char *wrong, enum mt_status expected, const char *message)
{
    struct mt_database_options trial = options();
    struct mt_database *other = NULL;
    trial.url = wrong;
    trial.is_trial = true;
    ck_assert_int_eq(mt_database_open(&trial, &other, &err), expected);
    ck_assert_msg(strstr(err.message, message), "%s", err.message);
    ck_assert_msg(!strstr(err.message, "s3cret"), "%s", err.message);
}

START_TEST(what_is_wrong_is_said_without_the_password)
{
    char wrong[512], port[8];
    snprintf(port, sizeof port, "%s", strrchr(url, ':') + 1);
    port[strcspn(port, "/")] = '\0';
    snprintf(wrong, sizeof wrong, "postgresql://translator:s3cret@127.0.0.1:%s/%s", port, name());
    expect_refusal(wrong, MT_BUSY, "password authentication failed for user \"translator\"");
    snprintf(wrong, sizeof wrong, "%.*snone", (int)(strlen(url) - strlen(name())), url);
    expect_refusal(wrong, MT_BUSY, "database \"none\" does not exist");
    expect_refusal("s3cret", MT_INVALID, "expected postgresql://");
    expect_refusal("postgresql://a:s3cret@b@host/name", MT_INVALID, "one \"@\" at most");
    expect_refusal("postgresql://a:s3cret/b@host/name", MT_INVALID, "one \"@\" at most");
    expect_refusal("postgresql://a:s3cret?b@host/name", MT_INVALID, "one \"@\" at most");
    expect_refusal("postgresql://a:s3cret%zz@host/name", MT_INVALID, "expected postgresql://");
    expect_refusal("postgresql://a:s3cret@host/name?nonsense=1", MT_INVALID,
                   "expected postgresql://");
}
END_TEST

START_TEST(a_program_that_is_missing_is_named)
{
    struct mt_database_options usual = options();
    struct mt_database *other = NULL;
    usual.program = "/nowhere/attentiond-database";
    ck_assert_int_eq(mt_database_open(&usual, &other, &err), MT_IO);
    ck_assert_str_eq(err.message,
                     "/nowhere/attentiond-database, which connects to the database, does not run");
}
END_TEST

Suite *suite_database_postgresql(void)
{
    static const struct database_kind kind = {.open = open_it, .run_elsewhere = run_elsewhere};
    Suite *suite = suite_create("database_postgresql");
    TCase *tcase = tcase_create("database_postgresql");
    start_server();
    atexit(stop_server);
    tcase_add_checked_fixture(tcase, setup, teardown);
    add_promises(tcase, &kind);
    tcase_add_test(tcase, one_that_was_restarted_is_used_at_once);
    tcase_add_test(tcase, one_that_is_away_is_busy_until_it_is_back);
    tcase_add_test(tcase, one_that_is_away_at_the_start_is_waited_for);
    tcase_add_test(tcase, one_that_hangs_is_given_up);
    tcase_add_test(tcase, nothing_is_kept_after_a_failure);
    tcase_add_test(tcase, what_is_lost_in_the_middle_is_undone);
    tcase_add_test(tcase, replicas_write_one_after_the_other);
    tcase_add_test(tcase, one_that_others_hold_is_waited_for_and_then_busy);
    tcase_add_test(tcase, what_is_wrong_is_said_without_the_password);
    tcase_add_test(tcase, a_program_that_is_missing_is_named);
    suite_add_tcase(suite, tcase);
    return suite;
}
