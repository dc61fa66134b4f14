#include "server/documents/office/office_referenced.h"

#include "server/documents/office/office_names.h"
#include "server/documents/xml_words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    const struct mt_document *document;
    struct mt_office_referenced *referenced;
    struct mt_range formula; /* where it begins; empty: the text is in no formula */
    size_t depth;
};

/* Attributes whose values are the texts of cells. */
static const struct {
    const char *element, *attribute;
} names[] = {
    {"tableColumn", "name"}, {"tableColumn", "totalsRowLabel"},
    {"cacheField", "name"},  {"dataField", "name"},
    {"filter", "val"},       {"customFilter", "val"},
};

static const char *const formulas[] = {"f",        "formula",     "formula1",
                                       "formula2", "definedName", "calculatedColumnFormula"};

static void add(struct mt_office_referenced *referenced, const char *text, size_t length)
{
    if (length > 0)
        mt_text_append(&referenced->bytes, text, length);
    if (length > 0)
        mt_text_append(&referenced->bytes, "", 1);
}

/* Adds a column's name, in which line ends are written as _x000a_. */
static void add_name(struct mt_office_referenced *referenced, const char *name)
{
    struct mt_text text = {0};
    for (const char *at = name; *at;) {
        bool is_line_end = strncasecmp(at, "_x000a_", 7) == 0;
        mt_text_append(&text, is_line_end ? "\n" : at, 1);
        at += is_line_end ? 7 : 1;
    }
    if (text.status)
        referenced->bytes.status = text.status;
    else if (text.length > 0)
        add(referenced, text.bytes, text.length);
    mt_text_finish(&text);
}

/* Adds a list of allowed values, which is one text with commas. */
static void add_list(struct mt_office_referenced *referenced, char *text, size_t length)
{
    add(referenced, text, length);
    for (char *at = text, *comma; (comma = memchr(at, ',', (size_t)(text + length - at)));
         at = comma + 1)
        *comma = '\0';
    for (size_t at = 0; at <= length; at += strlen(text + at) + 1)
        if (strlen(text + at) < length)
            add_name(referenced, text + at + strspn(text + at, " "));
}

/* Adds the texts of a formula. They are between quotation marks, which are doubled within, and
 * names of sheets are between apostrophes. */
static void add_formula(struct mt_office_referenced *referenced, const char *formula)
{
    struct mt_text text = {0};
    for (const char *at = formula; *at;) {
        const char quote = *at++;
        if (quote != '"' && quote != '\'')
            continue;
        text.length = 0;
        mt_text_append(&text, "", 0);
        for (; *at && (*at != quote || at[1] == quote); at++) {
            at += *at == quote;
            mt_text_append(&text, at, 1);
        }
        at += *at != '\0';
        if (quote == '"' && !text.status && text.length > 0)
            add_list(referenced, text.bytes, text.length);
    }
    if (text.status)
        referenced->bytes.status = text.status;
    mt_text_finish(&text);
}

static enum mt_status take_begin(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(tag->name, names[i].element) == 0)
            add_name(reader->referenced, mt_office_attribute(tag, names[i].attribute));
    if (MT_IS_ONE_OF(tag->name, formulas)) {
        reader->formula = tag->range;
        reader->depth = tag->depth;
    }
    return mt_text_check(&reader->referenced->bytes, "a document", err);
}

static enum mt_status take_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    size_t begin = reader->formula.end;
    if (tag->depth != reader->depth || tag->range.begin <= begin)
        return MT_OK;
    struct mt_text formula = {0};
    reader->depth = 0;
    mt_text_append(&formula, "", 0);
    mt_xml_unescape(reader->document->bytes + begin, tag->range.begin - begin, &formula);
    enum mt_status status = mt_text_check(&formula, "a formula", err);
    if (!status)
        add_formula(reader->referenced, formula.bytes);
    mt_text_finish(&formula);
    return status ? status : mt_text_check(&reader->referenced->bytes, "a document", err);
}

enum mt_status mt_office_referenced_add(struct mt_office_referenced *referenced,
                                        const struct mt_document *document, size_t part,
                                        struct mt_error *err)
{
    struct reader reader = {.document = document, .referenced = referenced};
    const struct mt_range range = document->parts[part].range;
    const struct mt_document view = {
        .bytes = document->bytes, .begin = range.begin, .length = range.end};
    enum mt_status status = mt_xml_read(&view, take_begin, take_end, &reader, err);
    return status ? mt_fail_in(err, status, document->parts[part].name) : MT_OK;
}

static int compare(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

enum mt_status mt_office_referenced_sort(struct mt_office_referenced *referenced,
                                         struct mt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < referenced->bytes.length; i++)
        n += referenced->bytes.bytes[i] == '\0';
    referenced->texts = calloc(n + 1, sizeof *referenced->texts);
    if (!referenced->texts)
        return mt_fail_memory(err, n * sizeof *referenced->texts, "a document");
    for (size_t at = 0; at < referenced->bytes.length;
         at += strlen(referenced->bytes.bytes + at) + 1)
        referenced->texts[referenced->n++] = referenced->bytes.bytes + at;
    qsort(referenced->texts, referenced->n, sizeof *referenced->texts, compare);
    return MT_OK;
}

void mt_office_referenced_finish(struct mt_office_referenced *referenced)
{
    mt_text_finish(&referenced->bytes);
    free(referenced->texts);
}

bool mt_office_is_referenced(const struct mt_office_referenced *referenced, const char *text)
{
    return referenced->n > 0 && bsearch(&text, referenced->texts, referenced->n,
                                        sizeof *referenced->texts, compare) != NULL;
}
