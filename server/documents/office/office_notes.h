/*
 * Superscripts and subscripts in a paragraph of an office document, which belong to the word before
 * them:
 *
 *   10th        the ending of a number gets the number's look, since it differs between languages
 *   true(1)     the mark of a note is copied, and stays behind its word
 *   m2, H2O     a symbol is copied as one word together with its index, and the number before it: 25 m2
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NOTES_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NOTES_H

#include "server/documents/office/office_paragraph.h"

/* Whether the tokens' words, a superscript or subscript, are short enough for a note. *out
 * describes it. */
bool mt_office_read_note(const struct mt_office_token *tokens, size_t n,
                         struct mt_office_note *out);

/* Whether the tokens are words without a letter or digit, such as an arrow. */
bool mt_office_is_sign(const struct mt_office_token *tokens, size_t n);

/* Whether a token's words, a superscript, are the ending of the number before them, as in 10th and
 * 3e. */
bool mt_office_is_ordinal(const struct mt_office_token *before,
                          const struct mt_office_token *token);

/* Changes the tokens of a paragraph, whose document's own is the office, so that notes stay at
 * their words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_attach_notes(const struct mt_document *document,
                                                    const struct mt_office_paragraph *paragraph,
                                                    struct mt_error *err);

#endif
