#include "database_promises.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct mt_database *database;
struct mt_error err;
static const struct database_kind *kind;

enum mt_status write_row(struct mt_connection *connection, void *context, struct mt_error *error)
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

enum mt_status count_rows(struct mt_connection *connection, void *context, struct mt_error *error)
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
    ck_assert_int_eq(kind->open(&database), MT_OK);
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
    enum mt_status good = MT_OK;
    ck_assert_int_eq(mt_database_do(database, run_wrong, NULL, &err), MT_IO);
    ck_assert_ptr_eq(strstr(err.message, "the database: "), err.message);
    ck_assert_ptr_nonnull(strstr(err.message, "wrong"));
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
}
END_TEST

static enum mt_status run_in_row(void *context, const struct mt_value *columns,
                                 struct mt_error *error)
{
    return run_wrong(context, NULL, error);
}

static enum mt_status nest(struct mt_connection *connection, void *context, struct mt_error *error)
{
    return mt_database_run(connection, "SELECT 1", NULL, 0, run_in_row, connection, NULL, error);
}

START_TEST(a_row_runs_no_statement)
{
    ck_assert_int_eq(mt_database_read(database, nest, NULL, &err), MT_IO);
    ck_assert_str_eq(err.message, "the database: a row of a statement runs another one");
}
END_TEST

static enum mt_status refuse_row(void *context, const struct mt_value *columns,
                                 struct mt_error *error)
{
    ++*(size_t *)context;
    return mt_fail(error, MT_LIMIT, "enough");
}

/* That has rows, of which the first is enough; and then goes on. */
static enum mt_status look_once(struct mt_connection *connection, void *context,
                                struct mt_error *error)
{
    size_t n = 0;
    ck_assert_int_eq(mt_database_run(connection, "SELECT a FROM test", NULL, 0, refuse_row, context,
                                     NULL, error),
                     MT_LIMIT);
    return count_rows(connection, &n, error);
}

START_TEST(a_row_ends_the_rows)
{
    enum mt_status good = MT_OK;
    size_t n = 0;
    ck_assert_int_eq(mt_database_do(database, write_row, &good, &err), MT_OK);
    ck_assert_int_eq(mt_database_read(database, look_once, &n, &err), MT_OK);
    ck_assert_uint_eq(n, 1);
}
END_TEST

static enum mt_status take_long(void *context, const struct mt_value *columns,
                                struct mt_error *error)
{
    ck_assert_uint_eq(columns[0].length, *(size_t *)context);
    ck_assert_uint_eq(strspn(columns[0].text, "x"), columns[0].length);
    ck_assert_int_eq(columns[1].type, MT_VALUE_INTEGER);
    ck_assert_int_eq(columns[1].integer, INT64_C(3000000000));
    return MT_OK;
}

static enum mt_status write_long(struct mt_connection *connection, void *context,
                                 struct mt_error *error)
{
    size_t length = *(size_t *)context;
    char *text = malloc(length);
    memset(text, 'x', length);
    const struct mt_value values[] = {
        {.type = MT_VALUE_TEXT, .text = text, .length = length},
        mt_value_integer(1500000000),
    };
    enum mt_status status =
        mt_database_run(connection, "CREATE TABLE long (a TEXT NOT NULL, n BIGINT)", NULL, 0, NULL,
                        NULL, NULL, error);
    if (!status)
        status = mt_database_run(connection, "INSERT INTO long VALUES ($1, $2), ('', $2)", values,
                                 2, NULL, NULL, NULL, error);
    free(text);
    return status ? status
                  : mt_database_run(connection, "SELECT MAX(a), SUM(n) FROM long", NULL, 0,
                                    take_long, context, NULL, error);
}

/* The largest glossary that there may be; and integers, also where they are a sum. */
START_TEST(long_texts_and_sums)
{
    size_t length = 10485760;
    ck_assert_int_eq(mt_database_do(database, write_long, &length, &err), MT_OK);
}
END_TEST

START_TEST(a_newer_programs_database_is_left_alone)
{
    mt_database_close(database);
    kind->run_elsewhere("INSERT INTO attentiond_versions VALUES (99)");
    database = NULL;
    ck_assert_int_eq(kind->open(&database), MT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "version 99"));
    kind->run_elsewhere("DELETE FROM attentiond_versions WHERE version = 99");
    ck_assert_int_eq(kind->open(&database), MT_OK);
}
END_TEST

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

void add_promises(TCase *tcase, const struct database_kind *of)
{
    kind = of;
    tcase_add_test(tcase, work_is_kept_or_undone);
    tcase_add_test(tcase, a_wrong_statement_is_an_error);
    tcase_add_test(tcase, a_row_runs_no_statement);
    tcase_add_test(tcase, a_row_ends_the_rows);
    tcase_add_test(tcase, long_texts_and_sums);
    tcase_add_test(tcase, a_newer_programs_database_is_left_alone);
    tcase_add_test(tcase, who_reads_sees_what_was_kept_and_does_not_wait);
    tcase_add_test(tcase, who_reads_writes_nothing);
}
