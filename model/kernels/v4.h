/*
 * The eight canonical lanes (canonical.h) in two registers of four floats, for processors without
 * wider ones. v4_neon.h and v4_sse41.h have the operations on one register, under the same names,
 * so that everything else is written only once. Include only from files compiled for one of the
 * two.
 */
#ifndef MT_MODEL_KERNELS_V4_H
#define MT_MODEL_KERNELS_V4_H

#include "model/kernels/activation.h"
#include "model/kernels/canonical.h"
#include "model/kernels/kernels.h"

#if defined(__aarch64__)
#include "model/kernels/v4_neon.h"
#else
#include "model/kernels/v4_sse41.h"
#endif

/* Placed before a loop over registers, whose count is a constant once its function is inlined. */
#if defined(__clang__)
#define MT_V4_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MT_V4_UNROLL _Pragma("GCC unroll 16")
#endif

struct mt_v8 {
    mt_v4 low, high;
};

MT_V4_INLINE struct mt_v8 mt_v8_set(float x)
{
    return (struct mt_v8){mt_v4_set(x), mt_v4_set(x)};
}

/* Loads the first n of eight numbers, 0 < n, followed by zeros. */
MT_V4_INLINE struct mt_v8 mt_v8_load(const float *x, size_t n)
{
    if (n >= MT_LANES)
        return (struct mt_v8){mt_v4_load(x), mt_v4_load(x + 4)};
    float all[MT_LANES] = {0};
    memcpy(all, x, n * sizeof *x);
    return (struct mt_v8){mt_v4_load(all), mt_v4_load(all + 4)};
}

MT_V4_INLINE void mt_v8_store(float *x, struct mt_v8 v, size_t n)
{
    if (n >= MT_LANES) {
        mt_v4_store(x, v.low);
        mt_v4_store(x + 4, v.high);
        return;
    }
    float all[MT_LANES];
    mt_v4_store(all, v.low);
    mt_v4_store(all + 4, v.high);
    memcpy(x, all, n * sizeof *x);
}

/* Returns v in the first n lanes, and other in the rest. */
MT_V4_INLINE struct mt_v8 mt_v8_with_tail(struct mt_v8 v, size_t n, struct mt_v8 other)
{
    float all[MT_LANES];
    mt_v8_store(all, other, MT_LANES);
    mt_v8_store(all, v, n);
    return mt_v8_load(all, MT_LANES);
}

#define MT_V8_OF_TWO(name)                                                               \
    MT_V4_INLINE struct mt_v8 mt_v8_##name(struct mt_v8 a, struct mt_v8 b)               \
    {                                                                                    \
        return (struct mt_v8){mt_v4_##name(a.low, b.low), mt_v4_##name(a.high, b.high)}; \
    }
MT_V8_OF_TWO(add)
MT_V8_OF_TWO(sub)
MT_V8_OF_TWO(mul)
MT_V8_OF_TWO(div)
MT_V8_OF_TWO(max)
MT_V8_OF_TWO(min)
MT_V8_OF_TWO(or)
#undef MT_V8_OF_TWO

MT_V4_INLINE struct mt_v8 mt_v8_fma(struct mt_v8 a, struct mt_v8 b, struct mt_v8 c)
{
    return (struct mt_v8){mt_v4_fma(a.low, b.low, c.low), mt_v4_fma(a.high, b.high, c.high)};
}

/* Returns the sum in canonical order. */
MT_V4_INLINE float mt_v8_sum(struct mt_v8 v)
{
    mt_v4 pairs = mt_v4_pairs(v.low, v.high), sums = mt_v4_pairs(pairs, pairs);
    return mt_v4_first(mt_v4_pairs(sums, sums));
}

/* Returns four sums in canonical order. */
MT_V4_INLINE mt_v4 mt_v8_four_sums(const struct mt_v8 v[4])
{
    mt_v4 low = mt_v4_pairs(mt_v4_pairs(v[0].low, v[1].low), mt_v4_pairs(v[2].low, v[3].low));
    mt_v4 high = mt_v4_pairs(mt_v4_pairs(v[0].high, v[1].high), mt_v4_pairs(v[2].high, v[3].high));
    return mt_v4_add(low, high);
}

/* Computes mt_exp for four numbers. */
MT_V4_INLINE mt_v4 mt_v4_exp(mt_v4 x)
{
    mt_v4 is_in_range = mt_v4_is_at_least(x, mt_v4_set(MT_EXP_LOW));
    x = mt_v4_min(mt_v4_set(MT_EXP_HIGH), x);
    mt_v4 round = mt_v4_set(MT_EXP_ROUND), one = mt_v4_set(1.0f);
    mt_v4 n = mt_v4_sub(mt_v4_fma(x, mt_v4_set(MT_EXP_LOG2E), round), round);
    mt_v4 r = mt_v4_fma(n, mt_v4_set(-MT_EXP_LN2_HIGH), x);
    r = mt_v4_fma(n, mt_v4_set(-MT_EXP_LN2_LOW), r);
    mt_v4 p = mt_v4_fma(mt_v4_set(MT_EXP_C6), r, mt_v4_set(MT_EXP_C5));
    p = mt_v4_fma(p, r, mt_v4_set(MT_EXP_C4));
    p = mt_v4_fma(p, r, mt_v4_set(MT_EXP_C3));
    p = mt_v4_fma(p, r, mt_v4_set(MT_EXP_C2));
    p = mt_v4_fma(p, r, one);
    p = mt_v4_fma(p, r, one);
    return mt_v4_and(mt_v4_mul(p, mt_i4_power_of_two(mt_v4_to_int(n))), is_in_range);
}

MT_V4_INLINE struct mt_v8 mt_v8_exp(struct mt_v8 v)
{
    return (struct mt_v8){mt_v4_exp(v.low), mt_v4_exp(v.high)};
}

/* The GELUs have no vector form and are left to the reference. */
MT_V4_INLINE bool mt_v4_can_activate(enum mt_activation activation)
{
    return activation == MT_RELU || activation == MT_SILU;
}

MT_V4_INLINE mt_v4 mt_v4_relu(mt_v4 x)
{
    return mt_v4_max(x, mt_v4_set(0.0f));
}

MT_V4_INLINE mt_v4 mt_v4_silu(mt_v4 x)
{
    return mt_v4_div(x, mt_v4_add(mt_v4_set(1.0f), mt_v4_exp(mt_v4_negate(x))));
}

MT_V4_INLINE mt_v4 mt_v4_sigmoid(mt_v4 x)
{
    mt_v4 one = mt_v4_set(1.0f);
    return mt_v4_div(one, mt_v4_add(one, mt_v4_exp(mt_v4_negate(x))));
}

/* Kernels that the tables of these processors share (v4.c, v4_linear.c). Contracts: kernels.h. */
void mt_v4_attend_f32(const struct mt_attend *attend);
void mt_v4_attend_f16(const struct mt_attend *attend);
void mt_v4_add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                    float eps, size_t n, float *out);
void mt_v4_linear_f32(const struct mt_linear_f32 *linear);
void mt_v4_activate(enum mt_activation activation, float *x, size_t n);
void mt_v4_ssru(const float *x, const float *gate, const float *previous, size_t n, float *next,
                float *out);
void mt_v4_embed(const float *table, float scale, const float *position, size_t n, float *out);
void mt_v4_sum_exp(const float *x, size_t n, float *max, float *sum);
void mt_v4_merge_top(const float *logits, size_t n, int32_t first_id, size_t n_top,
                     struct mt_scored_token *top);
void mt_v4_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                    int32_t *zero);
uint64_t mt_v4_fp32_peak(size_t n);

#endif
