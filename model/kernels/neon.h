/*
 * Kernels for 64-bit ARM that all of its tables use. Contracts: kernels.h. Include only from files
 * compiled for it.
 */
#ifndef MT_MODEL_KERNELS_NEON_H
#define MT_MODEL_KERNELS_NEON_H

#include "model/kernels/kernels.h"

void mt_neon_narrow_f16(const float *restrict x, size_t n, uint16_t *restrict out);
uint64_t mt_neon_stream(const uint8_t *bytes, size_t n);

#endif
