#include "model/layers.h"

#include "base/size.h"

/* OpenBLAS works on blocks of columns; a share in multiples of this keeps them whole. */
#define COLUMN_GRANULARITY 32

void mt_member_barrier(const struct mt_member *me)
{
    if (me->n_members > 1)
        mt_team_barrier(me->team);
}

static void share_rows(const struct mt_member *me, size_t n_rows, size_t *begin, size_t *end)
{
    mt_team_share(n_rows, 1, me->index, me->n_members, begin, end);
}

/* A member takes a range of the output's columns, for all rows: each weight is read once. */
void mt_linear_run(const struct mt_member *me, const struct mt_linear *linear, const float *x,
                   size_t n_rows, float *y)
{
    size_t begin, end, column = 0;
    mt_team_share(linear->n_out, COLUMN_GRANULARITY, me->index, me->n_members, &begin, &end);
    for (size_t p = 0; p < linear->n_parts; p++) {
        const struct mt_linear_part *part = &linear->parts[p];
        size_t first = begin > column ? begin - column : 0;
        size_t last = end > column ? mt_size_min(end - column, part->n_out) : 0;
        if (n_rows && first < last)
            mt_linear_f32(x, linear->n_in, n_rows, part->weight + first * linear->n_in,
                          part->bias ? part->bias + first : NULL, linear->n_in, last - first,
                          y + column + first, linear->n_out);
        column += part->n_out;
    }
    mt_member_barrier(me);
}

void mt_add_norm_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     const struct mt_norm *norm, const float *x, const float *y, size_t n_rows,
                     size_t d_model, float *out)
{
    size_t begin, end;
    share_rows(me, n_rows, &begin, &end);
    for (size_t m = begin; m < end; m++)
        kernels->add_norm(x + m * d_model, y ? y + m * d_model : NULL, norm->gamma, norm->beta,
                          MT_NORM_EPS, d_model, out + m * d_model);
    mt_member_barrier(me);
}

void mt_add_run(const struct mt_member *me, float *x, const float *y, size_t n_rows, size_t d_model)
{
    size_t begin, end;
    share_rows(me, n_rows, &begin, &end);
    for (size_t i = begin * d_model; i < end * d_model; i++)
        x[i] += y[i];
    mt_member_barrier(me);
}

void mt_activate_run(const struct mt_member *me, const struct mt_kernels *kernels,
                     enum mt_activation activation, float *x, size_t n_rows, size_t n)
{
    size_t begin, end;
    share_rows(me, n_rows, &begin, &end);
    kernels->activate(activation, x + begin * n, (end - begin) * n);
    mt_member_barrier(me);
}
