/*
 * The end of an int8 linear layer on 256-bit registers, shared by all x86 versions: exact sums of a
 * block of 16 columns become floats (kernels.h, struct mt_qgemm). Include only from files compiled
 * for AVX2 and FMA.
 */
#ifndef MT_MODEL_KERNELS_YMM_COLUMNS_H
#define MT_MODEL_KERNELS_YMM_COLUMNS_H

#include "base/size.h"
#include "model/kernels/reference.h"
#include "model/kernels/ymm.h"

/* Data of the block's columns, in two registers each; zeros beyond the last column. */
struct mt_ymm_columns {
    __m256 scales[2], bias[2];
    __m256i column_sums[2];
    size_t n; /* columns to write, 1 to 16 */
};

MT_INLINE __m256 mt_ymm_load_upto(const float *x, size_t n)
{
    return n ? mt_ymm_load(x, n) : _mm256_setzero_ps();
}

MT_INLINE struct mt_ymm_columns mt_ymm_columns_of(const struct mt_qgemm *g, size_t first)
{
    struct mt_ymm_columns c = {.n = mt_size_min(MT_PACK_COLUMNS, g->n_columns - first)};
    for (size_t half = 0; half < 2; half++) {
        size_t begin = first + half * 8, n = c.n > half * 8 ? c.n - half * 8 : 0;
        c.scales[half] = mt_ymm_load_upto(g->scales + begin, n);
        c.bias[half] = g->bias ? mt_ymm_load_upto(g->bias + begin, n) : _mm256_setzero_ps();
        c.column_sums[half] =
            _mm256_castps_si256(mt_ymm_load_upto((const float *)g->column_sums + begin, n));
    }
    return c;
}

/* Activations without a vector form are left to mt_ymm_activate_rows. */
MT_INLINE __m256 mt_ymm_activate(const struct mt_qgemm *g, __m256 y)
{
    if (!g->has_activation || !mt_ymm_can_activate(g->activation))
        return y;
    return g->activation == MT_RELU ? mt_ymm_relu(y) : mt_ymm_silu(y);
}

/* Writes columns first, first + 1, ... of row m. The sums are of activations from which `offset`
 * was subtracted. */
MT_INLINE void mt_ymm_write_columns(const struct mt_qgemm *g, const struct mt_ymm_columns *c,
                                    size_t m, size_t first, int32_t offset, __m256i low,
                                    __m256i high)
{
    float *y = g->y + m * g->ldy + first;
    __m256i zero = _mm256_set1_epi32(g->a_zero[m] - offset), sums[2] = {low, high};
    __m256 a_scale = _mm256_set1_ps(g->a_scale[m]), out[2];
    for (size_t half = 0; half < 2; half++) {
        __m256i sum = _mm256_sub_epi32(sums[half], _mm256_mullo_epi32(zero, c->column_sums[half]));
        out[half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum),
                                    _mm256_mul_ps(a_scale, c->scales[half]), c->bias[half]);
        out[half] = mt_ymm_activate(g, out[half]);
    }
    mt_ymm_store(y, out[0], c->n);
    if (c->n > 8)
        mt_ymm_store(y + 8, out[1], c->n - 8);
}

static inline void mt_ymm_activate_rows(const struct mt_qgemm *g)
{
    if (!g->has_activation || mt_ymm_can_activate(g->activation))
        return;
    for (size_t m = 0; m < g->n_rows; m++)
        mt_kernels_reference.activate(g->activation, g->y + m * g->ldy, g->n_columns);
}

#endif
