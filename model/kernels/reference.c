/*
 * The C reference of every kernel, which defines the results. It is written for reading;
 * canonical.h has the order of sums.
 */
#include "model/kernels/reference.h"

#include "base/real.h"
#include "base/size.h"
#include "model/kernels/canonical.h"
#include "weights/dtype.h"

#include <assert.h>

static size_t offset_of(const struct mt_attend *a, size_t t)
{
    return t * a->stride + (a->slots ? (size_t)a->slots[t] * a->slot_stride : 0);
}

static float dot_f32(const float *a, const float *b, size_t n)
{
    float lanes[MT_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        lanes[i % MT_LANES] = fmaf(a[i], b[i], lanes[i % MT_LANES]);
    return mt_lanes_sum(lanes);
}

static float dot_f16(const float *a, const uint16_t *b, size_t n)
{
    float lanes[MT_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        lanes[i % MT_LANES] = fmaf(a[i], mt_f16_to_f32(b[i]), lanes[i % MT_LANES]);
    return mt_lanes_sum(lanes);
}

static void softmax(float *x, size_t n)
{
    float max = x[0];
    for (size_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    float lanes[MT_LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        x[i] = mt_exp(x[i] - max);
        lanes[i % MT_LANES] += x[i];
    }
    float inverse = 1.0f / mt_lanes_sum(lanes);
    for (size_t i = 0; i < n; i++)
        x[i] *= inverse;
}

static void attend_one_f32(const struct mt_attend *a)
{
    const float *keys = a->keys, *values = a->values;
    float scale = 1.0f / sqrtf((float)a->d_k);
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t head = h * a->d_k;
        float *weights = a->weights + h * a->n, *out = a->out + head;
        for (size_t t = 0; t < a->n; t++)
            weights[t] = dot_f32(a->q + head, keys + offset_of(a, t) + head, a->d_k) * scale;
        softmax(weights, a->n);
        for (size_t i = 0; i < a->d_k; i++)
            out[i] = 0.0f;
        for (size_t t = 0; t < a->n; t++) {
            const float *v = values + offset_of(a, t) + head;
            for (size_t i = 0; i < a->d_k; i++)
                out[i] = fmaf(weights[t], v[i], out[i]);
        }
    }
}

static void attend_one_f16(const struct mt_attend *a)
{
    const uint16_t *keys = a->keys, *values = a->values;
    float scale = 1.0f / sqrtf((float)a->d_k);
    for (size_t h = 0; h < a->n_heads; h++) {
        size_t head = h * a->d_k;
        float *weights = a->weights + h * a->n, *out = a->out + head;
        for (size_t t = 0; t < a->n; t++)
            weights[t] = dot_f16(a->q + head, keys + offset_of(a, t) + head, a->d_k) * scale;
        softmax(weights, a->n);
        for (size_t i = 0; i < a->d_k; i++)
            out[i] = 0.0f;
        for (size_t t = 0; t < a->n; t++) {
            const uint16_t *v = values + offset_of(a, t) + head;
            for (size_t i = 0; i < a->d_k; i++)
                out[i] = fmaf(weights[t], mt_f16_to_f32(v[i]), out[i]);
        }
    }
}

struct mt_attend mt_attend_query(const struct mt_attend *a, size_t query)
{
    struct mt_attend one = *a;
    one.n_queries = 1;
    one.q += query * a->q_stride;
    one.weights += query * a->n_heads * a->n;
    one.out += query * a->out_stride;
    return one;
}

static void attend_f32(const struct mt_attend *a)
{
    for (size_t i = 0; i < a->n_queries; i++) {
        struct mt_attend one = mt_attend_query(a, i);
        attend_one_f32(&one);
    }
}

static void attend_f16(const struct mt_attend *a)
{
    for (size_t i = 0; i < a->n_queries; i++) {
        struct mt_attend one = mt_attend_query(a, i);
        attend_one_f16(&one);
    }
}

static void add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                     float eps, size_t n, float *out)
{
    enum { N = MT_WIDE * MT_LANES };
    float sums[N] = {0}, squares[N] = {0};
    for (size_t i = 0; i < n; i++) {
        out[i] = y ? x[i] + y[i] : x[i];
        sums[i % N] += out[i];
    }
    float mean = beta ? mt_wide_lanes_sum(sums) / (float)n : 0.0f;
    for (size_t i = 0; i < n; i++) {
        out[i] -= mean;
        squares[i % N] = fmaf(out[i], out[i], squares[i % N]);
    }
    float inverse = 1.0f / sqrtf(mt_wide_lanes_sum(squares) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = beta ? fmaf(out[i] * inverse, gamma[i], beta[i]) : out[i] * inverse * gamma[i];
}

static float linear_chunk(const float *x, const float *w, size_t n)
{
    float lanes[MT_LINEAR_LANES] = {0};
    size_t i = 0;
    for (; i + MT_LINEAR_LANES <= n; i += MT_LINEAR_LANES)
        for (size_t j = 0; j < MT_LINEAR_LANES; j++)
            lanes[j] = fmaf(x[i + j], w[i + j], lanes[j]);
    for (size_t j = 0; i + j < n; j++)
        lanes[j] = fmaf(x[i + j], w[i + j], lanes[j]);
    return mt_linear_lanes_sum(lanes);
}

static void linear_f32(const struct mt_linear_f32 *l)
{
    for (size_t n = 0; n < l->n_columns; n++) {
        const float *w = l->w + n * l->n_in;
        for (size_t m = 0; m < l->n_rows; m++) {
            float sum = l->bias ? l->bias[n] : 0.0f;
            for (size_t k = 0; k < l->n_in; k += MT_LINEAR_CHUNK)
                sum += linear_chunk(l->x + m * l->ldx + k, w + k,
                                    mt_size_min(MT_LINEAR_CHUNK, l->n_in - k));
            l->y[m * l->ldy + n] = sum;
        }
    }
}

static void activate(enum mt_activation activation, float *x, size_t n)
{
    switch (activation) {
    case MT_RELU:
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] > 0.0f ? x[i] : 0.0f;
        return;
    case MT_SILU:
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] / (1.0f + mt_exp(-x[i]));
        return;
    case MT_GELU: /* the exact one, by the error function */
        for (size_t i = 0; i < n; i++)
            x[i] = 0.5f * x[i] * (1.0f + mt_real_erf(x[i] * 0.70710678f));
        return;
    case MT_GELU_TANH: /* 0.5 (1 + tanh(z)) = 1 / (1 + exp(-2z)); 1.595769 = 2 sqrt(2 / pi) */
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] / (1.0f + mt_exp(-1.5957691f * fmaf(0.044715f * x[i] * x[i], x[i], x[i])));
        return;
    case MT_QUICK_GELU:
        for (size_t i = 0; i < n; i++)
            x[i] = x[i] / (1.0f + mt_exp(-1.702f * x[i]));
        return;
    }
}

static void embed(const float *table, float scale, const float *position, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fmaf(table[i], scale, position[i]);
}

static void ssru(const float *x, const float *gate, const float *previous, size_t n, float *next,
                 float *out)
{
    for (size_t i = 0; i < n; i++) {
        float f = 1.0f / (1.0f + mt_exp(-gate[i]));
        float c = fmaf(f, (previous ? previous[i] : 0.0f) - x[i], x[i]);
        next[i] = c;
        out[i] = c > 0.0f ? c : 0.0f;
    }
}

static void narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = mt_f32_to_f16(x[i]);
}

/* Keeps top sorted by falling logit. Ids come in ascending order, so an equal logit is put
 * behind. */
static void insert_top(struct mt_scored_token *top, size_t n_top, int32_t id, float logit)
{
    size_t at = n_top - 1;
    while (at > 0 && (top[at - 1].id < 0 || top[at - 1].logit < logit)) {
        top[at] = top[at - 1];
        at--;
    }
    top[at] = (struct mt_scored_token){.id = id, .logit = logit};
}

static void merge_top(const float *logits, size_t n, int32_t first_id, size_t n_top,
                      struct mt_scored_token *top)
{
    if (!n_top)
        return;
    const struct mt_scored_token *last = &top[n_top - 1];
    for (size_t i = 0; i < n; i++) {
        if (logits[i] > mt_top_threshold(last))
            insert_top(top, n_top, first_id + (int32_t)i, logits[i]);
    }
}

static void sum_exp(const float *x, size_t n, float *max, float *sum)
{
    float largest = -INFINITY, lanes[MT_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (size_t i = 0; i < n; i++)
        lanes[i % MT_LANES] += mt_exp(x[i] - largest);
    *max = largest + 0.0f; /* a zero always gets the sign + */
    *sum = mt_lanes_sum(lanes);
}

static void quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                     int32_t *zero)
{
    float low = 0.0f, high = 0.0f;
    bool has_nan = false;
    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        has_nan = has_nan || x[i] != x[i];
    }
    float range = high - low;
    bool is_finite = !has_nan && range <= MT_QUANTIZE_MAX_RANGE;
    if (!is_finite || range < MT_QUANTIZE_MIN_RANGE) {
        memset(q, 0, n_padded);
        *scale = is_finite ? 1.0f : NAN;
        *zero = 0;
        return;
    }
    float inverse = 255.0f / range;
    int32_t z = (int32_t)rintf(-low * inverse);
    for (size_t i = 0; i < n; i++) {
        int32_t v = (int32_t)rintf(x[i] * inverse) + z;
        q[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    memset(q + n, 0, n_padded - n);
    *scale = range / 255.0f;
    *zero = z;
}

static int32_t packed_dot(const struct mt_qgemm *g, const uint8_t *a, size_t column)
{
    const int8_t *block = g->weights + column / MT_PACK_COLUMNS * MT_PACK_COLUMNS * g->k_padded;
    const int8_t *w = block + column % MT_PACK_COLUMNS * 4;
    int32_t sum = 0;
    for (size_t k = 0; k < g->k_padded; k++)
        sum += (int32_t)a[k] * (int32_t)w[k / 4 * (MT_PACK_COLUMNS * 4) + k % 4];
    return sum;
}

static void qgemm(const struct mt_qgemm *g)
{
    for (size_t m = 0; m < g->n_rows; m++) {
        float *y = g->y + m * g->ldy;
        for (size_t n = 0; n < g->n_columns; n++) {
            int32_t sum = packed_dot(g, g->a + m * g->lda, n) - g->a_zero[m] * g->column_sums[n];
            y[n] = fmaf((float)sum, g->a_scale[m] * g->scales[n], g->bias ? g->bias[n] : 0.0f);
        }
        if (g->has_activation)
            activate(g->activation, y, g->n_columns);
    }
}

static uint64_t stream(const uint8_t *bytes, size_t n)
{
    const uint64_t *words = (const void *)bytes;
    uint64_t sums[16] = {0}, total = 0;
    for (size_t i = 0; i < n / sizeof *words; i += 16)
        for (size_t j = 0; j < 16; j++)
            sums[j] += words[i + j];
    for (size_t j = 0; j < 16; j++)
        total += sums[j];
    return total;
}

const struct mt_kernels mt_kernels_reference = {
    .name = "c",
    .attend_f32 = attend_f32,
    .attend_f16 = attend_f16,
    .add_norm = add_norm,
    .linear_f32 = linear_f32,
    .activate = activate,
    .ssru = ssru,
    .embed = embed,
    .narrow_f16 = narrow_f16,
    .sum_exp = sum_exp,
    .merge_top = merge_top,
    .quantize = quantize,
    .qgemm = qgemm,
    .stream = stream,
};
