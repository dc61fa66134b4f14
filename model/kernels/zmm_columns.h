/*
 * ymm_columns.h on 512-bit registers: one register holds a block of 16 columns. Include only from
 * files compiled for AVX512F, too.
 */
#ifndef MT_MODEL_KERNELS_ZMM_COLUMNS_H
#define MT_MODEL_KERNELS_ZMM_COLUMNS_H

#include "model/kernels/ymm_columns.h"
#include "model/kernels/zmm.h"

struct mt_zmm_columns {
    __m512 scales, bias;
    __m512i column_sums;
    __mmask16 mask; /* the columns to write */
};

MT_INLINE struct mt_zmm_columns mt_zmm_columns_of(const struct mt_qgemm *g, size_t first)
{
    struct mt_zmm_columns c = {.mask = mt_zmm_first(g->n_columns - first)};
    c.scales = _mm512_maskz_loadu_ps(c.mask, g->scales + first);
    c.bias = g->bias ? _mm512_maskz_loadu_ps(c.mask, g->bias + first) : _mm512_setzero_ps();
    c.column_sums = _mm512_maskz_loadu_epi32(c.mask, g->column_sums + first);
    return c;
}

/* Activations without a vector form are left to mt_ymm_activate_rows. */
MT_INLINE __m512 mt_zmm_activate(const struct mt_qgemm *g, __m512 y)
{
    if (!g->has_activation || !mt_ymm_can_activate(g->activation))
        return y;
    return g->activation == MT_RELU ? _mm512_max_ps(y, _mm512_setzero_ps()) : mt_zmm_silu(y);
}

/* Writes columns first, first + 1, ... of row m. */
MT_INLINE void mt_zmm_write_columns(const struct mt_qgemm *g, const struct mt_zmm_columns *c,
                                    size_t m, size_t first, __m512i sum)
{
    __m512i zero = _mm512_set1_epi32(g->a_zero[m]);
    sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(zero, c->column_sums));
    __m512 scale = _mm512_mul_ps(_mm512_set1_ps(g->a_scale[m]), c->scales);
    __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, c->bias);
    _mm512_mask_storeu_ps(g->y + m * g->ldy + first, c->mask, mt_zmm_activate(g, y));
}

#endif
