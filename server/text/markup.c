#include "server/text/markup.h"

#include "base/size.h"
#include "server/text/markup_state.h"
#include "server/text/placeholders.h"
#include "server/text/protect.h"
#include "server/text/terms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Characters of one segment that keep their entities. */
#define MAX_ENTITIES 32

/* Elements in an inline one; with more it is a block: a list of links is no sentence. */
#define MAX_INLINE_ELEMENTS 64

/* Elements in one that stands in for a word because its text is a placeholder: with more it is a
 * span, so that no text is looked at for each of the many elements around it. */
#define MAX_PLACEHOLDER_ELEMENTS 3

struct entity {
    uint32_t code_point;
    struct mt_range name; /* bytes of names */
};

struct segment {
    struct mt_marked marked;
    struct mt_text names;
    struct entity entities[MAX_ENTITIES];
    size_t n_entities;
    size_t verbatim_end; /* what stands before it ends here */
};

struct mt_markup {
    struct mt_text verbatim;
    struct segment *segments;
    size_t n, capacity;
};

/* What add_children and add_element ask about each element, found out once. */
struct element {
    size_t n_below; /* elements in it that the list has behind it */
    bool is_left_alone;
    bool is_inline; /* and holds nothing that is a block */
    bool has_words;
};

struct builder {
    struct mt_markup *markup;
    const struct mt_markup_options *options;
    struct element *elements; /* in document order, but for those in one that is left alone */
    size_t n_elements, elements_capacity;
    size_t next;             /* the element that add_node meets next */
    struct segment *segment; /* the one that is being filled */
    enum mt_status status;
    struct mt_error *err;
};

/* ---- what kind an element is ---- */

static bool is_tag_among(const GumboNode *node, const GumboTag *tags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tags[i] == node->v.element.tag)
            return true;
    return false;
}

static bool is_element(const GumboNode *node)
{
    return node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE;
}

static bool is_text(const GumboNode *node)
{
    return node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
           node->type == GUMBO_NODE_CDATA;
}

/* Those that stand among words; everything unknown does, as in browsers. */
static bool is_inline_tag(const GumboNode *node)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_A,      GUMBO_TAG_ABBR,     GUMBO_TAG_ACRONYM,  GUMBO_TAG_B,
        GUMBO_TAG_BDI,    GUMBO_TAG_BDO,      GUMBO_TAG_BIG,      GUMBO_TAG_BR,
        GUMBO_TAG_BUTTON, GUMBO_TAG_CITE,     GUMBO_TAG_CODE,     GUMBO_TAG_DATA,
        GUMBO_TAG_DEL,    GUMBO_TAG_DFN,      GUMBO_TAG_EM,       GUMBO_TAG_FONT,
        GUMBO_TAG_I,      GUMBO_TAG_IMG,      GUMBO_TAG_INPUT,    GUMBO_TAG_INS,
        GUMBO_TAG_KBD,    GUMBO_TAG_LABEL,    GUMBO_TAG_MARK,     GUMBO_TAG_NOBR,
        GUMBO_TAG_Q,      GUMBO_TAG_S,        GUMBO_TAG_SAMP,     GUMBO_TAG_SCRIPT,
        GUMBO_TAG_SMALL,  GUMBO_TAG_SPAN,     GUMBO_TAG_STRIKE,   GUMBO_TAG_STRONG,
        GUMBO_TAG_STYLE,  GUMBO_TAG_SUB,      GUMBO_TAG_SUP,      GUMBO_TAG_SVG,
        GUMBO_TAG_MATH,   GUMBO_TAG_TIME,     GUMBO_TAG_TT,       GUMBO_TAG_U,
        GUMBO_TAG_VAR,    GUMBO_TAG_WBR,      GUMBO_TAG_UNKNOWN,  GUMBO_TAG_EMBED,
        GUMBO_TAG_OBJECT, GUMBO_TAG_IFRAME,   GUMBO_TAG_VIDEO,    GUMBO_TAG_AUDIO,
        GUMBO_TAG_CANVAS, GUMBO_TAG_TEXTAREA, GUMBO_TAG_TEMPLATE, GUMBO_TAG_LINK,
        GUMBO_TAG_META,   GUMBO_TAG_RUBY,
    };
    return is_tag_among(node, tags, sizeof tags / sizeof *tags);
}

static bool says_no(const GumboNode *node)
{
    const GumboAttribute *attribute = gumbo_get_attribute(&node->v.element.attributes, "translate");
    return attribute && strcasecmp(attribute->value, "no") == 0;
}

static bool is_ignored(const struct mt_markup_options *options, const GumboNode *node)
{
    for (size_t i = 0; i < options->n_ignored_tags; i++)
        if (mt_html_is_named(node, options->ignored_tags[i]))
            return true;
    return false;
}

/* Left as it is, with everything in it. */
static bool is_left_alone(const struct mt_markup_options *options, const GumboNode *node)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_PRE,     GUMBO_TAG_CODE,      GUMBO_TAG_KBD,     GUMBO_TAG_SAMP,
        GUMBO_TAG_VAR,     GUMBO_TAG_SCRIPT,    GUMBO_TAG_STYLE,   GUMBO_TAG_TEXTAREA,
        GUMBO_TAG_SVG,     GUMBO_TAG_MATH,      GUMBO_TAG_OBJECT,  GUMBO_TAG_IFRAME,
        GUMBO_TAG_VIDEO,   GUMBO_TAG_AUDIO,     GUMBO_TAG_CANVAS,  GUMBO_TAG_TEMPLATE,
        GUMBO_TAG_XMP,     GUMBO_TAG_PLAINTEXT, GUMBO_TAG_LISTING, GUMBO_TAG_RUBY,
        GUMBO_TAG_NOEMBED, GUMBO_TAG_NOFRAMES,
    };
    return node->v.element.tag_namespace != GUMBO_NAMESPACE_HTML ||
           is_tag_among(node, tags, sizeof tags / sizeof *tags) || says_no(node) ||
           is_ignored(options, node);
}

static bool has_words(const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += mt_utf8_length((unsigned char)text[at]))
        if (mt_is_word_char(mt_utf8_decode(text + at)))
            return true;
    return false;
}

/* In all text, as a reader sees it. */
static bool holds_words(const GumboNode *node)
{
    if (is_text(node))
        return has_words(node->v.text.text, strlen(node->v.text.text));
    const GumboVector *children = mt_html_children(node);
    for (unsigned i = 0; children && !mt_html_is_raw_text(node) && i < children->length; i++)
        if (holds_words(children->data[i]))
            return true;
    return false;
}

static bool reserve_element(struct builder *builder)
{
    if (builder->n_elements < builder->elements_capacity)
        return true;
    size_t capacity = mt_size_max(16, builder->elements_capacity * 2);
    struct element *elements = realloc(builder->elements, capacity * sizeof *elements);
    if (!elements) {
        builder->status =
            mt_fail_memory(builder->err, capacity * sizeof *elements, "elements of html");
        return false;
    }
    builder->elements = elements;
    builder->elements_capacity = capacity;
    return true;
}

/* Lists the node, if it is an element, and what is in it. Returns whether it may stand in a
 * sentence. */
static bool survey(struct builder *builder, const GumboNode *node)
{
    if (!is_element(node))
        return true;
    if (builder->status || !reserve_element(builder))
        return false;
    size_t index = builder->n_elements++;
    struct element element = {.is_left_alone = is_left_alone(builder->options, node),
                              .is_inline = is_inline_tag(node)};
    const GumboVector *children = mt_html_children(node);
    element.has_words = element.is_left_alone && holds_words(node);
    for (unsigned i = 0; !element.is_left_alone && i < children->length && !builder->status; i++) {
        const GumboNode *child = children->data[i];
        size_t below = builder->n_elements;
        element.is_inline = survey(builder, child) && element.is_inline;
        element.has_words = element.has_words || (is_element(child) && !builder->status
                                                      ? builder->elements[below].has_words
                                                      : holds_words(child));
    }
    element.n_below = builder->n_elements - index - 1;
    element.is_inline = element.is_inline && element.n_below < MAX_INLINE_ELEMENTS;
    builder->elements[index] = element;
    return element.is_inline;
}

/* All text in it, as a reader sees it. */
static void gather_text(const GumboNode *node, struct mt_text *out)
{
    if (is_text(node))
        mt_text_append_string(out, node->v.text.text);
    const GumboVector *children = mt_html_children(node);
    for (unsigned i = 0; children && !mt_html_is_raw_text(node) && i < children->length; i++)
        gather_text(children->data[i], out);
}

/* ---- segments ---- */

static struct segment *begin_segment(struct builder *builder)
{
    struct mt_markup *markup = builder->markup;
    if (markup->n == markup->capacity) {
        size_t capacity = mt_size_max(4, markup->capacity * 2);
        struct segment *segments = realloc(markup->segments, capacity * sizeof *segments);
        if (!segments) {
            builder->status =
                mt_fail_memory(builder->err, capacity * sizeof *segments, "segments of html");
            return NULL;
        }
        markup->segments = segments;
        markup->capacity = capacity;
    }
    struct segment *segment = &markup->segments[markup->n];
    *segment = (struct segment){.verbatim_end = markup->verbatim.length};
    mt_marked_init(&segment->marked);
    return segment;
}

static void finish_segment(struct segment *segment)
{
    mt_marked_finish(&segment->marked);
    mt_text_finish(&segment->names);
}

static void remember_entity(struct segment *segment, uint32_t code_point, const char *name,
                            size_t length)
{
    if (segment->n_entities == MAX_ENTITIES)
        return;
    for (size_t i = 0; i < segment->n_entities; i++)
        if (segment->entities[i].code_point == code_point)
            return;
    size_t begin = segment->names.length;
    mt_text_append(&segment->names, name, length);
    segment->entities[segment->n_entities++] =
        (struct entity){code_point, {begin, segment->names.length}};
}

/* Source and text go in step: what an entity stands for is where it stood. */
static void find_entities(struct segment *segment, const GumboText *text)
{
    const char *source = text->original_text.data, *decoded = text->text;
    size_t length = text->original_text.length;
    for (size_t i = 0; i < length && *decoded;) {
        size_t n = mt_html_entity(source, length, i);
        bool is_literal = n && *decoded == '&' && strncmp(decoded, source + i, n) == 0 &&
                          strncasecmp(source + i, "&amp;", 5) != 0;
        if (n && !is_literal) {
            remember_entity(segment, mt_utf8_decode(decoded), source + i, n);
            decoded += mt_utf8_length((unsigned char)*decoded);
            i += n;
            continue;
        }
        if (source[i] == '\r' && i + 1 < length && source[i + 1] == '\n')
            i++;
        else if (source[i] != *decoded && source[i] != '\r')
            return;
        i++;
        decoded++;
    }
}

/* Every run of HTML's blanks is one; none at the beginning and behind line breaks. */
static void append_collapsed(struct mt_marked *marked, const char *text, size_t length)
{
    for (size_t i = 0, end; i < length; i = end) {
        bool is_blank = memchr(" \t\n\f\r", text[i], 5) != NULL;
        for (end = i + 1; end < length && (memchr(" \t\n\f\r", text[end], 5) != NULL) == is_blank;)
            end++;
        if (!is_blank) {
            mt_marked_append(marked, text + i, end - i);
            continue;
        }
        const struct mt_text *so_far = &marked->text;
        char last = so_far->length ? so_far->bytes[so_far->length - 1] : '\n';
        bool is_behind_point = last == '\n' && marked->pending != MT_NO_MARK;
        if ((last != ' ' && last != '\n') || is_behind_point)
            mt_marked_append(marked, " ", 1);
    }
}

/* What could not be written whole must not pass for less. */
static void finish_part(struct builder *builder, struct mt_text *part)
{
    if (part->status && !builder->status)
        builder->status = mt_text_check(part, "an element", builder->err);
    mt_text_finish(part);
}

static void add_term(struct builder *builder, const struct mt_protected *found, const char *text)
{
    struct mt_marked words = {0};
    struct mt_text written = {0};
    struct mt_term term = mt_terms_at(builder->options->terms, found->term);
    mt_marked_init(&words);
    append_collapsed(&words, text + found->begin, found->end - found->begin);
    const char *target = term.is_kept ? words.text.bytes : term.target;
    size_t n_target = term.is_kept ? words.text.length : strlen(term.target);
    mt_html_escape(target, n_target, &written);
    const struct mt_marked_term mark = {
        .words = words.text.bytes,
        .n_words = words.text.length,
        .target = target,
        .n_target = n_target,
        .written = written.bytes,
        .n_written = written.length,
        .term = found->term,
        .is_kept = term.is_kept,
    };
    enum mt_status status = mt_marked_check(&words, builder->err);
    if (!status)
        status = mt_text_check(&written, "a term", builder->err);
    if (status)
        builder->status = status;
    else
        mt_marked_term(&builder->segment->marked, &mark);
    mt_text_finish(&written);
    mt_marked_finish(&words);
}

static void add_found(struct builder *builder, const struct mt_protected *found, const char *text)
{
    struct mt_marked *marked = &builder->segment->marked;
    struct mt_text content = {0};
    mt_html_escape(text + found->begin, found->end - found->begin, &content);
    const char *bytes = content.bytes ? content.bytes : "";
    if (marked->n >= MT_MAX_MARKS) {
        append_collapsed(marked, text + found->begin, found->end - found->begin);
        if (found->kind == MT_PROTECTED_TERM)
            mt_terms_pass_over(builder->options->terms, found->term);
        else if (found->kind != MT_PROTECTED_NOTHING)
            mt_marked_pass_over(marked, content.bytes, content.length);
    } else if (found->kind == MT_PROTECTED_WORD) {
        mt_marked_stand_in(marked,
                           mt_stand_ins_next(builder->options->stand_ins,
                                             mt_placeholder_is_count(bytes, content.length)),
                           bytes, content.length);
    } else if (found->kind == MT_PROTECTED_EMOJI) {
        mt_marked_point(marked, bytes, content.length);
    } else if (found->kind == MT_PROTECTED_TERM) {
        add_term(builder, found, text);
    }
    finish_part(builder, &content);
}

static void add_text(struct builder *builder, const GumboText *text)
{
    struct mt_marked *marked = &builder->segment->marked;
    struct mt_protect_scan scan;
    size_t length = strlen(text->text);
    find_entities(builder->segment, text);
    mt_protect_scan_begin(&scan, text->text, length, builder->options->protects,
                          builder->options->terms, true);
    for (size_t from = 0; from < length;) {
        struct mt_protected found = mt_protect_scan_next(&scan, from);
        append_collapsed(marked, text->text + from, found.begin - from);
        add_found(builder, &found, text->text);
        from = found.end;
    }
}

/* Whole elements that the model does not see. */
static void add_whole(struct builder *builder, const GumboNode *node, bool is_word)
{
    struct mt_marked *marked = &builder->segment->marked;
    struct mt_text content = {0};
    mt_html_write_node(node, &content);
    const char *bytes = content.bytes ? content.bytes : "";
    if (!is_word)
        mt_marked_point(marked, bytes, content.length);
    else
        mt_marked_stand_in(marked,
                           mt_stand_ins_next(builder->options->stand_ins,
                                             mt_placeholder_is_count(bytes, content.length)),
                           bytes, content.length);
    finish_part(builder, &content);
}

static void add_node(struct builder *builder, const GumboNode *node, size_t depth);

static void add_span(struct builder *builder, const GumboNode *node, size_t depth)
{
    struct mt_marked *marked = &builder->segment->marked;
    struct mt_text tag = {0};
    mt_html_write_start(node, &tag);
    mt_marked_open(marked, tag.bytes ? tag.bytes : "", tag.length);
    const GumboVector *children = mt_html_children(node);
    for (unsigned i = 0; i < children->length; i++)
        add_node(builder, children->data[i], depth + 1);
    tag.length = 0;
    mt_html_write_end(node, &tag);
    mt_marked_close(marked, tag.bytes ? tag.bytes : "", tag.length);
    finish_part(builder, &tag);
}

/* Whether its text is a placeholder and nothing else. */
static bool is_placeholder(struct builder *builder, const GumboNode *node)
{
    struct mt_text text = {0};
    enum mt_protected_kind kind = MT_PROTECTED_NOTHING;
    gather_text(node, &text);
    bool is_all = mt_protect_is_all(text.bytes ? text.bytes : "", text.length, &kind);
    finish_part(builder, &text);
    return is_all && kind == MT_PROTECTED_WORD;
}

static void add_element(struct builder *builder, const GumboNode *node, size_t depth)
{
    size_t behind = builder->next + 1;
    const struct element *element = &builder->elements[builder->next];
    bool is_protected = builder->options->protects && element->has_words &&
                        element->n_below <= MAX_PLACEHOLDER_ELEMENTS &&
                        is_placeholder(builder, node);
    builder->next = behind + element->n_below;
    if (node->v.element.tag == GUMBO_TAG_BR && mt_html_is_void(node)) {
        struct mt_text tag = {0};
        mt_html_write_start(node, &tag);
        mt_marked_trim(&builder->segment->marked);
        mt_marked_break(&builder->segment->marked, tag.bytes ? tag.bytes : "", tag.length);
        finish_part(builder, &tag);
    } else if (!element->has_words || mt_html_is_void(node)) {
        add_whole(builder, node, false);
    } else if (element->is_left_alone || is_protected) {
        bool is_word = !mt_html_is_raw_text(node) && node->type == GUMBO_NODE_ELEMENT &&
                       (says_no(node) || is_protected ||
                        node->v.element.tag_namespace == GUMBO_NAMESPACE_HTML);
        add_whole(builder, node, is_word);
    } else {
        builder->next = behind;
        add_span(builder, node, depth);
    }
}

static void add_node(struct builder *builder, const GumboNode *node, size_t depth)
{
    if (builder->status)
        return;
    if (depth > MT_HTML_MAX_DEPTH)
        builder->status =
            mt_fail(builder->err, MT_LIMIT, "html is nested more than %d deep", MT_HTML_MAX_DEPTH);
    else if (is_text(node))
        add_text(builder, &node->v.text);
    else if (is_element(node))
        add_element(builder, node, depth);
    else
        add_whole(builder, node, false);
}

/* ---- blocks ---- */

/* Blanks in the source at one end of a run. */
static struct mt_range outer_blanks(const GumboNode *node, bool at_end)
{
    struct mt_range none = {0, 0};
    if (node->type != GUMBO_NODE_TEXT && node->type != GUMBO_NODE_WHITESPACE)
        return none;
    GumboStringPiece source = node->v.text.original_text;
    size_t begin = 0, end = source.length;
    if (at_end) {
        for (begin = end; begin > 0 && isspace((unsigned char)source.data[begin - 1]);)
            begin--;
    } else {
        for (end = 0; end < source.length && isspace((unsigned char)source.data[end]);)
            end++;
    }
    return (struct mt_range){begin, end};
}

static void write_blanks(struct builder *builder, const GumboNode *node, struct mt_range blanks)
{
    mt_text_append(&builder->markup->verbatim, node->v.text.original_text.data + blanks.begin,
                   blanks.end - blanks.begin);
}

/* Neighbours among a block's children that are one text to the reader. Nothing to translate in it:
 * verbatim. */
static void add_run(struct builder *builder, const GumboVector *nodes, unsigned first, unsigned end,
                    size_t depth)
{
    struct mt_markup *markup = builder->markup;
    size_t before = markup->verbatim.length;
    const GumboNode *first_node = nodes->data[first], *last_node = nodes->data[end - 1];
    if (is_text(first_node))
        write_blanks(builder, first_node, outer_blanks(first_node, false));
    builder->segment = begin_segment(builder);
    if (!builder->segment)
        return;
    for (unsigned i = first; i < end; i++)
        add_node(builder, nodes->data[i], depth);
    mt_marked_trim(&builder->segment->marked);
    if (!builder->status)
        builder->status = mt_marked_check(&builder->segment->marked, builder->err);
    if (builder->status || mt_marked_has_words(&builder->segment->marked)) {
        markup->n++;
        if (is_text(last_node))
            write_blanks(builder, last_node, outer_blanks(last_node, true));
        return;
    }
    finish_segment(builder->segment);
    markup->verbatim.length = before;
    for (unsigned i = first; i < end; i++)
        mt_html_write_node(nodes->data[i], &markup->verbatim);
}

static void add_block(struct builder *builder, const GumboNode *node, size_t index, size_t depth);

/* The first of the children that are elements has this index. */
static void add_children(struct builder *builder, const GumboVector *children, size_t index,
                         size_t depth)
{
    /* Room for the marks that one more node may bring. */
    const size_t max_marks = MT_MAX_MARKS - 2 * MAX_INLINE_ELEMENTS;
    for (unsigned i = 0; i < children->length && !builder->status;) {
        unsigned end = i;
        size_t first = index;
        bool is_full = false;
        for (size_t n_marks = 0; end < children->length && !is_full; end++) {
            const GumboNode *node = children->data[end];
            const struct element *element = is_element(node) ? &builder->elements[index] : NULL;
            size_t n_listed = element ? element->n_below + 1 : 0;
            if (element && !element->is_inline)
                break;
            index += n_listed;
            n_marks += element ? n_listed : 1;
            is_full = (end + 1 - i) % 32 == 0 && n_marks > max_marks;
        }
        if (end > i) {
            builder->next = first;
            add_run(builder, children, i, end, depth);
        } else {
            add_block(builder, children->data[end++], index, depth + 1);
            index += builder->elements[index].n_below + 1;
        }
        i = end;
    }
}

static void add_block(struct builder *builder, const GumboNode *node, size_t index, size_t depth)
{
    struct mt_text *verbatim = &builder->markup->verbatim;
    if (depth > MT_HTML_MAX_DEPTH) {
        builder->status =
            mt_fail(builder->err, MT_LIMIT, "html is nested more than %d deep", MT_HTML_MAX_DEPTH);
        return;
    }
    if (!is_element(node) || builder->elements[index].is_left_alone) {
        mt_html_write_node(node, verbatim);
        return;
    }
    mt_html_write_start(node, verbatim);
    add_children(builder, &node->v.element.children, index + 1, depth);
    mt_html_write_end(node, verbatim);
}

/* ---- the whole ---- */

/* gumbo keeps no source of it. */
static void write_doctype(const char *html, size_t length, struct mt_text *out)
{
    for (const char *at = html; (at = memchr(at, '<', length - (size_t)(at - html))); at++) {
        size_t left = length - (size_t)(at - html);
        const char *end = memchr(at, '>', left);
        if (left < 9 || !end || strncasecmp(at, "<!doctype", 9) != 0)
            continue;
        mt_text_append(out, at, (size_t)(end - at) + 1);
        if (end[1] == '\n')
            mt_text_append(out, "\n", 1);
        return;
    }
}

static enum mt_status check_tags(const char *html, size_t length, size_t limit,
                                 struct mt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < length; i++)
        n += html[i] == '<' && (isalpha((unsigned char)html[i + 1]) || html[i + 1] == '/');
    if (n > limit)
        return mt_fail(err, MT_LIMIT, "the html has %zu tags, at most %zu are allowed", n, limit);
    return MT_OK;
}

/* Deepest way down; -1 steps back up. The tree may be as deep as it has tags. */
static bool is_too_deep(const GumboNode *root)
{
    const GumboNode *node = root;
    size_t depth = 0;
    while (node) {
        const GumboVector *children = mt_html_children(node);
        if (children && children->length > 0) {
            node = children->data[0];
            if (++depth > MT_HTML_MAX_DEPTH)
                return true;
            continue;
        }
        while (node != root) {
            const GumboVector *siblings = mt_html_children(node->parent);
            size_t next = node->index_within_parent + 1;
            if (next < siblings->length) {
                node = siblings->data[next];
                break;
            }
            node = node->parent;
            depth--;
        }
        if (node == root)
            return false;
    }
    return false;
}

static enum mt_status build(struct builder *builder, const char *html, size_t length,
                            const GumboOutput *output)
{
    struct mt_text *verbatim = &builder->markup->verbatim;
    if (is_too_deep(output->document))
        return mt_fail(builder->err, MT_LIMIT, "html is nested more than %d deep",
                       MT_HTML_MAX_DEPTH);
    if (output->document->v.document.has_doctype)
        write_doctype(html, length, verbatim);
    const GumboVector *children = &output->document->v.document.children;
    for (unsigned i = 0; i < children->length; i++)
        (void)survey(builder, children->data[i]);
    for (size_t i = 0, index = 0; i < children->length && !builder->status; i++) {
        add_block(builder, children->data[i], index, 0);
        if (is_element(children->data[i]))
            index += builder->elements[index].n_below + 1;
    }
    return builder->status ? builder->status : mt_text_check(verbatim, "html", builder->err);
}

enum mt_status mt_markup_parse(const char *html, size_t length,
                               const struct mt_markup_options *options, struct mt_markup **out,
                               struct mt_error *err)
{
    struct mt_html_tree tree = {0};
    enum mt_status status = check_tags(html, length, options->max_tags, err);
    if (status)
        return status;
    struct mt_markup *markup = calloc(1, sizeof *markup);
    if (!markup)
        return mt_fail_memory(err, sizeof *markup, "html");
    struct builder builder = {.markup = markup, .options = options, .err = err};
    mt_text_append(&markup->verbatim, "", 0);
    status = mt_html_parse(html, length, &tree, err);
    if (!status)
        status = build(&builder, tree.source, length, tree.output);
    mt_html_finish(&tree);
    free(builder.elements);
    if (status) {
        mt_markup_destroy(markup);
        return status;
    }
    *out = markup;
    return MT_OK;
}

void mt_markup_destroy(struct mt_markup *markup)
{
    if (!markup)
        return;
    for (size_t i = 0; i < markup->n; i++)
        finish_segment(&markup->segments[i]);
    free(markup->segments);
    mt_text_finish(&markup->verbatim);
    free(markup);
}

size_t mt_markup_n_segments(const struct mt_markup *markup)
{
    return markup->n;
}

const struct mt_marked *mt_markup_segment(const struct mt_markup *markup, size_t index)
{
    return &markup->segments[index].marked;
}

void mt_markup_write_verbatim(const struct mt_markup *markup, size_t index, struct mt_text *out)
{
    size_t begin = index > 0 ? markup->segments[index - 1].verbatim_end : 0;
    size_t end = index < markup->n ? markup->segments[index].verbatim_end : markup->verbatim.length;
    mt_text_append(out, markup->verbatim.bytes + begin, end - begin);
}

static const struct entity *entity_of(const struct segment *segment, uint32_t code_point)
{
    for (size_t i = 0; i < segment->n_entities; i++)
        if (segment->entities[i].code_point == code_point)
            return &segment->entities[i];
    return NULL;
}

void mt_markup_write_text(const void *markup_text, const char *bytes, size_t length,
                          struct mt_text *out)
{
    const struct mt_markup_text *text = markup_text;
    const struct segment *segment = &text->markup->segments[text->segment];
    for (size_t i = 0, n; i < length; i += n) {
        n = mt_utf8_length((unsigned char)bytes[i]);
        const struct entity *entity = entity_of(segment, mt_utf8_decode(bytes + i));
        if (entity)
            mt_text_append(out, segment->names.bytes + entity->name.begin,
                           entity->name.end - entity->name.begin);
        else
            mt_html_escape(bytes + i, n, out);
    }
}
