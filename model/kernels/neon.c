/*
 * The int8 linear layer on NEON without a dot product, and what all tables of 64-bit ARM share.
 *
 * smull multiplies signed bytes into 16 bits. With a' = a - 128 two products of a' and a weight fit
 * there (2 * 128 * 127 = 32,512): smull, smlal, and sadalp, which adds pairs to 32 bits, are three
 * instructions for sixteen multiply-adds. The 128 is added at the end, as a zero point that is
 * smaller by 128.
 */
#include "model/kernels/neon.h"

#include "model/kernels/v4_columns.h"

#define OFFSET 128
#define ROWS_AT_ONCE 2 /* 16 accumulators of 32 registers */
#define PREFETCH_BYTES 2048

/* Returns four activations minus 128 in each quarter of a register. */
MT_V4_INLINE int8x16_t broadcast4(const uint8_t *a)
{
    uint32_t four;
    memcpy(&four, a, sizeof four);
    return vreinterpretq_s8_u32(vdupq_n_u32(four ^ 0x80808080u));
}

/* sums[2 p] and sums[2 p + 1] belong to the columns from 4 p on, with two lanes each. */
MT_V4_INLINE void multiply(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                           size_t m, size_t n_rows)
{
    const int8_t *w = g->weights + first * g->k_padded;
    const uint8_t *a = g->a + m * g->lda;
    int32x4_t sums[ROWS_AT_ONCE][2 * MT_V4_PARTS];
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_V4_UNROLL
    for (size_t p = 0; p < 2 * MT_V4_PARTS; p++)
        sums[i][p] = vdupq_n_s32(0);
    for (size_t k = 0; k < g->k_padded; k += 8) {
        const int8_t *step = w + k * MT_PACK_COLUMNS, *next = step + 4 * MT_PACK_COLUMNS;
        mt_prefetch(step + PREFETCH_BYTES);
        int8x16_t x[ROWS_AT_ONCE], y[ROWS_AT_ONCE];
        MT_V4_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            x[i] = broadcast4(a + i * g->lda + k);
            y[i] = broadcast4(a + i * g->lda + k + 4);
        }
        MT_V4_UNROLL
        for (size_t p = 0; p < MT_V4_PARTS; p++) {
            int8x16_t v = vld1q_s8(step + 16 * p), u = vld1q_s8(next + 16 * p);
            MT_V4_UNROLL
            for (size_t i = 0; i < n_rows; i++) {
                int16x8_t low = vmull_s8(vget_low_s8(v), vget_low_s8(x[i]));
                int16x8_t high = vmull_high_s8(v, x[i]);
                low = vmlal_s8(low, vget_low_s8(u), vget_low_s8(y[i]));
                high = vmlal_high_s8(high, u, y[i]);
                sums[i][2 * p] = vpadalq_s16(sums[i][2 * p], low);
                sums[i][2 * p + 1] = vpadalq_s16(sums[i][2 * p + 1], high);
            }
        }
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++) {
        int32x4_t columns[MT_V4_PARTS];
        MT_V4_UNROLL
        for (size_t p = 0; p < MT_V4_PARTS; p++)
            columns[p] = vpaddq_s32(sums[i][2 * p], sums[i][2 * p + 1]);
        mt_v4_write_columns(g, c, m + i, first, OFFSET, columns);
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
        struct mt_v4_columns c = mt_v4_columns_of(g, first);
        size_t m = 0;
        for (; m + ROWS_AT_ONCE <= g->n_rows; m += ROWS_AT_ONCE)
            multiply(g, &c, first, m, ROWS_AT_ONCE);
        if (m < g->n_rows)
            multiply(g, &c, first, m, 1);
    }
    mt_v4_activate_rows(g);
}

void mt_neon_narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i += 4) {
        float four[4] = {0};
        size_t rest = mt_size_min(4, n - i);
        memcpy(four, x + i, rest * sizeof *four);
        uint16_t halves[4];
        vst1_u16(halves, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(four))));
        memcpy(out + i, halves, rest * sizeof *halves);
    }
}

uint64_t mt_neon_stream(const uint8_t *bytes, size_t n)
{
    enum { SUMS = 8 };
    uint64x2_t sums[SUMS];
    MT_V4_UNROLL
    for (size_t j = 0; j < SUMS; j++)
        sums[j] = vdupq_n_u64(0);
    for (size_t i = 0; i < n; i += 16 * SUMS) {
        mt_prefetch(bytes + i + PREFETCH_BYTES);
        MT_V4_UNROLL
        for (size_t j = 0; j < SUMS; j++)
            sums[j] = vaddq_u64(sums[j], vreinterpretq_u64_u8(vld1q_u8(bytes + i + 16 * j)));
    }
    MT_V4_UNROLL
    for (size_t j = 1; j < SUMS; j++)
        sums[0] = vaddq_u64(sums[0], sums[j]);
    return vaddvq_u64(sums[0]);
}

const struct mt_kernels mt_kernels_neon = {
    .name = "neon",
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
