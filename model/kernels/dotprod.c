/*
 * The int8 linear layer with sdot, which adds four signed products to each of four lanes. With a' =
 * a - 128 both sides are signed; the 128 is added at the end (neon.c). One register of activations
 * has four groups of four k, each in a lane that an instruction can name.
 */
#include "model/kernels/neon.h"

#include "model/kernels/v4_columns.h"

#define OFFSET 128
#define ROWS_AT_ONCE 4 /* 16 accumulators of 32 registers */
#define PREFETCH_BYTES 2048

/* Adds one step of four k, the group-th (a constant) of x. */
MT_V4_INLINE void step(const int8_t *w, const int8x16_t x[ROWS_AT_ONCE], const int group,
                       size_t n_rows, int32x4_t sums[ROWS_AT_ONCE][MT_V4_PARTS])
{
    mt_prefetch(w + PREFETCH_BYTES);
    MT_V4_UNROLL
    for (size_t p = 0; p < MT_V4_PARTS; p++) {
        int8x16_t four = vld1q_s8(w + 16 * p);
        MT_V4_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            int32x4_t *sum = &sums[i][p];
            *sum = group == 0   ? vdotq_laneq_s32(*sum, four, x[i], 0)
                   : group == 1 ? vdotq_laneq_s32(*sum, four, x[i], 1)
                   : group == 2 ? vdotq_laneq_s32(*sum, four, x[i], 2)
                                : vdotq_laneq_s32(*sum, four, x[i], 3);
        }
    }
}

MT_V4_INLINE void multiply(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                           size_t m, size_t n_rows)
{
    const int8_t *w = g->weights + first * g->k_padded;
    const uint8_t *a = g->a + m * g->lda;
    int32x4_t sums[ROWS_AT_ONCE][MT_V4_PARTS];
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_V4_UNROLL
    for (size_t p = 0; p < MT_V4_PARTS; p++)
        sums[i][p] = vdupq_n_s32(0);
    for (size_t k = 0; k < g->k_padded; k += 16, w += 16 * MT_PACK_COLUMNS) {
        int8x16_t x[ROWS_AT_ONCE];
        MT_V4_UNROLL
        for (size_t i = 0; i < n_rows; i++)
            x[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(a + i * g->lda + k), vdupq_n_u8(0x80)));
        step(w, x, 0, n_rows, sums);
        step(w + 4 * MT_PACK_COLUMNS, x, 1, n_rows, sums);
        step(w + 8 * MT_PACK_COLUMNS, x, 2, n_rows, sums);
        step(w + 12 * MT_PACK_COLUMNS, x, 3, n_rows, sums);
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        mt_v4_write_columns(g, c, m + i, first, OFFSET, sums[i]);
}

static void multiply_rows(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                          size_t m, size_t n_rows)
{
    switch (n_rows) { /* the compiler needs constants, to keep the sums in registers */
    case 1:
        multiply(g, c, first, m, 1);
        return;
    case 2:
        multiply(g, c, first, m, 2);
        return;
    case 3:
        multiply(g, c, first, m, 3);
        return;
    case 4:
        multiply(g, c, first, m, 4);
        return;
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
        struct mt_v4_columns c = mt_v4_columns_of(g, first);
        for (size_t m = 0; m < g->n_rows; m += ROWS_AT_ONCE)
            multiply_rows(g, &c, first, m, mt_size_min(ROWS_AT_ONCE, g->n_rows - m));
    }
    mt_v4_activate_rows(g);
}

const struct mt_kernels mt_kernels_dotprod = {
    .name = "dotprod",
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
