/*
 * Recognises lists of links: many links without words between them are texts of their own, not
 * parts of a sentence.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_HTML_LINK_LIST_H
#define MT_SERVER_TEXT_HTML_LINK_LIST_H

#include "server/text/tagged_text.h"

/* Links that make a list. A sentence may name five places, too. */
#define MT_MANY_LINKS 6

/* Has to be zero-initialised. */
struct mt_link_list {
    struct mt_range links[MT_MANY_LINKS]; /* the latest ones, without words between them */
    size_t n;
};

/* Adds the next link, with its range in the reader's own units. Returns whether all links in
 * `links` belong to a list. */
bool mt_link_list_add(struct mt_link_list *list, struct mt_range link, bool is_behind_words);

#endif
