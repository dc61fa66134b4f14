/*
 * The kernels on 256-bit registers: one register holds the eight canonical lanes (canonical.h).
 * qgemm has a file of its own.
 */
#include "model/kernels/avx2.h"

#include "base/size.h"
#include "model/kernels/reference.h"
#include "model/kernels/ymm_attend.h"

/* Attention. The formats of K and V differ in how eight numbers are loaded; the functions are
 * always inlined with a constant is_f16. */

MT_INLINE __m256 load_kv(const void *kv, size_t at, bool is_f16)
{
    if (is_f16)
        return _mm256_cvtph_ps(_mm_loadu_si128((const void *)((const uint16_t *)kv + at)));
    return _mm256_loadu_ps((const float *)kv + at);
}

MT_INLINE __m256 load_kv_tail(const void *kv, size_t at, size_t n, bool is_f16)
{
    if (!is_f16)
        return mt_ymm_load_tail((const float *)kv + at, n);
    uint16_t halves[8] = {0};
    memcpy(halves, (const uint16_t *)kv + at, n * sizeof *halves);
    return load_kv(halves, 0, true);
}

/* Returns four sums in canonical order, one for each register. */
MT_INLINE __m128 four_sums(const __m256 v[4])
{
    __m256 h = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
    return _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
}

/* Computes q . k of one head for n_keys keys (4 or 8, a constant), for 4 in the lower half of the
 * result. With a single key each fused multiply-add would wait for the previous one. at: where the
 * keys begin. */
MT_INLINE __m256 dots(const struct mt_attend *a, size_t head, const size_t *at, size_t n_keys,
                      bool is_f16)
{
    const float *q = a->q + head;
    size_t i = 0, rest = a->d_k % MT_LANES;
    __m256 sums[8];
    MT_UNROLL
    for (size_t j = 0; j < n_keys; j++)
        sums[j] = _mm256_setzero_ps();
    for (; i + MT_LANES <= a->d_k; i += MT_LANES) {
        __m256 x = _mm256_loadu_ps(q + i);
        MT_UNROLL
        for (size_t j = 0; j < n_keys; j++)
            sums[j] = _mm256_fmadd_ps(x, load_kv(a->keys, at[j] + head + i, is_f16), sums[j]);
    }
    for (size_t j = 0; j < n_keys && rest; j++)
        sums[j] = _mm256_fmadd_ps(mt_ymm_load_tail(q + i, rest),
                                  load_kv_tail(a->keys, at[j] + head + i, rest, is_f16), sums[j]);
    __m128 low = four_sums(sums);
    return _mm256_set_m128(n_keys == 8 ? four_sums(sums + 4) : low, low);
}

/* Computes the products of positions t to t + n_keys. Of these, positions from n on do not exist,
 * and the last one is used instead. */
MT_INLINE void score_keys(const struct mt_attend *a, size_t t, size_t n_keys, bool is_f16)
{
    __m256 scale = _mm256_set1_ps(1.0f / sqrtf((float)a->d_k));
    size_t at[8];
    MT_UNROLL
    for (size_t j = 0; j < n_keys; j++)
        at[j] = mt_attend_at(a, mt_size_min(t + j, a->n - 1));
    for (size_t h = 0; h < a->n_heads; h++) {
        mt_attend_prefetch(a, h * a->d_k, at, n_keys, is_f16);
        __m256 products = dots(a, h * a->d_k, at, n_keys, is_f16);
        mt_ymm_store(a->weights + h * a->n + t, _mm256_mul_ps(products, scale), a->n - t);
    }
}

MT_INLINE void score(const struct mt_attend *a, bool is_f16)
{
    size_t t = 0;
    for (; t + 4 < a->n; t += 8)
        score_keys(a, t, 8, is_f16);
    if (t < a->n)
        score_keys(a, t, 4, is_f16);
}

/* Returns the first n numbers of `rest`, followed by `other`. */
MT_INLINE __m256 with_tail(__m256 rest, size_t n, __m256 other)
{
    return _mm256_blendv_ps(other, rest, _mm256_castsi256_ps(mt_ymm_mask(n)));
}

MT_INLINE __m256 largest_of(const float *x, size_t n, float first)
{
    /* x > max ? x : max skips NaN, except in the first number */
    __m256 max = _mm256_set1_ps(first);
    size_t i = 0;
    for (; i + MT_LANES <= n; i += MT_LANES)
        max = _mm256_max_ps(_mm256_loadu_ps(x + i), max);
    if (i < n)
        max = _mm256_max_ps(with_tail(mt_ymm_load_tail(x + i, n - i), n - i, max), max);
    return mt_ymm_max(max);
}

/* The tail stays in a register, because a value that was written in parts could not be read back
 * immediately. */
static void softmax(float *x, size_t n)
{
    __m256 max = largest_of(x, n, x[0]), sum = _mm256_setzero_ps(), tail = sum;
    size_t i = 0, rest = n % MT_LANES;
    for (; i + MT_LANES <= n; i += MT_LANES) {
        __m256 exp = mt_ymm_exp(_mm256_sub_ps(_mm256_loadu_ps(x + i), max));
        sum = _mm256_add_ps(sum, exp);
        _mm256_storeu_ps(x + i, exp);
    }
    if (rest) {
        tail = mt_ymm_exp(_mm256_sub_ps(mt_ymm_load_tail(x + i, rest), max));
        sum = _mm256_add_ps(sum, with_tail(tail, rest, _mm256_setzero_ps()));
    }
    __m256 inverse = _mm256_set1_ps(1.0f / mt_ymm_sum(sum));
    for (i = 0; i + MT_LANES <= n; i += MT_LANES)
        _mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), inverse));
    mt_ymm_store_tail(x + i, _mm256_mul_ps(tail, inverse), rest);
}

/* Computes out[0 .. 8 n_registers) of one head from element i on; n_registers is a constant. */
MT_INLINE void weigh(const struct mt_attend *a, const float *weights, size_t i, size_t n_registers,
                     bool is_f16)
{
    __m256 sums[8];
    MT_UNROLL
    for (size_t j = 0; j < n_registers; j++)
        sums[j] = _mm256_setzero_ps();
    for (size_t t = 0; t < a->n; t++) {
        __m256 weight = _mm256_broadcast_ss(weights + t);
        size_t at = mt_attend_at(a, t) + i;
        MT_UNROLL
        for (size_t j = 0; j < n_registers; j++)
            sums[j] =
                _mm256_fmadd_ps(weight, load_kv(a->values, at + j * MT_LANES, is_f16), sums[j]);
    }
    MT_UNROLL
    for (size_t j = 0; j < n_registers; j++)
        _mm256_storeu_ps(a->out + i + j * MT_LANES, sums[j]);
}

MT_INLINE void weigh_tail(const struct mt_attend *a, const float *weights, size_t i, size_t n,
                          bool is_f16)
{
    __m256 sum = _mm256_setzero_ps();
    for (size_t t = 0; t < a->n; t++)
        sum = _mm256_fmadd_ps(_mm256_broadcast_ss(weights + t),
                              load_kv_tail(a->values, mt_attend_at(a, t) + i, n, is_f16), sum);
    mt_ymm_store_tail(a->out + i, sum, n);
}

MT_INLINE void weigh_head(const struct mt_attend *a, size_t h, bool is_f16)
{
    const float *weights = a->weights + h * a->n;
    size_t i = h * a->d_k, end = i + a->d_k;
    for (; i + 64 <= end; i += 64)
        weigh(a, weights, i, 8, is_f16);
    for (; i + 32 <= end; i += 32)
        weigh(a, weights, i, 4, is_f16);
    for (; i + 8 <= end; i += 8)
        weigh(a, weights, i, 1, is_f16);
    if (i < end)
        weigh_tail(a, weights, i, end - i, is_f16);
}

/* All heads complete one stage before the next begins: their chains of dependent instructions
 * overlap, and a position's keys are read in the order of memory. */
MT_INLINE void attend_one(const struct mt_attend *a, bool is_f16)
{
    score(a, is_f16);
    for (size_t h = 0; h < a->n_heads; h++)
        softmax(a->weights + h * a->n, a->n);
    for (size_t h = 0; h < a->n_heads; h++)
        weigh_head(a, h, is_f16);
}

/* With four queries, every register of keys and values is loaded and widened only once for all of
 * them. */

#define QUERIES MT_ATTEND_QUERIES

/* Computes the products of positions t and t + 1, or only of the last position. */
MT_INLINE void score_two_keys(const struct mt_attend *a, size_t t, bool is_f16)
{
    __m128 scale = _mm_set1_ps(1.0f / sqrtf((float)a->d_k));
    const size_t at[2] = {mt_attend_at(a, t), mt_attend_at(a, mt_size_min(t + 1, a->n - 1))};
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t head = h * a->d_k;
        __m256 sums[QUERIES][2];
        MT_UNROLL
        for (size_t i = 0; i < QUERIES; i++)
            sums[i][0] = sums[i][1] = _mm256_setzero_ps();
        mt_attend_prefetch(a, head, at, 2, is_f16);
        for (size_t k = head; k < head + a->d_k; k += MT_LANES) {
            __m256 x = load_kv(a->keys, at[0] + k, is_f16), y = load_kv(a->keys, at[1] + k, is_f16);
            MT_UNROLL
            for (size_t i = 0; i < QUERIES; i++) {
                __m256 q = _mm256_loadu_ps(a->q + i * a->q_stride + k);
                sums[i][0] = _mm256_fmadd_ps(q, x, sums[i][0]);
                sums[i][1] = _mm256_fmadd_ps(q, y, sums[i][1]);
            }
        }
        MT_UNROLL
        for (size_t i = 0; i < QUERIES; i += 2) {
            __m128 products = _mm_mul_ps(four_sums(sums[i]), scale);
            float *first = a->weights + (i * a->n_heads + h) * a->n + t;
            float *second = first + a->n_heads * a->n;
            if (t + 1 < a->n) {
                _mm_storel_pi((__m64 *)first, products);
                _mm_storeh_pi((__m64 *)second, products);
            } else {
                _mm_store_ss(first, products);
                _mm_store_ss(second, _mm_movehl_ps(products, products));
            }
        }
    }
}

/* Computes out[i .. i + 16) of all queries, within head h. */
MT_INLINE void weigh_four(const struct mt_attend *a, size_t h, size_t i, bool is_f16)
{
    __m256 sums[QUERIES][2];
    MT_UNROLL
    for (size_t j = 0; j < QUERIES; j++)
        sums[j][0] = sums[j][1] = _mm256_setzero_ps();
    for (size_t t = 0; t < a->n; t++) {
        size_t at = mt_attend_at(a, t) + i;
        __m256 x = load_kv(a->values, at, is_f16), y = load_kv(a->values, at + MT_LANES, is_f16);
        MT_UNROLL
        for (size_t j = 0; j < QUERIES; j++) {
            __m256 weight = _mm256_broadcast_ss(a->weights + (j * a->n_heads + h) * a->n + t);
            sums[j][0] = _mm256_fmadd_ps(weight, x, sums[j][0]);
            sums[j][1] = _mm256_fmadd_ps(weight, y, sums[j][1]);
        }
    }
    MT_UNROLL
    for (size_t j = 0; j < QUERIES; j++) {
        _mm256_storeu_ps(a->out + j * a->out_stride + i, sums[j][0]);
        _mm256_storeu_ps(a->out + j * a->out_stride + i + MT_LANES, sums[j][1]);
    }
}

MT_INLINE void attend_four(const struct mt_attend *a, bool is_f16)
{
    for (size_t t = 0; t < a->n; t += 2)
        score_two_keys(a, t, is_f16);
    for (size_t i = 0; i < QUERIES * a->n_heads; i++)
        softmax(a->weights + i * a->n, a->n);
    for (size_t h = 0; h < a->n_heads; h++)
        for (size_t i = 0; i < a->d_k; i += 2 * MT_LANES)
            weigh_four(a, h, h * a->d_k + i, is_f16);
}

MT_INLINE void attend(const struct mt_attend *a, bool is_f16)
{
    size_t i = 0;
    for (; i + QUERIES <= a->n_queries && a->d_k % (2 * MT_LANES) == 0; i += QUERIES) {
        struct mt_attend four = mt_attend_query(a, i);
        attend_four(&four, is_f16);
    }
    for (; i < a->n_queries; i++) {
        struct mt_attend one = mt_attend_query(a, i);
        attend_one(&one, is_f16);
    }
}

void mt_avx2_attend_f32(const struct mt_attend *a)
{
    attend(a, false);
}

void mt_avx2_attend_f16(const struct mt_attend *a)
{
    attend(a, true);
}

/* LayerNorm */

MT_INLINE __m256 add_or_copy(const float *x, const float *y, size_t i, size_t n)
{
    __m256 v = mt_ymm_load(x + i, n - i);
    return y ? _mm256_add_ps(v, mt_ymm_load(y + i, n - i)) : v;
}

MT_INLINE float wide_sum(const __m256 v[MT_WIDE])
{
    return mt_ymm_sum(_mm256_add_ps(_mm256_add_ps(v[0], v[1]), _mm256_add_ps(v[2], v[3])));
}

/* Computes out = x + y, and returns the sum. */
static float add_rows(const float *x, const float *y, size_t n, float *out)
{
    __m256 sums[MT_WIDE] = {0};
    size_t i = 0;
    for (; i + MT_WIDE * MT_LANES <= n; i += MT_WIDE * MT_LANES) {
        for (size_t j = 0; j < MT_WIDE; j++) {
            size_t at = i + j * MT_LANES;
            __m256 v = add_or_copy(x, y, at, at + MT_LANES);
            sums[j] = _mm256_add_ps(sums[j], v);
            _mm256_storeu_ps(out + at, v);
        }
    }
    for (size_t j = 0; i < n; i += MT_LANES, j++) {
        __m256 v = add_or_copy(x, y, i, n);
        sums[j] = _mm256_add_ps(sums[j], v);
        mt_ymm_store(out + i, v, n - i);
    }
    return wide_sum(sums);
}

/* Computes x -= mean, and returns the sum of squares. */
static float center(float *x, size_t n, float mean)
{
    __m256 sums[MT_WIDE] = {0}, offset = _mm256_set1_ps(mean);
    size_t i = 0;
    for (; i + MT_WIDE * MT_LANES <= n; i += MT_WIDE * MT_LANES) {
        for (size_t j = 0; j < MT_WIDE; j++) {
            __m256 v = _mm256_sub_ps(_mm256_loadu_ps(x + i + j * MT_LANES), offset);
            sums[j] = _mm256_fmadd_ps(v, v, sums[j]);
            _mm256_storeu_ps(x + i + j * MT_LANES, v);
        }
    }
    for (size_t j = 0; i < n; i += MT_LANES, j++) {
        __m256 v = _mm256_sub_ps(mt_ymm_load(x + i, n - i), offset);
        if (n - i < MT_LANES)
            v = with_tail(v, n - i, _mm256_setzero_ps());
        sums[j] = _mm256_fmadd_ps(v, v, sums[j]);
        mt_ymm_store(x + i, v, n - i);
    }
    return wide_sum(sums);
}

void mt_avx2_add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                      float eps, size_t n, float *out)
{
    float sum = add_rows(x, y, n, out), mean = beta ? sum / (float)n : 0.0f;
    float variance = center(out, n, mean) / (float)n;
    __m256 inverse = _mm256_set1_ps(1.0f / sqrtf(variance + eps));
    for (size_t i = 0; i < n; i += MT_LANES) {
        __m256 v = _mm256_mul_ps(mt_ymm_load(out + i, n - i), inverse);
        __m256 factor = mt_ymm_load(gamma + i, n - i);
        v = beta ? _mm256_fmadd_ps(v, factor, mt_ymm_load(beta + i, n - i))
                 : _mm256_mul_ps(v, factor);
        mt_ymm_store(out + i, v, n - i);
    }
}

/* Element by element */

void mt_avx2_activate(enum mt_activation activation, float *x, size_t n)
{
    if (!mt_ymm_can_activate(activation)) {
        mt_kernels_reference.activate(activation, x, n);
        return;
    }
    for (size_t i = 0; i < n; i += MT_LANES) {
        __m256 v = mt_ymm_load(x + i, n - i);
        mt_ymm_store(x + i, activation == MT_RELU ? mt_ymm_relu(v) : mt_ymm_silu(v), n - i);
    }
}

void mt_avx2_ssru(const float *x, const float *gate, const float *previous, size_t n, float *next,
                  float *out)
{
    for (size_t i = 0; i < n; i += MT_LANES) {
        __m256 v = mt_ymm_load(x + i, n - i);
        __m256 c = previous ? mt_ymm_load(previous + i, n - i) : _mm256_setzero_ps();
        c = _mm256_fmadd_ps(mt_ymm_sigmoid(mt_ymm_load(gate + i, n - i)), _mm256_sub_ps(c, v), v);
        mt_ymm_store(next + i, c, n - i);
        mt_ymm_store(out + i, mt_ymm_relu(c), n - i);
    }
}

void mt_avx2_embed(const float *table, float scale, const float *position, size_t n, float *out)
{
    __m256 factor = _mm256_set1_ps(scale);
    for (size_t i = 0; i < n; i += MT_LANES) {
        __m256 v = mt_ymm_load(table + i, n - i);
        v = _mm256_fmadd_ps(v, factor, mt_ymm_load(position + i, n - i));
        mt_ymm_store(out + i, v, n - i);
    }
}

void mt_avx2_narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i += MT_LANES) {
        __m256 v = mt_ymm_load(x + i, n - i);
        __m128i halves = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        if (n - i >= MT_LANES) {
            _mm_storeu_si128((void *)(out + i), halves);
        } else {
            uint16_t rest[MT_LANES];
            _mm_storeu_si128((void *)rest, halves);
            memcpy(out + i, rest, (n - i) * sizeof *out);
        }
    }
}

/* Logits */

void mt_avx2_sum_exp(const float *x, size_t n, float *max, float *sum)
{
    __m256 offset = largest_of(x, n, -INFINITY), total = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + MT_LANES <= n; i += MT_LANES)
        total = _mm256_add_ps(total, mt_ymm_exp(_mm256_sub_ps(_mm256_loadu_ps(x + i), offset)));
    if (i < n) {
        __m256 rest = mt_ymm_exp(_mm256_sub_ps(mt_ymm_load_tail(x + i, n - i), offset));
        total = _mm256_add_ps(total, with_tail(rest, n - i, _mm256_setzero_ps()));
    }
    *max = _mm256_cvtss_f32(offset) + 0.0f;
    *sum = mt_ymm_sum(total);
}

void mt_avx2_merge_top(const float *logits, size_t n, int32_t first_id, size_t n_top,
                       struct mt_scored_token *top)
{
    if (!n_top)
        return;
    enum { STEP = 4 * MT_LANES };
    size_t i = 0;
    __m256 threshold = _mm256_set1_ps(mt_top_threshold(&top[n_top - 1]));
    for (; i + STEP <= n; i += STEP) {
        const float *x = logits + i;
        /* max(x, y) is y if one of them is NaN, so a possible NaN has to be on the left */
        __m256 a = _mm256_max_ps(_mm256_loadu_ps(x), threshold);
        __m256 b = _mm256_max_ps(_mm256_loadu_ps(x + 8), threshold);
        a = _mm256_max_ps(_mm256_loadu_ps(x + 16), a);
        b = _mm256_max_ps(_mm256_loadu_ps(x + 24), b);
        __m256 is_above = _mm256_cmp_ps(_mm256_max_ps(a, b), threshold, _CMP_GT_OQ);
        if (!_mm256_movemask_ps(is_above))
            continue;
        mt_kernels_reference.merge_top(x, STEP, first_id + (int32_t)i, n_top, top);
        threshold = _mm256_set1_ps(mt_top_threshold(&top[n_top - 1]));
    }
    mt_kernels_reference.merge_top(logits + i, n - i, first_id + (int32_t)i, n_top, top);
}

/* Quantisation */

/* Computes round(x * inverse) + zero of eight numbers as 16-bit integers; NaN becomes the most
 * negative one, because its conversion is INT32_MIN. */
MT_INLINE __m128i quantized_words(__m256 x, __m256 inverse, __m256i zero)
{
    __m256i v = _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(x, inverse)), zero);
    return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

static void quantize_row(const float *x, size_t n, float inverse, int32_t zero, uint8_t *q)
{
    __m256 factor = _mm256_set1_ps(inverse);
    __m256i offset = _mm256_set1_epi32(zero);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i low = quantized_words(_mm256_loadu_ps(x + i), factor, offset);
        __m128i high = quantized_words(_mm256_loadu_ps(x + i + 8), factor, offset);
        _mm_storeu_si128((void *)(q + i), _mm_packus_epi16(low, high));
    }
    for (; i < n; i += MT_LANES) {
        __m128i words = quantized_words(mt_ymm_load(x + i, n - i), factor, offset);
        uint8_t bytes[16];
        _mm_storeu_si128((void *)bytes, _mm_packus_epi16(words, words));
        memcpy(q + i, bytes, mt_size_min(MT_LANES, n - i));
    }
}

/* The least and the largest of n numbers and 0, and whether one is NaN, in eight parts each. Four
 * chains are used, so that comparisons need not wait for the previous one. */
struct range {
    __m256 low, high, nans;
};

MT_INLINE void widen(struct range *range, __m256 v)
{
    range->low = _mm256_min_ps(v, range->low); /* the second operand if one is NaN */
    range->high = _mm256_max_ps(v, range->high);
    range->nans = _mm256_or_ps(range->nans, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

static struct range range_of(const float *x, size_t n)
{
    enum { CHAINS = 4, STEP = CHAINS * MT_LANES };
    struct range ranges[CHAINS] = {{_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()}};
    for (size_t chain = 1; chain < CHAINS; chain++)
        ranges[chain] = ranges[0];
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        MT_UNROLL
        for (size_t chain = 0; chain < CHAINS; chain++)
            widen(&ranges[chain], _mm256_loadu_ps(x + i + chain * MT_LANES));
    }
    for (; i < n; i += MT_LANES) /* zeros behind the tail do not widen the range */
        widen(&ranges[0], mt_ymm_load(x + i, n - i));
    for (size_t chain = 1; chain < CHAINS; chain++) {
        ranges[0].low = _mm256_min_ps(ranges[0].low, ranges[chain].low);
        ranges[0].high = _mm256_max_ps(ranges[0].high, ranges[chain].high);
        ranges[0].nans = _mm256_or_ps(ranges[0].nans, ranges[chain].nans);
    }
    return ranges[0];
}

void mt_avx2_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                      int32_t *zero)
{
    struct range parts = range_of(x, n);
    float smallest = mt_ymm_smallest(parts.low);
    float range = _mm256_cvtss_f32(mt_ymm_max(parts.high)) - smallest;
    if (!mt_quantize_begin(smallest, range, _mm256_movemask_ps(parts.nans) != 0, scale, zero)) {
        memset(q, 0, n_padded);
        return;
    }
    quantize_row(x, n, 255.0f / range, *zero, q);
    memset(q + n, 0, n_padded - n);
}

const struct mt_kernels mt_kernels_avx2 = {
    .name = "avx2",
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
    .qgemm = mt_avx2_qgemm,
    .stream = mt_avx2_stream,
    .int8_peak = mt_avx2_int8_peak,
    .fp32_peak = mt_avx2_fp32_peak,
};
