/*
 * What database.h promises of every database: tests for the suites of both.
 */
#ifndef MT_TESTS_DATABASE_PROMISES_H
#define MT_TESTS_DATABASE_PROMISES_H

#include "server/data/database.h"

#include <check.h>

/* Which a suite's own fixture opens and closes. */
extern struct mt_database *database;
extern struct mt_error err;

struct database_kind {
    /* Opens the same database, into *out. */
    enum mt_status (*open)(struct mt_database **out);
    /* Behind the back of the program. */
    void (*run_elsewhere)(const char *sql);
};

void add_promises(TCase *tcase, const struct database_kind *kind);

/* Work that makes the table test, writes two rows into it, and returns *context. */
enum mt_status write_row(struct mt_connection *connection, void *context, struct mt_error *error);
/* Work that adds the number of its rows to *context, a size_t, and looks at each. */
enum mt_status count_rows(struct mt_connection *connection, void *context, struct mt_error *error);

#endif
