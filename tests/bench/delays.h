/*
 * How long things took, as counts of equal steps: a run of hours needs no more memory than one of
 * seconds, and no figure is off by more than a step.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_TESTS_BENCH_DELAYS_H
#define MT_TESTS_BENCH_DELAYS_H

#include <stddef.h>
#include <stdint.h>

#define LOAD_DELAY_STEP_NS 10000
#define LOAD_DELAY_STEPS 100000 /* what takes a second and longer is one step */

struct load_delays {
    uint32_t counts[LOAD_DELAY_STEPS];
    size_t n;
    int64_t longest_ns;
};

/* A negative delay, which a clock that was set may bring, counts as 0. */
void load_delays_add(struct load_delays *delays, int64_t delay_ns);

/* The delay that this share (0 to 1) did not exceed, in milliseconds, rounded up to a step; 1 gives
 * the longest itself. NaN where there is none. */
double load_delays_percentile_ms(const struct load_delays *delays, double share);

#endif
