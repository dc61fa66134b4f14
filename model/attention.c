#include "model/attention.h"

#include "model/trace_state.h"
#include "weights/dtype.h"

#include <string.h>

static void silence(const struct mt_attention_heads *heads, const struct mt_attention_rows *rows)
{
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; h < heads->n_heads; h++)
            if (rows->switches[h])
                memset(rows->out + i * rows->out_stride + h * heads->d_k, 0,
                       heads->d_k * sizeof *rows->out);
}

static enum mt_trace_kind kind_of(const struct mt_attention_heads *heads,
                                  enum mt_trace_quantity quantity)
{
    return (enum mt_trace_kind)((unsigned)heads->kind << quantity);
}

static void trace_rows(const struct mt_attention_heads *heads, const struct mt_attention_rows *rows,
                       const float *scores)
{
    const enum mt_trace_kind queries = kind_of(heads, MT_TRACED_QUERIES);
    const enum mt_trace_kind outputs = kind_of(heads, MT_TRACED_OUTPUTS);
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; h < heads->n_heads; h++) {
            size_t row = rows->trace_row + i, at = h * heads->d_k;
            mt_trace_write(rows->trace, heads->kind, heads->layer, h, row,
                           scores + (i * heads->n_heads + h) * rows->n, rows->n);
            mt_trace_write(rows->trace, queries, heads->layer, h, row,
                           rows->q + i * rows->q_stride + at, heads->d_k);
            mt_trace_write(rows->trace, outputs, heads->layer, h, row,
                           rows->out + i * rows->out_stride + at, heads->d_k);
        }
}

/* All heads of a position are contiguous, in the trace as well as here. */
static void trace_position(struct mt_trace *trace, const struct mt_attention_heads *heads,
                           enum mt_trace_quantity quantity, size_t position, const void *numbers)
{
    float *out = mt_trace_at(trace, kind_of(heads, quantity), heads->layer, 0, position);
    size_t n = heads->n_heads * heads->d_k;
    if (out && !heads->is_f16)
        memcpy(out, numbers, n * sizeof *out);
    for (size_t i = 0; out && heads->is_f16 && i < n; i++)
        out[i] = mt_f16_to_f32(((const uint16_t *)numbers)[i]);
}

void mt_trace_keys_and_values(struct mt_trace *trace, const struct mt_attention_heads *heads,
                              size_t position, const void *keys, const void *values)
{
    trace_position(trace, heads, MT_TRACED_KEYS, position, keys);
    trace_position(trace, heads, MT_TRACED_VALUES, position, values);
}

void mt_attend_rows(const struct mt_kernels *kernels, const struct mt_attention_heads *heads,
                    const struct mt_attention_rows *rows, float *scores)
{
    struct mt_attend attend = {
        .q = rows->q,
        .n_queries = rows->n_rows,
        .q_stride = rows->q_stride,
        .keys = rows->keys,
        .values = rows->values,
        .n = rows->n,
        .stride = rows->stride,
        .slots = rows->slots,
        .slot_stride = rows->slot_stride,
        .n_heads = heads->n_heads,
        .d_k = heads->d_k,
        .weights = scores,
        .out = rows->out,
        .out_stride = rows->out_stride,
    };
    if (heads->is_f16)
        kernels->attend_f16(&attend);
    else
        kernels->attend_f32(&attend);
    if (rows->switches)
        silence(heads, rows);
    if (rows->trace)
        trace_rows(heads, rows, scores);
}

void mt_cache_write(const struct mt_kernels *kernels, const struct mt_kvcache *cache, void *region,
                    size_t position, const float *numbers)
{
    size_t d_model = cache->d_model;
    if (cache->element_bytes == sizeof(float))
        memcpy((float *)region + position * d_model, numbers, d_model * sizeof(float));
    else
        kernels->narrow_f16(numbers, d_model, (uint16_t *)region + position * d_model);
}
