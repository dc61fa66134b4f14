/*
 * Data that outlive the daemon, in a database: an SQLite file in data_directory
 * (database_sqlite.c), or a PostgreSQL database that replicas share (database_postgresql.c).
 * Statements use the SQL that both understand, with values in the places $1, $2, ...
 *
 *   open -> do(work), read(work) ... -> close
 *              '- run, run, ...: all of their changes are kept, or none
 *
 * Writing transactions run one after the other, across all processes and replicas, and each sees
 * the changes of the one before. So a count is still right when a decision depends on it, nothing
 * has to be locked, and nothing has to be tried again. A transaction that waits for more than a
 * second gives up (MT_BUSY). Reading transactions see one state, and wait for nobody.
 *
 * All functions return these errors: MT_BUSY where the database cannot be used now (its disk is
 * full, another process holds it for too long, it cannot be reached), MT_FORMAT where it is
 * damaged, MT_IO for others, MT_MEMORY. With PostgreSQL, MT_BUSY may also mean that the connection
 * was lost during the commit: then it is unknown whether the transaction was committed. A statement
 * may take five seconds there.
 *
 * Thread-safety: open and close one thread at a time; do and read are safe, and each of the two
 * runs its transactions one after the other.
 */
#ifndef MT_SERVER_DATA_DATABASE_H
#define MT_SERVER_DATA_DATABASE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_connection;
struct mt_database;

enum mt_value_type { MT_VALUE_NULL, MT_VALUE_INTEGER, MT_VALUE_TEXT };

struct mt_value {
    enum mt_value_type type;
    int64_t integer;
    /* UTF-8 without NUL; in a row it ends with NUL and is valid until the row function returns */
    const char *text;
    size_t length;
};

struct mt_value mt_value_integer(int64_t integer);
struct mt_value mt_value_text(const char *text); /* borrowed */

/* Most memory of an open database, for the pages that were used last. */
#define MT_DATABASE_BYTES ((size_t)48 << 20)

struct mt_database_options {
    /* for SQLite */
    const char *directory; /* created if it is missing */
    int64_t max_bytes;     /* writing beyond it fails as on a full disk */
    /* for PostgreSQL */
    const char *url; /* NULL or "": SQLite is used */
    /* path of attentiond-database, which makes the connections; the daemon starts it */
    const char *program;
    bool is_confined; /* it drops all other rights */
    bool is_trial;    /* only checks that the database can be reached; no tables are created */
};

/* SQLite: a file that is not a database, or is damaged, is renamed, with a message in the log, and
 * a new one is created. PostgreSQL: a database that cannot be reached, or refuses the connection,
 * is tried again at each transaction, and the log has the reason; in a trial this is MT_BUSY. No
 * message contains its password. MT_INVALID: the url is malformed. Both: MT_UNSUPPORTED: the
 * database is of a newer version. */
MT_MUST_CHECK enum mt_status mt_database_open(const struct mt_database_options *options,
                                              struct mt_database **out, struct mt_error *err);
/* NULL is allowed. */
void mt_database_close(struct mt_database *database);

/* Returns MT_UNSUPPORTED: there is no database to store what ("glossaries") in. */
enum mt_status mt_database_fail_missing(const char *what, struct mt_error *err);

/* Calls work in a transaction, which is committed if work returns MT_OK and rolled back otherwise.
 * Once this has returned MT_OK, neither a crash of the daemon nor one of the machine loses the
 * changes. */
typedef enum mt_status mt_database_work(struct mt_connection *connection, void *context,
                                        struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_database_do(struct mt_database *database, mt_database_work *work,
                                            void *context, struct mt_error *err);

/* Calls work that only reads in a transaction: it sees one state of the database, and does not wait
 * for writing transactions. */
MT_MUST_CHECK enum mt_status mt_database_read(struct mt_database *database, mt_database_work *work,
                                              void *context, struct mt_error *err);

/* Called with the columns of each row of a statement. A status other than MT_OK ends the rows. It
 * must not run statements. */
typedef enum mt_status mt_database_row(void *context, const struct mt_value *columns,
                                       struct mt_error *err);

/* Most values of one statement. A row has far fewer columns. */
#define MT_DATABASE_MAX_VALUES 960

/* Runs a statement; only for work, which has to fail if a statement does. row may be NULL;
 * n_changed, which may also be NULL, gets the number of rows written. */
MT_MUST_CHECK enum mt_status mt_database_run(struct mt_connection *connection, const char *sql,
                                             const struct mt_value *values, size_t n_values,
                                             mt_database_row *row, void *context, size_t *n_changed,
                                             struct mt_error *err);

/* Put behind CREATE TABLE: stores the rows only in the order of the primary key, where the database
 * supports that. For others it is a comment. */
#define MT_IN_KEY_ORDER " /* in key order */"

#endif
