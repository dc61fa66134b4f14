/*
 * Word's documents (ECMA-376, WordprocessingML): the package and which of its parts hold words.
 * office_reader.h reads those.
 */
#include "server/documents/office_paragraph.h"
#include "server/documents/office_reader.h"
#include "server/documents/office_words.h"
#include "server/documents/xml_elements.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TABLE "[Content_Types].xml"
#define MAX_TYPES 8192

/* What [Content_Types].xml says: of a part, or of all with an extension that it does not name. */
struct type {
    struct mt_text name; /* or the extension */
    bool is_extension, has_words;
};

struct contents {
    struct type types[MAX_TYPES];
    size_t n;
    bool has_main;
    char other[100]; /* a main part of another program's */
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcasecmp(text + n - n_end, end) == 0;
}

static enum mt_status take_type(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    static const char *const types[] = {
        "wordprocessingml.document.main+xml",  "wordprocessingml.template.main+xml",
        "word.document.macroEnabled.main+xml", "word.template.macroEnabledTemplate.main+xml",
        "wordprocessingml.header+xml",         "wordprocessingml.footer+xml",
        "wordprocessingml.footnotes+xml",      "wordprocessingml.endnotes+xml",
        "wordprocessingml.comments+xml"};
    struct contents *contents = context;
    bool is_extension = strcmp(tag->name, "Default") == 0;
    const char *name = mt_xml_attribute(tag, is_extension ? "Extension" : "PartName");
    const char *type = mt_xml_attribute(tag, "ContentType");
    if ((!is_extension && strcmp(tag->name, "Override") != 0) || !name || !type)
        return MT_OK;
    bool is_main = ends_with(type, ".main+xml"), is_known = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        is_known = is_known || ends_with(type, types[i]);
    contents->has_main = contents->has_main || (is_main && is_known);
    if (is_main && !is_known)
        strncpy(contents->other, type, sizeof contents->other - 1);
    if (contents->n == MAX_TYPES)
        return mt_fail(err, MT_LIMIT, "the file says the types of more than %d parts", MAX_TYPES);
    struct type *last = &contents->types[contents->n++];
    *last = (struct type){.is_extension = is_extension, .has_words = is_known};
    mt_text_append_string(&last->name, name + (name[0] == '/'));
    return mt_text_check(&last->name, "a document", err);
}

static enum mt_status ignore_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    (void)context, (void)tag, (void)err;
    return MT_OK;
}

static bool is_part(void *context, const char *name)
{
    const struct contents *contents = context;
    const char *dot = strrchr(name, '.');
    bool has_words = false;
    for (size_t i = 0; i < contents->n; i++) {
        const struct type *type = &contents->types[i];
        if (!type->is_extension && strcasecmp(type->name.bytes, name) == 0)
            return type->has_words;
        if (type->is_extension && dot && strcasecmp(type->name.bytes, dot + 1) == 0)
            has_words = type->has_words;
    }
    return has_words;
}

static enum mt_status read_contents(const struct mt_document *document, struct contents *contents,
                                    struct mt_error *err)
{
    struct mt_text table = {0};
    enum mt_status status = mt_document_read_entry(document, TABLE, &table, err);
    const struct mt_document view = {.bytes = table.bytes, .length = table.length};
    if (!status) {
        status = mt_xml_read(&view, take_type, ignore_end, contents, err);
        if (status)
            (void)mt_fail_in(err, status, TABLE);
    }
    mt_text_finish(&table);
    if (status || contents->has_main)
        return status;
    return mt_fail(err, MT_FORMAT, "%s names %s, expected a document of Word's", TABLE,
                   contents->other[0] ? contents->other : "no main part");
}

static enum mt_status read_docx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    struct mt_office *office = NULL;
    (void)options;
    struct contents *contents = calloc(1, sizeof *contents);
    if (!contents)
        return mt_fail_memory(err, sizeof *contents, "a document");
    enum mt_status status = read_contents(document, contents, err);
    if (!status)
        status = mt_document_read_parts(document, is_part, contents, err);
    for (size_t i = 0; i < contents->n; i++)
        mt_text_finish(&contents->types[i].name);
    free(contents);
    if (!status)
        status = mt_office_create(NULL, &office, err);
    document->own = office;
    for (size_t i = 0; i < document->n_parts && !status; i++)
        status = mt_office_read(document, i, err);
    return status;
}

const struct mt_document_reader mt_document_docx_reader = {
    .read_text = mt_read_office_words,
    .read = read_docx,
    .write_around = mt_office_write_piece,
    .finish = mt_office_destroy,
    .is_package = true,
};
