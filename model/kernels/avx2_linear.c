/*
 * fp32 linear layers for AVX2 and FMA.
 */
#include "model/kernels/avx2.h"

#include "model/kernels/linear_f32.h"

#define ROWS_AT_ONCE 3 /* times four columns: 12 sums of 16 registers */

/* Keeps a value in its register: otherwise gcc would load it again for every multiply-add. */
#define MT_KEEP(x) __asm__("" : "+x"(x))

/* Computes the sums of lanes first_lane to first_lane + 7, or of all sixteen if n_halves is 2. All
 * arguments except the tile are constants. */
MT_INLINE void add_products(const struct mt_linear_tile *t, size_t n_rows, size_t n_columns,
                            size_t first_lane, size_t n_halves,
                            __m256 sums[ROWS_AT_ONCE][MT_TILE_COLUMNS][2])
{
    size_t k = 0;
    for (; k + MT_LINEAR_LANES <= t->n; k += MT_LINEAR_LANES) {
        MT_UNROLL
        for (size_t h = 0; h < n_halves; h++) {
            size_t at = k + first_lane + MT_LANES * h;
            __m256 x[ROWS_AT_ONCE];
            MT_UNROLL
            for (size_t i = 0; i < n_rows; i++) {
                x[i] = _mm256_loadu_ps(t->x + i * t->ldx + at);
                MT_KEEP(x[i]);
            }
            MT_UNROLL
            for (size_t j = 0; j < n_columns; j++) {
                const float *from = t->w + j * t->ldw + at;
                if (t->ahead && first_lane + h == 0)
                    _mm_prefetch((const char *)(from + t->ahead), _MM_HINT_T1);
                __m256 w = _mm256_loadu_ps(from);
                MT_KEEP(w);
                MT_UNROLL
                for (size_t i = 0; i < n_rows; i++)
                    sums[i][j][h] = _mm256_fmadd_ps(x[i], w, sums[i][j][h]);
            }
        }
    }
    MT_UNROLL
    for (size_t h = 0; h < n_halves; h++) {
        size_t at = k + first_lane + MT_LANES * h;
        if (at >= t->n)
            return;
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m256 x = mt_ymm_load(t->x + i * t->ldx + at, t->n - at);
            MT_UNROLL
            for (size_t j = 0; j < n_columns; j++) {
                __m256 w = mt_ymm_load(t->w + j * t->ldw + at, t->n - at);
                sums[i][j][h] = _mm256_fmadd_ps(x, w, sums[i][j][h]);
            }
        }
    }
}

/* Multiplies n_rows by n_columns, both constants. The two halves of the sixteen lanes are computed
 * one after the other, since there are not enough registers for both. A single row has enough, and
 * with only half of its sums every multiply-add would wait for the previous one. */
MT_INLINE void multiply(const struct mt_linear_tile *t, size_t n_rows, size_t n_columns)
{
    __m256 sums[ROWS_AT_ONCE][MT_TILE_COLUMNS][2];
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_UNROLL
    for (size_t j = 0; j < n_columns; j++)
        sums[i][j][0] = sums[i][j][1] = _mm256_setzero_ps();
    if (n_rows == 1) {
        add_products(t, n_rows, n_columns, 0, 2, sums);
    } else {
        __m256 high[ROWS_AT_ONCE][MT_TILE_COLUMNS][2];
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++)
            MT_UNROLL
        for (size_t j = 0; j < n_columns; j++)
            high[i][j][0] = _mm256_setzero_ps();
        add_products(t, n_rows, n_columns, 0, 1, sums);
        add_products(t, n_rows, n_columns, MT_LANES, 1, high);
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++)
            MT_UNROLL
        for (size_t j = 0; j < n_columns; j++)
            sums[i][j][1] = high[i][j][0];
    }
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++) {
        __m256 row[MT_TILE_COLUMNS];
        MT_UNROLL
        for (size_t j = 0; j < n_columns; j++)
            row[j] = _mm256_add_ps(sums[i][j][0], sums[i][j][1]);
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
    }
}

void mt_avx2_linear_f32(const struct mt_linear_f32 *linear)
{
    mt_linear_all(linear, ROWS_AT_ONCE, multiply_four, multiply_one);
}
