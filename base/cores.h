/*
 * Tells how many threads are useful.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_CORES_H
#define MT_BASE_CORES_H

#include <stddef.h>

/* Returns the number of processors that this process may use: those of its affinity mask, but at
 * most its control groups' quota, rounded up, which `docker run --cpus` and Kubernetes' limits set.
 * At least 1. The first call determines the number; it should come before anything that keeps the
 * process from reading /sys/fs/cgroup. */
size_t mt_cores_available(void);

/* Returns only this process's quota, from ROOT/proc/self/cgroup and ROOT/sys/fs/cgroup; root is ""
 * except in tests. 0: there is none. Both versions of control groups are supported (Linux's
 * Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst). */
size_t mt_cores_in_quota(const char *root);

#endif
