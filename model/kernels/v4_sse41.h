/*
 * v4.h's operations on SSE4.1. There is no fused multiply-add. Instead, a product of two floats is
 * computed as a double, where it is exact, the third number is added, and the sum is rounded to a
 * float. This is wrong only if the double was rounded to the middle between two floats, or if the
 * result is a denormal float, which has fewer bits. Such lanes are rare; they are recognised by
 * their bits, and computed one by one. Include only from files compiled for SSE4.1.
 */
#ifndef MT_MODEL_KERNELS_V4_SSE41_H
#define MT_MODEL_KERNELS_V4_SSE41_H

#include <math.h>
#include <smmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_V4_INLINE static inline __attribute__((always_inline))

/* Makes the compiler assume that the register has changed. Otherwise it would remove the loop that
 * measures the peak. */
#define MT_V4_KEEP(v) __asm__ volatile("" : "+x"(v))

typedef __m128 mt_v4;
typedef __m128i mt_i4;

MT_V4_INLINE mt_v4 mt_v4_set(float x)
{
    return _mm_set1_ps(x);
}

MT_V4_INLINE mt_v4 mt_v4_load(const float *x)
{
    return _mm_loadu_ps(x);
}

MT_V4_INLINE void mt_v4_store(float *x, mt_v4 v)
{
    _mm_storeu_ps(x, v);
}

MT_V4_INLINE mt_v4 mt_v4_add(mt_v4 a, mt_v4 b)
{
    return _mm_add_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_sub(mt_v4 a, mt_v4 b)
{
    return _mm_sub_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_mul(mt_v4 a, mt_v4 b)
{
    return _mm_mul_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_div(mt_v4 a, mt_v4 b)
{
    return _mm_div_ps(a, b);
}

static __attribute__((noinline, unused)) mt_v4 mt_v4_fma_each(mt_v4 a, mt_v4 b, mt_v4 c)
{
    float x[4], y[4], z[4];
    _mm_storeu_ps(x, a);
    _mm_storeu_ps(y, b);
    _mm_storeu_ps(z, c);
    for (size_t i = 0; i < 4; i++)
        z[i] = fmaf(x[i], y[i], z[i]);
    return _mm_loadu_ps(z);
}

MT_V4_INLINE __m128d mt_v4_product_sum(mt_v4 a, mt_v4 b, mt_v4 c)
{
    return _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
}

/* a * b + c, rounded once. */
MT_V4_INLINE mt_v4 mt_v4_fma(mt_v4 a, mt_v4 b, mt_v4 c)
{
    __m128d low = mt_v4_product_sum(a, b, c);
    __m128d high = mt_v4_product_sum(_mm_movehl_ps(a, a), _mm_movehl_ps(b, b), _mm_movehl_ps(c, c));
    __m128 l = _mm_castpd_ps(low), h = _mm_castpd_ps(high);
    __m128i ends = _mm_castps_si128(_mm_shuffle_ps(l, h, 0x88)); /* the lower halves of doubles */
    __m128i tops =
        _mm_and_si128(_mm_castps_si128(_mm_shuffle_ps(l, h, 0xDD)), _mm_set1_epi32(0x7FFFFFFF));
    /* The 29 bits that a float does not have are a one and zeros, which is the middle. */
    __m128i is_middle =
        _mm_cmpeq_epi32(_mm_slli_epi32(ends, 3), _mm_set1_epi32((int32_t)0x80000000u));
    /* The magnitude is below 2^-126, and not 0. */
    __m128i is_small = _mm_and_si128(_mm_cmpgt_epi32(_mm_set1_epi32(0x38100000), tops),
                                     _mm_cmpgt_epi32(tops, _mm_setzero_si128()));
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(is_middle, is_small)), 0))
        return mt_v4_fma_each(a, b, c);
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

/* Return a > b ? a : b, and a < b ? a : b, so that a NaN gives b. */
MT_V4_INLINE mt_v4 mt_v4_max(mt_v4 a, mt_v4 b)
{
    return _mm_max_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_min(mt_v4 a, mt_v4 b)
{
    return _mm_min_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_negate(mt_v4 v)
{
    return _mm_xor_ps(v, _mm_set1_ps(-0.0f));
}

/* Return all ones in lanes for which this is true. */
MT_V4_INLINE mt_v4 mt_v4_is_at_least(mt_v4 a, mt_v4 b)
{
    return _mm_cmpge_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_is_above(mt_v4 a, mt_v4 b)
{
    return _mm_cmpgt_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_is_nan(mt_v4 v)
{
    return _mm_cmpunord_ps(v, v);
}

MT_V4_INLINE mt_v4 mt_v4_and(mt_v4 a, mt_v4 b)
{
    return _mm_and_ps(a, b);
}

MT_V4_INLINE mt_v4 mt_v4_or(mt_v4 a, mt_v4 b)
{
    return _mm_or_ps(a, b);
}

MT_V4_INLINE bool mt_v4_any(mt_v4 mask)
{
    return _mm_movemask_ps(mask) != 0;
}

/* Returns a0 + a1, a2 + a3, b0 + b1, b2 + b3. */
MT_V4_INLINE mt_v4 mt_v4_pairs(mt_v4 a, mt_v4 b)
{
    return _mm_hadd_ps(a, b);
}

MT_V4_INLINE float mt_v4_first(mt_v4 v)
{
    return _mm_cvtss_f32(v);
}

/* Returns the largest of four numbers that are not NaN, in every lane. */
MT_V4_INLINE mt_v4 mt_v4_largest(mt_v4 v)
{
    v = _mm_max_ps(v, _mm_shuffle_ps(v, v, 0x4E));
    return _mm_max_ps(v, _mm_shuffle_ps(v, v, 0xB1));
}

/* Rounds to the nearest integer, and to the even one of two. */
MT_V4_INLINE mt_i4 mt_v4_to_int(mt_v4 v)
{
    return _mm_cvtps_epi32(v);
}

MT_V4_INLINE mt_v4 mt_i4_to_float(mt_i4 v)
{
    return _mm_cvtepi32_ps(v);
}

MT_V4_INLINE mt_i4 mt_i4_set(int32_t x)
{
    return _mm_set1_epi32(x);
}

MT_V4_INLINE mt_i4 mt_i4_load(const int32_t *x)
{
    return _mm_loadu_si128((const void *)x);
}

MT_V4_INLINE mt_i4 mt_i4_add(mt_i4 a, mt_i4 b)
{
    return _mm_add_epi32(a, b);
}

/* Returns a - b c. */
MT_V4_INLINE mt_i4 mt_i4_less_product(mt_i4 a, mt_i4 b, mt_i4 c)
{
    return _mm_sub_epi32(a, _mm_mullo_epi32(b, c));
}

/* Returns 2 to the power of a number from -126 to 127. */
MT_V4_INLINE mt_v4 mt_i4_power_of_two(mt_i4 v)
{
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(v, _mm_set1_epi32(127)), 23));
}

/* Stores eight numbers as bytes: below 0 as 0, above 255 as 255. */
MT_V4_INLINE void mt_i4_store_bytes(uint8_t *bytes, mt_i4 low, mt_i4 high)
{
    __m128i words = _mm_packs_epi32(low, high);
    _mm_storel_epi64((void *)bytes, _mm_packus_epi16(words, words));
}

/* Widens four binary16 numbers: a multiplication, which is exact, corrects the exponent. */
MT_V4_INLINE mt_v4 mt_v4_widen(__m128i words)
{
    __m128i magnitude = _mm_and_si128(words, _mm_set1_epi32(0x7FFF));
    __m128i sign = _mm_slli_epi32(_mm_xor_si128(words, magnitude), 16);
    __m128i is_endless = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7BFF));
    __m128 value =
        _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)), _mm_set1_ps(0x1p112f));
    __m128i exponent = _mm_and_si128(is_endless, _mm_set1_epi32(0x7F800000));
    return _mm_or_ps(value, _mm_castsi128_ps(_mm_or_si128(sign, exponent)));
}

MT_V4_INLINE void mt_v4_load_f16(const uint16_t *x, mt_v4 *low, mt_v4 *high)
{
    __m128i halves = _mm_loadu_si128((const void *)x);
    *low = mt_v4_widen(_mm_cvtepu16_epi32(halves));
    *high = mt_v4_widen(_mm_unpackhi_epi16(halves, _mm_setzero_si128()));
}

MT_V4_INLINE void mt_prefetch(const void *address)
{
    _mm_prefetch(address, _MM_HINT_T1);
}

#endif
