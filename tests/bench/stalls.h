/*
 * When the machine itself stood still: a guest whose host has something else to do, a kernel that
 * is busy. One thread for each processor, with real-time priority, sleeps and sleeps again; where
 * it comes back late nobody else had that processor, either.
 *
 * Thread-safety: start and stop one thread at a time; the rest is safe in between.
 */
#ifndef MT_TESTS_BENCH_STALLS_H
#define MT_TESTS_BENCH_STALLS_H

#include "base/status.h"

#include <stdint.h>

struct load_stalls;

/* MT_UNSUPPORTED: this user has no real-time priority. MT_IO: no thread. MT_MEMORY. */
MT_MUST_CHECK enum mt_status load_stalls_start(struct load_stalls **out, struct mt_error *err);

/* Takes NULL. */
void load_stalls_stop(struct load_stalls *stalls);

/* How much of a span of time, of CLOCK_REALTIME, a processor stood still: the one that did longest.
 * Of spans that ended a moment ago. */
int64_t load_stalls_within(struct load_stalls *stalls, int64_t from_ns, int64_t until_ns);

/* The longest since the start; 0: there was none. */
int64_t load_stalls_longest(struct load_stalls *stalls);

#endif
