/*
 * Team: a group of threads that executes one operation at a time together.
 *
 * The thread that calls mt_team_run is member 0. The others wait: they spin for some microseconds,
 * because the next operation of a Transformer layer usually follows at once, and then sleep. A team
 * of one has no threads and costs only a call.
 *
 * Thread-safety: one caller of mt_team_run at a time.
 */
#ifndef MT_BASE_TEAM_H
#define MT_BASE_TEAM_H

#include "base/status.h"

#include <stdint.h>

struct mt_team;

#define MT_TEAM_MAX_THREADS 256

/* n_threads is 1 to MT_TEAM_MAX_THREADS, including the caller's. */
MT_MUST_CHECK enum mt_status mt_team_create(size_t n_threads, struct mt_team **out,
                                            struct mt_error *err);

/* For work that can also be done without a team: *out is NULL if no thread can be started.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_team_try_create(size_t n_threads, struct mt_team **out,
                                                struct mt_error *err);

/* Joins the threads. NULL is allowed. No run may be in progress. */
void mt_team_destroy(struct mt_team *team);

/* Returns 1 for NULL. */
size_t mt_team_size(const struct mt_team *team);

/* Sets how many members take part from the next run on: the first n. The others only wake up for a
 * moment, and not at all if n is 1. n is at most the team's size, which is the initial value. Only
 * for the caller of mt_team_run. */
void mt_team_set_width(struct mt_team *team, size_t n);

/* Returns 1 for NULL. */
size_t mt_team_width(const struct mt_team *team);

/* Returns for how long members have waited in runs longer than usual: the sum over all members,
 * from creation to the last run. It is small unless a member loses its processor, so that all
 * others wait for it at each barrier. Only for the caller of mt_team_run. 0 for NULL. */
int64_t mt_team_held_up_ns(const struct mt_team *team);

/* Announces a run within some hundred microseconds: sleeping members wake up now, and spin for at
 * most that time. Only for the caller of mt_team_run. NULL is allowed. */
void mt_team_wake_up(struct mt_team *team);

/* Calls work(context, member, n_members) once for each member 0..n_members-1 that takes part,
 * concurrently, and returns when all have returned. What they wrote is visible to the caller. NULL
 * is a team of one. */
typedef void mt_team_work(void *context, size_t member, size_t n_members);
void mt_team_run(struct mt_team *team, mt_team_work *work, void *context);

/* Called by every member from within work: returns when all have called it. What each wrote before
 * is then visible to all. NULL is a team of one. */
void mt_team_barrier(struct mt_team *team);

/* Computes the share [*begin, *end) of n items that belongs to member, in multiples of granularity
 * (>= 1). Shares differ by at most one multiple; together they cover [0, n). */
void mt_team_share(size_t n, size_t granularity, size_t member, size_t n_members, size_t *begin,
                   size_t *end);

#endif
