/*
 * The end of an int8 linear layer on registers of four floats: exact sums of a block of 16 columns
 * become floats (kernels.h, struct mt_qgemm). Include only from files that may include v4.h.
 */
#ifndef MT_MODEL_KERNELS_V4_COLUMNS_H
#define MT_MODEL_KERNELS_V4_COLUMNS_H

#include "base/size.h"
#include "model/kernels/reference.h"
#include "model/kernels/v4.h"

#define MT_V4_PARTS (MT_PACK_COLUMNS / 4)

/* Data of the block's columns; zeros beyond the last column. */
struct mt_v4_columns {
    float scales[MT_PACK_COLUMNS], bias[MT_PACK_COLUMNS];
    int32_t column_sums[MT_PACK_COLUMNS];
    size_t n; /* columns to write, 1 to 16 */
};

static inline struct mt_v4_columns mt_v4_columns_of(const struct mt_qgemm *g, size_t first)
{
    struct mt_v4_columns c = {.n = mt_size_min(MT_PACK_COLUMNS, g->n_columns - first)};
    memcpy(c.scales, g->scales + first, c.n * sizeof *c.scales);
    memcpy(c.column_sums, g->column_sums + first, c.n * sizeof *c.column_sums);
    if (g->bias)
        memcpy(c.bias, g->bias + first, c.n * sizeof *c.bias);
    return c;
}

/* Activations without a vector form are left to mt_v4_activate_rows. */
MT_V4_INLINE mt_v4 mt_v4_activated(const struct mt_qgemm *g, mt_v4 y)
{
    if (!g->has_activation || !mt_v4_can_activate(g->activation))
        return y;
    return g->activation == MT_RELU ? mt_v4_relu(y) : mt_v4_silu(y);
}

/* Writes columns first, first + 1, ... of row m. The sums are of activations from which `offset`
 * was subtracted. */
MT_V4_INLINE void mt_v4_write_columns(const struct mt_qgemm *g, const struct mt_v4_columns *c,
                                      size_t m, size_t first, int32_t offset,
                                      const mt_i4 sums[MT_V4_PARTS])
{
    float *y = g->y + m * g->ldy + first, all[MT_PACK_COLUMNS];
    float *to = c->n == MT_PACK_COLUMNS ? y : all;
    mt_i4 zero = mt_i4_set(g->a_zero[m] - offset);
    mt_v4 a_scale = mt_v4_set(g->a_scale[m]);
    MT_V4_UNROLL
    for (size_t p = 0; p < MT_V4_PARTS; p++) {
        mt_i4 sum = mt_i4_less_product(sums[p], zero, mt_i4_load(c->column_sums + 4 * p));
        mt_v4 out =
            mt_v4_fma(mt_i4_to_float(sum), mt_v4_mul(a_scale, mt_v4_load(c->scales + 4 * p)),
                      mt_v4_load(c->bias + 4 * p));
        mt_v4_store(to + 4 * p, mt_v4_activated(g, out));
    }
    if (to != y)
        memcpy(y, all, c->n * sizeof *y);
}

static inline void mt_v4_activate_rows(const struct mt_qgemm *g)
{
    if (!g->has_activation || mt_v4_can_activate(g->activation))
        return;
    for (size_t m = 0; m < g->n_rows; m++)
        mt_kernels_reference.activate(g->activation, g->y + m * g->ldy, g->n_columns);
}

#endif
