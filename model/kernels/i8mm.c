/*
 * The int8 linear layer with usmmla: two rows of eight unsigned activations times two columns of
 * eight signed weights, 32 multiply-adds to four sums. Two steps of four k, interleaved by columns,
 * are the two columns of eight. A last row alone is multiplied with itself.
 */
#include "model/kernels/neon.h"

#include "model/kernels/v4_columns.h"

#define PAIRS_AT_ONCE 3 /* of rows: 24 accumulators of 32 registers */
#define COLUMN_PAIRS (MT_PACK_COLUMNS / 2)
#define PREFETCH_BYTES 2048

MT_V4_INLINE int8x16_t interleaved(int8x16_t a, int8x16_t b, bool is_high)
{
    int32x4_t x = vreinterpretq_s32_s8(a), y = vreinterpretq_s32_s8(b);
    return vreinterpretq_s8_s32(is_high ? vzip2q_s32(x, y) : vzip1q_s32(x, y));
}

/* Multiplies n_pairs (a constant) pairs of rows from m on; the last one may be a single row. */
MT_V4_INLINE void multiply(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                           size_t m, size_t n_pairs)
{
    const int8_t *w = g->weights + first * g->k_padded;
    const uint8_t *rows[2 * PAIRS_AT_ONCE];
    int32x4_t sums[PAIRS_AT_ONCE][COLUMN_PAIRS];
    MT_V4_UNROLL
    for (size_t i = 0; i < 2 * n_pairs; i++)
        rows[i] = g->a + mt_size_min(m + i, g->n_rows - 1) * g->lda;
    MT_V4_UNROLL
    for (size_t i = 0; i < n_pairs; i++)
        MT_V4_UNROLL
    for (size_t p = 0; p < COLUMN_PAIRS; p++)
        sums[i][p] = vdupq_n_s32(0);
    for (size_t k = 0; k < g->k_padded; k += 8) {
        const int8_t *step = w + k * MT_PACK_COLUMNS, *next = step + 4 * MT_PACK_COLUMNS;
        mt_prefetch(step + PREFETCH_BYTES);
        mt_prefetch(next + PREFETCH_BYTES);
        uint8x16_t x[PAIRS_AT_ONCE];
        MT_V4_UNROLL
        for (size_t i = 0; i < n_pairs; i++)
            x[i] = vcombine_u8(vld1_u8(rows[2 * i] + k), vld1_u8(rows[2 * i + 1] + k));
        MT_V4_UNROLL
        for (size_t p = 0; p < COLUMN_PAIRS; p += 2) {
            int8x16_t a = vld1q_s8(step + 8 * p), b = vld1q_s8(next + 8 * p);
            int8x16_t low = interleaved(a, b, false), high = interleaved(a, b, true);
            MT_V4_UNROLL
            for (size_t i = 0; i < n_pairs; i++) {
                sums[i][p] = vusmmlaq_s32(sums[i][p], x[i], low);
                sums[i][p + 1] = vusmmlaq_s32(sums[i][p + 1], x[i], high);
            }
        }
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < n_pairs; i++) {
        int32x4_t one[MT_V4_PARTS], other[MT_V4_PARTS];
        MT_V4_UNROLL
        for (size_t p = 0; p < MT_V4_PARTS; p++) {
            int32x4_t a = sums[i][2 * p], b = sums[i][2 * p + 1];
            one[p] = vcombine_s32(vget_low_s32(a), vget_low_s32(b));
            other[p] = vcombine_s32(vget_high_s32(a), vget_high_s32(b));
        }
        mt_v4_write_columns(g, c, m + 2 * i, first, 0, one);
        if (m + 2 * i + 1 < g->n_rows)
            mt_v4_write_columns(g, c, m + 2 * i + 1, first, 0, other);
    }
}

static void multiply_pairs(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                           size_t m, size_t n_pairs)
{
    switch (n_pairs) { /* the compiler needs constants, to keep the sums in registers */
    case 1:
        multiply(g, c, first, m, 1);
        return;
    case 2:
        multiply(g, c, first, m, 2);
        return;
    case 3:
        multiply(g, c, first, m, 3);
        return;
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    size_t n_pairs = (g->n_rows + 1) / 2;
    for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
        struct mt_v4_columns c = mt_v4_columns_of(g, first);
        for (size_t pair = 0; pair < n_pairs; pair += PAIRS_AT_ONCE)
            multiply_pairs(g, &c, first, 2 * pair, mt_size_min(PAIRS_AT_ONCE, n_pairs - pair));
    }
    mt_v4_activate_rows(g);
}

const struct mt_kernels mt_kernels_i8mm = {
    .name = "i8mm",
    .attend_f32 = mt_v4_attend_f32,
    .attend_f16 = mt_v4_attend_f16,
    .add_norm = mt_v4_add_norm,
    .linear_f32 = mt_v4_linear_f32,
    .activate = mt_v4_activate,
    .ssru = mt_v4_ssru,
    .embed = mt_v4_embed,
    .narrow_f16 = mt_neon_narrow_f16,
    .sum_exp = mt_v4_sum_exp,
    .merge_top = mt_v4_merge_top,
    .quantize = mt_v4_quantize,
    .qgemm = qgemm,
    .stream = mt_neon_stream,
};
