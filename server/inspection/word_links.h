/*
 * Finds which words of a translation came from which words of the source, for subtitle and CAT
 * tools: the alignment of an inspection, summed over the pieces of words. Words are Unicode's (UAX
 * 29, with ICU's dictionaries for scripts without blanks) and also &, which is spoken as a word;
 * punctuation and blanks are no words.
 *
 * A target word is linked to the source word with the largest weight, and to those with at least
 * half as much: "Bahnhof" comes from "train" and "station".
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_WORD_LINKS_H
#define MT_SERVER_INSPECTION_WORD_LINKS_H

#include "server/inspection/inspection.h"

struct mt_word_link {
    struct mt_offsets source, target; /* in the whole texts */
    float score;                      /* fraction of the target word's weight, 0 to 1 */
};

/* Has to be zero-initialised. */
struct mt_word_links {
    struct mt_word_link *items; /* by target, then source */
    size_t n, capacity;
};

/* MT_MEMORY. The caller finishes *out after a failure, too. */
MT_MUST_CHECK enum mt_status mt_word_links_find(const struct mt_inspection *inspection,
                                                struct mt_word_links *out, struct mt_error *err);
void mt_word_links_finish(struct mt_word_links *links);

#endif
