/*
 * Who used the processors while `attentiond bench` measured: where other programs did, its figures
 * are not the machine's.
 */
#ifndef MT_SERVER_COMMANDS_BENCH_USAGE_H
#define MT_SERVER_COMMANDS_BENCH_USAGE_H

#include <sched.h>
#include <stdbool.h>

/* Seconds of processor time since something fixed, on the processors that this process may use:
 * subtract two of them. */
struct mt_bench_usage {
    double all;    /* used or not */
    double used;   /* by any program, this one included */
    double stolen; /* by the host of this virtual machine */
    double own;    /* by this process */
};

/* Adds a line of /proc/stat, in ticks, if it is of one of these processors; false: it is of one,
 * and does not say what it should. */
bool mt_bench_usage_add(struct mt_bench_usage *usage, const char *line, const cpu_set_t *processors,
                        double ticks_per_second);

/* false: the system does not tell. */
bool mt_bench_usage_now(struct mt_bench_usage *usage);

/* The parts of all processors' time, from 0 to 1, that other programs and the host took. */
struct mt_bench_shares {
    double others, host;
};

struct mt_bench_shares mt_bench_shares(const struct mt_bench_usage *before,
                                       const struct mt_bench_usage *after);

#endif
