/*
 * How long a sentence that came now would wait for its first step. Operators use it to decide how
 * many replicas there should be.
 *
 *   expected wait = what waits / how much of it was taken per second lately
 *
 * What waits and what is taken is counted by its cost (mt_queue_cost), because a long sentence and
 * a wide beam keep their rows longer. "Lately" means the last MT_WAIT_WINDOW_SECONDS in which
 * sentences waited and no worker was idle; an instant that is one window older has 1/e of the
 * weight. Other times are left out: in them as much is taken as comes, which does not tell how much
 * could be taken. So the rate of the last rush is still known at the next one.
 *
 * The newcomer is assumed to be behind all others. The queue is fair to clients, and short jobs go
 * first, so that most sentences wait less.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_ENGINE_EXPECTED_WAIT_H
#define MT_SERVER_ENGINE_EXPECTED_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define MT_WAIT_WINDOW_SECONDS 10.0
/* The longest wait that is ever returned, where hardly anything moves. No request may last
 * longer. */
#define MT_WAIT_MAX_SECONDS 3600.0

/* {0} is the state before anything was counted. */
struct mt_expected_wait {
    int64_t since_ns;      /* since when sentences have waited, as of the last call; 0: none wait */
    double seconds, taken; /* weighted sums: of the time, and of the cost taken in it */
};

/* To be called after a worker has taken what it could. taken: the cost of that. still_waits: some
 * had to be left in the queue, and no worker is idle. now_ns: CLOCK_MONOTONIC, not 0. */
void mt_expected_wait_count(struct mt_expected_wait *wait, uint64_t taken, bool still_waits,
                            int64_t now_ns);

/* Returns seconds, 0 to MT_WAIT_MAX_SECONDS. waiting and running are costs; where nothing waits it
 * is 0. At the first rush nothing has been taken until a sentence ends; until then it is assumed
 * that what runs is about to end, and that as much is taken then. */
double mt_expected_wait_seconds(const struct mt_expected_wait *wait, uint64_t waiting,
                                uint64_t running, int64_t now_ns);

#endif
