/*
 * The fp32 linear layer beside somebody else's: OpenBLAS's sgemm of the whole product. check_kernels
 * holds the tables of kernels against each other; that all of them compute x W^T + b is said here,
 * and that what surrounds a row or a column changes no bit of it.
 */
#include "model/kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROWS = 9, N_IN = 4, N_COLUMNS = 5, N_MOST = 301 };
static const size_t rows[N_ROWS] = {1, 2, 3, 5, 6, 7, 16, 33, 130};
static const size_t inputs[N_IN] = {16, 250, 1024, 1500};
static const size_t columns[N_COLUMNS] = {1, 4, 15, 64, N_MOST};

static float number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(int32_t)(*state >> 32) * 0x1p-31f;
}

static float *numbers(uint64_t *state, size_t n)
{
    float *list = malloc(n * sizeof *list);
    if (!list)
        abort();
    for (size_t i = 0; i < n; i++)
        list[i] = number(state);
    return list;
}

/* How far the kernel is from sgemm, as a part of what is allowed. Sums of n_in products in another order
 * were apart by an eighth of that at most; a product too few is thousands of times as much. */
static double distance(const struct mt_kernels *kernels, uint64_t *state, size_t n_rows,
                       size_t n_in, size_t n_columns)
{
    float *x = numbers(state, n_rows * n_in), *w = numbers(state, n_columns * n_in);
    float *bias = numbers(state, n_columns), *y = numbers(state, n_rows * n_columns);
    float *expected = numbers(state, n_rows * n_columns);
    double most = 0;
    for (size_t i = 0; i < n_rows * n_columns; i++)
        expected[i] = bias[i % n_columns];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n_rows, (int)n_columns, (int)n_in, 1,
                x, (int)n_in, w, (int)n_in, 1, expected, (int)n_columns);
    kernels->linear_f32(&(struct mt_linear_f32){.x = x,
                                                .ldx = n_in,
                                                .n_rows = n_rows,
                                                .w = w,
                                                .bias = bias,
                                                .n_in = n_in,
                                                .n_columns = n_columns,
                                                .y = y,
                                                .ldy = n_columns});
    for (size_t i = 0; i < n_rows * n_columns; i++)
        most = fmax(most, fabs((double)y[i] - (double)expected[i]));
    free(x);
    free(w);
    free(bias);
    free(y);
    free(expected);
    return most / (sqrt((double)n_in) * 0x1p-23 * 16);
}

/* Of a product, one row and some columns alone. */
static bool is_the_same_alone(const struct mt_kernels *kernels, const struct mt_linear_f32 *whole,
                              uint64_t *state)
{
    size_t row = (size_t)(fabsf(number(state)) * (float)whole->n_rows) % whole->n_rows;
    size_t first = (size_t)(fabsf(number(state)) * (float)whole->n_columns) % whole->n_columns;
    size_t n = 1 + (size_t)(fabsf(number(state)) * 100) % (whole->n_columns - first);
    float alone[N_MOST];
    struct mt_linear_f32 part = *whole;
    part.x += row * whole->ldx;
    part.n_rows = 1;
    part.w += first * whole->n_in;
    part.bias += first;
    part.n_columns = n;
    part.y = alone;
    kernels->linear_f32(&part);
    return !memcmp(alone, whole->y + row * whole->ldy + first, n * sizeof *alone);
}

static bool is_independent(const struct mt_kernels *kernels, uint64_t *state, size_t n_rows,
                           size_t n_in, size_t n_columns)
{
    float *x = numbers(state, n_rows * n_in), *w = numbers(state, n_columns * n_in);
    float *bias = numbers(state, n_columns), *y = numbers(state, n_rows * n_columns);
    const struct mt_linear_f32 whole = {.x = x,
                                        .ldx = n_in,
                                        .n_rows = n_rows,
                                        .w = w,
                                        .bias = bias,
                                        .n_in = n_in,
                                        .n_columns = n_columns,
                                        .y = y,
                                        .ldy = n_columns};
    kernels->linear_f32(&whole);
    bool is = true;
    for (size_t i = 0; is && i < 20; i++)
        is = is_the_same_alone(kernels, &whole, state);
    free(x);
    free(w);
    free(bias);
    free(y);
    return is;
}

static bool is_right(const struct mt_kernels *kernels)
{
    uint64_t state = 1;
    bool is = true;
    for (size_t i = 0; i < N_ROWS * N_IN * N_COLUMNS; i++) {
        size_t m = rows[i % N_ROWS], n_in = inputs[i / N_ROWS % N_IN];
        size_t n = columns[i / N_ROWS / N_IN];
        double far = distance(kernels, &state, m, n_in, n);
        if (far > 1) {
            fprintf(stderr, "%s, %zu x %zu by %zu: %g times as far from sgemm as is allowed\n",
                    kernels->name, m, n_in, n, far);
            is = false;
        }
        if (!is_independent(kernels, &state, m, n_in, n)) {
            fprintf(stderr, "%s, %zu x %zu by %zu: other bits where a row or column is alone\n",
                    kernels->name, m, n_in, n);
            is = false;
        }
    }
    return is;
}

int main(void)
{
    size_t n;
    const struct mt_kernels *const *available = mt_kernels_available(&n);
    bool are_right = n > 0;
    for (size_t i = 0; i < n; i++)
        are_right = is_right(available[i]) && are_right;
    for (size_t i = 0; i < n; i++)
        printf("%s%s", i ? ", " : "", available[i]->name);
    printf(": %s\n", are_right ? "right" : "wrong");
    return are_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
