/*
 * Messages in YAML, which may be a part of a file: the front matter of Markdown. Only document*.c
 * and markdown/ include this.
 */
#ifndef MT_SERVER_DOCUMENTS_YAML_MESSAGES_H
#define MT_SERVER_DOCUMENTS_YAML_MESSAGES_H

#include "server/documents/document_state.h"

/* Whether the value of a key is translated. What is in a mapping depends on the keys there. */
typedef bool mt_yaml_messages_are_wanted(const char *key);

/* Adds the scalars of a range of the document. is_wanted may be NULL: all values are. MT_FORMAT:
 * the range is not YAML, with the line of the range; MT_LIMIT; MT_MEMORY. Pieces may have been
 * added before an error. */
MT_MUST_CHECK enum mt_status mt_yaml_messages_read(struct mt_document *document,
                                                   struct mt_range range,
                                                   mt_yaml_messages_are_wanted *is_wanted,
                                                   struct mt_error *err);

/* write of document_state.h, for pieces that mt_yaml_messages_read added. */
bool mt_yaml_messages_write(const struct mt_document *document,
                            const struct mt_document_piece *piece, const char *translation,
                            size_t length, struct mt_text *out);

#endif
