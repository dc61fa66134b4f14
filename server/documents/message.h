/*
 * What the formats of programs' messages share: which texts are messages, and \uXXXX. Only
 * document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_MESSAGE_H
#define MT_SERVER_DOCUMENTS_MESSAGE_H

#include "server/documents/document_state.h"

/* Whether the text has letters that are words; numbers and patterns of dates (DD/MM/YYYY) are
 * not. */
bool mt_message_has_words(const char *text, size_t length);

/* Adds a piece for a message whose text was read into text, which is emptied. *out is NULL, and the
 * message stays as it is, where the text has no words, or has a NUL. MT_FORMAT: its escapes are not
 * valid Unicode; the message names the line that range begins in. */
MT_MUST_CHECK enum mt_status mt_message_add(struct mt_document *document, struct mt_range range,
                                            struct mt_text *text, struct mt_document_piece **out,
                                            struct mt_error *err);

/* Returns MT_FORMAT with "line N: message" for the line of byte `at`. */
enum mt_status mt_message_fail(const struct mt_document *document, size_t at, struct mt_error *err,
                               const char *message);

/* Reads XXXX behind "\u" at text[at], and a second "\uXXXX" where the first is half of a character.
 * Returns the bytes behind "\u"; 0: malformed. */
size_t mt_message_read_unicode(const char *text, size_t at, uint32_t *out);
/* Appends \uXXXX, or two of them. */
void mt_message_write_unicode(uint32_t c, struct mt_text *out);

/* Whether the file has only ASCII, so that other characters are escaped in it. */
bool mt_message_file_is_ascii(const struct mt_document *document);

#endif
