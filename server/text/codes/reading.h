/*
 * What of a text a model can read: the characters that its source vocabulary has pieces for. One
 * that only byte pieces or the unknown piece spell says nothing to it, and is answered with words
 * from nowhere.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_CODES_READING_H
#define MT_SERVER_TEXT_CODES_READING_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_tokenizer;

enum mt_reading {
    MT_READS,     /* as it is */
    MT_READS_AS,  /* only as another character, which says the same: ' for U+2019, - for a dash; a
                     letter without its accent */
    MT_READS_NOT, /* not at all */
    MT_INVISIBLE, /* not at all, and nobody sees it: variation selectors, marks of direction, tags */
};

/* *as is set for MT_READS_AS: NUL-terminated, never freed. tokenizer NULL: everything is read. */
enum mt_reading mt_reading_of(const struct mt_tokenizer *tokenizer, uint32_t code_point,
                              const char **as);

/* The same of the character that text[at, end) begins with, and what composes with it: *n bytes. text is
 * well-formed UTF-8. */
enum mt_reading mt_reading_at(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                              size_t end, size_t *n, const char **as);

/* English: the dash of "Monday–Friday", behind which models lose the other day, is shown as one with blanks,
 * and Mon, of which they know little, as Monday; Dec as December where the vocabulary has only that. Returns the
 * bytes of what *as is shown for; 0: none. */
size_t mt_reading_of_days(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                          size_t end, const char **as);
/* Bytes of such a dash at text[at]; 0: none. */
size_t mt_dash_of_days(const char *text, size_t at, size_t end);

/* How many pieces the vocabulary spells the words with. MT_MEMORY, and as mt_tokenize. */
MT_MUST_CHECK enum mt_status mt_reading_pieces(const struct mt_tokenizer *tokenizer,
                                               const char *text, size_t length, size_t *out,
                                               struct mt_error *err);

/* Whether it is a letter or digit (mt_is_word_char) that the model reads in some way. */
bool mt_is_readable_word_char(const struct mt_tokenizer *tokenizer, uint32_t code_point);

#endif
