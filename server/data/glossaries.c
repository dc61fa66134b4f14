#include "server/data/glossaries.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/random.h"
#include "base/text.h"
#include "server/data/database.h"
#include "server/data/glossary_entries.h"
#include "server/text/terms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EDITION_BYTES 33
/* Most bytes of memory that a prepared dictionary takes for each byte of its entries. */
#define READY_FACTOR 15

/* The prepared terms of a dictionary. */
struct ready {
    struct ready *next, *previous;
    /* identifies one version of a dictionary: every write creates a new one */
    char edition[EDITION_BYTES];
    size_t n_bytes;
    struct mt_terms *terms;
};

struct ready_list {
    struct ready *first, *last;
};

struct mt_glossaries {
    struct mt_database *database;
    struct mt_glossary_limits limits;
    pthread_mutex_t mutex;   /* guards the members below */
    struct ready_list ready; /* the most recently used first */
    size_t n_ready_bytes;
};

enum mt_status mt_glossaries_create(struct mt_database *database,
                                    const struct mt_glossary_limits *limits,
                                    struct mt_glossaries **out, struct mt_error *err)
{
    struct mt_glossaries *glossaries = calloc(1, sizeof *glossaries);
    if (!glossaries)
        return mt_fail_memory(err, sizeof *glossaries, "glossaries");
    glossaries->database = database;
    glossaries->limits = *limits;
    pthread_mutex_init(&glossaries->mutex, NULL);
    *out = glossaries;
    return MT_OK;
}

static void forget(struct mt_glossaries *glossaries, struct ready *ready)
{
    MT_LIST_REMOVE(&glossaries->ready, ready);
    glossaries->n_ready_bytes -= ready->n_bytes;
    mt_terms_destroy(ready->terms);
    free(ready);
}

void mt_glossaries_destroy(struct mt_glossaries *glossaries)
{
    if (!glossaries)
        return;
    while (glossaries->ready.first)
        forget(glossaries, glossaries->ready.first);
    pthread_mutex_destroy(&glossaries->mutex);
    free(glossaries);
}

/* ---- statements ---- */

static enum mt_status fail_unknown(const char *source, const char *target, struct mt_error *err)
{
    if (source)
        return mt_fail(
            err, MT_NOT_FOUND,
            "No dictionary found for language pair: the glossary has none from \"%s\" to "
            "\"%s\"",
            source, target); /* DeepL's clients look for these words */
    return mt_fail(err, MT_NOT_FOUND, "there is no such glossary");
}

static enum mt_status take_integer(void *context, const struct mt_value *columns,
                                   struct mt_error *err)
{
    *(int64_t *)context = columns[0].integer;
    return MT_OK;
}

static enum mt_status count(struct mt_connection *connection, const char *sql, const char *value,
                            size_t *out, struct mt_error *err)
{
    const struct mt_value values[] = {mt_value_text(value)};
    int64_t n = 0;
    enum mt_status status =
        mt_database_run(connection, sql, values, 1, take_integer, &n, NULL, err);
    *out = n > 0 ? (size_t)n : 0;
    return status;
}

/* ---- writing ---- */

struct writing {
    struct mt_glossaries *glossaries;
    const char *owner, *id, *name;
    const struct mt_dictionary *dictionaries;
    size_t n;
    enum mt_dictionary_change change;
};

struct merging {
    const struct mt_dictionary *dictionary;
    struct mt_terms *terms; /* of both dictionaries */
};

static enum mt_status read_stored(const struct mt_dictionary *dictionary,
                                  const struct mt_value *text, struct mt_terms **out,
                                  struct mt_error *err)
{
    const struct mt_entries entries = {.text = text->text,
                                       .length = text->length,
                                       .source = dictionary->source,
                                       .target = dictionary->target};
    enum mt_status status = mt_terms_create(out, err);
    return status ? status : mt_entries_read(&entries, *out, err);
}

static enum mt_status merge(void *context, const struct mt_value *columns, struct mt_error *err)
{
    struct merging *merging = context;
    struct mt_terms *stored = NULL;
    enum mt_status status = read_stored(merging->dictionary, &columns[0], &stored, err);
    if (!status)
        status = mt_terms_create(&merging->terms, err);
    if (!status)
        status = mt_terms_add_others(merging->terms, merging->dictionary->terms, err);
    if (!status)
        status = mt_terms_add_others(merging->terms, stored, err);
    mt_terms_destroy(stored);
    return status;
}

/* Selects the rows of one dictionary: $1 is the glossary, $2 the source and $3 the target
 * language. */
#define OF_DICTIONARY " WHERE glossary = $1 AND source = $2 AND target = $3"

static enum mt_status put_terms(struct mt_connection *connection, const char *id,
                                const struct mt_dictionary *dictionary,
                                const struct mt_terms *terms, struct mt_error *err)
{
    struct mt_text entries = {0};
    char edition[EDITION_BYTES];
    mt_entries_write(terms, &entries);
    enum mt_status status = mt_text_check(&entries, "a dictionary", err);
    if (!status)
        status = mt_random_hex((EDITION_BYTES - 1) / 2, "an edition", edition, err);
    if (!status) {
        const struct mt_value values[] = {
            mt_value_text(id),
            mt_value_text(dictionary->source),
            mt_value_text(dictionary->target),
            mt_value_text(edition),
            mt_value_integer((int64_t)mt_terms_count(terms)),
            mt_value_integer((int64_t)entries.length),
            {.type = MT_VALUE_TEXT, .text = entries.bytes, .length = entries.length},
        };
        status = mt_database_run(connection, "DELETE FROM dictionaries" OF_DICTIONARY, values, 3,
                                 NULL, NULL, NULL, err);
        if (!status)
            status = mt_database_run(connection,
                                     "INSERT INTO dictionaries (glossary, source, target, edition, "
                                     "n_entries, n_bytes, entries) VALUES ($1, $2, $3, $4, $5, $6, "
                                     "$7)",
                                     values, 7, NULL, NULL, NULL, err);
    }
    mt_text_finish(&entries);
    return status;
}

static enum mt_status put_dictionary(struct mt_connection *connection,
                                     const struct writing *writing,
                                     const struct mt_dictionary *dictionary, struct mt_error *err)
{
    struct merging merging = {.dictionary = dictionary};
    const struct mt_value values[] = {mt_value_text(writing->id), mt_value_text(dictionary->source),
                                      mt_value_text(dictionary->target)};
    enum mt_status status = MT_OK;
    if (writing->change == MT_DICTIONARY_MERGE)
        status = mt_database_run(connection, "SELECT entries FROM dictionaries" OF_DICTIONARY,
                                 values, 3, merge, &merging, NULL, err);
    if (!status)
        status = put_terms(connection, writing->id, dictionary,
                           merging.terms ? merging.terms : dictionary->terms, err);
    mt_terms_destroy(merging.terms);
    return status;
}

static enum mt_status put_dictionaries(struct mt_connection *connection,
                                       const struct writing *writing, struct mt_error *err)
{
    size_t limit = writing->glossaries->limits.max_bytes, n_bytes = 0;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < writing->n && !status; i++)
        status = put_dictionary(connection, writing, &writing->dictionaries[i], err);
    if (!status)
        status = count(connection,
                       "SELECT COALESCE(SUM(n_bytes), 0) FROM dictionaries WHERE glossary = $1",
                       writing->id, &n_bytes, err);
    if (!status && n_bytes > limit)
        status = mt_fail(err, MT_LIMIT,
                         "the entries of the glossary are %zu bytes, at most %zu are allowed",
                         n_bytes, limit);
    return status;
}

static enum mt_status add(struct mt_connection *connection, void *context, struct mt_error *err)
{
    const struct writing *writing = context;
    size_t limit = writing->glossaries->limits.max_glossaries, n = 0;
    const struct mt_value values[] = {mt_value_text(writing->id), mt_value_text(writing->owner),
                                      mt_value_text(writing->name), mt_value_integer(mt_unix_ms())};
    enum mt_status status = count(connection, "SELECT COUNT(*) FROM glossaries WHERE owner = $1",
                                  writing->owner, &n, err);
    if (!status && n >= limit)
        status = mt_fail(err, MT_LIMIT, "there are %zu glossaries, as many as are allowed", n);
    if (!status)
        status = mt_database_run(
            connection,
            "INSERT INTO glossaries (id, owner, name, created_ms) VALUES ($1, $2, $3, $4)", values,
            4, NULL, NULL, NULL, err);
    return status ? status : put_dictionaries(connection, writing, err);
}

enum mt_status mt_glossaries_add(struct mt_glossaries *glossaries, const char *owner,
                                 const char *name, const struct mt_dictionary *dictionaries,
                                 size_t n, char id[MT_GLOSSARY_ID_BYTES], struct mt_error *err)
{
    struct writing writing = {.glossaries = glossaries,
                              .owner = owner,
                              .id = id,
                              .name = name,
                              .dictionaries = dictionaries,
                              .n = n};
    enum mt_status status = mt_random_uuid("a glossary's id", id, err);
    return status ? status : mt_database_do(glossaries->database, add, &writing, err);
}

/* The update always writes the glossary's row, so that the number of changed rows tells whether it
 * exists. */
static enum mt_status change(struct mt_connection *connection, void *context, struct mt_error *err)
{
    const struct writing *writing = context;
    const struct mt_value values[] = {mt_value_text(writing->id), mt_value_text(writing->owner),
                                      writing->name ? mt_value_text(writing->name)
                                                    : (struct mt_value){.type = MT_VALUE_NULL}};
    size_t n_changed = 0;
    enum mt_status status = mt_database_run(
        connection, "UPDATE glossaries SET name = COALESCE($3, name) WHERE id = $1 AND owner = $2",
        values, 3, NULL, NULL, &n_changed, err);
    if (!status && n_changed == 0)
        status = fail_unknown(NULL, NULL, err);
    return status ? status : put_dictionaries(connection, writing, err);
}

enum mt_status mt_glossaries_change(struct mt_glossaries *glossaries, const char *owner,
                                    const char *id, const char *name,
                                    const struct mt_dictionary *dictionaries, size_t n,
                                    enum mt_dictionary_change kind, struct mt_error *err)
{
    struct writing writing = {.glossaries = glossaries,
                              .owner = owner,
                              .id = id,
                              .name = name,
                              .dictionaries = dictionaries,
                              .n = n,
                              .change = kind};
    return mt_database_do(glossaries->database, change, &writing, err);
}

static enum mt_status remove_rows(struct mt_connection *connection, void *context,
                                  struct mt_error *err)
{
    const struct mt_glossary_question *question = context;
    const char *source = question->source;
    const struct mt_value values[] = {
        mt_value_text(question->id), mt_value_text(source ? source : ""),
        mt_value_text(source ? question->target : ""), mt_value_text(question->owner)};
    const struct mt_value known[] = {values[0], values[3]};
    size_t n_changed = 0;
    int64_t n_known = 0;
    enum mt_status status =
        mt_database_run(connection, "SELECT COUNT(*) FROM glossaries WHERE id = $1 AND owner = $2",
                        known, 2, take_integer, &n_known, NULL, err);
    if (!status && n_known > 0)
        status = source ? mt_database_run(connection, "DELETE FROM dictionaries" OF_DICTIONARY,
                                          values, 3, NULL, NULL, &n_changed, err)
                        : mt_database_run(connection, "DELETE FROM glossaries WHERE id = $1", known,
                                          1, NULL, NULL, &n_changed, err);
    if (!status && n_changed == 0)
        status = fail_unknown(n_known > 0 ? source : NULL, question->target, err);
    return status;
}

enum mt_status mt_glossaries_remove(struct mt_glossaries *glossaries, const char *owner,
                                    const char *id, const char *source, const char *target,
                                    struct mt_error *err)
{
    struct mt_glossary_question question = {
        .owner = owner, .id = id, .source = source, .target = target};
    return mt_database_do(glossaries->database, remove_rows, &question, err);
}

/* ---- reading ---- */

struct visiting {
    const struct mt_glossary_question *question;
    mt_glossary_visit *visit;
    void *context;
    size_t n_rows;
};

static enum mt_status visit_row(void *context, const struct mt_value *columns, struct mt_error *err)
{
    struct visiting *visiting = context;
    const struct mt_glossary_row row = {
        .id = columns[0].text,
        .name = columns[1].text,
        .created_ms = columns[2].integer,
        .source = columns[3].text,
        .target = columns[4].text,
        .n_entries = (size_t)columns[5].integer,
        .n_bytes = (size_t)columns[6].integer,
        .entries = columns[7].text,
    };
    visiting->n_rows++;
    return visiting->visit(visiting->context, &row, err);
}

/* The values are $1 owner, $2 id, $3 source, $4 target; unused ones are "". */
#define ROWS                                                                                     \
    " FROM glossaries AS g LEFT JOIN dictionaries AS d ON d.glossary = g.id WHERE g.owner = $1 " \
    "AND ($2 = '' OR g.id = $2) AND ($3 = '' OR (d.source = $3 AND d.target = $4)) AND ($5 = 0 " \
    "OR "                                                                                        \
    "1 = (SELECT COUNT(*) FROM dictionaries AS o WHERE o.glossary = g.id)) "                     \
    "ORDER BY g.created_ms, g.id, d.source, d.target"
#define COLUMNS "SELECT g.id, g.name, g.created_ms, d.source, d.target, d.n_entries, d.n_bytes, "

static enum mt_status visit_rows(struct mt_connection *connection, void *context,
                                 struct mt_error *err)
{
    struct visiting *visiting = context;
    const struct mt_glossary_question *question = visiting->question;
    const struct mt_value values[] = {
        mt_value_text(question->owner),
        mt_value_text(question->id ? question->id : ""),
        mt_value_text(question->source ? question->source : ""),
        mt_value_text(question->source ? question->target : ""),
        mt_value_integer(question->has_one),
    };
    return mt_database_run(connection,
                           question->wants_entries ? COLUMNS "d.entries" ROWS : COLUMNS "NULL" ROWS,
                           values, 5, visit_row, visiting, NULL, err);
}

static enum mt_status ignore_row(void *context, const struct mt_glossary_row *row,
                                 struct mt_error *err)
{
    return MT_OK;
}

enum mt_status mt_glossaries_visit(struct mt_glossaries *glossaries,
                                   const struct mt_glossary_question *question,
                                   mt_glossary_visit *visit, void *context, struct mt_error *err)
{
    struct visiting visiting = {.question = question, .visit = visit, .context = context};
    enum mt_status status = mt_database_read(glossaries->database, visit_rows, &visiting, err);
    if (status || !question->id || visiting.n_rows > 0)
        return status;
    /* This tells whether the glossary is missing or only the dictionary. */
    const struct mt_glossary_question whole = {.owner = question->owner, .id = question->id};
    if (question->source)
        status = mt_glossaries_visit(glossaries, &whole, ignore_row, NULL, err);
    return status ? status : fail_unknown(question->source, question->target, err);
}

/* ---- terms to translate with; the caller holds the mutex ---- */

struct finding {
    struct mt_glossaries *glossaries;
    const char *owner, *id, *source, *target;
    struct ready *found;
};

static struct ready *find_ready(const struct mt_glossaries *glossaries, const char *edition)
{
    struct ready *ready = glossaries->ready.first;
    while (ready && strcmp(ready->edition, edition) != 0)
        ready = ready->next;
    return ready;
}

/* Frees terms that no translation uses, the least recently used first. */
static enum mt_status make_room(struct mt_glossaries *glossaries, size_t n_bytes,
                                struct mt_error *err)
{
    size_t limit = MT_MAX_READY_BYTES;
    for (struct ready *ready = glossaries->ready.last, *before;
         ready && glossaries->n_ready_bytes + n_bytes > limit; ready = before) {
        before = ready->previous;
        if (!mt_terms_are_shared(ready->terms))
            forget(glossaries, ready);
    }
    if (glossaries->n_ready_bytes + n_bytes <= limit)
        return MT_OK;
    return mt_fail(
        err, MT_BUSY,
        "the glossaries that others translate with leave no room for this one: try again "
        "later");
}

static enum mt_status make_ready(void *context, const struct mt_value *columns,
                                 struct mt_error *err)
{
    struct finding *finding = context;
    struct mt_glossaries *glossaries = finding->glossaries;
    const struct mt_dictionary dictionary = {.source = finding->source, .target = finding->target};
    enum mt_status status = make_room(glossaries, READY_FACTOR * columns[0].length, err);
    struct ready *ready = status ? NULL : calloc(1, sizeof *ready);
    if (!ready)
        return status ? status : mt_fail_memory(err, sizeof *ready, "a dictionary");
    MT_LIST_PREPEND(&glossaries->ready, ready);
    status = read_stored(&dictionary, &columns[0], &ready->terms, err);
    if (status) {
        forget(glossaries, ready);
        return status;
    }
    ready->n_bytes = mt_terms_bytes(ready->terms);
    glossaries->n_ready_bytes += ready->n_bytes;
    finding->found = ready;
    return MT_OK;
}

static enum mt_status take_edition(void *context, const struct mt_value *columns,
                                   struct mt_error *err)
{
    char *edition = context;
    if (columns[0].length == EDITION_BYTES - 1)
        memcpy(edition, columns[0].text, EDITION_BYTES);
    return MT_OK;
}

static enum mt_status find_terms(struct mt_connection *connection, void *context,
                                 struct mt_error *err)
{
    struct finding *finding = context;
    char edition[EDITION_BYTES] = "";
    const struct mt_value values[] = {mt_value_text(finding->id), mt_value_text(finding->source),
                                      mt_value_text(finding->target),
                                      mt_value_text(finding->owner)};
    enum mt_status status =
        mt_database_run(connection,
                        "SELECT edition FROM dictionaries" OF_DICTIONARY
                        " AND glossary IN (SELECT id FROM glossaries WHERE id = $1 AND owner = $4)",
                        values, 4, take_edition, edition, NULL, err);
    if (status || edition[0] == '\0')
        return status;
    finding->found = find_ready(finding->glossaries, edition);
    if (finding->found)
        return MT_OK;
    status = mt_database_run(connection, "SELECT entries FROM dictionaries" OF_DICTIONARY, values,
                             3, make_ready, finding, NULL, err);
    if (!status && finding->found)
        memcpy(finding->found->edition, edition, sizeof edition);
    return status;
}

enum mt_status mt_glossaries_terms(struct mt_glossaries *glossaries, const char *owner,
                                   const char *id, const char *source, const char *target,
                                   struct mt_terms **out, struct mt_error *err)
{
    struct finding finding = {
        .glossaries = glossaries, .owner = owner, .id = id, .source = source, .target = target};
    pthread_mutex_lock(&glossaries->mutex);
    enum mt_status status = mt_database_read(glossaries->database, find_terms, &finding, err);
    if (!status && finding.found) {
        MT_LIST_REMOVE(&glossaries->ready, finding.found);
        MT_LIST_PREPEND(&glossaries->ready, finding.found);
        status = mt_terms_share(finding.found->terms, out, err);
    }
    pthread_mutex_unlock(&glossaries->mutex);
    if (status || finding.found)
        return status;
    const struct mt_glossary_question question = {
        .owner = owner, .id = id, .source = source, .target = target};
    status = mt_glossaries_visit(glossaries, &question, ignore_row, NULL, err);
    /* another request has just added it */
    return status ? status : fail_unknown(source, target, err);
}
