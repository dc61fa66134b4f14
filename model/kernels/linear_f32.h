/*
 * The outer loops of fp32 linear layers, for registers of any size: tiles of a few rows by a few
 * columns, whose sums stay in registers while they pass through a chunk of k. Include only from
 * files that are compiled for AVX2.
 */
#ifndef MT_MODEL_KERNELS_LINEAR_F32_H
#define MT_MODEL_KERNELS_LINEAR_F32_H

#include "base/size.h"
#include "model/kernels/kernels.h"
#include "model/kernels/ymm.h"

/* Columns of a tile, unless it has one. The four sums of a row fill a register of four. */
#define MT_TILE_COLUMNS 4

/* Columns that are computed for all rows before the next ones are read: 128 KiB of weights, which
 * stay in L2. A multiple of MT_TILE_COLUMNS. */
#define MT_BLOCK_COLUMNS 64

struct mt_linear_tile {
    const float *x;
    size_t ldx;
    const float *w;
    size_t ldw, n;       /* n: number of inputs k */
    const float *bias;   /* of the first chunk, or NULL: zeros */
    bool is_first_chunk; /* further chunks are added to y */
    float *y;
    size_t ldy;
    /* distance in elements to the next weights, which the first rows prefetch; 0 for others */
    size_t ahead;
};

/* Returns what the sums of a tile's row are added to, in the first lanes. n_columns is a
 * constant. */
MT_INLINE __m128 mt_linear_before(const struct mt_linear_tile *t, size_t row, size_t n_columns)
{
    const float *before = t->is_first_chunk ? t->bias : t->y + row * t->ldy;
    if (!before)
        return _mm_setzero_ps();
    return n_columns == MT_TILE_COLUMNS ? _mm_loadu_ps(before) : _mm_load_ss(before);
}

/* Ends a row of a tile: adds the eight lanes of each column's sum in the order of canonical.h. */
MT_INLINE void mt_linear_write(const struct mt_linear_tile *t, size_t row, size_t n_columns,
                               const __m256 sums[MT_TILE_COLUMNS])
{
    __m128 before = mt_linear_before(t, row, n_columns);
    bool is_one = n_columns == 1;
    __m256 low = _mm256_hadd_ps(sums[0], is_one ? sums[0] : sums[1]);
    __m256 high = is_one ? low : _mm256_hadd_ps(sums[2], sums[3]);
    __m256 halves = _mm256_hadd_ps(low, high);
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
    if (is_one)
        _mm_store_ss(t->y + row * t->ldy, _mm_add_ss(before, sum));
    else
        _mm_storeu_ps(t->y + row * t->ldy, _mm_add_ps(before, sum));
}

/* Multiplies the rows of a group by the columns [first, end) of a block, over a chunk of k. */
MT_INLINE void mt_linear_group(struct mt_linear_tile t, size_t n_rows, size_t n_columns,
                               void (*four)(const struct mt_linear_tile *, size_t n_rows),
                               void (*one)(const struct mt_linear_tile *, size_t n_rows))
{
    for (size_t n; n_columns; n_columns -= n) {
        n = n_columns < MT_TILE_COLUMNS ? 1 : MT_TILE_COLUMNS;
        (n == 1 ? one : four)(&t, n_rows);
        t.w += n * t.ldw;
        t.y += n;
        t.bias = t.bias ? t.bias + n : NULL;
    }
}

/* Computes a whole layer, with rows in groups of nearly equal size and at most max_rows. four and
 * one multiply a tile of as many columns. */
MT_INLINE void mt_linear_all(const struct mt_linear_f32 *l, size_t max_rows,
                             void (*four)(const struct mt_linear_tile *, size_t n_rows),
                             void (*one)(const struct mt_linear_tile *, size_t n_rows))
{
    size_t n_groups = (l->n_rows + max_rows - 1) / max_rows;
    for (size_t first = 0; first < l->n_columns; first += MT_BLOCK_COLUMNS) {
        size_t n_columns = mt_size_min(MT_BLOCK_COLUMNS, l->n_columns - first);
        for (size_t k = 0; k < l->n_in; k += MT_LINEAR_CHUNK) {
            for (size_t group = 0; group < n_groups; group++) {
                size_t begin = l->n_rows * group / n_groups,
                       end = l->n_rows * (group + 1) / n_groups;
                const struct mt_linear_tile t = {
                    .x = l->x + begin * l->ldx + k,
                    .ldx = l->ldx,
                    .w = l->w + first * l->n_in + k,
                    .ldw = l->n_in,
                    .n = mt_size_min(MT_LINEAR_CHUNK, l->n_in - k),
                    .bias = l->bias ? l->bias + first : NULL,
                    .is_first_chunk = k == 0,
                    .y = l->y + begin * l->ldy + first,
                    .ldy = l->ldy,
                    .ahead = group == 0 ? MT_TILE_COLUMNS * l->n_in : 0,
                };
                mt_linear_group(t, end - begin, n_columns, four, one);
            }
        }
    }
}

#endif
