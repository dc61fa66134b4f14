/*
 * Times kernels beside what the machine can do.
 */
#ifndef MT_TESTS_KERNELS_BENCH_KERNELS_H
#define MT_TESTS_KERNELS_BENCH_KERNELS_H

#include "model/kernels/kernels.h"

/* Prints the time of every kernel, or of those with `only` in their name, on the shapes of a
 * base-size model. */
void bench_table(const struct mt_kernels *kernels, const char *only);

#endif
