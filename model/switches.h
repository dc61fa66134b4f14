/*
 * Heads that are switched off for one sentence: the output of such a head is replaced by 0 before
 * the layer's output matrix. Other sentences of the same batch are not affected.
 *
 * Thread-safety: immutable once made.
 */
#ifndef MT_MODEL_SWITCHES_H
#define MT_MODEL_SWITCHES_H

#include "base/status.h"
#include "model/trace.h"

#include <stdint.h>

struct mt_arena;
struct mt_hparams;

struct mt_head {
    enum mt_trace_kind place; /* MT_TRACE_ENCODER, MT_TRACE_DECODER or MT_TRACE_CROSS */
    size_t layer, head;       /* MT_ALL_HEADS: every head of the layer */
};
#define MT_ALL_HEADS SIZE_MAX

/* *out has a byte for each head of the model, 1 if it is off; NULL for no heads. The list may have
 * duplicates. MT_INVALID: the model does not have a head. */
MT_MUST_CHECK enum mt_status mt_switches_make(const struct mt_hparams *hparams,
                                              const struct mt_head *heads, size_t n,
                                              struct mt_arena *arena, uint8_t **out,
                                              struct mt_error *err);

/* Returns the switches of a layer's heads. NULL for NULL. */
const uint8_t *mt_switches_of(const uint8_t *switches, const struct mt_hparams *hparams,
                              enum mt_trace_kind place, size_t layer);

#endif
