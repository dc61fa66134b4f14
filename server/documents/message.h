/*
 * What the formats of programs' messages share: what is a message, and how \uXXXX is read and
 * written. Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_MESSAGE_H
#define MT_SERVER_DOCUMENTS_MESSAGE_H

#include "server/documents/document_state.h"

/* Whether there are letters in it: numbers are no words, nor are patterns of dates (DD/MM/YYYY). */
bool mt_message_has_words(const char *text, size_t length);

/* Adds a piece for a message whose text was read into text, which is emptied. *out is NULL where it
 * has no words, or a NUL, and stays as it is. MT_FORMAT: its escapes are no UTF-8; the message names
 * the line that range begins in. */
MT_MUST_CHECK enum mt_status mt_message_add(struct mt_document *document, struct mt_range range,
                                            struct mt_text *text, struct mt_document_piece **out,
                                            struct mt_error *err);

/* MT_FORMAT: "line N: message", of the line that holds byte at. */
enum mt_status mt_message_fail(const struct mt_document *document, size_t at, struct mt_error *err,
                               const char *message);

/* Reads XXXX behind "\u" at text[at], and a second "\uXXXX" where the first is half a character.
 * Returns the bytes behind "\u", or 0: malformed. */
size_t mt_message_read_unicode(const char *text, size_t at, uint32_t *out);
/* Appends \uXXXX, or two of them. */
void mt_message_write_unicode(uint32_t c, struct mt_text *out);

/* Whether the file has a character that is no ASCII as it is, not escaped. */
bool mt_message_file_is_ascii(const struct mt_document *document);

#endif
