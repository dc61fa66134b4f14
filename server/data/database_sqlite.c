#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "server/data/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#define FILE_NAME "attentiond.db"
/* How long a transaction waits for others, of other processes and of this one. */
#define BUSY_MS 1000
#define MAX_COLUMNS 16
/* Most prepared statements that are kept. Without them a transaction that writes 100,000 rows would
 * take twice as long. */
#define MAX_STATEMENTS 32
#define SMALL_BYTES (64 << 20)
/* Memory for cached pages in KiB, for which SQLite wants a negative number. The writer's is large
 * because a translation memory's keys are written in random order. */
#define WRITER_CACHE "PRAGMA cache_size = -32768"
#define READER_CACHE "PRAGMA cache_size = -16384"
/* The undo data of a statement with many rows is kept in memory, because the daemon may not open
 * other files. */
#define NO_FILES "PRAGMA temp_store = MEMORY"
#define BEGIN_WRITING "BEGIN IMMEDIATE"
#define BEGIN_READING "BEGIN"
/* Only the daemon may read what clients stored. */
#define PRIVATE_MODE 0600

/* A prepared statement. */
struct statement {
    char *sql;
    sqlite3_stmt *prepared;
    int *
        /* for each place in the SQL the number of its value, from 1 on, because SQLite would search
         * names in a list */
        places;
};

struct link {
    struct mt_connection common;
    sqlite3 *handle; /* NULL: it could not be opened again */
    /* a ring: the newest one is at next_statement - 1 */
    struct statement statements[MAX_STATEMENTS];
    size_t next_statement;
    bool is_damaged; /* damage was found */
    int code;        /* of the last failure */
};

/* Writers share one connection, and readers another: with SQLite's write-ahead log a reader sees
 * the last committed state during any write. */
struct side {
    /* held during a transaction; the writer's is taken before the reader's */
    pthread_mutex_t mutex;
    struct link link;
};

struct sqlite {
    struct mt_database common;
    char *path;
    int64_t max_bytes;
    struct side writer, reader; /* the reader's connection is opened at its first use */
};

static const struct mt_backend backend;

/* ---- errors ---- */

static enum mt_status fail_damaged(struct link *link, const char *message, struct mt_error *err)
{
    link->is_damaged = true;
    return mt_fail(err, MT_FORMAT, "the database is damaged: %s", message);
}

static enum mt_status fail(struct link *link, int code, struct mt_error *err)
{
    const char *message = link->handle ? sqlite3_errmsg(link->handle) : sqlite3_errstr(code);
    link->code = code;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return mt_fail_memory(err, 0, "the database");
    case SQLITE_FULL:
        return mt_fail(err, MT_BUSY,
                       "the database cannot be written: %s (the disk, or max_data_bytes)", message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return mt_fail(err, MT_BUSY, "the database cannot be used now: %s", message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail_damaged(link, message, err);
    default:
        return mt_fail(err, MT_IO, "the database: %s", message);
    }
}

/* ---- statements ---- */

static int bind(const struct statement *statement, const struct mt_value *values, size_t n_values)
{
    int code = SQLITE_OK, n_places = sqlite3_bind_parameter_count(statement->prepared);
    for (int place = 1; place <= n_places && code == SQLITE_OK; place++) {
        int number = statement->places[place - 1];
        if (number < 1 || (size_t)number > n_values)
            continue;
        const struct mt_value *value = &values[number - 1];
        if (value->type == MT_VALUE_INTEGER)
            code = sqlite3_bind_int64(statement->prepared, place, value->integer);
        else if (value->type == MT_VALUE_TEXT)
            code = sqlite3_bind_text64(statement->prepared, place, value->text, value->length,
                                       SQLITE_STATIC, SQLITE_UTF8);
    }
    return code;
}

static int *list_places(sqlite3_stmt *prepared)
{
    int n = sqlite3_bind_parameter_count(prepared);
    int *places = calloc((size_t)n + 1, sizeof *places);
    for (int i = 0; i < n && places; i++) {
        const char *name = sqlite3_bind_parameter_name(prepared, i + 1);
        places[i] = name ? atoi(name + 1) : 0;
    }
    return places;
}

static enum mt_status give_row(sqlite3_stmt *statement, mt_database_row *row, void *context,
                               struct mt_error *err)
{
    struct mt_value columns[MAX_COLUMNS] = {{0}};
    int n = sqlite3_column_count(statement);
    for (int i = 0; i < n && i < MAX_COLUMNS; i++) {
        int type = sqlite3_column_type(statement, i);
        if (type == SQLITE_INTEGER)
            columns[i] = mt_value_integer(sqlite3_column_int64(statement, i));
        else if (type != SQLITE_NULL)
            columns[i] = (struct mt_value){
                .type = MT_VALUE_TEXT,
                .text = (const char *)sqlite3_column_text(statement, i),
                .length = (size_t)sqlite3_column_bytes(statement, i),
            };
        if (columns[i].type == MT_VALUE_TEXT && !columns[i].text)
            return mt_fail_memory(err, 0, "a row of the database");
    }
    return row(context, columns, err);
}

static int step_all(sqlite3_stmt *statement, mt_database_row *row, void *context,
                    enum mt_status *status, struct mt_error *err)
{
    int code = sqlite3_step(statement);
    while (code == SQLITE_ROW && !*status) {
        *status = row ? give_row(statement, row, context, err) : MT_OK;
        if (!*status)
            code = sqlite3_step(statement);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static struct statement *find_statement(struct link *link, const char *sql)
{
    for (size_t i = 0; i < MAX_STATEMENTS; i++) {
        struct statement *statement = &link->statements[i];
        if (statement->sql && strcmp(statement->sql, sql) == 0)
            return statement;
    }
    return NULL;
}

static void drop_statement(struct statement *statement)
{
    sqlite3_finalize(statement->prepared);
    free(statement->places);
    free(statement->sql);
    *statement = (struct statement){0};
}

static int prepare_in_key_order(struct link *link, const char *sql, sqlite3_stmt **out)
{
    struct mt_text text = {0};
    mt_text_appendf(&text, "%s WITHOUT ROWID", sql);
    int code =
        text.status ? SQLITE_NOMEM : sqlite3_prepare_v2(link->handle, text.bytes, -1, out, NULL);
    mt_text_finish(&text);
    return code;
}

/* Prepares a statement, which replaces the oldest one. Returns NULL where that fails, with the
 * failure in *code. */
static struct statement *make_statement(struct link *link, const char *sql, int *code)
{
    struct statement *statement = &link->statements[link->next_statement];
    link->next_statement = (link->next_statement + 1) % MAX_STATEMENTS;
    drop_statement(statement);
    statement->sql = strdup(sql);
    if (!statement->sql)
        *code = SQLITE_NOMEM;
    else if (strstr(sql, MT_IN_KEY_ORDER))
        *code = prepare_in_key_order(link, sql, &statement->prepared);
    else
        *code = sqlite3_prepare_v2(link->handle, sql, -1, &statement->prepared, NULL);
    if (*code == SQLITE_OK && !(statement->places = list_places(statement->prepared)))
        *code = SQLITE_NOMEM;
    if (*code == SQLITE_OK)
        return statement;
    drop_statement(statement);
    return NULL;
}

static enum mt_status run(struct mt_connection *connection, const char *sql,
                          const struct mt_value *values, size_t n_values, mt_database_row *row,
                          void *context, size_t *n_changed, struct mt_error *err)
{
    struct link *link = (struct link *)connection;
    enum mt_status status = MT_OK;
    int code = SQLITE_OK;
    struct statement *statement = find_statement(link, sql);
    if (!statement)
        statement = make_statement(link, sql, &code);
    if (!statement)
        return fail(link, code, err);
    code = bind(statement, values, n_values);
    if (code == SQLITE_OK)
        code = step_all(statement->prepared, row, context, &status, err);
    if (!status && code != SQLITE_OK)
        status = fail(link, code, err);
    if (n_changed)
        *n_changed = (size_t)sqlite3_changes(link->handle);
    sqlite3_reset(statement->prepared);
    sqlite3_clear_bindings(statement->prepared);
    return status;
}

static enum mt_status run_plain(struct link *link, const char *sql, struct mt_error *err)
{
    return mt_database_run(&link->common, sql, NULL, 0, NULL, NULL, NULL, err);
}

/* ---- opening ---- */

static enum mt_status transact(struct link *link, const char *begin, mt_database_work *work,
                               void *context, struct mt_error *err)
{
    enum mt_status status = run_plain(link, begin, err);
    if (status)
        return status;
    status = work(&link->common, context, err);
    if (!status)
        status = run_plain(link, "COMMIT", err);
    if (status && !sqlite3_get_autocommit(link->handle))
        (void)run_plain(link, "ROLLBACK", NULL);
    return status;
}

static enum mt_status expect_sound(void *context, const struct mt_value *columns,
                                   struct mt_error *err)
{
    bool is_sound = columns[0].text && strcmp(columns[0].text, "ok") == 0;
    return is_sound ? MT_OK : fail_damaged(context, columns[0].text ? columns[0].text : "", err);
}

/* A small database is checked at each start, which takes some milliseconds. A larger one is checked
 * only if there is a journal, because then the last program did not close it. */
static bool is_to_be_checked(const struct sqlite *database)
{
    struct mt_text path = {0};
    struct stat st;
    mt_text_appendf(&path, "%s-wal", database->path);
    bool has_journal = !path.status && access(path.bytes, F_OK) == 0;
    mt_text_finish(&path);
    return has_journal || (stat(database->path, &st) == 0 && st.st_size <= SMALL_BYTES);
}

/* Tables that cannot be read, or are missing and cannot be created, are treated as damaged. */
static enum mt_status bring_up(struct link *link, struct mt_error *err)
{
    enum mt_status status = transact(link, BEGIN_WRITING, mt_schema_bring_up, NULL, err);
    link->is_damaged |= status && (link->code & 0xff) == SQLITE_ERROR;
    return status;
}

static enum mt_status configure(struct sqlite *database, struct mt_error *err)
{
    static const char *const pragmas[] = {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                                          "PRAGMA foreign_keys = ON", NO_FILES, WRITER_CACHE};
    struct link *link = &database->writer.link;
    char limit[64];
    sqlite3_busy_timeout(link->handle, BUSY_MS);
    sqlite3_extended_result_codes(link->handle, 1);
    bool is_checked = is_to_be_checked(database);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas && !status; i++)
        status = run_plain(link, pragmas[i], err);
    /* SQLite limits the number of pages, which have 4,096 bytes by default. */
    snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld",
             (long long)(database->max_bytes / 4096 + 1));
    if (!status)
        status = run_plain(link, limit, err);
    if (!status && is_checked)
        status = mt_database_run(&link->common, "PRAGMA quick_check(1)", NULL, 0, expect_sound,
                                 link, NULL, err);
    return status ? status : bring_up(link, err);
}

static void close_link(struct link *link)
{
    for (size_t i = 0; i < MAX_STATEMENTS; i++)
        drop_statement(&link->statements[i]);
    sqlite3_close(link->handle);
    *link = (struct link){.common = {.backend = &backend}, .is_damaged = link->is_damaged};
}

static enum mt_status open_handle(const struct sqlite *database, struct link *link,
                                  struct mt_error *err)
{
    link->is_damaged = false;
    int code = sqlite3_open_v2(database->path, &link->handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    return code == SQLITE_OK ? MT_OK : fail(link, code, err);
}

static enum mt_status open_writer(struct sqlite *database, struct mt_error *err)
{
    struct link *link = &database->writer.link;
    /* SQLite creates its other files with the same mode. */
    int fd = open(database->path, O_RDWR | O_CREAT | O_CLOEXEC, PRIVATE_MODE);
    if (fd < 0)
        return mt_fail(err, MT_IO, "%s: %s", database->path, strerror(errno));
    close(fd);
    enum mt_status status = open_handle(database, link, err);
    if (!status)
        status = configure(database, err);
    if (status)
        close_link(link);
    return status;
}

static enum mt_status open_reader(struct sqlite *database, struct mt_error *err)
{
    struct link *link = &database->reader.link;
    enum mt_status status = open_handle(database, link, err);
    if (!status) {
        sqlite3_busy_timeout(link->handle, BUSY_MS);
        status = run_plain(link, "PRAGMA query_only = ON", err);
        if (!status)
            status = run_plain(link, READER_CACHE, err);
    }
    if (status)
        close_link(link);
    return status;
}

/* Renames the database together with the files that belong to it. */
static enum mt_status set_aside(const struct sqlite *database, const char *reason,
                                struct mt_error *err)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    struct mt_text from = {0}, to = {0};
    char mark[9];
    enum mt_status status = mt_random_hex(sizeof mark / 2, "the name of a damaged file", mark, err);
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !status; i++) {
        from.length = to.length = 0;
        mt_text_appendf(&from, "%s%s", database->path, endings[i]);
        mt_text_appendf(&to, "%s.damaged-%s%s", database->path, mark, endings[i]);
        status = mt_text_check(&from, "a path", err);
        if (!status)
            status = mt_text_check(&to, "a path", err);
        if (!status && rename(from.bytes, to.bytes) != 0 && errno != ENOENT)
            status = mt_fail(err, MT_IO, "%s cannot be renamed: %s", from.bytes, strerror(errno));
    }
    if (!status)
        mt_log(MT_LOG_ERROR, "%s: %s; it was set aside as %s.damaged-%s, and a new one is begun",
               database->path, reason, database->path, mark);
    mt_text_finish(&from);
    mt_text_finish(&to);
    return status;
}

/* Creates a new database after the damaged one was closed. */
static enum mt_status begin_anew(struct sqlite *database, struct mt_error *err)
{
    char reason[MT_ERROR_BYTES];
    snprintf(reason, sizeof reason, "%s", err->message);
    enum mt_status status = set_aside(database, reason, err);
    return status ? status : open_writer(database, err);
}

static enum mt_status find_file(const struct mt_database_options *options, struct sqlite *database,
                                struct mt_error *err)
{
    struct mt_text path = {0};
    mt_make_directories(options->directory);
    mt_text_appendf(&path, "%s/" FILE_NAME, options->directory);
    enum mt_status status = mt_text_check(&path, "a path", err);
    database->path = path.bytes;
    return status;
}

static void close_database(struct mt_database *common)
{
    struct sqlite *database = (struct sqlite *)common;
    close_link(&database->reader.link);
    close_link(&database->writer.link);
    pthread_mutex_destroy(&database->reader.mutex);
    pthread_mutex_destroy(&database->writer.mutex);
    free(database->path);
    free(database);
}

enum mt_status mt_sqlite_open(const struct mt_database_options *options, struct mt_database **out,
                              struct mt_error *err)
{
    struct sqlite *database = calloc(1, sizeof *database);
    if (!database)
        return mt_fail_memory(err, sizeof *database, "the database");
    database->common.backend = &backend;
    database->writer.link.common.backend = database->reader.link.common.backend = &backend;
    pthread_mutex_init(&database->writer.mutex, NULL);
    pthread_mutex_init(&database->reader.mutex, NULL);
    database->max_bytes = options->max_bytes;
    enum mt_status status = find_file(options, database, err);
    if (!status)
        status = open_writer(database, err);
    if (status && database->writer.link.is_damaged)
        status = begin_anew(database, err);
    if (status) {
        close_database(&database->common);
        return status;
    }
    *out = &database->common;
    return MT_OK;
}

/* The caller has both mutexes. */
static enum mt_status replace_damaged(struct sqlite *database, struct mt_error *err)
{
    close_link(&database->reader.link);
    close_link(&database->writer.link);
    enum mt_status status = begin_anew(database, err);
    return status ? status
                  : mt_fail(err, MT_BUSY,
                            "the database was damaged; it has been set aside, and a new one begun");
}

static enum mt_status write_data(struct mt_database *common, mt_database_work *work, void *context,
                                 struct mt_error *err)
{
    struct sqlite *database = (struct sqlite *)common;
    struct side *writer = &database->writer;
    const struct timespec until = mt_timespec_of_ns(mt_now_ns() + BUSY_MS * INT64_C(1000000));
    enum mt_status status = MT_OK;
    if (pthread_mutex_clocklock(&writer->mutex, CLOCK_MONOTONIC, &until) != 0)
        return mt_fail(err, MT_BUSY,
                       "the database cannot be used now: others have written to it for longer "
                       "than a second");
    if (!writer->link.handle)
        status = open_writer(database, err);
    if (!status)
        status = transact(&writer->link, BEGIN_WRITING, work, context, err);
    if (status && writer->link.is_damaged) {
        pthread_mutex_lock(&database->reader.mutex);
        status = replace_damaged(database, err);
        pthread_mutex_unlock(&database->reader.mutex);
    }
    pthread_mutex_unlock(&writer->mutex);
    return status;
}

static enum mt_status read_data(struct mt_database *common, mt_database_work *work, void *context,
                                struct mt_error *err)
{
    struct sqlite *database = (struct sqlite *)common;
    struct side *reader = &database->reader;
    enum mt_status status = MT_OK;
    pthread_mutex_lock(&reader->mutex);
    if (!reader->link.handle)
        status = open_reader(database, err);
    if (!status)
        status = transact(&reader->link, BEGIN_READING, work, context, err);
    bool is_damaged = status && reader->link.is_damaged;
    pthread_mutex_unlock(&reader->mutex);
    if (!is_damaged)
        return status;
    pthread_mutex_lock(&database->writer.mutex);
    pthread_mutex_lock(&reader->mutex);
    /* Another thread may have replaced it already. */
    if (reader->link.is_damaged)
        status = replace_damaged(database, err);
    reader->link.is_damaged = false;
    pthread_mutex_unlock(&reader->mutex);
    pthread_mutex_unlock(&database->writer.mutex);
    return status;
}

static const struct mt_backend backend = {
    .close = close_database,
    .write = write_data,
    .read = read_data,
    .run = run,
};
