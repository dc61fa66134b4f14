/*
 * SSE4.1: x86 processors without AVX2 (Intel's from 2008 to 2013 and later Atoms, AMD's from 2011
 * to 2015). The int8 linear layer is AVX2's (avx2_qgemm.c explains the signs), on registers of half
 * the length.
 */
#include "model/kernels/v4_columns.h"

#include "weights/dtype.h"

#include <stdalign.h>

#define OFFSET 128
#define ROWS_AT_ONCE 2              /* 8 accumulators of 16 registers */
#define SPLIT_BYTES ((size_t)32768) /* on the stack; with a block of weights it stays in L2 */
#define PREFETCH_BYTES 2048

/* Writes row [k/4] { a'[4], |a'|[4] }, a' = a - 128. */
static void split_row(const uint8_t *a, size_t k_padded, int8_t *split)
{
    __m128i top = _mm_set1_epi8((char)0x80);
    for (size_t k = 0; k < k_padded; k += 16) {
        __m128i x = _mm_xor_si128(_mm_loadu_si128((const void *)(a + k)), top);
        __m128i magnitude = _mm_abs_epi8(x);
        _mm_store_si128((void *)(split + 2 * k), _mm_unpacklo_epi32(x, magnitude));
        _mm_store_si128((void *)(split + 2 * k + 16), _mm_unpackhi_epi32(x, magnitude));
    }
}

MT_V4_INLINE __m128i multiply_add(__m128i sum, __m128i x, __m128i magnitude, __m128i w)
{
    __m128i pairs = _mm_maddubs_epi16(magnitude, _mm_sign_epi8(w, x));
    return _mm_add_epi32(sum, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}

/* Multiplies one block of columns by n_rows (a constant) rows from m on. */
MT_V4_INLINE void multiply(const struct mt_qgemm *g, const struct mt_v4_columns *c, size_t first,
                           const int8_t *split, size_t m, size_t n_rows)
{
    const int8_t *w = g->weights + first * g->k_padded;
    __m128i sums[ROWS_AT_ONCE][MT_V4_PARTS];
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        MT_V4_UNROLL
    for (size_t p = 0; p < MT_V4_PARTS; p++)
        sums[i][p] = _mm_setzero_si128();
    for (size_t k = 0; k < g->k_padded; k += 4) {
        const int8_t *step = w + k * MT_PACK_COLUMNS;
        mt_prefetch(step + PREFETCH_BYTES);
        __m128i x[ROWS_AT_ONCE], magnitude[ROWS_AT_ONCE];
        MT_V4_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m128i both = _mm_loadl_epi64((const void *)(split + 2 * (i * g->k_padded + k)));
            x[i] = _mm_shuffle_epi32(both, 0x00);
            magnitude[i] = _mm_shuffle_epi32(both, 0x55);
        }
        MT_V4_UNROLL
        for (size_t p = 0; p < MT_V4_PARTS; p++) {
            __m128i four = _mm_load_si128((const void *)(step + 16 * p));
            MT_V4_UNROLL
            for (size_t i = 0; i < n_rows; i++)
                sums[i][p] = multiply_add(sums[i][p], x[i], magnitude[i], four);
        }
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        mt_v4_write_columns(g, c, m + i, first, OFFSET, sums[i]);
}

static void qgemm(const struct mt_qgemm *g)
{
    alignas(16) int8_t split[SPLIT_BYTES];
    size_t row_bytes = 2 * g->k_padded, rows = SPLIT_BYTES / row_bytes;
    if (!rows) {
        mt_kernels_reference.qgemm(g);
        return;
    }
    for (size_t begin = 0; begin < g->n_rows; begin += rows) {
        size_t end = mt_size_min(begin + rows, g->n_rows);
        for (size_t m = begin; m < end; m++)
            split_row(g->a + m * g->lda, g->k_padded, split + (m - begin) * row_bytes);
        for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
            struct mt_v4_columns c = mt_v4_columns_of(g, first);
            size_t m = begin;
            for (; m + ROWS_AT_ONCE <= end; m += ROWS_AT_ONCE)
                multiply(g, &c, first, split + (m - begin) * row_bytes, m, ROWS_AT_ONCE);
            if (m < end)
                multiply(g, &c, first, split + (m - begin) * row_bytes, m, 1);
        }
    }
    mt_v4_activate_rows(g);
}

static uint64_t stream(const uint8_t *bytes, size_t n)
{
    enum { SUMS = 8 };
    __m128i sums[SUMS];
    MT_V4_UNROLL
    for (size_t j = 0; j < SUMS; j++)
        sums[j] = _mm_setzero_si128();
    for (size_t i = 0; i < n; i += 16 * SUMS) {
        MT_V4_UNROLL
        for (size_t j = 0; j < SUMS; j++) {
            if (j % 4 == 0)
                mt_prefetch(bytes + i + 16 * j + PREFETCH_BYTES);
            sums[j] = _mm_add_epi64(sums[j], _mm_load_si128((const void *)(bytes + i + 16 * j)));
        }
    }
    uint64_t total = 0;
    MT_V4_UNROLL
    for (size_t j = 0; j < SUMS; j++) {
        uint64_t parts[2];
        _mm_storeu_si128((void *)parts, sums[j]);
        total += parts[0] + parts[1];
    }
    return total;
}

static uint64_t int8_peak(size_t n)
{
    enum { SUMS = ROWS_AT_ONCE * MT_V4_PARTS };
    __m128i sums[SUMS], x = _mm_set1_epi8(1), w = x;
    MT_V4_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm_set1_epi32((int)i);
    for (size_t round = 0; round < n; round++) {
        MT_V4_UNROLL
        for (size_t i = 0; i < SUMS; i++) {
            __asm__ volatile("" : "+x"(w));
            sums[i] = multiply_add(sums[i], x, x, w);
        }
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        __asm__ volatile("" ::"x"(sums[i]));
    return (uint64_t)n * SUMS * 16;
}

/* Narrows the keys and values that are appended, which are few; there is no instruction for it. */
static void narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = mt_f32_to_f16(x[i]);
}

const struct mt_kernels mt_kernels_sse41 = {
    .name = "sse41",
    .attend_f32 = mt_v4_attend_f32,
    .attend_f16 = mt_v4_attend_f16,
    .add_norm = mt_v4_add_norm,
    .linear_f32 = mt_v4_linear_f32,
    .activate = mt_v4_activate,
    .ssru = mt_v4_ssru,
    .embed = mt_v4_embed,
    .narrow_f16 = narrow_f16,
    .sum_exp = mt_v4_sum_exp,
    .merge_top = mt_v4_merge_top,
    .quantize = mt_v4_quantize,
    .qgemm = qgemm,
    .stream = stream,
    .int8_peak = int8_peak,
    .fp32_peak = mt_v4_fp32_peak,
};
