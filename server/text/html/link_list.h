/*
 * Many links with no words between them are a list: each of them is a text, and none a part of a sentence.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_HTML_LINK_LIST_H
#define MT_SERVER_TEXT_HTML_LINK_LIST_H

#include "server/text/marked.h"

/* A sentence may name five places, too. */
#define MT_MANY_LINKS 6

/* Zero-initialise. */
struct mt_link_list {
    struct mt_range links[MT_MANY_LINKS]; /* the last ones without words between them */
    size_t n;
};

/* Adds the next link, by what its reader counts in. Returns whether links, all of them, are of a list. */
bool mt_link_list_add(struct mt_link_list *list, struct mt_range link, bool is_behind_words);

#endif
