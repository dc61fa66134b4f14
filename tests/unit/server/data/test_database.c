#include "server/data/database.h"

#include "base/log.h"
#include "base/text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

static struct mt_error err;
static char folder[] = "/tmp/attentiond-test-XXXXXX";
static char path[sizeof folder + 32];
static struct mt_database *database;

static enum mt_status open_it(void)
{
    const struct mt_database_options options = {.directory = folder, .max_bytes = 1 << 20};
    return mt_database_open(&options, &database, &err);
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/attentiond.db", folder);
    mt_log_set_level(MT_LOG_ERROR);
    ck_assert_int_eq(open_it(), MT_OK);
}

static void teardown(void)
{
    char command[sizeof folder + 16];
    mt_database_close(database);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    memcpy(strchr(folder, '-') + 6, "XXXXXX", 6);
}

/* Writes a row, and then returns *context. */
static enum mt_status write_row(struct mt_connection *connection, void *context,
                                struct mt_error *error)
{
    const struct mt_value values[] = {
        mt_value_text("it's \xC3\xA4"), {.type = MT_VALUE_NULL}, mt_value_integer(INT64_MIN)};
    size_t n_changed = 0;
    enum mt_status status =
        mt_database_run(connection, "CREATE TABLE IF NOT EXISTS test (a TEXT, b TEXT, c BIGINT)",
                        NULL, 0, NULL, NULL, NULL, error);
    ck_assert_int_eq(status, MT_OK);
    /* Values go where their numbers are, each as often as one likes. */
    status = mt_database_run(connection, "INSERT INTO test VALUES ($1, $2, $3), ($1, $2, $3)",
                             values, 3, NULL, NULL, &n_changed, error);
    ck_assert_uint_eq(n_changed, 2);
    ck_assert_int_eq(status, MT_OK);
    return *(enum mt_status *)context;
}

static enum mt_status check_row(void *context, const struct mt_value *columns,
                                struct mt_error *error)
{
    ck_assert_int_eq(columns[0].type, MT_VALUE_TEXT);
    ck_assert_str_eq(columns[0].text, "it's \xC3\xA4");
    ck_assert_uint_eq(columns[0].length, 7);
    ck_assert_int_eq(columns[1].type, MT_VALUE_NULL);
    ck_assert_int_eq(columns[2].type, MT_VALUE_INTEGER);
    ck_assert_int_eq(columns[2].integer, INT64_MIN);
    ++*(size_t *)context;
    return MT_OK;
}

static enum mt_status count_rows(struct mt_connection *connection, void *context,
                                 struct mt_error *error)
{
    return mt_database_run(connection, "SELECT a, b, c FROM test", NULL, 0, check_row, context,
                           NULL, error);
}

static size_t n_rows(void)
{
    size_t n = 0;
    ck_assert_int_eq(mt_database_do(database, count_rows, &n, &err), MT_OK);
    return n;
}

START_TEST(work_is_kept_or_undone)
{
    enum mt_status good = MT_OK, bad = MT_NOT_FOUND;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    ck_assert_uint_eq(n_rows(), 2);
    ck_assert_int_eq(mt_database_do(database, write_row, &bad, &err), MT_NOT_FOUND);
    ck_assert_uint_eq(n_rows(), 2);
    mt_database_close(database);
    ck_assert_int_eq(open_it(), MT_OK);
    ck_assert_uint_eq(n_rows(), 2);
}
END_TEST

static enum mt_status run_wrong(struct mt_connection *connection, void *context,
                                struct mt_error *error)
{
    return mt_database_run(connection, "SELECT wrong", NULL, 0, NULL, NULL, NULL, error);
}

START_TEST(a_wrong_statement_is_an_error)
{
    ck_assert_int_eq(mt_database_do(database, run_wrong, NULL, &err), MT_IO);
    ck_assert_str_eq(err.message, "the database: no such column: wrong");
}
END_TEST

/* Behind the back of the program. */
static void run_elsewhere(const char *sql)
{
    sqlite3 *other;
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
}

START_TEST(a_newer_programs_database_is_left_alone)
{
    mt_database_close(database);
    run_elsewhere("INSERT INTO attentiond_versions VALUES (99)");
    database = NULL;
    ck_assert_int_eq(open_it(), MT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "version 99"));
    run_elsewhere("DELETE FROM attentiond_versions WHERE version = 99");
    ck_assert_int_eq(open_it(), MT_OK);
}
END_TEST

START_TEST(one_that_others_hold_is_waited_for_and_then_busy)
{
    enum mt_status good = MT_OK;
    sqlite3 *other;
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_BUSY);
    ck_assert_str_eq(err.message, "the database cannot be used now: database is locked");
    ck_assert_int_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
}
END_TEST

/* What is damaged while it is open is set aside when that is noticed. */
/* Within a transaction that has written and is not kept yet. */
static enum mt_status read_beside(struct mt_connection *connection, void *context,
                                  struct mt_error *error)
{
    enum mt_status good = MT_OK;
    size_t n = 0;
    ck_assert_int_eq(write_row(connection, &good, error), MT_OK);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, error), MT_OK);
    ck_assert_uint_eq(n, 2);
    return MT_OK;
}

START_TEST(who_reads_sees_what_was_kept_and_does_not_wait)
{
    enum mt_status good = MT_OK;
    size_t n = 0;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    ck_assert_int_eq(mt_database_do(database, read_beside, NULL, &err), MT_OK);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_OK);
    ck_assert_uint_eq(n, 4);
}
END_TEST

static enum mt_status insert_row(struct mt_connection *connection, void *context,
                                 struct mt_error *error)
{
    return mt_database_run(connection, "INSERT INTO test VALUES ('', '', 1)", NULL, 0, NULL, NULL,
                           NULL, error);
}

START_TEST(who_reads_writes_nothing)
{
    enum mt_status good = MT_OK;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    ck_assert_int_ne(mt_database_read(database, insert_row, NULL, &err), MT_OK);
    ck_assert_uint_eq(n_rows(), 2);
}
END_TEST

START_TEST(a_damaged_one_is_set_aside_at_work)
{
    enum mt_status good = MT_OK;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    run_elsewhere("PRAGMA writable_schema = ON; "
                  "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'test'");
    mt_database_close(database);
    mt_log_set_level(MT_LOG_NONE);
    ck_assert_int_eq(open_it(), MT_OK); /* another one */
    size_t n = 0;
    ck_assert_int_eq(mt_database_do(database, count_rows, &n, &err), MT_IO);
    ck_assert_str_eq(err.message, "the database: no such table: test");
}
END_TEST

START_TEST(a_damaged_one_is_set_aside_when_it_is_read)
{
    enum mt_status good = MT_OK;
    size_t n = 0;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    run_elsewhere("PRAGMA writable_schema = ON; "
                  "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'test'");
    mt_log_set_level(MT_LOG_NONE);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_BUSY);
    ck_assert_str_eq(err.message,
                     "the database was damaged; it has been set aside, and a new one begun");
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    ck_assert_int_eq(mt_database_read(database, count_rows, &n, &err), MT_OK);
    ck_assert_uint_eq(n, 2);
}
END_TEST

Suite *suite_database(void)
{
    Suite *suite = suite_create("database");
    TCase *tcase = tcase_create("database");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, work_is_kept_or_undone);
    tcase_add_test(tcase, a_wrong_statement_is_an_error);
    tcase_add_test(tcase, a_newer_programs_database_is_left_alone);
    tcase_add_test(tcase, one_that_others_hold_is_waited_for_and_then_busy);
    tcase_add_test(tcase, who_reads_sees_what_was_kept_and_does_not_wait);
    tcase_add_test(tcase, who_reads_writes_nothing);
    tcase_add_test(tcase, a_damaged_one_is_set_aside_at_work);
    tcase_add_test(tcase, a_damaged_one_is_set_aside_when_it_is_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
