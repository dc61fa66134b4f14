#include "server/documents/markup/xhtml.h"

#include "base/size.h"
#include "server/documents/markup/markup_reader.h"
#include "server/documents/office/office_names.h"
#include "server/documents/office/office_paragraph.h"
#include "server/documents/office/office_words.h"
#include "server/documents/xml_elements.h"
#include "server/text/html/html_pieces.h"

#include <string.h>
#include <strings.h>

/* Bytes in which a page declares its type. */
#define HEAD_BYTES 2048

static const char *const namespaces[][2] = {
    {"http://www.w3.org/1999/xhtml", ""},
    {"http://www.w3.org/2000/svg", "svg:"},
    {"http://www.w3.org/1998/Math/MathML", "math:"},
    {"http://www.w3.org/XML/1998/namespace", "xml:"},
    {"http://www.idpf.org/2007/ops", "epub:"},
    {"http://www.idpf.org/2007/opf", "opf:"},
    {"http://purl.org/dc/elements/1.1/", "dc:"},
    {"http://www.daisy.org/z3986/2005/ncx/", "ncx:"},
};

/* Every element that is not in this table is a block. */
static const struct mt_markup_element elements[] = {
    {"body", MT_MARKUP_FLOW},
    {"title", MT_MARKUP_TEXT},
    {"a", MT_MARKUP_LINK},
    {"abbr", MT_MARKUP_PAIR},
    {"acronym", MT_MARKUP_PAIR},
    {"b", MT_MARKUP_LOOK},
    {"bdi", MT_MARKUP_PAIR},
    {"bdo", MT_MARKUP_PAIR},
    {"big", MT_MARKUP_LOOK},
    {"cite", MT_MARKUP_PAIR},
    {"data", MT_MARKUP_PAIR},
    {"del", MT_MARKUP_PAIR},
    {"dfn", MT_MARKUP_PAIR},
    {"em", MT_MARKUP_LOOK},
    {"font", MT_MARKUP_LOOK},
    {"i", MT_MARKUP_LOOK},
    {"ins", MT_MARKUP_PAIR},
    {"mark", MT_MARKUP_LOOK},
    {"nobr", MT_MARKUP_PAIR},
    {"q", MT_MARKUP_PAIR},
    {"s", MT_MARKUP_LOOK},
    {"small", MT_MARKUP_LOOK},
    {"span", MT_MARKUP_LOOK},
    {"strike", MT_MARKUP_LOOK},
    {"strong", MT_MARKUP_LOOK},
    {"time", MT_MARKUP_PAIR},
    {"tt", MT_MARKUP_LOOK},
    {"u", MT_MARKUP_LOOK},
    {"ruby", MT_MARKUP_PAIR},
    {"rb", MT_MARKUP_PAIR},
    {"sup", MT_MARKUP_NOTE},
    {"sub", MT_MARKUP_NOTE},
    {"br", MT_MARKUP_BREAK},
    {"code", MT_MARKUP_WORD},
    {"kbd", MT_MARKUP_WORD},
    {"samp", MT_MARKUP_WORD},
    {"var", MT_MARKUP_WORD},
    {"math:math", MT_MARKUP_WORD},
    {"svg:svg", MT_MARKUP_POINT},
    {"svg:text", MT_MARKUP_TEXT},
    {"svg:title", MT_MARKUP_TEXT},
    {"svg:desc", MT_MARKUP_TEXT},
    {"svg:tspan", MT_MARKUP_PAIR},
    {"svg:a", MT_MARKUP_PAIR},
    {"svg:style", MT_MARKUP_LEFT},
    {"svg:script", MT_MARKUP_LEFT},
    {"svg:metadata", MT_MARKUP_LEFT},
    {"rt", MT_MARKUP_COPY},
    {"rp", MT_MARKUP_COPY},
    {"img", MT_MARKUP_COPY},
    {"wbr", MT_MARKUP_COPY},
    {"input", MT_MARKUP_COPY},
    {"script", MT_MARKUP_COPY},
    {"style", MT_MARKUP_COPY},
    {"object", MT_MARKUP_COPY},
    {"embed", MT_MARKUP_COPY},
    {"iframe", MT_MARKUP_COPY},
    {"video", MT_MARKUP_COPY},
    {"audio", MT_MARKUP_COPY},
    {"canvas", MT_MARKUP_COPY},
    {"template", MT_MARKUP_COPY},
    {"map", MT_MARKUP_COPY},
    {"link", MT_MARKUP_COPY},
    {"meta", MT_MARKUP_COPY},
    {"textarea", MT_MARKUP_COPY},
    {"pre", MT_MARKUP_LEFT},
    {"xmp", MT_MARKUP_LEFT},
    {"listing", MT_MARKUP_LEFT},
    {"dc:title", MT_MARKUP_TEXT},
    {"ncx:text", MT_MARKUP_TEXT},
    {"ncx:docAuthor", MT_MARKUP_LEFT},
    {"dc:description", MT_MARKUP_TEXT},
};

static const struct mt_markup_value values[] = {
    {NULL, "alt"},      {NULL, "title"},     {NULL, "placeholder"}, {NULL, "aria-label"},
    {"input", "value"}, {"option", "label"}, {"optgroup", "label"}, {"meta", "content"}};

static mt_markup_role_of role_of;
static bool is_read(const struct mt_markup_tag *tag, const char *attribute);

static const struct mt_markup markup = {
    .namespaces = namespaces,
    .n_namespaces = sizeof namespaces / sizeof *namespaces,
    .elements = elements,
    .n_elements = sizeof elements / sizeof *elements,
    .values = values,
    .n_values = sizeof values / sizeof *values,
    .is_read = is_read,
    .knows_entities = true,
    .role = role_of,
};

static const char *value_of(const struct mt_markup_tag *tag, const char *name)
{
    const char *value = mt_markup_attribute(&markup, tag, name);
    return value ? value : "";
}

/* Whether an attribute holds words in this tag, by the same rules as in html_attributes.c. */
static bool is_read(const struct mt_markup_tag *tag, const char *attribute)
{
    static const char *const buttons[] = {"submit", "button", "reset"};
    static const char *const described[] = {"description",      "og:title",
                                            "og:description",   "og:image:alt",
                                            "twitter:title",    "twitter:description",
                                            "twitter:image:alt"};
    if (strcmp(attribute, "value") == 0)
        return MT_IS_ONE_OF(value_of(tag, "type"), buttons);
    if (strcmp(attribute, "content") == 0)
        return MT_IS_ONE_OF(value_of(tag, "name"), described) ||
               MT_IS_ONE_OF(value_of(tag, "property"), described);
    return strcmp(attribute, "title") != 0 || strcmp(tag->name, "link") != 0;
}

/* Returns whether an element is left out: it must not be translated, or is the number of a printed
 * page. */
static enum mt_markup_role role_of(void *context, const struct mt_markup_tag *tag,
                                   enum mt_markup_role role)
{
    (void)context;
    bool is_left = strcasecmp(value_of(tag, "translate"), "no") == 0 ||
                   mt_html_class_says_no(value_of(tag, "class"));
    bool is_page = strcmp(value_of(tag, "epub:type"), "pagebreak") == 0;
    bool is_look = role == MT_MARKUP_LOOK, has_name = value_of(tag, "id")[0] != '\0';
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        has_name = has_name || value_of(tag, values[i].attribute)[0];
    bool is_inline =
        is_look || role == MT_MARKUP_PAIR || role == MT_MARKUP_LINK || role == MT_MARKUP_NOTE;
    if (is_inline && (is_left || is_page))
        return is_page ? MT_MARKUP_COPY : MT_MARKUP_WORD;
    if (is_look && has_name)
        return MT_MARKUP_PAIR;
    bool holds_texts = role == MT_MARKUP_OTHER || role == MT_MARKUP_TEXT || role == MT_MARKUP_FLOW;
    return (is_left || is_page) && holds_texts ? MT_MARKUP_LEFT : role;
}

/* ---- languages ---- */

static size_t n_primary(const char *language)
{
    return strcspn(language, "-_");
}

static bool is_same_language(const char *a, const char *b)
{
    size_t n = n_primary(a);
    return n == n_primary(b) && strncasecmp(a, b, n) == 0;
}

static enum mt_status say_target(struct mt_xhtml *xhtml, struct mt_range range,
                                 struct mt_error *err)
{
    char said[MT_LANGUAGE_BYTES] = "";
    const char *bytes = xhtml->document->bytes;
    range = mt_range_trim(bytes, range.begin, range.end);
    size_t n = range.end - range.begin;
    if (n == 0 || n >= sizeof said)
        return MT_OK;
    memcpy(said, bytes + range.begin, n);
    bool is_other = xhtml->language[0] && !is_same_language(said, xhtml->language);
    if (is_other || is_same_language(said, xhtml->target))
        return MT_OK;
    return mt_document_add_edit(xhtml->document, range, xhtml->target, err);
}

static enum mt_status take_language(void *context, const struct mt_markup_tag *tag,
                                    struct mt_error *err)
{
    struct mt_xhtml *xhtml = context;
    const char *bytes = xhtml->document->bytes;
    if (strcmp(tag->name, "dc:language") == 0 && !xhtml->language[0]) {
        const char *end = strchr(bytes + tag->range.end, '<');
        struct mt_range range = {tag->range.end, end ? (size_t)(end - bytes) : tag->range.end};
        enum mt_status status = say_target(xhtml, range, err);
        range = mt_range_trim(bytes, range.begin, range.end);
        size_t n = mt_size_min(range.end - range.begin, sizeof xhtml->language - 1);
        memcpy(xhtml->language, bytes + range.begin, n);
        return status;
    }
    if (strcmp(tag->name, "html") != 0 && strcmp(tag->name, "ncx:ncx") != 0 &&
        strcmp(tag->name, "opf:package") != 0)
        return MT_OK;
    struct mt_range range = mt_xml_find_attribute(bytes, tag->range, "xml:lang");
    enum mt_status status = say_target(xhtml, range, err);
    struct mt_range other = mt_xml_find_attribute(bytes, tag->range, "lang");
    if (other.begin == range.begin) /* the same attribute, without its prefix */
        other = mt_xml_find_attribute(bytes, (struct mt_range){range.end, tag->range.end}, "lang");
    return status || strcmp(tag->name, "html") != 0 ? status : say_target(xhtml, other, err);
}

/* ---- reading ---- */

bool mt_xhtml_is_said(const char *bytes, size_t length)
{
    static const char declaration[] = "<?xml", namespace[] = "http://www.w3.org/1999/xhtml",
                      type[] = "//DTD XHTML";
    size_t begin = mt_utf8_mark_length(bytes, length), n = mt_size_min(length, HEAD_BYTES);
    const char *root = memmem(bytes, n, "<html", strlen("<html"));
    const char *end = root ? memchr(root, '>', length - (size_t)(root - bytes)) : NULL;
    size_t n_head = end ? (size_t)(end - bytes) : n;
    return strncmp(bytes + begin, declaration, strlen(declaration)) == 0 ||
           (root && memmem(bytes, n_head, namespace, strlen(namespace))) ||
           memmem(bytes, n_head, type, strlen(type));
}

static void write_words(const char *words, size_t length, bool is_behind_blank, struct mt_text *out)
{
    (void)is_behind_blank;
    mt_text_append(out, words, length);
}

static const struct mt_office_format format = {.write_words = write_words};

enum mt_status mt_xhtml_begin(struct mt_document *document, struct mt_error *err)
{
    struct mt_office *office = NULL;
    enum mt_status status = mt_office_create(&format, &office, err);
    document->own = office;
    return status;
}

enum mt_status mt_xhtml_unpack(struct mt_document *document, struct mt_flat *flat,
                               struct mt_error *err)
{
    return mt_office_unpack_as(&format, document, flat, err);
}

enum mt_status mt_xhtml_read(struct mt_xhtml *xhtml, struct mt_range range, struct mt_error *err)
{
    struct mt_document *document = xhtml->document;
    size_t n = document->n, n_edits = document->n_edits;
    enum mt_status status = MT_OK;
    if (xhtml->target)
        status = mt_markup_scan(document, range, &markup, take_language, xhtml, err);
    if (!status)
        status = mt_markup_read(document, range, &markup, xhtml, err);
    while (status && document->n > n)
        mt_text_finish(&document->pieces[--document->n].text);
    if (status)
        document->n_edits = n_edits;
    return status;
}

static enum mt_status read_page(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    struct mt_xhtml xhtml = {.document = document, .target = options->target_lang};
    enum mt_status status = mt_xhtml_begin(document, err);
    return status
               ? status
               : mt_xhtml_read(&xhtml, (struct mt_range){document->begin, document->length}, err);
}

const struct mt_document_reader mt_xhtml_reader = {
    .read_text = mt_read_office_words,
    .read = read_page,
    .write_around = mt_office_write_piece,
    .finish = mt_office_destroy,
    .find_charset = mt_xml_find_encoding,
};
