#include "tests/unit/failing_allocations.h"

#include <stdatomic.h>
#include <stdint.h>

#define NEVER INT64_MAX

static _Atomic int64_t n_left = NEVER;

static bool fails_now(void)
{
    return atomic_load(&n_left) != NEVER && atomic_fetch_sub(&n_left, 1) == 0;
}

void failing_allocations_begin(size_t n)
{
    atomic_store(&n_left, (int64_t)n);
}

bool failing_allocations_end(void)
{
    return atomic_exchange(&n_left, NEVER) < 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, bytes);
}

void *failing_allocations_malloc(size_t bytes)
{
    return __wrap_malloc(bytes);
}
