#include "tests/bench/delays.h"

#include <math.h>

void load_delays_add(struct load_delays *delays, int64_t delay_ns)
{
    if (delay_ns < 0)
        delay_ns = 0;
    int64_t step = delay_ns / LOAD_DELAY_STEP_NS;
    delays->counts[step < LOAD_DELAY_STEPS ? step : LOAD_DELAY_STEPS - 1]++;
    delays->n++;
    if (delay_ns > delays->longest_ns)
        delays->longest_ns = delay_ns;
}

double load_delays_percentile_ms(const struct load_delays *delays, double share)
{
    if (delays->n == 0)
        return NAN;
    double longest_ms = (double)delays->longest_ns * 1e-6;
    double wanted = ceil(share * (double)delays->n);
    size_t n_below = 0;
    for (int64_t step = 0; step < LOAD_DELAY_STEPS - 1; step++) {
        n_below += delays->counts[step];
        if ((double)n_below >= wanted)
            return fmin((double)((step + 1) * LOAD_DELAY_STEP_NS) * 1e-6, longest_ms);
    }
    return longest_ms;
}
