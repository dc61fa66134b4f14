#include "server/text/markup_state.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- writing ---- */

void mt_html_escape(const char *bytes, size_t length, struct mt_text *out)
{
    for (size_t i = 0, from = 0; i <= length; i++) {
        const char *entity = i == length       ? ""
                             : bytes[i] == '&' ? "&amp;"
                             : bytes[i] == '<' ? "&lt;"
                             : bytes[i] == '>' ? "&gt;"
                                               : NULL;
        if (!entity)
            continue;
        mt_text_append(out, bytes + from, i - from);
        mt_text_append_string(out, entity);
        from = i + 1;
    }
}

size_t mt_html_entity(const char *source, size_t length, size_t at)
{
    size_t end = at + 1;
    if (source[at] != '&')
        return 0;
    while (end < length && (isalnum((unsigned char)source[end]) || source[end] == '#'))
        end++;
    return end < length && source[end] == ';' && end > at + 1 ? end + 1 - at : 0;
}

static bool is_plain_name(GumboStringPiece name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !strchr("-_:.", name.data[i]))
            return false;
    return name.length > 0 && isalpha((unsigned char)name.data[0]);
}

/* Quotes only around values, no second '<', one '>' at the end: every parser reads it alike. */
static bool is_plain_tag(GumboStringPiece tag)
{
    char quote = '\0', before = '\0';
    if (tag.length < 3 || tag.data[tag.length - 1] != '>')
        return false;
    for (size_t i = 1; i + 1 < tag.length; i++) {
        char c = tag.data[i];
        if (quote) {
            quote = c == quote ? '\0' : quote;
            before = 'q';
            continue;
        }
        if (c == '<' || c == '>' || c == '\0' ||
            (before == 'q' && !isspace((unsigned char)c) && c != '/'))
            return false;
        if (c == '"' || c == '\'') {
            if (before != '=')
                return false;
            quote = c;
        }
        before = isspace((unsigned char)c) && before == '=' ? '=' : c;
    }
    return !quote && is_plain_name(mt_html_name(tag));
}

/* <b/> is a start tag in HTML, but programs that read XML take it for both. */
static bool closes_itself(GumboStringPiece tag)
{
    return tag.length > 2 && tag.data[tag.length - 2] == '/';
}

static bool is_from_source(const GumboNode *element)
{
    return element->v.element.original_tag.length > 0;
}

static void write_name(const GumboNode *element, struct mt_text *out)
{
    const GumboElement *e = &element->v.element;
    GumboStringPiece name = mt_html_name(e->original_tag);
    const char *known = gumbo_normalized_tagname(e->tag);
    bool is_renamed = element->parse_flags & GUMBO_INSERTION_FROM_IMAGE;
    if (!is_renamed && is_plain_name(name)) {
        mt_text_append(out, name.data, name.length);
        return;
    }
    if (known[0] != '\0' && e->tag != GUMBO_TAG_UNKNOWN) {
        mt_text_append_string(out, known);
        return;
    }
    for (size_t i = 0; i < name.length; i++)
        if (isalnum((unsigned char)name.data[i]))
            mt_text_append(out, &name.data[i], 1);
        else
            mt_text_append(out, "-", 1);
}

static void write_attribute(const GumboAttribute *attribute, struct mt_text *out)
{
    mt_text_append(out, " ", 1);
    for (const char *c = attribute->name; *c; c++)
        mt_text_append(out, strchr("<\"'=", *c) ? "-" : c, 1);
    if (attribute->original_value.length == 0)
        return;
    mt_text_append(out, "=\"", 2);
    for (const char *c = attribute->value; *c; c++)
        mt_text_append_string(out, *c == '"'   ? "&quot;"
                                   : *c == '&' ? "&amp;"
                                               : (char[2]){*c, '\0'});
    mt_text_append(out, "\"", 1);
}

void mt_html_write_start(const GumboNode *element, struct mt_text *out)
{
    const GumboElement *e = &element->v.element;
    bool is_foreign = e->tag_namespace != GUMBO_NAMESPACE_HTML;
    if (!is_from_source(element))
        return;
    bool is_well_closed = !closes_itself(e->original_tag) || is_foreign || mt_html_is_void(element);
    bool is_renamed = element->parse_flags & GUMBO_INSERTION_FROM_IMAGE;
    if (is_well_closed && !is_renamed && is_plain_tag(e->original_tag)) {
        mt_text_append(out, e->original_tag.data, e->original_tag.length);
        return;
    }
    mt_text_append(out, "<", 1);
    write_name(element, out);
    for (unsigned i = 0; i < e->attributes.length; i++)
        write_attribute(e->attributes.data[i], out);
    mt_text_append_string(out, is_foreign && closes_itself(e->original_tag) ? "/>" : ">");
}

void mt_html_write_end(const GumboNode *element, struct mt_text *out)
{
    const GumboElement *e = &element->v.element;
    bool is_foreign = e->tag_namespace != GUMBO_NAMESPACE_HTML;
    if (!is_from_source(element) || mt_html_is_void(element) ||
        (is_foreign && closes_itself(e->original_tag)))
        return;
    GumboStringPiece start = mt_html_name(e->original_tag), end = {0};
    if (e->original_end_tag.length > 2)
        end = mt_html_name(e->original_end_tag);
    bool is_its_own = start.length == end.length && is_plain_name(end) &&
                      strncasecmp(start.data, end.data, end.length) == 0 &&
                      is_plain_tag(e->original_end_tag);
    if (is_its_own) {
        mt_text_append(out, e->original_end_tag.data, e->original_end_tag.length);
        return;
    }
    mt_text_append(out, "</", 2);
    write_name(element, out);
    mt_text_append(out, ">", 1);
}

/* Its source, unless that holds more than text: stray tags,
 * or a '<' that nobody wrote as entity. */
static void write_text(const GumboText *text, struct mt_text *out)
{
    GumboStringPiece source = text->original_text;
    bool is_plain = source.length > 0 && !memchr(source.data, '<', source.length) &&
                    !memchr(source.data, '\0', source.length);
    if (is_plain)
        mt_text_append(out, source.data, source.length);
    else
        mt_html_escape(text->text, strlen(text->text), out);
}

static void write_comment(const GumboText *comment, struct mt_text *out)
{
    GumboStringPiece source = comment->original_text;
    bool is_whole = source.length >= 7 && memcmp(source.data, "<!--", 4) == 0 &&
                    memcmp(source.data + source.length - 3, "-->", 3) == 0;
    if (is_whole && !memmem(source.data + 4, source.length - 7, "--!>", 4)) {
        mt_text_append(out, source.data, source.length);
        return;
    }
    mt_text_append(out, "<!--", 4);
    for (const char *c = comment->text; *c; c++)
        mt_text_append(out, *c == '>' || *c == '<' ? " " : c, 1);
    mt_text_append(out, " -->", 4);
}

/* Line feeds right behind <pre> belong to the tag. */
static void write_lost_feed(const GumboNode *element, struct mt_text *out)
{
    const GumboElement *e = &element->v.element;
    bool loses =
        e->tag == GUMBO_TAG_PRE || e->tag == GUMBO_TAG_TEXTAREA || e->tag == GUMBO_TAG_LISTING;
    if (loses && e->original_tag.length > 0 && e->original_tag.data[e->original_tag.length] == '\n')
        mt_text_append(out, "\n", 1);
}

static void write_element(const GumboNode *node, struct mt_text *out)
{
    const GumboVector *children = &node->v.element.children;
    mt_html_write_start(node, out);
    write_lost_feed(node, out);
    for (unsigned i = 0; i < children->length; i++) {
        const GumboNode *child = children->data[i];
        if (mt_html_is_raw_text(node) && child->type != GUMBO_NODE_ELEMENT)
            mt_text_append_string(out, child->v.text.text);
        else
            mt_html_write_node(child, out);
    }
    mt_html_write_end(node, out);
}

void mt_html_write_node(const GumboNode *node, struct mt_text *out)
{
    switch (node->type) {
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE:
        write_element(node, out);
        break;
    case GUMBO_NODE_TEXT:
    case GUMBO_NODE_WHITESPACE:
        write_text(&node->v.text, out);
        break;
    case GUMBO_NODE_CDATA:
        mt_html_escape(node->v.text.text, strlen(node->v.text.text), out);
        break;
    case GUMBO_NODE_COMMENT:
        write_comment(&node->v.text, out);
        break;
    case GUMBO_NODE_DOCUMENT:
        break;
    }
}
