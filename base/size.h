/*
 * Checked arithmetic on sizes. Every size that comes from a file, the network or the configuration
 * passes through here before it is used to allocate, index or map.
 */
#ifndef MT_BASE_SIZE_H
#define MT_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both return false on overflow and then leave *out unchanged. */
static inline bool mt_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool mt_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

static inline size_t mt_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t mt_size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Rounds up to a multiple of a power of two. The caller guarantees that value + multiple does not
 * overflow. */
static inline size_t mt_size_round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) & ~(multiple - 1);
}

#endif
