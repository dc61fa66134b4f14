/*
 * Scratch: memory for activations, which are not needed from one pass to the next. Batches that one
 * thread steps in turn share it, so that another model needs no further memory, and finds this in
 * the processor's cache.
 *
 * It does not grow: a batch that needs more takes a larger one, and earlier batches keep theirs.
 *
 * Thread-safety: safe; its content may be used by one pass at a time.
 */
#ifndef MT_MODEL_SCRATCH_H
#define MT_MODEL_SCRATCH_H

#include "base/status.h"

struct mt_scratch;

/* The caller has to let go of *out. The memory is zeroed, and committed by the kernel as it is
 * touched. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_scratch_create(size_t n_bytes, struct mt_scratch **out,
                                               struct mt_error *err);

/* Adds a holder, and returns its argument. */
struct mt_scratch *mt_scratch_hold(struct mt_scratch *scratch);

/* The last holder's call frees it. NULL is allowed. */
void mt_scratch_let_go(struct mt_scratch *scratch);

/* Returns its pages to the kernel. No pass of any batch that shares it may be running. */
void mt_scratch_trim(struct mt_scratch *scratch);

/* The memory begins at a page. */
void *mt_scratch_bytes(const struct mt_scratch *scratch);
size_t mt_scratch_n_bytes(const struct mt_scratch *scratch);

#endif
