/*
 * Measures the machine just before the engine is measured, so that `attentiond bench` can compare
 * the two.
 */
#ifndef MT_SERVER_COMMANDS_BENCH_MACHINE_H
#define MT_SERVER_COMMANDS_BENCH_MACHINE_H

#include "base/team.h"

struct mt_kernels;

/* Measures the bytes per second that the team reads from a buffer of n_bytes, again and again, each
 * member its part, in the way that kernels read weights. The best of several passes counts.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_bench_stream(struct mt_team *team, const struct mt_kernels *kernels,
                                             size_t n_bytes, double *bytes_per_second,
                                             struct mt_error *err);

/* Measure the multiply-adds per second of all members together, on registers. 0 where the kernels
 * cannot be measured. */
double mt_bench_int8_peak(struct mt_team *team, const struct mt_kernels *kernels);
double mt_bench_fp32_peak(struct mt_team *team, const struct mt_kernels *kernels);

/* Seconds since an arbitrary moment. */
double mt_bench_now(void);

/* Resident bytes of this process: its own, and those mapped from files. */
void mt_bench_resident(size_t *own, size_t *mapped);

#endif
