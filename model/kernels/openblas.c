/*
 * The linear layers by OpenBLAS's sgemm, for processors without kernels of ours.
 *
 * The order in which sgemm adds depends on the shape of the whole product. So every call has the
 * same shape, ROWS rows by COLUMNS columns, padded with zeros, over at most MT_LINEAR_CHUNK inputs.
 * A number then depends only on its own row and column. It is not the sum of canonical.h, and its
 * last digits differ between processors.
 *
 * An int8 layer is computed exactly, as in every table: it uses whole numbers in fp32, whose sums
 * over a chunk stay below 2^24.
 */
#include "model/kernels/reference.h"

#include "base/size.h"
#include "model/kernels/canonical.h"

#include <assert.h>
#include <cblas.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#define ROWS 8
#define COLUMNS 64
#define MAX_PANEL_ROWS 64 /* rows that share weights after these were converted to fp32 */
#define MIN_ROWS 2        /* fewest rows for which the conversion pays (docs/performance.md) */

static_assert(MT_LINEAR_CHUNK * UINT8_MAX * INT8_MAX < 1 << 24, "sums are exact in fp32");
static_assert(COLUMNS % MT_PACK_COLUMNS == 0, "whole blocks of packed weights");

static struct mt_kernels table;

/* If two calls are made at once, a sequential build of OpenBLAS, like Debian's, gives both the same
 * buffer for their weights, so that their sums are wrong. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Computes sums [ROWS, COLUMNS] += x [ROWS, n_in] w [COLUMNS, n_in] transposed. */
static void multiply(const float *x, size_t ldx, const float *w, size_t ldw, size_t n_in,
                     float *sums)
{
    bool is_sequential = openblas_get_parallel() == OPENBLAS_SEQUENTIAL;
    if (is_sequential)
        pthread_mutex_lock(&one_at_a_time);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ROWS, COLUMNS, (int)n_in, 1.0f, x,
                (int)ldx, w, (int)ldw, 1.0f, sums, COLUMNS);
    if (is_sequential)
        pthread_mutex_unlock(&one_at_a_time);
}

/* Return how many rows, or columns, one call takes from m, or n, on. */
static size_t rows_at(size_t n_rows, size_t m)
{
    return mt_size_min(ROWS, n_rows - m);
}

static size_t columns_at(size_t n_columns, size_t n)
{
    return mt_size_min(COLUMNS, n_columns - n);
}

/* Returns n rows of `length` numbers, `stride` apart, copied to `to` if zeros have to be added to
 * make them n_padded. */
static const float *pad(const float *from, size_t stride, size_t n, size_t n_padded, size_t length,
                        float *to)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * length, from + i * stride, length * sizeof *to);
    memset(to + n * length, 0, (n_padded - n) * length * sizeof *to);
    return to;
}

/* The weights for a call, in their place or padded. */
struct columns {
    const float *w;
    size_t ldw;
};

static struct columns columns_of(const struct mt_linear_f32 *l, size_t n, size_t k, size_t length,
                                 float *padded)
{
    const float *w = l->w + n * l->n_in + k;
    if (columns_at(l->n_columns, n) == COLUMNS)
        return (struct columns){w, l->n_in};
    return (struct columns){pad(w, l->n_in, columns_at(l->n_columns, n), COLUMNS, length, padded),
                            length};
}

static void multiply_rows(const struct mt_linear_f32 *l, size_t m, size_t k, size_t length,
                          const struct columns *columns, float *sums)
{
    alignas(64) float padded[ROWS * MT_LINEAR_CHUNK];
    const float *x = l->x + m * l->ldx + k;
    size_t ldx = l->ldx;
    if (rows_at(l->n_rows, m) < ROWS) {
        x = pad(x, ldx, rows_at(l->n_rows, m), ROWS, length, padded);
        ldx = length;
    }
    multiply(x, ldx, columns->w, columns->ldw, length, sums);
}

static void fill_with_bias(const struct mt_linear_f32 *l, size_t n, float *sums)
{
    memset(sums, 0, ROWS * COLUMNS * sizeof *sums);
    for (size_t i = 0; l->bias && i < ROWS; i++)
        memcpy(sums + i * COLUMNS, l->bias + n, columns_at(l->n_columns, n) * sizeof *sums);
}

static void linear_f32(const struct mt_linear_f32 *l)
{
    alignas(64) float padded[COLUMNS * MT_LINEAR_CHUNK];
    alignas(64) float sums[MAX_PANEL_ROWS * COLUMNS];
    for (size_t begin = 0; begin < l->n_rows; begin += MAX_PANEL_ROWS) {
        size_t end = mt_size_min(begin + MAX_PANEL_ROWS, l->n_rows);
        for (size_t n = 0; n < l->n_columns; n += COLUMNS) {
            for (size_t m = begin; m < end; m += ROWS)
                fill_with_bias(l, n, sums + (m - begin) * COLUMNS);
            for (size_t k = 0; k < l->n_in; k += MT_LINEAR_CHUNK) {
                size_t length = mt_size_min(MT_LINEAR_CHUNK, l->n_in - k);
                struct columns columns = columns_of(l, n, k, length, padded);
                for (size_t m = begin; m < end; m += ROWS)
                    multiply_rows(l, m, k, length, &columns, sums + (m - begin) * COLUMNS);
            }
            for (size_t m = begin; m < end; m++)
                memcpy(l->y + m * l->ldy + n, sums + (m - begin) * COLUMNS,
                       columns_at(l->n_columns, n) * sizeof *sums);
        }
    }
}

/* Unpacks columns from n on, inputs k to k + length, into one row of fp32 each. */
static void unpack(const struct mt_qgemm *g, size_t n, size_t k, size_t length, float *w)
{
    for (size_t block = 0; block < COLUMNS; block += MT_PACK_COLUMNS) {
        float *out = w + block * length;
        if (n + block >= g->n_columns) {
            memset(out, 0, MT_PACK_COLUMNS * length * sizeof *out);
            continue;
        }
        const int8_t *packed = g->weights + (n + block) * g->k_padded + k * MT_PACK_COLUMNS;
        for (size_t step = 0; step < length; step += 4, packed += 4 * MT_PACK_COLUMNS)
            for (size_t column = 0; column < MT_PACK_COLUMNS; column++)
                for (size_t i = 0; i < 4; i++)
                    out[column * length + step + i] = (float)packed[4 * column + i];
    }
}

static void multiply_bytes(const struct mt_qgemm *g, size_t m, size_t k, size_t length,
                           const float *w, int32_t *sums)
{
    alignas(64) float x[ROWS * MT_LINEAR_CHUNK], products[ROWS * COLUMNS] = {0};
    size_t n_rows = rows_at(g->n_rows, m);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < length; j++)
            x[i * length + j] = (float)g->a[(m + i) * g->lda + k + j];
    memset(x + n_rows * length, 0, (ROWS - n_rows) * length * sizeof *x);
    multiply(x, length, w, length, length, products);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        sums[i] += (int32_t)products[i];
}

static void write_columns(const struct mt_qgemm *g, size_t m, size_t n, const int32_t *sums)
{
    for (size_t i = 0; i < columns_at(g->n_columns, n); i++) {
        int32_t sum = sums[i] - g->a_zero[m] * g->column_sums[n + i];
        g->y[m * g->ldy + n + i] =
            fmaf((float)sum, g->a_scale[m] * g->scales[n + i], g->bias ? g->bias[n + i] : 0.0f);
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    if (g->n_rows < MIN_ROWS) {
        mt_kernels_reference.qgemm(g);
        return;
    }
    alignas(64) float w[COLUMNS * MT_LINEAR_CHUNK];
    int32_t sums[MAX_PANEL_ROWS * COLUMNS];
    for (size_t begin = 0; begin < g->n_rows; begin += MAX_PANEL_ROWS) {
        size_t end = mt_size_min(begin + MAX_PANEL_ROWS, g->n_rows);
        for (size_t n = 0; n < g->n_columns; n += COLUMNS) {
            memset(sums, 0, sizeof sums);
            for (size_t k = 0; k < g->k_padded; k += MT_LINEAR_CHUNK) {
                size_t length = mt_size_min(MT_LINEAR_CHUNK, g->k_padded - k);
                unpack(g, n, k, length, w);
                for (size_t m = begin; m < end; m += ROWS)
                    multiply_bytes(g, m, k, length, w, sums + (m - begin) * COLUMNS);
            }
            for (size_t m = begin; m < end; m++)
                write_columns(g, m, n, sums + (m - begin) * COLUMNS);
        }
    }
    for (size_t m = 0; g->has_activation && m < g->n_rows; m++)
        table.activate(g->activation, g->y + m * g->ldy, g->n_columns);
}

/* Only builds of OpenBLAS with threads have this function. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void mt_openblas_stay_alone(void)
{
    openblas_set_num_threads(1);
    if (blas_thread_shutdown_)
        blas_thread_shutdown_();
}

const struct mt_kernels *mt_kernels_openblas(const struct mt_kernels *others)
{
    mt_openblas_stay_alone();
    table = *others;
    table.name = "openblas";
    table.has_foreign_sums = true;
    table.linear_f32 = linear_f32;
    table.qgemm = qgemm;
    return &table;
}
