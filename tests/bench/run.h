/*
 * One run of the load generator: a warm-up, a window that is measured, and the wait for what is
 * still under way.
 *
 *         warm-up            window                      drain
 *   |-----------------|-------------------------|-------------------|
 *   start           from                      until                over
 *
 * Throughput and processor time are those of the window: what was answered in it. Latency is that
 * of the requests whose time came in the window, answered in it or behind it. A request that
 * failed has no latency: look at the errors first.
 */
#ifndef MT_TESTS_BENCH_RUN_H
#define MT_TESTS_BENCH_RUN_H

#include "tests/bench/delays.h"
#include "tests/bench/options.h"

#define LOAD_MAX_STATUS 599
#define LOAD_MAX_SAMPLES 4000000

enum load_failure {
    LOAD_FAILED_CLOSED,
    LOAD_FAILED_REPLY,   /* not HTTP, or 200 without usage.target_tokens */
    LOAD_FAILED_TIMEOUT, /* no answer within --timeout of its time */
    LOAD_FAILED_BACKLOG, /* open loop: too many were waiting for a connection */
    LOAD_N_FAILURES,
};
const char *load_failure_name(enum load_failure failure);

struct load_result {
    struct load_run run;
    double seconds; /* of the window */
    size_t n_answered, n_target_tokens;
    int64_t *latencies_ns; /* sorted */
    size_t n_latencies;
    size_t n_errors;                         /* the sum of what follows */
    size_t n_by_status[LOAD_MAX_STATUS + 1]; /* answers other than 200 */
    size_t n_by_failure[LOAD_N_FAILURES];
    /* Of the answers other than 200: from the request's last byte to the reply's first, and how
     * many do not say when to come again. */
    struct load_delays *refusals;
    size_t n_without_retry_after;
    /* The slowest of them without the time in which the machine stood still, and the longest time
     * that it did; negative: nobody watched. */
    int64_t slowest_own_refusal_ns, longest_stall_ns;
    char first_error[256]; /* what the first of them said, or "" */
    double daemon_seconds, generator_seconds, stolen_seconds; /* of processors; negative: unknown */
    /* When the window began and when it ended; negative: unknown. */
    int64_t daemon_anonymous_bytes_before, daemon_anonymous_bytes;
};

/* Carries out the run against the daemon. MT_IO where it cannot be reached, MT_LIMIT (too many
 * answers to remember) or MT_MEMORY; what it does wrong is in *out. *out is the caller's on MT_OK:
 * load_result_finish it. Takes at most the window, twice --timeout and --warm-up; the window of
 * --requests is cut after an hour. */
MT_MUST_CHECK enum mt_status load_run(const struct load_options *options,
                                      const struct load_run *run,
                                      const struct load_requests *requests, struct load_result *out,
                                      struct mt_error *err);
void load_result_finish(struct load_result *result);

/* The latency that this share of the requests did not exceed (nearest rank), in milliseconds; NaN
 * where there is none. */
double load_percentile_ms(const struct load_result *result, double share);

#endif
