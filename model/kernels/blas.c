/*
 * fp32 linear layers by OpenBLAS. It runs in the calling thread: the team splits the work, and
 * OpenBLAS's own threads would fight with it for the cores. It starts them when it is loaded, where
 * neither a sandbox nor a mask of signals reaches them, and with little memory they try for ever to
 * get more, so that no process ends that has them. Only its environment keeps it from that, and so
 * it is loaded by hand, after a word to it.
 *
 * On a processor that is newer than itself it takes its oldest kernels, which are four times
 * slower. Then it is told which ones the processor is able to run, and loaded again.
 */
#include "model/kernels/kernels.h"

#include "model/kernels/cpu.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIBRARY "libopenblas.so.0"
/* What it maps when it is loaded: itself, and a buffer of 128 MiB from 0.3.29 on. It asks for the
 * buffer again and again where there is no room. */
#define MAPPED_BYTES ((size_t)192 << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __typeof__(cblas_sgemm) *sgemm;
static struct mt_error failure;

/* POSIX wants functions to survive this, ISO C knows no way from an object to a function. */
static void find(void *library, const char *name, void *function, size_t n_bytes)
{
    void *symbol = dlsym(library, name);
    assert(n_bytes == sizeof symbol);
    memcpy(function, &symbol, n_bytes);
}

static bool has_room(void)
{
    void *room =
        mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, MAPPED_BYTES) == 0;
}

/* What OpenBLAS calls its kernels for 64-bit processors of 2004, which run everywhere. */
#define OLDEST_KERNELS "Prescott"

/* The name of kernels that the processor is able to run; NULL: the oldest. */
static const char *known_kernels(void)
{
    struct mt_cpu cpu = mt_cpu_detect();
    return cpu.has_avx512vnni ? "SkylakeX" : cpu.has_avx2 ? "Haswell" : NULL;
}

static bool has_oldest_kernels(void *library)
{
    __typeof__(openblas_get_corename) *get_corename = NULL;
    find(library, "openblas_get_corename", &get_corename, sizeof get_corename);
    return get_corename && strcmp(get_corename(), OLDEST_KERNELS) == 0;
}

/* Whoever has named kernels in the environment gets those. */
static void *open_library(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *kernels = known_kernels();
    if (!library || !kernels || getenv("OPENBLAS_CORETYPE") || !has_oldest_kernels(library))
        return library;
    if (setenv("OPENBLAS_CORETYPE", kernels, 1) != 0)
        return library;
    dlclose(library);
    return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* OpenBLAS built for one thread, as in Debian's libopenblas0-serial, may be called by one alone:
 * it gives the same buffer to two that come at once, and their sums are wrong. */
static void load(void)
{
    __typeof__(cblas_sgemm) *found = NULL;
    __typeof__(openblas_get_parallel) *get_parallel = NULL;
    if (!has_room()) {
        (void)!mt_fail_memory(&failure, MAPPED_BYTES, "OpenBLAS, which fp32 takes");
        return;
    }
    void *library = setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0 ? open_library() : NULL;
    if (!library) {
        const char *reason = dlerror();
        (void)!mt_fail(&failure, MT_IO, "fp32 takes OpenBLAS: %s",
                       reason ? reason : "out of memory");
        return;
    }
    find(library, "cblas_sgemm", &found, sizeof found);
    find(library, "openblas_get_parallel", &get_parallel, sizeof get_parallel);
    if (!found || !get_parallel)
        (void)!mt_fail(&failure, MT_UNSUPPORTED, "fp32 takes OpenBLAS: %s has no %s", LIBRARY,
                       !found ? "cblas_sgemm" : "openblas_get_parallel");
    else if (get_parallel() == OPENBLAS_SEQUENTIAL)
        (void)!mt_fail(&failure, MT_UNSUPPORTED,
                       "fp32 takes an OpenBLAS that several threads may call: %s is built for one "
                       "(Debian's libopenblas0-pthread is not)",
                       LIBRARY);
    else
        sgemm = found;
}

enum mt_status mt_blas_open(struct mt_error *err)
{
    pthread_once(&once, load);
    return sgemm ? MT_OK : mt_fail(err, failure.status, "%s", failure.message);
}

void mt_linear_f32(const float *x, size_t ldx, size_t n_rows, const float *w, const float *bias,
                   size_t n_in, size_t n_out, float *y, size_t ldy)
{
    assert(sgemm);
    assert(n_rows <= INT_MAX && n_in <= INT_MAX && n_out <= INT_MAX && ldx <= INT_MAX &&
           ldy <= INT_MAX);
    for (size_t m = 0; m < n_rows; m++) {
        if (bias)
            memcpy(y + m * ldy, bias, n_out * sizeof *y);
        else
            memset(y + m * ldy, 0, n_out * sizeof *y);
    }
    sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n_rows, (blasint)n_out, (blasint)n_in,
          1.0f, x, (blasint)ldx, w, (blasint)n_in, 1.0f, y, (blasint)ldy);
}
