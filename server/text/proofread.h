/*
 * Finds faults of a translation by its text and its source's, sentence by sentence; quality_check.h
 * looks at the tokens.
 *
 *   length           it has far more letters than the source, or far fewer
 *   numbers          the translation lacks numbers of the source, or has others (numbers.h)
 *   source_language  the sentence is certainly in another language than the source language (detect.h)
 *   untranslated     the translation equals the source, although that has at least two words in small
 *                    letters, or letters of a script that the target language is not written in: it
 *                    is no name, code, number or label that is the same in both languages; or the
 *                    translation has lost all words (post_edit.h)
 *
 * Of 4,455 sentences with right English-German translations (Tatoeba's development set, NTREX-128,
 * PUD, and the two sets in tests/bench/quality), 21 are reported to have other numbers, 1 to be
 * untranslated and 2 to be in another language; no single set has 1 % of them, nor have NTREX-128's
 * French and Japanese sentences. When English is given as their language, 98 % of NTREX-128's
 * German sentences, 97 % of the French and 99 % of the Japanese ones are reported to be in another
 * language. tests/bench/proofread prints them.
 *
 * Of 60,000 English sentences of Tatoeba none is reported to be in German, French, Dutch or Swedish
 * already, and 5 in Danish ("I have hay fever."); of NTREX-128's German, French and Japanese ones
 * 97 % are.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_PROOFREAD_H
#define MT_SERVER_TEXT_PROOFREAD_H

#include "server/text/language.h"
#include "server/text/numbers/numbers.h"
#include "server/text/quality_check.h"
#include "server/text/scripts.h"

/* What is needed to proofread translations of one direction. */
struct mt_proofreader {
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES]; /* "": unknown */
    const struct mt_number_language *source_words, *target_words;        /* borrowed from words */
    struct mt_language_scripts target_scripts;
};

/* Languages are BCP 47. For a NULL or malformed one neither words nor script are known.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_proofreader_init(struct mt_proofreader *reader,
                                                 struct mt_number_words *words,
                                                 const char *source_lang, const char *target_lang,
                                                 struct mt_error *err);

/* A sentence, well-formed UTF-8, and its translation. A translation that is not well-formed is not
 * searched for numbers. */
struct mt_proofread_pair {
    const char *source, *target;
    size_t n_source, n_target;      /* bytes */
    const struct mt_range *ignored; /* ranges of the source whose numbers may be missing */
    size_t n_ignored;
};

/* Like mt_number_times_compare, for what mt_proofread_numbers found. */
MT_MUST_CHECK enum mt_status mt_proofread_times(const struct mt_proofreader *reader,
                                                const struct mt_proofread_pair *pair,
                                                struct mt_numbers_difference *difference,
                                                struct mt_error *err);

/* Like mt_numbers_compare. */
MT_MUST_CHECK enum mt_status mt_proofread_numbers(const struct mt_proofreader *reader,
                                                  const struct mt_proofread_pair *pair,
                                                  struct mt_numbers_difference *out,
                                                  struct mt_error *err);

/* Whether the translation has more than twice as many letters and digits as the source, and 10, or
 * fewer than 0.65 times as many. Letters that stand for syllables or words count as many as other
 * scripts need for them. */
bool mt_proofread_has_other_length(const struct mt_proofread_pair *pair);

/* Whether a sentence, well-formed UTF-8, is certainly in the target language, and in no variant of
 * the source language. False where either is not known. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_proofread_is_target(const struct mt_proofreader *reader,
                                                    const char *text, size_t length, bool *out,
                                                    struct mt_error *err);

/* *warnings: 1 << MT_WARNING_SOURCE_LANGUAGE and 1 << MT_WARNING_UNTRANSLATED, or'ed. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_proofread_language(const struct mt_proofreader *reader,
                                                   const struct mt_proofread_pair *pair,
                                                   unsigned *warnings, struct mt_error *err);

#endif
