#include "database_promises.h"

#include "base/log.h"
#include "base/text.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

static char folder[] = "/tmp/attentiond-test-XXXXXX";
static char path[sizeof folder + 32];

static enum mt_status open_it(struct mt_database **out)
{
    const struct mt_database_options options = {.directory = folder, .max_bytes = 32 << 20};
    return mt_database_open(&options, out, &err);
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/attentiond.db", folder);
    mt_log_set_level(MT_LOG_ERROR);
    ck_assert_int_eq(open_it(&database), MT_OK);
}

static void teardown(void)
{
    char command[sizeof folder + 16];
    mt_database_close(database);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    memcpy(strchr(folder, '-') + 6, "XXXXXX", 6);
}

/* Behind the back of the program. */
static void run_elsewhere(const char *sql)
{
    sqlite3 *other;
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
}

static void *write_beside(void *context)
{
    enum mt_status good = MT_OK, *status = context;
    struct mt_error own;
    *status = mt_database_do(database, write_row, &good, &own);
    return NULL;
}

/* For as long as another thread waits for it. */
static enum mt_status hold(struct mt_connection *connection, void *context, struct mt_error *error)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, write_beside, context), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return MT_OK;
}

START_TEST(who_writes_beside_another_one_waits_and_then_gives_up)
{
    enum mt_status status = MT_OK;
    ck_assert_int_eq(mt_database_do(database, hold, &status, &err), MT_OK);
    ck_assert_int_eq(status, MT_BUSY);
    ck_assert_int_eq(mt_database_do(database, write_row, &(enum mt_status){MT_OK}, &err), MT_OK);
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
START_TEST(a_damaged_one_is_set_aside_at_work)
{
    enum mt_status good = MT_OK;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    run_elsewhere("PRAGMA writable_schema = ON; "
                  "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'test'");
    mt_database_close(database);
    mt_log_set_level(MT_LOG_NONE);
    ck_assert_int_eq(open_it(&database), MT_OK); /* another one */
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
    static const struct database_kind kind = {.open = open_it, .run_elsewhere = run_elsewhere};
    Suite *suite = suite_create("database");
    TCase *tcase = tcase_create("database");
    tcase_add_checked_fixture(tcase, setup, teardown);
    add_promises(tcase, &kind);
    tcase_add_test(tcase, who_writes_beside_another_one_waits_and_then_gives_up);
    tcase_add_test(tcase, one_that_others_hold_is_waited_for_and_then_busy);
    tcase_add_test(tcase, a_damaged_one_is_set_aside_at_work);
    tcase_add_test(tcase, a_damaged_one_is_set_aside_when_it_is_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
