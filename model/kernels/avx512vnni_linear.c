/*
 * fp32 linear layers for AVX512: a register holds all sixteen lanes of a sum.
 */
#include "model/kernels/avx512vnni.h"

#include "model/kernels/linear_f32.h"
#include "model/kernels/zmm.h"

#define ROWS_AT_ONCE 6 /* times four columns: 24 sums of 32 registers */

/* Adds the lanes of sums in the order of canonical.h until eight are left. */
MT_INLINE __m256 add_halves(__m512 x)
{
    __m512i high = _mm512_castps_si512(x);
    return _mm256_add_ps(_mm512_castps512_ps256(x),
                         _mm256_castsi256_ps(_mm512_extracti64x4_epi64(high, 1)));
}

/* Multiplies n_rows by n_columns, both constants. */
MT_INLINE void multiply(const struct mt_linear_tile *t, size_t n_rows, size_t n_columns)
{
    __m512 sums[ROWS_AT_ONCE][MT_TILE_COLUMNS], w[MT_TILE_COLUMNS];
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_UNROLL
    for (size_t j = 0; j < n_columns; j++)
        sums[i][j] = _mm512_setzero_ps();
    size_t k = 0;
    for (; k + MT_LINEAR_LANES <= t->n; k += MT_LINEAR_LANES) {
        MT_UNROLL
        for (size_t j = 0; j < n_columns; j++) {
            w[j] = _mm512_loadu_ps(t->w + j * t->ldw + k);
            if (t->ahead)
                _mm_prefetch((const char *)(t->w + j * t->ldw + k + t->ahead), _MM_HINT_T1);
        }
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m512 x = _mm512_loadu_ps(t->x + i * t->ldx + k);
            MT_UNROLL
            for (size_t j = 0; j < n_columns; j++)
                sums[i][j] = _mm512_fmadd_ps(x, w[j], sums[i][j]);
        }
    }
    if (k < t->n) {
        __mmask16 rest = mt_zmm_first(t->n - k);
        MT_UNROLL
        for (size_t j = 0; j < n_columns; j++)
            w[j] = _mm512_maskz_loadu_ps(rest, t->w + j * t->ldw + k);
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m512 x = _mm512_maskz_loadu_ps(rest, t->x + i * t->ldx + k);
            MT_UNROLL
            for (size_t j = 0; j < n_columns; j++)
                sums[i][j] = _mm512_fmadd_ps(x, w[j], sums[i][j]);
        }
    }
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++) {
        __m256 row[MT_TILE_COLUMNS];
        MT_UNROLL
        for (size_t j = 0; j < n_columns; j++)
            row[j] = add_halves(sums[i][j]);
        mt_linear_write(t, i, n_columns, row);
    }
}

static void multiply_four(const struct mt_linear_tile *t, size_t n_rows)
{
    switch (n_rows) { /* the compiler needs constants, to keep the sums in registers */
    case 1:
        multiply(t, 1, MT_TILE_COLUMNS);
        return;
    case 2:
        multiply(t, 2, MT_TILE_COLUMNS);
        return;
    case 3:
        multiply(t, 3, MT_TILE_COLUMNS);
        return;
    case 4:
        multiply(t, 4, MT_TILE_COLUMNS);
        return;
    case 5:
        multiply(t, 5, MT_TILE_COLUMNS);
        return;
    case 6:
        multiply(t, 6, MT_TILE_COLUMNS);
        return;
    }
}

static void multiply_one(const struct mt_linear_tile *t, size_t n_rows)
{
    switch (n_rows) {
    case 1:
        multiply(t, 1, 1);
        return;
    case 2:
        multiply(t, 2, 1);
        return;
    case 3:
        multiply(t, 3, 1);
        return;
    case 4:
        multiply(t, 4, 1);
        return;
    case 5:
        multiply(t, 5, 1);
        return;
    case 6:
        multiply(t, 6, 1);
        return;
    }
}

void mt_avx512vnni_linear_f32(const struct mt_linear_f32 *linear)
{
    mt_linear_all(linear, ROWS_AT_ONCE, multiply_four, multiply_one);
}
