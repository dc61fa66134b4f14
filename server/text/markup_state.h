/*
 * What markup.c and its helpers share: the tree of a text, and writing parts of it as they were.
 * Nobody else includes this.
 */
#ifndef MT_SERVER_TEXT_MARKUP_STATE_H
#define MT_SERVER_TEXT_MARKUP_STATE_H

#include "server/text/html/html_tree.h"

/* Start tag as it was, and made well-formed if it was not; end tag, made up where there was none.
 * Nothing for what the parser thought up itself. */
void mt_html_write_start(const GumboNode *element, struct mt_text *out);
void mt_html_write_end(const GumboNode *element, struct mt_text *out);

/* Everything as it was. */
void mt_html_write_node(const GumboNode *node, struct mt_text *out);

/* &, <, > as entities. */
void mt_html_escape(const char *bytes, size_t length, struct mt_text *out);

/* Bytes of an entity with its semicolon at source[at], or 0. */
size_t mt_html_entity(const char *source, size_t length, size_t at);

#endif
