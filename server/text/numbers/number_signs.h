/*
 * Corrects what stands beside a number where a model translated the number well and its sign
 * wrongly:
 *
 *   currency   "It was £3.50." became "C'était 3,50 $.": the translation gets the sign that the same
 *              digits have in the source
 *   ordinals   "2nd" was copied, or misspelt ("2n."): "2.", "2e", 第2, as CLDR writes the number in the
 *              target language; a day that is one in English, "May 3rd", is "3 mai" in French
 *
 * This is done only where it is certain: beside those digits the source has one currency sign,
 * always the same, which is not the translation's; the source has the ordinal.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_SIGNS_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_SIGNS_H

#include "base/text.h"

#include <stdbool.h>

/* A sentence and its translation: well-formed UTF-8. */
struct mt_number_signs {
    const char *source, *target;
    size_t n_source, n_target;
    const char *target_lang; /* BCP 47; NULL: unknown */
};

/* Where target[at], a character, begins a wrong sign or ordinal, appends the right one and returns
 * how many bytes of the target it replaces; 0: nothing is wrong there. It takes time in proportion
 * to the sentence's length where a sign or an ordinal begins, and almost none elsewhere. */
size_t mt_number_sign_write(const struct mt_number_signs *pair, size_t at, struct mt_text *out);

/* Whether the text is an English ordinal: 10th. */
bool mt_is_ordinal(const char *text, size_t length);

/* Characters of words that stand above or below the line. */
struct mt_raised {
    size_t letters, digits, signs, blanks;
};

/* Whether they are the mark of a note or an index, which says nothing to the model: 2, [1], *, TM,
 * [note 3], or the page behind one, as 207 in [3]: 207. */
bool mt_is_note_mark(const struct mt_raised *words);

/* Whether words that stand above the line are the ending of the number before them: 10th, 3e. */
bool mt_is_ordinal_ending(const char *bytes, size_t length);

#endif
