/*
 * The words of a text as a translation memory compares them: how similar two texts are, and by
 * which words a similar one can be found.
 *
 * Similarity depends on the number of words that have to be inserted, deleted or replaced to make
 * one text of the other (Levenshtein's distance): at 75 % it is 3 of 12 words. Words are found by
 * ICU (UAX 29, with dictionaries for languages without blanks) and compared in lower case. All
 * numbers are the same word.
 *
 * A text's keys are a third of its words plus one: the longest words, because long words are rare,
 * so that a memory has few texts for each. Two texts with a similarity of 75 % or more have a key
 * in common, since they differ in at most a third of their words (the prefix filter of
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

/* Most words of one text. Further ones are ignored, so that the time is limited. */
#define MT_MAX_MEMORY_WORDS 256
/* Most keys of a text. These are all keys of up to 45 words, and the rarest ones of longer
 * texts. */
#define MT_MAX_MEMORY_KEYS 16

/* The least similarity that can be found, in percent. */
#define MT_LEAST_SIMILARITY 75

struct mt_memory_words {
    size_t n;
    uint64_t hashes[MT_MAX_MEMORY_WORDS]; /* hashes of the words, in the text's order */
    size_t n_keys;
    uint64_t keys[MT_MAX_MEMORY_KEYS];
    uint64_t signature; /* 64 bits, of which each word sets one */
};

/* ICU's rules, which take half a millisecond to set up. A reader is used for many texts, one after
 * the other. */
struct mt_word_reader;
MT_MUST_CHECK enum mt_status mt_word_reader_create(struct mt_word_reader **out,
                                                   struct mt_error *err);
/* NULL is allowed. */
void mt_word_reader_destroy(struct mt_word_reader *reader);

/* Reads the words of a text, which may have numbered codes (numbered.h) that are not words.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memory_words_read(struct mt_word_reader *reader, const char *text,
                                                  size_t length, struct mt_memory_words *out,
                                                  struct mt_error *err);

/* Returns the similarity in percent, rounded down; 100 where the words are the same. */
int mt_memory_words_similarity(const struct mt_memory_words *a, const struct mt_memory_words *b);

/* Whether a text with n words and this signature may have a similarity of `least` percent or more.
 * It excludes nearly all texts that do not, without comparing their words. */
bool mt_memory_words_may_be_alike(const struct mt_memory_words *words, size_t n, uint64_t signature,
                                  int least);

/* How many words a text can have that is similar to one of n words. */
struct mt_memory_word_range {
    size_t low, high;
};
struct mt_memory_word_range mt_memory_words_range(size_t n);

#endif
