/*
 * Documents of Office (ECMA-376): the package, and which of its parts hold words. office_reader.h
 * and office_runs.h read these parts.
 */
#include "server/documents/office/office_paragraph.h"
#include "server/documents/office/office_reader.h"
#include "server/documents/office/office_runs.h"
#include "server/documents/office/office_words.h"
#include "server/documents/package.h"
#include "server/documents/xml_elements.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TABLE "[Content_Types].xml"
#define MAX_TYPES 8192

/* What a part holds. */
enum words {
    NO_WORDS,
    TEXT, /* WordprocessingML */
    SHAPES,
    MASTER,
    CHART,
    NOTES,
    STRINGS,
    SHEET, /* words in its cells, and references to texts of other cells */
    COMMENTS,
    NAMES,     /* references to texts of cells */
    LANGUAGES, /* the language of runs that name none */
};

struct part_type {
    const char *type; /* the end of the content type */
    enum words words;
};

/* Documents of one program. */
struct program {
    const char *expected; /* "a document of Word's" */
    struct part_type types[24];
};

/* Charts and diagrams, which occur in documents of all programs. */
#define DRAWINGS                                                                     \
    {"drawingml.diagramData+xml", SHAPES}, {"drawingml.diagramDrawing+xml", SHAPES}, \
    {                                                                                \
        "drawingml.chartshapes+xml", SHAPES                                          \
    }

static const struct program word = {"a document of Word's",
                                    {{"wordprocessingml.document.main+xml", TEXT},
                                     {"wordprocessingml.template.main+xml", TEXT},
                                     {"word.document.macroEnabled.main+xml", TEXT},
                                     {"word.template.macroEnabledTemplate.main+xml", TEXT},
                                     {"wordprocessingml.header+xml", TEXT},
                                     {"wordprocessingml.footer+xml", TEXT},
                                     {"wordprocessingml.footnotes+xml", TEXT},
                                     {"wordprocessingml.endnotes+xml", TEXT},
                                     {"wordprocessingml.comments+xml", TEXT},
                                     {"wordprocessingml.styles+xml", LANGUAGES},
                                     {"drawingml.chart+xml", CHART},
                                     {"ms-office.chartex+xml", CHART},
                                     DRAWINGS}};

static const struct program powerpoint = {
    "a presentation of PowerPoint's",
    {{"presentationml.presentation.main+xml", LANGUAGES},
     {"presentationml.template.main+xml", LANGUAGES},
     {"presentationml.slideshow.main+xml", LANGUAGES},
     {"powerpoint.presentation.macroEnabled.main+xml", LANGUAGES},
     {"powerpoint.template.macroEnabled.main+xml", LANGUAGES},
     {"powerpoint.slideshow.macroEnabled.main+xml", LANGUAGES},
     {"presentationml.slide+xml", SHAPES},
     {"presentationml.notesSlide+xml", SHAPES},
     {"presentationml.slideLayout+xml", MASTER},
     {"presentationml.slideMaster+xml", MASTER},
     {"presentationml.notesMaster+xml", MASTER},
     {"presentationml.handoutMaster+xml", MASTER},
     {"presentationml.comments+xml", NOTES},
     {"ms-powerpoint.comments+xml", SHAPES},
     {"drawingml.chart+xml", CHART},
     {"ms-office.chartex+xml", CHART},
     DRAWINGS}};

/* The charts of a workbook copy texts from its cells, and programs update these copies. */
static const struct program excel = {"a workbook of Excel's",
                                     {{"spreadsheetml.sheet.main+xml", NAMES},
                                      {"spreadsheetml.template.main+xml", NAMES},
                                      {"ms-excel.sheet.macroEnabled.main+xml", NAMES},
                                      {"ms-excel.template.macroEnabled.main+xml", NAMES},
                                      {"spreadsheetml.worksheet+xml", SHEET},
                                      {"spreadsheetml.sharedStrings+xml", STRINGS},
                                      {"spreadsheetml.comments+xml", COMMENTS},
                                      {"ms-excel.threadedcomments+xml", NOTES},
                                      {"spreadsheetml.table+xml", NAMES},
                                      {"spreadsheetml.pivotCacheDefinition+xml", NAMES},
                                      {"spreadsheetml.pivotTable+xml", NAMES},
                                      {"officedocument.drawing+xml", SHAPES},
                                      {"drawingml.chart+xml", SHAPES},
                                      {"ms-office.chartex+xml", SHAPES},
                                      DRAWINGS}};

/* An entry of [Content_Types].xml: for one part, or for all parts with an extension. */
struct type {
    struct mt_text name; /* or the extension */
    bool is_extension;
    enum words words;
};

struct contents {
    const struct program *program;
    const char *target_lang;
    struct type types[MAX_TYPES];
    size_t n;
    bool has_main;
    char other[100];                          /* the main part of another program's document */
    enum words parts[MT_PACKAGE_MAX_ENTRIES]; /* those with words, in order */
    size_t n_parts;
    struct mt_office_referenced referenced;
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcasecmp(text + n - n_end, end) == 0;
}

static enum mt_status take_type(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct contents *contents = context;
    const struct part_type *known = NULL;
    bool is_extension = strcmp(tag->name, "Default") == 0;
    const char *name = mt_xml_attribute(tag, is_extension ? "Extension" : "PartName");
    const char *type = mt_xml_attribute(tag, "ContentType");
    if ((!is_extension && strcmp(tag->name, "Override") != 0) || !name || !type)
        return MT_OK;
    bool is_main = ends_with(type, ".main+xml");
    for (const struct part_type *at = contents->program->types; at->type && !known; at++)
        known = ends_with(type, at->type) ? at : NULL;
    contents->has_main = contents->has_main || (is_main && known);
    if (is_main && !known)
        strncpy(contents->other, type, sizeof contents->other - 1);
    if (contents->n == MAX_TYPES)
        return mt_fail(err, MT_LIMIT, "the file says the types of more than %d parts", MAX_TYPES);
    struct type *last = &contents->types[contents->n++];
    *last = (struct type){.is_extension = is_extension, .words = known ? known->words : NO_WORDS};
    mt_text_append_string(&last->name, name + (name[0] == '/'));
    return mt_text_check(&last->name, "a document", err);
}

static enum mt_status ignore_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    (void)context, (void)tag, (void)err;
    return MT_OK;
}

static enum words words_of(const struct contents *contents, const char *name)
{
    const char *dot = strrchr(name, '.');
    enum words words = NO_WORDS;
    for (size_t i = 0; i < contents->n; i++) {
        const struct type *type = &contents->types[i];
        if (!type->is_extension && strcasecmp(type->name.bytes, name) == 0)
            return type->words;
        if (type->is_extension && dot && strcasecmp(type->name.bytes, dot + 1) == 0)
            words = type->words;
    }
    return words;
}

static bool is_part(void *context, const char *name)
{
    struct contents *contents = context;
    enum words words = words_of(contents, name);
    if (words == LANGUAGES && !contents->target_lang)
        words = NO_WORDS;
    if (words != NO_WORDS)
        contents->parts[contents->n_parts++] = words;
    return words != NO_WORDS;
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
    return mt_fail(err, MT_FORMAT, "%s names %s, expected %s", TABLE,
                   contents->other[0] ? contents->other : "no main part",
                   contents->program->expected);
}

/* Reads <w:lang w:val="en-US"/> and <a:defRPr lang="en-US">. */
static enum mt_status take_language(void *context, const struct mt_xml_tag *tag,
                                    struct mt_error *err)
{
    (void)err;
    if (strcmp(tag->name, "lang") == 0 || mt_xml_attribute(tag, "lang"))
        mt_office_name_language(context);
    return MT_OK;
}

static enum mt_status read_languages(struct mt_document *document, size_t index,
                                     struct mt_error *err)
{
    const struct mt_document_part *part = &document->parts[index];
    const struct mt_document view = {
        .bytes = document->bytes, .begin = part->range.begin, .length = part->range.end};
    enum mt_status status = mt_xml_read(&view, take_language, ignore_end, document->own, err);
    return status ? mt_fail_in(err, status, part->name) : MT_OK;
}

static enum mt_status read_part(struct mt_document *document, const struct contents *contents,
                                size_t index, struct mt_error *err)
{
    static const enum mt_office_texts texts[] = {
        [SHAPES] = MT_OFFICE_SHAPES,    [MASTER] = MT_OFFICE_MASTER,   [CHART] = MT_OFFICE_CHART,
        [NOTES] = MT_OFFICE_NOTES,      [STRINGS] = MT_OFFICE_STRINGS, [SHEET] = MT_OFFICE_CELLS,
        [COMMENTS] = MT_OFFICE_COMMENTS};
    enum words words = contents->parts[index];
    if (words == TEXT)
        return mt_office_read(document, index, err);
    if (words == NAMES)
        return MT_OK;
    if (words == LANGUAGES)
        return read_languages(document, index, err);
    return mt_office_read_runs(document, index, texts[words], &contents->referenced, err);
}

static enum mt_status read_parts(struct mt_document *document, struct contents *contents,
                                 struct mt_error *err)
{
    struct mt_office *office = NULL;
    enum mt_status status = read_contents(document, contents, err);
    if (!status)
        status = mt_document_read_parts(document, is_part, contents, err);
    if (!status)
        status = mt_office_create(NULL, &office, err);
    document->own = office;
    if (office)
        mt_office_set_target(office, contents->target_lang);
    for (size_t i = 0; i < document->n_parts && !status; i++)
        if (contents->parts[i] == NAMES || contents->parts[i] == SHEET)
            status = mt_office_referenced_add(&contents->referenced, document, i, err);
    if (!status)
        status = mt_office_referenced_sort(&contents->referenced, err);
    for (size_t i = 0; i < document->n_parts && !status; i++)
        status = read_part(document, contents, i, err);
    if (!status && !mt_office_names_language(office))
        document->n_edits = 0;
    return status;
}

static enum mt_status read_document(struct mt_document *document, const struct program *program,
                                    const struct mt_document_options *options, struct mt_error *err)
{
    struct contents *contents = calloc(1, sizeof *contents);
    if (!contents)
        return mt_fail_memory(err, sizeof *contents, "a document");
    contents->program = program;
    contents->target_lang = options->target_lang;
    enum mt_status status = read_parts(document, contents, err);
    for (size_t i = 0; i < contents->n; i++)
        mt_text_finish(&contents->types[i].name);
    mt_office_referenced_finish(&contents->referenced);
    free(contents);
    return status;
}

static enum mt_status read_docx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    return read_document(document, &word, options, err);
}

static enum mt_status read_pptx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    return read_document(document, &powerpoint, options, err);
}

static enum mt_status read_xlsx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    return read_document(document, &excel, options, err);
}

#define READER(reads)                                                                            \
    {                                                                                            \
        .read_text = mt_read_office_words, .read = reads, .write_around = mt_office_write_piece, \
        .finish = mt_office_destroy, .pack = mt_office_pack, .unpack = mt_office_unpack,         \
        .is_package = true,                                                                      \
    }

const struct mt_document_reader mt_document_docx_reader = READER(read_docx);
const struct mt_document_reader mt_document_pptx_reader = READER(read_pptx);
const struct mt_document_reader mt_document_xlsx_reader = READER(read_xlsx);
