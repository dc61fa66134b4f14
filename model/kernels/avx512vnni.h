/*
 * The kernels for AVX512-VNNI that are faster than AVX2's; the AMX table uses them, too. Contracts:
 * kernels.h.
 */
#ifndef MT_MODEL_KERNELS_AVX512VNNI_H
#define MT_MODEL_KERNELS_AVX512VNNI_H

#include "model/kernels/kernels.h"

void mt_avx512vnni_attend_f32(const struct mt_attend *attend);
void mt_avx512vnni_attend_f16(const struct mt_attend *attend);
void mt_avx512vnni_qgemm(const struct mt_qgemm *gemm);
void mt_avx512vnni_linear_f32(const struct mt_linear_f32 *linear);
void mt_avx512vnni_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                            int32_t *zero);
void mt_avx512vnni_sum_exp(const float *x, size_t n, float *max, float *sum);
uint64_t mt_avx512vnni_stream(const uint8_t *bytes, size_t n);
uint64_t mt_avx512vnni_int8_peak(size_t n);
uint64_t mt_avx512vnni_fp32_peak(size_t n);

#endif
