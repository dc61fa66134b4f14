/*
 * Attention on 512-bit registers: one holds the eight canonical lanes (canonical.h) of two keys, or
 * sixteen elements of a value.
 */
#include "model/kernels/avx512vnni.h"

#include "base/size.h"
#include "model/kernels/avx2.h"
#include "model/kernels/reference.h"
#include "model/kernels/ymm_attend.h"
#include "model/kernels/zmm.h"

/* Loads 16 numbers of fp32 or binary16. It is always inlined with a constant is_f16. */
MT_INLINE __m512 load16(const void *kv, size_t at, bool is_f16)
{
    if (is_f16)
        return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)((const uint16_t *)kv + at)));
    return _mm512_loadu_ps((const float *)kv + at);
}

/* Loads eight numbers twice. */
MT_INLINE __m512 twice(const float *x)
{
    return _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_castps_pd(_mm256_loadu_ps(x))));
}

/* Return the first halves of two registers, and the second halves. */
MT_INLINE __m512 first_halves(__m512 x, __m512 y)
{
    return _mm512_shuffle_f32x4(x, y, 0x44);
}

MT_INLINE __m512 second_halves(__m512 x, __m512 y)
{
    return _mm512_shuffle_f32x4(x, y, 0xEE);
}

/* Does what _mm256_hadd_ps does, for both halves. */
MT_INLINE __m512 add_neighbours(__m512 x, __m512 y)
{
    return _mm512_add_ps(_mm512_shuffle_ps(x, y, 0x88), _mm512_shuffle_ps(x, y, 0xDD));
}

/* Returns the canonical sums of eight times eight lanes; v[j] has those of j and j + 4. */
MT_INLINE __m256 eight_sums(const __m512 v[4])
{
    __m512 h = add_neighbours(add_neighbours(v[0], v[1]), add_neighbours(v[2], v[3]));
    __m512 swapped = _mm512_shuffle_f32x4(h, h, 0x31); /* quarters 1, 0, 3, 0 */
    __m512 sums = _mm512_add_ps(h, swapped);           /* quarters 0 and 2 count */
    return mt_zmm_low8(_mm512_shuffle_f32x4(sums, sums, 0x08));
}

/* Computes the products of positions t to t + 8. Of these, positions from n on do not exist, and
 * the last one is used instead. */
MT_INLINE void score_keys(const struct mt_attend *a, size_t t, bool is_f16)
{
    __m256 scale = _mm256_set1_ps(1.0f / sqrtf((float)a->d_k));
    size_t at[8];
    MT_UNROLL
    for (size_t j = 0; j < 8; j++)
        at[j] = mt_attend_at(a, mt_size_min(t + j, a->n - 1));
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t head = h * a->d_k;
        __m512 sums[4];
        mt_attend_prefetch(a, head, at, 8, is_f16);
        MT_UNROLL
        for (size_t j = 0; j < 4; j++)
            sums[j] = _mm512_setzero_ps();
        for (size_t i = head; i < head + a->d_k; i += 16) {
            __m512 low = twice(a->q + i), high = twice(a->q + i + 8);
            MT_UNROLL
            for (size_t j = 0; j < 4; j++) {
                __m512 x = load16(a->keys, at[j] + i, is_f16);
                __m512 y = load16(a->keys, at[j + 4] + i, is_f16);
                sums[j] = _mm512_fmadd_ps(low, first_halves(x, y), sums[j]);
                sums[j] = _mm512_fmadd_ps(high, second_halves(x, y), sums[j]);
            }
        }
        mt_ymm_store(a->weights + h * a->n + t, _mm256_mul_ps(eight_sums(sums), scale), a->n - t);
    }
}

/* The tail stays in a register, because a value that was written in parts could not be read back
 * immediately. */
static void softmax(float *x, size_t n)
{
    /* x > max ? x : max skips NaN, except in the first number */
    __m512 largest = _mm512_set1_ps(x[0]);
    size_t i = 0, rest = n % 16;
    __mmask16 mask = mt_zmm_first(rest);
    for (; i + 16 <= n; i += 16)
        largest = _mm512_max_ps(_mm512_loadu_ps(x + i), largest);
    if (rest)
        largest = _mm512_max_ps(_mm512_mask_loadu_ps(largest, mask, x + i), largest);
    __m256 max = mt_ymm_max(_mm256_max_ps(mt_zmm_low8(largest), mt_zmm_high8(largest)));
    __m512 offset = _mm512_set1_ps(_mm256_cvtss_f32(max)), tail = _mm512_setzero_ps();
    __m256 sum = _mm256_setzero_ps();
    for (i = 0; i + 16 <= n; i += 16) {
        __m512 exp = mt_zmm_exp(_mm512_sub_ps(_mm512_loadu_ps(x + i), offset));
        sum = _mm256_add_ps(_mm256_add_ps(sum, mt_zmm_low8(exp)), mt_zmm_high8(exp));
        _mm512_storeu_ps(x + i, exp);
    }
    if (rest) {
        tail = _mm512_maskz_mov_ps(
            mask, mt_zmm_exp(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), offset)));
        sum = _mm256_add_ps(_mm256_add_ps(sum, mt_zmm_low8(tail)), mt_zmm_high8(tail));
    }
    __m512 inverse = _mm512_set1_ps(1.0f / mt_ymm_sum(sum));
    for (i = 0; i + 16 <= n; i += 16)
        _mm512_storeu_ps(x + i, _mm512_mul_ps(_mm512_loadu_ps(x + i), inverse));
    tail = _mm512_mul_ps(tail, inverse);
    if (rest >= 8) {
        _mm256_storeu_ps(x + i, mt_zmm_low8(tail));
        mt_ymm_store_tail(x + i + 8, mt_zmm_high8(tail), rest - 8);
    } else {
        mt_ymm_store_tail(x + i, mt_zmm_low8(tail), rest);
    }
}

/* Computes out[i .. i + 16 n_registers) of one head; n_registers is a constant. */
MT_INLINE void weigh(const struct mt_attend *a, const float *weights, size_t i, size_t n_registers,
                     bool is_f16)
{
    __m512 sums[4];
    MT_UNROLL
    for (size_t j = 0; j < n_registers; j++)
        sums[j] = _mm512_setzero_ps();
    for (size_t t = 0; t < a->n; t++) {
        __m512 weight = _mm512_set1_ps(weights[t]);
        size_t at = mt_attend_at(a, t) + i;
        MT_UNROLL
        for (size_t j = 0; j < n_registers; j++)
            sums[j] = _mm512_fmadd_ps(weight, load16(a->values, at + 16 * j, is_f16), sums[j]);
    }
    MT_UNROLL
    for (size_t j = 0; j < n_registers; j++)
        _mm512_storeu_ps(a->out + i + 16 * j, sums[j]);
}

MT_INLINE void weigh_head(const struct mt_attend *a, size_t h, bool is_f16)
{
    const float *weights = a->weights + h * a->n;
    size_t i = h * a->d_k, end = i + a->d_k;
    for (; i + 64 <= end; i += 64)
        weigh(a, weights, i, 4, is_f16);
    for (; i + 32 <= end; i += 32)
        weigh(a, weights, i, 2, is_f16);
    if (i < end)
        weigh(a, weights, i, 1, is_f16);
}

MT_INLINE void attend_one(const struct mt_attend *a, bool is_f16)
{
    for (size_t t = 0; t < a->n; t += 8)
        score_keys(a, t, is_f16);
    for (size_t h = 0; h < a->n_heads; h++)
        softmax(a->weights + h * a->n, a->n);
    for (size_t h = 0; h < a->n_heads; h++)
        weigh_head(a, h, is_f16);
}

/* With four queries, every register of keys and values is loaded and widened only once for all of
 * them. */

#define QUERIES MT_ATTEND_QUERIES

/* Computes the products of positions t to t + 4. */
MT_INLINE void score_four_keys(const struct mt_attend *a, size_t t, bool is_f16)
{
    __m256 scale = _mm256_set1_ps(1.0f / sqrtf((float)a->d_k));
    size_t at[4], n = mt_size_min(a->n - t, 4);
    MT_UNROLL
    for (size_t j = 0; j < 4; j++)
        at[j] = mt_attend_at(a, mt_size_min(t + j, a->n - 1));
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t head = h * a->d_k;
        __m512 sums[QUERIES][2];
        mt_attend_prefetch(a, head, at, 4, is_f16);
        MT_UNROLL
        for (size_t i = 0; i < QUERIES; i++)
            sums[i][0] = sums[i][1] = _mm512_setzero_ps();
        for (size_t k = head; k < head + a->d_k; k += 16) {
            __m512 x[4];
            MT_UNROLL
            for (size_t j = 0; j < 4; j++)
                x[j] = load16(a->keys, at[j] + k, is_f16);
            MT_UNROLL
            for (size_t i = 0; i < QUERIES; i++) {
                __m512 q = twice(a->q + i * a->q_stride + k);
                sums[i][0] = _mm512_fmadd_ps(q, first_halves(x[0], x[2]), sums[i][0]);
                sums[i][1] = _mm512_fmadd_ps(q, first_halves(x[1], x[3]), sums[i][1]);
            }
            MT_UNROLL
            for (size_t i = 0; i < QUERIES; i++) {
                __m512 q = twice(a->q + i * a->q_stride + k + 8);
                sums[i][0] = _mm512_fmadd_ps(q, second_halves(x[0], x[2]), sums[i][0]);
                sums[i][1] = _mm512_fmadd_ps(q, second_halves(x[1], x[3]), sums[i][1]);
            }
        }
        /* Two queries are computed at a time: the eight sums are the first query's keys 0 and 1,
         * the second's, then keys 2 and 3 of each. */
        MT_UNROLL
        for (size_t i = 0; i < QUERIES; i += 2) {
            const __m512 v[4] = {sums[i][0], sums[i][1], sums[i + 1][0], sums[i + 1][1]};
            __m256 products = _mm256_mul_ps(eight_sums(v), scale);
            __m128 low = _mm256_castps256_ps128(products),
                   high = _mm256_extractf128_ps(products, 1);
            float *first = a->weights + (i * a->n_heads + h) * a->n + t;
            float *second = first + a->n_heads * a->n;
            mt_xmm_store(first, _mm_movelh_ps(low, high), n);
            mt_xmm_store(second, _mm_movehl_ps(high, low), n);
        }
    }
}

/* Computes out[i .. i + 16 n_registers) of all queries, within head h; n_registers is a
 * constant. */
MT_INLINE void weigh_four(const struct mt_attend *a, size_t h, size_t i, size_t n_registers,
                          bool is_f16)
{
    __m512 sums[QUERIES][2];
    MT_UNROLL
    for (size_t j = 0; j < QUERIES * n_registers; j++)
        sums[j / n_registers][j % n_registers] = _mm512_setzero_ps();
    for (size_t t = 0; t < a->n; t++) {
        size_t at = mt_attend_at(a, t) + i;
        __m512 x[2];
        MT_UNROLL
        for (size_t k = 0; k < n_registers; k++)
            x[k] = load16(a->values, at + 16 * k, is_f16);
        MT_UNROLL
        for (size_t j = 0; j < QUERIES; j++) {
            __m512 weight = _mm512_set1_ps(a->weights[(j * a->n_heads + h) * a->n + t]);
            MT_UNROLL
            for (size_t k = 0; k < n_registers; k++)
                sums[j][k] = _mm512_fmadd_ps(weight, x[k], sums[j][k]);
        }
    }
    MT_UNROLL
    for (size_t j = 0; j < QUERIES * n_registers; j++)
        _mm512_storeu_ps(a->out + j / n_registers * a->out_stride + i + 16 * (j % n_registers),
                         sums[j / n_registers][j % n_registers]);
}

MT_INLINE void attend_four(const struct mt_attend *a, bool is_f16)
{
    for (size_t t = 0; t < a->n; t += 4)
        score_four_keys(a, t, is_f16);
    for (size_t i = 0; i < QUERIES * a->n_heads; i++)
        softmax(a->weights + i * a->n, a->n);
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t i = h * a->d_k, end = i + a->d_k;
        for (; i + 32 <= end; i += 32)
            weigh_four(a, h, i, 2, is_f16);
        if (i < end)
            weigh_four(a, h, i, 1, is_f16);
    }
}

MT_INLINE void attend(const struct mt_attend *a, bool is_f16)
{
    size_t i = 0;
    for (; i + QUERIES <= a->n_queries; i += QUERIES) {
        struct mt_attend four = mt_attend_query(a, i);
        attend_four(&four, is_f16);
    }
    for (; i < a->n_queries; i++) {
        struct mt_attend one = mt_attend_query(a, i);
        attend_one(&one, is_f16);
    }
}

/* Heads of other sizes have tails, which only AVX2's kernels support. */
static bool has_whole_registers(const struct mt_attend *a)
{
    return a->d_k % 16 == 0;
}

void mt_avx512vnni_attend_f32(const struct mt_attend *a)
{
    if (has_whole_registers(a))
        attend(a, false);
    else
        mt_avx2_attend_f32(a);
}

void mt_avx512vnni_attend_f16(const struct mt_attend *a)
{
    if (has_whole_registers(a))
        attend(a, true);
    else
        mt_avx2_attend_f16(a);
}
