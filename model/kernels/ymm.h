/*
 * What the kernels for 256-bit registers share: canonical sums and exp on eight lanes, and tails
 * shorter than a register. Include only from files compiled for AVX2, FMA and F16C.
 */
#ifndef MT_MODEL_KERNELS_YMM_H
#define MT_MODEL_KERNELS_YMM_H

#include "model/kernels/activation.h"
#include "model/kernels/canonical.h"

#include <immintrin.h>
#include <stdbool.h>

#define MT_INLINE static inline __attribute__((always_inline))

/* Placed before a loop over registers, whose count is a constant once its function is inlined.
 * Without it gcc unrolls too late to keep the registers out of memory. */
#if defined(__clang__)
#define MT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MT_UNROLL _Pragma("GCC unroll 16")
#endif

/* Returns the sum in canonical order: two rounds of horizontal adds, then the halves. */
MT_INLINE float mt_ymm_sum(__m256 v)
{
    v = _mm256_hadd_ps(v, v);
    v = _mm256_hadd_ps(v, v);
    return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}

/* Returns the largest of eight numbers that are not NaN, in every lane. */
MT_INLINE __m256 mt_ymm_max(__m256 v)
{
    v = _mm256_max_ps(v, _mm256_permute2f128_ps(v, v, 1));
    v = _mm256_max_ps(v, _mm256_permute_ps(v, 0x4E));    /* 2 3 0 1 */
    return _mm256_max_ps(v, _mm256_permute_ps(v, 0xB1)); /* 1 0 3 2 */
}

MT_INLINE float mt_ymm_smallest(__m256 v)
{
    return -_mm256_cvtss_f32(mt_ymm_max(_mm256_xor_ps(v, _mm256_set1_ps(-0.0f))));
}

/* Computes scale and zero of a row with that range; false: all of it becomes zeros. */
MT_INLINE bool mt_quantize_begin(float smallest, float range, bool has_nan, float *scale,
                                 int32_t *zero)
{
    bool is_finite = !has_nan && range <= MT_QUANTIZE_MAX_RANGE;
    bool is_wide = is_finite && range >= MT_QUANTIZE_MIN_RANGE;
    *scale = is_wide ? range / 255.0f : is_finite ? 1.0f : NAN;
    *zero = is_wide ? _mm_cvtss_si32(_mm_set_ss(-smallest * (255.0f / range))) : 0;
    return is_wide;
}

/* Computes mt_exp for eight numbers. */
MT_INLINE __m256 mt_ymm_exp(__m256 x)
{
    __m256 is_in_range = _mm256_cmp_ps(x, _mm256_set1_ps(MT_EXP_LOW), _CMP_GE_OQ);
    x = _mm256_min_ps(_mm256_set1_ps(MT_EXP_HIGH), x);
    __m256 round = _mm256_set1_ps(MT_EXP_ROUND), one = _mm256_set1_ps(1.0f);
    __m256 n = _mm256_sub_ps(_mm256_fmadd_ps(x, _mm256_set1_ps(MT_EXP_LOG2E), round), round);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-MT_EXP_LN2_HIGH), x);
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(-MT_EXP_LN2_LOW), r);
    __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(MT_EXP_C6), r, _mm256_set1_ps(MT_EXP_C5));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MT_EXP_C4));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MT_EXP_C3));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MT_EXP_C2));
    p = _mm256_fmadd_ps(p, r, one);
    p = _mm256_fmadd_ps(p, r, one);
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    __m256 power = _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
    return _mm256_and_ps(_mm256_mul_ps(p, power), is_in_range);
}

/* Returns all ones in the first n lanes, n at most 8. */
MT_INLINE __m256i mt_ymm_mask(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* Loads the first n numbers, n below 8, followed by zeros. */
MT_INLINE __m256 mt_ymm_load_tail(const float *x, size_t n)
{
    return _mm256_maskload_ps(x, mt_ymm_mask(n));
}

/* Stores in parts, because a masked store costs a dozen cycles on AMD's cores. */
MT_INLINE void mt_ymm_store_tail(float *x, __m256 v, size_t n)
{
    __m128 part = _mm256_castps256_ps128(v);
    if (n & 4) {
        _mm_storeu_ps(x, part);
        part = _mm256_extractf128_ps(v, 1);
        x += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)x, part);
        part = _mm_movehl_ps(part, part);
        x += 2;
    }
    if (n & 1)
        _mm_store_ss(x, part);
}

/* Stores the first n of four numbers, or all of them. */
MT_INLINE void mt_xmm_store(float *x, __m128 v, size_t n)
{
    if (n >= 4)
        _mm_storeu_ps(x, v);
    else
        mt_ymm_store_tail(x, _mm256_castps128_ps256(v), n);
}

/* Loads eight numbers of which only the first n exist, 0 < n <= 8; the others are zeros. */
MT_INLINE __m256 mt_ymm_load(const float *x, size_t n)
{
    return n >= 8 ? _mm256_loadu_ps(x) : mt_ymm_load_tail(x, n);
}

MT_INLINE void mt_ymm_store(float *x, __m256 v, size_t n)
{
    if (n >= 8)
        _mm256_storeu_ps(x, v);
    else
        mt_ymm_store_tail(x, v, n);
}

/* The GELUs have no vector form and are left to the reference. */
MT_INLINE bool mt_ymm_can_activate(enum mt_activation activation)
{
    return activation == MT_RELU || activation == MT_SILU;
}

/* Activations of eight numbers. */
MT_INLINE __m256 mt_ymm_relu(__m256 x)
{
    return _mm256_max_ps(x, _mm256_setzero_ps());
}

MT_INLINE __m256 mt_ymm_sigmoid(__m256 x)
{
    __m256 one = _mm256_set1_ps(1.0f);
    __m256 exp = mt_ymm_exp(_mm256_xor_ps(x, _mm256_set1_ps(-0.0f)));
    return _mm256_div_ps(one, _mm256_add_ps(one, exp));
}

MT_INLINE __m256 mt_ymm_silu(__m256 x)
{
    __m256 exp = mt_ymm_exp(_mm256_xor_ps(x, _mm256_set1_ps(-0.0f)));
    return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), exp));
}

#endif
