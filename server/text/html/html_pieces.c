#include "server/text/html/html_pieces.h"

#include "base/size.h"
#include "base/vector.h"
#include "server/text/html/html_reader.h"
#include "server/text/html/html_text.h"
#include "server/text/tagged_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <unicode/uchar.h>

/* Most elements within an inline one. With more it is a block, because a list of links is no
 * sentence. */
#define MAX_INLINE_ELEMENTS 64

struct lister {
    struct mt_html_pieces *pieces;
    const struct mt_html_tree *tree;
    const struct mt_coded_options *options;
    size_t n_elements;
    enum mt_status status;
    struct mt_error *err;
};

/* ---- what kind an element is ---- */

static bool is_among(GumboTag tag, const GumboTag *tags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tags[i] == tag)
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

/* Whether the element stands among words. Like browsers it takes unknown elements as inline. */
static bool is_inline_tag(GumboTag tag)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_A,      GUMBO_TAG_ABBR,     GUMBO_TAG_ACRONYM, GUMBO_TAG_B,      GUMBO_TAG_BDI,
        GUMBO_TAG_BDO,    GUMBO_TAG_BIG,      GUMBO_TAG_BR,      GUMBO_TAG_CITE,   GUMBO_TAG_CODE,
        GUMBO_TAG_DATA,   GUMBO_TAG_DEL,      GUMBO_TAG_DFN,     GUMBO_TAG_EM,     GUMBO_TAG_FONT,
        GUMBO_TAG_I,      GUMBO_TAG_IMG,      GUMBO_TAG_INPUT,   GUMBO_TAG_INS,    GUMBO_TAG_KBD,
        GUMBO_TAG_MARK,   GUMBO_TAG_NOBR,     GUMBO_TAG_Q,       GUMBO_TAG_S,      GUMBO_TAG_SAMP,
        GUMBO_TAG_SCRIPT, GUMBO_TAG_SMALL,    GUMBO_TAG_SPAN,    GUMBO_TAG_STRIKE, GUMBO_TAG_STRONG,
        GUMBO_TAG_STYLE,  GUMBO_TAG_SUB,      GUMBO_TAG_SUP,     GUMBO_TAG_SVG,    GUMBO_TAG_MATH,
        GUMBO_TAG_TIME,   GUMBO_TAG_TT,       GUMBO_TAG_U,       GUMBO_TAG_VAR,    GUMBO_TAG_WBR,
        GUMBO_TAG_EMBED,  GUMBO_TAG_OBJECT,   GUMBO_TAG_IFRAME,  GUMBO_TAG_VIDEO,  GUMBO_TAG_AUDIO,
        GUMBO_TAG_CANVAS, GUMBO_TAG_TEXTAREA, GUMBO_TAG_LINK,    GUMBO_TAG_META,   GUMBO_TAG_RUBY,
        GUMBO_TAG_IMAGE,  GUMBO_TAG_UNKNOWN,
    };
    return is_among(tag, tags, sizeof tags / sizeof *tags);
}

/* Whether the element is a check box or the like, which separates texts. */
static bool is_choice(const GumboNode *node)
{
    const GumboAttribute *type = gumbo_get_attribute(&node->v.element.attributes, "type");
    return node->v.element.tag == GUMBO_TAG_INPUT && type &&
           (strcasecmp(type->value, "radio") == 0 || strcasecmp(type->value, "checkbox") == 0);
}

static const char *sibling_text(const GumboNode *node, bool is_next)
{
    const GumboVector *siblings = mt_html_children(node->parent);
    size_t index = node->index_within_parent + (is_next ? 1 : (size_t)-1);
    const GumboNode *sibling = index < siblings->length ? siblings->data[index] : NULL;
    return sibling && is_text(sibling) ? sibling->v.text.text : "";
}

/* Whether the element stands between words of a sentence: "Press <button>OK</button> to go on". */
static bool is_in_sentence(const GumboNode *node)
{
    const char *before = sibling_text(node, false), *behind = sibling_text(node, true);
    struct mt_range words = mt_range_trim(before, 0, strlen(before));
    struct mt_range next = mt_range_trim(behind, 0, strlen(behind));
    if (words.begin == words.end || next.begin == next.end)
        return false;
    uint32_t last = mt_utf8_decode(before + mt_previous_char(before, words.end));
    uint32_t first = mt_utf8_decode(behind + next.begin);
    return mt_is_word_char(last) &&
           (u_islower((UChar32)first) || (first < 0x80 && strchr(".,;:!?", (int)first)));
}

/* Whether an element within a picture of SVG may hold words that are seen, or read aloud. */
static bool is_svg_text(const GumboNode *node)
{
    static const char *const names[] = {"text",   "tspan", "textPath", "title",
                                        "desc",   "a",     "g",        "switch",
                                        "symbol", "defs",  "svg",      "foreignObject"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_html_is_named(node, names[i]))
            return true;
    return false;
}

/* Whether a picture of SVG has such words. */
static bool has_svg_words(const GumboNode *node)
{
    if (is_text(node))
        return mt_has_word(node->v.text.text, 0, strlen(node->v.text.text));
    if (!is_element(node) || !is_svg_text(node))
        return false;
    const GumboVector *children = &node->v.element.children;
    for (unsigned i = 0; i < children->length; i++)
        if (has_svg_words(children->data[i]))
            return true;
    return false;
}

/* Whether the words of a picture are texts. One in a sentence is copied. */
static bool is_svg_read(const GumboNode *node)
{
    if (node->v.element.tag_namespace != GUMBO_NAMESPACE_SVG)
        return false;
    if (node->v.element.tag != GUMBO_TAG_SVG)
        return is_svg_text(node);
    return !is_in_sentence(node) && has_svg_words(node);
}

/* Whether the element is inline. The label of a button outside of a sentence is a text of its
 * own. */
static bool is_inline(const GumboNode *node)
{
    GumboTag tag = node->v.element.tag;
    if (tag == GUMBO_TAG_BUTTON || tag == GUMBO_TAG_LABEL)
        return is_in_sentence(node);
    if (node->v.element.tag_namespace == GUMBO_NAMESPACE_SVG && is_svg_read(node))
        return mt_html_is_named(node, "tspan") || tag == GUMBO_TAG_A;
    return is_inline_tag(tag) && !is_choice(node);
}

bool mt_html_class_says_no(const char *class)
{
    static const char name[] = "notranslate", blanks[] = " \t\r\n\f";
    for (size_t n; *(class += strspn(class, blanks)); class += n) {
        n = strcspn(class, blanks);
        if (n == strlen(name) && memcmp(class, name, n) == 0)
            return true;
    }
    return false;
}

bool mt_html_says_no(const GumboNode *node)
{
    const GumboVector *attributes = &node->v.element.attributes;
    const GumboAttribute *attribute = gumbo_get_attribute(attributes, "translate");
    const GumboAttribute *class = gumbo_get_attribute(attributes, "class");
    return (attribute && strcasecmp(attribute->value, "no") == 0) ||
           (class && mt_html_class_says_no(class->value));
}

/* Whether the element holds a code of another document, as those of translators' files do. */
static bool is_foreign_code(const GumboNode *node)
{
    static const char *const names[] = {"ph", "bpt", "ept", "it"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (node->v.element.tag == GUMBO_TAG_UNKNOWN && mt_html_is_named(node, names[i]))
            return true;
    return false;
}

static bool is_ignored(const struct mt_coded_options *options, const GumboNode *node)
{
    for (size_t i = 0; i < options->n_ignored_tags; i++)
        if (mt_html_is_named(node, options->ignored_tags[i]))
            return true;
    return false;
}

bool mt_html_is_left_alone(const struct mt_coded_options *options, const GumboNode *node)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_PRE,     GUMBO_TAG_CODE,   GUMBO_TAG_KBD,     GUMBO_TAG_SAMP,
        GUMBO_TAG_VAR,     GUMBO_TAG_SCRIPT, GUMBO_TAG_STYLE,   GUMBO_TAG_TEXTAREA,
        GUMBO_TAG_MATH,    GUMBO_TAG_OBJECT, GUMBO_TAG_IFRAME,  GUMBO_TAG_VIDEO,
        GUMBO_TAG_AUDIO,   GUMBO_TAG_CANVAS, GUMBO_TAG_XMP,     GUMBO_TAG_PLAINTEXT,
        GUMBO_TAG_LISTING, GUMBO_TAG_RUBY,   GUMBO_TAG_NOEMBED, GUMBO_TAG_NOFRAMES,
    };
    bool is_other = node->v.element.tag_namespace != GUMBO_NAMESPACE_HTML && !is_svg_read(node);
    return is_other || is_among(node->v.element.tag, tags, sizeof tags / sizeof *tags) ||
           mt_html_says_no(node) || is_ignored(options, node) || is_foreign_code(node);
}

/* Whether any text within the node has words that a reader sees. */
static bool holds_words(const GumboNode *node)
{
    if (is_text(node))
        return mt_has_word(node->v.text.text, 0, strlen(node->v.text.text));
    const GumboVector *children = mt_html_children(node);
    for (unsigned i = 0; children && !mt_html_is_raw_text(node) && i < children->length; i++)
        if (holds_words(children->data[i]))
            return true;
    return false;
}

/* ---- the list ---- */

static struct mt_html_piece *add(struct lister *lister, enum mt_html_kind kind,
                                 struct mt_range range)
{
    struct mt_html_pieces *pieces = lister->pieces;
    if (lister->status || range.begin >= range.end)
        return NULL;
    if (MT_ROOM(&pieces->items, &pieces->capacity, pieces->n + 1, "parts of html", lister->err)) {
        lister->status = MT_MEMORY;
        return NULL;
    }
    struct mt_html_piece *piece = &pieces->items[pieces->n++];
    *piece = (struct mt_html_piece){.kind = kind, .range = range, .mate = MT_NO_MATE};
    return piece;
}

/* Returns where a part of the tree is in the source; empty where the source does not have it. */
static struct mt_range range_of(const struct lister *lister, GumboStringPiece piece)
{
    const char *source = lister->tree->source;
    if (piece.length == 0 || piece.data < source ||
        piece.data + piece.length > source + lister->pieces->length)
        return (struct mt_range){0};
    size_t begin = (size_t)(piece.data - source);
    return (struct mt_range){begin, begin + piece.length};
}

static struct mt_range tag_name(const struct lister *lister, struct mt_range tag)
{
    const char *source = lister->pieces->source;
    GumboStringPiece name =
        mt_html_name((GumboStringPiece){.data = source + tag.begin, .length = tag.end - tag.begin});
    size_t begin = (size_t)(name.data - source);
    return (struct mt_range){begin, begin + name.length};
}

static bool is_same_name(const char *source, struct mt_range a, struct mt_range b)
{
    return a.end - a.begin == b.end - b.begin &&
           strncasecmp(source + a.begin, source + b.begin, a.end - a.begin) == 0;
}

/* Returns the range of the start tag. It is empty where the parser added the element, or a copy of
 * it, as it does for tags that are wrongly nested. */
static struct mt_range start_tag(const struct lister *lister, const GumboNode *node)
{
    const unsigned copied =
        GUMBO_INSERTION_RECONSTRUCTED_FORMATTING_ELEMENT | GUMBO_INSERTION_ADOPTION_AGENCY_CLONED;
    struct mt_range range = range_of(lister, node->v.element.original_tag);
    bool is_own = !((unsigned)node->parse_flags & copied) && range.begin < range.end &&
                  lister->pieces->source[range.begin] == '<' &&
                  mt_html_tag(lister->pieces->source, range.begin, range.end) > 0;
    return is_own ? range : (struct mt_range){0};
}

/* The element's end tag, or an empty range where another element's tag ended it. */
static struct mt_range end_tag(const struct lister *lister, const GumboNode *node)
{
    const GumboElement *e = &node->v.element;
    struct mt_range start = range_of(lister, e->original_tag);
    struct mt_range end = range_of(lister, e->original_end_tag);
    bool is_own =
        end.end - end.begin > 2 && start.begin < start.end && end.begin >= start.end &&
        lister->pieces->source[end.begin + 1] == '/' &&
        is_same_name(lister->pieces->source, tag_name(lister, start), tag_name(lister, end));
    return is_own ? end : (struct mt_range){0};
}

static void add_tag(struct lister *lister, struct mt_range range, bool is_inline)
{
    struct mt_range name = tag_name(lister, range);
    const char *source = lister->pieces->source;
    bool is_end = range.begin < range.end && source[range.begin + 1] == '/';
    struct mt_html_piece *piece = add(lister, is_end ? MT_HTML_END : MT_HTML_START, range);
    if (!piece)
        return;
    piece->name = name;
    piece->tag = gumbo_tagn_enum(source + name.begin, (unsigned)(name.end - name.begin));
    if (!is_inline)
        piece->kind = MT_HTML_BLOCK;
}

/* Adds a tag that the parser ignored. */
static void add_stray_tag(struct lister *lister, struct mt_range range)
{
    const char *source = lister->pieces->source;
    struct mt_range name = tag_name(lister, range);
    bool is_whole = source[range.end - 1] == '>';
    bool is_end = source[range.begin + 1] == '/';
    GumboTag tag = gumbo_tagn_enum(source + name.begin, (unsigned)(name.end - name.begin));
    if (is_whole && is_end)
        add_tag(lister, range, is_inline_tag(tag));
    else
        add(lister, is_whole && is_inline_tag(tag) ? MT_HTML_POINT : MT_HTML_BLOCK, range);
}

/* Whether '<' may begin a tag in the text; in a title it does not. */
static bool is_markup(const GumboNode *text)
{
    const GumboNode *parent = text->parent;
    return !parent || parent->type != GUMBO_NODE_ELEMENT ||
           parent->v.element.tag != GUMBO_TAG_TITLE;
}

static void add_words(struct lister *lister, struct mt_range range, const char *decoded,
                      const char *decoded_end)
{
    struct mt_html_piece *piece = add(lister, MT_HTML_TEXT, range);
    if (!piece)
        return;
    piece->decoded = decoded;
    piece->decoded_end = decoded_end;
}

/* Adds the pieces of a text, and tags in it that the parser ignored. Where source and decoded text
 * do not correspond the text ends, and the source stays as it is. */
static void add_text(struct lister *lister, const GumboNode *node)
{
    const char *source = lister->tree->source, *text = node->v.text.text, *decoded = text;
    struct mt_range whole = range_of(lister, node->v.text.original_text);
    struct mt_html_walk walk = {source, whole.begin, whole.end, text, text + strlen(text)};
    bool has_markup = is_markup(node), is_in_step = true;
    size_t n_before = lister->pieces->n, begin = walk.at;
    while (walk.at < walk.end && is_in_step && !lister->status) {
        struct mt_html_char next;
        size_t n_tag = has_markup ? mt_html_tag(source, walk.at, walk.end) : 0;
        if (n_tag == 0) {
            is_in_step = mt_html_next_char(&walk, &next);
            continue;
        }
        add_words(lister, (struct mt_range){begin, walk.at}, decoded, walk.decoded);
        add_stray_tag(lister, (struct mt_range){walk.at, walk.at + n_tag});
        walk.at += n_tag;
        begin = walk.at;
        decoded = walk.decoded;
    }
    add_words(lister, (struct mt_range){begin, walk.end}, decoded, walk.decoded);
    if (mt_html_is_at_end(&walk))
        return;
    lister->pieces->n = n_before;
    add(lister, MT_HTML_BLOCK, whole);
}

static void widen(struct mt_range *range, struct mt_range by)
{
    if (by.begin >= by.end)
        return;
    bool is_empty = range->begin >= range->end;
    range->begin = is_empty ? by.begin : mt_size_min(range->begin, by.begin);
    range->end = mt_size_max(range->end, by.end);
}

/* Extends *out from the element's start tag to its end tag, or to the end of its content. */
static void find_extent(const struct lister *lister, const GumboNode *node, struct mt_range *out)
{
    if (!is_element(node)) {
        widen(out, range_of(lister, node->v.text.original_text));
        return;
    }
    widen(out, start_tag(lister, node));
    const GumboVector *children = mt_html_children(node);
    for (unsigned i = 0; i < children->length; i++)
        find_extent(lister, children->data[i], out);
    widen(out, end_tag(lister, node));
}

/* Whether an element that is left alone is used as a word of a sentence. */
static bool is_word(const GumboNode *node)
{
    if (is_foreign_code(node) && !mt_html_is_named(node, "ph"))
        return false;
    return node->type == GUMBO_NODE_ELEMENT && !mt_html_is_raw_text(node) && holds_words(node) &&
           (mt_html_says_no(node) || node->v.element.tag_namespace == GUMBO_NAMESPACE_HTML);
}

static bool add_left_alone(struct lister *lister, const GumboNode *node)
{
    struct mt_range extent = {0};
    bool is_among_words = is_inline(node);
    find_extent(lister, node, &extent);
    struct mt_html_piece *piece = add(lister, MT_HTML_BLOCK, extent);
    if (piece && is_among_words) {
        piece->kind = is_word(node) ? MT_HTML_WORD : MT_HTML_POINT;
        piece->node = node;
    }
    return is_among_words;
}

static bool add_node(struct lister *lister, const GumboNode *node);

static bool add_element(struct lister *lister, const GumboNode *node)
{
    GumboTag tag = node->v.element.tag;
    size_t n_before = ++lister->n_elements, index = lister->pieces->n;
    if (mt_html_is_left_alone(lister->options, node))
        return add_left_alone(lister, node);
    struct mt_range start = start_tag(lister, node), end = end_tag(lister, node);
    bool is_among_words = is_inline(node);
    if (mt_html_is_void(node)) {
        add(lister,
            !is_among_words       ? MT_HTML_BLOCK
            : tag == GUMBO_TAG_BR ? MT_HTML_BREAK
                                  : MT_HTML_POINT,
            start);
        return is_among_words;
    }
    add_tag(lister, start, true);
    const GumboVector *children = &node->v.element.children;
    for (unsigned i = 0; i < children->length && !lister->status; i++)
        is_among_words = add_node(lister, children->data[i]) && is_among_words;
    is_among_words = is_among_words && lister->n_elements - n_before < MAX_INLINE_ELEMENTS;
    add_tag(lister, end, is_among_words);
    if (!is_among_words && start.begin < start.end && !lister->status)
        lister->pieces->items[index].kind = MT_HTML_BLOCK;
    return is_among_words;
}

/* Returns whether it may stand in a sentence. */
static bool add_node(struct lister *lister, const GumboNode *node)
{
    if (is_element(node))
        return add_element(lister, node);
    if (is_text(node))
        add_text(lister, node);
    else
        add(lister, MT_HTML_POINT, range_of(lister, node->v.text.original_text));
    return true;
}

/* This does not recurse, since the tree may be as deep as there are tags. */
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

enum mt_status mt_html_check_depth(const struct mt_html_tree *tree, struct mt_error *err)
{
    if (!is_too_deep(tree->output->document))
        return MT_OK;
    return mt_html_fail_deep(err);
}

/* ---- in the order of the source ---- */

static int compare_pieces(const void *a, const void *b)
{
    const struct mt_html_piece *x = a, *y = b;
    if (x->range.begin != y->range.begin)
        return x->range.begin < y->range.begin ? -1 : 1;
    return x->range.end == y->range.end ? 0 : x->range.end > y->range.end ? -1 : 1;
}

/* Adds source that no part of the tree has: ignored tags and blanks. */
static void add_gap(struct lister *lister, struct mt_range gap)
{
    const char *source = lister->pieces->source;
    for (size_t at = gap.begin, end; at < gap.end; at = end) {
        size_t n_tag = mt_html_tag(source, at, gap.end);
        end = at + mt_size_max(1, n_tag);
        if (n_tag > 0) {
            add_stray_tag(lister, (struct mt_range){at, end});
            continue;
        }
        bool is_blank = mt_html_is_blank(source[at]);
        while (end < gap.end && mt_html_is_blank(source[end]) == is_blank &&
               mt_html_tag(source, end, gap.end) == 0)
            end++;
        add(lister, is_blank ? MT_HTML_POINT : MT_HTML_BLOCK, (struct mt_range){at, end});
    }
}

/* Makes the pieces sorted, disjoint and without gaps. */
static void put_in_order(struct lister *lister)
{
    struct mt_html_pieces *pieces = lister->pieces;
    size_t n = pieces->n, n_kept = 0, at = 0;
    if (n > 0)
        qsort(pieces->items, n, sizeof *pieces->items, compare_pieces);
    for (size_t i = 0; i < n; i++) {
        if (pieces->items[i].range.begin < at)
            continue;
        at = pieces->items[i].range.end;
        pieces->items[n_kept++] = pieces->items[i];
    }
    pieces->n = n_kept;
    at = 0;
    for (size_t i = 0; i < n_kept; i++) {
        struct mt_range range = pieces->items[i].range;
        add_gap(lister, (struct mt_range){at, range.begin});
        at = range.end;
    }
    add_gap(lister, (struct mt_range){at, pieces->length});
    if (pieces->n > n_kept)
        qsort(pieces->items, pieces->n, sizeof *pieces->items, compare_pieces);
}

static bool closes(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return c == '"' || c == '\'' || type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION;
}

static void count_char(uint32_t c, struct mt_html_counts *counts, struct mt_html_ends *ends)
{
    bool is_blank = mt_is_space(c);
    bool is_word_char = !is_blank && mt_is_word_char(c);
    bool is_digit = is_word_char && u_isdigit((UChar32)c);
    counts->blanks += is_blank;
    counts->digits += is_digit;
    counts->letters += is_word_char && !is_digit;
    counts->signs += !is_blank && !is_word_char;
    ends->has_blank_behind = is_blank;
    ends->has_blank_before = ends->has_blank_before || (is_blank && ends->first == 0);
    if (is_blank)
        return;
    ends->first = ends->first ? ends->first : c;
    ends->last = c;
    if (is_word_char || !closes(c))
        ends->conclusion = c;
}

struct mt_html_walk mt_html_walk(const struct mt_html_pieces *pieces, size_t text)
{
    const struct mt_html_piece *piece = &pieces->items[text];
    return (struct mt_html_walk){pieces->parsed, piece->range.begin, piece->range.end,
                                 piece->decoded, piece->decoded_end};
}

static void count_all(struct lister *lister)
{
    struct mt_html_pieces *pieces = lister->pieces;
    for (size_t i = 0; i < pieces->n; i++) {
        struct mt_html_piece *piece = &pieces->items[i];
        piece->before = pieces->counts;
        if (piece->kind == MT_HTML_TEXT) {
            struct mt_html_walk walk = mt_html_walk(pieces, i);
            for (struct mt_html_char next; mt_html_next_char(&walk, &next);)
                count_char(mt_utf8_decode(next.bytes), &pieces->counts, &piece->ends);
            if (!mt_html_is_at_end(&walk))
                piece->kind = MT_HTML_BLOCK;
        }
        pieces->counts.words += piece->kind == MT_HTML_WORD;
        pieces->counts.points += piece->kind == MT_HTML_POINT;
        pieces->counts.breaks += piece->kind == MT_HTML_BREAK;
    }
}

struct mt_html_counts mt_html_count(const struct mt_html_pieces *pieces, size_t first, size_t end)
{
    struct mt_html_counts from = pieces->items[first].before;
    struct mt_html_counts to = end < pieces->n ? pieces->items[end].before : pieces->counts;
    return (struct mt_html_counts){
        .letters = to.letters - from.letters,
        .digits = to.digits - from.digits,
        .signs = to.signs - from.signs,
        .blanks = to.blanks - from.blanks,
        .words = to.words - from.words,
        .points = to.points - from.points,
        .breaks = to.breaks - from.breaks,
    };
}

enum mt_status mt_html_list(const char *source, size_t length, const struct mt_html_tree *tree,
                            const struct mt_coded_options *options, struct mt_html_pieces *out,
                            struct mt_error *err)
{
    struct lister lister = {.pieces = out, .tree = tree, .options = options, .err = err};
    out->source = source;
    out->parsed = tree->source;
    out->length = length;
    enum mt_status status = mt_html_check_depth(tree, err);
    if (status)
        return status;
    const GumboVector *children = &tree->output->document->v.document.children;
    for (unsigned i = 0; i < children->length && !lister.status; i++)
        (void)add_node(&lister, children->data[i]);
    if (!lister.status)
        put_in_order(&lister);
    if (!lister.status)
        count_all(&lister);
    return lister.status;
}

void mt_html_pieces_finish(struct mt_html_pieces *pieces)
{
    free(pieces->items);
    *pieces = (struct mt_html_pieces){0};
}
