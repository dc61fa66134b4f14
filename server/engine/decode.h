/*
 * Decoding a few sentences without an engine, for commands that do one thing and end.
 */
#ifndef MT_SERVER_ENGINE_DECODE_H
#define MT_SERVER_ENGINE_DECODE_H

#include "base/status.h"

struct mt_model;
struct mt_sentence;

/* n_done of n sentences have ended. */
typedef void mt_decode_progress(void *context, size_t n_done, size_t n);

/* Runs all sentences to their end on n_threads threads (0: one per core, at most 4), in steps of at
 * most max_rows rows. progress, which may be NULL, is called after each step. MT_LIMIT where a
 * sentence does not fit; none has been run then. Thread-safety: safe on distinct sentences. */
MT_MUST_CHECK enum mt_status mt_decode(const struct mt_model *model, size_t n_threads,
                                       size_t max_rows, struct mt_sentence *const *sentences,
                                       size_t n, mt_decode_progress *progress, void *context,
                                       struct mt_error *err);

#endif
