/*
 * ymm_columns.h on 512-bit registers: one register holds a block of 16 columns. Include only from
 * files compiled for AVX512F, too.
 */
#ifndef MT_MODEL_KERNELS_ZMM_COLUMNS_H
#define MT_MODEL_KERNELS_ZMM_COLUMNS_H

#include "model/kernels/ymm_columns.h"

struct mt_zmm_columns {
    __m512 scales, bias;
    __m512i column_sums;
    __mmask16 mask; /* of the columns to write */
};

MT_INLINE struct mt_zmm_columns mt_zmm_columns_of(const struct mt_qgemm *g, size_t first)
{
    size_t n = mt_size_min(MT_PACK_COLUMNS, g->n_columns - first);
    struct mt_zmm_columns c = {.mask = (__mmask16)((1u << n) - 1)};
    c.scales = _mm512_maskz_loadu_ps(c.mask, g->scales + first);
    c.bias = g->bias ? _mm512_maskz_loadu_ps(c.mask, g->bias + first) : _mm512_setzero_ps();
    c.column_sums = _mm512_maskz_loadu_epi32(c.mask, g->column_sums + first);
    return c;
}

/* mt_exp on sixteen numbers. */
MT_INLINE __m512 mt_zmm_exp(__m512 x)
{
    __mmask16 is_in_range = _mm512_cmp_ps_mask(x, _mm512_set1_ps(MT_EXP_LOW), _CMP_GE_OQ);
    x = _mm512_min_ps(_mm512_set1_ps(MT_EXP_HIGH), x);
    __m512 round = _mm512_set1_ps(MT_EXP_ROUND), one = _mm512_set1_ps(1.0f);
    __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(MT_EXP_LOG2E), round), round);
    __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MT_EXP_LN2_HIGH), x);
    r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MT_EXP_LN2_LOW), r);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(MT_EXP_C6), r, _mm512_set1_ps(MT_EXP_C5));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C4));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C3));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C2));
    p = _mm512_fmadd_ps(p, r, one);
    p = _mm512_fmadd_ps(p, r, one);
    __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    __m512 power = _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
    return _mm512_maskz_mul_ps(is_in_range, p, power);
}

MT_INLINE __m512 mt_zmm_silu(__m512 x)
{
    __m512 minus =
        _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN)));
    return _mm512_div_ps(x, _mm512_add_ps(_mm512_set1_ps(1.0f), mt_zmm_exp(minus)));
}

/* What has no vector form is left to mt_ymm_activate_rows. */
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
