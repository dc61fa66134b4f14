/*
 * A clock for deadlines and durations, which counts from an arbitrary moment and is never set back.
 * And the time of day, which may be set back.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_CLOCK_H
#define MT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t mt_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Converts to the form for condition variables. */
static inline struct timespec mt_timespec_of_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

static inline int64_t mt_now_ms(void)
{
    return mt_now_ns() / 1000000;
}

/* Returns the time of day as milliseconds since 1970, UTC. */
static inline int64_t mt_unix_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
