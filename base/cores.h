/*
 * How many threads it is worth having.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_CORES_H
#define MT_BASE_CORES_H

#include <stddef.h>

/* Processors that this process may use: those of its affinity mask, but no more than its control
 * groups' quota, rounded up, as `docker run --cpus` and Kubernetes' limits set it. At least 1. What
 * the first call found; it should come before anything that keeps the process from reading
 * /sys/fs/cgroup. */
size_t mt_cores_available(void);

/* The quota alone, of this process, as it stands in ROOT/proc/self/cgroup and ROOT/sys/fs/cgroup;
 * root is "" but in tests. 0: there is none. Both versions of control groups (Linux's
 * Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst). */
size_t mt_cores_in_quota(const char *root);

#endif
