/*
 * Texts, presentations and spreadsheets of OpenDocument (ISO/IEC 26300): content.xml, and in
 * styles.xml the headers and footers, and what a page of a presentation takes from its master.
 *
 * Deleted text of tracked changes, formulas with their results, numbers, dates and other fields
 * stay. So do cells whose text a formula, a filter or a pivot table refers to, because it would not
 * find the cell any more.
 */
#include "server/documents/markup/markup_reader.h"
#include "server/documents/office/office_paragraph.h"
#include "server/documents/markup/odf_styles.h"
#include "server/documents/office/office_words.h"
#include "server/documents/xml_elements.h"

#include <string.h>

#define OASIS "urn:oasis:names:tc:opendocument:xmlns:"

static const char *const namespaces[][2] = {
    {OASIS "text:1.0", "text:"},
    {OASIS "office:1.0", "office:"},
    {OASIS "table:1.0", "table:"},
    {OASIS "style:1.0", "style:"},
    {OASIS "drawing:1.0", "draw:"},
    {OASIS "presentation:1.0", "presentation:"},
    {OASIS "xsl-fo-compatible:1.0", "fo:"},
    {OASIS "svg-compatible:1.0", "svg:"},
    {OASIS "form:1.0", "form:"},
    {"http://openoffice.org/2009/office", "officeooo:"},
    {"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0", "calcext:"},
};

static const struct mt_markup_element elements[] = {
    {"text:p", MT_MARKUP_TEXT},
    {"text:h", MT_MARKUP_TEXT},
    {"text:index-title-template", MT_MARKUP_TEXT},
    {"presentation:header-decl", MT_MARKUP_TEXT},
    {"presentation:footer-decl", MT_MARKUP_TEXT},
    {"svg:title", MT_MARKUP_TEXT}, /* the description of a picture, which is read aloud */
    {"svg:desc", MT_MARKUP_TEXT},
    {"text:span", MT_MARKUP_LOOK},
    {"text:a", MT_MARKUP_PAIR},
    {"text:meta", MT_MARKUP_PAIR},
    {"text:bookmark-ref", MT_MARKUP_PAIR},
    {"text:reference-ref", MT_MARKUP_PAIR},
    {"text:text-input", MT_MARKUP_PAIR},
    {"text:ruby", MT_MARKUP_PAIR},
    {"text:ruby-base", MT_MARKUP_PAIR},
    {"text:ruby-text", MT_MARKUP_COPY},
    {"text:number", MT_MARKUP_COPY},
    {"text:note", MT_MARKUP_POINT},
    {"office:annotation", MT_MARKUP_POINT},
    {"draw:frame", MT_MARKUP_POINT},
    {"draw:g", MT_MARKUP_POINT},
    {"draw:a", MT_MARKUP_POINT},
    {"draw:custom-shape", MT_MARKUP_POINT},
    {"text:s", MT_MARKUP_BLANKS},
    {"text:tab", MT_MARKUP_EDGE},
    {"text:line-break", MT_MARKUP_BREAK},
    {"text:soft-page-break", MT_MARKUP_UNSEEN},
    {"text:bookmark-start", MT_MARKUP_START},
    {"text:bookmark-end", MT_MARKUP_END},
    {"text:reference-mark-start", MT_MARKUP_START},
    {"text:reference-mark-end", MT_MARKUP_END},
    {"text:toc-mark-start", MT_MARKUP_START},
    {"text:toc-mark-end", MT_MARKUP_END},
    {"text:alphabetical-index-mark-start", MT_MARKUP_START},
    {"text:alphabetical-index-mark-end", MT_MARKUP_END},
    {"text:user-index-mark-start", MT_MARKUP_START},
    {"text:user-index-mark-end", MT_MARKUP_END},
    {"text:change-start", MT_MARKUP_START},
    {"text:change-end", MT_MARKUP_END},
    {"text:tracked-changes", MT_MARKUP_LEFT},
    {"table:tracked-changes", MT_MARKUP_LEFT},
    {"office:scripts", MT_MARKUP_LEFT},
    {"office:font-face-decls", MT_MARKUP_LEFT},
};

static mt_markup_role_of role_of;

/* A cell's value may be stored in addition to its text. What buttons and the like say, and what
 * appears when a link, a button or a cell is pointed at. */
static const struct mt_markup_value values[] = {{"table:table-cell", "office:string-value"},
                                                {NULL, "form:label"},
                                                {NULL, "form:title"},
                                                {"text:a", "office:title"},
                                                {"table:help-message", "table:title"},
                                                {"table:error-message", "table:title"}};

static const struct mt_markup markup = {
    .namespaces = namespaces,
    .n_namespaces = sizeof namespaces / sizeof *namespaces,
    .elements = elements,
    .n_elements = sizeof elements / sizeof *elements,
    .values = values,
    .n_values = sizeof values / sizeof *values,
    .role = role_of,
    .look = mt_odf_look,
};

/* Cells hold texts only where they have no number, date or formula. Masters of slides have texts
 * that nobody sees on slides, and code stays. */
static enum mt_markup_role role_of(void *context, const struct mt_markup_tag *tag,
                                   enum mt_markup_role role)
{
    bool is_text = role == MT_MARKUP_TEXT || role == MT_MARKUP_LOOK;
    const char *style = is_text ? mt_markup_attribute(&markup, tag, "text:style-name") : NULL;
    if (mt_odf_is_code(context, style))
        return role == MT_MARKUP_TEXT ? MT_MARKUP_CODE : MT_MARKUP_WORD;
    if (role == MT_MARKUP_LOOK && mt_odf_is_off_line(context, style))
        return MT_MARKUP_NOTE;
    bool is_cell = strcmp(tag->name, "table:table-cell") == 0 ||
                   strcmp(tag->name, "table:covered-table-cell") == 0;
    const char *type = is_cell ? mt_markup_attribute(&markup, tag, "office:value-type") : NULL;
    if (is_cell && ((type && strcmp(type, "string") != 0) ||
                    mt_markup_attribute(&markup, tag, "table:formula")))
        return MT_MARKUP_LEFT;
    return role;
}

/* The roles of elements in styles.xml. */
static enum mt_markup_role role_in_styles(void *context, const struct mt_markup_tag *tag,
                                          enum mt_markup_role role)
{
    if (mt_markup_attribute(&markup, tag, "presentation:class"))
        return MT_MARKUP_LEFT;
    return role_of(context, tag, role);
}

/* ---- writing ---- */

/* Only the first of several blanks is a character; the others are elements. */
static void write_words(const char *words, size_t length, bool is_behind_blank, struct mt_text *out)
{
    for (size_t i = 0; i < length;) {
        size_t n = 0;
        while (i + n < length && (unsigned char)words[i + n] <= ' ')
            n++;
        i += n;
        if (n > 0 && !is_behind_blank) {
            mt_text_append(out, " ", 1);
            n--;
        }
        if (n == 1)
            mt_text_append_string(out, "<text:s/>");
        else if (n > 1)
            mt_text_appendf(out, "<text:s text:c=\"%zu\"/>", n);
        is_behind_blank = false;
        size_t begin = i;
        while (i < length && (unsigned char)words[i] > ' ')
            i++;
        mt_text_append(out, words + begin, i - begin);
    }
}

static const struct mt_office_format format = {.write_words = write_words};

static enum mt_status unpack(struct mt_document *document, struct mt_flat *flat,
                             struct mt_error *err)
{
    return mt_office_unpack_as(&format, document, flat, err);
}

/* ---- the package ---- */

static enum mt_status check_kind(const struct mt_document *document, const char *kind,
                                 struct mt_error *err)
{
    static const char begin[] = "application/vnd.oasis.opendocument.";
    struct mt_text type = {0};
    enum mt_status status = mt_document_read_entry(document, "mimetype", &type, err);
    size_t n = strlen(begin);
    if (!status &&
        (strncmp(type.bytes, begin, n) != 0 || strncmp(type.bytes + n, kind, strlen(kind)) != 0))
        status = mt_fail(err, MT_FORMAT, "mimetype says \"%.80s\", expected \"%s%s\"", type.bytes,
                         begin, kind);
    mt_text_finish(&type);
    return status;
}

static enum mt_status take_entry(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    (void)context;
    return strcmp(tag->name, "encryption-data") == 0
               ? mt_fail(err, MT_FORMAT,
                         "the document has a password: save it without one and send that")
               : MT_OK;
}

static enum mt_status ignore_end(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    (void)context, (void)tag, (void)err;
    return MT_OK;
}

static enum mt_status check_password(const struct mt_document *document, struct mt_error *err)
{
    static const char name[] = "META-INF/manifest.xml";
    struct mt_text manifest = {0};
    enum mt_status status = mt_document_read_entry(document, name, &manifest, err);
    const struct mt_document view = {.bytes = manifest.bytes, .length = manifest.length};
    if (!status) {
        status = mt_xml_read(&view, take_entry, ignore_end, NULL, err);
        if (status)
            (void)mt_fail_in(err, status, name);
    }
    mt_text_finish(&manifest);
    return status;
}

/* Whether the part is the file of that name, either the document's or that of a chart in it. */
static bool is_named(const char *name, const char *end)
{
    const char *slash = strrchr(name, '/');
    return strcmp(slash ? slash + 1 : name, end) == 0;
}

static bool is_part(void *context, const char *name)
{
    (void)context;
    return is_named(name, "content.xml") || is_named(name, "styles.xml");
}

static enum mt_status read_part(struct mt_odf *odf, size_t index, struct mt_error *err)
{
    struct mt_document *document = odf->document;
    const struct mt_document_part *part = &document->parts[index];
    struct mt_markup own = markup;
    if (is_named(part->name, "styles.xml"))
        own.role = role_in_styles;
    enum mt_status status = mt_odf_scan(odf, part->range, err);
    if (!status)
        status = mt_markup_read(document, part->range, &own, odf, err);
    mt_odf_finish_part(odf);
    return status ? mt_fail_in(err, status, part->name) : MT_OK;
}

static enum mt_status read_odf(struct mt_document *document, const char *kind,
                               const struct mt_document_options *options, struct mt_error *err)
{
    struct mt_office *office = NULL;
    struct mt_odf odf = {.document = document, .markup = &markup, .target = options->target_lang};
    enum mt_status status = check_kind(document, kind, err);
    if (!status)
        status = check_password(document, err);
    if (!status)
        status = mt_document_read_parts(document, is_part, NULL, err);
    if (!status)
        status = mt_office_create(&format, &office, err);
    document->own = office;
    /* styles.xml comes first, if it exists, because it names the document's language. */
    for (int is_content = 0; is_content <= 1; is_content++)
        for (size_t i = 0; i < document->n_parts && !status; i++)
            if (is_named(document->parts[i].name, "styles.xml") == !is_content)
                status = read_part(&odf, i, err);
    if (!status)
        mt_odf_leave_names(&odf);
    mt_odf_finish(&odf);
    return status;
}

static enum mt_status read_odt(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    return read_odf(document, "text", options, err);
}

static enum mt_status read_odp(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    return read_odf(document, "presentation", options, err);
}

static enum mt_status read_ods(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    return read_odf(document, "spreadsheet", options, err);
}

#define READER(reads)                                                                              \
    {                                                                                              \
        .read_text = mt_read_office_words, .read = reads, .write_around = mt_office_write_piece,   \
        .finish = mt_office_destroy, .pack = mt_office_pack, .unpack = unpack, .is_package = true, \
    }

const struct mt_document_reader mt_document_odt_reader = READER(read_odt);
const struct mt_document_reader mt_document_odp_reader = READER(read_odp);
const struct mt_document_reader mt_document_ods_reader = READER(read_ods);
