/*
 * The C reference of every kernel: what the numbers mean. Written for reading; canonical.h gives
 * the order of sums.
 */
#include "model/kernels/reference.h"

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

static void attend_f32(const struct mt_attend *a)
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

static void attend_f16(const struct mt_attend *a)
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

static void add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                     float eps, size_t n, float *out)
{
    float sums[MT_LANES] = {0}, squares[MT_LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        out[i] = y ? x[i] + y[i] : x[i];
        sums[i % MT_LANES] += out[i];
    }
    float mean = mt_lanes_sum(sums) / (float)n;
    for (size_t i = 0; i < n; i++) {
        out[i] -= mean;
        squares[i % MT_LANES] = fmaf(out[i], out[i], squares[i % MT_LANES]);
    }
    float inverse = 1.0f / sqrtf(mt_lanes_sum(squares) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = fmaf(out[i] * inverse, gamma[i], beta[i]);
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
            x[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
        return;
    }
}

static void embed(const float *restrict table, float scale, const float *restrict position,
                  size_t n, float *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fmaf(table[i], scale, position[i]);
}

static void narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = mt_f32_to_f16(x[i]);
}

static bool is_suppressed(const struct mt_select *s, size_t id)
{
    for (size_t i = 0; i < s->n_suppressed; i++)
        if ((size_t)s->suppressed[i] == id)
            return true;
    return false;
}

/* Keeps top sorted by falling logit; ids come in rising order, so an equal logit goes behind. */
void mt_top_insert(struct mt_scored_token *top, size_t n_top, int32_t id, float logit)
{
    size_t at = n_top - 1;
    while (at > 0 && (top[at - 1].id < 0 || top[at - 1].logit < logit)) {
        top[at] = top[at - 1];
        at--;
    }
    top[at] = (struct mt_scored_token){.id = id, .logit = logit};
}

static bool is_counted(const struct mt_select *s, size_t id)
{
    return !(s->normalize_over_allowed && is_suppressed(s, id));
}

static void select_top(struct mt_select *s)
{
    for (size_t i = 0; i < s->n_top; i++)
        s->top[i] = (struct mt_scored_token){.id = MT_NO_TOKEN};
    if (!s->n_top)
        return;
    const struct mt_scored_token *last = &s->top[s->n_top - 1];
    for (size_t id = 0; id < s->n_vocab; id++)
        if ((last->id < 0 || s->logits[id] > last->logit) && !is_suppressed(s, id))
            mt_top_insert(s->top, s->n_top, (int32_t)id, s->logits[id]);
}

static void select_tokens(struct mt_select *s)
{
    select_top(s);
    s->max_logit = -INFINITY;
    for (size_t id = 0; id < s->n_vocab; id++)
        if (is_counted(s, id) && s->logits[id] > s->max_logit)
            s->max_logit = s->logits[id];
    s->sum_exp = 0.0f;
    for (size_t begin = 0; begin < s->n_vocab; begin += MT_SELECT_BLOCK) {
        float lanes[MT_LANES] = {0};
        size_t end = mt_size_min(begin + MT_SELECT_BLOCK, s->n_vocab);
        for (size_t id = begin; id < end; id++)
            if (is_counted(s, id))
                lanes[(id - begin) % MT_LANES] += mt_exp(s->logits[id] - s->max_logit);
        s->sum_exp += mt_lanes_sum(lanes);
    }
}

const struct mt_kernels mt_kernels_reference = {
    .name = "c",
    .attend_f32 = attend_f32,
    .attend_f16 = attend_f16,
    .add_norm = add_norm,
    .activate = activate,
    .embed = embed,
    .narrow_f16 = narrow_f16,
    .select = select_tokens,
};
