#include "server/data/memory_state.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"
#include "server/data/database.h"
#include "server/data/memory_words.h"

#include <stdlib.h>
#include <string.h>

enum mt_status mt_memories_create(struct mt_database *database,
                                  const struct mt_memory_limits *limits, struct mt_memories **out,
                                  struct mt_error *err)
{
    struct mt_memories *memories = calloc(1, sizeof *memories);
    if (!memories)
        return mt_fail_memory(err, sizeof *memories, "translation memories");
    *memories = (struct mt_memories){.database = database, .limits = *limits};
    *out = memories;
    return MT_OK;
}

void mt_memories_destroy(struct mt_memories *memories)
{
    free(memories);
}

static enum mt_status fail_unknown(struct mt_error *err)
{
    return mt_fail(err, MT_NOT_FOUND, "there is no such translation memory");
}

static enum mt_status take_integer(void *context, const struct mt_value *columns,
                                   struct mt_error *err)
{
    *(int64_t *)context = columns[0].integer;
    return MT_OK;
}

static enum mt_status run(struct mt_connection *connection, const char *sql,
                          const struct mt_value *values, size_t n_values, size_t *n_changed,
                          struct mt_error *err)
{
    return mt_database_run(connection, sql, values, n_values, NULL, NULL, n_changed, err);
}

/* ---- memories ---- */

struct making {
    struct mt_memories *memories;
    const char *owner, *name, *source;
    bool finds; /* an existing memory of that name is taken */
    char *id;
};

static enum mt_status take_id(void *context, const struct mt_value *columns, struct mt_error *err)
{
    char *id = context;
    if (columns[0].length < MT_MEMORY_ID_BYTES)
        memcpy(id, columns[0].text, columns[0].length + 1);
    return MT_OK;
}

static enum mt_status insert_memory(struct mt_connection *connection, const struct making *making,
                                    struct mt_error *err)
{
    const struct mt_value owner = mt_value_text(making->owner);
    int64_t n = 0, last = 0;
    enum mt_status status =
        mt_database_run(connection, "SELECT COUNT(*) FROM memories WHERE owner = $1", &owner, 1,
                        take_integer, &n, NULL, err);
    if (!status && n >= (int64_t)making->memories->limits.max_memories)
        status =
            mt_fail(err, MT_LIMIT, "there are %lld translation memories, as many as are allowed",
                    (long long)n);
    if (!status)
        status = mt_database_run(connection, "SELECT COALESCE(MAX(number), 0) FROM memories", NULL,
                                 0, take_integer, &last, NULL, err);
    if (!status)
        status = mt_random_uuid("a translation memory's id", making->id, err);
    const struct mt_value values[] = {
        mt_value_integer(last + 1),  mt_value_text(making->id),     owner,
        mt_value_text(making->name), mt_value_text(making->source), mt_value_integer(mt_unix_ms()),
    };
    return status ? status
                  : run(connection,
                        "INSERT INTO memories (number, id, owner, name, source, created_ms) "
                        "VALUES ($1, $2, $3, $4, $5, $6)",
                        values, 6, NULL, err);
}

static enum mt_status make_memory(struct mt_connection *connection, void *context,
                                  struct mt_error *err)
{
    const struct making *making = context;
    const struct mt_value values[] = {mt_value_text(making->owner), mt_value_text(making->name),
                                      mt_value_text(making->source)};
    enum mt_status status = MT_OK;
    making->id[0] = '\0';
    if (making->finds)
        status = mt_database_run(connection,
                                 "SELECT id FROM memories WHERE owner = $1 AND name = $2 AND "
                                 "source = $3 ORDER BY created_ms LIMIT 1",
                                 values, 3, take_id, making->id, NULL, err);
    bool is_there = making->id[0] != '\0';
    return status || is_there ? status : insert_memory(connection, making, err);
}

enum mt_status mt_memories_find_or_add(struct mt_memories *memories, const char *owner,
                                       const char *name, const char *source,
                                       char id[MT_MEMORY_ID_BYTES], struct mt_error *err)
{
    struct making making = {.memories = memories,
                            .owner = owner,
                            .name = name,
                            .source = source,
                            .finds = true,
                            .id = id};
    return mt_database_do(memories->database, make_memory, &making, err);
}

struct naming {
    const char *owner, *id;
};

static enum mt_status remove_memory(struct mt_connection *connection, void *context,
                                    struct mt_error *err)
{
    const struct naming *naming = context;
    const struct mt_value values[] = {mt_value_text(naming->id), mt_value_text(naming->owner)};
    size_t n_changed = 0;
    enum mt_status status = run(connection, "DELETE FROM memories WHERE id = $1 AND owner = $2",
                                values, 2, &n_changed, err);
    return status || n_changed > 0 ? status : fail_unknown(err);
}

enum mt_status mt_memories_remove(struct mt_memories *memories, const char *owner, const char *id,
                                  struct mt_error *err)
{
    struct naming naming = {.owner = owner, .id = id};
    return mt_database_do(memories->database, remove_memory, &naming, err);
}

/* ---- adding units ---- */

/* The number of new units for one target language. */
struct count {
    const char *target;
    size_t n_units;
};

/* Number of units that one statement searches, and of rows that one writes. They are constant,
 * because a repeated statement need not be prepared again. */
#define BATCH 64
#define UNIT_ROWS 16
#define KEY_ROWS 64
#define KEY_VALUES 4 /* besides the memory */

/* Units of a batch, which are added together. Numbers identify units within the memory. */
struct batch {
    const struct mt_memory_unit *units;
    size_t n;
    int64_t hashes[BATCH], known[BATCH]; /* 0: the unit is new */
    const struct mt_memory_unit *added[BATCH];
    size_t n_added; /* these get the numbers after the memory's last one */
};

struct putting {
    struct mt_memories *memories;
    const char *owner, *id;
    const struct mt_memory_unit *units;
    size_t n;
    struct mt_word_reader *reader;
    /* the memory's number, the number of its last unit, and how many units it has */
    int64_t memory, last, n_units;
    int64_t now_ms;
    struct count *counts;
    size_t n_counts, counts_capacity;
    struct batch batch;
};

static enum mt_status begin_putting(struct mt_connection *connection, struct putting *putting,
                                    struct mt_error *err)
{
    const struct mt_value values[] = {mt_value_text(putting->id), mt_value_text(putting->owner)};
    enum mt_status status =
        mt_database_run(connection, "SELECT number FROM memories WHERE id = $1 AND owner = $2",
                        values, 2, take_integer, &putting->memory, NULL, err);
    if (!status && putting->memory == 0)
        status = fail_unknown(err);
    const struct mt_value memory = mt_value_integer(putting->memory);
    if (!status)
        status = mt_database_run(connection,
                                 "SELECT COALESCE(MAX(number), 0) FROM units WHERE memory = $1",
                                 &memory, 1, take_integer, &putting->last, NULL, err);
    return status ? status
                  : mt_database_run(
                        connection,
                        "SELECT COALESCE(SUM(n_units), 0) FROM memory_targets WHERE memory = $1",
                        &memory, 1, take_integer, &putting->n_units, NULL, err);
}

static enum mt_status count_unit(struct putting *putting, const char *target, struct mt_error *err)
{
    size_t i = 0;
    while (i < putting->n_counts && strcmp(putting->counts[i].target, target) != 0)
        i++;
    if (MT_ROOM(&putting->counts, &putting->counts_capacity, i + 1, "languages", err))
        return MT_MEMORY;
    if (i == putting->n_counts)
        putting->counts[putting->n_counts++] = (struct count){.target = target};
    putting->counts[i].n_units++;
    putting->n_units++;
    return MT_OK;
}

static enum mt_status write_count(struct mt_connection *connection, const struct putting *putting,
                                  const struct count *count, struct mt_error *err)
{
    const struct mt_value values[] = {mt_value_integer(putting->memory),
                                      mt_value_text(count->target),
                                      mt_value_integer((int64_t)count->n_units)};
    size_t n_changed = 0;
    enum mt_status status =
        run(connection,
            "UPDATE memory_targets SET n_units = n_units + $3 WHERE memory = $1 AND target = $2",
            values, 3, &n_changed, err);
    if (!status && n_changed == 0)
        status = run(connection,
                     "INSERT INTO memory_targets (memory, target, n_units) VALUES ($1, $2, $3)",
                     values, 3, NULL, err);
    return status;
}

/* ---- a batch ---- */

/* A statement that is made of a row for each of many items: its values and its text. */
struct rows {
    struct mt_text sql;
    struct mt_value values[MT_DATABASE_MAX_VALUES];
    size_t n;
};

static void begin_rows(struct rows *rows, const char *sql, const struct mt_value *first)
{
    rows->sql.length = 0;
    mt_text_append_string(&rows->sql, sql);
    rows->values[0] = *first;
    rows->n = 1;
}

/* Appends a row such as "($1, $5, $6)": the first value, and n new ones. */
static void add_row(struct rows *rows, const struct mt_value *values, size_t n)
{
    mt_text_append_string(&rows->sql, rows->n > 1 ? ", ($1" : "($1");
    for (size_t i = 0; i < n; i++) {
        rows->values[rows->n++] = values[i];
        mt_text_appendf(&rows->sql, ", $%zu", rows->n);
    }
    mt_text_append(&rows->sql, ")", 1);
}

static enum mt_status run_rows(struct mt_connection *connection, struct rows *rows,
                               mt_database_row *row, void *context, struct mt_error *err)
{
    enum mt_status status = mt_text_check(&rows->sql, "a statement", err);
    return status ? status
                  : mt_database_run(connection, rows->sql.bytes, rows->values, rows->n, row,
                                    context, NULL, err);
}

static bool is_same_unit(const struct mt_memory_unit *a, const struct mt_memory_unit *b)
{
    return strcmp(a->target_lang, b->target_lang) == 0 && strcmp(a->source, b->source) == 0 &&
           strcmp(a->target, b->target) == 0 && strcmp(a->context, b->context) == 0;
}

static enum mt_status take_known(void *context, const struct mt_value *columns,
                                 struct mt_error *err)
{
    struct batch *batch = context;
    const struct mt_memory_unit there = {.target_lang = columns[2].text,
                                         .source = columns[3].text,
                                         .target = columns[4].text,
                                         .context = columns[5].text};
    for (size_t i = 0; i < batch->n; i++)
        if (batch->hashes[i] == columns[1].integer && is_same_unit(&there, &batch->units[i]))
            batch->known[i] = columns[0].integer;
    return MT_OK;
}

static enum mt_status find_known(struct mt_connection *connection, struct putting *putting,
                                 struct rows *rows, struct mt_error *err)
{
    struct batch *batch = &putting->batch;
    const struct mt_value memory = mt_value_integer(putting->memory);
    begin_rows(rows,
               "SELECT number, hash, target, source_text, target_text, context FROM units WHERE "
               "memory = $1 AND hash IN (",
               &memory);
    for (size_t i = 0; i < batch->n; i++) {
        batch->known[i] = 0;
        batch->hashes[i] = mt_memory_hash(batch->units[i].source);
        rows->values[rows->n++] = mt_value_integer(batch->hashes[i]);
        mt_text_appendf(&rows->sql, "%s$%zu", i > 0 ? ", " : "", rows->n);
    }
    mt_text_append_string(&rows->sql, ")");
    return run_rows(connection, rows, take_known, batch, err);
}

static enum mt_status change_unit(struct mt_connection *connection, const struct putting *putting,
                                  const struct mt_memory_unit *unit, int64_t number,
                                  struct mt_error *err)
{
    const struct mt_value values[] = {
        mt_value_integer(putting->memory), mt_value_integer(number), mt_value_text(unit->origin),
        mt_value_integer(unit->changed_ms ? unit->changed_ms : putting->now_ms)};
    return run(connection,
               "UPDATE units SET origin = $3, changed_ms = $4 WHERE memory = $1 AND number = $2",
               values, 4, NULL, err);
}

/* Updates the units that exist, and lists the others. Of two equal ones the later one is taken. */
static enum mt_status part_units(struct mt_connection *connection, struct putting *putting,
                                 struct mt_error *err)
{
    struct batch *batch = &putting->batch;
    enum mt_status status = MT_OK;
    batch->n_added = 0;
    for (size_t i = 0; i < batch->n && !status; i++) {
        const struct mt_memory_unit *unit = &batch->units[i];
        size_t k = 0;
        if (batch->known[i] > 0) {
            status = change_unit(connection, putting, unit, batch->known[i], err);
            continue;
        }
        while (k < batch->n_added && !is_same_unit(batch->added[k], unit))
            k++;
        batch->added[k] = unit;
        if (k < batch->n_added)
            continue;
        batch->n_added++;
        status = count_unit(putting, unit->target_lang, err);
    }
    return status;
}

static enum mt_status insert_units(struct mt_connection *connection, const struct putting *putting,
                                   struct rows *rows, struct mt_error *err)
{
    const struct batch *batch = &putting->batch;
    const struct mt_value memory = mt_value_integer(putting->memory);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < batch->n_added && !status; i++) {
        const struct mt_memory_unit *unit = batch->added[i];
        const struct mt_value values[] = {
            mt_value_text(unit->target_lang),
            mt_value_integer(mt_memory_hash(unit->source)),
            mt_value_text(unit->source),
            mt_value_text(unit->target),
            mt_value_text(unit->context),
            mt_value_text(unit->origin),
            mt_value_integer(unit->changed_ms ? unit->changed_ms : putting->now_ms),
            mt_value_integer(putting->last + 1 + (int64_t)i)};
        if (i % UNIT_ROWS == 0)
            begin_rows(rows,
                       "INSERT INTO units (memory, target, hash, source_text, target_text, "
                       "context, origin, changed_ms, number) VALUES ",
                       &memory);
        add_row(rows, values, sizeof values / sizeof *values);
        if ((i + 1) % UNIT_ROWS == 0 || i + 1 == batch->n_added)
            status = run_rows(connection, rows, NULL, NULL, err);
    }
    return status;
}

/* Writes the collected keys, if there are at least n rows. */
static enum mt_status flush_keys(struct mt_connection *connection, const struct putting *putting,
                                 struct rows *keys, size_t n, struct mt_error *err)
{
    const struct mt_value memory = mt_value_integer(putting->memory);
    enum mt_status status = MT_OK;
    if (keys->n > 0 && (keys->n - 1) / KEY_VALUES < n)
        return MT_OK;
    if (keys->n > 1)
        status = run_rows(connection, keys, NULL, NULL, err);
    begin_rows(keys, "INSERT INTO unit_keys (memory, n_words, unit, signature, key) VALUES ",
               &memory);
    return status;
}

/* Adds the keys by which similar units are found (memory_words.h). Statements always have the same
 * number of rows, of any units, so that the prepared statement can be used again. */
static enum mt_status add_keys(struct mt_connection *connection, const struct putting *putting,
                               struct rows *keys, struct mt_error *err)
{
    const struct batch *batch = &putting->batch;
    enum mt_status status = flush_keys(connection, putting, keys, KEY_ROWS, err);
    for (size_t i = 0; i < batch->n_added && !status; i++) {
        const char *source = batch->added[i]->source;
        struct mt_memory_words words;
        status = mt_memory_words_read(putting->reader, source, strlen(source), &words, err);
        for (size_t k = 0; k < words.n_keys && !status; k++) {
            const struct mt_value values[KEY_VALUES] = {
                mt_value_integer((int64_t)words.n),
                mt_value_integer(putting->last + 1 + (int64_t)i),
                mt_value_integer((int64_t)words.signature),
                mt_value_integer((int64_t)words.keys[k])};
            add_row(keys, values, KEY_VALUES);
            status = flush_keys(connection, putting, keys, KEY_ROWS, err);
        }
    }
    return status;
}

static enum mt_status put_batch(struct mt_connection *connection, struct putting *putting,
                                struct rows *rows, struct rows *keys, struct mt_error *err)
{
    enum mt_status status = find_known(connection, putting, rows, err);
    if (!status)
        status = part_units(connection, putting, err);
    if (!status)
        status = insert_units(connection, putting, rows, err);
    if (!status)
        status = add_keys(connection, putting, keys, err);
    putting->last += (int64_t)putting->batch.n_added;
    return status;
}

static enum mt_status put_batches(struct mt_connection *connection, struct putting *putting,
                                  struct mt_error *err)
{
    size_t limit = putting->memories->limits.max_units;
    struct rows *rows = calloc(2, sizeof *rows), *keys = rows + 1;
    enum mt_status status =
        rows ? MT_OK : mt_fail_memory(err, 2 * sizeof *rows, "units of a translation memory");
    for (size_t i = 0; i < putting->n && !status; i += BATCH) {
        putting->batch.units = &putting->units[i];
        putting->batch.n = mt_size_min(putting->n - i, BATCH);
        status = put_batch(connection, putting, rows, keys, err);
        if (!status && putting->n_units > (int64_t)limit)
            status = mt_fail(err, MT_LIMIT,
                             "the translation memory would have more than %zu units, which are "
                             "allowed",
                             limit);
    }
    if (!status)
        status = flush_keys(connection, putting, keys, 0, err);
    if (rows) {
        mt_text_finish(&rows->sql);
        mt_text_finish(&keys->sql);
    }
    free(rows);
    return status;
}

static enum mt_status put(struct mt_connection *connection, void *context, struct mt_error *err)
{
    struct putting *putting = context;
    enum mt_status status = begin_putting(connection, putting, err);
    if (!status)
        status = put_batches(connection, putting, err);
    for (size_t i = 0; i < putting->n_counts && !status; i++)
        status = write_count(connection, putting, &putting->counts[i], err);
    return status;
}

enum mt_status mt_memories_put(struct mt_memories *memories, const char *owner, const char *id,
                               const struct mt_memory_unit *units, size_t n, struct mt_error *err)
{
    struct putting putting = {.memories = memories,
                              .owner = owner,
                              .id = id,
                              .units = units,
                              .n = n,
                              .now_ms = mt_unix_ms()};
    enum mt_status status = mt_word_reader_create(&putting.reader, err);
    if (!status)
        status = mt_database_do(memories->database, put, &putting, err);
    mt_word_reader_destroy(putting.reader);
    free(putting.counts);
    return status;
}

struct adding {
    struct making making;
    struct putting putting;
};

static enum mt_status add(struct mt_connection *connection, void *context, struct mt_error *err)
{
    struct adding *adding = context;
    enum mt_status status = make_memory(connection, &adding->making, err);
    adding->putting.id = adding->making.id;
    return status || adding->putting.n == 0 ? status : put(connection, &adding->putting, err);
}

enum mt_status mt_memories_add(struct mt_memories *memories, const char *owner, const char *name,
                               const char *source, const struct mt_memory_unit *units, size_t n,
                               char id[MT_MEMORY_ID_BYTES], struct mt_error *err)
{
    struct adding adding = {
        .making = {.memories = memories, .owner = owner, .name = name, .source = source, .id = id},
        .putting =
            {.memories = memories, .owner = owner, .units = units, .n = n, .now_ms = mt_unix_ms()},
    };
    enum mt_status status = mt_word_reader_create(&adding.putting.reader, err);
    if (!status)
        status = mt_database_do(memories->database, add, &adding, err);
    mt_word_reader_destroy(adding.putting.reader);
    free(adding.putting.counts);
    return status;
}

/* ---- visiting ---- */

struct visiting {
    struct naming naming;
    mt_memory_visit *visit;
    mt_memory_unit_visit *visit_unit;
    void *context;
    size_t n_rows;
};

static enum mt_status visit_row(void *context, const struct mt_value *columns, struct mt_error *err)
{
    struct visiting *visiting = context;
    const struct mt_memory_row row = {.id = columns[0].text,
                                      .name = columns[1].text,
                                      .source = columns[2].text,
                                      .created_ms = columns[3].integer,
                                      .target = columns[4].text,
                                      .n_units = (size_t)columns[5].integer};
    visiting->n_rows++;
    return visiting->visit ? visiting->visit(visiting->context, &row, err) : MT_OK;
}

static enum mt_status visit_rows(struct mt_connection *connection, void *context,
                                 struct mt_error *err)
{
    struct visiting *visiting = context;
    const char *id = visiting->naming.id;
    const struct mt_value values[] = {mt_value_text(visiting->naming.owner),
                                      mt_value_text(id ? id : "")};
    return mt_database_run(connection,
                           "SELECT m.id, m.name, m.source, m.created_ms, t.target, t.n_units FROM "
                           "memories AS m LEFT JOIN memory_targets AS t ON t.memory = m.number "
                           "WHERE m.owner = $1 AND ($2 = '' OR m.id = $2) "
                           "ORDER BY m.created_ms, m.number, t.target",
                           values, 2, visit_row, visiting, NULL, err);
}

enum mt_status mt_memories_visit(struct mt_memories *memories, const char *owner, const char *id,
                                 mt_memory_visit *visit, void *context, struct mt_error *err)
{
    struct visiting visiting = {
        .naming = {.owner = owner, .id = id}, .visit = visit, .context = context};
    enum mt_status status = mt_database_read(memories->database, visit_rows, &visiting, err);
    return status || !id || visiting.n_rows > 0 ? status : fail_unknown(err);
}

static enum mt_status visit_unit(void *context, const struct mt_value *columns,
                                 struct mt_error *err)
{
    struct visiting *visiting = context;
    const struct mt_memory_unit unit = {.source = columns[0].text,
                                        .target = columns[1].text,
                                        .target_lang = columns[2].text,
                                        .context = columns[3].text,
                                        .origin = columns[4].text,
                                        .changed_ms = columns[5].integer};
    return visiting->visit_unit(visiting->context, &unit, err);
}

static enum mt_status visit_units(struct mt_connection *connection, void *context,
                                  struct mt_error *err)
{
    struct visiting *visiting = context;
    const struct mt_value values[] = {mt_value_text(visiting->naming.owner),
                                      mt_value_text(visiting->naming.id)};
    enum mt_status status = visit_rows(connection, visiting, err);
    if (!status && visiting->n_rows == 0)
        status = fail_unknown(err);
    return status ? status
                  : mt_database_run(connection,
                                    "SELECT u.source_text, u.target_text, u.target, u.context, "
                                    "u.origin, u.changed_ms FROM units AS u JOIN memories AS m ON "
                                    "m.number = u.memory WHERE m.owner = $1 AND m.id = $2 ORDER "
                                    "BY u.memory, u.number",
                                    values, 2, visit_unit, visiting, NULL, err);
}

enum mt_status mt_memories_visit_units(struct mt_memories *memories, const char *owner,
                                       const char *id, mt_memory_unit_visit *visit, void *context,
                                       struct mt_error *err)
{
    struct visiting visiting = {
        .naming = {.owner = owner, .id = id}, .visit_unit = visit, .context = context};
    return mt_database_read(memories->database, visit_units, &visiting, err);
}
