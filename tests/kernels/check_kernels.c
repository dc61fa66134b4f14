/*
 * Compares every table of kernels that this CPU can run with the C reference, bit by bit, on random
 * shapes and on numbers that break kernels; a NaN equals any NaN. The int8 layers for CPUs that
 * this is not are checked with their instructions emulated. With --bench, times what the CPU has
 * instead (bench_kernels.c).
 *
 *   check_kernels [--bench [--only KERNEL]] [--kernels NAME] [--seed N] [--one-in N]
 *
 * --one-in N checks one of N cases, for an emulated processor.
 */
#include "tests/kernels/bench_kernels.h"
#include "tests/kernels/emulated.h"
#include "tests/kernels/guarded.h"

#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/kernels/kernels.h"
#include "weights/dtype.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    const struct mt_kernels *fast, *reference;
    struct dice dice;
    struct guarded memory;
    char what[160]; /* the case, for messages */
    size_t one_in;  /* of so many cases one is checked */
    size_t n_begun, n_cases, n_failures;
};

#define FAILURES_SHOWN 20

static const size_t lengths[] = {1,   2,   3,   5,   7,   8,    9,    13,  15,  16,
                                 17,  31,  32,  33,  63,  64,   65,   127, 128, 129,
                                 255, 256, 257, 509, 512, 1021, 1024, 2048};
#define N_LENGTHS (sizeof lengths / sizeof *lengths)

static float *take_floats(struct check *c, enum numbers kind, size_t n)
{
    float *x = guarded_take(&c->memory, n, sizeof *x);
    dice_floats(&c->dice, kind, x, n);
    return x;
}

/* The same bytes twice: one for each implementation to change. */
static void *take_copy(struct check *c, const void *from, size_t count, size_t size)
{
    void *copy = guarded_take(&c->memory, count, size);
    memcpy(copy, from, count * size);
    return copy;
}

static void fail(struct check *c, const char *what, size_t at, double got, double expected)
{
    if (++c->n_failures <= FAILURES_SHOWN)
        fprintf(stderr, "%s: %s: %s[%zu] is %.9g, expected %.9g\n", c->fast->name, c->what, what,
                at, got, expected);
}

/* False where the case is left out. */
__attribute__((format(printf, 2, 3))) static bool begin_case(struct check *c, const char *format,
                                                             ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->what, sizeof c->what, format, arguments);
    va_end(arguments);
    return c->n_begun++ % c->one_in == 0;
}

static void end_case(struct check *c)
{
    c->n_cases++;
    guarded_free(&c->memory);
}

static void same_floats(struct check *c, const char *what, const float *got, const float *expected,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0 &&
            !(isnan(got[i]) && isnan(expected[i]))) {
            fail(c, what, i, (double)got[i], (double)expected[i]);
            return;
        }
    }
}

static void same_bytes(struct check *c, const char *what, const uint8_t *got,
                       const uint8_t *expected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (got[i] != expected[i]) {
            fail(c, what, i, got[i], expected[i]);
            return;
        }
    }
}

static void same_halves(struct check *c, const char *what, const uint16_t *got,
                        const uint16_t *expected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float a = mt_f16_to_f32(got[i]), b = mt_f16_to_f32(expected[i]);
        if (got[i] != expected[i] && !(isnan(a) && isnan(b))) {
            fail(c, what, i, (double)a, (double)b);
            return;
        }
    }
}

/* Attention */

static void *take_kv(struct check *c, bool is_f16, enum numbers kind, size_t n)
{
    float *x = take_floats(c, kind, n);
    if (!is_f16)
        return x;
    uint16_t *halves = guarded_take(&c->memory, n, sizeof *halves);
    for (size_t i = 0; i < n; i++)
        halves[i] = mt_f32_to_f16(x[i]);
    return halves;
}

static void check_attend(struct check *c, bool is_f16, enum numbers kind, struct mt_attend a)
{
    enum { SLOTS = 3 };
    size_t d = a.n_heads * a.d_k, span = (a.n - 1) * a.stride + d;
    if (!begin_case(c, "attend_%s queries %zu n %zu heads %zu d_k %zu stride %zu slots %d kind %d",
                    is_f16 ? "f16" : "f32", a.n_queries, a.n, a.n_heads, a.d_k, a.stride,
                    a.slots != NULL, (int)kind))
        return;
    if (a.slots) {
        uint16_t *slots = guarded_take(&c->memory, a.n, sizeof *slots);
        for (size_t t = 0; t < a.n; t++)
            slots[t] = (uint16_t)dice_below(&c->dice, SLOTS);
        a.slots = slots;
        a.slot_stride = a.n * a.stride + dice_below(&c->dice, 5);
        span += (SLOTS - 1) * a.slot_stride;
    }
    a.q_stride = d + dice_below(&c->dice, 2) * 3;
    a.out_stride = d + dice_below(&c->dice, 2) * 5;
    a.q = take_floats(c, kind == NUMBERS_WIDE ? NUMBERS_PLAIN : kind,
                      (a.n_queries - 1) * a.q_stride + d);
    a.keys = take_kv(c, is_f16, kind, span);
    a.values = take_kv(c, is_f16, kind, span);
    struct mt_attend b = a;
    size_t n_weights = a.n_queries * a.n_heads * a.n, n_out = (a.n_queries - 1) * a.out_stride + d;
    a.weights = guarded_take(&c->memory, n_weights, sizeof(float));
    a.out = guarded_take(&c->memory, n_out, sizeof(float));
    b.weights = guarded_take(&c->memory, n_weights, sizeof(float));
    b.out = guarded_take(&c->memory, n_out, sizeof(float));
    (is_f16 ? c->fast->attend_f16 : c->fast->attend_f32)(&a);
    (is_f16 ? c->reference->attend_f16 : c->reference->attend_f32)(&b);
    same_floats(c, "weights", a.weights, b.weights, n_weights);
    same_floats(c, "out", a.out, b.out, n_out); /* between the rows is still 0xA5 */
    end_case(c);
}

/* Of models' own shapes, which some kernels read in another order. */
static void check_long_attends(struct check *c)
{
    static const size_t positions[] = {95, 96, 97, 200, 513};
    static const uint16_t some_slots[1] = {0};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
        for (int variant = 0; variant < 16; variant++) {
            size_t n_heads = variant & 4 ? 16 : 8, d_k = variant & 8 ? 64 : 32;
            struct mt_attend a = {.n = positions[i],
                                  .n_queries = 1 + dice_below(&c->dice, 5),
                                  .n_heads = n_heads,
                                  .d_k = d_k,
                                  .stride = n_heads * d_k + dice_below(&c->dice, 2) * 7,
                                  .slots = variant & 2 ? some_slots : NULL};
            check_attend(c, variant & 1, (enum numbers)dice_below(&c->dice, NUMBERS_KINDS), a);
        }
}

static void check_attends(struct check *c)
{
    static const size_t d_ks[] = {1, 8, 12, 16, 24, 32, 33, 40, 64, 72, 80, 96, 100, 128};
    static const size_t positions[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13,
                                       15, 16, 17, 20, 25, 31, 32, 33, 63, 65, 130};
    static const uint16_t some_slots[1] = {0};
    for (size_t i = 0; i < sizeof d_ks / sizeof *d_ks; i++) {
        for (size_t j = 0; j < sizeof positions / sizeof *positions; j++) {
            for (int variant = 0; variant < 4; variant++) {
                size_t n_heads = 1 + dice_below(&c->dice, 8);
                struct mt_attend a = {
                    .n = positions[j],
                    .n_queries = 1 + dice_below(&c->dice, 9),
                    .n_heads = n_heads,
                    .d_k = d_ks[i],
                    .stride = n_heads * d_ks[i] + dice_below(&c->dice, 2) * 7,
                    .slots = variant & 2 ? some_slots : NULL,
                };
                check_attend(c, variant & 1, (enum numbers)dice_below(&c->dice, NUMBERS_KINDS), a);
            }
        }
    }
}

/* Rows of floats */

static void check_add_norm(struct check *c, size_t n, enum numbers kind, bool has_y, bool in_place,
                           bool is_rms)
{
    if (!begin_case(c, "add_norm n %zu kind %d y %d in place %d rms %d", n, (int)kind, has_y,
                    in_place, is_rms))
        return;
    float *x = take_floats(c, kind, n), *y = has_y ? take_floats(c, kind, n) : NULL;
    float *gamma = take_floats(c, NUMBERS_PLAIN, n);
    float *beta = is_rms ? NULL : take_floats(c, NUMBERS_PLAIN, n);
    float *expected = guarded_take(&c->memory, n, sizeof *expected);
    float *got = in_place ? x : guarded_take(&c->memory, n, sizeof *got);
    c->reference->add_norm(x, y, gamma, beta, 1e-5f, n, expected);
    c->fast->add_norm(x, y, gamma, beta, 1e-5f, n, got);
    same_floats(c, "out", got, expected, n);
    end_case(c);
}

static void check_activate(struct check *c, size_t n, enum numbers kind, enum mt_activation act)
{
    if (!begin_case(c, "activate %d n %zu kind %d", (int)act, n, (int)kind))
        return;
    float *expected = take_floats(c, kind, n);
    if (kind == NUMBERS_PLAIN) {
        for (size_t i = 0; i < n; i++)
            expected[i] *= 100.0f; /* the whole range of exp */
    }
    float *got = take_copy(c, expected, n, sizeof *got);
    c->reference->activate(act, expected, n);
    c->fast->activate(act, got, n);
    same_floats(c, "x", got, expected, n);
    end_case(c);
}

static void check_ssru(struct check *c, size_t n, enum numbers kind, bool is_first, bool in_place)
{
    if (!begin_case(c, "ssru n %zu kind %d first %d in place %d", n, (int)kind, is_first, in_place))
        return;
    float *x = take_floats(c, kind, n), *gate = take_floats(c, kind, n);
    float *previous = is_first ? NULL : take_floats(c, kind, n);
    for (size_t i = 0; i < n && kind == NUMBERS_PLAIN; i++)
        gate[i] *= 100.0f; /* the whole range of exp */
    float *expected = guarded_take(&c->memory, n, sizeof *expected),
          *expected_out = guarded_take(&c->memory, n, sizeof *expected);
    c->reference->ssru(x, gate, previous, n, expected, expected_out);
    bool is_over = in_place && !is_first;
    float *got = is_over ? previous : guarded_take(&c->memory, n, sizeof *got),
          *got_out = in_place ? x : guarded_take(&c->memory, n, sizeof *got);
    c->fast->ssru(x, gate, previous, n, got, got_out);
    same_floats(c, "next", got, expected, n);
    same_floats(c, "out", got_out, expected_out, n);
    end_case(c);
}

static void check_embed(struct check *c, size_t n, enum numbers kind)
{
    if (!begin_case(c, "embed n %zu kind %d", n, (int)kind))
        return;
    float *table = take_floats(c, kind, n), *position = take_floats(c, NUMBERS_PLAIN, n);
    float *expected = guarded_take(&c->memory, n, sizeof *expected);
    float *got = dice_below(&c->dice, 2) ? guarded_take(&c->memory, n, sizeof *got) : table;
    float scale = dice_float(&c->dice) * 32.0f;
    c->reference->embed(table, scale, position, n, expected);
    c->fast->embed(table, scale, position, n, got);
    same_floats(c, "out", got, expected, n);
    end_case(c);
}

static void check_narrow(struct check *c, size_t n, enum numbers kind)
{
    if (!begin_case(c, "narrow_f16 n %zu kind %d", n, (int)kind))
        return;
    float *x = take_floats(c, kind, n);
    uint16_t *expected = guarded_take(&c->memory, n, sizeof *expected);
    uint16_t *got = guarded_take(&c->memory, n, sizeof *got);
    c->reference->narrow_f16(x, n, expected);
    c->fast->narrow_f16(x, n, got);
    same_halves(c, "out", got, expected, n);
    end_case(c);
}

static void check_quantize(struct check *c, size_t n, enum numbers kind)
{
    size_t n_padded = mt_size_round_up(n, MT_PACK_K);
    if (!begin_case(c, "quantize n %zu kind %d", n, (int)kind))
        return;
    float *x = take_floats(c, kind, n), scales[2];
    uint8_t *expected = guarded_take(&c->memory, n_padded, 1);
    uint8_t *got = guarded_take(&c->memory, n_padded, 1);
    int32_t zeros[2];
    float shift = dice_float(&c->dice) * (float)dice_below(&c->dice, 3);
    for (size_t i = 0; i < n && kind == NUMBERS_PLAIN; i++)
        x[i] += shift; /* all positive, all negative, or both */
    c->reference->quantize(x, n, n_padded, expected, &scales[0], &zeros[0]);
    c->fast->quantize(x, n, n_padded, got, &scales[1], &zeros[1]);
    same_bytes(c, "q", got, expected, n_padded);
    same_floats(c, "scale", &scales[1], &scales[0], 1);
    if (zeros[1] != zeros[0])
        fail(c, "zero", 0, zeros[1], zeros[0]);
    end_case(c);
}

static void check_rows(struct check *c)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (enum numbers kind = 0; kind < NUMBERS_KINDS; kind++) {
            size_t n = lengths[i];
            for (int variant = 0; variant < 8; variant++)
                check_add_norm(c, n, kind, variant & 1, variant & 2, variant & 4);
            for (int act = 0; act < MT_ACTIVATIONS; act++)
                check_activate(c, n, kind, (enum mt_activation)act);
            for (int variant = 0; variant < 4; variant++)
                check_ssru(c, n, kind, variant & 1, variant & 2);
            check_embed(c, n, kind);
            check_narrow(c, n, kind);
            check_quantize(c, n, kind);
        }
    }
}

/* Logits */

static void check_sum_exp(struct check *c, size_t n, enum numbers kind)
{
    if (!begin_case(c, "sum_exp n %zu kind %d", n, (int)kind))
        return;
    float *x = take_floats(c, kind, n), expected[2], got[2];
    for (size_t i = 0; i < n; i++)
        x[i] *= 30.0f;
    c->reference->sum_exp(x, n, &expected[0], &expected[1]);
    c->fast->sum_exp(x, n, &got[0], &got[1]);
    same_floats(c, "max, sum", got, expected, 2);
    end_case(c);
}

static void check_merge_top(struct check *c, size_t n, size_t n_top, enum numbers kind)
{
    enum { CALLS = 4 };
    if (!begin_case(c, "merge_top n %zu n_top %zu kind %d", n, n_top, (int)kind))
        return;
    struct mt_scored_token *got = guarded_take(&c->memory, n_top, sizeof *got);
    for (size_t i = 0; i < n_top; i++)
        got[i] = (struct mt_scored_token){.id = -1};
    struct mt_scored_token *expected = take_copy(c, got, n_top, sizeof *got);
    for (size_t call = 0; call < CALLS; call++) {
        float *x = take_floats(c, kind, n);
        bool is_coarse = dice_below(&c->dice, 2);
        for (size_t i = 0; i < n && is_coarse; i++)
            x[i] = rintf(x[i] * 4.0f); /* many equal logits */
        c->reference->merge_top(x, n, (int32_t)(call * n), n_top, expected);
        c->fast->merge_top(x, n, (int32_t)(call * n), n_top, got);
    }
    for (size_t i = 0; i < n_top; i++) {
        if (got[i].id != expected[i].id) {
            fail(c, "top id", i, got[i].id, expected[i].id);
            break;
        }
        if (got[i].id >= 0)
            same_floats(c, "top logit", &got[i].logit, &expected[i].logit, 1);
    }
    end_case(c);
}

static void check_logits(struct check *c)
{
    static const size_t tops[] = {0, 1, 2, 3, 8, 13, 64};
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (enum numbers kind = 0; kind < NUMBERS_KINDS; kind++) {
            if (lengths[i] <= MT_SELECT_BLOCK)
                check_sum_exp(c, lengths[i], kind);
            for (size_t j = 0; j < sizeof tops / sizeof *tops; j++)
                check_merge_top(c, lengths[i], tops[j], kind);
        }
    }
}

/* The fp32 linear layer */

static void check_linear(struct check *c, size_t n_rows, size_t n_in, size_t n_columns,
                         enum numbers kind)
{
    struct mt_linear_f32 l = {
        .n_rows = n_rows,
        .n_in = n_in,
        .n_columns = n_columns,
        .ldx = n_in + dice_below(&c->dice, 2) * 3,
        .ldy = n_columns + dice_below(&c->dice, 2) * 5,
    };
    if (!begin_case(c, "linear_f32 rows %zu k %zu columns %zu kind %d", n_rows, n_in, n_columns,
                    (int)kind))
        return;
    l.x = take_floats(c, kind, (n_rows - 1) * l.ldx + n_in);
    l.w = take_floats(c, NUMBERS_PLAIN, n_columns * n_in);
    l.bias = dice_below(&c->dice, 3) ? take_floats(c, NUMBERS_PLAIN, n_columns) : NULL;
    size_t y_size = (n_rows - 1) * l.ldy + n_columns;
    float *got = guarded_take(&c->memory, y_size, sizeof *got);
    float *expected = guarded_take(&c->memory, y_size, sizeof *expected);
    l.y = expected;
    c->reference->linear_f32(&l);
    l.y = got;
    c->fast->linear_f32(&l);
    same_floats(c, "y", got, expected, y_size); /* what lies between the rows is still 0xA5 */
    end_case(c);
}

static void check_linears(struct check *c)
{
    static const size_t columns[] = {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 130};
    for (size_t rows = 1; rows <= 40; rows++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            check_linear(c, rows, lengths[dice_below(&c->dice, N_LENGTHS - 4)], columns[i],
                         (enum numbers)dice_below(&c->dice, NUMBERS_KINDS));
    for (size_t i = 0; i < N_LENGTHS; i++)
        for (size_t rows = 1; rows <= 13; rows++)
            check_linear(c, rows, lengths[i], 1 + dice_below(&c->dice, 9), NUMBERS_PLAIN);
    check_linear(c, 200, 1500, 70, NUMBERS_PLAIN);
}

/* The int8 linear layer */

/* Weights as kernels.h wants them: padding zero, column sums true. */
static void take_weights(struct check *c, struct mt_qgemm *g, size_t k, bool is_extreme)
{
    size_t n_blocks = (g->n_columns + MT_PACK_COLUMNS - 1) / MT_PACK_COLUMNS;
    size_t block = MT_PACK_COLUMNS * g->k_padded;
    int8_t *w = guarded_take(&c->memory, n_blocks, block);
    int32_t *sums = guarded_take(&c->memory, g->n_columns, sizeof *sums);
    memset(w, 0, n_blocks * block);
    for (size_t n = 0; n < g->n_columns; n++) {
        sums[n] = 0;
        for (size_t i = 0; i < k; i++) {
            int v = is_extreme ? (dice_below(&c->dice, 16) ? 127 : -127)
                               : (int)dice_below(&c->dice, 255) - 127;
            size_t column = n % MT_PACK_COLUMNS;
            w[n / MT_PACK_COLUMNS * block + i / 4 * (MT_PACK_COLUMNS * 4) + column * 4 + i % 4] =
                (int8_t)v;
            sums[n] += v;
        }
    }
    g->weights = w;
    g->column_sums = sums;
}

static void take_activations(struct check *c, struct mt_qgemm *g, size_t k, bool is_extreme)
{
    uint8_t *a = guarded_take(&c->memory, (g->n_rows - 1) * g->lda + g->k_padded, 1);
    int32_t *zero = guarded_take(&c->memory, g->n_rows, sizeof *zero);
    for (size_t m = 0; m < g->n_rows; m++) {
        zero[m] = (int32_t)dice_below(&c->dice, 256);
        uint8_t *row = a + m * g->lda;
        memset(row + k, 0, g->k_padded - k);
        for (size_t i = 0; i < k; i++)
            row[i] = is_extreme ? (dice_below(&c->dice, 16) ? 255 : 0)
                                : (uint8_t)dice_below(&c->dice, 256);
    }
    g->a = a;
    g->a_zero = zero;
}

static void check_qgemm(struct check *c, size_t n_rows, size_t k, size_t n_columns)
{
    struct mt_qgemm g = {
        .n_rows = n_rows,
        .k_padded = mt_size_round_up(k, MT_PACK_K),
        .n_columns = n_columns,
        .ldy = n_columns + dice_below(&c->dice, 2) * 5,
        .has_activation = dice_below(&c->dice, 2),
        .activation = (enum mt_activation)dice_below(&c->dice, MT_ACTIVATIONS),
    };
    bool is_extreme = dice_below(&c->dice, 4) == 0;
    g.lda = g.k_padded + dice_below(&c->dice, 2) * MT_PACK_K;
    if (!begin_case(c, "qgemm rows %zu k %zu columns %zu activation %d extreme %d", n_rows, k,
                    n_columns, g.has_activation ? (int)g.activation : -1, is_extreme))
        return;
    take_weights(c, &g, k, is_extreme);
    take_activations(c, &g, k, is_extreme);
    g.a_scale = take_floats(c, NUMBERS_PLAIN, n_rows);
    g.scales = take_floats(c, NUMBERS_PLAIN, n_columns);
    g.bias = dice_below(&c->dice, 3) ? take_floats(c, NUMBERS_PLAIN, n_columns) : NULL;
    size_t y_size = (n_rows - 1) * g.ldy + n_columns;
    float *got = guarded_take(&c->memory, y_size, sizeof *got);
    float *expected = guarded_take(&c->memory, y_size, sizeof *expected);
    g.y = expected;
    c->reference->qgemm(&g);
    g.y = got;
    c->fast->qgemm(&g);
    same_floats(c, "y", got, expected, y_size); /* what lies between the rows is still 0xA5 */
    end_case(c);
}

static void check_qgemms(struct check *c)
{
    static const size_t columns[] = {1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48, 64, 65, 100};
    static const size_t ks[] = {1, 3, 63, 64, 65, 128, 192, 256, 320, 512, 1024, 2048};
    for (size_t rows = 1; rows <= 130; rows++) {
        for (size_t i = 0; i < 3; i++)
            check_qgemm(c, rows, ks[dice_below(&c->dice, 8)], columns[dice_below(&c->dice, 16)]);
    }
    for (size_t i = 0; i < 12; i++) {
        for (size_t j = 0; j < 16; j++)
            check_qgemm(c, 1 + dice_below(&c->dice, 36), ks[i], columns[j]);
    }
    check_qgemm(c, 1, 512, 2048);
    check_qgemm(c, 2, 1000, 512);
    check_qgemm(c, 5, 4096, 33);
    check_qgemm(c, 17, 8192, 16);
    check_qgemm(c, 33, 20000, 33);
}

static void check_stream(struct check *c)
{
    _Alignas(64) uint8_t bytes[3 * MT_STREAM_BYTES] = {0};
    uint64_t before = c->fast->stream(bytes, sizeof bytes);
    if (!begin_case(c, "stream"))
        return;
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        bytes[i] = 1;
        if (c->fast->stream(bytes, sizeof bytes) == before)
            fail(c, "stream", i, 0.0, 1.0);
        bytes[i] = 0;
    }
    end_case(c);
}

static void check_peaks(struct check *c)
{
    if (!begin_case(c, "peaks"))
        return;
    if (c->fast->int8_peak && c->fast->int8_peak(6) != 2 * c->fast->int8_peak(3))
        fail(c, "int8_peak", 0, 0.0, 1.0);
    if (c->fast->fp32_peak && c->fast->fp32_peak(6) != 2 * c->fast->fp32_peak(3))
        fail(c, "fp32_peak", 0, 0.0, 1.0);
    end_case(c);
}

static bool check_table(const struct mt_kernels *fast, const struct mt_kernels *reference,
                        uint64_t seed, size_t one_in)
{
    struct check c = {.fast = fast, .reference = reference, .dice = {seed}, .one_in = one_in};
    check_attends(&c);
    check_long_attends(&c);
    check_rows(&c);
    check_logits(&c);
    if (!fast->has_foreign_sums) /* test_sgemm.c */
        check_linears(&c);
    check_qgemms(&c);
    check_stream(&c);
    check_peaks(&c);
    printf("%s: %zu cases, %zu differ from the reference (seed %llu)\n", fast->name, c.n_cases,
           c.n_failures, (unsigned long long)seed);
    return c.n_failures == 0;
}

static bool is_wanted(const struct mt_kernels *table, const char *name)
{
    return !name || strcmp(table->name, name) == 0;
}

/* What this CPU lacks, where it has the AVX2 that the rest of those kernels needs. */
static bool check_emulated(const struct mt_kernels *reference, const char *name, uint64_t seed,
                           size_t one_in)
{
    bool is_same = true;
#if defined(MT_HAS_EMULATED)
    const struct mt_kernels *const tables[] = {&emulated_amx, &emulated_avx512vnni,
                                               &emulated_avxvnni};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!is_wanted(tables[i], name))
            continue;
        struct check c = {
            .fast = tables[i], .reference = reference, .dice = {seed}, .one_in = one_in};
        check_linears(&c);
        check_qgemms(&c);
        check_peaks(&c);
        printf("%s, emulated: %zu cases, %zu differ from the reference (seed %llu)\n",
               tables[i]->name, c.n_cases, c.n_failures, (unsigned long long)seed);
        is_same &= c.n_failures == 0;
    }
#else
    (void)reference, (void)name, (void)seed, (void)one_in;
#endif
    return is_same;
}

static bool has_avx2(const struct mt_kernels *const *tables, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i]->name, "avx2") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const char *name = NULL, *only = NULL;
    bool is_bench = false, is_same = true;
    uint64_t seed = 1;
    size_t one_in = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0)
            is_bench = true;
        else if (strcmp(argv[i], "--kernels") == 0 && i + 1 < argc)
            name = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--one-in") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            one_in = (size_t)atoi(argv[++i]);
        else {
            fprintf(
                stderr,
                "usage: %s [--bench [--only KERNEL]] [--kernels NAME] [--seed N] [--one-in N]\n",
                argv[0]);
            return 2;
        }
    }
    size_t n;
    const struct mt_kernels *const *tables = mt_kernels_available(&n);
    const struct mt_kernels *reference = tables[n - 1];
    for (size_t i = 0; i < n; i++) {
        if (!is_wanted(tables[i], name))
            continue;
        if (is_bench)
            bench_table(tables[i], only);
        else if (tables[i] != reference)
            is_same &= check_table(tables[i], reference, seed, one_in);
    }
    if (!is_bench && has_avx2(tables, n))
        is_same &= check_emulated(reference, name, seed, one_in);
    return is_same ? 0 : 1;
}
