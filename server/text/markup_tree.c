#include "base/list.h"
#include "server/text/markup.h"
#include "server/text/markup_state.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parsing in limited memory ---- */

/* Gumbo's blocks, so that they can be freed without walking a tree as deep as the input likes. */
struct block {
    struct block *next, *previous;
    size_t n_bytes;
    size_t padding; /* what follows is aligned as malloc aligns */
};

static void give_up(struct mt_html_tree *tree, enum mt_status status)
{
    tree->status = status;
    longjmp(tree->out, 1); /* gumbo expects memory never to end */
}

/* Gumbo compares every attribute of a tag with all before it, so that 20,000 take a second, and has
 * no limit of its own. That an element was made shows in its memory: a node, then room for one
 * child. */
static void count_attributes(struct mt_html_tree *tree, size_t n_bytes)
{
    bool is_element = tree->last_bytes == sizeof(GumboNode) && n_bytes == sizeof(void *);
    bool is_attribute = n_bytes == sizeof(GumboAttribute);
    tree->last_bytes = n_bytes;
    tree->n_open = is_element ? 0 : tree->n_open + is_attribute;
    tree->n_attributes += is_attribute;
    tree->has_many_attributes =
        tree->n_open > MT_MARKUP_MAX_ATTRIBUTES || tree->n_attributes > tree->max_attributes;
    if (tree->has_many_attributes)
        give_up(tree, MT_LIMIT);
}

static void *allocate(void *context, size_t n_bytes)
{
    struct mt_html_tree *tree = context;
    count_attributes(tree, n_bytes);
    size_t n = n_bytes + sizeof(struct block);
    bool fits = n >= n_bytes && n <= MT_MARKUP_MAX_BYTES - tree->n_bytes;
    struct block *block = fits ? malloc(n) : NULL;
    if (!block)
        give_up(tree, fits ? MT_MEMORY : MT_LIMIT);
    *block = (struct block){.n_bytes = n};
    MT_LIST_PREPEND(&tree->blocks, block);
    tree->n_bytes += n;
    return block + 1;
}

static void release(void *context, void *memory)
{
    struct mt_html_tree *tree = context;
    if (!memory)
        return;
    struct block *block = (struct block *)memory - 1;
    MT_LIST_REMOVE(&tree->blocks, block);
    tree->n_bytes -= block->n_bytes;
    free(block);
}

static size_t count_tags(const char *html, size_t length, const char *tag)
{
    size_t n = strlen(tag), n_found = 0;
    for (const char *at = html; (at = memchr(at, '<', length - (size_t)(at - html))); at++)
        n_found += length - (size_t)(at - html) > n && strncasecmp(at + 1, tag, n) == 0 &&
                   !isalnum((unsigned char)at[1 + n]);
    return n_found;
}

/* A page, or a piece of one? In a <template> every piece may stand, table rows too. */
static GumboTag context_of(const char *html, size_t length, size_t n_roots)
{
    bool is_page = n_roots > 0 || count_tags(html, length, "!doctype") > 0 ||
                   count_tags(html, length, "head") > 0;
    return is_page ? GUMBO_TAG_LAST : GUMBO_TAG_TEMPLATE;
}

/* Gumbo counts characters' numbers in an int, and does not look whether it overflows: &#4294967331;
 * would be some other character, or none. What has more digits than any character's number becomes
 * U+FFFD, as HTML wants it, in as many bytes. */
static void limit_number(char *digits, size_t n, bool is_hex)
{
    const char *replacement = is_hex ? "FFFD" : "65533";
    size_t n_zeros = strspn(digits, "0"), n_most = is_hex ? 6 : 7;
    if (n <= n_most || n - n_zeros <= n_most)
        return;
    memset(digits, '0', n);
    memcpy(digits + n - strlen(replacement), replacement, strlen(replacement));
}

/* In place; html ends in NUL. */
static void limit_numbers(char *html)
{
    for (char *at = html; (at = strstr(at, "&#"));) {
        bool is_hex = at[2] == 'x' || at[2] == 'X';
        at += is_hex ? 3 : 2;
        size_t n = strspn(at, is_hex ? "0123456789abcdefABCDEF" : "0123456789");
        limit_number(at, n, is_hex);
        at += n;
    }
}

enum mt_status mt_html_parse(const char *html, size_t length, struct mt_html_tree *tree,
                             struct mt_error *err)
{
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = allocate;
    options.deallocator = release;
    options.userdata = tree;
    options.max_errors = 0;
    size_t n_roots = count_tags(html, length, "html") + count_tags(html, length, "body");
    options.fragment_context = context_of(html, length, n_roots);
    tree->max_attributes =
        n_roots > MT_MARKUP_MAX_ROOT_TAGS ? MT_MARKUP_MAX_ALL_ATTRIBUTES : SIZE_MAX;
    tree->source = malloc(length + 1);
    if (!tree->source)
        return mt_fail_memory(err, length + 1, "an html text");
    memcpy(tree->source, html, length);
    tree->source[length] = '\0';
    limit_numbers(tree->source);
    if (setjmp(tree->out) != 0) {
        if (tree->has_many_attributes && tree->n_open > MT_MARKUP_MAX_ATTRIBUTES)
            return mt_fail(err, MT_LIMIT, "the html has a tag with more than %d attributes",
                           MT_MARKUP_MAX_ATTRIBUTES);
        if (tree->has_many_attributes)
            return mt_fail(err, MT_LIMIT,
                           "the html has more than %d attributes and %d tags <html> and <body>",
                           MT_MARKUP_MAX_ALL_ATTRIBUTES, MT_MARKUP_MAX_ROOT_TAGS);
        if (tree->status == MT_LIMIT)
            return mt_fail(err, MT_LIMIT, "%zu bytes of html need more than %zu MiB of memory",
                           length, MT_MARKUP_MAX_BYTES >> 20);
        return mt_fail_memory(err, length, "the tree of an html text");
    }
    tree->output = gumbo_parse_with_options(&options, tree->source, length);
    return MT_OK;
}

void mt_html_finish(struct mt_html_tree *tree)
{
    for (struct block *block = tree->blocks.first, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(tree->source);
    *tree = (struct mt_html_tree){0};
}

/* ---- what elements are ---- */

static bool is_among(GumboTag tag, const GumboTag *tags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tags[i] == tag)
            return true;
    return false;
}

bool mt_html_is_void(const GumboNode *element)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_AREA,   GUMBO_TAG_BASE,   GUMBO_TAG_BASEFONT, GUMBO_TAG_BGSOUND, GUMBO_TAG_BR,
        GUMBO_TAG_COL,    GUMBO_TAG_EMBED,  GUMBO_TAG_FRAME,    GUMBO_TAG_HR,      GUMBO_TAG_IMG,
        GUMBO_TAG_INPUT,  GUMBO_TAG_KEYGEN, GUMBO_TAG_LINK,     GUMBO_TAG_META,    GUMBO_TAG_PARAM,
        GUMBO_TAG_SOURCE, GUMBO_TAG_TRACK,  GUMBO_TAG_WBR,
    };
    const GumboElement *e = &element->v.element;
    return e->tag_namespace == GUMBO_NAMESPACE_HTML &&
           is_among(e->tag, tags, sizeof tags / sizeof *tags);
}

bool mt_html_is_raw_text(const GumboNode *element)
{
    static const GumboTag tags[] = {GUMBO_TAG_SCRIPT,  GUMBO_TAG_STYLE,    GUMBO_TAG_IFRAME,
                                    GUMBO_TAG_NOEMBED, GUMBO_TAG_NOFRAMES, GUMBO_TAG_XMP};
    const GumboElement *e = &element->v.element;
    return e->tag_namespace == GUMBO_NAMESPACE_HTML &&
           is_among(e->tag, tags, sizeof tags / sizeof *tags);
}

const GumboVector *mt_html_children(const GumboNode *node)
{
    switch (node->type) {
    case GUMBO_NODE_DOCUMENT:
        return &node->v.document.children;
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE:
        return &node->v.element.children;
    default:
        return NULL;
    }
}

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

/* The name behind "<" or "</". */
static GumboStringPiece name_in(GumboStringPiece tag)
{
    size_t begin = tag.length > 1 && tag.data[1] == '/' ? 2 : 1, end = begin;
    while (end < tag.length && !isspace((unsigned char)tag.data[end]) && tag.data[end] != '/' &&
           tag.data[end] != '>')
        end++;
    return (GumboStringPiece){.data = tag.data + begin, .length = end - begin};
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
    return !quote && is_plain_name(name_in(tag));
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

bool mt_html_is_named(const GumboNode *element, const char *name)
{
    const GumboElement *e = &element->v.element;
    const char *known = gumbo_normalized_tagname(e->tag);
    GumboStringPiece own = name_in(e->original_tag);
    if (own.length == 0)
        return strcasecmp(known, name) == 0;
    return own.length == strlen(name) && strncasecmp(own.data, name, own.length) == 0;
}

static void write_name(const GumboNode *element, struct mt_text *out)
{
    const GumboElement *e = &element->v.element;
    GumboStringPiece name = name_in(e->original_tag);
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
    GumboStringPiece start = name_in(e->original_tag), end = {0};
    if (e->original_end_tag.length > 2)
        end = name_in(e->original_end_tag);
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
