/*
 * Which characters of a text a model can read: those that its source vocabulary has pieces for.
 * Where only byte pieces or the unknown piece spell a character, the model learns nothing from it
 * and often answers with unrelated words.
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
    MT_READS, /* as it is */
    /* only as another character with the same meaning: ' for U+2019, - for a dash, a letter without
     * its accent */
    MT_READS_AS,
    MT_READS_NOT, /* not at all */
    /* not at all, and it is invisible: variation selectors, marks of direction, tags */
    MT_INVISIBLE,
};

/* *as is set for MT_READS_AS; it ends in NUL and is never freed. tokenizer NULL: everything can be
 * read. */
enum mt_reading mt_reading_of(const struct mt_tokenizer *tokenizer, uint32_t code_point,
                              const char **as);

/* Returns how the model reads the character that text[at, end) begins with, together with the marks
 * that compose with it: *n bytes. *as is set as by mt_reading_of. text is well-formed UTF-8. */
enum mt_reading mt_reading_at(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                              size_t end, size_t *n, const char **as);

/* Returns the length of an apostrophe within a word at text[at] that is written as an entity or as
 * source code has it, as in It&#39;s and It\'s; 0: there is none. The model is shown the apostrophe. */
size_t mt_reading_of_entity(const char *text, size_t at, size_t end);

/* Returns the length of w/, w/o or b/c at text[at], which the model is shown as *full; 0: there is
 * none. full may be NULL. */
size_t mt_reading_of_slashed(const char *text, size_t at, size_t end, const char **full);

/* For English: returns how many bytes at text[at] the model is shown as *as; 0: none. Behind the
 * dash of "Monday–Friday" models lose the second day, so it is shown with blanks. Mon, which they
 * hardly know, is shown as Monday, Dec as December where the vocabulary has only that, "No. of" as
 * "Number of", "w/o" as "without", "ca. 5" as "about 5", "i.e." with a comma, "5 hrs" as "5 hours", and "Hello,world" with a blank. */
size_t mt_reading_of_short_forms(const struct mt_tokenizer *tokenizer, const char *text, size_t at,
                                 size_t end, const char **as);
/* Whether the bytes are the English name of a month, or its short form. */
bool mt_is_month(const char *text, size_t begin, size_t end);

/* Returns the length of such a dash at text[at]; 0: there is none. */
size_t mt_dash_of_days(const char *text, size_t at, size_t end);

/* Counts the pieces with which the vocabulary spells the words. MT_MEMORY, and the errors of
 * mt_tokenize. */
MT_MUST_CHECK enum mt_status mt_reading_pieces(const struct mt_tokenizer *tokenizer,
                                               const char *text, size_t length, size_t *out,
                                               struct mt_error *err);

/* Whether the character is a letter or digit (mt_is_word_char) that the model can read, perhaps as
 * another one. */
bool mt_is_readable_word_char(const struct mt_tokenizer *tokenizer, uint32_t code_point);

#endif
