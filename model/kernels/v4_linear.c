/*
 * fp32 linear layers on registers of four floats: the sixteen lanes of a sum (canonical.h) are four
 * registers. Tiles of two rows by two columns keep theirs while they pass through a chunk of k.
 */
#include "model/kernels/v4.h"

#include "base/size.h"

#define ROWS 2
#define COLUMNS 2
#define PARTS (MT_LINEAR_LANES / 4)

/* Columns that are computed for all rows before the next ones are read, so that their weights stay
 * in L2. */
#define BLOCK_COLUMNS 64

/* Adds k elements for n_rows by n_columns, both constants. */
MT_V4_INLINE void tile(const struct mt_linear_f32 *l, size_t m, size_t n, size_t k, size_t n_k,
                       size_t n_rows, size_t n_columns)
{
    mt_v4 sums[ROWS][COLUMNS][PARTS];
    const float *x = l->x + m * l->ldx + k, *w = l->w + n * l->n_in + k;
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_V4_UNROLL
    for (size_t j = 0; j < n_columns; j++)
        MT_V4_UNROLL
    for (size_t p = 0; p < PARTS; p++)
        sums[i][j][p] = mt_v4_set(0.0f);
    size_t at = 0;
    for (; at + MT_LINEAR_LANES <= n_k; at += MT_LINEAR_LANES) {
        MT_V4_UNROLL
        for (size_t p = 0; p < PARTS; p++) {
            mt_v4 rows[ROWS];
            MT_V4_UNROLL
            for (size_t i = 0; i < n_rows; i++)
                rows[i] = mt_v4_load(x + i * l->ldx + at + 4 * p);
            MT_V4_UNROLL
            for (size_t j = 0; j < n_columns; j++) {
                mt_v4 column = mt_v4_load(w + j * l->n_in + at + 4 * p);
                MT_V4_UNROLL
                for (size_t i = 0; i < n_rows; i++)
                    sums[i][j][p] = mt_v4_fma(rows[i], column, sums[i][j][p]);
            }
        }
    }
    size_t rest = n_k - at;
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++) {
        MT_V4_UNROLL
        for (size_t j = 0; j < n_columns; j++) {
            float a[MT_LINEAR_LANES] = {0}, b[MT_LINEAR_LANES] = {0};
            memcpy(a, x + i * l->ldx + at, rest * sizeof *a);
            memcpy(b, w + j * l->n_in + at, rest * sizeof *b);
            MT_V4_UNROLL
            for (size_t p = 0; p < PARTS && rest; p++)
                if (4 * p < rest)
                    sums[i][j][p] =
                        mt_v4_fma(mt_v4_load(a + 4 * p), mt_v4_load(b + 4 * p), sums[i][j][p]);
            const mt_v4 *s = sums[i][j];
            float *y = l->y + (m + i) * l->ldy + n + j;
            float before = k ? *y : l->bias ? l->bias[n + j] : 0.0f;
            struct mt_v8 lanes = {mt_v4_add(s[0], s[2]), mt_v4_add(s[1], s[3])};
            *y = before + mt_v8_sum(lanes);
        }
    }
}

/* Computes two columns, or the last one. */
MT_V4_INLINE void tiles_of_rows(const struct mt_linear_f32 *l, size_t n, size_t n_columns, size_t k,
                                size_t n_k)
{
    size_t m = 0;
    for (; m + ROWS <= l->n_rows; m += ROWS)
        tile(l, m, n, k, n_k, ROWS, n_columns);
    if (m < l->n_rows)
        tile(l, m, n, k, n_k, 1, n_columns);
}

void mt_v4_linear_f32(const struct mt_linear_f32 *l)
{
    for (size_t first = 0; first < l->n_columns; first += BLOCK_COLUMNS) {
        size_t end = mt_size_min(first + BLOCK_COLUMNS, l->n_columns);
        for (size_t k = 0; k < l->n_in; k += MT_LINEAR_CHUNK) {
            size_t n = first, n_k = mt_size_min(MT_LINEAR_CHUNK, l->n_in - k);
            for (; n + COLUMNS <= end; n += COLUMNS)
                tiles_of_rows(l, n, COLUMNS, k, n_k);
            if (n < end)
                tiles_of_rows(l, n, 1, k, n_k);
        }
    }
}
