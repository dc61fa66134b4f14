/*
 * Fails one allocation of the libraries that a test is linked with: their malloc, calloc, realloc
 * and aligned_alloc come here (-Wl,--wrap=malloc and so on in meson.build). What libc and other
 * libraries ask for themselves does not.
 *
 * Thread-safety: begin and end one thread at a time; any thread may allocate meanwhile.
 */
#ifndef MT_TESTS_FAILING_ALLOCATIONS_H
#define MT_TESTS_FAILING_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* From now on n allocations are granted, and the one after them is not. */
void failing_allocations_begin(size_t n);

/* None fails any more. Whether one did. */
bool failing_allocations_end(void);

/* For who asks by a pointer to malloc, as cJSON does. */
void *failing_allocations_malloc(size_t bytes);

#endif
