/*
 * The kernels for CPUs that few developers have, with their instructions emulated
 * (emulated_x86.h): they run wherever AVX2 is.
 */
#ifndef MT_TESTS_KERNELS_EMULATED_H
#define MT_TESTS_KERNELS_EMULATED_H

#include "model/kernels/kernels.h"

extern const struct mt_kernels emulated_avxvnni, emulated_avx512vnni, emulated_amx;

#endif
