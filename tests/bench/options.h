/*
 * The load generator's command line, and the requests that it makes of it.
 */
#ifndef MT_TESTS_BENCH_OPTIONS_H
#define MT_TESTS_BENCH_OPTIONS_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_MAX_RUNS 16
#define LOAD_MAX_CLIENTS 1000

/* One measurement. Closed loop: n_clients that each send their next request when the answer is
 * there. Open loop: requests arrive by themselves, whatever the daemon does. */
struct load_run {
    size_t n_clients; /* open loop: connections, hence requests in flight at most */
    double rate;      /* arrivals per second; 0: closed loop */
};

struct load_options {
    const char *host; /* "127.0.0.1" or "::1" */
    uint16_t port;
    const char *input_path;
    struct load_run runs[LOAD_MAX_RUNS];
    size_t n_runs, n_repeats;
    double warm_up, duration; /* seconds */
    size_t n_requests;        /* of a run; 0: as many as fit into its duration */
    double timeout;           /* seconds, of one request */
    size_t burst_ms;          /* open loop: requests are sent so often; 0: when they arrive */
    int pid;                  /* the daemon's; 0: not known */
    uint64_t seed;
    bool as_json, watches_stalls;

    /* Fields of the requests; NULL and 0: left out. */
    const char *source, *target, *split_sentences;
    size_t beam_size, min_decoding_length, max_decoding_length;
};

/* Fills *out, whose strings are borrowed from argv. MT_CANCELLED: help was asked for, and printed
 * to standard output. MT_INVALID names the flag, the value and what was expected. */
MT_MUST_CHECK enum mt_status load_options_parse(int argc, char **argv, struct load_options *out,
                                                struct mt_error *err);

/* HTTP messages, one per line of the input, ready to be sent. */
struct load_requests {
    struct mt_text *messages;
    size_t n;
};

/* Blank lines are skipped. *out is the caller's: load_requests_finish it. */
MT_MUST_CHECK enum mt_status load_requests_read(const struct load_options *options,
                                                struct load_requests *out, struct mt_error *err);
void load_requests_finish(struct load_requests *requests);

#endif
