#include "tests/kernels/bench_kernels.h"

#include "base/size.h"
#include "model/kernels/canonical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The shapes of a base-size model: d_model 512, 8 heads, and a vocabulary of 54,688. */
enum { D_MODEL = 512, HEADS = 8, MAX_ROWS = 128, VOCABULARY = 54688, MAX_POSITIONS = 256 };
#define COLD_BYTES ((size_t)24 << 20) /* beyond any L2 */

/* Each thing is run again and again for so long. */
#define SECONDS_EACH 0.2
#define MAX_SAMPLES 2000

struct bench {
    const struct mt_kernels *kernels;
    const char *only;   /* run what has this in its name, or NULL */
    float *x, *y, *out; /* rows of floats, big enough for all shapes */
    struct mt_scored_token top[16];
    size_t n; /* of the shape being timed */
    enum mt_activation activation;
    struct mt_attend attend;
    size_t cold; /* where the next cold keys are */
    struct mt_qgemm gemm;
    struct mt_linear_f32 linear;
    unsigned char *bytes;
    size_t n_bytes;
    uint64_t count;  /* done by the last run, where it counts */
    double multiply; /* int8 multiply-adds per second; 0 where the table cannot say */
};

/* Time of this thread on a CPU: what others run in between does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A good time of one call, in seconds: the lower quartile, because a hypervisor's clock is now and
 * then wrong to the other side, too. Short calls are timed in groups. */
static double time_of(void (*run)(struct bench *), struct bench *b)
{
    double begin = now(), samples[MAX_SAMPLES];
    run(b);
    double once = now() - begin, total = 0.0;
    size_t group = once < 50e-6 ? (size_t)(50e-6 / (once + 1e-9)) + 1 : 1, n = 0;
    while (n < MAX_SAMPLES && (total < SECONDS_EACH || n < 4)) {
        begin = now();
        for (size_t i = 0; i < group; i++)
            run(b);
        double seconds = now() - begin;
        total += seconds;
        samples[n++] = seconds / (double)group;
    }
    qsort(samples, n, sizeof *samples, by_value);
    return samples[n / 4];
}

static void *take(size_t bytes)
{
    void *p = aligned_alloc(4096, mt_size_round_up(bytes, 4096));
    if (!p) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        exit(2);
    }
    memset(p, 1, bytes);
    return p;
}

/* Ceilings */

static void run_stream(struct bench *b)
{
    b->count = b->kernels->stream((const uint8_t *)b->bytes, b->n_bytes);
}

static void run_int8_peak(struct bench *b)
{
    b->count = b->kernels->int8_peak(1000);
}

static void run_fp32_peak(struct bench *b)
{
    b->count = b->kernels->fp32_peak(1000);
}

static void bench_ceilings(struct bench *b)
{
    static const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {
        {"16 KB (L1)", 16 << 10}, {"256 KB (L2)", 256 << 10}, {"4 MB", 4 << 20}, {"27 MB", 0}};
    b->bytes = take((size_t)VOCABULARY * D_MODEL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        b->n_bytes = sizes[i].bytes ? sizes[i].bytes : (size_t)VOCABULARY * D_MODEL;
        double rate = (double)b->n_bytes / time_of(run_stream, b);
        printf("  stream %-12s %35.1f GB/s\n", sizes[i].name, rate * 1e-9);
    }
    free(b->bytes);
    if (!b->kernels->int8_peak || !b->kernels->fp32_peak)
        return;
    double seconds = time_of(run_int8_peak, b);
    b->multiply = (double)b->count / seconds;
    printf("  int8 multiply-adds on registers %26.1f GMAC/s\n", b->multiply * 1e-9);
    seconds = time_of(run_fp32_peak, b);
    printf("  fp32 multiply-adds on registers %26.1f GMAC/s\n", (double)b->count / seconds * 1e-9);
}

/* Small kernels */

static void run_attend_f32(struct bench *b)
{
    b->kernels->attend_f32(&b->attend);
}

static void run_attend_f16(struct bench *b)
{
    b->kernels->attend_f16(&b->attend);
}

static void run_add_norm(struct bench *b)
{
    b->kernels->add_norm(b->x, b->y, b->x, b->y, 1e-5f, b->n, b->out);
}

static void run_activate(struct bench *b)
{
    memcpy(b->out, b->x, b->n * sizeof(float)); /* lest it run into denormals */
    b->kernels->activate(b->activation, b->out, b->n);
}

static void run_embed(struct bench *b)
{
    b->kernels->embed(b->x, 2.0f, b->y, b->n, b->out);
}

static void run_narrow(struct bench *b)
{
    b->kernels->narrow_f16(b->x, b->n, (uint16_t *)b->out);
}

static void run_sum_exp(struct bench *b)
{
    b->kernels->sum_exp(b->x, b->n, &b->out[0], &b->out[1]);
}

/* As in a large vocabulary: the best were seen long ago. */
static void run_merge_top(struct bench *b)
{
    b->kernels->merge_top(b->x, MT_SELECT_BLOCK, 1000000, b->n, b->top);
}

static void run_quantize(struct bench *b)
{
    int32_t zero;
    b->kernels->quantize(b->x, b->n, b->n, (uint8_t *)b->out, &b->y[0], &zero);
}

static bool is_wanted(const struct bench *b, const char *name)
{
    return !b->only || strstr(name, b->only);
}

static void report(struct bench *b, const char *name, size_t n, void (*run)(struct bench *))
{
    if (!is_wanted(b, name))
        return;
    b->n = n;
    printf("  %-22s n %5zu %27.0f ns\n", name, n, 1e9 * time_of(run, b));
}

/* Keys and values that were last seen long ago, as those of other layers and sentences push them
 * out of the caches. */
static void run_attend_cold(struct bench *b)
{
    size_t span = b->n * D_MODEL * sizeof(uint16_t);
    b->cold = b->cold + 2 * span <= COLD_BYTES - 2 * span ? b->cold + 2 * span : 0;
    b->attend.keys = b->bytes + b->cold;
    b->attend.values = b->bytes + b->cold + span;
    b->kernels->attend_f16(&b->attend);
}

static void bench_attend_cold(struct bench *b)
{
    b->bytes = take(COLD_BYTES);
    memset(b->bytes, 0, COLD_BYTES);
    b->attend.slots = NULL;
    b->attend.n = 25;
    report(b, "attend_f16 cold", 25, run_attend_cold);
    free(b->bytes);
}

static void bench_attend(struct bench *b)
{
    static const size_t positions[] = {1, 13, 25, 100};
    uint16_t slots[MAX_POSITIONS] = {0};
    size_t bytes = (size_t)MAX_POSITIONS * D_MODEL * sizeof(float);
    void *kv = take(2 * bytes);
    memset(kv, 0, 2 * bytes);
    b->attend = (struct mt_attend){
        .q = b->x,
        .n_queries = 1,
        .q_stride = D_MODEL,
        .out_stride = D_MODEL,
        .keys = kv,
        .values = (char *)kv + bytes,
        .stride = D_MODEL,
        .n_heads = HEADS,
        .d_k = D_MODEL / HEADS,
        .weights = b->y,
        .out = b->out,
    };
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        b->attend.n = positions[i];
        b->attend.slots = NULL;
        report(b, "attend_f32 8 x 64", positions[i], run_attend_f32);
        report(b, "attend_f16 8 x 64", positions[i], run_attend_f16);
        b->attend.n_queries = MT_ATTEND_QUERIES;
        report(b, "attend_f32, 4 queries", positions[i], run_attend_f32);
        report(b, "attend_f16, 4 queries", positions[i], run_attend_f16);
        b->attend.n_queries = 1;
        b->attend.slots = slots;
        report(b, "attend_f16 with slots", positions[i], run_attend_f16);
    }
    bench_attend_cold(b);
    free(kv);
}

static void bench_small(struct bench *b)
{
    report(b, "add_norm", D_MODEL, run_add_norm);
    b->activation = MT_RELU;
    report(b, "activate relu", 4 * D_MODEL, run_activate);
    b->activation = MT_SILU;
    report(b, "activate silu", 4 * D_MODEL, run_activate);
    report(b, "embed", D_MODEL, run_embed);
    report(b, "narrow_f16", D_MODEL, run_narrow);
    report(b, "quantize", D_MODEL, run_quantize);
    report(b, "quantize", 4 * D_MODEL, run_quantize);
    report(b, "sum_exp", MT_SELECT_BLOCK, run_sum_exp);
    for (size_t i = 0; i < 16; i++)
        b->top[i] = (struct mt_scored_token){.id = (int32_t)i, .logit = 1e6f};
    report(b, "merge_top, best of", 1, run_merge_top);
    report(b, "merge_top, best of", 8, run_merge_top);
}

/* The int8 linear layer: in calls of MT_SELECT_BLOCK columns, as the projection to the vocabulary
 * does. */

static void run_qgemm(struct bench *b)
{
    for (size_t first = 0; first < b->n; first += MT_SELECT_BLOCK) {
        struct mt_qgemm g = b->gemm;
        g.weights += first * g.k_padded;
        g.n_columns = mt_size_min(MT_SELECT_BLOCK, b->n - first);
        b->kernels->qgemm(&g);
    }
}

/* Beside the reading of as many bytes, which lie in the same cache. */
static void bench_qgemm_shape(struct bench *b, size_t n, size_t k)
{
    static const size_t rows[] = {1, 2, 4, 8, 16, 32, 64, 128};
    char name[40];
    snprintf(name, sizeof name, "qgemm %5zu x %-4zu", n, k);
    if (!is_wanted(b, name))
        return;
    int8_t *weights = take(n * k);
    uint8_t *a = take(MAX_ROWS * k);
    int32_t sums[MT_SELECT_BLOCK] = {0}, zeros[MAX_ROWS] = {0};
    b->gemm = (struct mt_qgemm){
        .a = a,
        .lda = k,
        .a_scale = b->x,
        .a_zero = zeros,
        .weights = weights,
        .scales = b->x,
        .column_sums = sums,
        .bias = b->x,
        .k_padded = k,
        .y = b->out,
        .ldy = MT_SELECT_BLOCK,
    };
    b->n = n;
    b->bytes = (unsigned char *)weights;
    b->n_bytes = n * k;
    double read = time_of(run_stream, b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        b->gemm.n_rows = rows[i];
        double seconds = time_of(run_qgemm, b), bytes = (double)n * (double)k;
        double macs = bytes * (double)rows[i];
        double compute = b->multiply > 0.0 ? macs / b->multiply : 0.0;
        double limit = read > compute ? read : compute;
        printf("  %s rows %3zu %9.1f us %6.1f GB/s %7.1f GMAC/s %4.0f %% of the "
               "%s\n",
               name, rows[i], seconds * 1e6, bytes / seconds * 1e-9, macs / seconds * 1e-9,
               100.0 * limit / seconds, read > compute ? "stream" : "multiply-adds");
    }
    free(weights);
    free(a);
}

/* The fp32 linear layer. */

static void run_linear(struct bench *b)
{
    b->kernels->linear_f32(&b->linear);
}

static void bench_linear_shape(struct bench *b, size_t n, size_t k)
{
    static const size_t rows[] = {1, 8, 32, 128};
    char name[40];
    snprintf(name, sizeof name, "linear %5zu x %-4zu", n, k);
    if (!is_wanted(b, name))
        return;
    float *weights = take(n * k * sizeof *weights), *y = take(MAX_ROWS * n * sizeof *y);
    for (size_t i = 0; i < n * k; i++)
        weights[i] = b->x[i % k];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        b->linear = (struct mt_linear_f32){.x = b->x,
                                           .ldx = k,
                                           .n_rows = rows[i],
                                           .w = weights,
                                           .n_in = k,
                                           .n_columns = n,
                                           .y = y,
                                           .ldy = n};
        double seconds = time_of(run_linear, b);
        printf("  %s rows %3zu %9.1f us %7.1f GMAC/s\n", name, rows[i], seconds * 1e6,
               (double)n * (double)k * (double)rows[i] / seconds * 1e-9);
    }
    free(weights);
    free(y);
}

void bench_table(const struct mt_kernels *kernels, const char *only)
{
    struct bench b = {.kernels = kernels, .only = only};
    size_t n = mt_size_max((size_t)MAX_ROWS * 4 * D_MODEL,
                           (size_t)MT_ATTEND_QUERIES * HEADS * MAX_POSITIONS);
    b.x = take(n * sizeof *b.x);
    b.y = take(n * sizeof *b.y);
    b.out = take(n * sizeof *b.out);
    for (size_t i = 0; i < n; i++)
        b.x[i] = b.y[i] = (float)(i * 7919 % 1009) * 2e-3f - 1.0f;
    printf("%s\n", kernels->name);
    bench_ceilings(&b);
    bench_attend(&b);
    bench_small(&b);
    bench_linear_shape(&b, 512, 512);
    bench_linear_shape(&b, 512, 2048);
    bench_qgemm_shape(&b, 512, 512);
    bench_qgemm_shape(&b, 2048, 512);
    bench_qgemm_shape(&b, 512, 2048);
    bench_qgemm_shape(&b, VOCABULARY, 512);
    free(b.x);
    free(b.y);
    free(b.out);
}
