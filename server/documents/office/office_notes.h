/*
 * What stands above or below the line in a paragraph of an office document, and belongs to the word before it:
 *
 *   10th        the ending of a number looks as the number does, since another language has others or none
 *   true(1)     a note's mark is copied, and stands behind its word
 *   m2, H2O     a symbol is copied with it, as one word, and with the number before: 25 m2
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NOTES_H
#define MT_SERVER_DOCUMENTS_OFFICE_OFFICE_NOTES_H

#include "server/documents/office/office_paragraph.h"

/* Whether the tokens' words, which stand above or below the line, are short enough for a note; *out says what it is. */
bool mt_office_read_note(const struct mt_office_token *tokens, size_t n,
                         struct mt_office_note *out);

/* Whether a token's words, which stand above the line, are the ending of the number before them: 10th, 3e. */
bool mt_office_is_ordinal(const struct mt_office_token *before,
                          const struct mt_office_token *token);

/* Changes the tokens of a paragraph, whose own is the office, so that its notes stand at their words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_office_settle_notes(const struct mt_document *document,
                                                    const struct mt_office_paragraph *paragraph,
                                                    struct mt_error *err);

#endif
