/*
 * The tree that gumbo makes of HTML, with a limit of its memory, and facts about its elements. Only
 * html_*.c include this.
 */
#ifndef MT_SERVER_TEXT_HTML_TREE_H
#define MT_SERVER_TEXT_HTML_TREE_H

#include "base/text.h"

#include <gumbo.h>
#include <setjmp.h>

/* What gumbo built, and its memory, which is freed at once. */
struct mt_html_tree {
    GumboOutput *output; /* complete once mt_html_parse has succeeded */
    char *source;        /* the copy that it was built from and points into; as long as the html */
    struct {
        struct block *first, *last;
    } blocks; /* gumbo's memory */
    size_t n_bytes;
    size_t last_bytes;           /* the size of gumbo's last request */
    size_t n_attributes, n_open; /* attributes so far; of these, those behind the last element */
    size_t max_attributes;       /* limit for all elements together */
    bool has_many_attributes;    /* tells why the status is MT_LIMIT: too many attributes, */
    bool is_deep;                /* or too many open elements; otherwise n_bytes */
    jmp_buf out;                 /* where to jump when parsing is given up */
    enum mt_status status;
};

/* The tree has to be zero-initialised; the caller finishes it after a failure, too. MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_html_parse(const char *html, size_t length,
                                           struct mt_html_tree *tree, struct mt_error *err);
void mt_html_finish(struct mt_html_tree *tree);

/* Says that elements are nested too deep: MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_html_fail_deep(struct mt_error *err);

/* Whether an element has no end tag; whether its content is not HTML. */
bool mt_html_is_void(const GumboNode *element);
bool mt_html_is_raw_text(const GumboNode *element);

/* Compares without case, also names that HTML does not know. */
bool mt_html_is_named(const GumboNode *element, const char *name);

/* Returns the name in a tag of the source; empty where it is not a tag. */
GumboStringPiece mt_html_name(GumboStringPiece tag);

/* Returns the children; NULL for nodes that cannot have any. */
const GumboVector *mt_html_children(const GumboNode *node);

#endif
