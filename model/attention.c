#include "model/attention.h"

#include "model/trace_state.h"

#include <string.h>

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
    if (!mt_trace_wants(rows->trace, place->kind))
        return;
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; h < place->n_heads; h++)
            mt_trace_write(rows->trace, place->kind, place->layer, h, rows->trace_row + i,
                           scores + (i * place->n_heads + h) * rows->n, rows->n);
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
