#include "server/data/glossary_entries.h"

#include "base/ascii.h"
#include "base/text.h"
#include "server/text/terms.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
/* Columns: source, target and their languages. */
#define MAX_COLUMNS 4
/* Most bytes of a field that a message shows. */
#define FIELD_BYTES 48

struct reader {
    const struct mt_entries *entries;
    struct mt_terms *terms;
    const char *at, *end;
    size_t line;
    char name[FIELD_BYTES]; /* as in "entries, line 3" */
    struct mt_text columns[MAX_COLUMNS];
    size_t n_columns;
};

static enum mt_status fail(const struct reader *reader, const char *what, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "%s: %s", reader->name, what);
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Moves behind the line end at reader->at; CR LF is one line end. */
static void skip_line_end(struct reader *reader)
{
    if (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    if (reader->at < reader->end && *reader->at == '\n')
        reader->at++;
}

static enum mt_status check_column(const struct reader *reader, struct mt_text *column,
                                   struct mt_error *err)
{
    mt_text_append(column, "", 0);
    if (column->status)
        return mt_text_check(column, "an entry", err);
    for (const char *at = column->bytes; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return fail(reader, "found a control character or a line break in a term", err);
    /* A term must not have one, because at the beginning of all entries it would not be read as
     * part of the term. */
    return strstr(column->bytes, BYTE_ORDER_MARK)
               ? fail(reader, "found a byte order mark in a term", err)
               : MT_OK;
}

/* Reads what follows an opening quotation mark, up to the closing one; two of them stand for
 * one. */
static enum mt_status read_quoted(struct reader *reader, struct mt_text *out, struct mt_error *err)
{
    for (; reader->at < reader->end; reader->at++) {
        bool is_mark = *reader->at == '"';
        bool is_double = is_mark && reader->at + 1 < reader->end && reader->at[1] == '"';
        if (is_mark && !is_double)
            break;
        reader->at += is_double;
        mt_text_append(out, reader->at, 1);
    }
    if (reader->at == reader->end)
        return fail(reader, "a quotation mark is not closed", err);
    reader->at++;
    bool has_ended = reader->at == reader->end || *reader->at == ',' || is_line_end(*reader->at);
    return has_ended
               ? MT_OK
               : fail(reader, "expected a comma or the line's end behind a quotation mark", err);
}

static enum mt_status read_column(struct reader *reader, char separator, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (reader->n_columns == MAX_COLUMNS)
        return fail(reader, "found more than four columns", err);
    struct mt_text *column = &reader->columns[reader->n_columns++];
    column->length = 0;
    const char *begin = reader->at;
    if (separator == ',' && begin < reader->end && *begin == '"') {
        reader->at++;
        status = read_quoted(reader, column, err);
    } else {
        while (reader->at < reader->end && *reader->at != separator && !is_line_end(*reader->at))
            reader->at++;
        mt_text_append(column, begin, (size_t)(reader->at - begin));
    }
    return status ? status : check_column(reader, column, err);
}

static enum mt_status read_columns(struct reader *reader, struct mt_error *err)
{
    char separator = reader->entries->is_csv ? ',' : '\t';
    reader->n_columns = 0;
    enum mt_status status = read_column(reader, separator, err);
    while (!status && reader->at < reader->end && *reader->at == separator) {
        reader->at++;
        status = read_column(reader, separator, err);
    }
    return status;
}

/* Whether both are the same language, regardless of the region: "pt-BR" and "PT" are. */
static bool is_language(const char *code, const char *other)
{
    size_t n = strcspn(code, "-_"), n_other = strcspn(other, "-_");
    return n == n_other && strncasecmp(code, other, n) == 0;
}

static enum mt_status check_languages(const struct reader *reader, struct mt_error *err)
{
    const struct mt_entries *entries = reader->entries;
    const char *wanted[] = {entries->source, entries->target};
    for (size_t i = 2; i < reader->n_columns; i++)
        if (!is_language(reader->columns[i].bytes, wanted[i - 2]))
            return mt_fail(err, MT_INVALID, "%s: is in language \"%.20s\", expected \"%.20s\"",
                           reader->name, reader->columns[i].bytes, wanted[i - 2]);
    return MT_OK;
}

static enum mt_status read_entry(struct reader *reader, struct mt_error *err)
{
    enum mt_status status = read_columns(reader, err);
    if (status)
        return status;
    if (reader->n_columns == 1 &&
        strspn(reader->columns[0].bytes, " ") == reader->columns[0].length)
        return MT_OK;
    bool is_csv = reader->entries->is_csv;
    if (reader->n_columns < 2 || (!is_csv && reader->n_columns > 2))
        return mt_fail(err, MT_INVALID,
                       "%s: found %zu column%s, expected a term and its translation with a %s "
                       "between",
                       reader->name, reader->n_columns, reader->n_columns == 1 ? "" : "s",
                       is_csv ? "comma" : "tab");
    status = check_languages(reader, err);
    size_t n = mt_terms_count(reader->terms);
    if (!status)
        status = mt_terms_add(reader->terms, reader->name, reader->columns[0].bytes,
                              reader->columns[1].bytes, err);
    if (!status && mt_terms_count(reader->terms) == n)
        status = mt_fail(err, MT_INVALID, "%s: \"%.60s\" was there before", reader->name,
                         reader->columns[0].bytes);
    return status;
}

enum mt_status mt_entries_read(const struct mt_entries *entries, struct mt_terms *terms,
                               struct mt_error *err)
{
    struct reader reader = {.entries = entries,
                            .terms = terms,
                            .at = entries->text,
                            .end = entries->text + entries->length};
    enum mt_status status = MT_OK;
    if (entries->length >= 3 && memcmp(entries->text, BYTE_ORDER_MARK, 3) == 0)
        reader.at += 3;
    while (reader.at < reader.end && !status) {
        snprintf(reader.name, sizeof reader.name, "entries, line %zu", ++reader.line);
        status = read_entry(&reader, err);
        skip_line_end(&reader);
    }
    if (!status && mt_terms_count(terms) == 0)
        status = mt_fail(err, MT_INVALID, "entries: found none, expected one at least");
    for (size_t i = 0; i < MAX_COLUMNS; i++)
        mt_text_finish(&reader.columns[i]);
    return status;
}

void mt_entries_write(const struct mt_terms *terms, struct mt_text *out)
{
    for (size_t i = 0; i < mt_terms_count(terms); i++) {
        const struct mt_term term = mt_terms_at(terms, i);
        mt_text_appendf(out, "%s%s\t%s", i > 0 ? "\n" : "", term.source, term.target);
    }
}
