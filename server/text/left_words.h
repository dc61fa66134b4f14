/*
 * Finds words of the source that were left as they are in a translation: "Wash bei 30 Grad" for
 * "Wash at 30 degrees". Many words are the same in two languages ("table", "normal", "in"), and
 * there is no list of them. But such a word is known to the model, which writes it in one piece or
 * with certainty. A word that the model copies because it knows no better is spelled in pieces,
 * with uncertainty.
 *
 * A word with a capital counts as a name, except for a sentence's first word if the model's
 * vocabulary has it in small letters.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LEFT_WORDS_H
#define MT_SERVER_TEXT_LEFT_WORDS_H

#include "server/text/proofread.h"

struct mt_hypothesis;
struct mt_tokenizer;

/* *found: there is such a word outside the source's ignored ranges. pair->target is the hypothesis'
 * text. *found is false where the hypothesis has no probabilities. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_left_words_find(const struct mt_tokenizer *tokenizer,
                                                const struct mt_hypothesis *hypothesis,
                                                const struct mt_proofread_pair *pair, bool *found,
                                                struct mt_error *err);

#endif
