#include "base/log.h"
#include "model/model.h"
#include "model/tokenizer.h"
#include "server/budget.h"
#include "server/cli.h"
#include "server/commands.h"
#include "server/connections.h"
#include "server/engine.h"
#include "server/handler.h"
#include "server/http.h"
#include "server/inspection_request.h"
#include "server/inspection_translation.h"
#include "server/listen.h"
#include "server/metrics.h"
#include "server/router.h"
#include "server/splitter.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* After SIGTERM, requests that were on their way are answered before idle connections go. */
#define DRAIN_GRACE_MS 250
#define DRAIN_TICK_MS 10
/* After the deadline: a decoder step ends the work, and the last replies leave. */
#define CANCEL_TIMEOUT_MS 10000
#define FLUSH_TIMEOUT_MS 500

#define LABEL_BYTES 64

/* Largest attention requests whose traces may be in memory together. */
#define ATTENTION_REQUESTS_AT_ONCE 2

struct server {
    const struct mt_settings *settings;
    struct mt_listener listener;
    struct mt_model *model;
    struct mt_engine *engine;
    struct mt_splitter *splitter;
    struct mt_metrics *metrics;
    struct mt_http *http;
    struct mt_budget attention_budget;
    struct mt_service service;
    const char **route_names;
    char model_label[LABEL_BYTES];
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The directory's own name, whatever way led there; odd characters become '_'. */
static void name_model(const char *directory, char out[LABEL_BYTES])
{
    char *resolved = realpath(directory, NULL);
    const char *path = resolved != NULL ? resolved : directory;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t n = 0;
    for (; name[n] != '\0' && n < LABEL_BYTES - 1; n++) {
        char c = name[n];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[n] = is_plain || strchr("-._", c) != NULL ? c : '_';
    }
    out[n] = '\0';
    free(resolved);
}

static enum mt_status open_model(struct server *server, struct mt_error *err)
{
    const struct mt_settings *settings = server->settings;
    struct mt_model_options model_options = mt_cli_model_options(settings);
    mt_cli_show_progress(&model_options);
    const struct mt_engine_options engine_options = {
        .n_workers = (size_t)settings->workers,
        .threads_per_worker = (size_t)settings->threads_per_worker,
        .max_batch_rows = (size_t)settings->max_batch_rows,
        .encode_tokens = (size_t)settings->encode_tokens,
        .max_queued_sentences = (size_t)settings->max_queued_sentences,
    };
    enum mt_status status = mt_model_open(settings->model, &model_options, &server->model, err);
    if (status == MT_OK)
        status = mt_engine_create(server->model, &engine_options, &server->engine, err);
    if (status == MT_OK)
        status = mt_splitter_create(&server->splitter, err);
    return status;
}

/* The setting, where it is there, overrides what the model says; nothing is "". */
static enum mt_status choose_language(const char *setting, const char *model, const char *key,
                                      char out[MT_LANGUAGE_BYTES], struct mt_error *err)
{
    bool is_known = mt_language_normalise(model != NULL ? model : "", out);
    if (setting[0] != '\0')
        is_known = mt_language_normalise(setting, out);
    if (setting[0] != '\0' && !is_known)
        return mt_fail(err, MT_INVALID, "%s is \"%s\", expected a language code", key, setting);
    return MT_OK;
}

static enum mt_status describe_service(struct server *server, struct mt_error *err)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(server->model);
    const struct mt_settings *settings = server->settings;
    struct mt_service *service = &server->service;
    server->attention_budget.limit =
        ATTENTION_REQUESTS_AT_ONCE * (uint64_t)settings->max_attention_values;
    name_model(settings->model, server->model_label);
    *service = (struct mt_service){
        .settings = settings,
        .model = server->model,
        .engine = server->engine,
        .metrics = server->metrics,
        .attention_budget = &server->attention_budget,
        .splitter = server->splitter,
        .model_label = server->model_label,
    };
    enum mt_status status =
        choose_language(settings->source_lang, mt_tokenizer_source_lang(tokenizer), "source_lang",
                        service->source_lang, err);
    if (status != MT_OK)
        return status;
    return choose_language(settings->target_lang, mt_tokenizer_target_lang(tokenizer),
                           "target_lang", service->target_lang, err);
}

/* A wrong alignment setting is found at start, not by the first request. */
static enum mt_status check_alignment(const struct server *server, struct mt_error *err)
{
    struct mt_inspection_options options = {0};
    const struct mt_inspection_model model =
        mt_inspection_describe_model(server->model, NULL, NULL, NULL);
    enum mt_status status = mt_alignment_of_settings(server->settings, &options.alignment, err);
    return status != MT_OK ? status : mt_inspection_check(&model, &options, err);
}

static enum mt_status create_metrics(struct server *server, struct mt_error *err)
{
    server->route_names = calloc(mt_n_routes, sizeof server->route_names[0]);
    if (server->route_names == NULL)
        return mt_fail_memory(err, mt_n_routes * sizeof server->route_names[0], "routes");
    for (size_t i = 0; i < mt_n_routes; i++)
        server->route_names[i] = mt_routes[i].path;
    return mt_metrics_create(server->route_names, mt_n_routes, &server->metrics, err);
}

static enum mt_status start_http(struct server *server, struct mt_error *err)
{
    const struct mt_settings *settings = server->settings;
    const struct mt_http_options options = {
        .service = &server->service,
        .routes = mt_routes,
        .n_routes = mt_n_routes,
        .max_connections = (size_t)settings->max_connections,
        .max_body_bytes = (size_t)settings->max_body_bytes,
        .header_timeout_ms = settings->header_timeout_ms,
        .body_timeout_ms = settings->body_timeout_ms,
        .idle_timeout_ms = settings->idle_timeout_ms,
        .request_timeout_ms = settings->request_timeout_ms,
    };
    enum mt_status status = mt_http_create(&options, &server->http, err);
    if (status != MT_OK)
        return status;
    server->service.http = server->http;
    int listen_fd = server->listener.fd;
    server->listener.fd = -1;
    return mt_http_start(server->http, listen_fd, err);
}

/* The port first: whether it is free is known at once, and clients that come early wait. */
static enum mt_status start(struct server *server, struct mt_error *err)
{
    const struct mt_settings *settings = server->settings;
    enum mt_status status =
        mt_listen(settings->host, (uint16_t)settings->port, &server->listener, err);
    if (status == MT_OK)
        status = open_model(server, err);
    if (status == MT_OK)
        status = create_metrics(server, err);
    if (status == MT_OK)
        status = describe_service(server, err);
    if (status == MT_OK)
        status = check_alignment(server, err);
    if (status == MT_OK)
        status = start_http(server, err);
    return status;
}

static void stop(struct server *server)
{
    mt_http_destroy(server->http);
    mt_engine_destroy(server->engine);
    mt_splitter_destroy(server->splitter);
    mt_model_close(server->model);
    mt_metrics_destroy(server->metrics);
    free(server->route_names);
    if (server->listener.fd >= 0)
        close(server->listener.fd);
}

static void log_start(const struct server *server, int64_t start_ms)
{
    struct mt_engine_stats stats;
    mt_engine_stats(server->engine, &stats);
    mt_log(MT_LOG_INFO, "%s; kernels %s", mt_model_note(server->model),
           mt_model_kernels_name(server->model));
    mt_log(MT_LOG_INFO,
           "listening on %s: model %s, %s, %zu worker%s of %zu thread%s, started in %lld ms",
           server->listener.address, server->model_label, server->settings->precision,
           stats.n_workers, stats.n_workers == 1 ? "" : "s", stats.threads_per_worker,
           stats.threads_per_worker == 1 ? "" : "s", (long long)(now_ms() - start_ms));
}

/* OpenBLAS starts threads when it is loaded, before anybody could block a signal in them. One that
 * gets there goes on to the main thread, where it waits to be fetched. */
static void pass_to_main(int number)
{
    int reason = errno;
    syscall(SYS_tgkill, getpid(), getpid(), number);
    errno = reason;
}

/* Blocked in all threads of ours; only await_signal sees them. */
static void block_signals(sigset_t *signals)
{
    const struct sigaction action = {.sa_handler = pass_to_main, .sa_flags = SA_RESTART};
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The signal, or 0 after timeout_ms (-1: never). */
static int await_signal(const sigset_t *signals, int64_t timeout_ms)
{
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                                     .tv_nsec = timeout_ms % 1000 * 1000000};
    int signal;
    do
        signal = sigtimedwait(signals, NULL, timeout_ms < 0 ? NULL : &timeout);
    while (signal < 0 && errno == EINTR);
    return signal > 0 ? signal : 0;
}

/* Waits for requests to finish and connections to close. False: some are left, because the time is
 * over or somebody has lost patience. */
static bool drain(struct server *server, const sigset_t *signals)
{
    int64_t start_ms = now_ms();
    struct mt_connection_counts counts;
    mt_http_count(server->http, &counts);
    mt_log(MT_LOG_INFO, "shutting down: %zu requests in progress, %zu connections", counts.n_active,
           counts.n_open);
    mt_http_drain(server->http);
    for (;;) {
        int64_t waited_ms = now_ms() - start_ms;
        if (waited_ms >= DRAIN_GRACE_MS)
            mt_http_close_idle(server->http);
        mt_http_count(server->http, &counts);
        if (counts.n_open == 0)
            return true;
        if (waited_ms >= server->settings->drain_timeout_ms)
            return counts.n_active == 0;
        if (await_signal(signals, DRAIN_TICK_MS) != 0)
            return counts.n_active == 0;
    }
}

/* Ends the work that is left; its clients are told. False: a worker does not answer. */
static bool cancel(struct server *server, const sigset_t *signals)
{
    int64_t start_ms = now_ms();
    struct mt_connection_counts counts;
    mt_http_count(server->http, &counts);
    mt_log(MT_LOG_WARN, "%zu requests are cut off", counts.n_active);
    do {
        mt_http_cancel(server->http);
        mt_http_close_idle(server->http);
        await_signal(signals, DRAIN_TICK_MS);
        mt_http_count(server->http, &counts);
        int64_t limit_ms = counts.n_working > 0 ? CANCEL_TIMEOUT_MS : FLUSH_TIMEOUT_MS;
        if (now_ms() - start_ms >= limit_ms)
            break;
    } while (counts.n_open > 0);
    return counts.n_working == 0;
}

static int serve(const struct mt_cli_command *command, const struct mt_settings *settings,
                 int64_t start_ms)
{
    struct server server = {.settings = settings, .listener.fd = -1};
    struct mt_error err;
    sigset_t signals;
    block_signals(&signals);
    if (start(&server, &err) != MT_OK) {
        stop(&server);
        return mt_cli_fail(command, &err);
    }
    log_start(&server, start_ms);
    await_signal(&signals, -1);

    bool is_complete = drain(&server, &signals);
    if (!is_complete && !cancel(&server, &signals)) {
        /* Whoever still uses the model keeps us from taking it down in order. */
        mt_log(MT_LOG_ERROR, "a worker does not answer: leaving it behind");
        _exit(MT_EXIT_FAILURE);
    }
    stop(&server);
    mt_log(MT_LOG_INFO, "stopped");
    return is_complete ? MT_EXIT_OK : MT_EXIT_FAILURE;
}

int mt_cmd_serve(int argc, char **argv)
{
    int64_t start_ms = now_ms();
    const struct mt_cli_command command = {
        .name = "serve",
        .verb = MT_VERB_SERVE,
        .synopsis = "--model DIR [options]",
        .summary = "answer translation requests over HTTP",
        .detail = "SIGTERM and SIGINT end it: it stops accepting, finishes what it has accepted\n"
                  "within drain_timeout_ms, and exits with 0, or with 1 where requests were cut\n"
                  "off. A second signal acts at once.\n",
        .needs_model = true,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    enum mt_log_level level = MT_LOG_INFO;
    mt_log_level_parse(cli.settings.log_level, &level);
    mt_log_configure(level, cli.settings.log_json);
    exit_code = serve(&command, &cli.settings, start_ms);
    mt_cli_finish(&cli);
    return exit_code;
}
