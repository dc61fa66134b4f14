#include "model/layers.h"

#include "base/size.h"

#include <assert.h>

/* Shares of columns are multiples of this, which is a whole number of packed blocks. */
#define COLUMN_GRANULARITY 32

void mt_member_barrier(const struct mt_member *me)
{
    if (me->n_members > 1)
        mt_team_barrier(me->team);
}

void mt_member_rows(const struct mt_member *me, size_t n_rows, size_t *begin, size_t *end)
{
    mt_team_share(n_rows, 1, me->index, me->n_members, begin, end);
}

struct mt_rows mt_rows_from(struct mt_rows rows, size_t first)
{
    rows.x += first * rows.width;
    if (rows.q) {
        rows.q += first * rows.padded;
        rows.scale += first;
        rows.zero += first;
    }
    return rows;
}

void mt_rows_quantize(const struct mt_kernels *kernels, const struct mt_rows *rows, size_t begin,
                      size_t end)
{
    if (!rows->q)
        return;
    for (size_t m = begin; m < end; m++)
        kernels->quantize(rows->x + m * rows->width, rows->width, rows->padded,
                          rows->q + m * rows->padded, &rows->scale[m], &rows->zero[m]);
}

void mt_rows_quantize_run(const struct mt_member *me, const struct mt_kernels *kernels,
                          const struct mt_rows *rows, size_t n_rows)
{
    if (!rows->q)
        return;
    size_t begin, end;
    mt_member_rows(me, n_rows, &begin, &end);
    mt_rows_quantize(kernels, rows, begin, end);
    mt_member_barrier(me);
}

static void columns_int8(const struct mt_kernels *kernels, const struct mt_linear *linear,
                         const struct mt_rows *rows, size_t n_rows, size_t begin, size_t end,
                         float *y, size_t ldy)
{
    assert(begin % MT_PACK_COLUMNS == 0);
    const struct mt_qgemm gemm = {
        .a = rows->q,
        .lda = rows->padded,
        .a_scale = rows->scale,
        .a_zero = rows->zero,
        .n_rows = n_rows,
        .weights = linear->weights + begin * linear->k_padded,
        .scales = linear->scales + begin,
        .column_sums = linear->column_sums + begin,
        .bias = linear->bias ? linear->bias + begin : NULL,
        .k_padded = linear->k_padded,
        .n_columns = end - begin,
        .y = y,
        .ldy = ldy,
        .has_activation = linear->has_activation,
        .activation = linear->activation,
    };
    kernels->qgemm(&gemm);
}

static void columns_fp32(const struct mt_kernels *kernels, const struct mt_linear *linear,
                         const struct mt_rows *rows, size_t n_rows, size_t begin, size_t end,
                         float *y, size_t ldy)
{
    size_t column = 0;
    for (size_t p = 0; p < linear->n_parts; p++) {
        const struct mt_linear_part *part = &linear->parts[p];
        size_t first = begin > column ? begin - column : 0;
        size_t last = end > column ? mt_size_min(end - column, part->n_out) : 0;
        if (first < last) {
            const struct mt_linear_f32 columns = {
                .x = rows->x,
                .ldx = rows->width,
                .n_rows = n_rows,
                .w = part->weight + first * linear->n_in,
                .bias = part->bias ? part->bias + first : NULL,
                .n_in = linear->n_in,
                .n_columns = last - first,
                .y = y + (column + first - begin),
                .ldy = ldy,
            };
            kernels->linear_f32(&columns);
        }
        column += part->n_out;
    }
    for (size_t m = 0; linear->has_activation && m < n_rows; m++)
        kernels->activate(linear->activation, y + m * ldy, end - begin);
}

void mt_linear_columns(const struct mt_kernels *kernels, const struct mt_linear *linear,
                       const struct mt_rows *rows, size_t n_rows, size_t begin, size_t end,
                       float *y, size_t ldy)
{
    assert(rows->width == linear->n_in);
    if (!n_rows || begin >= end)
        return;
    if (linear->n_parts)
        columns_fp32(kernels, linear, rows, n_rows, begin, end, y, ldy);
    else
        columns_int8(kernels, linear, rows, n_rows, begin, end, y, ldy);
}

/* Each member computes a range of the output's columns for all rows, so that each weight is read
 * once. */
void mt_linear_run(const struct mt_member *me, const struct mt_kernels *kernels,
                   const struct mt_linear *linear, const struct mt_rows *rows, size_t n_rows,
                   float *y)
{
    size_t begin, end;
    mt_team_share(linear->n_out, COLUMN_GRANULARITY, me->index, me->n_members, &begin, &end);
    mt_linear_columns(kernels, linear, rows, n_rows, begin, end, y + begin, linear->n_out);
    mt_member_barrier(me);
}

void mt_multiply_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_rows *rows, const float *factor, size_t n_rows)
{
    size_t begin, end;
    mt_member_rows(me, n_rows, &begin, &end);
    for (size_t i = begin * rows->width; i < end * rows->width; i++)
        rows->x[i] *= factor[i];
    mt_rows_quantize(kernels, rows, begin, end);
    mt_member_barrier(me);
}

void mt_add_norm_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_norm *norm, const float *x, const float *y, size_t n_rows,
                     const struct mt_rows *out)
{
    size_t begin, end, d = out->width;
    mt_member_rows(me, n_rows, &begin, &end);
    for (size_t m = begin; m < end; m++)
        kernels->add_norm(x + m * d, y ? y + m * d : NULL, norm->gamma, norm->beta, norm->eps, d,
                          out->x + m * d);
    mt_rows_quantize(kernels, out, begin, end);
    mt_member_barrier(me);
}

void mt_add_run(const struct mt_member *me, float *x, const float *y, size_t n_rows, size_t d_model)
{
    size_t begin, end;
    mt_member_rows(me, n_rows, &begin, &end);
    for (size_t i = begin * d_model; i < end * d_model; i++)
        x[i] += y[i];
    mt_member_barrier(me);
}
