/*
 * Drives POST /translate of a daemon on this machine and reports throughput and latency: see
 * README.md.
 */
#include "base/json.h"
#include "tests/bench/machine.h"
#include "tests/bench/options.h"
#include "tests/bench/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS 6

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static double per_second(size_t count, const struct load_result *r)
{
    return (double)count / r->seconds;
}

/* NaN where one of the two is not known. */
static double daemon_seconds_per_1000_tokens(const struct load_result *r)
{
    bool is_known = r->daemon_seconds >= 0 && r->n_target_tokens > 0;
    return is_known ? r->daemon_seconds * 1000 / (double)r->n_target_tokens : NAN;
}

static double mib(int64_t bytes)
{
    return bytes >= 0 ? (double)bytes / (1 << 20) : NAN;
}

/* ---- the table ---- */

static void print_heading(void)
{
    printf("%-18s %9s %9s | %8s %8s %8s %8s %8s | %6s | %7s %8s | %6s %6s\n", "", "requests",
           "target", "p50", "p90", "p99", "p99.9", "max", "", "CPU-s/", "daemon", "load's",
           "stolen");
    printf("%-18s %9s %9s | %8s %8s %8s %8s %8s | %6s | %7s %8s | %6s %6s\n", "load", "/s",
           "tokens/s", "ms", "ms", "ms", "ms", "ms", "errors", "1k tok", "anon MiB", "CPU", "CPUs");
}

/* A number, or a dash for what is not known. */
static void print_number(int width, int decimals, double value)
{
    if (isnan(value) || value < 0)
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, decimals, value);
}

static void print_row(const struct load_result *r)
{
    char name[32];
    if (r->run.rate > 0)
        snprintf(name, sizeof name, "open %g/s", r->run.rate);
    else
        snprintf(name, sizeof name, "closed %zu", r->run.n_clients);
    printf("%-18s", name);
    print_number(9, 1, per_second(r->n_answered, r));
    print_number(9, 0, per_second(r->n_target_tokens, r));
    printf(" |");
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        print_number(8, 2, load_percentile_ms(r, shares[i]));
    printf(" | %6zu |", r->n_errors);
    print_number(7, 4, daemon_seconds_per_1000_tokens(r));
    print_number(8, 1, mib(r->daemon_anonymous_bytes));
    printf(" |");
    print_number(6, 2, r->generator_seconds / r->seconds);
    print_number(6, 2, r->stolen_seconds / r->seconds);
    printf("\n");
    fflush(stdout);
}

static void print_errors(const struct load_result *r)
{
    for (int i = 0; i <= LOAD_MAX_STATUS; i++)
        if (r->n_by_status[i] > 0)
            printf("    %zu answered with %d\n", r->n_by_status[i], i);
    for (int i = 0; i < LOAD_N_FAILURES; i++)
        if (r->n_by_failure[i] > 0)
            printf("    %zu failed: %s\n", r->n_by_failure[i],
                   load_failure_name((enum load_failure)i));
    if (r->refusals->n > 0)
        printf("    refused after %.2f ms (p50), %.2f (p99), %.2f (max); %zu without Retry-After\n",
               load_delays_percentile_ms(r->refusals, 0.5),
               load_delays_percentile_ms(r->refusals, 0.99),
               load_delays_percentile_ms(r->refusals, 1), r->n_without_retry_after);
    if (r->longest_stall_ns >= 0)
        printf("    the machine stood still for %.2f ms (max); without that %.2f (max)\n",
               (double)r->longest_stall_ns * 1e-6, (double)r->slowest_own_refusal_ns * 1e-6);
    if (r->n_errors > 0)
        printf("    the first: %s\n", r->first_error);
}

/* ---- JSON ---- */

static void write_number(struct mt_json_writer *writer, const char *key, double value)
{
    mt_json_member_number(writer, key, value < 0 ? NAN : value, DIGITS);
}

static void write_latency(struct mt_json_writer *writer, const struct load_result *r)
{
    static const struct {
        const char *key;
        double share;
    } rows[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
    mt_json_member_object(writer, "latency_ms");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        write_number(writer, rows[i].key, load_percentile_ms(r, rows[i].share));
    mt_json_end_object(writer);
}

static void write_errors(struct mt_json_writer *writer, const struct load_result *r)
{
    mt_json_member_object(writer, "errors");
    for (int i = 0; i <= LOAD_MAX_STATUS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        if (r->n_by_status[i] > 0)
            mt_json_member_count(writer, key, r->n_by_status[i]);
    }
    for (int i = 0; i < LOAD_N_FAILURES; i++)
        if (r->n_by_failure[i] > 0)
            mt_json_member_count(writer, load_failure_name((enum load_failure)i),
                                 r->n_by_failure[i]);
    mt_json_end_object(writer);
}

static void write_refusals(struct mt_json_writer *writer, const struct load_result *r)
{
    mt_json_member_object(writer, "refusals");
    mt_json_member_count(writer, "count", r->refusals->n);
    mt_json_member_count(writer, "without_retry_after", r->n_without_retry_after);
    write_number(writer, "p50_ms", load_delays_percentile_ms(r->refusals, 0.5));
    write_number(writer, "p99_ms", load_delays_percentile_ms(r->refusals, 0.99));
    write_number(writer, "max_ms", load_delays_percentile_ms(r->refusals, 1));
    write_number(writer, "own_max_ms", (double)r->slowest_own_refusal_ns * 1e-6);
    mt_json_end_object(writer);
    write_number(writer, "longest_stall_ms", (double)r->longest_stall_ns * 1e-6);
}

static void write_run(struct mt_json_writer *writer, const struct load_result *r)
{
    mt_json_begin_object(writer);
    mt_json_member(writer, "loop", r->run.rate > 0 ? "open" : "closed");
    mt_json_member_count(writer, "clients", r->run.n_clients);
    if (r->run.rate > 0)
        write_number(writer, "rate", r->run.rate);
    write_number(writer, "seconds", r->seconds);
    mt_json_member_count(writer, "answered", r->n_answered);
    mt_json_member_count(writer, "target_tokens", r->n_target_tokens);
    write_number(writer, "requests_per_second", per_second(r->n_answered, r));
    write_number(writer, "target_tokens_per_second", per_second(r->n_target_tokens, r));
    mt_json_member_count(writer, "latencies", r->n_latencies);
    write_latency(writer, r);
    write_errors(writer, r);
    write_refusals(writer, r);
    if (r->n_errors > 0)
        mt_json_member(writer, "first_error", r->first_error);
    write_number(writer, "daemon_cpu_seconds", r->daemon_seconds);
    write_number(writer, "daemon_cpu_seconds_per_1000_tokens", daemon_seconds_per_1000_tokens(r));
    write_number(writer, "daemon_anonymous_mib_before", mib(r->daemon_anonymous_bytes_before));
    write_number(writer, "daemon_anonymous_mib", mib(r->daemon_anonymous_bytes));
    write_number(writer, "generator_cpus", r->generator_seconds / r->seconds);
    write_number(writer, "stolen_cpus", r->stolen_seconds / r->seconds);
    mt_json_end_object(writer);
}

/* ---- the runs ---- */

/* One request before all else: wrong options and a wrong address are told at once. */
static enum mt_status probe(const struct load_options *options,
                            const struct load_requests *requests, struct mt_error *err)
{
    struct load_options once = *options;
    once.warm_up = 0;
    once.watches_stalls = false;
    once.n_requests = 1;
    const struct load_run run = {.n_clients = 1};
    struct load_result result;
    enum mt_status status = load_run(&once, &run, requests, &result, err);
    if (status)
        return status;
    load_result_finish(&result);
    if (result.n_errors > 0)
        return mt_fail(err, MT_INVALID, "the first request failed: %s", result.first_error);
    return MT_OK;
}

static enum mt_status run_all(const struct load_options *options,
                              const struct load_requests *requests, struct mt_json_writer *writer,
                              size_t *n_errors, struct mt_error *err)
{
    for (size_t i = 0; i < options->n_repeats * options->n_runs; i++) {
        struct load_result result;
        enum mt_status status =
            load_run(options, &options->runs[i % options->n_runs], requests, &result, err);
        if (status)
            return status;
        *n_errors += result.n_errors;
        if (options->as_json) {
            write_run(writer, &result);
        } else {
            print_row(&result);
            print_errors(&result);
        }
        load_result_finish(&result);
    }
    return MT_OK;
}

static enum mt_status report(const struct load_options *options,
                             const struct load_requests *requests, size_t *n_errors,
                             struct mt_error *err)
{
    struct mt_text json = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &json);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "runs");
    if (!options->as_json)
        print_heading();
    enum mt_status status = run_all(options, requests, &writer, n_errors, err);
    if (!status && options->as_json) {
        mt_json_end_array(&writer);
        mt_json_end_object(&writer);
        status = mt_text_check(&json, "the report", err);
        if (!status)
            printf("%s\n", json.bytes);
    }
    mt_text_finish(&json);
    return status;
}

static int fail(const struct mt_error *err, int exit_code)
{
    fprintf(stderr, "load: %s\n", err->message);
    return exit_code;
}

int main(int argc, char **argv)
{
    struct load_options options;
    struct load_requests requests;
    struct mt_error err = {0};
    enum mt_status status = load_options_parse(argc, argv, &options, &err);
    if (status == MT_CANCELLED)
        return EXIT_DONE;
    if (status)
        return fail(&err, EXIT_USAGE);
    if (load_check_pid(options.pid, &err) || load_requests_read(&options, &requests, &err))
        return fail(&err, EXIT_FAILED);
    size_t n_errors = 0;
    status = probe(&options, &requests, &err);
    if (!status)
        status = report(&options, &requests, &n_errors, &err);
    load_requests_finish(&requests);
    if (status)
        return fail(&err, EXIT_FAILED);
    return n_errors > 0 ? EXIT_FAILED : EXIT_DONE;
}
