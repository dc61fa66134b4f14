#include "server/text/html/html_tree.h"

#include "base/list.h"
#include "server/text/html/html_reader.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parsing in limited memory ---- */

/* Gumbo's blocks are listed, so that they can be freed without walking a tree of any depth. */
struct block {
    struct block *next, *previous;
    size_t n_bytes;
    size_t padding; /* aligns what follows as malloc does */
};

static void give_up(struct mt_html_tree *tree, enum mt_status status)
{
    tree->status = status;
    longjmp(tree->out, 1); /* gumbo does not expect a failure */
}

/* Gumbo compares every attribute of a tag with all before it, so that 20,000 take a second, and has
 * no limit of its own. Its requests of memory show when an element is finished: first comes a node,
 * then an array for one child. */
static void count_attributes(struct mt_html_tree *tree, size_t n_bytes)
{
    bool is_element = tree->last_bytes == sizeof(GumboNode) && n_bytes == sizeof(void *);
    bool is_attribute = n_bytes == sizeof(GumboAttribute);
    tree->last_bytes = n_bytes;
    tree->n_open = is_element ? 0 : tree->n_open + is_attribute;
    tree->n_attributes += is_attribute;
    tree->has_many_attributes =
        tree->n_open > MT_HTML_MAX_ATTRIBUTES || tree->n_attributes > tree->max_attributes;
    if (tree->has_many_attributes)
        give_up(tree, MT_LIMIT);
}

/* The memory is zeroed, because gumbo reads whether a fragment is in quirks mode but never sets
 * it. */
static void *allocate(void *context, size_t n_bytes)
{
    struct mt_html_tree *tree = context;
    count_attributes(tree, n_bytes);
    size_t n = n_bytes + sizeof(struct block);
    bool fits = n >= n_bytes && n <= MT_HTML_MAX_BYTES - tree->n_bytes;
    struct block *block = fits ? calloc(1, n) : NULL;
    if (!block)
        give_up(tree, fits ? MT_MEMORY : MT_LIMIT);
    *block = (struct block){.n_bytes = n};
    MT_LIST_PREPEND(&tree->blocks, block);
    tree->n_bytes += n;
    if (!tree->output && n_bytes == sizeof *tree->output)
        tree->output = (GumboOutput *)(block + 1);
    return block + 1;
}

/* At nearly every tag gumbo searches the elements that are open, and has no limit of their number,
 * so that 200,000 take half a minute. It keeps them in an array, the outermost first, and doubles
 * it when it is full: an array for twice as many as allowed has held too many. Smaller arrays are
 * also freed when the page ends. */
static void count_open(struct mt_html_tree *tree, const struct block *block)
{
    const GumboNode *first;
    if (!tree->output || block->n_bytes < sizeof *block + 2 * MT_HTML_MAX_DEPTH * sizeof first)
        return;
    memcpy(&first, block + 1, sizeof first);
    tree->is_deep = first && first == tree->output->root;
    if (tree->is_deep)
        give_up(tree, MT_LIMIT);
}

static void release(void *context, void *memory)
{
    struct mt_html_tree *tree = context;
    if (!memory)
        return;
    struct block *block = (struct block *)memory - 1;
    count_open(tree, block);
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

/* Chooses whether the html is parsed as a page or as a fragment. Fragments are parsed as in a
 * <template>, where everything is allowed, table rows too. */
static GumboTag context_of(const char *html, size_t length, size_t n_roots)
{
    bool is_page = n_roots > 0 || count_tags(html, length, "!doctype") > 0 ||
                   count_tags(html, length, "head") > 0;
    return is_page ? GUMBO_TAG_LAST : GUMBO_TAG_TEMPLATE;
}

/* Gumbo reads the number of a character into an int without checking for overflow, so that
 * &#4294967331; would become another character, or none. Numbers with more digits than any
 * character's become U+FFFD, as HTML demands, in as many bytes. */
static void limit_number(char *digits, size_t n, bool is_hex)
{
    const char *replacement = is_hex ? "FFFD" : "65533";
    size_t n_zeros = strspn(digits, "0"), n_most = is_hex ? 6 : 7;
    if (n <= n_most || n - n_zeros <= n_most)
        return;
    memset(digits, '0', n);
    memcpy(digits + n - strlen(replacement), replacement, strlen(replacement));
}

/* Changes html, which ends in NUL, in place. */
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

/* Whether the tag has an unknown name and closes itself, as in XML: <x id="1"/>. A browser takes it
 * for a start tag, and all that follows for its content, but nobody who writes it means that. */
static bool is_empty_tag(const char *tag, size_t length)
{
    GumboStringPiece name = mt_html_name((GumboStringPiece){.data = tag, .length = length});
    return length > 3 && tag[length - 2] == '/' && isalpha((unsigned char)tag[1]) &&
           gumbo_tagn_enum(name.data, (unsigned)name.length) == GUMBO_TAG_UNKNOWN;
}

/* Hides the tags and signs within an instruction of PHP from the parser, for which it would end at
 * the first '>'. Returns where it ends. */
static size_t hide_instruction(char *html, size_t begin)
{
    char *end = strstr(html + begin + 2, "?>");
    for (char *at = html + begin + 2; end && at < end; at++)
        if (*at == '<' || *at == '>')
            *at = ' ';
    return end ? (size_t)(end - html) + 2 : begin + 1;
}

/* Turns such tags into instructions, which gumbo takes for comments that end at the next '>'. In a
 * title they are text and stay. */
static void hide_empty_tags(char *html, size_t length)
{
    bool is_within = false; /* a tag, in one of its attributes */
    bool may_end = true;    /* an instruction, since "?>" follows */
    for (size_t at = 0, end; at < length; at = end) {
        end = at + 1;
        if (html[at] != '<') {
            is_within = is_within && html[at] != '>';
            continue;
        }
        if (html[end] == '?' && !is_within && may_end) {
            end = hide_instruction(html, at);
            may_end = end > at + 1;
            continue;
        }
        if (strncasecmp(html + end, "title", 5) == 0) {
            const char *behind = strcasestr(html + end, "</title");
            end = behind ? (size_t)(behind - html) : length;
            continue;
        }
        end += strcspn(html + end, "<>");
        if (html[end] == '>' && is_empty_tag(html + at, end + 1 - at))
            html[at + 1] = '?';
        is_within = html[end] == '<' && isalpha((unsigned char)html[at + 1]);
    }
}

enum mt_status mt_html_fail_deep(struct mt_error *err)
{
    return mt_fail(err, MT_LIMIT, "html is nested more than %d deep", MT_HTML_MAX_DEPTH);
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
    tree->max_attributes = n_roots > MT_HTML_MAX_ROOT_TAGS ? MT_HTML_MAX_ALL_ATTRIBUTES : SIZE_MAX;
    tree->source = malloc(length + 1);
    if (!tree->source)
        return mt_fail_memory(err, length + 1, "an html text");
    memcpy(tree->source, html, length);
    tree->source[length] = '\0';
    limit_numbers(tree->source);
    hide_empty_tags(tree->source, length);
    if (setjmp(tree->out) != 0) {
        if (tree->is_deep)
            return mt_html_fail_deep(err);
        if (tree->has_many_attributes && tree->n_open > MT_HTML_MAX_ATTRIBUTES)
            return mt_fail(err, MT_LIMIT, "the html has a tag with more than %d attributes",
                           MT_HTML_MAX_ATTRIBUTES);
        if (tree->has_many_attributes)
            return mt_fail(err, MT_LIMIT,
                           "the html has more than %d attributes and %d tags <html> and <body>",
                           MT_HTML_MAX_ALL_ATTRIBUTES, MT_HTML_MAX_ROOT_TAGS);
        if (tree->status == MT_LIMIT)
            return mt_fail(err, MT_LIMIT, "%zu bytes of html need more than %zu MiB of memory",
                           length, MT_HTML_MAX_BYTES >> 20);
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

static const char *text_in(const GumboNode *node)
{
    const GumboVector *children = mt_html_children(node);
    while (children && children->length > 0) {
        node = children->data[children->length - 1];
        children = mt_html_children(node);
    }
    bool is_text = node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE;
    return is_text ? node->v.text.text : "";
}

enum mt_status mt_html_append_entity(const char *name, struct mt_text *out, struct mt_error *err)
{
    struct mt_html_tree tree = {0};
    struct mt_text source = {0};
    mt_text_appendf(&source, "<p>&%s;", name);
    enum mt_status status = mt_text_check(&source, "an entity", err);
    if (!status)
        status = mt_html_parse(source.bytes, source.length, &tree, err);
    if (!status) {
        const char *text = text_in(tree.output->root);
        if (text[0] != '&' || text[1] == '\0')
            mt_text_append_string(out, text);
    }
    mt_html_finish(&tree);
    mt_text_finish(&source);
    return status ? status : mt_text_check(out, "an entity", err);
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

GumboStringPiece mt_html_name(GumboStringPiece tag)
{
    if (tag.length == 0) /* an element that the parser made */
        return tag;
    size_t begin = tag.length > 1 && tag.data[1] == '/' ? 2 : 1, end = begin;
    while (end < tag.length && !isspace((unsigned char)tag.data[end]) && tag.data[end] != '/' &&
           tag.data[end] != '>')
        end++;
    return (GumboStringPiece){.data = tag.data + begin, .length = end - begin};
}

bool mt_html_is_named(const GumboNode *element, const char *name)
{
    const GumboElement *e = &element->v.element;
    const char *known = gumbo_normalized_tagname(e->tag);
    GumboStringPiece own = mt_html_name(e->original_tag);
    if (own.length == 0)
        return strcasecmp(known, name) == 0;
    return own.length == strlen(name) && strncasecmp(own.data, name, own.length) == 0;
}
