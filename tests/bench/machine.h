/*
 * What the load generator reads off the machine: the clock, and who used the processor.
 *
 * Thread-safety: safe.
 */
#ifndef MT_TESTS_BENCH_MACHINE_H
#define MT_TESTS_BENCH_MACHINE_H

#include "base/status.h"

#include <stdint.h>
#include <time.h>

#define LOAD_NS_PER_SECOND 1000000000

/* CLOCK_MONOTONIC. */
int64_t load_now_ns(void);

/* CLOCK_REALTIME, as in the kernel's stamps. */
int64_t load_real_time_ns(void);
int64_t load_to_ns(struct timespec time);

/* Seconds since something fixed: subtract two of them. Negative: not known. */
struct load_cpu {
    double daemon; /* user and system time of --pid, threads included */
    double generator;
    double stolen; /* of all cores, by other guests of the host */
};

/* pid 0: there is none to look at. Never fails: what cannot be read is negative. */
struct load_cpu load_cpu_now(int pid);

/* Memory of the process that no file backs, in bytes; negative: not known. */
int64_t load_anonymous_bytes(int pid);

/* MT_NOT_FOUND where there is no such process. */
MT_MUST_CHECK enum mt_status load_check_pid(int pid, struct mt_error *err);

#endif
