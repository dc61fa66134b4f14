#include "server/engine/expected_wait.h"

#include <math.h>

static double seconds_since(const struct mt_expected_wait *wait, int64_t now_ns)
{
    if (wait->since_ns == 0 || now_ns <= wait->since_ns)
        return 0;
    return (double)(now_ns - wait->since_ns) * 1e-9;
}

/* Returns the sums as of now. An instant x seconds ago has the weight exp(-x / window); the
 * integral of that over the last dt seconds is added to the time. */
static void age(const struct mt_expected_wait *wait, int64_t now_ns, double *seconds, double *taken)
{
    double weight = exp(-seconds_since(wait, now_ns) / MT_WAIT_WINDOW_SECONDS);
    *seconds = wait->seconds * weight + MT_WAIT_WINDOW_SECONDS * (1 - weight);
    *taken = wait->taken * weight;
}

void mt_expected_wait_count(struct mt_expected_wait *wait, uint64_t taken, bool still_waits,
                            int64_t now_ns)
{
    if (wait->since_ns != 0) {
        age(wait, now_ns, &wait->seconds, &wait->taken);
        wait->taken += (double)taken;
    }
    wait->since_ns = still_waits ? now_ns : 0;
}

double mt_expected_wait_seconds(const struct mt_expected_wait *wait, uint64_t waiting,
                                uint64_t running, int64_t now_ns)
{
    double seconds, taken;
    if (waiting == 0)
        return 0;
    age(wait, now_ns, &seconds, &taken);
    taken = fmax(taken, fmax((double)running, 1));
    return fmin((double)waiting * seconds / taken, MT_WAIT_MAX_SECONDS);
}
