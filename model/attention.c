#include "model/attention.h"

#include "model/trace_state.h"
#include "weights/dtype.h"

#include <string.h>

static void silence(const struct mt_attention_place *place, const struct mt_attention_rows *rows)
{
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; h < place->n_heads; h++)
            if (rows->switches[h])
                memset(rows->out + i * rows->out_stride + h * place->d_k, 0,
                       place->d_k * sizeof *rows->out);
}

static enum mt_trace_kind kind_of(const struct mt_attention_place *place,
                                  enum mt_trace_quantity quantity)
{
    return (enum mt_trace_kind)((unsigned)place->kind << quantity);
}

static void trace_rows(const struct mt_attention_place *place, const struct mt_attention_rows *rows,
                       const float *scores)
{
    const enum mt_trace_kind queries = kind_of(place, MT_TRACED_QUERIES);
    const enum mt_trace_kind outputs = kind_of(place, MT_TRACED_OUTPUTS);
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; h < place->n_heads; h++) {
            size_t row = rows->trace_row + i, at = h * place->d_k;
            mt_trace_write(rows->trace, place->kind, place->layer, h, row,
                           scores + (i * place->n_heads + h) * rows->n, rows->n);
            mt_trace_write(rows->trace, queries, place->layer, h, row,
                           rows->q + i * rows->q_stride + at, place->d_k);
            mt_trace_write(rows->trace, outputs, place->layer, h, row,
                           rows->out + i * rows->out_stride + at, place->d_k);
        }
}

/* All heads of a position are contiguous, in the trace as well as here. */
static void trace_position(struct mt_trace *trace, const struct mt_attention_place *place,
                           enum mt_trace_quantity quantity, size_t position, const void *numbers)
{
    float *out = mt_trace_at(trace, kind_of(place, quantity), place->layer, 0, position);
    size_t n = place->n_heads * place->d_k;
    if (out && !place->is_f16)
        memcpy(out, numbers, n * sizeof *out);
    for (size_t i = 0; out && place->is_f16 && i < n; i++)
        out[i] = mt_f16_to_f32(((const uint16_t *)numbers)[i]);
}

void mt_trace_keys_and_values(struct mt_trace *trace, const struct mt_attention_place *place,
                              size_t position, const void *keys, const void *values)
{
    trace_position(trace, place, MT_TRACED_KEYS, position, keys);
    trace_position(trace, place, MT_TRACED_VALUES, position, values);
}

void mt_attend_rows(const struct mt_kernels *kernels, const struct mt_attention_place *place,
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
        .n_heads = place->n_heads,
        .d_k = place->d_k,
        .weights = scores,
        .out = rows->out,
        .out_stride = rows->out_stride,
    };
    if (place->is_f16)
        kernels->attend_f16(&attend);
    else
        kernels->attend_f32(&attend);
    if (rows->switches)
        silence(place, rows);
    if (rows->trace)
        trace_rows(place, rows, scores);
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
