/*
 * Multi-head attention over rows, shared by encoder and decoder.
 */
#ifndef MT_MODEL_ATTENTION_H
#define MT_MODEL_ATTENTION_H

#include "model/kernels/kernels.h"
#include "model/kvcache.h"
#include "model/layers.h"
#include "model/trace.h"

/* Rows that attend to the same keys, and where their weights are recorded. */
struct mt_attention_rows {
    size_t n_rows;  /* 1 to MT_ATTEND_QUERIES */
    const float *q; /* [n_rows][H, K] */
    float *out;     /* [n_rows][H, K] */
    size_t q_stride, out_stride;
    const void *keys, *values;
    size_t n, stride;
    const uint16_t *slots; /* or NULL */
    size_t slot_stride;
    const uint8_t *switches; /* [H], 1 for a head that is off; NULL: none is off */
    struct mt_trace *trace;  /* or NULL */
    size_t trace_row;        /* the row of the trace for the first of them */
};

/* The heads of one attention: of which layer, and how many. */
struct mt_attention_heads {
    enum mt_trace_kind kind;
    size_t layer, n_heads, d_k;
    bool is_f16; /* keys and values are binary16 */
};

/* scores has room for n_rows * n_heads * rows->n numbers. */
void mt_attend_rows(const struct mt_kernels *kernels, const struct mt_attention_heads *heads,
                    const struct mt_attention_rows *rows, float *scores);

/* Records the keys and values of one position, as attention reads them: their elements are as heads
 * says. It does nothing if they were not asked for. */
void mt_trace_keys_and_values(struct mt_trace *trace, const struct mt_attention_heads *heads,
                              size_t position, const void *keys, const void *values);

/* Copies d_model numbers into the cache at a position, narrowing them if the cache is binary16. */
void mt_cache_write(const struct mt_kernels *kernels, const struct mt_kvcache *cache, void *region,
                    size_t position, const float *numbers);

#endif
