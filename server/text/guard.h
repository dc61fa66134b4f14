/*
 * Whether a translation looks like rubbish: signs that cost nothing to look at. What is suspected
 * is flagged, never changed.
 *
 *   repetition  the same tokens over and over, more often than in the source: "was er tat, was er
 *               tat, was er tat". A short run of one character is none: "Grrr", "....."
 *   length      far longer than the source, or far shorter
 *   truncated   the limit of its length ended it, not the model
 *   cut         the sentence was too long for the model and was translated in pieces
 *   unreadable  the model was shown characters that its vocabulary lacks, and did not copy them
 *   unsure      the model found a stretch of its own translation improbable: it guessed, or spelled
 *               a word that it does not know. Where the vocabulary has to spell a word of the source,
 *               too, less is enough
 *
 * Other warnings are found by the text: see proofread.h and left_words.h; and "unaligned" says that
 * the memory for an alignment was not there: see passage.h.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_GUARD_H
#define MT_SERVER_TEXT_GUARD_H

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

struct mt_guard_options {
    size_t max_repeats;      /* times that tokens may come in a row; 0: any */
    double max_length_ratio; /* of the two lengths in tokens, both ways; 0: any */
    double min_probability;  /* of MT_GUARD_WINDOW tokens in a row; 0: any */
};

/* Tokens that any length is allowed beside the ratio: short texts vary more. */
#define MT_GUARD_SLACK 10

/* Longest group of tokens that is looked for. */
#define MT_GUARD_MAX_PERIOD 64

/* Characters of a run that is no repetition, unless the source has a longer one. */
#define MT_GUARD_MAX_RUN 6

/* Tokens whose probability is looked at together. One alone says little, since a good translation
 * often has several beginnings; the whole of a long sentence hides its worst part. */
#define MT_GUARD_WINDOW 8

/* How often the most repeated group of ids[0, n) comes in a row: 1 where none does. */
size_t mt_guard_count_repeats(const int32_t *ids, size_t n);

/* The least geometric mean of the probabilities of MT_GUARD_WINDOW tokens in a row; what a shorter
 * sentence lacks counts as certain. 1 where n is 0. */
double mt_guard_least_probability(const float *logprobs, size_t n);

/* In how many pieces the vocabulary spells that word of the source which takes most of them, 1 at least. Of
 * words with a capital, which may be names, only the sentence's first one counts. */
size_t mt_guard_count_pieces(const struct mt_token_list *source);

/* Whether a hypothesis of an ended sentence was ended by the limit of its length. False where there
 * is no hypothesis of that rank. */
bool mt_guard_is_truncated(const struct mt_sentence *sentence, size_t rank);

/* The warnings (1 << enum mt_warning, or'ed) about the best hypothesis of a sentence that has
 * ended. A greedy search that computed no probabilities is never unsure. */
unsigned mt_guard_check(const struct mt_translation *translation, size_t sentence,
                        const struct mt_guard_options *options);

const char *mt_warning_name(enum mt_warning warning);

#endif
