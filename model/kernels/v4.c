/*
 * The kernels on registers of four floats, except qgemm and linear_f32, which have files of their
 * own.
 */
#include "model/kernels/v4.h"

#include "base/size.h"
#include "model/kernels/reference.h"

/* Attention. The formats of K and V differ in how eight numbers are loaded; the functions are
 * always inlined with a constant is_f16. */

MT_V4_INLINE size_t position(const struct mt_attend *a, size_t t)
{
    return t * a->stride + (a->slots ? (size_t)a->slots[t] * a->slot_stride : 0);
}

MT_V4_INLINE struct mt_v8 load_kv(const void *kv, size_t at, size_t n, bool is_f16)
{
    if (!is_f16)
        return mt_v8_load((const float *)kv + at, n);
    struct mt_v8 v;
    uint16_t halves[MT_LANES] = {0};
    const uint16_t *from = (const uint16_t *)kv + at;
    if (n < MT_LANES)
        from = memcpy(halves, from, n * sizeof *halves);
    mt_v4_load_f16(from, &v.low, &v.high);
    return v;
}

#define KEYS 4

/* Computes the products of positions t to t + 4. Of these, positions from n on do not exist, and
 * the last one is used instead. */
MT_V4_INLINE void score_keys(const struct mt_attend *a, size_t t, bool is_f16)
{
    float scale = 1.0f / sqrtf((float)a->d_k);
    size_t at[KEYS], n = mt_size_min(KEYS, a->n - t), rest = a->d_k % MT_LANES;
    for (size_t j = 0; j < KEYS; j++)
        at[j] = position(a, mt_size_min(t + j, a->n - 1));
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t i = h * a->d_k, end = i + a->d_k - rest;
        struct mt_v8 sums[KEYS];
        MT_V4_UNROLL
        for (size_t j = 0; j < KEYS; j++)
            sums[j] = mt_v8_set(0.0f);
        for (; i < end; i += MT_LANES) {
            struct mt_v8 q = mt_v8_load(a->q + i, MT_LANES);
            MT_V4_UNROLL
            for (size_t j = 0; j < KEYS; j++)
                sums[j] = mt_v8_fma(q, load_kv(a->keys, at[j] + i, MT_LANES, is_f16), sums[j]);
        }
        for (size_t j = 0; j < KEYS && rest; j++)
            sums[j] = mt_v8_fma(mt_v8_load(a->q + i, rest),
                                load_kv(a->keys, at[j] + i, rest, is_f16), sums[j]);
        float products[KEYS];
        mt_v4_store(products, mt_v4_mul(mt_v8_four_sums(sums), mt_v4_set(scale)));
        memcpy(a->weights + h * a->n + t, products, n * sizeof *products);
    }
}

MT_V4_INLINE mt_v4 largest_of(const float *x, size_t n, float first)
{
    struct mt_v8 max = mt_v8_set(first);
    size_t i = 0;
    for (; i + MT_LANES <= n; i += MT_LANES)
        max = mt_v8_max(mt_v8_load(x + i, MT_LANES), max);
    if (i < n)
        max = mt_v8_max(mt_v8_with_tail(mt_v8_load(x + i, n - i), n - i, max), max);
    /* If the first number is NaN, so are all results. */
    mt_v4 both = mt_v4_max(max.low, max.high);
    return first == first ? mt_v4_largest(both) : both;
}

/* Computes x = exp(x - max), and adds to the sum. */
MT_V4_INLINE struct mt_v8 exp_less(const float *x, size_t n, struct mt_v8 max, struct mt_v8 *sum)
{
    struct mt_v8 exp = mt_v8_exp(mt_v8_sub(mt_v8_load(x, n), max));
    *sum = mt_v8_add(*sum, n < MT_LANES ? mt_v8_with_tail(exp, n, mt_v8_set(0.0f)) : exp);
    return exp;
}

static void softmax(float *x, size_t n)
{
    mt_v4 largest = largest_of(x, n, x[0]);
    struct mt_v8 max = {largest, largest}, sum = mt_v8_set(0.0f);
    for (size_t i = 0; i < n; i += MT_LANES)
        mt_v8_store(x + i, exp_less(x + i, n - i, max, &sum), n - i);
    struct mt_v8 inverse = mt_v8_set(1.0f / mt_v8_sum(sum));
    for (size_t i = 0; i < n; i += MT_LANES)
        mt_v8_store(x + i, mt_v8_mul(mt_v8_load(x + i, n - i), inverse), n - i);
}

/* Computes out[i .. i + 8 n_lanes) of one head; n_lanes is a constant. Of the last eight only n
 * exist. */
MT_V4_INLINE void weigh(const struct mt_attend *a, const float *weights, size_t i, size_t n_lanes,
                        size_t n, bool is_f16)
{
    struct mt_v8 sums[4];
    MT_V4_UNROLL
    for (size_t j = 0; j < n_lanes; j++)
        sums[j] = mt_v8_set(0.0f);
    for (size_t t = 0; t < a->n; t++) {
        struct mt_v8 weight = mt_v8_set(weights[t]);
        size_t at = position(a, t) + i;
        MT_V4_UNROLL
        for (size_t j = 0; j < n_lanes; j++)
            sums[j] = mt_v8_fma(weight, load_kv(a->values, at + j * MT_LANES, n, is_f16), sums[j]);
    }
    MT_V4_UNROLL
    for (size_t j = 0; j < n_lanes; j++)
        mt_v8_store(a->out + i + j * MT_LANES, sums[j], n);
}

MT_V4_INLINE void weigh_head(const struct mt_attend *a, size_t h, bool is_f16)
{
    const float *weights = a->weights + h * a->n;
    size_t i = h * a->d_k, end = i + a->d_k;
    for (; i + 4 * MT_LANES <= end; i += 4 * MT_LANES)
        weigh(a, weights, i, 4, MT_LANES, is_f16);
    for (; i + MT_LANES <= end; i += MT_LANES)
        weigh(a, weights, i, 1, MT_LANES, is_f16);
    if (i < end)
        weigh(a, weights, i, 1, end - i, is_f16);
}

/* All heads complete one stage before the next begins: their chains of dependent instructions
 * overlap, and a position's keys are read in the order of memory. */
MT_V4_INLINE void attend(const struct mt_attend *all, bool is_f16)
{
    for (size_t i = 0; i < all->n_queries; i++) {
        struct mt_attend a = mt_attend_query(all, i);
        for (size_t t = 0; t < a.n; t += KEYS)
            score_keys(&a, t, is_f16);
        for (size_t h = 0; h < a.n_heads; h++)
            softmax(a.weights + h * a.n, a.n);
        for (size_t h = 0; h < a.n_heads; h++)
            weigh_head(&a, h, is_f16);
    }
}

void mt_v4_attend_f32(const struct mt_attend *a)
{
    attend(a, false);
}

void mt_v4_attend_f16(const struct mt_attend *a)
{
    attend(a, true);
}

/* LayerNorm */

MT_V4_INLINE float wide_sum(const struct mt_v8 v[MT_WIDE])
{
    return mt_v8_sum(mt_v8_add(mt_v8_add(v[0], v[1]), mt_v8_add(v[2], v[3])));
}

/* Computes out = x + y, and returns the sum. */
static float add_rows(const float *x, const float *y, size_t n, float *out)
{
    struct mt_v8 zero = mt_v8_set(0.0f), sums[MT_WIDE] = {zero, zero, zero, zero};
    for (size_t i = 0; i < n; i += MT_WIDE * MT_LANES) {
        MT_V4_UNROLL
        for (size_t j = 0; j < MT_WIDE; j++) {
            size_t at = i + j * MT_LANES;
            if (at >= n)
                break;
            struct mt_v8 v = mt_v8_load(x + at, n - at);
            v = y ? mt_v8_add(v, mt_v8_load(y + at, n - at)) : v;
            sums[j] = mt_v8_add(sums[j], v);
            mt_v8_store(out + at, v, n - at);
        }
    }
    return wide_sum(sums);
}

/* Computes x -= mean, and returns the sum of squares. */
static float center(float *x, size_t n, float mean)
{
    struct mt_v8 zero = mt_v8_set(0.0f), sums[MT_WIDE] = {zero, zero, zero, zero};
    struct mt_v8 offset = mt_v8_set(mean);
    for (size_t i = 0; i < n; i += MT_WIDE * MT_LANES) {
        MT_V4_UNROLL
        for (size_t j = 0; j < MT_WIDE; j++) {
            size_t at = i + j * MT_LANES;
            if (at >= n)
                break;
            struct mt_v8 v = mt_v8_sub(mt_v8_load(x + at, n - at), offset);
            if (n - at < MT_LANES)
                v = mt_v8_with_tail(v, n - at, zero);
            sums[j] = mt_v8_fma(v, v, sums[j]);
            mt_v8_store(x + at, v, n - at);
        }
    }
    return wide_sum(sums);
}

void mt_v4_add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                    float eps, size_t n, float *out)
{
    float sum = add_rows(x, y, n, out), mean = beta ? sum / (float)n : 0.0f;
    float variance = center(out, n, mean) / (float)n;
    struct mt_v8 inverse = mt_v8_set(1.0f / sqrtf(variance + eps));
    for (size_t i = 0; i < n; i += MT_LANES) {
        struct mt_v8 v = mt_v8_mul(mt_v8_load(out + i, n - i), inverse);
        struct mt_v8 factor = mt_v8_load(gamma + i, n - i);
        v = beta ? mt_v8_fma(v, factor, mt_v8_load(beta + i, n - i)) : mt_v8_mul(v, factor);
        mt_v8_store(out + i, v, n - i);
    }
}

/* Element by element */

void mt_v4_activate(enum mt_activation activation, float *x, size_t n)
{
    if (!mt_v4_can_activate(activation)) {
        mt_kernels_reference.activate(activation, x, n);
        return;
    }
    for (size_t i = 0; i < n; i += MT_LANES) {
        struct mt_v8 v = mt_v8_load(x + i, n - i);
        if (activation == MT_RELU)
            v = (struct mt_v8){mt_v4_relu(v.low), mt_v4_relu(v.high)};
        else
            v = (struct mt_v8){mt_v4_silu(v.low), mt_v4_silu(v.high)};
        mt_v8_store(x + i, v, n - i);
    }
}

void mt_v4_ssru(const float *x, const float *gate, const float *previous, size_t n, float *next,
                float *out)
{
    for (size_t i = 0; i < n; i += MT_LANES) {
        struct mt_v8 v = mt_v8_load(x + i, n - i), g = mt_v8_load(gate + i, n - i);
        struct mt_v8 c = previous ? mt_v8_load(previous + i, n - i) : mt_v8_set(0.0f);
        g = (struct mt_v8){mt_v4_sigmoid(g.low), mt_v4_sigmoid(g.high)};
        c = mt_v8_fma(g, mt_v8_sub(c, v), v);
        mt_v8_store(next + i, c, n - i);
        mt_v8_store(out + i, (struct mt_v8){mt_v4_relu(c.low), mt_v4_relu(c.high)}, n - i);
    }
}

void mt_v4_embed(const float *table, float scale, const float *position, size_t n, float *out)
{
    struct mt_v8 factor = mt_v8_set(scale);
    for (size_t i = 0; i < n; i += MT_LANES)
        mt_v8_store(
            out + i,
            mt_v8_fma(mt_v8_load(table + i, n - i), factor, mt_v8_load(position + i, n - i)),
            n - i);
}

/* Logits */

void mt_v4_sum_exp(const float *x, size_t n, float *max, float *sum)
{
    mt_v4 largest = largest_of(x, n, -INFINITY);
    struct mt_v8 offset = {largest, largest}, total = mt_v8_set(0.0f);
    for (size_t i = 0; i < n; i += MT_LANES)
        exp_less(x + i, n - i, offset, &total);
    *max = mt_v4_first(largest) + 0.0f;
    *sum = mt_v8_sum(total);
}

void mt_v4_merge_top(const float *logits, size_t n, int32_t first_id, size_t n_top,
                     struct mt_scored_token *top)
{
    if (!n_top)
        return;
    enum { STEP = 2 * MT_LANES };
    size_t i = 0;
    struct mt_v8 threshold = mt_v8_set(mt_top_threshold(&top[n_top - 1]));
    for (; i + STEP <= n; i += STEP) {
        const float *x = logits + i;
        /* max(x, y) is y if one of them is NaN, so a possible NaN has to be on the left */
        struct mt_v8 v = mt_v8_max(mt_v8_load(x, MT_LANES), threshold);
        v = mt_v8_max(mt_v8_load(x + MT_LANES, MT_LANES), v);
        if (!mt_v4_any(mt_v4_is_above(mt_v4_max(v.low, v.high), threshold.low)))
            continue;
        mt_kernels_reference.merge_top(x, STEP, first_id + (int32_t)i, n_top, top);
        threshold = mt_v8_set(mt_top_threshold(&top[n_top - 1]));
    }
    mt_kernels_reference.merge_top(logits + i, n - i, first_id + (int32_t)i, n_top, top);
}

/* Quantisation */

static void quantize_row(const float *x, size_t n, float inverse, int32_t zero, uint8_t *q)
{
    mt_v4 factor = mt_v4_set(inverse);
    mt_i4 offset = mt_i4_set(zero);
    for (size_t i = 0; i < n; i += MT_LANES) {
        struct mt_v8 v = mt_v8_load(x + i, n - i);
        mt_i4 low = mt_i4_add(mt_v4_to_int(mt_v4_mul(v.low, factor)), offset);
        mt_i4 high = mt_i4_add(mt_v4_to_int(mt_v4_mul(v.high, factor)), offset);
        if (n - i >= MT_LANES) {
            mt_i4_store_bytes(q + i, low, high);
        } else {
            uint8_t bytes[MT_LANES];
            mt_i4_store_bytes(bytes, low, high);
            memcpy(q + i, bytes, n - i);
        }
    }
}

void mt_v4_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                    int32_t *zero)
{
    struct mt_v8 lows = mt_v8_set(0.0f), highs = lows;
    mt_v4 nans = lows.low;
    for (size_t i = 0; i < n; i += MT_LANES) { /* zeros behind the tail do not widen the range */
        struct mt_v8 v = mt_v8_load(x + i, n - i);
        lows = mt_v8_min(v, lows);
        highs = mt_v8_max(v, highs);
        nans = mt_v4_or(nans, mt_v4_or(mt_v4_is_nan(v.low), mt_v4_is_nan(v.high)));
    }
    mt_v4 low = mt_v4_min(lows.low, lows.high), high = mt_v4_max(highs.low, highs.high);
    float smallest = -mt_v4_first(mt_v4_largest(mt_v4_negate(low)));
    float range = mt_v4_first(mt_v4_largest(high)) - smallest;
    bool is_finite = !mt_v4_any(nans) && range <= MT_QUANTIZE_MAX_RANGE;
    if (!is_finite || range < MT_QUANTIZE_MIN_RANGE) {
        memset(q, 0, n_padded);
        *scale = is_finite ? 1.0f : NAN;
        *zero = 0;
        return;
    }
    *scale = range / 255.0f;
    *zero = (int32_t)rintf(-smallest * (255.0f / range));
    quantize_row(x, n, 255.0f / range, *zero, q);
    memset(q + n, 0, n_padded - n);
}

/* Measures the limit of fp32, with enough sums for two units of four cycles each. */
uint64_t mt_v4_fp32_peak(size_t n)
{
    enum { SUMS = 8 };
    mt_v4 sums[SUMS], x = mt_v4_set(1.0f), w = x;
    MT_V4_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        sums[i] = mt_v4_set((float)i);
    for (size_t round = 0; round < n; round++) {
        MT_V4_KEEP(w);
        MT_V4_UNROLL
        for (size_t i = 0; i < SUMS; i++)
            sums[i] = mt_v4_fma(x, w, sums[i]);
    }
    MT_V4_UNROLL
    for (size_t i = 0; i < SUMS; i++)
        MT_V4_KEEP(sums[i]);
    return (uint64_t)n * SUMS * 4;
}
