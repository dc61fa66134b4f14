/*
 * Values of HTML's attributes as texts (html_attributes.h), each a piece of its own. Only
 * document*.c and markdown/ include this.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_HTML_VALUES_H
#define MT_SERVER_DOCUMENTS_HTML_VALUES_H

#include "server/documents/document_state.h"

/* Appends the value's bytes as text of HTML, in which a '<' does not begin a tag. */
void mt_html_value_read(const struct mt_document *document, struct mt_range value,
                        struct mt_text *out);
/* Writes a translation between the value's quotation marks, which are added if it has none. */
void mt_html_value_write(const struct mt_document *document, struct mt_range value,
                         const char *translation, size_t length, struct mt_text *out);

#endif
