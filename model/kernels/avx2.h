/*
 * Kernels for AVX2, FMA and F16C that the tables of later CPUs use too. Contracts: kernels.h.
 */
#ifndef MT_MODEL_KERNELS_AVX2_H
#define MT_MODEL_KERNELS_AVX2_H

#include "model/kernels/kernels.h"

void mt_avx2_attend_f32(const struct mt_attend *attend);
void mt_avx2_attend_f16(const struct mt_attend *attend);
void mt_avx2_add_norm(const float *x, const float *y, const float *gamma, const float *beta,
                      float eps, size_t n, float *out);
void mt_avx2_linear_f32(const struct mt_linear_f32 *linear);
void mt_avx2_activate(enum mt_activation activation, float *x, size_t n);
void mt_avx2_embed(const float *table, float scale, const float *position, size_t n, float *out);
void mt_avx2_ssru(const float *x, const float *gate, const float *previous, size_t n, float *next,
                  float *out);
void mt_avx2_narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out);
void mt_avx2_sum_exp(const float *x, size_t n, float *max, float *sum);
void mt_avx2_merge_top(const float *logits, size_t n, int32_t first_id, size_t n_top,
                       struct mt_scored_token *top);
void mt_avx2_quantize(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                      int32_t *zero);
void mt_avx2_qgemm(const struct mt_qgemm *gemm);
uint64_t mt_avx2_stream(const uint8_t *bytes, size_t n);
uint64_t mt_avx2_int8_peak(size_t n);
uint64_t mt_avx2_fp32_peak(size_t n);

#endif
