/*
 * The int8 linear layer for AVX512-VNNI, which the AMX table uses, too. Contracts: kernels.h.
 */
#ifndef MT_MODEL_KERNELS_AVX512VNNI_H
#define MT_MODEL_KERNELS_AVX512VNNI_H

#include "model/kernels/kernels.h"

void mt_avx512vnni_qgemm(const struct mt_qgemm *gemm);
uint64_t mt_avx512vnni_int8_peak(size_t n);
uint64_t mt_avx512vnni_fp32_peak(size_t n);

#endif
