/*
 * fp32 linear layers by OpenBLAS. It runs in the calling thread: the team splits the work, and
 * OpenBLAS's own threads would fight with it for the cores.
 */
#include "model/kernels/kernels.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t threads_once = PTHREAD_ONCE_INIT;

static void use_calling_thread(void)
{
    openblas_set_num_threads(1);
}

void mt_linear_f32(const float *x, size_t ldx, size_t n_rows, const float *w, const float *bias,
                   size_t n_in, size_t n_out, float *y, size_t ldy)
{
    assert(n_rows <= INT_MAX && n_in <= INT_MAX && n_out <= INT_MAX && ldx <= INT_MAX &&
           ldy <= INT_MAX);
    pthread_once(&threads_once, use_calling_thread);
    for (size_t m = 0; m < n_rows; m++) {
        if (bias)
            memcpy(y + m * ldy, bias, n_out * sizeof *y);
        else
            memset(y + m * ldy, 0, n_out * sizeof *y);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n_rows, (blasint)n_out,
                (blasint)n_in, 1.0f, x, (blasint)ldx, w, (blasint)n_in, 1.0f, y, (blasint)ldy);
}
