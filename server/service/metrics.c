#include "server/service/metrics.h"

#include "server/http/connections.h"
#include "server/models/catalog.h"
#include "server/engine/engine.h"
#include "server/engine/result_cache.h"
#include "server/service/file_store.h"
#include "server/service/snapshots.h"
#include "server/models/model_host.h"
#include "server/text/quality_check.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* All codes that are sent; another one is counted with the last. */
static const unsigned codes[] = {200, 204, 304, 400, 401, 403, 404, 405, 411, 413, 414,
                                 415, 417, 429, 431, 456, 499, 500, 503, 504, 505, 0};
#define N_CODES (sizeof codes / sizeof codes[0])

/* In seconds: a health check takes less than a millisecond, a long text many seconds. */
static const double bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                0.5,   1,      2.5,   5,    10,    30,   60};
#define N_BOUNDS (sizeof bounds / sizeof bounds[0])

static const char *const reasons[MT_N_REJECTIONS] = {
    [MT_REJECTED_QUEUE_FULL] = "queue_full",
    [MT_REJECTED_CONNECTIONS] = "too_many_connections",
    [MT_REJECTED_TIMEOUT] = "timeout",
    [MT_REJECTED_CLIENT_GONE] = "client_gone",
    [MT_REJECTED_DRAINING] = "draining",
    [MT_REJECTED_TOO_LARGE] = "too_large",
    [MT_REJECTED_MALFORMED] = "malformed",
    [MT_REJECTED_DAMAGED] = "damaged_model",
    [MT_REJECTED_KEY] = "key",
    [MT_REJECTED_RATE] = "rate",
    [MT_REJECTED_BANNED] = "banned",
    [MT_REJECTED_SHARE] = "client_share",
    [MT_REJECTED_MODEL] = "model",
    [MT_REJECTED_DOCUMENTS] = "too_many_documents",
};

struct route_counters {
    _Atomic uint64_t requests[N_CODES];
    _Atomic uint64_t buckets[N_BOUNDS + 1]; /* not cumulative; the last is +Inf */
    _Atomic uint64_t microseconds;
};

struct mt_metrics {
    const char *const *route_names;
    size_t n_routes;
    double start_seconds; /* Unix time */
    _Atomic uint64_t in_flight;
    _Atomic uint64_t rejected[MT_N_REJECTIONS];
    _Atomic uint64_t warnings[MT_N_WARNINGS];
    struct route_counters routes[]; /* the last one is for no route */
};

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

enum mt_status mt_metrics_create(const char *const *route_names, size_t n_routes,
                                 struct mt_metrics **out, struct mt_error *err)
{
    size_t n_bytes = sizeof(struct mt_metrics) + (n_routes + 1) * sizeof(struct route_counters);
    struct mt_metrics *metrics = calloc(1, n_bytes);
    if (!metrics)
        return mt_fail_memory(err, n_bytes, "metrics");
    metrics->route_names = route_names;
    metrics->n_routes = n_routes;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    metrics->start_seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    *out = metrics;
    return MT_OK;
}

void mt_metrics_destroy(struct mt_metrics *metrics)
{
    free(metrics);
}

void mt_metrics_request_begin(struct mt_metrics *metrics)
{
    add(&metrics->in_flight, 1);
}

void mt_metrics_request_end(struct mt_metrics *metrics, size_t route, unsigned code, double seconds)
{
    struct route_counters *counters =
        &metrics->routes[route < metrics->n_routes ? route : metrics->n_routes];
    size_t i = 0, b = 0;
    while (i < N_CODES - 1 && codes[i] != code)
        i++;
    while (b < N_BOUNDS && seconds > bounds[b])
        b++;
    add(&counters->requests[i], 1);
    add(&counters->buckets[b], 1);
    add(&counters->microseconds, (uint64_t)(seconds * 1e6));
    atomic_fetch_sub_explicit(&metrics->in_flight, 1, memory_order_relaxed);
}

void mt_metrics_reject(struct mt_metrics *metrics, enum mt_rejection reason)
{
    add(&metrics->rejected[reason], 1);
}

void mt_metrics_warn(struct mt_metrics *metrics, unsigned kind)
{
    add(&metrics->warnings[kind], 1);
}

static void head(struct mt_text *out, const char *name, const char *type, const char *help)
{
    mt_text_appendf(out, "# HELP attentiond_%s %s\n# TYPE attentiond_%s %s\n", name, help, name,
                    type);
}

/* Writes microseconds, which are precise enough. printf is not used, because its decimal point
 * depends on the locale. */
static void append_number(struct mt_text *out, double value)
{
    unsigned long long micro = (unsigned long long)(value * 1e6 + 0.5);
    char digits[8];
    snprintf(digits, sizeof digits, "%06llu", micro % 1000000);
    size_t n = 6;
    while (n > 0 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    mt_text_appendf(out, "%llu%s%s", micro / 1000000, n > 0 ? "." : "", digits);
}

static void whole(struct mt_text *out, const char *name, const char *type, const char *help,
                  uint64_t value)
{
    head(out, name, type, help);
    mt_text_appendf(out, "attentiond_%s %llu\n", name, (unsigned long long)value);
}

/* Writes a summary without quantiles: sum and count, whose quotient is the mean. */
static void summary(struct mt_text *out, const char *name, const char *help, double sum,
                    uint64_t count)
{
    head(out, name, "summary", help);
    mt_text_appendf(out, "attentiond_%s_sum ", name);
    append_number(out, sum);
    mt_text_appendf(out, "\nattentiond_%s_count %llu\n", name, (unsigned long long)count);
}

static const char *route_name(const struct mt_metrics *metrics, size_t route)
{
    return route < metrics->n_routes ? metrics->route_names[route] : "none";
}

static void render_requests(const struct mt_metrics *metrics, struct mt_text *out)
{
    head(out, "http_requests_total", "counter", "Requests answered, by route and code.");
    for (size_t r = 0; r <= metrics->n_routes; r++)
        for (size_t i = 0; i < N_CODES; i++) {
            uint64_t n = get(&metrics->routes[r].requests[i]);
            if (n == 0)
                continue;
            char code[16] = "other";
            if (codes[i] != 0)
                snprintf(code, sizeof code, "%u", codes[i]);
            mt_text_appendf(out, "attentiond_http_requests_total{route=\"%s\",code=\"%s\"} %llu\n",
                            route_name(metrics, r), code, (unsigned long long)n);
        }
}

static void render_durations(const struct mt_metrics *metrics, struct mt_text *out)
{
    static const char name[] = "attentiond_http_request_duration_seconds";
    head(out, "http_request_duration_seconds", "histogram",
         "From the request line to the last byte of the reply.");
    for (size_t r = 0; r <= metrics->n_routes; r++) {
        const char *route = route_name(metrics, r);
        uint64_t n = 0;
        for (size_t b = 0; b < N_BOUNDS; b++) {
            n += get(&metrics->routes[r].buckets[b]);
            mt_text_appendf(out, "%s_bucket{route=\"%s\",le=\"", name, route);
            append_number(out, bounds[b]);
            mt_text_appendf(out, "\"} %llu\n", (unsigned long long)n);
        }
        n += get(&metrics->routes[r].buckets[N_BOUNDS]);
        mt_text_appendf(out, "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name, route,
                        (unsigned long long)n);
        mt_text_appendf(out, "%s_sum{route=\"%s\"} ", name, route);
        append_number(out, (double)get(&metrics->routes[r].microseconds) * 1e-6);
        mt_text_appendf(out, "\n%s_count{route=\"%s\"} %llu\n", name, route, (unsigned long long)n);
    }
}

static void render_rejections(const struct mt_metrics *metrics, struct mt_text *out)
{
    head(out, "rejected_total", "counter", "Requests not served, by reason.");
    for (size_t i = 0; i < MT_N_REJECTIONS; i++)
        mt_text_appendf(out, "attentiond_rejected_total{reason=\"%s\"} %llu\n", reasons[i],
                        (unsigned long long)get(&metrics->rejected[i]));
}

static void render_warnings(const struct mt_metrics *metrics, struct mt_text *out)
{
    head(out, "warnings_total", "counter", "Sentences whose translation was flagged, by kind.");
    for (unsigned i = 0; i < MT_N_WARNINGS; i++)
        mt_text_appendf(out, "attentiond_warnings_total{kind=\"%s\"} %llu\n",
                        mt_warning_name((enum mt_warning)i),
                        (unsigned long long)get(&metrics->warnings[i]));
}

static void render_connections(const struct mt_connection_counts *counts, struct mt_text *out)
{
    whole(out, "connections", "gauge", "Open connections.", counts->n_open);
    whole(out, "connections_timed_out_total", "counter", "Connections closed by a deadline.",
          counts->n_timed_out);
    whole(out, "connections_left_total", "counter",
          "Clients that closed while their request was being worked on.", counts->n_left);
    whole(out, "connections_evicted_total", "counter",
          "Connections closed to make room for others.", counts->n_evicted);
    whole(out, "connections_over_share_total", "counter",
          "Connections refused because their address had its share.", counts->n_refused_of_client);
}

static void render_files(const struct mt_file_store_counts *counts, size_t n_jobs,
                         struct mt_text *out)
{
    whole(out, "document_jobs", "gauge", "Files that are translated while nobody waits.", n_jobs);
    whole(out, "files_stored", "gauge", "Translated files that can be fetched.", counts->n_files);
    whole(out, "files_stored_bytes", "gauge", "Their bytes.", counts->n_bytes);
}

static void render_results(const struct mt_result_cache_counts *counts, struct mt_text *out)
{
    whole(out, "cache_hits_total", "counter", "Sentences that had been decoded before.",
          counts->n_hits);
    whole(out, "cache_misses_total", "counter", "Sentences that had not, and could be kept.",
          counts->n_misses);
    whole(out, "cache_sentences", "gauge", "Sentences whose results are kept.",
          counts->n_sentences);
    whole(out, "cache_bytes", "gauge", "Their bytes.", counts->n_bytes);
}

static void render_engine(const struct mt_engine_stats *engine, struct mt_text *out)
{
    whole(out, "queue_depth", "gauge", "Sentences waiting.", engine->n_queued_sentences);
    whole(out, "queue_capacity", "gauge", "Sentences that may wait.", engine->max_queued_sentences);
    head(out, "expected_wait_seconds", "gauge",
         "How long a sentence that came now would wait for its first step, behind all that wait.");
    mt_text_append_string(out, "attentiond_expected_wait_seconds ");
    append_number(out, engine->expected_wait_seconds);
    mt_text_append_string(out, "\n");
    whole(out, "sentences_running", "gauge", "Sentences being decoded.",
          engine->n_running_sentences);
    whole(out, "rows_running", "gauge", "Rows of the decoder steps now: sentences times beams.",
          engine->n_running_rows);
    summary(out, "queue_wait_seconds", "Time that sentences waited for a place in a batch.",
            engine->queue_wait_seconds, engine->n_sentences_admitted);
    summary(out, "batch_size", "Rows of a decoder step.", (double)engine->n_step_rows,
            engine->n_steps);
    summary(out, "encode_seconds", "Encoder passes.", engine->encode_seconds,
            engine->n_encoder_passes);
    summary(out, "decode_step_seconds", "Decoder steps.", engine->step_seconds, engine->n_steps);
    whole(out, "source_tokens_total", "counter", "Source tokens encoded.", engine->n_source_tokens);
    whole(out, "target_tokens_total", "counter", "Target tokens of finished translations.",
          engine->n_target_tokens);
    head(out, "jobs_total", "counter", "Jobs of the engine, by how they ended.");
    mt_text_appendf(
        out,
        "attentiond_jobs_total{outcome=\"done\"} %llu\n"
        "attentiond_jobs_total{outcome=\"cancelled\"} %llu\n"
        "attentiond_jobs_total{outcome=\"expired\"} %llu\n"
        "attentiond_jobs_total{outcome=\"refused\"} %llu\n",
        (unsigned long long)engine->n_jobs_done, (unsigned long long)engine->n_jobs_cancelled,
        (unsigned long long)engine->n_jobs_expired, (unsigned long long)engine->n_jobs_refused);
}

static void render_host(const struct mt_model_host_counts *counts, struct mt_text *out)
{
    whole(out, "models_loaded_bytes", "gauge",
          "Memory that models of models_directory take now: weights, keys and values.",
          counts->loaded_bytes);
    whole(out, "models_memory_bytes", "gauge", "What they may take; 0: any.", counts->memory_bytes);
    whole(out, "models_waiting", "gauge", "Requests that wait for a model to be loaded.",
          counts->n_waiting);
    whole(out, "model_loads_total", "counter", "Models that were loaded.", counts->n_loads);
    whole(out, "model_unloads_total", "counter", "Models that were unloaded.", counts->n_unloads);
    whole(out, "model_failures_total", "counter", "Loads that failed.", counts->n_failures);
}

/* A metric with one line for each model. */
struct model_metric {
    const char *name, *type, *help;
    uint64_t (*value)(const struct mt_served_model_status *status);
};

static uint64_t is_loaded(const struct mt_served_model_status *status)
{
    return status->state == MT_SERVED_READY;
}

static uint64_t has_failed(const struct mt_served_model_status *status)
{
    return status->state == MT_SERVED_FAILED;
}

static uint64_t loaded_bytes(const struct mt_served_model_status *status)
{
    return status->loaded_bytes;
}

static uint64_t n_requests(const struct mt_served_model_status *status)
{
    return status->n_holds;
}

/* Writes metric by metric, as the format demands, so that each model is asked several times, which
 * is cheap. */
static void render_models(const struct mt_metrics_sources *sources, struct mt_text *out)
{
    static const struct model_metric metrics[] = {
        {"model_loaded", "gauge", "1 where the model is in memory.", is_loaded},
        {"model_failed", "gauge", "1 where it cannot be served; /models says why.", has_failed},
        {"model_loaded_bytes", "gauge", "Memory that it takes now.", loaded_bytes},
        {"model_requests_total", "counter", "Requests that have used it since it was found.",
         n_requests},
    };
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        head(out, metrics[m].name, metrics[m].type, metrics[m].help);
        for (size_t i = 0; i < mt_catalog_n(sources->catalog); i++) {
            struct mt_served_model *served = mt_catalog_at(sources->catalog, i);
            struct mt_served_model_status status;
            mt_served_model_describe(served, &status);
            mt_text_appendf(out, "attentiond_%s{model=\"%s\",precision=\"%s\"} %llu\n",
                            metrics[m].name, mt_served_model_info(served)->id, sources->precision,
                            (unsigned long long)metrics[m].value(&status));
        }
    }
}

static void render_snapshots(const struct mt_snapshots_counts *counts, struct mt_text *out)
{
    whole(out, "generation", "gauge", "Number of the model and settings in use: 1 at the start.",
          counts->number);
    whole(out, "generations_alive", "gauge",
          "More than 1 while requests of former ones are not done.", counts->n_alive);
    head(out, "reloads_total", "counter", "Reloads, by how they ended.");
    mt_text_appendf(out,
                    "attentiond_reloads_total{outcome=\"done\"} %llu\n"
                    "attentiond_reloads_total{outcome=\"failed\"} %llu\n",
                    (unsigned long long)counts->n_reloads,
                    (unsigned long long)counts->n_failed_reloads);
}

static size_t resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return 0;
    while (readdir(directory))
        n++;
    closedir(directory);
    return n - 3; /* ".", ".." and the directory itself */
}

/* These names have no prefix, because Prometheus defines them. */
static void render_process(const struct mt_metrics *metrics, struct mt_text *out)
{
    struct rusage usage;
    struct rlimit limit = {0};
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &limit);
    double cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    mt_text_append_string(out, "# HELP process_cpu_seconds_total User and system time.\n"
                               "# TYPE process_cpu_seconds_total counter\n"
                               "process_cpu_seconds_total ");
    append_number(out, cpu_seconds);
    mt_text_append_string(out, "\n# HELP process_start_time_seconds Start, in Unix time.\n"
                               "# TYPE process_start_time_seconds gauge\n"
                               "process_start_time_seconds ");
    append_number(out, metrics->start_seconds);
    mt_text_appendf(out,
                    "\n# HELP process_resident_memory_bytes Resident memory, mapped weights "
                    "included.\n"
                    "# TYPE process_resident_memory_bytes gauge\n"
                    "process_resident_memory_bytes %zu\n"
                    "# HELP process_open_fds Open descriptors.\n"
                    "# TYPE process_open_fds gauge\n"
                    "process_open_fds %zu\n"
                    "# HELP process_max_fds Descriptors that may be open.\n"
                    "# TYPE process_max_fds gauge\n"
                    "process_max_fds %llu\n",
                    resident_bytes(), open_descriptors(), (unsigned long long)limit.rlim_cur);
}

void mt_metrics_render(struct mt_metrics *metrics, const struct mt_metrics_sources *sources,
                       struct mt_text *out)
{
    head(out, "build_info", "gauge", "Always 1; the label says what runs.");
    mt_text_appendf(out, "attentiond_build_info{version=\"%s\"} 1\n", sources->version);
    whole(out, "ready", "gauge", "1 where new requests are welcome, 0 while draining.",
          sources->is_ready);
    render_requests(metrics, out);
    render_durations(metrics, out);
    whole(out, "requests_in_flight", "gauge", "Requests being received, worked on or answered.",
          get(&metrics->in_flight));
    render_rejections(metrics, out);
    render_warnings(metrics, out);
    if (sources->connections)
        render_connections(sources->connections, out);
    if (sources->engine)
        render_engine(sources->engine, out);
    if (sources->models)
        render_host(sources->models, out);
    if (sources->catalog)
        render_models(sources, out);
    if (sources->snapshots)
        render_snapshots(sources->snapshots, out);
    if (sources->files)
        render_files(sources->files, sources->n_document_jobs, out);
    if (sources->results)
        render_results(sources->results, out);
    render_process(metrics, out);
}
