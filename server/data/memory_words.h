/*
 * The words of a text as a translation memory compares them: how alike two texts are, and by which
 * words one that is alike can be found.
 *
 * Two texts are alike by the words that have to be put in, taken out or replaced to make one of the
 * other (Levenshtein's distance): 75 % of 12 words are 3 of them. Words are ICU's (UAX 29, with
 * dictionaries for languages without blanks), in lower case, and all numbers are the same.
 *
 * A text's keys are a third of its words and one more: the longest ones, because long words are rare,
 * so that a memory has few texts for each. Two texts that are alike by 75 % or more have a key in
 * common, since they differ in no more than a third of their words (the prefix filter of
 * set-similarity joins: Chaudhuri, Ganti and Kaushik 2006).
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DATA_MEMORY_WORDS_H
#define MT_SERVER_DATA_MEMORY_WORDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of one text: further ones do not count, so that the time has a bound. */
#define MT_MAX_MEMORY_WORDS 256
/* By which a text is found: all that are needed up to 45 words, and of longer texts the rarest. */
#define MT_MAX_MEMORY_KEYS 16

/* The least that is called alike, in percent. */
#define MT_LEAST_SIMILARITY 75

struct mt_memory_words {
    size_t n;
    uint64_t hashes[MT_MAX_MEMORY_WORDS]; /* of the words, in the text's order */
    size_t n_keys;
    uint64_t keys[MT_MAX_MEMORY_KEYS];
    uint64_t signature; /* a bit for each word, of 64 */
};

/* ICU's rules, which take half a millisecond to set up: for many texts, one after the other. */
struct mt_word_reader;
MT_MUST_CHECK enum mt_status mt_word_reader_create(struct mt_word_reader **out,
                                                   struct mt_error *err);
/* Takes NULL. */
void mt_word_reader_destroy(struct mt_word_reader *reader);

/* Reads the words of a text, which may have numbered codes (numbered.h) that are no words. Fails
 * with MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memory_words_read(struct mt_word_reader *reader, const char *text,
                                                  size_t length, struct mt_memory_words *out,
                                                  struct mt_error *err);

/* In percent, rounded down; 100 where the words are the same. */
int mt_memory_words_similarity(const struct mt_memory_words *a, const struct mt_memory_words *b);

/* Whether a text with that many words and this signature may be alike by least percent or more: nearly
 * all that are not are told so, without looking at their words. */
bool mt_memory_words_may_be_alike(const struct mt_memory_words *words, size_t n, uint64_t signature,
                                  int least);

/* How many words a text has that is alike to one of n words. */
struct mt_memory_word_range {
    size_t low, high;
};
struct mt_memory_word_range mt_memory_words_range(size_t n);

#endif
