#include "model/costs.h"

#include "base/clock.h"
#include "base/size.h"
#include "model/files/weights.h"
#include "model/kernels/canonical.h"
#include "model/kernels/kernels.h"

#include <stdint.h>
#include <stdlib.h>

/* Each is the best of so many rounds, since what disturbs one only slows it; but no further round
 * begins after so long. */
#define ROUNDS 4
#define MAX_NS 5000000

/* As many rows as the fastest kernels take at a time. */
#define ROWS 16

/* Most of what is read: beyond that all of it comes from memory. */
#define MAX_READ_BYTES ((size_t)64 << 20)

/* One core of a Zen 5 server, AVX512-VNNI, and a model of 72 million parameters. */
static const struct mt_costs usual = {.read_ns = 0.025, .multiply_ns = 0.004};

/* What keeps the compiler from leaving out what nobody reads. */
static uint64_t keep(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

struct task {
    const struct mt_kernels *kernels;
    const uint8_t *bytes;
    size_t n_bytes;
    struct mt_qgemm gemm;
};

static void read_all(const struct task *task)
{
    (void)keep(task->kernels->stream(task->bytes, task->n_bytes));
}

static void multiply(const struct task *task)
{
    task->kernels->qgemm(&task->gemm);
}

static void multiply_fp32(const struct task *task)
{
    (void)keep(task->kernels->fp32_peak(task->n_bytes));
}

/* Nanoseconds, after a first round that is not counted: caches are filled then, and what lies on the
 * disk is read. */
static double time_of(void (*run)(const struct task *), const struct task *task)
{
    run(task);
    int64_t first_ns = mt_now_ns(), begin_ns = first_ns, best_ns = INT64_MAX;
    for (int round = 0; round < ROUNDS && begin_ns - first_ns <= MAX_NS; round++) {
        run(task);
        int64_t now = mt_now_ns();
        if (now - begin_ns < best_ns)
            best_ns = now - begin_ns;
        begin_ns = now;
    }
    return best_ns < 1 ? 1.0 : (double)best_ns;
}

static double read_ns_per_byte(struct task *task, const void *weights, size_t n_bytes)
{
    uintptr_t begin = mt_size_round_up((uintptr_t)weights, 64);
    size_t n =
        mt_size_min(n_bytes - mt_size_min(n_bytes, begin - (uintptr_t)weights), MAX_READ_BYTES) /
        MT_STREAM_BYTES * MT_STREAM_BYTES;
    if (n == 0)
        return usual.read_ns;
    task->bytes = (const uint8_t *)begin;
    task->n_bytes = n;
    return time_of(read_all, task) / (double)n;
}

static enum mt_status measure_int8(struct task *task, const struct mt_linear *output,
                                   struct mt_costs *costs, struct mt_error *err)
{
    size_t n_columns = mt_size_min(output->n_out, MT_SELECT_BLOCK), k = output->k_padded;
    size_t a_bytes = mt_size_round_up(ROWS * k, 64), y_bytes = ROWS * n_columns * sizeof(float);
    uint8_t *a = aligned_alloc(64, a_bytes);
    float *y = malloc(y_bytes);
    if (!a || !y) {
        free(a);
        free(y);
        return mt_fail_memory(err, a_bytes + y_bytes, "measuring what a step costs");
    }
    float scales[ROWS];
    int32_t zeros[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++)
        scales[i] = 1.0f;
    for (size_t i = 0; i < ROWS * k; i++)
        a[i] = (uint8_t)i;
    task->gemm = (struct mt_qgemm){.a = a,
                                   .lda = k,
                                   .a_scale = scales,
                                   .a_zero = zeros,
                                   .n_rows = ROWS,
                                   .weights = output->weights,
                                   .scales = output->scales,
                                   .column_sums = output->column_sums,
                                   .bias = output->bias,
                                   .k_padded = k,
                                   .n_columns = n_columns,
                                   .y = y,
                                   .ldy = n_columns};
    costs->multiply_ns = time_of(multiply, task) / (double)(ROWS * n_columns * k);
    costs->read_ns = read_ns_per_byte(task, output->weights, output->n_out * k);
    free(a);
    free(y);
    return MT_OK;
}

static void measure_fp32(struct task *task, const struct mt_linear *output, struct mt_costs *costs)
{
    if (!task->kernels->fp32_peak)
        return;
    const struct mt_linear_part *part = &output->parts[0];
    size_t n_bytes = output->n_in * output->n_out * sizeof(float);
    costs->read_ns = read_ns_per_byte(task, part->weight, n_bytes) * sizeof(float);
    task->n_bytes = 1000; /* rounds of the loop */
    costs->multiply_ns = time_of(multiply_fp32, task) / (double)task->kernels->fp32_peak(1000);
}

enum mt_status mt_costs_measure(const struct mt_kernels *kernels, const struct mt_linear *output,
                                struct mt_costs *costs, struct mt_error *err)
{
    struct task task = {.kernels = kernels};
    *costs = usual;
    if (output->n_parts == 0)
        return measure_int8(&task, output, costs, err);
    measure_fp32(&task, output, costs);
    return MT_OK;
}
