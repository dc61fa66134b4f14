/*
 * The tree that gumbo makes of HTML, in limited memory, and what its elements are. Only html_*.c
 * include this.
 */
#ifndef MT_SERVER_TEXT_HTML_TREE_H
#define MT_SERVER_TEXT_HTML_TREE_H

#include "base/text.h"

#include <gumbo.h>
#include <setjmp.h>

/* What gumbo built; its memory is given back at once. */
struct mt_html_tree {
    GumboOutput *output; /* whole once mt_html_parse has succeeded */
    char *source;        /* what it was built from, which it points into; as long as the html */
    struct {
        struct block *first, *last;
    } blocks; /* gumbo's memory */
    size_t n_bytes;
    size_t last_bytes;           /* what gumbo asked for last */
    size_t n_attributes, n_open; /* attributes so far, and behind the last element */
    size_t max_attributes;       /* of all elements together */
    bool has_many_attributes;    /* why the status is MT_LIMIT: this, */
    bool is_deep;                /* or more elements are open than may be, or else n_bytes */
    jmp_buf out;                 /* where to go when it ends */
    enum mt_status status;
};

/* Zero-initialise the tree; the caller finishes it on failure too. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_html_parse(const char *html, size_t length,
                                           struct mt_html_tree *tree, struct mt_error *err);
void mt_html_finish(struct mt_html_tree *tree);

/* MT_LIMIT: what is nested too deep. */
MT_MUST_CHECK enum mt_status mt_html_fail_deep(struct mt_error *err);

/* Elements that have no end, and those whose content is no HTML. */
bool mt_html_is_void(const GumboNode *element);
bool mt_html_is_raw_text(const GumboNode *element);

/* In any case; names that HTML does not know, too. */
bool mt_html_is_named(const GumboNode *element, const char *name);

/* The name in a tag of the source; empty where it is none. */
GumboStringPiece mt_html_name(GumboStringPiece tag);

/* The children; NULL for what has none. */
const GumboVector *mt_html_children(const GumboNode *node);

#endif
