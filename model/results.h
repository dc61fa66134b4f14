/*
 * Copies the results of a sentence: they are written as bytes, and another sentence with the same
 * question can be filled with them instead of being decoded. The same source, options and model
 * always give the same results, regardless of the other sentences in the batch, so the copy is
 * right.
 *
 * These sentences cannot be copied: those whose progress others look at, with given target tokens,
 * runners-up, switched-off heads or a log of the search, and those with a trace of anything except
 * the attention to the source.
 *
 * Thread-safety: safe on distinct sentences that are in no batch.
 */
#ifndef MT_MODEL_RESULTS_H
#define MT_MODEL_RESULTS_H

#include "base/text.h"

#include <stdbool.h>

struct mt_sentence;

bool mt_sentence_can_be_copied(const struct mt_sentence *sentence);

/* Appends the question: everything that determines the results, including the model. Equal bytes
 * mean equal results, as long as the process lives. Only for a sentence that can be copied. */
void mt_sentence_write_question(const struct mt_sentence *sentence, struct mt_text *out);

/* Appends the results of a finished sentence. */
void mt_sentence_write_results(const struct mt_sentence *sentence, struct mt_text *out);

/* Fills a new sentence with the bytes that write_results made of another one with the same
 * question. */
void mt_sentence_read_results(struct mt_sentence *sentence, const char *bytes, size_t length);

#endif
