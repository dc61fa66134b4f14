/*
 * Finds the known word that was probably meant by a mistyped one, for messages like "Did you mean
 * ...?".
 *
 * Offer every candidate, then read best. Similar means few wrong, missing, additional or swapped
 * letters (at most a third of the word), or that the word is the beginning of the candidate. '-'
 * and '_' count as the same letter. Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_NEAREST_H
#define MT_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a word; longer ones have no similar one. */
#define MT_NEAREST_MAX_BYTES 48

struct mt_nearest {
    const char *word;
    const char *best; /* borrowed from the candidates; NULL: none is similar */
    size_t distance;  /* of best */
};

/* word is borrowed as long as candidates are offered. */
void mt_nearest_begin(struct mt_nearest *nearest, const char *word);
void mt_nearest_offer(struct mt_nearest *nearest, const char *candidate);

/* Whether both have the same length and differ in a single byte, as after damage or a typing
 * error. */
bool mt_differs_in_one_byte(const char *a, const char *b);

#endif
