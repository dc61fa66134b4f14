/*
 * Finds times of day that became other times with the same digits: "6 a.m." that became 午後6時, "at 3
 * in the afternoon" that became "um 3 Uhr morgens". numbers.h cannot find them, since 3 may be 15.
 *
 * A time is a number from 0 to 24, or one with minutes, whose half of the day is known from a word
 * beside it, or from an hour above 12. "3 Uhr" alone does not tell which half it is.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_TIMES_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_TIMES_H

#include "server/text/numbers/numbers.h"

/* Adds times, with the words beside them, to the difference of the two. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_number_times_compare(const struct mt_numbers_text *source,
                                                     const struct mt_numbers_text *target,
                                                     struct mt_numbers_difference *difference,
                                                     struct mt_error *err);

#endif
