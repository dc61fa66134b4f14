/*
 * A number in another language's notation: 1,250.50 is 1.250,50 in German (ICU's separators).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_NOTATION_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_NOTATION_H

#include "base/text.h"

#include <stdbool.h>

/* Longest number that is written anew, in bytes. */
#define MT_MAX_NOTATION_BYTES 64

struct mt_notation_input {
    const char *number; /* as numbers.h finds it: digits, and separators between them */
    size_t length;
    bool is_code;                          /* a letter touches it: v2.1 */
    const char *source_lang, *target_lang; /* BCP 47; "": unknown */
    const char *written;                   /* what stands in its place now */
    size_t n_written;
};

/*
 * Appends the number as it belongs into a text of the target language. Digits without separators,
 * times, versions and codes stay as they are; amounts get the target's separators, or the one that
 * what stands there has. *is_sure is false, and nothing appended, where it cannot be told: a date
 * in digits, whose order differs, unless what stands there is the same but for commas in the place
 * of full stops; separators that the source language does not use so. MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_number_write(const struct mt_notation_input *input,
                                             struct mt_text *out, bool *is_sure,
                                             struct mt_error *err);

#endif
