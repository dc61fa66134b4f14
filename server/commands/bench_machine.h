/*
 * What the machine can do, measured a moment before the engine is: the yardstick of `attentiond
 * bench`.
 */
#ifndef MT_SERVER_COMMANDS_BENCH_MACHINE_H
#define MT_SERVER_COMMANDS_BENCH_MACHINE_H

#include "base/team.h"

struct mt_kernels;

/* Bytes per second that the team reads from a buffer of so many bytes, each member its share, again
 * and again, as the kernels read weights. The best of several passes. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_bench_stream(struct mt_team *team, const struct mt_kernels *kernels,
                                             size_t n_bytes, double *bytes_per_second,
                                             struct mt_error *err);

/* Multiply-adds per second of all members together, on registers.
 * 0 where the kernels do not tell. */
double mt_bench_int8_peak(struct mt_team *team, const struct mt_kernels *kernels);
double mt_bench_fp32_peak(struct mt_team *team, const struct mt_kernels *kernels);

/* Seconds since some moment. */
double mt_bench_now(void);

/* Resident bytes of this process: its own, and mapped from files. */
void mt_bench_resident(size_t *own, size_t *mapped);

#endif
