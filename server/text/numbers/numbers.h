/*
 * Tells whether a translation has the numbers of its source. They are compared by value, not by
 * spelling.
 *
 * A number is a run of decimal digits of any script with what may stand between digits: . , : / '
 * and narrow blanks; an ordinary blank or an apostrophe only before exactly three digits. Letters
 * beside it do not count: "A4", "v2.1.3" and "15h30" hold 4, 2.1.3 and 15, 30. Equal are
 *
 *   locale forms    1,250.5  1.250,5  1 250,5  1'250.5  12,50,000  1250000
 *   fractions       7.50  7,5; but three zeros are thousands: 340,000 is not 340
 *   dates, times    12/05/2024  12.05.2024  2024-05-12, in any order; 9:45  9.45; 10:00  10;
 *                   but with commas it is a list: 12,05,2024 is not 12.05.2024, nor 2,1,3 2.1.3
 *   halves of days  3 pm  15: where a side says so, or both are times
 *   years           1998  '98  98er
 *   large numbers   1.5 million  1,5 Mio.  150万  1500000
 *   units           5 miles  8 km; 80 degrees  27 °C: within 12 %, or a degree
 *   codes           5551234  555 12 34: from six digits on
 *   words           2  two  zweite  II  May (as 5), in either direction (number_words.h)
 *
 * Each occurrence of a number counts. A number that one side has only as a word need not be on the
 * other side. Where nothing is missing, 1, 2, 3, 10 and 100 do not count as added, because "a
 * week", "twice" and "a decade" have digits in Japanese.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBERS_H
#define MT_SERVER_TEXT_NUMBERS_NUMBERS_H

#include "server/text/numbers/number_words.h"
#include "server/text/splitter.h"

#include <stdbool.h>

/* Most numbers of a sentence. A sentence with more is not compared. */
#define MT_MAX_NUMBERS 512

bool mt_has_digits(const char *text, size_t length);

/* A sentence or its translation: well-formed UTF-8. */
struct mt_numbers_text {
    const char *bytes;
    size_t length;
    const struct mt_number_language *language;
};

/* The numbers that only one of the two has, as ranges of bytes, in order. Has to be
 * zero-initialised. */
struct mt_numbers_difference {
    struct mt_ranges missing; /* numbers of the source that the translation lacks */
    struct mt_ranges added;   /* numbers of the translation that the source lacks */
};
void mt_numbers_difference_finish(struct mt_numbers_difference *difference);

/* Replaces what *out held; the caller finishes it after a failure, too. ignored: ranges of the
 * source whose numbers may be missing. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_numbers_compare(const struct mt_numbers_text *source,
                                                const struct mt_numbers_text *target,
                                                const struct mt_range *ignored, size_t n_ignored,
                                                struct mt_numbers_difference *out,
                                                struct mt_error *err);

#endif
