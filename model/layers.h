/*
 * The layers that every part of the Transformer is made of: linear, and residual + norm. Their
 * weights are in model/files/weights.h.
 *
 * All members of a team run the same code on the same rows, each for its own share (struct
 * mt_member): a share of the columns in linear layers, and a share of the rows in everything else.
 * Each operation ends in a barrier, so that its result is complete for all members. A member that
 * takes rows through a pass alone (model/partition.h) is a team of one.
 */
#ifndef MT_MODEL_LAYERS_H
#define MT_MODEL_LAYERS_H

#include "base/team.h"
#include "model/kernels/kernels.h"
#include "model/files/weights.h"

/* The calling member of a team. */
struct mt_member {
    struct mt_team *team; /* NULL: alone */
    size_t index, n_members;
};

/* Waits until all members have called it. */
void mt_member_barrier(const struct mt_member *me);

/* Computes this member's share of n rows. */
void mt_member_rows(const struct mt_member *me, size_t n_rows, size_t *begin, size_t *end);

/*
 * Rows that linear layers read: x [M, width], row-major. For int8 the same rows are also quantised,
 * each with a scale and a zero point of its own.
 */
struct mt_rows {
    float *x;
    size_t width;
    uint8_t *q; /* [M, padded], or NULL in fp32 */
    size_t padded;
    float *scale;  /* [M] */
    int32_t *zero; /* [M] */
};

/* Returns the rows from the first one on. */
struct mt_rows mt_rows_from(struct mt_rows rows, size_t first);

/* Updates the quantised form of rows [begin, end). Does nothing in fp32. */
void mt_rows_quantize(const struct mt_kernels *kernels, const struct mt_rows *rows, size_t begin,
                      size_t end);

/* Quantises all rows, shared among the members, after a linear layer wrote them. */
void mt_rows_quantize_run(const struct mt_member *me, const struct mt_kernels *kernels,
                          const struct mt_rows *rows, size_t n_rows);

/* Computes columns [begin, end) of linear(rows[0, n_rows)) into y, with rows ldy apart and column
 * begin first. Only the calling member works. begin is a multiple of MT_PACK_COLUMNS. */
void mt_linear_columns(const struct mt_kernels *kernels, const struct mt_linear *linear,
                       const struct mt_rows *rows, size_t n_rows, size_t begin, size_t end,
                       float *y, size_t ldy);

/* Computes y [M, n_out] = linear(rows), all members together. */
void mt_linear_run(const struct mt_member *me, const struct mt_kernels *kernels,
                   const struct mt_linear *linear, const struct mt_rows *rows, size_t n_rows,
                   float *y);

/* Computes rows *= factor [M, width], element by element, also for the quantised form. */
void mt_multiply_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_rows *rows, const float *factor, size_t n_rows);

/* Computes out = Norm(x + y), also for the quantised form; y may be NULL; out->x may be x. */
void mt_add_norm_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_norm *norm, const float *x, const float *y, size_t n_rows,
                     const struct mt_rows *out);

/* Computes x += y, for pre-norm's residuals. */
void mt_add_run(const struct mt_member *me, float *x, const float *y, size_t n_rows,
                size_t d_model);

#endif
