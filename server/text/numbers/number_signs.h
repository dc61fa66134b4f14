/*
 * What stands at a number says what it is of, and a model that gets the number right may get that wrong:
 *
 *   currency   "It was £3.50." became "C'était 3,50 $.": the sign that the same digits have in the source
 *              is put there
 *   ordinals   "2nd" was copied, or misspelt ("2n."): "2.", "2e", 第2, as CLDR writes the number in the
 *              target language; a day that is one in English, "May 3rd", is "3 mai" in French
 *
 * Only where that is sure: of the signs beside those digits in the source none is the translation's, and
 * all are the same; the source has the ordinal.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_SIGNS_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_SIGNS_H

#include "base/text.h"

/* A sentence and its translation: well-formed UTF-8. */
struct mt_number_signs {
    const char *source, *target;
    size_t n_source, n_target;
    const char *target_lang; /* BCP 47; NULL: not known */
};

/* Appends what belongs where target[at], a character, begins a sign or an ordinal that is wrong, and
 * returns how many bytes of the target it stands for; 0: nothing is wrong there. Takes time in proportion
 * to the sentence where a sign or an ordinal begins, and nearly none elsewhere. */
size_t mt_number_sign_write(const struct mt_number_signs *pair, size_t at, struct mt_text *out);

#endif
