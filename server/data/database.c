#include "server/data/database.h"

#include "server/data/backend.h"

#include <string.h>

/* ---- choosing one of the two ---- */

enum mt_status mt_database_open(const struct mt_database_options *options, struct mt_database **out,
                                struct mt_error *err)
{
    return options->url && options->url[0] != '\0' ? mt_postgresql_open(options, out, err)
                                                   : mt_sqlite_open(options, out, err);
}

enum mt_status mt_database_fail_missing(const char *what, struct mt_error *err)
{
    return mt_fail(err, MT_UNSUPPORTED,
                   "this server keeps no %s: neither its data_directory nor its database is set",
                   what);
}

void mt_database_close(struct mt_database *database)
{
    if (database)
        database->backend->close(database);
}

enum mt_status mt_database_do(struct mt_database *database, mt_database_work *work, void *context,
                              struct mt_error *err)
{
    return database->backend->write(database, work, context, err);
}

enum mt_status mt_database_read(struct mt_database *database, mt_database_work *work, void *context,
                                struct mt_error *err)
{
    return database->backend->read(database, work, context, err);
}

enum mt_status mt_database_run(struct mt_connection *connection, const char *sql,
                               const struct mt_value *values, size_t n_values, mt_database_row *row,
                               void *context, size_t *n_changed, struct mt_error *err)
{
    if (connection->is_running)
        return mt_fail(err, MT_IO, "the database: a row of a statement runs another one");
    connection->is_running = true;
    enum mt_status status =
        connection->backend->run(connection, sql, values, n_values, row, context, n_changed, err);
    connection->is_running = false;
    return status;
}

/* ---- values ---- */

struct mt_value mt_value_integer(int64_t integer)
{
    return (struct mt_value){.type = MT_VALUE_INTEGER, .integer = integer};
}

struct mt_value mt_value_text(const char *text)
{
    return (struct mt_value){.type = MT_VALUE_TEXT, .text = text, .length = strlen(text)};
}

/* ---- tables ---- */

/* The statements that migrate a database to version 1, 2, ...; those that were released never
 * change. */
static const char *const steps[][8] = {
    {"CREATE TABLE glossaries (id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, "
     "created_ms BIGINT NOT NULL)",
     "CREATE INDEX glossaries_of_owner ON glossaries (owner, created_ms)",
     "CREATE TABLE dictionaries (glossary TEXT NOT NULL REFERENCES glossaries (id) ON DELETE "
     "CASCADE, source TEXT NOT NULL, target TEXT NOT NULL, edition TEXT NOT NULL, n_entries BIGINT "
     "NOT NULL, n_bytes BIGINT NOT NULL, entries TEXT NOT NULL, "
     "PRIMARY KEY (glossary, source, target))"},
    {"CREATE TABLE memories (number BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT "
     "NULL, name TEXT NOT NULL, source TEXT NOT NULL, created_ms BIGINT NOT NULL)",
     "CREATE INDEX memories_of_owner ON memories (owner, source)",
     "CREATE TABLE memory_targets (memory BIGINT NOT NULL REFERENCES memories (number) ON DELETE "
     "CASCADE, target TEXT NOT NULL, n_units BIGINT NOT NULL, PRIMARY KEY (memory, target))",
     "CREATE TABLE units (memory BIGINT NOT NULL REFERENCES memories (number) ON DELETE CASCADE, "
     "number BIGINT NOT NULL, target TEXT NOT NULL, hash BIGINT NOT NULL, source_text TEXT NOT "
     "NULL, target_text TEXT NOT NULL, context TEXT NOT NULL, origin TEXT NOT NULL, changed_ms "
     "BIGINT NOT NULL, PRIMARY KEY (memory, number))",
     "CREATE INDEX units_by_hash ON units (hash, memory)",
     "CREATE TABLE unit_keys (memory BIGINT NOT NULL REFERENCES memories (number) ON DELETE "
     "CASCADE, key BIGINT NOT NULL, n_words BIGINT NOT NULL, unit BIGINT NOT NULL, signature "
     "BIGINT NOT NULL, "
     "PRIMARY KEY (memory, key, n_words, unit))" MT_IN_KEY_ORDER},
};

static const int64_t n_steps = sizeof steps / sizeof *steps;

static enum mt_status read_version(void *context, const struct mt_value *columns,
                                   struct mt_error *err)
{
    int64_t *version = context;
    *version = columns[0].integer;
    return MT_OK;
}

static enum mt_status take_step(struct mt_connection *connection, int64_t version,
                                struct mt_error *err)
{
    const struct mt_value value = mt_value_integer(version + 1);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof steps[0] / sizeof *steps[0] && steps[version][i] && !status; i++)
        status = mt_database_run(connection, steps[version][i], NULL, 0, NULL, NULL, NULL, err);
    return status ? status
                  : mt_database_run(connection, "INSERT INTO attentiond_versions VALUES ($1)",
                                    &value, 1, NULL, NULL, NULL, err);
}

enum mt_status mt_schema_bring_up(struct mt_connection *connection, void *context,
                                  struct mt_error *err)
{
    int64_t version = 0;
    enum mt_status status = mt_database_run(
        connection, "CREATE TABLE IF NOT EXISTS attentiond_versions (version BIGINT NOT NULL)",
        NULL, 0, NULL, NULL, NULL, err);
    if (!status)
        status =
            mt_database_run(connection, "SELECT COALESCE(MAX(version), 0) FROM attentiond_versions",
                            NULL, 0, read_version, &version, NULL, err);
    if (!status && version > n_steps)
        status = mt_fail(err, MT_UNSUPPORTED,
                         "the database has version %lld, but this program knows versions up to "
                         "%lld: it was written by a newer one",
                         (long long)version, (long long)n_steps);
    for (; !status && version < n_steps; version++)
        status = take_step(connection, version, err);
    return status;
}
