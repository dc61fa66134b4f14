#include "server/service/snapshots.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "config/settings.h"
#include "server/models/catalog.h"
#include "server/engine/engine.h"
#include "server/service/snapshot.h"
#include "server/service/service.h"
#include "server/models/model_host.h"
#include "server/models/models_watch.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)

struct held {
    struct mt_snapshot *snapshot;
    size_t n_holders;
};

struct mt_snapshots {
    struct mt_snapshots_options options;
    struct mt_service common;
    pthread_t thread;
    bool is_started;

    /* The next two belong to the thread. */
    struct mt_models_watch watch;
    int64_t changed_ns; /* when the last change was seen; 0: none since the last check */

    pthread_mutex_t mutex;  /* guards the members below */
    pthread_cond_t changed; /* any member below has changed */
    /* The first is the current one. Others wait for their last holder to let go, the oldest
     * last. */
    struct held alive[MT_SNAPSHOTS_AT_ONCE];
    size_t n_alive;
    bool wants_reload, is_reloading, is_stopping;
    /* the reload needs another settings->model, so that all former snapshots have to end first */
    bool waits_for_memory;
    uint64_t last_number, n_reloads, n_failed;
    struct mt_engine_stats ended; /* counters of snapshots that have ended */
};

enum mt_status mt_snapshots_create(const struct mt_snapshots_options *options,
                                   struct mt_snapshots **out, struct mt_error *err)
{
    struct mt_snapshots *g = calloc(1, sizeof *g);
    if (!g)
        return mt_fail_memory(err, sizeof *g, "generations");
    g->options = *options;
    g->common = *options->common;
    g->common.snapshots = g;
    g->watch = MT_WATCHES_NOTHING;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = g;
    return MT_OK;
}

static void add_counters(const struct mt_engine_stats *from, struct mt_engine_stats *to)
{
    to->n_jobs_accepted += from->n_jobs_accepted;
    to->n_jobs_done += from->n_jobs_done;
    to->n_jobs_cancelled += from->n_jobs_cancelled;
    to->n_jobs_expired += from->n_jobs_expired;
    to->n_jobs_refused += from->n_jobs_refused;
    to->n_sentences_admitted += from->n_sentences_admitted;
    to->n_steps += from->n_steps;
    to->n_step_rows += from->n_step_rows;
    to->n_encoder_passes += from->n_encoder_passes;
    to->n_source_tokens += from->n_source_tokens;
    to->n_target_tokens += from->n_target_tokens;
    to->encode_seconds += from->encode_seconds;
    to->step_seconds += from->step_seconds;
    to->queue_wait_seconds += from->queue_wait_seconds;
}

static struct mt_engine *engine_of(const struct held *held)
{
    return mt_model_host_engine(mt_snapshot_host(held->snapshot));
}

/* Whether an earlier one in the list has the same engine. */
static bool is_counted(const struct mt_snapshots *g, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (engine_of(&g->alive[k]) == engine_of(&g->alive[i]))
            return true;
    return false;
}

/* ---- the thread; the caller holds the mutex unless a comment says otherwise ---- */

/* Returns the index of a former snapshot that nobody holds; 0: there is none. */
static size_t find_idle(const struct mt_snapshots *g)
{
    for (size_t i = g->n_alive; i-- > 1;)
        if (g->alive[i].n_holders == 0)
            return i;
    return 0;
}

/* Releases the mutex meanwhile. */
static void destroy_former(struct mt_snapshots *g, size_t i)
{
    struct mt_snapshot *snapshot = g->alive[i].snapshot;
    struct mt_engine_stats stats;
    bool has_own_engine = true;
    for (size_t k = 0; k < g->n_alive; k++)
        has_own_engine &= k == i || engine_of(&g->alive[k]) != engine_of(&g->alive[i]);
    if (has_own_engine) {
        mt_engine_stats(engine_of(&g->alive[i]), &stats);
        add_counters(&stats, &g->ended);
    }
    g->n_alive--;
    memmove(&g->alive[i], &g->alive[i + 1], (g->n_alive - i) * sizeof g->alive[0]);
    pthread_mutex_unlock(&g->mutex);
    mt_log(MT_LOG_DEBUG, "generation %llu is gone",
           (unsigned long long)mt_snapshot_number(snapshot));
    mt_snapshot_destroy(snapshot);
    malloc_trim(0);
    pthread_mutex_lock(&g->mutex);
    pthread_cond_broadcast(&g->changed);
}

/* Begins before the directory is read, so that a change meanwhile causes another check. Called
 * without the mutex. */
static void begin_watch(struct mt_snapshots *g, const struct mt_settings *settings)
{
    struct mt_error err;
    const char *directory = settings->models_watch_ms > 0 ? settings->models_directory : "";
    g->changed_ns = 0;
    if (mt_models_watch_begin(&g->watch, directory, &err) != MT_OK)
        mt_log(MT_LOG_WARN, "models_directory is not watched, changes wait for SIGHUP: %s",
               err.message);
}

/* Called without the mutex. */
static enum mt_status load(struct mt_snapshots *g, const struct mt_snapshot_options *options,
                           struct mt_snapshot **out, struct mt_error *err)
{
    const struct mt_settings *running = mt_snapshot_service(options->former)->settings;
    struct mt_settings fresh;
    struct mt_text differing = {0};
    enum mt_status status = g->options.read_settings(g->options.context, &fresh, err);
    if (status)
        return status;
    status = mt_settings_keep_fixed(&fresh, running, &differing, err);
    if (!status && differing.length > 0)
        mt_log(MT_LOG_WARN, "these settings have changed, which takes a restart: %s",
               differing.bytes);
    mt_text_finish(&differing);
    if (status) {
        mt_settings_finish(&fresh);
        return status;
    }
    begin_watch(g, &fresh);
    status = mt_snapshot_create(options, &fresh, out, err);
    if (status) { /* the fault may have been repaired in the meantime */
        bool has_changed = mt_models_watch_look(&g->watch);
        begin_watch(g, running);
        if (has_changed)
            g->changed_ns = mt_now_ns();
    }
    return status;
}

static void replace(struct mt_snapshots *g, struct mt_snapshot *snapshot)
{
    memmove(&g->alive[1], &g->alive[0], g->n_alive * sizeof g->alive[0]);
    g->alive[0] = (struct held){.snapshot = snapshot};
    g->n_alive++;
    g->last_number = mt_snapshot_number(snapshot);
}

static void log_reload(const struct mt_snapshot *snapshot, uint64_t n_ms)
{
    const struct mt_service *service = mt_snapshot_service(snapshot);
    size_t n_models = mt_catalog_n(service->catalog);
    mt_log(MT_LOG_INFO, "reloaded in %llu ms: generation %llu, %zu model%s%s%s, %s",
           (unsigned long long)n_ms, (unsigned long long)mt_snapshot_number(snapshot), n_models,
           n_models == 1 ? "" : "s", service->pinned ? ", model " : "",
           service->pinned ? service->pinned->label : "", service->settings->precision);
}

/* This thread holds the current snapshot, which no other thread replaces. */
static void reload(struct mt_snapshots *g)
{
    struct mt_snapshot *fresh = NULL;
    struct mt_error err;
    const struct mt_snapshot_options options = {
        .common = &g->common,
        .number = g->last_number + 1,
        .former = g->alive[0].snapshot,
        .loads_nothing = g->n_alive > 1,
    };
    int64_t start_ns = mt_now_ns();
    g->wants_reload = false;
    g->waits_for_memory = false;
    g->is_reloading = true;
    pthread_mutex_unlock(&g->mutex);

    enum mt_status status = load(g, &options, &fresh, &err);
    uint64_t n_ms = (uint64_t)((mt_now_ns() - start_ns) / NS_PER_MS);
    bool is_early = options.loads_nothing && status == MT_BUSY;
    if (!status)
        g->options.apply_settings(g->options.context, mt_snapshot_service(fresh)->settings);
    else if (!is_early)
        mt_log(MT_LOG_ERROR, "reload failed, generation %llu stays: %s",
               (unsigned long long)mt_snapshot_number(options.former), err.message);

    pthread_mutex_lock(&g->mutex);
    if (!status) {
        replace(g, fresh);
        pthread_mutex_unlock(&g->mutex); /* only this thread replaces it */
        log_reload(fresh, n_ms);
        pthread_mutex_lock(&g->mutex);
        /* counted after logging, so that whoever sees the count finds the line in the log */
        g->n_reloads++;
    } else if (is_early) {
        /* otherwise another reload was requested meanwhile */
        g->waits_for_memory = !g->wants_reload;
        g->wants_reload = true;
    } else {
        g->n_failed++;
    }
    g->is_reloading = false;
    pthread_cond_broadcast(&g->changed);
}

/* An earlier reload may be waiting for memory. The new one may need less, so it is tried at
 * once. */
static void want_reload(struct mt_snapshots *g)
{
    g->wants_reload = true;
    g->waits_for_memory = false;
}

static const struct mt_settings *settings_of(const struct mt_snapshots *g)
{
    return mt_snapshot_service(g->alive[0].snapshot)->settings;
}

/* Requests a reload when models have changed, and nothing more has changed for a while. */
static void look_at_directory(struct mt_snapshots *g)
{
    int64_t now_ns = mt_now_ns();
    if (mt_models_watch_look(&g->watch))
        g->changed_ns = now_ns;
    if (g->changed_ns == 0 || now_ns - g->changed_ns < settings_of(g)->models_watch_ms * NS_PER_MS)
        return;
    g->changed_ns = 0;
    want_reload(g);
    const char *directory = settings_of(g)->models_directory;
    pthread_mutex_unlock(&g->mutex);
    mt_log(MT_LOG_INFO, "%s has changed: reloading", directory);
    pthread_mutex_lock(&g->mutex);
}

/* Returns the time until the next check of weights and directory. */
static int64_t rest_ns(const struct mt_snapshots *g)
{
    int64_t watch_ms = settings_of(g)->models_watch_ms;
    bool is_soon = g->watch.fd >= 0 && watch_ms < MT_WEIGHTS_CHECK_MS;
    return (is_soon ? watch_ms : MT_WEIGHTS_CHECK_MS) * NS_PER_MS;
}

/* The model remembers and logs damage. The snapshot exists meanwhile, since this thread holds
 * it. */
static void check_weights(struct mt_snapshots *g)
{
    struct mt_snapshot *snapshot = g->alive[0].snapshot;
    pthread_mutex_unlock(&g->mutex);
    mt_snapshot_look_after(snapshot);
    pthread_mutex_lock(&g->mutex);
}

static bool can_reload(const struct mt_snapshots *g)
{
    return g->wants_reload && !g->is_stopping &&
           g->n_alive < (g->waits_for_memory ? 2 : MT_SNAPSHOTS_AT_ONCE);
}

static void *run(void *argument)
{
    struct mt_snapshots *g = argument;
    /* set by the thread itself, because the sandbox forbids setting other threads' names */
    prctl(PR_SET_NAME, "generations");
    pthread_mutex_lock(&g->mutex);
    while (!g->is_stopping) {
        size_t idle = find_idle(g);
        if (idle > 0) {
            destroy_former(g, idle);
            continue;
        }
        look_at_directory(g);
        if (can_reload(g)) {
            reload(g);
            continue;
        }
        check_weights(g);
        struct timespec until = mt_timespec_of_ns(mt_now_ns() + rest_ns(g));
        pthread_cond_timedwait(&g->changed, &g->mutex, &until);
    }
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* ---- functions for other threads ---- */

enum mt_status mt_snapshots_start(struct mt_snapshots *g, struct mt_settings *settings,
                                  struct mt_http *http, struct mt_error *err)
{
    g->common.http = http;
    const struct mt_snapshot_options options = {
        .common = &g->common, .number = 1, .shows_progress = true};
    begin_watch(g, settings);
    enum mt_status status = mt_snapshot_create(&options, settings, &g->alive[0].snapshot, err);
    if (status)
        return status;
    g->n_alive = 1;
    g->last_number = 1;
    g->options.apply_settings(g->options.context,
                              mt_snapshot_service(g->alive[0].snapshot)->settings);
    int code = pthread_create(&g->thread, NULL, run, g);
    if (code != 0)
        return mt_fail(err, MT_IO, "cannot start a thread: %s", strerror(code));
    g->is_started = true;
    return MT_OK;
}

void mt_snapshots_reload(struct mt_snapshots *g)
{
    pthread_mutex_lock(&g->mutex);
    want_reload(g);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

bool mt_snapshots_stop(struct mt_snapshots *g, int64_t timeout_ms)
{
    int64_t deadline_ns = mt_now_ns() + timeout_ms * NS_PER_MS;
    struct timespec until = mt_timespec_of_ns(deadline_ns);
    int code = 0;
    pthread_mutex_lock(&g->mutex);
    g->is_stopping = true;
    pthread_cond_broadcast(&g->changed);
    while (g->is_reloading && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&g->changed, &g->mutex, &until);
    bool is_idle = !g->is_reloading;
    for (size_t i = 0; i < g->n_alive && is_idle; i++) {
        int64_t left_ms = (deadline_ns - mt_now_ns()) / NS_PER_MS;
        is_idle =
            mt_model_host_stop(mt_snapshot_host(g->alive[i].snapshot), left_ms > 0 ? left_ms : 0);
    }
    pthread_mutex_unlock(&g->mutex);
    return is_idle;
}

void mt_snapshots_destroy(struct mt_snapshots *g)
{
    if (!g)
        return;
    if (g->is_started) {
        mt_snapshots_stop(g, 0);
        pthread_join(g->thread, NULL);
    }
    mt_models_watch_end(&g->watch);
    while (g->n_alive > 0)
        mt_snapshot_destroy(g->alive[--g->n_alive].snapshot);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->mutex);
    free(g);
}

struct mt_snapshot *mt_snapshots_hold(struct mt_snapshots *g)
{
    pthread_mutex_lock(&g->mutex);
    g->alive[0].n_holders++;
    struct mt_snapshot *snapshot = g->alive[0].snapshot;
    pthread_mutex_unlock(&g->mutex);
    return snapshot;
}

void mt_snapshots_let_go(struct mt_snapshots *g, struct mt_snapshot *snapshot)
{
    pthread_mutex_lock(&g->mutex);
    size_t i = 0;
    while (g->alive[i].snapshot != snapshot)
        i++;
    if (--g->alive[i].n_holders == 0 && i > 0)
        pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

void mt_snapshots_count(struct mt_snapshots *g, struct mt_snapshots_counts *out)
{
    pthread_mutex_lock(&g->mutex);
    *out = (struct mt_snapshots_counts){
        .number = mt_snapshot_number(g->alive[0].snapshot),
        .n_alive = g->n_alive,
        .n_reloads = g->n_reloads,
        .n_failed_reloads = g->n_failed,
    };
    pthread_mutex_unlock(&g->mutex);
}

void mt_snapshots_engine_stats(struct mt_snapshots *g, struct mt_engine_stats *out)
{
    struct mt_engine_stats former;
    pthread_mutex_lock(&g->mutex);
    mt_engine_stats(engine_of(&g->alive[0]), out);
    add_counters(&g->ended, out);
    for (size_t i = 1; i < g->n_alive; i++) {
        if (is_counted(g, i))
            continue;
        mt_engine_stats(engine_of(&g->alive[i]), &former);
        add_counters(&former, out);
        out->n_running_sentences += former.n_running_sentences;
        out->n_running_rows += former.n_running_rows;
    }
    pthread_mutex_unlock(&g->mutex);
}
