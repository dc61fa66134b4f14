/*
 * Measures which programs used the processors while `attentiond bench` ran. If others did, then its
 * figures are too low.
 */
#ifndef MT_SERVER_COMMANDS_BENCH_USAGE_H
#define MT_SERVER_COMMANDS_BENCH_USAGE_H

#include <sched.h>
#include <stdbool.h>

/* Seconds of processor time since a fixed moment, on the processors that this process may use. Only
 * differences are meaningful. */
struct mt_bench_usage {
    double all;    /* used or not */
    double used;   /* by any program, including this one */
    double stolen; /* by the host of this virtual machine */
    double own;    /* by this process */
};

/* Adds a line of /proc/stat, which is in ticks, if it is about one of these processors. Returns
 * false where such a line is malformed. */
bool mt_bench_usage_add(struct mt_bench_usage *usage, const char *line, const cpu_set_t *processors,
                        double ticks_per_second);

/* Returns false where the system does not provide the times. */
bool mt_bench_usage_now(struct mt_bench_usage *usage);

/* The fractions of all processors' time, from 0 to 1, that other programs and the host used. */
struct mt_bench_shares {
    double others, host;
};

struct mt_bench_shares mt_bench_shares(const struct mt_bench_usage *before,
                                       const struct mt_bench_usage *after);

#endif
