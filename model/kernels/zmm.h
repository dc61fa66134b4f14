/*
 * ymm.h on 512-bit registers: sixteen numbers, whose halves are eight canonical lanes each. Include
 * only from files compiled for AVX512F, too.
 */
#ifndef MT_MODEL_KERNELS_ZMM_H
#define MT_MODEL_KERNELS_ZMM_H

#include "model/kernels/ymm.h"

/* Returns a mask of the first n of sixteen lanes, or of all. */
MT_INLINE __mmask16 mt_zmm_first(size_t n)
{
    return (__mmask16)(n < 16 ? (1U << n) - 1 : 0xFFFF);
}

MT_INLINE __m256 mt_zmm_low8(__m512 x)
{
    return _mm512_castps512_ps256(x);
}

MT_INLINE __m256 mt_zmm_high8(__m512 x)
{
    return _mm256_castsi256_ps(_mm512_extracti64x4_epi64(_mm512_castps_si512(x), 1));
}

/* Computes mt_exp for sixteen numbers. */
MT_INLINE __m512 mt_zmm_exp(__m512 x)
{
    __mmask16 is_in_range = _mm512_cmp_ps_mask(x, _mm512_set1_ps(MT_EXP_LOW), _CMP_GE_OQ);
    x = _mm512_min_ps(_mm512_set1_ps(MT_EXP_HIGH), x);
    __m512 round = _mm512_set1_ps(MT_EXP_ROUND), one = _mm512_set1_ps(1.0f);
    __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(MT_EXP_LOG2E), round), round);
    __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MT_EXP_LN2_HIGH), x);
    r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MT_EXP_LN2_LOW), r);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(MT_EXP_C6), r, _mm512_set1_ps(MT_EXP_C5));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C4));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C3));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MT_EXP_C2));
    p = _mm512_fmadd_ps(p, r, one);
    p = _mm512_fmadd_ps(p, r, one);
    __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    __m512 power = _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
    return _mm512_maskz_mul_ps(is_in_range, p, power);
}

MT_INLINE __m512 mt_zmm_silu(__m512 x)
{
    __m512 minus =
        _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN)));
    return _mm512_div_ps(x, _mm512_add_ps(_mm512_set1_ps(1.0f), mt_zmm_exp(minus)));
}

#endif
