/*
 * The int8 linear layer on AVX2 without VNNI.
 *
 * vpmaddubsw multiplies unsigned by signed bytes but saturates the sum of two products to 16 bits,
 * and 255 * 127 * 2 does not fit. With a' = a - 128 the sign moves to the weights: |a'| * (sign(a')
 * w) is the same product, and 128 * 127 * 2 = 32,512 fits. The 128 that every activation lacks is
 * added at the end, as a zero point that is smaller by 128.
 *
 * |a'| and a' of all rows are prepared before, four k at a time, so that the loop loads each by one
 * broadcast:
 *
 *   row [k/4] { a'[4], |a'|[4] }
 */
#include "model/kernels/avx2.h"

#include "model/kernels/ymm_columns.h"

#include <stdalign.h>

#define OFFSET 128
#define ROWS_AT_ONCE 4              /* 8 accumulators */
#define SPLIT_BYTES ((size_t)32768) /* on the stack; with a block of weights it stays in L2 */
#define PREFETCH_BYTES 2048

static void split_row(const uint8_t *a, size_t k_padded, int8_t *split)
{
    __m256i top = _mm256_set1_epi8((char)0x80);
    for (size_t k = 0; k < k_padded; k += 32) {
        __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const void *)(a + k)), top);
        __m256i magnitude = _mm256_abs_epi8(x);
        __m256i low = _mm256_unpacklo_epi32(x, magnitude); /* k/4 = 0 1 | 4 5 */
        __m256i high = _mm256_unpackhi_epi32(x, magnitude);
        _mm256_store_si256((void *)(split + 2 * k), _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_store_si256((void *)(split + 2 * k + 32),
                           _mm256_permute2x128_si256(low, high, 0x31));
    }
}

MT_INLINE __m256i broadcast4(const int8_t *bytes)
{
    int32_t four;
    memcpy(&four, bytes, sizeof four);
    return _mm256_set1_epi32(four);
}

MT_INLINE __m256i multiply_add(__m256i sum, __m256i x, __m256i magnitude, __m256i w)
{
    __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(w, x));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* Multiplies one block of columns by n_rows (a constant) rows, which are row_bytes apart. */
MT_INLINE void multiply_rows(const int8_t *w, const int8_t *split, size_t row_bytes,
                             size_t k_padded, size_t n_rows, __m256i sums[][2])
{
    MT_UNROLL
    for (size_t m = 0; m < n_rows; m++)
        sums[m][0] = sums[m][1] = _mm256_setzero_si256();
    for (size_t k = 0; k < k_padded; k += 4) {
        const int8_t *step = w + k * MT_PACK_COLUMNS;
        _mm_prefetch((const char *)step + PREFETCH_BYTES, _MM_HINT_T1);
        __m256i low = _mm256_load_si256((const void *)step);
        __m256i high = _mm256_load_si256((const void *)(step + 32));
        MT_UNROLL
        for (size_t m = 0; m < n_rows; m++) {
            const int8_t *row = split + m * row_bytes + 2 * k;
            __m256i x = broadcast4(row), magnitude = broadcast4(row + 4);
            sums[m][0] = multiply_add(sums[m][0], x, magnitude, low);
            sums[m][1] = multiply_add(sums[m][1], x, magnitude, high);
        }
    }
}

/* n_rows is a constant wherever this is inlined. */
MT_INLINE void block_rows(const struct mt_qgemm *g, const struct mt_ymm_columns *c, size_t first,
                          const int8_t *split, size_t n_rows, size_t m)
{
    __m256i sums[ROWS_AT_ONCE][2];
    multiply_rows(g->weights + first * g->k_padded, split, 2 * g->k_padded, g->k_padded, n_rows,
                  sums);
    MT_UNROLL
    for (size_t i = 0; i < n_rows; i++)
        mt_ymm_write_columns(g, c, m + i, first, OFFSET, sums[i][0], sums[i][1]);
}

static void block(const struct mt_qgemm *g, size_t first, const int8_t *split, size_t begin,
                  size_t end)
{
    struct mt_ymm_columns c = mt_ymm_columns_of(g, first);
    size_t m = begin, row_bytes = 2 * g->k_padded;
    for (; m + 4 <= end; m += 4)
        block_rows(g, &c, first, split + (m - begin) * row_bytes, 4, m);
    split += (m - begin) * row_bytes;
    switch (end - m) {
    case 3:
        block_rows(g, &c, first, split, 3, m);
        return;
    case 2:
        block_rows(g, &c, first, split, 2, m);
        return;
    case 1:
        block_rows(g, &c, first, split, 1, m);
        return;
    }
}

void mt_avx2_qgemm(const struct mt_qgemm *g)
{
    alignas(32) int8_t split[SPLIT_BYTES];
    size_t row_bytes = 2 * g->k_padded, rows = SPLIT_BYTES / row_bytes;
    if (!rows) {
        mt_kernels_reference.qgemm(g);
        return;
    }
    for (size_t begin = 0; begin < g->n_rows; begin += rows) {
        size_t end = mt_size_min(begin + rows, g->n_rows);
        for (size_t m = begin; m < end; m++)
            split_row(g->a + m * g->lda, g->k_padded, split + (m - begin) * row_bytes);
        for (size_t first = 0; first < g->n_columns; first += MT_PACK_COLUMNS)
            block(g, first, split, begin, end);
    }
    mt_ymm_activate_rows(g);
}

/* Limits of the machine. The empty assembly makes the compiler assume that an operand changes each
 * time; otherwise it would empty the loop. */

uint64_t mt_avx2_stream(const uint8_t *bytes, size_t n)
{
    enum { SUMS = MT_STREAM_BYTES / 32 };
    __m256i sums[SUMS];
    MT_UNROLL
    for (size_t j = 0; j < SUMS; j++)
        sums[j] = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += MT_STREAM_BYTES) {
        MT_UNROLL
        for (size_t j = 0; j < SUMS; j++) {
            if (j % 2 == 0)
                _mm_prefetch((const char *)bytes + i + 32 * j + PREFETCH_BYTES, _MM_HINT_T1);
            sums[j] =
                _mm256_add_epi64(sums[j], _mm256_load_si256((const void *)(bytes + i + 32 * j)));
        }
    }
    MT_UNROLL
    for (size_t j = 1; j < SUMS; j++)
        sums[0] = _mm256_add_epi64(sums[0], sums[j]);
    uint64_t parts[4];
    _mm256_storeu_si256((void *)parts, sums[0]);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

uint64_t mt_avx2_int8_peak(size_t n)
{
    enum { SUMS = 2 * ROWS_AT_ONCE };
    __m256i sums[SUMS], x = _mm256_set1_epi8(1), w = x;
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm256_set1_epi32((int)i);
    for (size_t round = 0; round < n; round++) {
        MT_UNROLL
        for (size_t i = 0; i < SUMS; i++) {
            __asm__ volatile("" : "+x"(w));
            sums[i] = multiply_add(sums[i], x, x, w);
        }
    }
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        __asm__ volatile("" ::"x"(sums[i]));
    return (uint64_t)n * SUMS * 32;
}

uint64_t mt_avx2_fp32_peak(size_t n)
{
    enum { SUMS = 10 }; /* two units, four or five cycles each */
    __m256 sums[SUMS], x = _mm256_set1_ps(1.0f), w = x;
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = _mm256_set1_ps((float)i);
    for (size_t round = 0; round < n; round++) {
        __asm__ volatile("" : "+x"(w));
        MT_UNROLL
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = _mm256_fmadd_ps(x, w, sums[i]);
    }
    MT_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        __asm__ volatile("" ::"x"(sums[i]));
    return (uint64_t)n * SUMS * 8;
}
