/*
 * AVX512-VNNI: vpdpbusd multiplies four unsigned by four signed bytes and adds them to an int32,
 * without saturation: one instruction for 16 columns and 4 k. Attention has a file of its own.
 * Most other kernels are those for AVX2, whose registers are the eight canonical lanes: LayerNorm
 * and the search for the best logits were no faster on registers of twice the size.
 */
#include "model/kernels/avx512vnni.h"

#include "model/kernels/avx2.h"
#include "model/kernels/zmm_columns.h"

#include <stdalign.h>

#define ROWS_AT_ONCE \
    8 /* with two blocks of columns these take 16 accumulators; from 24 on gcc spills registers */
#define MAX_CHAINS 4

/* How far ahead of the multiply-adds weights are prefetched for few rows. The hardware prefetches,
 * too, but far enough only if there is a single row. */
#define AHEAD_ONE_ROW 4096
#define AHEAD_FEW_ROWS 16384

MT_INLINE __m512i broadcast4(const uint8_t *a)
{
    int32_t four;
    memcpy(&four, a, sizeof four);
    return _mm512_set1_epi32(four);
}

/*
 * Few rows are limited by memory: weights are read in the order of memory, one block of columns
 * after the other. Each sum is computed in n_chains parts, so that multiply-adds need not wait for
 * the previous one: Intel's cores begin two per cycle, and each takes five. n_rows and n_chains are
 * constants.
 */
MT_INLINE void multiply_few(const struct mt_qgemm *g, size_t n_rows, size_t n_chains)
{
    const size_t ahead = n_rows == 1 ? AHEAD_ONE_ROW : AHEAD_FEW_ROWS;
    const int8_t *w = g->weights;
    for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
        __m512i sums[ROWS_AT_ONCE][MAX_CHAINS];
        MT_UNROLL
        for (size_t i = 0; i < n_rows * n_chains; i++)
            sums[i / n_chains][i % n_chains] = _mm512_setzero_si512();
        for (size_t k = 0; k < g->k_padded; k += 4 * n_chains) {
            MT_UNROLL
            for (size_t j = 0; j < n_chains; j++, w += 4 * MT_PACK_COLUMNS) {
                _mm_prefetch((const char *)w + ahead, _MM_HINT_T1);
                __m512i y = _mm512_load_si512(w);
                MT_UNROLL
                for (size_t i = 0; i < n_rows; i++) {
                    __m512i x = broadcast4(g->a + i * g->lda + k + 4 * j);
                    sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], x, y);
                }
            }
        }
        struct mt_zmm_columns c = mt_zmm_columns_of(g, first);
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            MT_UNROLL
            for (size_t j = 1; j < n_chains; j++)
                sums[i][0] = _mm512_add_epi32(sums[i][0], sums[i][j]);
            mt_zmm_write_columns(g, &c, i, first, sums[i][0]);
        }
    }
}

/* Many rows are limited by multiply-adds: groups of rows are multiplied by two blocks of columns,
 * so that a register of either is used more than once. */
struct tile {
    const uint8_t *a;
    size_t lda;
    const int8_t *w;
    size_t k_padded;
    const char *fetch; /* every group prefetches a part of the next weights */
    size_t fetch_step; /* bytes that are prefetched for each register of this tile's weights */
};

/* Computes the sums of n_rows rows times n_blocks blocks of columns, both constants. The sums are
 * returned in memory: with the end of the layer in the same function gcc would spill them in the
 * loop. */
MT_INLINE void multiply(const struct tile *t, size_t n_blocks, size_t n_rows,
                        __m512i out[ROWS_AT_ONCE][2])
{
    size_t block = t->k_padded * MT_PACK_COLUMNS;
    const char *fetch = t->fetch;
    __m512i sums[ROWS_AT_ONCE][2];
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        sums[i][0] = sums[i][1] = _mm512_setzero_si512();
    for (size_t k = 0; k < t->k_padded; k += 4, fetch += t->fetch_step) {
        const int8_t *w = t->w + k * MT_PACK_COLUMNS;
        __m512i low = _mm512_load_si512(w), high = low;
        _mm_prefetch(fetch, _MM_HINT_T0);
        if (n_blocks == 2) {
            high = _mm512_load_si512(w + block);
            _mm_prefetch(fetch + block, _MM_HINT_T0);
        }
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m512i x = broadcast4(t->a + i * t->lda + k);
            sums[i][0] = _mm512_dpbusd_epi32(sums[i][0], x, low);
            if (n_blocks == 2)
                sums[i][1] = _mm512_dpbusd_epi32(sums[i][1], x, high);
        }
    }
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        for (size_t b = 0; b < n_blocks; b++)
            out[i][b] = sums[i][b];
}

/* The compiler needs constants, to keep the sums in registers. */
static void multiply_one_block(const struct tile *t, size_t n_rows, __m512i out[ROWS_AT_ONCE][2])
{
    switch (n_rows) {
    case 1:
        multiply(t, 1, 1, out);
        return;
    case 2:
        multiply(t, 1, 2, out);
        return;
    case 3:
        multiply(t, 1, 3, out);
        return;
    case 4:
        multiply(t, 1, 4, out);
        return;
    case 5:
        multiply(t, 1, 5, out);
        return;
    case 6:
        multiply(t, 1, 6, out);
        return;
    case 7:
        multiply(t, 1, 7, out);
        return;
    case 8:
        multiply(t, 1, 8, out);
        return;
    }
}

static void multiply_two_blocks(const struct tile *t, size_t n_rows, __m512i out[ROWS_AT_ONCE][2])
{
    switch (n_rows) {
    case 1:
        multiply(t, 2, 1, out);
        return;
    case 2:
        multiply(t, 2, 2, out);
        return;
    case 3:
        multiply(t, 2, 3, out);
        return;
    case 4:
        multiply(t, 2, 4, out);
        return;
    case 5:
        multiply(t, 2, 5, out);
        return;
    case 6:
        multiply(t, 2, 6, out);
        return;
    case 7:
        multiply(t, 2, 7, out);
        return;
    case 8:
        multiply(t, 2, 8, out);
        return;
    }
}

/* Prefetches the lines of the output before the sums are computed: it takes long to get lines that
 * another core had last, and the stores are in order. */
static void fetch_outputs(const struct mt_qgemm *g, size_t begin, size_t end, size_t first,
                          size_t n_blocks)
{
    for (size_t m = begin; m < end; m++)
        for (size_t b = 0; b < n_blocks; b++)
            __builtin_prefetch(g->y + m * g->ldy + first + b * MT_PACK_COLUMNS, 1);
}

/* Multiplies all rows, in groups of nearly equal size, by one or two blocks of columns. */
static void multiply_all(const struct mt_qgemm *g, size_t first, size_t n_blocks)
{
    size_t n_groups = (g->n_rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    struct tile t = {.lda = g->lda,
                     .w = g->weights + first * g->k_padded,
                     .k_padded = g->k_padded,
                     .fetch_step = 4 * MT_PACK_COLUMNS / n_groups};
    t.fetch = (const char *)t.w + n_blocks * MT_PACK_COLUMNS * g->k_padded;
    struct mt_zmm_columns c[2] = {mt_zmm_columns_of(g, first)};
    if (n_blocks == 2)
        c[1] = mt_zmm_columns_of(g, first + MT_PACK_COLUMNS);
    for (size_t group = 0; group < n_groups; group++) {
        size_t begin = g->n_rows * group / n_groups, end = g->n_rows * (group + 1) / n_groups;
        __m512i sums[ROWS_AT_ONCE][2];
        t.a = g->a + begin * g->lda;
        fetch_outputs(g, begin, end, first, n_blocks);
        if (n_blocks == 2)
            multiply_two_blocks(&t, end - begin, sums);
        else
            multiply_one_block(&t, end - begin, sums);
        t.fetch += t.fetch_step * (g->k_padded / 4);
        for (size_t m = begin; m < end; m++)
            for (size_t b = 0; b < n_blocks; b++)
                mt_zmm_write_columns(g, &c[b], m, first + b * MT_PACK_COLUMNS, sums[m - begin][b]);
    }
}

static void multiply_many(const struct mt_qgemm *g)
{
    size_t first = 0;
    for (; first + MT_PACK_COLUMNS < g->n_columns; first += 2 * MT_PACK_COLUMNS)
        multiply_all(g, first, 2);
    if (first < g->n_columns)
        multiply_all(g, first, 1);
}

void mt_avx512vnni_qgemm(const struct mt_qgemm *g)
{
    switch (g->n_rows) {
    case 1:
        multiply_few(g, 1, 4);
        break;
    case 2:
        multiply_few(g, 2, 4);
        break;
    case 3:
        multiply_few(g, 3, 2);
        break;
    case 4:
        multiply_few(g, 4, 2);
        break;
    case 5:
        multiply_few(g, 5, 2);
        break;
    case 6:
        multiply_few(g, 6, 2);
        break;
    default:
        multiply_many(g);
        break;
    }
    mt_ymm_activate_rows(g);
}

/* Logits */

/* Loads up to sixteen numbers, followed by -infinity. */
MT_INLINE __m512 load16(const float *x, size_t n)
{
    return _mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), mt_zmm_first(n), x);
}

/* Returns the largest of up to sixteen numbers; x > max ? x : max skips NaN. */
MT_INLINE __m512 largest16(const float *x, size_t n)
{
    __m512 a = _mm512_set1_ps(-INFINITY), b = a;
    for (size_t i = 0; i < n; i += 32) {
        a = _mm512_max_ps(load16(x + i, n - i), a);
        if (i + 16 < n)
            b = _mm512_max_ps(load16(x + i + 16, n - i - 16), b);
    }
    return _mm512_max_ps(a, b);
}

/* Sums have eight lanes, as canonical.h demands: sixteen numbers are added in two steps. */
void mt_avx512vnni_sum_exp(const float *x, size_t n, float *max, float *sum)
{
    __m512 largest = largest16(x, n);
    __m256 offset = mt_ymm_max(_mm256_max_ps(mt_zmm_low8(largest), mt_zmm_high8(largest)));
    __m512 offsets = _mm512_set1_ps(_mm256_cvtss_f32(offset));
    __m256 total = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 16) {
        __m512 e = mt_zmm_exp(_mm512_sub_ps(load16(x + i, n - i), offsets));
        total = _mm256_add_ps(total, mt_zmm_low8(e));
        total = _mm256_add_ps(total, mt_zmm_high8(e));
    }
    *max = _mm256_cvtss_f32(offset) + 0.0f;
    *sum = mt_ymm_sum(total);
}

/* Quantisation */

/* The range as for AVX2, with sixteen numbers at a time. */
struct range {
    __m512 low, high;
    __mmask16 nans;
};

MT_INLINE void widen(struct range *range, __m512 v)
{
    range->low = _mm512_min_ps(v, range->low); /* the second operand if one is NaN */
    range->high = _mm512_max_ps(v, range->high);
    range->nans |= _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
}

MT_INLINE struct range range_of(const float *x, size_t n)
{
    struct range a = {_mm512_setzero_ps(), _mm512_setzero_ps(), 0}, b = a;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        widen(&a, _mm512_loadu_ps(x + i));
        widen(&b, _mm512_loadu_ps(x + i + 16));
    }
    for (; i < n; i += 16) /* zeros behind the tail do not widen the range */
        widen(&a, _mm512_maskz_loadu_ps(mt_zmm_first(n - i), x + i));
    return (struct range){_mm512_min_ps(a.low, b.low), _mm512_max_ps(a.high, b.high),
                          (__mmask16)(a.nans | b.nans)};
}

/* Computes round(x * inverse) + zero, 0 to 255; NaN becomes 0, because its conversion is
 * INT32_MIN. */
MT_INLINE __m128i quantized16(__m512 x, __m512 inverse, __m512i zero)
{
    __m512i v = _mm512_add_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(x, inverse)), zero);
    return _mm512_cvtusepi32_epi8(_mm512_max_epi32(v, _mm512_setzero_si512()));
}

static void quantize_row(const float *x, size_t n, float inverse, int32_t zero, uint8_t *q)
{
    __m512 factor = _mm512_set1_ps(inverse);
    __m512i offset = _mm512_set1_epi32(zero);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm_storeu_si128((void *)(q + i), quantized16(_mm512_loadu_ps(x + i), factor, offset));
    if (i < n) {
        __m512 rest = _mm512_maskz_loadu_ps(mt_zmm_first(n - i), x + i);
        uint8_t bytes[16];
        _mm_storeu_si128((void *)bytes, quantized16(rest, factor, offset));
        memcpy(q + i, bytes, n - i);
    }
}

void mt_avx512vnni_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                            int32_t *zero)
{
    struct range parts = range_of(x, n);
    __m256 low = _mm256_min_ps(mt_zmm_low8(parts.low), mt_zmm_high8(parts.low));
    __m256 high = _mm256_max_ps(mt_zmm_low8(parts.high), mt_zmm_high8(parts.high));
    float smallest = mt_ymm_smallest(low);
    float range = _mm256_cvtss_f32(mt_ymm_max(high)) - smallest;
    if (!mt_quantize_begin(smallest, range, parts.nans != 0, scale, zero)) {
        memset(q, 0, n_padded);
        return;
    }
    quantize_row(x, n, 255.0f / range, *zero, q);
    memset(q + n, 0, n_padded - n);
}

/* The functions below measure what the machine can do at most. The sums begin with different
 * numbers, and the compiler is told that an operand changes in memory, because otherwise it would
 * simplify the loops. */

uint64_t mt_avx512vnni_stream(const uint8_t *bytes, size_t n)
{
    enum { SUMS = MT_STREAM_BYTES / 64 };
    __m512i sums[SUMS];
    MT_UNROLL
    for (size_t j = 0; j < SUMS; j++)
        sums[j] = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += MT_STREAM_BYTES) {
        MT_UNROLL
        for (size_t j = 0; j < SUMS; j++) {
            _mm_prefetch((const char *)bytes + i + 64 * j + AHEAD_ONE_ROW, _MM_HINT_T1);
            sums[j] = _mm512_add_epi32(sums[j], _mm512_load_si512(bytes + i + 64 * j));
        }
    }
    MT_UNROLL
    for (size_t j = 1; j < SUMS; j++)
        sums[0] = _mm512_add_epi32(sums[0], sums[j]);
    uint32_t parts[16];
    memcpy(parts, &sums[0], sizeof parts);
    uint64_t total = 0;
    for (size_t j = 0; j < 16; j++)
        total += parts[j];
    return total;
}

uint64_t mt_avx512vnni_int8_peak(size_t n)
{
    enum { SUMS = 2 * ROWS_AT_ONCE };
    alignas(64) int8_t bytes[64] = {1};
    __m512i sums[SUMS], x = _mm512_set1_epi32(0x01010101);
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm512_set1_epi32((int)i);
    for (size_t round = 0; round < n; round++) {
        __asm__ volatile("" : "+m"(bytes));
        __m512i w = _mm512_load_si512(bytes);
        MT_UNROLL
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], x, w);
    }
    __m512i out[SUMS];
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        out[i] = sums[i];
    __asm__ volatile("" ::"m"(out));
    return (uint64_t)n * SUMS * 64;
}

uint64_t mt_avx512vnni_fp32_peak(size_t n)
{
    enum { SUMS = 10 }; /* two units, four cycles each */
    float numbers[16] = {1};
    __m512 sums[SUMS], x = _mm512_set1_ps(1.0f);
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm512_set1_ps((float)i);
    for (size_t round = 0; round < n; round++) {
        __asm__ volatile("" : "+m"(numbers));
        __m512 w = _mm512_loadu_ps(numbers);
        MT_UNROLL
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = _mm512_fmadd_ps(x, w, sums[i]);
    }
    __m512 out[SUMS];
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        out[i] = sums[i];
    __asm__ volatile("" ::"m"(out));
    return (uint64_t)n * SUMS * 16;
}

const struct mt_kernels mt_kernels_avx512vnni = {
    .name = "avx512vnni",
    .attend_f32 = mt_avx512vnni_attend_f32,
    .attend_f16 = mt_avx512vnni_attend_f16,
    .add_norm = mt_avx2_add_norm,
    .linear_f32 = mt_avx512vnni_linear_f32,
    .activate = mt_avx2_activate,
    .ssru = mt_avx2_ssru,
    .embed = mt_avx2_embed,
    .narrow_f16 = mt_avx2_narrow_f16,
    .sum_exp = mt_avx512vnni_sum_exp,
    .merge_top = mt_avx2_merge_top,
    .quantize = mt_avx512vnni_quantize,
    .qgemm = mt_avx512vnni_qgemm,
    .stream = mt_avx512vnni_stream,
    .int8_peak = mt_avx512vnni_int8_peak,
    .fp32_peak = mt_avx512vnni_fp32_peak,
};
