/*
 * "Did you mean ...?": the known word that a mistyped one was probably meant to be.
 *
 * Offer every candidate, then read best. Near means few wrong, missing, additional or swapped
 * letters (at most a third of the word), or that the word is the beginning of the candidate.
 * '-' and '_' are the same letter. Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_NEAREST_H
#define MT_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Longer words have no nearest one. */
#define MT_NEAREST_MAX_BYTES 48

struct mt_nearest {
    const char *word;
    const char *best; /* borrowed from the candidates; NULL: none is near */
    size_t distance;  /* of best */
};

/* word is borrowed as long as candidates are offered. */
void mt_nearest_begin(struct mt_nearest *nearest, const char *word);
void mt_nearest_offer(struct mt_nearest *nearest, const char *candidate);

/* Whether both are of one length and differ in a single byte:
 * what damage looks like, and typing. */
bool mt_differs_in_one_byte(const char *a, const char *b);

#endif
