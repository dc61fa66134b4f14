#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "base/text.h"
#include "model/files/cache_files.h"
#include "model/kernels/kernels.h"
#include "model/model.h"
#include "server/api/admin_api.h"
#include "server/passages/budget.h"
#include "server/models/catalog.h"
#include "server/commands/cli.h"
#include "server/http/client.h"
#include "server/commands/commands.h"
#include "server/commands/other_programs.h"
#include "server/http/connections.h"
#include "server/http/descriptors.h"
#include "server/engine/engine.h"
#include "server/engine/result_cache.h"
#include "server/data/database.h"
#include "server/data/glossaries.h"
#include "server/data/translation_memory.h"
#include "server/service/document_jobs.h"
#include "server/service/file_store.h"
#include "server/service/snapshot.h"
#include "server/service/snapshots.h"
#include "server/requests/handler.h"
#include "server/requests/http.h"
#include "server/http/listen.h"
#include "server/service/memory_plan.h"
#include "server/service/meters.h"
#include "server/service/metrics.h"
#include "server/http/router.h"
#include "server/service/readable.h"
#include "server/service/sandbox.h"
#include "server/http/socket_file.h"
#include "server/text/numbers/number_words.h"
#include "server/text/splitter.h"
#include "server/text/text_threads.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* After SIGTERM, idle connections stay open for this time, so that requests that were already sent
 * are answered. */
#define DRAIN_GRACE_MS 250
#define DRAIN_TICK_MS 10
/* How long a model that is being loaded is waited for when the server ends. */
#define RELOAD_TIMEOUT_MS 2000
/* How often expired files are removed. */
#define FILES_SWEEP_MS 1000
/* Most paths readable by root that the log lists. */
#define MAX_SHOWN_PATHS 8
/* Larger blocks are returned to the system when they are freed. */
#define MMAP_THRESHOLD_BYTES (256 * 1024)
#define MAX_HEAPS 4
/* Free memory that is kept at a heap's end for the next request. Otherwise every request would
 * return some hundred kilobytes to the system, and the next one would have to get them again. */
#define HEAP_END_BYTES (1024 * 1024)
/* For the admin socket, whose clients are on this machine. */
#define ADMIN_TIMEOUT_MS 10000
/* After the deadline: time for a decoder step to end the work, and for the last replies to be
 * sent. */
#define CANCEL_TIMEOUT_MS 10000
#define FLUSH_TIMEOUT_MS 500

struct server {
    /* Sources of the settings, for a reload. */
    const struct mt_cli_command *command;
    int argc;
    char **argv;
    const char *config_path;

    struct mt_listener listener;
    struct mt_splitter *splitter;
    struct mt_number_words *number_words;
    struct mt_file_store *files;
    struct mt_document_jobs *documents;
    struct mt_result_cache *results; /* NULL: cache_bytes is 0 */
    struct mt_database *database;    /* NULL: there is no database */
    struct mt_glossaries *glossaries;
    struct mt_memories *memories;
    struct mt_metrics *metrics;
    struct mt_snapshots *snapshots;
    struct mt_text_threads *text_threads;
    struct mt_http *http;
    struct mt_http *admin; /* NULL: there is no admin socket */
    /* not published, because the daemon's metrics are about its clients */
    struct mt_metrics *admin_metrics;
    const char **admin_route_names;
    char *admin_path; /* NULL until the socket is created */
    int admin_fd;
    struct mt_socket_file admin_file;
    struct mt_budget attention_budget;
    struct mt_meters meters;
    struct mt_proxies proxies;
    _Atomic int64_t shutdown_delay_ms, drain_timeout_ms; /* as in the current settings */
    const char **route_names;
};

/* ---- callbacks of snapshots ---- */

static enum mt_status read_settings(void *context, struct mt_settings *out, struct mt_error *err)
{
    const struct server *server = context;
    enum mt_status status = mt_cli_read_settings(server->command, server->argc, server->argv,
                                                 server->config_path, out, err);
    if (!status)
        /* the value at the start stays, as the limit cannot be raised any more */
        mt_descriptors_choose(out);
    return status;
}

static void apply_settings(void *context, const struct mt_settings *settings)
{
    struct server *server = context;
    enum mt_log_level level = MT_LOG_INFO;
    mt_log_level_parse(settings->log_level, &level);
    mt_log_set_level(level);
    server->attention_budget.limit =
        MT_ATTENTION_REQUESTS_AT_ONCE * (uint64_t)settings->max_attention_values;
    server->shutdown_delay_ms = settings->shutdown_delay_ms;
    server->drain_timeout_ms = settings->drain_timeout_ms;
}

/* ---- starting ---- */

static void choose_connections(struct mt_settings *settings)
{
    size_t limit = mt_descriptors_choose(settings);
    if (limit > 0)
        mt_log(MT_LOG_WARN,
               "max_connections is %lld, as the limit on open files is low: %d take one of %zu "
               "(ulimit -Hn)",
               (long long)settings->max_connections, MT_USUAL_CONNECTIONS, limit);
}

static enum mt_status create_snapshots(struct server *server, struct mt_error *err)
{
    enum mt_status status = mt_splitter_create(&server->splitter, err);
    if (!status)
        status = mt_number_words_create(&server->number_words, err);
    if (status)
        return status;
    const struct mt_service common = {
        .metrics = server->metrics,
        .attention_budget = &server->attention_budget,
        .files = server->files,
        .glossaries = server->glossaries,
        .memories = server->memories,
        .results = server->results,
        .documents = server->documents,
        .splitter = server->splitter,
        .number_words = server->number_words,
        .meters = &server->meters,
    };
    const struct mt_snapshots_options options = {
        .common = &common,
        .read_settings = read_settings,
        .apply_settings = apply_settings,
        .context = server,
    };
    return mt_snapshots_create(&options, &server->snapshots, err);
}

static enum mt_status create_metrics(const struct mt_route *routes, size_t n_routes,
                                     const char ***out_names, struct mt_metrics **out,
                                     struct mt_error *err)
{
    const char **names = calloc(n_routes, sizeof names[0]);
    if (!names)
        return mt_fail_memory(err, n_routes * sizeof names[0], "routes");
    for (size_t i = 0; i < n_routes; i++)
        names[i] = routes[i].path;
    *out_names = names;
    return mt_metrics_create(names, n_routes, out, err);
}

static enum mt_status create_meters(struct server *server, const struct mt_settings *settings,
                                    struct mt_error *err)
{
    enum mt_status status = mt_proxies_parse(settings->trust_forwarded_for, "trust_forwarded_for",
                                             &server->proxies, err);
    if (status)
        return status;
    return mt_meters_create(MT_MAX_METERED_ADDRESSES, &server->meters, err);
}

static enum mt_status create_http(struct server *server, const struct mt_settings *settings,
                                  struct mt_error *err)
{
    const struct mt_http_options options = {
        .name = "http",
        .snapshots = server->snapshots,
        .metrics = server->metrics,
        .routes = mt_routes,
        .n_routes = mt_n_routes,
        .meters = &server->meters,
        .text_threads = server->text_threads,
        .proxies = &server->proxies,
        .has_tls = settings->tls_certificate[0] != '\0',
        .max_connections = (size_t)settings->max_connections,
        .max_client_connections = (size_t)settings->max_client_connections,
        .header_timeout_ms = settings->header_timeout_ms,
        .body_timeout_ms = settings->body_timeout_ms,
        .idle_timeout_ms = settings->idle_timeout_ms,
        .stream_keepalive_ms = settings->stream_keepalive_ms,
    };
    return mt_http_create(&options, &server->http, err);
}

static enum mt_status listen_for_admin(struct server *server, const char *path,
                                       struct mt_error *err)
{
    if (path[0] == '\0')
        return MT_OK;
    enum mt_status status = mt_listen_unix(path, &server->admin_fd, err);
    if (status)
        return mt_fail_in(err, status, "admin_socket");
    struct mt_error failure;
    if (mt_socket_file_watch(path, &server->admin_file, &failure) != MT_OK)
        mt_log(MT_LOG_WARN, "admin_socket stays behind at the end: %s", failure.message);
    server->admin_path = strdup(path);
    return server->admin_path ? MT_OK : mt_fail_memory(err, strlen(path), "path");
}

/* The admin socket uses the same HTTP code with other routes. */
static enum mt_status create_admin(struct server *server, struct mt_error *err)
{
    if (server->admin_fd < 0)
        return MT_OK;
    enum mt_status status = create_metrics(mt_admin_routes, mt_n_admin_routes,
                                           &server->admin_route_names, &server->admin_metrics, err);
    const struct mt_http_options options = {
        .name = "admin",
        .snapshots = server->snapshots,
        .metrics = server->admin_metrics,
        .routes = mt_admin_routes,
        .n_routes = mt_n_admin_routes,
        .meters = &server->meters,
        .text_threads = server->text_threads,
        .proxies = &server->proxies,
        .max_connections = MT_ADMIN_CONNECTIONS,
        .header_timeout_ms = ADMIN_TIMEOUT_MS,
        .body_timeout_ms = ADMIN_TIMEOUT_MS,
        .idle_timeout_ms = ADMIN_TIMEOUT_MS,
    };
    return status ? status : mt_http_create(&options, &server->admin, err);
}

/* Removes files in the cache of daemons that were killed while they packed a model. */
static void remove_leftovers(const char *cache_directory)
{
    size_t n = mt_cache_remove_leftovers(cache_directory);
    if (n > 0)
        mt_log(MT_LOG_INFO, "%s: removed %zu temporary file%s of a daemon that was killed",
               cache_directory, n, n == 1 ? "" : "s");
}

static enum mt_status start_admin(struct server *server, struct mt_error *err)
{
    int listen_fd = server->admin_fd;
    if (listen_fd < 0)
        return MT_OK;
    server->admin_fd = -1;
    mt_log(MT_LOG_INFO, "admin requests at %s", server->admin_path);
    return mt_http_start(server->admin, listen_fd, err);
}

static enum mt_status start_http(struct server *server, struct mt_error *err)
{
    int listen_fd = server->listener.fd;
    server->listener.fd = -1;
    return mt_http_start(server->http, listen_fd, err);
}

/* readable NULL: everything is readable. */
static void log_root(const struct mt_readable *readable)
{
    struct mt_text paths = {0};
    size_t n_shown = readable ? mt_size_min(readable->n, MAX_SHOWN_PATHS) : 0;
    for (size_t i = 0; i < n_shown; i++) {
        mt_text_append_string(&paths, i > 0 ? ", " : "");
        mt_text_append_printable(&paths, readable->paths[i], strlen(readable->paths[i]));
    }
    if (readable && n_shown < readable->n)
        mt_text_appendf(&paths, " and %zu more", readable->n - n_shown);
    mt_log(MT_LOG_WARN, "running as root: a user of its own is safer; %s%s",
           readable ? "it reads only these, and of others' files only what all may read: "
                    : "it reads whatever root may",
           paths.bytes ? paths.bytes : "");
    mt_text_finish(&paths);
}

/* Restricts the files that can be read, before there are threads, which inherit the restriction. If
 * the daemon runs as root, then keys, passwords and other services' files would be useful to an
 * intruder. */
static enum mt_status restrict_files(const struct server *server,
                                     const struct mt_settings *settings, struct mt_error *err)
{
    struct mt_readable readable = {0};
    bool is_root = geteuid() == 0;
    enum mt_status status =
        is_root ? mt_readable_list(settings, server->config_path, &readable, err) : MT_OK;
    if (status)
        return status;
    const struct mt_sandbox_files files = {
        .writable = {settings->cache_dir, settings->files_directory, settings->data_directory},
        .readable = is_root ? readable.paths : NULL,
        .n_readable = readable.n,
    };
    bool is_restricted = mt_sandbox_restrict_files(&files);
    if (is_root)
        log_root(is_restricted ? &readable : NULL);
    mt_readable_finish(&readable);
    return MT_OK;
}

/* PostgreSQL may become reachable later; other faults of the setting are reported now. */
static enum mt_status open_data(struct server *server, const struct mt_settings *settings,
                                struct mt_error *err)
{
    char program[PATH_MAX];
    const struct mt_database_options options = {
        .directory = settings->data_directory,
        .max_bytes = settings->max_data_bytes,
        .url = settings->database,
        .program = program,
        .is_confined = settings->sandbox,
    };
    const struct mt_glossary_limits limits = {
        .max_glossaries = (size_t)settings->max_glossaries,
        .max_bytes = (size_t)settings->max_glossary_bytes,
    };
    if (!mt_settings_keep_data(settings))
        return MT_OK;
    const struct mt_memory_limits memory_limits = {
        .max_memories = (size_t)settings->max_memories,
        .max_units = (size_t)settings->max_memory_units,
    };
    mt_program_find(MT_DATABASE_PROGRAM, program);
    enum mt_status status = mt_database_open(&options, &server->database, err);
    if (!status)
        status = mt_glossaries_create(server->database, &limits, &server->glossaries, err);
    return status ? status
                  : mt_memories_create(server->database, &memory_limits, &server->memories, err);
}

/* Does everything that may take long. The port is opened first, so that a port in use is reported
 * at once, and early clients wait. */
static enum mt_status start(struct server *server, struct mt_settings *settings,
                            struct mt_error *err)
{
    bool is_sandboxed = settings->sandbox; /* the settings are going to be moved */
    enum mt_status status =
        mt_listen(settings->host, (uint16_t)settings->port, &server->listener, err);
    if (!status)
        status = listen_for_admin(server, settings->admin_socket, err);
    /* so that everything missing under the restriction is noticed during the start */
    if (!status && is_sandboxed)
        mt_sandbox_drop_privileges();
    if (!status)
        remove_leftovers(settings->cache_dir);
    if (!status)
        status = mt_file_store_create(settings->files_directory, &server->files, err);
    if (!status)
        status = mt_document_jobs_create(&server->documents, err);
    if (!status)
        status = open_data(server, settings, err);
    if (!status && settings->cache_bytes > 0)
        status = mt_result_cache_create((size_t)settings->cache_bytes, &server->results, err);
    if (!status && is_sandboxed)
        status = restrict_files(server, settings, err);
    else if (!status && geteuid() == 0)
        log_root(NULL);
    if (!status)
        status =
            create_metrics(mt_routes, mt_n_routes, &server->route_names, &server->metrics, err);
    if (!status)
        status = create_meters(server, settings, err);
    if (!status)
        status = create_snapshots(server, err);
    if (!status)
        status = mt_text_threads_create((size_t)settings->text_threads, &server->text_threads, err);
    if (!status)
        status = create_http(server, settings, err);
    if (!status)
        status = create_admin(server, err);
    if (!status)
        status = mt_snapshots_start(server->snapshots, settings, server->http, err);
    if (!status && is_sandboxed) /* before there are clients */
        mt_sandbox_restrict_calls(false);
    return status;
}

static void stop_admin(struct server *server)
{
    mt_http_destroy(server->admin);
    if (server->admin_fd >= 0)
        close(server->admin_fd);
    mt_socket_file_remove(&server->admin_file);
    free(server->admin_path);
    mt_metrics_destroy(server->admin_metrics);
    free(server->admin_route_names);
}

static void stop(struct server *server)
{
    stop_admin(server);
    mt_http_destroy(server->http);
    mt_text_threads_destroy(server->text_threads);
    mt_snapshots_destroy(server->snapshots);
    mt_document_jobs_destroy(server->documents);
    mt_result_cache_destroy(server->results);
    mt_memories_destroy(server->memories);
    mt_glossaries_destroy(server->glossaries);
    mt_database_close(server->database);
    mt_file_store_destroy(server->files);
    mt_splitter_destroy(server->splitter);
    mt_number_words_destroy(server->number_words);
    mt_metrics_destroy(server->metrics);
    mt_meters_destroy(&server->meters);
    free(server->route_names);
    if (server->listener.fd >= 0)
        close(server->listener.fd);
}

/* Writes "2 models of a directory, and 1 that cannot be served". */
static void describe_directory(const struct mt_service *service, char *out, size_t capacity)
{
    size_t n_sound = 0, n_failed = 0;
    for (size_t i = 0; i < mt_catalog_n(service->catalog); i++) {
        struct mt_served_model *served = mt_catalog_at(service->catalog, i);
        struct mt_served_model_status status;
        mt_served_model_describe(served, &status);
        n_failed += status.state == MT_SERVED_FAILED;
        n_sound += status.state != MT_SERVED_FAILED && !mt_served_model_info(served)->is_pinned;
    }
    int n = snprintf(out, capacity, "%zu model%s of a directory", n_sound, n_sound == 1 ? "" : "s");
    if (n_failed > 0)
        snprintf(out + n, capacity - (size_t)n, ", and %zu that cannot be served", n_failed);
}

static void log_start(const struct server *server, int64_t start_ms)
{
    struct mt_snapshot *snapshot = mt_snapshots_hold(server->snapshots);
    const struct mt_service *service = mt_snapshot_service(snapshot);
    struct mt_engine_stats stats;
    mt_engine_stats(service->engine, &stats);
    char models[128] = "", spare[32] = "";
    if (service->pinned)
        mt_log(MT_LOG_INFO, "%s; kernels %s", mt_model_note(service->pinned->model),
               mt_model_kernels_name(service->pinned->model));
    if (service->settings->models_directory[0] != '\0')
        describe_directory(service, models, sizeof models);
    if (stats.n_spare_workers > 0)
        snprintf(spare, sizeof spare, " and %zu spare", stats.n_spare_workers);
    mt_log(MT_LOG_INFO,
           "listening on %s%s: %s%s%s%s, %s, %zu worker%s of %zu thread%s%s, started in %lld ms",
           server->listener.address, service->tls ? " with TLS" : "",
           service->pinned ? "model " : "", service->pinned ? service->pinned->label : "",
           service->pinned && models[0] != '\0' ? " and " : "", models,
           service->settings->precision, stats.n_workers, stats.n_workers == 1 ? "" : "s",
           stats.threads_per_worker, stats.threads_per_worker == 1 ? "" : "s", spare,
           (long long)(mt_now_ms() - start_ms));
    mt_snapshots_let_go(server->snapshots, snapshot);
}

/* Ends the process. Before there are clients, nothing has to be completed. */
static void leave_at_once(int number)
{
    (void)number;
    _exit(MT_EXIT_OK);
}

static void handle_stopping(void (*handler)(int number))
{
    const struct sigaction action = {.sa_handler = handler};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* Blocks the signals in all threads, so that only await_signal receives them. A signal that was
 * ignored when the process was started is not delivered even there. Signals with a meaning for
 * other daemons, such as reopening the log, do not end this one. */
static void block_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGHUP, SIG_DFL);
    handle_stopping(SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGALRM, SIG_IGN);
}

/* A thread that receives signals during the start, while the main thread is busy and others have
 * them blocked, because threads inherit the signal mask. It ends before there are clients, so it
 * needs no sandbox. */
struct sentry {
    pthread_t thread;
    sem_t is_over;
};

static void *stand_sentry(void *argument)
{
    struct sentry *sentry = argument;
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGTERM);
    sigaddset(&stopping, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &stopping, NULL);
    while (sem_wait(&sentry->is_over) != 0)
        ;
    return NULL;
}

static enum mt_status begin_sentry(struct sentry *sentry, struct mt_error *err)
{
    sem_init(&sentry->is_over, 0, 0);
    handle_stopping(leave_at_once);
    int code = pthread_create(&sentry->thread, NULL, stand_sentry, sentry);
    if (code != 0)
        return mt_fail(err, MT_IO, "cannot start a thread: %s", strerror(code));
    return MT_OK;
}

/* Ends the thread; from now on await_signal receives signals. */
static void end_sentry(struct sentry *sentry)
{
    sem_post(&sentry->is_over);
    pthread_join(sentry->thread, NULL);
    sem_destroy(&sentry->is_over);
    handle_stopping(SIG_DFL);
}

/* Returns the signal, or 0 after timeout_ms (-1: no limit). */
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

/* Gives load balancers time to see that the server is not ready, and to send clients elsewhere;
 * clients who come meanwhile are still served. A second signal ends the wait. */
static void delay_shutdown(struct server *server, const sigset_t *signals)
{
    int64_t end_ms = mt_now_ms() + server->shutdown_delay_ms, left_ms;
    mt_http_announce_end(server->http);
    if (server->shutdown_delay_ms > 0)
        mt_log(MT_LOG_INFO, "not ready any more, and shutting down in %lld ms",
               (long long)server->shutdown_delay_ms);
    while ((left_ms = end_ms - mt_now_ms()) > 0) {
        int signal = await_signal(signals, left_ms < FILES_SWEEP_MS ? left_ms : FILES_SWEEP_MS);
        if (signal != 0 && signal != SIGHUP)
            return;
        mt_file_store_sweep(server->files);
    }
}

/* Waits until requests are finished and connections closed, at most until the time is over or
 * another signal comes. */
static void drain(struct server *server, const sigset_t *signals)
{
    int64_t start_ms = mt_now_ms();
    struct mt_connection_counts counts;
    mt_http_count(server->http, &counts);
    size_t n_jobs = mt_document_jobs_count(server->documents);
    mt_log(MT_LOG_INFO, "shutting down: %zu requests in progress, %zu connections",
           counts.n_active + n_jobs, counts.n_open);
    for (;;) {
        int64_t waited_ms = mt_now_ms() - start_ms;
        bool has_all = mt_http_drain(server->http); /* before they are counted */
        if (waited_ms >= DRAIN_GRACE_MS)
            mt_http_close_idle(server->http);
        mt_http_count(server->http, &counts);
        if (has_all && counts.n_open == 0 && counts.n_working == 0)
            return;
        if (waited_ms >= server->drain_timeout_ms)
            return;
        int signal = await_signal(signals, DRAIN_TICK_MS);
        if (signal != 0 && signal != SIGHUP)
            return;
    }
}

/* Whether no request is left. A client that is still connected may always send one more, so
 * requests are refused from this decision on. If the client of a stream has left, then its work
 * lasts until the end of a decoder step. */
static bool is_drained(struct server *server)
{
    struct mt_connection_counts counts;
    mt_http_refuse_work(server->http);
    mt_http_count(server->http, &counts);
    return counts.n_active == 0 && counts.n_working == 0;
}

/* Depends on whether there is work that was told to end, or only clients that are still reading. */
static int64_t patience_ms(const struct mt_connection_counts *counts)
{
    return counts->n_working > 0 ? CANCEL_TIMEOUT_MS : FLUSH_TIMEOUT_MS;
}

/* Cancels the remaining work, and replies to its clients. Returns false where a worker does not
 * react. */
static bool cancel(struct server *server, const sigset_t *signals)
{
    int64_t start_ms = mt_now_ms();
    struct mt_connection_counts counts;
    mt_http_count(server->http, &counts);
    mt_log(MT_LOG_WARN, "%zu requests are cut off", counts.n_active);
    do {
        mt_http_cancel(server->http);
        mt_http_close_idle(server->http);
        await_signal(signals, DRAIN_TICK_MS);
        mt_http_count(server->http, &counts);
        if (mt_now_ms() - start_ms >= patience_ms(&counts))
            break;
    } while (counts.n_open > 0 || counts.n_working > 0);
    return counts.n_working == 0;
}

/* Waits for requests of the admin socket that wait for models, which fail since no more are loaded.
 * Returns false where one is not answered. */
static bool flush_admin(struct server *server, const sigset_t *signals)
{
    int64_t start_ms = mt_now_ms();
    if (!server->admin)
        return true;
    for (;;) {
        struct mt_connection_counts counts;
        mt_http_count(server->admin, &counts);
        if (counts.n_active == 0 || mt_now_ms() - start_ms >= patience_ms(&counts))
            return counts.n_working == 0;
        await_signal(signals, DRAIN_TICK_MS);
    }
}

/* Waits for a signal to stop, and removes expired files meanwhile. */
static void watch(struct server *server, const sigset_t *signals)
{
    for (;;) {
        int signal = await_signal(signals, FILES_SWEEP_MS);
        if (signal == 0) {
            mt_file_store_sweep(server->files);
        } else if (signal == SIGHUP) {
            mt_log(MT_LOG_INFO, "reloading");
            mt_snapshots_reload(server->snapshots);
        } else {
            return;
        }
    }
}

/* Destroys everything once no client has work. Returns exit_code, if it returns. */
static int take_down(struct server *server, const sigset_t *signals, int exit_code)
{
    if (server->admin)
        mt_http_refuse_work(server->admin);
    if (!mt_snapshots_stop(server->snapshots, RELOAD_TIMEOUT_MS)) {
        mt_log(MT_LOG_INFO, "stopped, in the middle of a reload");
        _exit(exit_code);
    }
    if (!flush_admin(server, signals)) {
        mt_log(MT_LOG_ERROR, "the models' host does not answer: leaving it behind");
        _exit(MT_EXIT_FAILURE);
    }
    stop(server);
    return exit_code;
}

static int end(struct server *server, const sigset_t *signals)
{
    delay_shutdown(server, signals);
    drain(server, signals);
    int exit_code = is_drained(server) ? MT_EXIT_OK : MT_EXIT_FAILURE;
    if (exit_code != MT_EXIT_OK && !cancel(server, signals)) {
        /* The worker still uses the model, so that nothing can be destroyed in order. */
        mt_log(MT_LOG_ERROR, "a worker does not answer: leaving it behind");
        _exit(MT_EXIT_FAILURE);
    }
    exit_code = take_down(server, signals, exit_code);
    mt_log(MT_LOG_INFO, "stopped");
    return exit_code;
}

/* Once glibc has seen a freed block of up to 32 MiB, it allocates such blocks from its heaps, of
 * which every thread has its own: after some reloads much of that memory is fragmented. */
static void limit_heaps(void)
{
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
    mallopt(M_ARENA_MAX, MAX_HEAPS);
    mallopt(M_TRIM_THRESHOLD, HEAP_END_BYTES);
}

static int serve(struct server *server, struct mt_settings *settings, int64_t start_ms)
{
    struct mt_error err;
    sigset_t signals;
    struct sentry sentry;
    limit_heaps();
    choose_connections(settings);
    block_signals(&signals);
    enum mt_status status = begin_sentry(&sentry, &err);
    if (!status) {
        status = start(server, settings, &err);
        end_sentry(&sentry);
    }
    if (status) {
        stop(server);
        return mt_cli_fail(server->command, &err);
    }
    status = start_admin(server, &err);
    if (!status)
        status = start_http(server, &err);
    if (status)
        return take_down(server, &signals, mt_cli_fail(server->command, &err));
    log_start(server, start_ms);
    watch(server, &signals);
    return end(server, &signals);
}

int mt_cmd_serve(int argc, char **argv)
{
    int64_t start_ms = mt_now_ms();
    const struct mt_cli_command command = {
        .name = "serve",
        .verb = MT_VERB_SERVE,
        .synopsis = "--model DIR [options]",
        .summary = "answer translation requests over HTTP",
        .detail =
            "SIGHUP reads settings and model again, without losing a request; if anything is\n"
            "wrong with them, the log says so and nothing changes.\n\n"
            "SIGTERM and SIGINT end it: after shutdown_delay_ms it stops accepting, finishes\n"
            "what it has accepted within drain_timeout_ms, and exits with 0, or with 1 where\n"
            "requests were cut off. Another signal ends the delay, and then the waiting; the\n"
            "first one acts at once before there are clients. SIGUSR1, SIGUSR2 and SIGALRM do\n"
            "nothing.\n",
        .needs_model = true,
        .serves_directory = true,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    enum mt_log_level level = MT_LOG_INFO;
    mt_log_level_parse(cli.settings.log_level, &level);
    mt_log_configure(level, strcmp(cli.settings.log_format, "json") == 0);
    struct server server = {
        .command = &command,
        .argc = argc,
        .argv = argv,
        .config_path = cli.config_path,
        .listener.fd = -1,
        .admin_fd = -1,
        .admin_file = {.fd = -1},
    };
    exit_code = serve(&server, &cli.settings, start_ms);
    mt_cli_finish(&cli);
    return exit_code;
}
