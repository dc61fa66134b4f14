/*
 * The layers that every part of the Transformer is made of: linear, and residual + norm.
 * Their weights are in model/files/weights.h.
 *
 * All members of a team run the same code on the same rows, each its own share (struct mt_member):
 * shares of columns for linear layers, shares of rows for everything else. Each operation ends in a
 * barrier, so that its result is complete for all. A member that takes rows of its own through a
 * pass (model/cut.h) is a team of one.
 */
#ifndef MT_MODEL_LAYERS_H
#define MT_MODEL_LAYERS_H

#include "base/team.h"
#include "model/kernels/kernels.h"
#include "model/files/weights.h"

/* Who is running: one of the members of a team. */
struct mt_member {
    struct mt_team *team; /* NULL: alone */
    size_t index, n_members;
};

/* Waits until all members are here. */
void mt_member_barrier(const struct mt_member *me);

/* This member's share of n rows. */
void mt_member_rows(const struct mt_member *me, size_t n_rows, size_t *begin, size_t *end);

/*
 * Rows that linear layers read: x [M, width], row-major; for int8 beside it the same rows
 * quantised, each with a scale and a zero point of its own.
 */
struct mt_rows {
    float *x;
    size_t width;
    uint8_t *q; /* [M, padded], or NULL in fp32 */
    size_t padded;
    float *scale;  /* [M] */
    int32_t *zero; /* [M] */
};

/* The rows from the first on. */
struct mt_rows mt_rows_from(struct mt_rows rows, size_t first);

/* Brings the quantised form of rows [begin, end) up to date. Nothing to do in fp32. */
void mt_rows_quantize(const struct mt_kernels *kernels, const struct mt_rows *rows, size_t begin,
                      size_t end);

/* Quantizes all rows, shared among the members, where a linear layer wrote them. */
void mt_rows_quantize_run(const struct mt_member *me, const struct mt_kernels *kernels,
                          const struct mt_rows *rows, size_t n_rows);

/* Columns [begin, end) of linear(rows[0, n_rows)), written to y with rows ldy apart, column begin
 * first. By the calling member alone. begin is a multiple of MT_PACK_COLUMNS. */
void mt_linear_columns(const struct mt_kernels *kernels, const struct mt_linear *linear,
                       const struct mt_rows *rows, size_t n_rows, size_t begin, size_t end,
                       float *y, size_t ldy);

/* y [M, n_out] = linear(rows), all members together. */
void mt_linear_run(const struct mt_member *me, const struct mt_kernels *kernels,
                   const struct mt_linear *linear, const struct mt_rows *rows, size_t n_rows,
                   float *y);

/* rows *= factor [M, width], element by element, quantised too. */
void mt_multiply_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_rows *rows, const float *factor, size_t n_rows);

/* out = Norm(x + y), quantised too; y may be NULL; out->x may be x. */
void mt_add_norm_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_norm *norm, const float *x, const float *y, size_t n_rows,
                     const struct mt_rows *out);

/* x += y, for pre-norm's residuals. */
void mt_add_run(const struct mt_member *me, float *x, const float *y, size_t n_rows,
                size_t d_model);

#endif
