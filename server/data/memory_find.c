#include "server/data/memory_state.h"

#include "base/hash.h"
#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"
#include "server/data/database.h"
#include "server/data/memory_words.h"

#include <stdlib.h>
#include <string.h>

/* Most units whose signatures are compared with a text's, for each of its keys in each memory. */
#define MAX_OF_KEY 5000
/* Most units whose words are compared. */
#define MAX_COMPARED 1000
/* Number of units that one statement reads. */
#define BATCH 64
/* Most similar units that can be requested. */
#define MAX_SIMILAR 16

/* ---- whether there are units ---- */

struct having {
    const struct mt_memory_question *question;
    bool is_there, has_units;
};

static enum mt_status take_presence(void *context, const struct mt_value *columns,
                                    struct mt_error *err)
{
    struct having *having = context;
    having->is_there = true;
    having->has_units |= columns[0].type == MT_VALUE_INTEGER && columns[0].integer > 0;
    return MT_OK;
}

static enum mt_status look(struct mt_connection *connection, void *context, struct mt_error *err)
{
    struct having *having = context;
    const struct mt_memory_question *question = having->question;
    const struct mt_value values[] = {
        mt_value_text(question->owner), mt_value_text(question->id ? question->id : ""),
        mt_value_text(question->source), mt_value_text(question->target)};
    return mt_database_run(connection,
                           "SELECT t.n_units FROM memories AS m LEFT JOIN memory_targets AS t ON "
                           "t.memory = m.number AND m.source = $3 AND t.target = $4 WHERE m.owner "
                           "= $1 AND ($2 = '' OR m.id = $2)",
                           values, 4, take_presence, having, NULL, err);
}

enum mt_status mt_memories_have(struct mt_memories *memories,
                                const struct mt_memory_question *question, bool *out,
                                struct mt_error *err)
{
    struct having having = {.question = question};
    enum mt_status status = mt_database_read(memories->database, look, &having, err);
    *out = having.has_units;
    return status || !question->id || having.is_there
               ? status
               : mt_fail(err, MT_NOT_FOUND, "there is no such translation memory");
}

/* ---- exact matches ---- */

/* Returns the next character of a text, where a run of blanks is one; '\0' at the end. */
static char next_byte(const char **text)
{
    static const char blanks[] = " \t\r\n";
    size_t n_blanks = strspn(*text, blanks);
    *text += n_blanks;
    if (n_blanks > 0)
        return ' ';
    return **text ? *(*text)++ : '\0';
}

int64_t mt_memory_hash(const char *text)
{
    uint64_t hash = MT_HASH_BEGIN;
    for (char c; (c = next_byte(&text));)
        hash = mt_hash(hash, &c, 1);
    return (int64_t)hash;
}

static bool is_same(const char *a, const char *b)
{
    char c;
    do {
        c = next_byte(&a);
        if (c != next_byte(&b))
            return false;
    } while (c);
    return true;
}

struct finding {
    const struct mt_memory_question *question;
    const char *text, *context;
    mt_memory_take *take;
    void *take_context;
};

static enum mt_status take_exact(void *context, const struct mt_value *columns,
                                 struct mt_error *err)
{
    const struct finding *finding = context;
    if (!is_same(columns[3].text, finding->text)) /* only its hash is the same */
        return MT_OK;
    bool is_behind = finding->context[0] != '\0' && strcmp(columns[1].text, finding->context) == 0;
    const struct mt_memory_match match = {.percent = is_behind ? MT_CONTEXT_MATCH : MT_EXACT_MATCH,
                                          .source = finding->text,
                                          .target = columns[0].text,
                                          .origin = columns[2].text};
    return finding->take(finding->take_context, &match, err);
}

static enum mt_status find_exact(struct mt_connection *connection, void *context,
                                 struct mt_error *err)
{
    struct finding *finding = context;
    const struct mt_memory_question *question = finding->question;
    const struct mt_value values[] = {
        mt_value_integer(mt_memory_hash(finding->text)),
        mt_value_text(question->target),
        mt_value_text(question->owner),
        mt_value_text(question->source),
        mt_value_text(question->id ? question->id : ""),
        mt_value_text(finding->context),
    };
    return mt_database_run(
        connection,
        "SELECT u.target_text, u.context, u.origin, u.source_text FROM units AS u JOIN memories AS "
        "m ON m.number = u.memory WHERE u.hash = $1 AND u.target = $2 AND m.owner = $3 AND "
        "m.source = $4 AND ($5 = '' OR m.id = $5) ORDER BY CASE WHEN u.context <> '' AND "
        "u.context = $6 THEN 0 ELSE 1 END, u.changed_ms DESC, u.memory DESC, u.number DESC LIMIT 1",
        values, 6, take_exact, finding, NULL, err);
}

enum mt_status mt_memories_find(struct mt_memories *memories,
                                const struct mt_memory_question *question, const char *text,
                                const char *context, mt_memory_take *take, void *take_context,
                                struct mt_error *err)
{
    struct finding finding = {.question = question,
                              .text = text,
                              .context = context,
                              .take = take,
                              .take_context = take_context};
    return mt_database_read(memories->database, find_exact, &finding, err);
}

/* ---- similar ones ---- */

struct similar {
    int64_t changed_ms, number;
    int percent;
    struct mt_text source, target, origin;
};

struct comparing {
    const struct mt_memory_question *question;
    struct mt_word_reader *reader;
    const char *text;
    struct mt_memory_words words;
    int least;
    size_t n_wanted;
    int64_t *memories;
    size_t n_memories, memories_capacity;
    int64_t memory; /* the memory that is being searched, and its units that may be similar */
    int64_t *units;
    size_t n_units, units_capacity;
    size_t n;
    struct similar best[MAX_SIMILAR]; /* best first */
};

static void finish_similar(struct similar *similar)
{
    mt_text_finish(&similar->source);
    mt_text_finish(&similar->target);
    mt_text_finish(&similar->origin);
}

static enum mt_status add_memory(void *context, const struct mt_value *columns,
                                 struct mt_error *err)
{
    struct comparing *comparing = context;
    if (MT_ROOM(&comparing->memories, &comparing->memories_capacity, comparing->n_memories + 1,
                "memories", err))
        return MT_MEMORY;
    comparing->memories[comparing->n_memories++] = columns[0].integer;
    return MT_OK;
}

static bool is_better(const struct similar *a, const struct similar *b)
{
    if (a->percent != b->percent)
        return a->percent > b->percent;
    return a->changed_ms != b->changed_ms ? a->changed_ms > b->changed_ms : a->number > b->number;
}

/* Inserts a unit into the list of the best ones, if it belongs there. */
static void keep_best(struct comparing *comparing, struct similar *similar)
{
    size_t at = comparing->n;
    while (at > 0 && is_better(similar, &comparing->best[at - 1]))
        at--;
    if (at >= comparing->n_wanted) {
        finish_similar(similar);
        return;
    }
    if (comparing->n == comparing->n_wanted)
        finish_similar(&comparing->best[--comparing->n]);
    memmove(&comparing->best[at + 1], &comparing->best[at],
            (comparing->n - at) * sizeof *comparing->best);
    comparing->best[at] = *similar;
    comparing->n++;
}

static enum mt_status add_unit(void *context, const struct mt_value *columns, struct mt_error *err)
{
    struct comparing *comparing = context;
    if (comparing->n_units >= MAX_COMPARED ||
        !mt_memory_words_may_be_alike(&comparing->words, (size_t)columns[1].integer,
                                      (uint64_t)columns[2].integer, comparing->least))
        return MT_OK;
    for (size_t i = 0; i < comparing->n_units; i++)
        if (comparing->units[i] == columns[0].integer)
            return MT_OK;
    if (MT_ROOM(&comparing->units, &comparing->units_capacity, comparing->n_units + 1, "units",
                err))
        return MT_MEMORY;
    comparing->units[comparing->n_units++] = columns[0].integer;
    return MT_OK;
}

/* Two texts with the same words are no exact match if punctuation, numbers, case or codes
 * differ. */
static enum mt_status compare(void *context, const struct mt_value *columns, struct mt_error *err)
{
    struct comparing *comparing = context;
    struct mt_memory_words words;
    if (is_same(columns[1].text, comparing->text))
        return MT_OK;
    enum mt_status status =
        mt_memory_words_read(comparing->reader, columns[1].text, columns[1].length, &words, err);
    if (status)
        return status;
    struct similar similar = {
        .changed_ms = columns[0].integer,
        .number = columns[4].integer,
        .percent = (int)mt_size_min((size_t)mt_memory_words_similarity(&comparing->words, &words),
                                    MT_EXACT_MATCH - 1),
    };
    if (similar.percent < comparing->least)
        return MT_OK;
    mt_text_append(&similar.source, columns[1].text, columns[1].length);
    mt_text_append(&similar.target, columns[2].text, columns[2].length);
    mt_text_append(&similar.origin, columns[3].text, columns[3].length);
    if (similar.source.status || similar.target.status || similar.origin.status) {
        finish_similar(&similar);
        return mt_fail_memory(err, 0, "a match");
    }
    keep_best(comparing, &similar);
    return MT_OK;
}

static enum mt_status find_units(struct mt_connection *connection, struct comparing *comparing,
                                 uint64_t key, struct mt_error *err)
{
    const struct mt_memory_word_range range = mt_memory_words_range(comparing->words.n);
    const struct mt_value values[] = {
        mt_value_integer(comparing->memory),  mt_value_integer((int64_t)key),
        mt_value_integer((int64_t)range.low), mt_value_integer((int64_t)range.high),
        mt_value_integer(MAX_OF_KEY),
    };
    return mt_database_run(connection,
                           "SELECT unit, n_words, signature FROM unit_keys WHERE memory = $1 AND "
                           "key = $2 AND n_words BETWEEN $3 AND $4 LIMIT $5",
                           values, 5, add_unit, comparing, NULL, err);
}

/* The statement always has BATCH places, so that it is prepared only once. Unused places get the
 * last unit again. */
static enum mt_status compare_batch(struct mt_connection *connection, struct comparing *comparing,
                                    const int64_t *units, size_t n, struct mt_error *err)
{
    struct mt_value values[BATCH + 2] = {mt_value_integer(comparing->memory),
                                         mt_value_text(comparing->question->target)};
    struct mt_text sql = {0};
    mt_text_append_string(&sql, "SELECT changed_ms, source_text, target_text, origin, number FROM "
                                "units WHERE memory = $1 AND target = $2 AND number IN (");
    for (size_t i = 0; i < BATCH; i++) {
        values[i + 2] = mt_value_integer(units[mt_size_min(i, n - 1)]);
        mt_text_appendf(&sql, "%s$%zu", i > 0 ? ", " : "", i + 3);
    }
    mt_text_append_string(&sql, ")");
    enum mt_status status = mt_text_check(&sql, "a statement", err);
    if (!status)
        status = mt_database_run(connection, sql.bytes, values, BATCH + 2, compare, comparing, NULL,
                                 err);
    mt_text_finish(&sql);
    return status;
}

static enum mt_status compare_units(struct mt_connection *connection, struct comparing *comparing,
                                    struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < comparing->n_units && !status; i += BATCH)
        status = compare_batch(connection, comparing, &comparing->units[i],
                               mt_size_min(comparing->n_units - i, BATCH), err);
    return status;
}

static enum mt_status compare_in(struct mt_connection *connection, struct comparing *comparing,
                                 int64_t memory, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    comparing->memory = memory;
    comparing->n_units = 0;
    for (size_t k = 0; k < comparing->words.n_keys && !status; k++)
        status = find_units(connection, comparing, comparing->words.keys[k], err);
    return status ? status : compare_units(connection, comparing, err);
}

static enum mt_status find_similar(struct mt_connection *connection, void *context,
                                   struct mt_error *err)
{
    struct comparing *comparing = context;
    const struct mt_memory_question *question = comparing->question;
    const struct mt_value values[] = {mt_value_text(question->owner),
                                      mt_value_text(question->source),
                                      mt_value_text(question->id ? question->id : "")};
    enum mt_status status = mt_database_run(connection,
                                            "SELECT number FROM memories WHERE owner = $1 AND "
                                            "source = $2 AND ($3 = '' OR id = $3)",
                                            values, 3, add_memory, comparing, NULL, err);
    for (size_t i = 0; i < comparing->n_memories && !status; i++)
        status = compare_in(connection, comparing, comparing->memories[i], err);
    return status;
}

static enum mt_status give(struct comparing *comparing, mt_memory_take *take, void *context,
                           struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < comparing->n && !status; i++) {
        const struct similar *similar = &comparing->best[i];
        const struct mt_memory_match match = {.percent = similar->percent,
                                              .source = similar->source.bytes,
                                              .target = similar->target.bytes,
                                              .origin = similar->origin.bytes};
        status = take(context, &match, err);
    }
    return status;
}

enum mt_status mt_memories_find_similar(struct mt_memories *memories,
                                        const struct mt_memory_question *question,
                                        struct mt_word_reader *reader, const char *text, int least,
                                        size_t n, mt_memory_take *take, void *take_context,
                                        struct mt_error *err)
{
    struct comparing comparing = {.question = question,
                                  .reader = reader,
                                  .text = text,
                                  .least = least,
                                  .n_wanted = mt_size_min(n, MAX_SIMILAR)};
    enum mt_status status = mt_memory_words_read(reader, text, strlen(text), &comparing.words, err);
    if (!status && comparing.words.n > 0)
        status = mt_database_read(memories->database, find_similar, &comparing, err);
    if (!status)
        status = give(&comparing, take, take_context, err);
    for (size_t i = 0; i < comparing.n; i++)
        finish_similar(&comparing.best[i]);
    free(comparing.memories);
    free(comparing.units);
    return status;
}
