/*
 * The fp32 linear layer beside somebody else's: OpenBLAS's sgemm. check_kernels holds the tables of
 * kernels against each other; that all of them compute x W^T + b is said here.
 */
#include "model/kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_ROWS = 9, N_IN = 3, N_COLUMNS = 5 };
static const size_t rows[N_ROWS] = {1, 2, 3, 5, 6, 7, 16, 33, 130};
static const size_t inputs[N_IN] = {16, 250, 1024};
static const size_t columns[N_COLUMNS] = {1, 4, 15, 64, 301};

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

static bool is_right(const struct mt_kernels *kernels)
{
    uint64_t state = 1;
    bool is = true;
    for (size_t i = 0; i < N_ROWS * N_IN * N_COLUMNS; i++) {
        size_t m = rows[i % N_ROWS], n_in = inputs[i / N_ROWS % N_IN];
        size_t n = columns[i / N_ROWS / N_IN];
        double far = distance(kernels, &state, m, n_in, n);
        if (far <= 1)
            continue;
        fprintf(stderr, "%s, %zu x %zu by %zu: %g times as far from sgemm as is allowed\n",
                kernels->name, m, n_in, n, far);
        is = false;
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
    return are_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
