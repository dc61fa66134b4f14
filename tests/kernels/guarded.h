/*
 * Memory for kernel tests: a buffer ends right before a page that must not be touched, so that
 * reading or writing one element too many is a crash and not luck. And random numbers of the kinds
 * that break kernels.
 */
#ifndef MT_TESTS_KERNELS_GUARDED_H
#define MT_TESTS_KERNELS_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Buffers of one case, freed together. {0} is an empty one. Exits the program when there is no
 * memory. */
struct guarded {
    struct guarded_map {
        void *base;
        size_t bytes;
    } maps[64];
    size_t n;
};

/* count elements of `size` bytes, all bytes 0xA5; the end is aligned to the guard page, so the
 * start is aligned to `size` only. */
void *guarded_take(struct guarded *g, size_t count, size_t size);
void guarded_free(struct guarded *g);

/* A generator of its own, so that a failure's seed says all. */
struct dice {
    uint64_t state;
};

uint64_t dice_bits(struct dice *d);
/* 0 to n - 1. */
size_t dice_below(struct dice *d, size_t n);
/* Between -1 and 1. */
float dice_float(struct dice *d);

enum numbers {
    NUMBERS_PLAIN, /* between -1 and 1 */
    NUMBERS_WIDE,  /* exponents from 2^-40 to 2^40 */
    NUMBERS_ZERO,  /* of both signs */
    NUMBERS_TINY,  /* denormal */
    NUMBERS_EQUAL,
    NUMBERS_INFINITE, /* some of them */
    NUMBERS_NAN,      /* some of them */
    NUMBERS_KINDS,
};

void dice_floats(struct dice *d, enum numbers kind, float *x, size_t n);

#endif
