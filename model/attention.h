/*
 * Multi-head attention over rows, shared by encoder and decoder.
 */
#ifndef MT_MODEL_ATTENTION_H
#define MT_MODEL_ATTENTION_H

#include "model/kernels/kernels.h"
#include "model/kvcache.h"
#include "model/layers.h"
#include "model/trace.h"

/* What one row attends to, and where its weights are recorded. */
struct mt_attention_row {
    const float *q; /* [H, K] */
    float *out;     /* [H, K] */
    const void *keys, *values;
    size_t n, stride;
    const uint16_t *slots; /* or NULL */
    size_t slot_stride;
    struct mt_trace *trace; /* or NULL */
    size_t trace_row;
};

/* Where attention happens: which heads, which matrices of a trace. */
struct mt_attention_place {
    enum mt_trace_kind kind;
    size_t layer, n_heads, d_k;
    bool is_f16; /* keys and values are binary16 */
};

/* Attends for one row; scores has room for n_heads * row->n numbers. */
void mt_attend_row(const struct mt_kernels *kernels, const struct mt_attention_place *place,
                   const struct mt_attention_row *row, float *scores);

/* Copies d_model numbers into the cache at a position, narrowing them if the cache is binary16. */
void mt_cache_write(const struct mt_kernels *kernels, const struct mt_kvcache *cache, void *region,
                    size_t position, const float *numbers);

#endif
