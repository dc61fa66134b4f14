/*
 * What the attention kernels share for registers of any size. Include only from files compiled for
 * AVX2.
 */
#ifndef MT_MODEL_KERNELS_YMM_ATTEND_H
#define MT_MODEL_KERNELS_YMM_ATTEND_H

#include "model/kernels/kernels.h"
#include "model/kernels/ymm.h"

/* Returns the index of position t's first element in keys and in values. */
MT_INLINE size_t mt_attend_at(const struct mt_attend *a, size_t t)
{
    return t * a->stride + (a->slots ? (size_t)a->slots[t] * a->slot_stride : 0);
}

/* Prefetches a head's values of n_keys positions, which are needed only after all keys. */
MT_INLINE void mt_attend_prefetch(const struct mt_attend *a, size_t head, const size_t *at,
                                  size_t n_keys, bool is_f16)
{
    size_t bytes = is_f16 ? sizeof(uint16_t) : sizeof(float);
    MT_UNROLL
    for (size_t j = 0; j < n_keys; j++) {
        const char *v = (const char *)a->values + (at[j] + head) * bytes;
        for (size_t i = 0; i < a->d_k * bytes; i += 64)
            _mm_prefetch(v + i, _MM_HINT_T0);
    }
}

#endif
