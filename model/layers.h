/*
 * The layers that every part of the Transformer is made of: linear, residual + layer norm,
 * activation, embedding.
 *
 * All members of a team run the same code on the same rows, each its own share (struct mt_member);
 * each operation ends in a barrier, so that its result is complete for all. Rows: x [M, n],
 * row-major.
 */
#ifndef MT_MODEL_LAYERS_H
#define MT_MODEL_LAYERS_H

#include "base/team.h"
#include "model/kernels/kernels.h"

/* Who is running: one of the members of a team. */
struct mt_member {
    struct mt_team *team; /* NULL: alone */
    size_t index, n_members;
};

/* Waits until all members are here. */
void mt_member_barrier(const struct mt_member *me);

/* y = x W^T + b. Several matrices that read the same input (query, key, value) are parts of one
 * linear: their outputs lie side by side. */
struct mt_linear_part {
    const float *weight; /* [n_out, n_in] */
    const float *bias;   /* [n_out], or NULL */
    size_t n_out;
};

#define MT_LINEAR_MAX_PARTS 3
struct mt_linear {
    size_t n_in, n_out;
    size_t n_parts;
    struct mt_linear_part parts[MT_LINEAR_MAX_PARTS];
};

struct mt_norm {
    const float *gamma, *beta; /* [D]; NULL where the model has no such norm */
};

#define MT_NORM_EPS 1e-5f

/* y [M, n_out] = linear(x [M, n_in]). */
void mt_linear_run(const struct mt_member *me, const struct mt_linear *linear, const float *x,
                   size_t n_rows, float *y);

/* The same over gathered rows: row m of the input is x + rows[m] * n_in. */

/* Post-norm: x = LayerNorm(x + y). y may be NULL. */
void mt_add_norm_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_norm *norm, const float *x, const float *y, size_t n_rows,
                     size_t d_model, float *out);

/* x += y, for pre-norm's residuals. */
void mt_add_run(const struct mt_member *me, float *x, const float *y, size_t n_rows,
                size_t d_model);

void mt_activate_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     enum mt_activation activation, float *x, size_t n_rows, size_t n);

#endif
