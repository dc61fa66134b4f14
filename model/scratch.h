/*
 * Scratch: the memory of activations, which hold nothing from one pass to the next. Batches that
 * one thread steps in turn share one, so that a further model needs none of its own, and finds it
 * in the cache.
 *
 * It does not grow: a batch that needs more takes a larger one, and those that came before keep
 * what they have.
 *
 * Thread-safety: safe; what is in it, one pass at a time.
 */
#ifndef MT_MODEL_SCRATCH_H
#define MT_MODEL_SCRATCH_H

#include "base/status.h"

struct mt_scratch;

/* For the caller to let go of. Zeroed; committed by the kernel as it is touched. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_scratch_create(size_t n_bytes, struct mt_scratch **out,
                                               struct mt_error *err);

/* One more holder; returns its argument. */
struct mt_scratch *mt_scratch_hold(struct mt_scratch *scratch);

/* The last of its holders frees it. Takes NULL. */
void mt_scratch_let_go(struct mt_scratch *scratch);

/* Begins on a page. */
void *mt_scratch_bytes(const struct mt_scratch *scratch);
size_t mt_scratch_n_bytes(const struct mt_scratch *scratch);

#endif
