/*
 * Signs that a translation is rubbish, which are cheap to find. Suspicious translations are
 * flagged, never changed.
 *
 *   repetition  the same tokens over and over, more often than in the source: "was er tat, was er
 *               tat, was er tat". A short run of one character is none: "Grrr", "....."
 *   length      far longer than the source, or far shorter
 *   truncated   it ended because of its limit of length, not because the model ended it
 *   cut         the sentence was too long for the model and was translated in pieces
 *   unreadable  the model was shown characters that its vocabulary lacks, and did not copy them
 *   unsure      the model found a part of its own translation improbable: it guessed, or spelled a
 *               word that it does not know. Where the vocabulary has to spell a word of the source,
 *               too, a higher probability already counts as unsure
 *
 * Other warnings come from the text: see proofread.h and left_words.h. "unaligned" means that there
 * was no memory for an alignment: see passage.h.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_QUALITY_CHECK_H
#define MT_SERVER_TEXT_QUALITY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_sentence;
struct mt_token_list;
struct mt_translation;

enum mt_warning {
    MT_WARNING_REPETITION,
    MT_WARNING_LENGTH,
    MT_WARNING_TRUNCATED,
    MT_WARNING_CUT,
    MT_WARNING_UNALIGNED,
    MT_WARNING_NUMBERS,
    MT_WARNING_SOURCE_LANGUAGE,
    MT_WARNING_UNTRANSLATED,
    MT_WARNING_UNREADABLE,
    MT_WARNING_SOURCE_WORDS,
    MT_WARNING_UNSURE,
    MT_N_WARNINGS
};

struct mt_quality_options {
    size_t max_repeats;      /* how often a group of tokens may come in a row; 0: any number */
    double max_length_ratio; /* of the lengths in tokens, in either direction; 0: any */
    double min_probability;  /* mean of MT_QUALITY_WINDOW tokens in a row; 0: any */
};

/* Tokens that are allowed in addition to the ratio, because short texts vary more. */
#define MT_QUALITY_SLACK 10

/* Longest group of tokens whose repetition is noticed. */
#define MT_QUALITY_MAX_PERIOD 64

/* A run of one character up to this length is no repetition; nor is one that is no longer than one
 * of the source. */
#define MT_QUALITY_MAX_RUN 6

/* How many tokens' probabilities are averaged. A single one means little, since a good translation
 * often could begin in several ways; the mean of a long sentence hides its worst part. */
#define MT_QUALITY_WINDOW 8

/* Returns how often the most repeated group of ids[0, n) comes in a row; 1 where none is
 * repeated. */
size_t mt_quality_count_repeats(const int32_t *ids, size_t n);

/* Returns the least geometric mean of the probabilities of MT_QUALITY_WINDOW tokens in a row. A
 * shorter sentence counts as if the missing tokens were certain. 1 where n is 0. */
double mt_quality_least_probability(const float *logprobs, size_t n);

/* Returns the number of pieces of the source word that the vocabulary spells with most pieces, at
 * least 1. Words with a capital, which may be names, only count at the beginning of a sentence. */
size_t mt_quality_count_pieces(const struct mt_token_list *source);

/* Whether a hypothesis of an ended sentence ended because of its limit of length. False where there
 * is no hypothesis of that rank. */
bool mt_quality_is_truncated(const struct mt_sentence *sentence, size_t rank);

/* Returns the warnings (1 << enum mt_warning, or'ed) about the best hypothesis of a sentence that
 * has ended. Where a greedy search computed no probabilities, "unsure" is not among them. */
unsigned mt_quality_check(const struct mt_translation *translation, size_t sentence,
                          const struct mt_quality_options *options);

const char *mt_warning_name(enum mt_warning warning);

#endif
