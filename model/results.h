/*
 * What became of a sentence, apart from it: bytes that another sentence of the same question can be
 * filled with, in the place of being decoded. The same source, options and model give the same
 * results, whatever is decoded beside them; so a copy is as good.
 *
 * Not every sentence can be copied: not one whose progress others look at, with given target tokens,
 * runners-up, heads that are off or a log of its search, nor one with a trace of anything but the
 * attention to the source.
 *
 * Thread-safety: safe on distinct sentences that no batch has.
 */
#ifndef MT_MODEL_RESULTS_H
#define MT_MODEL_RESULTS_H

#include "base/text.h"

#include <stdbool.h>

struct mt_sentence;

bool mt_sentence_can_be_copied(const struct mt_sentence *sentence);

/* Appends the question: all that decides on the results, the model among it. Equal bytes, equal
 * results, as long as the process lives. Of one that can be copied. */
void mt_sentence_write_question(const struct mt_sentence *sentence, struct mt_text *out);

/* Appends the results, once they are there. */
void mt_sentence_write_results(const struct mt_sentence *sentence, struct mt_text *out);

/* Fills a new sentence with what write_results made of another one of the same question. */
void mt_sentence_read_results(struct mt_sentence *sentence, const char *bytes, size_t length);

#endif
