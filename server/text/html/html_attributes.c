#include "server/text/html/html_attributes.h"

#include "base/vector.h"
#include "server/text/html/html_pieces.h"
#include "server/text/html/html_tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct finder {
    struct mt_html_attributes *out;
    const char *source; /* what the tree points into */
    size_t length, max;
    enum mt_status status;
    struct mt_error *err;
};

static const char *value_of(const GumboElement *element, const char *name)
{
    const GumboAttribute *attribute = gumbo_get_attribute(&element->attributes, name);
    return attribute ? attribute->value : "";
}

/* Whether a <meta> holds words that a reader meets in a list of results, or where a page is
 * shared. */
static bool is_described(const GumboElement *element)
{
    static const char *const names[] = {"description",      "og:title",      "og:description",
                                        "og:image:alt",     "twitter:title", "twitter:description",
                                        "twitter:image:alt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(value_of(element, "name"), names[i]) == 0 ||
            strcasecmp(value_of(element, "property"), names[i]) == 0)
            return true;
    return false;
}

/* Whether the element is an input whose value is a button's label. */
static bool is_button(const GumboElement *element)
{
    static const char *const types[] = {"submit", "button", "reset"};
    const char *type = value_of(element, "type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(type, types[i]) == 0)
            return element->tag == GUMBO_TAG_INPUT;
    return false;
}

static bool is_read(const GumboElement *element, const char *name)
{
    GumboTag tag = element->tag;
    if (strcasecmp(name, "title") == 0)
        return tag != GUMBO_TAG_LINK && tag != GUMBO_TAG_STYLE; /* there it names a style sheet */
    if (strcasecmp(name, "aria-label") == 0)
        return true;
    if (strcasecmp(name, "alt") == 0)
        return tag == GUMBO_TAG_IMG || tag == GUMBO_TAG_AREA || tag == GUMBO_TAG_INPUT;
    if (strcasecmp(name, "placeholder") == 0)
        return tag == GUMBO_TAG_INPUT || tag == GUMBO_TAG_TEXTAREA;
    if (strcasecmp(name, "value") == 0)
        return is_button(element);
    if (strcasecmp(name, "label") == 0)
        return tag == GUMBO_TAG_OPTION || tag == GUMBO_TAG_OPTGROUP || tag == GUMBO_TAG_TRACK;
    return strcasecmp(name, "content") == 0 && tag == GUMBO_TAG_META && is_described(element);
}

/* Returns the value without its quotes; empty where the source does not have it. */
static struct mt_range range_of(const struct finder *finder, const GumboAttribute *attribute)
{
    GumboStringPiece piece = attribute->original_value;
    if (attribute->value[0] == '\0' || piece.length == 0 || piece.data < finder->source ||
        piece.data + piece.length > finder->source + finder->length)
        return (struct mt_range){0};
    size_t begin = (size_t)(piece.data - finder->source);
    bool is_quoted = piece.length > 1 && (piece.data[0] == '"' || piece.data[0] == '\'');
    return (struct mt_range){begin + is_quoted, begin + piece.length - is_quoted};
}

static void add(struct finder *finder, struct mt_range value)
{
    struct mt_html_attributes *out = finder->out;
    if (value.begin == value.end || finder->status)
        return;
    if (out->n == finder->max) {
        finder->status = mt_fail(finder->err, MT_LIMIT,
                                 "the html has more than %zu attributes with words", finder->max);
        return;
    }
    if (MT_ROOM(&out->values, &out->capacity, out->n + 1, "attributes", finder->err)) {
        finder->status = MT_MEMORY;
        return;
    }
    out->values[out->n++] = value;
}

static void look_at_root(struct finder *finder, const GumboElement *root)
{
    const GumboAttribute *lang = gumbo_get_attribute(&root->attributes, "lang");
    const GumboAttribute *dir = gumbo_get_attribute(&root->attributes, "dir");
    if (dir)
        finder->out->dir = range_of(finder, dir);
    if (!lang)
        return;
    finder->out->lang = range_of(finder, lang);
    finder->out->lang_end =
        (size_t)(lang->original_value.data - finder->source) + lang->original_value.length;
}

static void look_at(struct finder *finder, const GumboNode *node)
{
    const GumboElement *element = &node->v.element;
    bool is_element = node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE;
    bool is_html = element->tag_namespace == GUMBO_NAMESPACE_HTML;
    if (!is_element)
        return;
    if (is_html && element->tag == GUMBO_TAG_HTML)
        look_at_root(finder, element);
    for (unsigned i = 0; i < element->attributes.length; i++) {
        const GumboAttribute *attribute = element->attributes.data[i];
        bool is_label = strcasecmp(attribute->name, "aria-label") == 0;
        if (is_html ? is_read(element, attribute->name) : is_label)
            add(finder, range_of(finder, attribute));
    }
}

/* This may recurse, since the tree is no deeper than MT_HTML_MAX_DEPTH. */
static void walk(struct finder *finder, const GumboNode *node)
{
    static const struct mt_coded_options options = {0};
    const GumboVector *children = mt_html_children(node);
    if (!children)
        return;
    if (node->type != GUMBO_NODE_DOCUMENT) {
        if (mt_html_says_no(node))
            return;
        look_at(finder, node);
        if (mt_html_is_left_alone(&options, node))
            return;
    }
    for (unsigned i = 0; i < children->length && !finder->status; i++)
        walk(finder, children->data[i]);
}

static int compare(const void *a, const void *b)
{
    const struct mt_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Sorts the values. An element that the parser made twice has them twice. */
static void put_in_order(struct mt_html_attributes *attributes)
{
    size_t n = 0;
    if (attributes->n > 0)
        qsort(attributes->values, attributes->n, sizeof *attributes->values, compare);
    for (size_t i = 0; i < attributes->n; i++)
        if (n == 0 || attributes->values[i].begin >= attributes->values[n - 1].end)
            attributes->values[n++] = attributes->values[i];
    attributes->n = n;
}

enum mt_status mt_html_find_attributes(const char *source, size_t length, size_t max,
                                       struct mt_html_attributes *out, struct mt_error *err)
{
    struct mt_html_tree tree = {0};
    enum mt_status status = mt_html_parse(source, length, &tree, err);
    if (!status)
        status = mt_html_check_depth(&tree, err);
    if (!status) {
        struct finder finder = {
            .out = out, .source = tree.source, .length = length, .max = max, .err = err};
        walk(&finder, tree.output->document);
        status = finder.status;
    }
    mt_html_finish(&tree);
    put_in_order(out);
    return status;
}

void mt_html_attributes_finish(struct mt_html_attributes *attributes)
{
    free(attributes->values);
    *attributes = (struct mt_html_attributes){0};
}
