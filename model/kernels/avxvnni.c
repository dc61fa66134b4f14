/*
 * AVX-VNNI: vpdpbusd on 256-bit registers, for CPUs without AVX512. As on AVX2 a block of columns
 * has two registers of weights, but signs need no special treatment (avx512vnni.c, avx2_qgemm.c).
 */
#include "model/kernels/avx2.h"
#include "model/kernels/ymm_columns.h"

#define ROWS_AT_ONCE 6 /* 12 accumulators of 16 registers */
#define PREFETCH_BYTES 2048

MT_INLINE __m256i broadcast4(const uint8_t *a)
{
    int32_t four;
    memcpy(&four, a, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Multiplies one block of columns by n_rows (a constant) rows from m on. */
MT_INLINE void multiply(const struct mt_qgemm *g, const struct mt_ymm_columns *c, size_t first,
                        size_t m, size_t n_rows)
{
    const int8_t *w = g->weights + first * g->k_padded;
    const uint8_t *a = g->a + m * g->lda;
    __m256i sums[ROWS_AT_ONCE][2];
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        sums[i][0] = sums[i][1] = _mm256_setzero_si256();
    for (size_t k = 0; k < g->k_padded; k += 4) {
        const int8_t *step = w + k * MT_PACK_COLUMNS;
        _mm_prefetch((const char *)step + PREFETCH_BYTES, _MM_HINT_T1);
        __m256i low = _mm256_load_si256((const void *)step);
        __m256i high = _mm256_load_si256((const void *)(step + 32));
        MT_UNROLL
        for (size_t i = 0; i < n_rows; i++) {
            __m256i x = broadcast4(a + i * g->lda + k);
            sums[i][0] = _mm256_dpbusd_avx_epi32(sums[i][0], x, low);
            sums[i][1] = _mm256_dpbusd_avx_epi32(sums[i][1], x, high);
        }
    }
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        mt_ymm_write_columns(g, c, m + i, first, 0, sums[i][0], sums[i][1]);
}

static void multiply_rows(const struct mt_qgemm *g, const struct mt_ymm_columns *c, size_t first,
                          size_t m, size_t n_rows)
{
    switch (n_rows) { /* the compiler needs constants, to keep the sums in registers */
    case 1:
        multiply(g, c, first, m, 1);
        return;
    case 2:
        multiply(g, c, first, m, 2);
        return;
    case 3:
        multiply(g, c, first, m, 3);
        return;
    case 4:
        multiply(g, c, first, m, 4);
        return;
    case 5:
        multiply(g, c, first, m, 5);
        return;
    case 6:
        multiply(g, c, first, m, 6);
        return;
    }
}

static void qgemm(const struct mt_qgemm *g)
{
    size_t n_groups = (g->n_rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS) {
        struct mt_ymm_columns c = mt_ymm_columns_of(g, first);
        for (size_t group = 0; group < n_groups; group++) {
            size_t begin = g->n_rows * group / n_groups, end = g->n_rows * (group + 1) / n_groups;
            multiply_rows(g, &c, first, begin, end - begin);
        }
    }
    mt_ymm_activate_rows(g);
}

static uint64_t int8_peak(size_t n)
{
    enum { SUMS = 2 * ROWS_AT_ONCE };
    __m256i sums[SUMS], x = _mm256_set1_epi8(1), w = x;
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm256_set1_epi32((int)i);
    for (size_t round = 0; round < n; round++) {
        __asm__ volatile("" : "+x"(w)); /* otherwise the loop would be emptied */
        MT_UNROLL
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = _mm256_dpbusd_avx_epi32(sums[i], x, w);
    }
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        __asm__ volatile("" ::"x"(sums[i]));
    return (uint64_t)n * SUMS * 32;
}

const struct mt_kernels mt_kernels_avxvnni = {
    .name = "avxvnni",
    .attend_f32 = mt_avx2_attend_f32,
    .attend_f16 = mt_avx2_attend_f16,
    .add_norm = mt_avx2_add_norm,
    .linear_f32 = mt_avx2_linear_f32,
    .activate = mt_avx2_activate,
    .ssru = mt_avx2_ssru,
    .embed = mt_avx2_embed,
    .narrow_f16 = mt_avx2_narrow_f16,
    .sum_exp = mt_avx2_sum_exp,
    .merge_top = mt_avx2_merge_top,
    .quantize = mt_avx2_quantize,
    .qgemm = qgemm,
    .stream = mt_avx2_stream,
    .int8_peak = int8_peak,
    .fp32_peak = mt_avx2_fp32_peak,
};
