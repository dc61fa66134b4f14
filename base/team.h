/*
 * Team: a gang of threads that carries out one operation at a time together.
 *
 * The thread that calls mt_team_run is member 0; the others wait: they spin for some microseconds,
 * because the next operation of a Transformer layer usually follows at once, then sleep. A team of
 * one has no threads and costs a call.
 *
 * Thread-safety: one caller of mt_team_run at a time.
 */
#ifndef MT_BASE_TEAM_H
#define MT_BASE_TEAM_H

#include "base/status.h"

#include <stdint.h>

struct mt_team;

#define MT_TEAM_MAX_THREADS 256

/* n_threads 1 to MT_TEAM_MAX_THREADS, the caller's included. */
MT_MUST_CHECK enum mt_status mt_team_create(size_t n_threads, struct mt_team **out,
                                            struct mt_error *err);

/* For work that only takes longer without: *out is NULL where no thread is to be had. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_team_try_create(size_t n_threads, struct mt_team **out,
                                                struct mt_error *err);

/* Joins the threads. Takes NULL. No run may be in progress. */
void mt_team_destroy(struct mt_team *team);

/* 1 for NULL. */
size_t mt_team_size(const struct mt_team *team);

/* How many members take part from the next run on, the first n; the others only wake up for a
 * moment, and not at all where n is 1. n is 1 to the team's size, which is where it begins. By the
 * caller of mt_team_run. */
void mt_team_set_width(struct mt_team *team, size_t n);

/* 1 for NULL. */
size_t mt_team_width(const struct mt_team *team);

/* How long members have waited in runs for longer than is usual: all together, since creation, up to
 * the last run. Little, unless a processor is taken from a member: then all others wait for it
 * at each barrier. By the caller of mt_team_run. 0 for NULL. */
int64_t mt_team_held_up_ns(const struct mt_team *team);

/* A run follows within some hundred microseconds: members that sleep wake up now, and spin that long
 * at most. By the caller of mt_team_run. Takes NULL. */
void mt_team_wake_up(struct mt_team *team);

/* Calls work(context, member, n_members) once for each member 0..n_members-1 that takes part,
 * concurrently, and returns when all have returned. What they wrote is visible to the caller. NULL
 * is a team of one. */
typedef void mt_team_work(void *context, size_t member, size_t n_members);
void mt_team_run(struct mt_team *team, mt_team_work *work, void *context);

/* Called by every member from within work: returns when all have called it, and what each wrote
 * before is visible to all after. NULL is a team of one. */
void mt_team_barrier(struct mt_team *team);

/* The share [*begin, *end) of n items that belongs to member, in multiples of granularity (>= 1).
 * Shares differ by at most one granule; together they cover [0, n). */
void mt_team_share(size_t n, size_t granularity, size_t member, size_t n_members, size_t *begin,
                   size_t *end);

#endif
