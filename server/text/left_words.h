/*
 * Words of the source that a translation holds as they are: "Wash bei 30 Grad" for "Wash at 30
 * degrees". Many words are the same in two languages ("table", "normal", "in"), and there is no list
 * of them; but such a word is one that the model knows, and writes in one piece or without a doubt.
 * One that it copies because it knows no better is spelled, and unsurely.
 *
 * What begins with a capital is a name, but for a sentence's first word if the model's vocabulary
 * has it in small letters.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_LEFT_WORDS_H
#define MT_SERVER_TEXT_LEFT_WORDS_H

#include "server/text/proofread.h"

struct mt_hypothesis;
struct mt_tokenizer;

/* *found: whether there is one outside the source's ignored parts. pair->target is what the
 * hypothesis says; false where it has no probabilities. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_left_words_find(const struct mt_tokenizer *tokenizer,
                                                const struct mt_hypothesis *hypothesis,
                                                const struct mt_proofread_pair *pair, bool *found,
                                                struct mt_error *err);

#endif
