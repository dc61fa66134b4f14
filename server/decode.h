/*
 * Decoding without an engine: a few sentences, here and now, for commands that do one thing and
 * end.
 */
#ifndef MT_SERVER_DECODE_H
#define MT_SERVER_DECODE_H

#include "base/status.h"

struct mt_model;
struct mt_progress_bar;
struct mt_sentence;

/* Runs all sentences to their end on n_threads threads (0: one per core, at most 4) and steps of at
 * most max_rows rows. bar is told how many are done; it may be NULL. MT_LIMIT: a sentence that
 * does not fit; none has been run then.
 * Thread-safety: safe on distinct sentences. */
MT_MUST_CHECK enum mt_status mt_decode(const struct mt_model *model, size_t n_threads,
                                       size_t max_rows, struct mt_sentence *const *sentences,
                                       size_t n, struct mt_progress_bar *bar, struct mt_error *err);

#endif
