/*
 * What outlives the daemon, in the tables of a database: a file of SQLite's in data_directory
 * (database_sqlite.c), or one of PostgreSQL's that replicas share (database_postgresql.c).
 * Statements are written in what both understand, with values in the places $1, $2, ...
 *
 *   open -> do(work), read(work) ... -> close
 *              '- run, run, ...: all of what they write is kept, or nothing
 *
 * Those who write do so one after the other, in all processes and replicas, and each sees what the
 * one before it has written: what was counted is still so when it is decided upon, nothing is to be
 * locked, and nobody need try again. Who waits for longer than a second gives up (MT_BUSY). Those who
 * read see one state, and wait for nobody.
 *
 * Errors, of all of them: MT_BUSY where the database cannot be used now (its disk is full, another
 * process holds it for too long, it is out of reach), MT_FORMAT where it is damaged, MT_IO for the
 * rest, MT_MEMORY. With PostgreSQL MT_BUSY can also mean that it was lost while the transaction was
 * being kept: then nobody knows whether it was. A statement may take five seconds there.
 *
 * Thread-safety: open and close one thread at a time; do and read are safe, and of each of the two one
 * transaction follows the other.
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
    const char *text; /* UTF-8 without NUL; of a row: ends with NUL, and lasts until row returns */
    size_t length;
};

struct mt_value mt_value_integer(int64_t integer);
struct mt_value mt_value_text(const char *text); /* borrowed */

/* Memory that an open database takes, at most: pages that were read or written last. */
#define MT_DATABASE_BYTES ((size_t)48 << 20)

struct mt_database_options {
    /* SQLite */
    const char *directory; /* is made where it is missing */
    int64_t max_bytes;     /* what is beyond fails, as where a disk is full */
    /* PostgreSQL */
    const char *url;     /* NULL or "": SQLite */
    const char *program; /* attentiond-database, which connects; it is started from here */
    bool is_confined;    /* it gives up all other rights */
    bool is_trial;       /* it must be there, and is closed after that: no tables are made */
};

/* SQLite: a file that is no database, or is damaged, is set aside under another name, with a message
 * in the log, and a new one is begun.
 * PostgreSQL: one that cannot be reached, or refuses us, is looked for again at each transaction, and
 * the log says why; in a trial that is MT_BUSY. Its password is in no message. MT_INVALID: the url is
 * none.
 * Both: MT_UNSUPPORTED: it is a newer program's. */
MT_MUST_CHECK enum mt_status mt_database_open(const struct mt_database_options *options,
                                              struct mt_database **out, struct mt_error *err);
/* Takes NULL. */
void mt_database_close(struct mt_database *database);

/* MT_UNSUPPORTED: there is no database that what ("glossaries") could be kept in. */
enum mt_status mt_database_fail_missing(const char *what, struct mt_error *err);

/* Calls work in a transaction, which is kept if work returns MT_OK and undone otherwise. Once it has
 * returned MT_OK, neither a crash of the daemon nor one of the machine loses what was written. */
typedef enum mt_status mt_database_work(struct mt_connection *connection, void *context,
                                        struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_database_do(struct mt_database *database, mt_database_work *work,
                                            void *context, struct mt_error *err);

/* The same for work that only reads: it sees one state of the database, and does not wait for those
 * who write. */
MT_MUST_CHECK enum mt_status mt_database_read(struct mt_database *database, mt_database_work *work,
                                              void *context, struct mt_error *err);

/* For each row that a statement gives, with its columns; another result than MT_OK ends them. It runs
 * no statements. */
typedef enum mt_status mt_database_row(void *context, const struct mt_value *columns,
                                       struct mt_error *err);

/* Most values of one statement. A row has far fewer columns. */
#define MT_DATABASE_MAX_VALUES 960

/* In work, which must fail when a statement does. row may be NULL; n_changed, which may be NULL too,
 * becomes the number of rows written. */
MT_MUST_CHECK enum mt_status mt_database_run(struct mt_connection *connection, const char *sql,
                                             const struct mt_value *values, size_t n_values,
                                             mt_database_row *row, void *context, size_t *n_changed,
                                             struct mt_error *err);

/* Behind CREATE TABLE: the rows are to be kept in the order of the primary key, and nowhere else, where
 * the database can do that. To others it is a comment. */
#define MT_IN_KEY_ORDER " /* in key order */"

#endif
