#include "model/attention.h"

#include "model/trace_state.h"

#include <string.h>

void mt_attend_row(const struct mt_kernels *kernels, const struct mt_attention_place *place,
                   const struct mt_attention_row *row, float *scores)
{
    struct mt_attend attend = {
        .q = row->q,
        .keys = row->keys,
        .values = row->values,
        .n = row->n,
        .stride = row->stride,
        .slots = row->slots,
        .slot_stride = row->slot_stride,
        .n_heads = place->n_heads,
        .d_k = place->d_k,
        .weights = scores,
        .out = row->out,
    };
    if (place->is_f16)
        kernels->attend_f16(&attend);
    else
        kernels->attend_f32(&attend);
    if (!mt_trace_wants(row->trace, place->kind))
        return;
    for (size_t h = 0; h < place->n_heads; h++)
        mt_trace_write(row->trace, place->kind, place->layer, h, row->trace_row,
                       scores + h * row->n, row->n);
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
