/*
 * How long a sentence that came now would wait for its first step, for those who decide how many
 * replicas there should be.
 *
 *   expected wait = what waits / how much of it was taken per second lately
 *
 * What waits and what is taken is counted by its cost (mt_queue_cost), because a long sentence and
 * a wide beam keep their rows longer. "Lately" means the last MT_WAIT_WINDOW_SECONDS in which
 * sentences waited and no worker was idle, weighted so that an instant counts 1/e of one that is so
 * much younger. Other times are left out: then as much is taken as comes, which says nothing of how
 * much could be. So the rate of the last rush is still known at the next one.
 *
 * The newcomer is taken to be behind everybody. The queue is fair to clients, and short jobs go
 * first, so that most wait less.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_ENGINE_EXPECTED_WAIT_H
#define MT_SERVER_ENGINE_EXPECTED_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define MT_WAIT_WINDOW_SECONDS 10.0
/* The most that is ever said, where hardly anything moves: no request may last longer. */
#define MT_WAIT_MAX_SECONDS 3600.0

/* {0} has seen nothing yet. */
struct mt_expected_wait {
    int64_t since_ns;      /* sentences have waited since, as of the last turn; 0: none do */
    double seconds, taken; /* weighted sums: of the time, and of the cost taken in it */
};

/* To be called after a worker has taken what it could. taken: the cost of that. still_waits:
 * something had to be left behind, and no worker is idle. now_ns: CLOCK_MONOTONIC, not 0. */
void mt_expected_wait_count(struct mt_expected_wait *wait, uint64_t taken, bool still_waits,
                            int64_t now_ns);

/* Seconds, 0 to MT_WAIT_MAX_SECONDS. waiting, running: costs; nothing waiting gives 0. At the
 * first rush nothing is taken until a sentence ends; until then it is as if what runs were about to
 * end, and as much about to be taken. */
double mt_expected_wait_seconds(const struct mt_expected_wait *wait, uint64_t waiting,
                                uint64_t running, int64_t now_ns);

#endif
