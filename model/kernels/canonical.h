/*
 * The order of sums, and the arithmetic of exp, which are the same in every kernel, so that all
 * instruction sets give the same bits.
 *
 * A sum over n elements uses 8 lanes: lane i takes elements i, i + 8, i + 16, ... in order, by
 * fused multiply-add where products are summed. The lanes are then added as ((l0 + l1) + (l2 + l3))
 * + ((l4 + l5) + (l6 + l7)), which is what two rounds of horizontal adds and one of halves give on
 * a 256-bit register.
 *
 * LayerNorm's sums over a whole row use MT_WIDE times as many lanes, so that an addition need not
 * wait for the previous one: lanes j, j + 8, j + 16, j + 24 of 32 are added as (l0 + l1) + (l2 +
 * l3), and then as above.
 *
 * An fp32 linear layer has twice as many lanes: j and j + 8 of 16 are added, and then as above. It
 * makes such a sum of every MT_LINEAR_CHUNK elements, whose weights stay in the fastest cache, and
 * adds these sums to the bias in order.
 */
#ifndef MT_MODEL_KERNELS_CANONICAL_H
#define MT_MODEL_KERNELS_CANONICAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_LANES 8
#define MT_WIDE 4
#define MT_LINEAR_LANES 16
#define MT_LINEAR_CHUNK 512

static inline float mt_lanes_sum(const float lanes[MT_LANES])
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static inline float mt_wide_lanes_sum(const float lanes[MT_WIDE * MT_LANES])
{
    float sums[MT_LANES];
    for (size_t j = 0; j < MT_LANES; j++)
        sums[j] =
            (lanes[j] + lanes[MT_LANES + j]) + (lanes[2 * MT_LANES + j] + lanes[3 * MT_LANES + j]);
    return mt_lanes_sum(sums);
}

static inline float mt_linear_lanes_sum(const float lanes[MT_LINEAR_LANES])
{
    float sums[MT_LANES];
    for (size_t j = 0; j < MT_LANES; j++)
        sums[j] = lanes[j] + lanes[MT_LANES + j];
    return mt_lanes_sum(sums);
}

/*
 * Computes exp(x) as 2^n * e^r, n = round(x / ln 2), |r| <= ln(2) / 2; e^r by its Taylor series to
 * the sixth power, error below 2 units in the last place. Arguments below -87 give 0, and above 88
 * the value at 88.
 */
#define MT_EXP_LOW (-87.0f)
#define MT_EXP_HIGH 88.0f
#define MT_EXP_LOG2E 1.44269504f
#define MT_EXP_ROUND 12582912.0f /* 1.5 * 2^23: adding and subtracting it rounds to an integer */
#define MT_EXP_LN2_HIGH 0.693145752f /* 16 significant bits: n * MT_EXP_LN2_HIGH is exact */
#define MT_EXP_LN2_LOW 1.42860677e-6f
#define MT_EXP_C2 0.5f
#define MT_EXP_C3 0.166666667f
#define MT_EXP_C4 0.0416666667f
#define MT_EXP_C5 0.00833333333f
#define MT_EXP_C6 0.00138888889f

static inline float mt_exp(float x)
{
    if (!(x >= MT_EXP_LOW))
        return 0.0f;
    x = x > MT_EXP_HIGH ? MT_EXP_HIGH : x;
    float n = fmaf(x, MT_EXP_LOG2E, MT_EXP_ROUND) - MT_EXP_ROUND;
    float r = fmaf(n, -MT_EXP_LN2_HIGH, x);
    r = fmaf(n, -MT_EXP_LN2_LOW, r);
    float p = fmaf(MT_EXP_C6, r, MT_EXP_C5);
    p = fmaf(p, r, MT_EXP_C4);
    p = fmaf(p, r, MT_EXP_C3);
    p = fmaf(p, r, MT_EXP_C2);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* The vocabulary is searched in blocks of this many logits, each with its own sum of exponentials,
 * so that any member gets the same bits for a block. A multiple of MT_PACK_COLUMNS. */
#define MT_SELECT_BLOCK 512

/* Ranges that can be quantised: 255 / range is neither infinite nor denormal. */
#define MT_QUANTIZE_MIN_RANGE 1e-30f
#define MT_QUANTIZE_MAX_RANGE 1e30f

#endif
