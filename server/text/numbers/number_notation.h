/*
 * Writes a number in another language's notation: 1,250.50 is 1.250,50 in German (ICU's
 * separators).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_NOTATION_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_NOTATION_H

#include "base/text.h"

#include <stdbool.h>

#include <unicode/unum.h>

/* Most bytes of a number that is rewritten. */
#define MT_MAX_NOTATION_BYTES 64

struct mt_notation_input {
    const char *number; /* as numbers.h finds it: digits, and separators between them */
    size_t length;
    bool is_code;                          /* a letter touches it, as in v2.1 */
    const char *source_lang, *target_lang; /* BCP 47; "": unknown */
    const char *written;                   /* what the translation has in its place now */
    size_t n_written;
};

/*
 * Appends the number in the target language's notation. Digits without separators, times, versions
 * and codes stay as they are. Amounts get the target's separators, or the separator of the number
 * that the translation has now. *is_sure is false, and nothing is appended, for dates in digits,
 * whose order differs between languages, unless the translation's differs only by commas instead of
 * full stops; for separators that the source language does not use in this way; and for amounts in
 * a target language that ICU does not know. MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_number_write(const struct mt_notation_input *input,
                                             struct mt_text *out, bool *is_sure,
                                             struct mt_error *err);

/* Opens ICU's writer of a language's numbers; *out is NULL where ICU does not know the language.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_number_format_open(UNumberFormatStyle style, const char *language,
                                                   UNumberFormat **out, struct mt_error *err);

#endif
