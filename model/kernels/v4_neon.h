/*
 * v4.h's operations on NEON, which every 64-bit ARM has.
 */
#ifndef MT_MODEL_KERNELS_V4_NEON_H
#define MT_MODEL_KERNELS_V4_NEON_H

#if defined(__aarch64__) /* other compilers do not have the header */

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_V4_INLINE static inline __attribute__((always_inline))

/* Makes the compiler assume that the register has changed. Otherwise it would remove the loop that
 * measures the peak. */
#define MT_V4_KEEP(v) __asm__ volatile("" : "+w"(v))

typedef float32x4_t mt_v4;
typedef int32x4_t mt_i4;

MT_V4_INLINE mt_v4 mt_v4_set(float x)
{
    return vdupq_n_f32(x);
}

MT_V4_INLINE mt_v4 mt_v4_load(const float *x)
{
    return vld1q_f32(x);
}

MT_V4_INLINE void mt_v4_store(float *x, mt_v4 v)
{
    vst1q_f32(x, v);
}

MT_V4_INLINE mt_v4 mt_v4_add(mt_v4 a, mt_v4 b)
{
    return vaddq_f32(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_sub(mt_v4 a, mt_v4 b)
{
    return vsubq_f32(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_mul(mt_v4 a, mt_v4 b)
{
    return vmulq_f32(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_div(mt_v4 a, mt_v4 b)
{
    return vdivq_f32(a, b);
}

/* a * b + c, rounded once. */
MT_V4_INLINE mt_v4 mt_v4_fma(mt_v4 a, mt_v4 b, mt_v4 c)
{
    return vfmaq_f32(c, a, b);
}

/* Return a > b ? a : b, and a < b ? a : b, so that a NaN gives b. The instruction of that name
 * would give the NaN. */
MT_V4_INLINE mt_v4 mt_v4_max(mt_v4 a, mt_v4 b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

MT_V4_INLINE mt_v4 mt_v4_min(mt_v4 a, mt_v4 b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

MT_V4_INLINE mt_v4 mt_v4_negate(mt_v4 v)
{
    return vnegq_f32(v);
}

/* Return all ones in lanes for which this is true. */
MT_V4_INLINE mt_v4 mt_v4_is_at_least(mt_v4 a, mt_v4 b)
{
    return vreinterpretq_f32_u32(vcgeq_f32(a, b));
}

MT_V4_INLINE mt_v4 mt_v4_is_above(mt_v4 a, mt_v4 b)
{
    return vreinterpretq_f32_u32(vcgtq_f32(a, b));
}

MT_V4_INLINE mt_v4 mt_v4_is_nan(mt_v4 v)
{
    return vreinterpretq_f32_u32(vmvnq_u32(vceqq_f32(v, v)));
}

MT_V4_INLINE mt_v4 mt_v4_and(mt_v4 a, mt_v4 b)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}

MT_V4_INLINE mt_v4 mt_v4_or(mt_v4 a, mt_v4 b)
{
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}

MT_V4_INLINE bool mt_v4_any(mt_v4 mask)
{
    return vmaxvq_u32(vreinterpretq_u32_f32(mask)) != 0;
}

/* Returns a0 + a1, a2 + a3, b0 + b1, b2 + b3. */
MT_V4_INLINE mt_v4 mt_v4_pairs(mt_v4 a, mt_v4 b)
{
    return vpaddq_f32(a, b);
}

MT_V4_INLINE float mt_v4_first(mt_v4 v)
{
    return vgetq_lane_f32(v, 0);
}

/* Returns the largest of four numbers that are not NaN, in every lane. */
MT_V4_INLINE mt_v4 mt_v4_largest(mt_v4 v)
{
    return vdupq_n_f32(vmaxvq_f32(v));
}

/* Rounds to the nearest integer, and to the even one of two. */
MT_V4_INLINE mt_i4 mt_v4_to_int(mt_v4 v)
{
    return vcvtnq_s32_f32(v);
}

MT_V4_INLINE mt_v4 mt_i4_to_float(mt_i4 v)
{
    return vcvtq_f32_s32(v);
}

MT_V4_INLINE mt_i4 mt_i4_set(int32_t x)
{
    return vdupq_n_s32(x);
}

MT_V4_INLINE mt_i4 mt_i4_load(const int32_t *x)
{
    return vld1q_s32(x);
}

MT_V4_INLINE mt_i4 mt_i4_add(mt_i4 a, mt_i4 b)
{
    return vaddq_s32(a, b);
}

/* Returns a - b c. */
MT_V4_INLINE mt_i4 mt_i4_less_product(mt_i4 a, mt_i4 b, mt_i4 c)
{
    return vmlsq_s32(a, b, c);
}

/* Returns 2 to the power of a number from -126 to 127. */
MT_V4_INLINE mt_v4 mt_i4_power_of_two(mt_i4 v)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(v, vdupq_n_s32(127)), 23));
}

/* Stores eight numbers as bytes: below 0 as 0, above 255 as 255. */
MT_V4_INLINE void mt_i4_store_bytes(uint8_t *bytes, mt_i4 low, mt_i4 high)
{
    vst1_u8(bytes, vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high))));
}

/* Loads eight binary16 numbers. */
MT_V4_INLINE void mt_v4_load_f16(const uint16_t *x, mt_v4 *low, mt_v4 *high)
{
    uint16x8_t halves = vld1q_u16(x);
    *low = vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(halves)));
    *high = vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(halves)));
}

MT_V4_INLINE void mt_prefetch(const void *address)
{
    __builtin_prefetch(address, 0, 2);
}

#endif

#endif
