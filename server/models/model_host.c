#include "server/models/model_host.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "server/models/served_model_state.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define NS_PER_MS INT64_C(1000000)
#define MIB ((uint64_t)1 << 20)
#define NEVER INT64_MAX
/* The caches of models in use are measured at least this often. */
#define RECOUNT_MS 250

/* The caller of any function here holds the mutex, unless the function says otherwise. */

static bool is_loaded(const struct mt_served_model *served)
{
    return served->phase == PHASE_READY || served->phase == PHASE_CLOSING;
}

void mt_served_model_want(struct mt_served_model *served)
{
    if (served->turn == 0) {
        served->turn = ++served->host->last_turn;
        served->wanted_ns = mt_now_ns();
    }
    pthread_cond_broadcast(&served->host->changed);
}

/* ---- memory ---- */

static uint64_t bytes_of(const struct mt_served_model *served)
{
    const struct mt_served_model_status *counts = &served->counts;
    uint64_t bytes = (uint64_t)counts->mapped_bytes + counts->private_bytes + counts->cache_bytes;
    return bytes > 0 ? bytes : served->expected_bytes;
}

/* A pinned model always fits, because the limit is for the others. */
static bool fits(const struct mt_model_host *host, const struct mt_served_model *served)
{
    uint64_t limit = host->limits.memory_bytes, bytes = bytes_of(served);
    return limit == 0 || served->info.is_pinned ||
           (bytes <= limit && host->counts.loaded_bytes <= limit - bytes);
}

static bool could_ever_fit(const struct mt_model_host *host, const struct mt_served_model *served)
{
    uint64_t limit = host->limits.memory_bytes;
    return limit == 0 || served->info.is_pinned || bytes_of(served) <= limit;
}

static bool is_over_limit(const struct mt_model_host *host)
{
    return host->limits.memory_bytes != 0 && host->counts.loaded_bytes > host->limits.memory_bytes;
}

/* Returns the memory that counts for the limit. */
static uint64_t counted_bytes(const struct mt_served_model *served)
{
    return served->info.is_pinned ? 0 : bytes_of(served);
}

/* Measures the caches of loaded models, which grow with the sentences that these get. */
static void recount(struct mt_model_host *host)
{
    for (struct mt_served_model *s = host->models.first; s; s = s->next) {
        if (!is_loaded(s))
            continue;
        host->counts.loaded_bytes -= counted_bytes(s);
        s->counts.cache_bytes = mt_model_loading_cache_bytes(s);
        host->counts.loaded_bytes += counted_bytes(s);
    }
}

/* Returns when to measure them next: later if no model is in use. */
static int64_t recount_at(const struct mt_model_host *host, int64_t now_ns)
{
    if (host->limits.memory_bytes == 0)
        return NEVER;
    for (const struct mt_served_model *s = host->models.first; s; s = s->next)
        if (is_loaded(s) && (s->n_holders > 0 || s->counts.cache_bytes > s->fresh_cache_bytes))
            return now_ns + RECOUNT_MS * NS_PER_MS;
    return NEVER;
}

/* The least recently used model is unloaded first, but a model whose successor was refused comes
 * last, because it cannot be loaded again. */
static bool goes_before(const struct mt_served_model *a, const struct mt_served_model *b)
{
    bool a_is_last = a->refused.status != MT_OK, b_is_last = b->refused.status != MT_OK;
    return a_is_last != b_is_last ? b_is_last : a->used_ns < b->used_ns;
}

/* Returns the least recently used of the models that may be unloaded and that nobody holds, or
 * NULL. */
static struct mt_served_model *least_recently_used(const struct mt_model_host *host)
{
    struct mt_served_model *oldest = NULL;
    for (struct mt_served_model *s = host->models.first; s; s = s->next)
        if (s->phase == PHASE_READY && !s->info.is_pinned && s->n_holders == 0 &&
            (!oldest || goes_before(s, oldest)))
            oldest = s;
    return oldest;
}

static struct mt_served_model *find_closing(const struct mt_model_host *host)
{
    struct mt_served_model *s = host->models.first;
    while (s && s->phase != PHASE_CLOSING)
        s = s->next;
    return s;
}

/* Returns the model to close: the least recently used of those that are held and were not opened
 * again recently. NULL: *wake_ns gets the time when there may be one. */
static struct mt_served_model *find_victim(const struct mt_model_host *host, int64_t now_ns,
                                           int64_t *wake_ns)
{
    struct mt_served_model *oldest = NULL;
    for (struct mt_served_model *s = host->models.first; s; s = s->next) {
        if (s->phase != PHASE_READY || s->info.is_pinned || s->n_holders == 0)
            continue;
        if (s->open_end_ns > now_ns)
            *wake_ns = s->open_end_ns < *wake_ns ? s->open_end_ns : *wake_ns;
        else if (!oldest || goes_before(s, oldest))
            oldest = s;
    }
    return oldest;
}

/* ---- waits ---- */

void mt_model_wait_unlink(struct mt_model_wait *wait)
{
    struct mt_served_model *served = wait->served;
    MT_LIST_REMOVE(&served->waits, wait);
    wait->served = NULL;
    served->n_waiting--;
    served->host->counts.n_waiting--;
    if (served->n_waiting == 0 && !served->is_prefetched && served->phase != PHASE_LOADING)
        served->turn = 0;
}

/* Ends all waits for the model, and releases the mutex meanwhile. With MT_OK all of them hold it. A
 * wait cannot be revoked once it is off the list. */
static void end_waits(struct mt_served_model *served, enum mt_status status,
                      const struct mt_error *err)
{
    struct mt_model_wait *ended = served->waits.first;
    for (struct mt_model_wait *wait = ended; wait; wait = wait->next) {
        wait->served = NULL;
        wait->model = status ? NULL : &served->loaded;
        wait->err = err ? *err : (struct mt_error){.status = status};
    }
    if (!status) {
        served->n_holders += served->n_waiting;
        served->counts.n_holds += served->n_waiting;
    }
    served->host->counts.n_waiting -= served->n_waiting;
    served->n_waiting = 0;
    served->waits.first = served->waits.last = NULL;
    pthread_mutex_unlock(&served->host->mutex);
    while (ended) {
        struct mt_model_wait *next = ended->next;
        ended->on_done(ended, status);
        ended = next;
    }
    pthread_mutex_lock(&served->host->mutex);
}

/* ---- loading and unloading; each function releases the mutex meanwhile ---- */

static void unload(struct mt_served_model *served)
{
    struct mt_model_host *host = served->host;
    served->phase = PHASE_UNLOADING;
    served->wants_unload = false;
    host->is_at_work = true;
    pthread_mutex_unlock(&host->mutex);
    mt_model_loading_end(served);
    malloc_trim(0);
    mt_log(MT_LOG_DEBUG, "%s is unloaded", served->info.id);
    pthread_mutex_lock(&host->mutex);
    host->is_at_work = false;
    served->phase = PHASE_COLD;
    atomic_store(&served->is_damaged, false);
    served->counts.n_unloads++;
    host->counts.n_unloads++;
    host->counts.n_loaded--;
    host->counts.loaded_bytes -= counted_bytes(served);
    served->counts.cache_bytes = served->fresh_cache_bytes;
    pthread_cond_broadcast(&host->changed);
}

/* Marks the model as failed, and releases the mutex meanwhile. */
static void fail(struct mt_served_model *served, const struct mt_error *reason)
{
    struct mt_error answer = *reason;
    served->phase = PHASE_FAILED;
    served->failure = *reason;
    served->failed_ns = mt_now_ns();
    served->turn = 0;
    served->is_prefetched = false;
    served->counts.n_failures++;
    served->host->counts.n_failures++;
    if (!served->info.is_pinned && !served->is_newcomer) { /* for those the caller reports it */
        pthread_mutex_unlock(&served->host->mutex);
        mt_log(MT_LOG_ERROR, "%s cannot be served: %s", served->info.id, reason->message);
        pthread_mutex_lock(&served->host->mutex);
    }
    answer.status = MT_BUSY;
    end_waits(served, MT_BUSY, &answer);
}

static void keep_size(struct mt_served_model *served, const struct mt_model_size *size)
{
    served->counts.n_parameters = size->n_parameters;
    served->counts.mapped_bytes = size->mapped_bytes;
    served->counts.private_bytes = size->private_bytes;
    served->counts.cache_bytes = served->fresh_cache_bytes = size->cache_bytes;
}

/* Whether others may be unloaded for it. */
static bool may_displace(const struct mt_served_model *served)
{
    return served->n_waiting > 0 && !served->is_newcomer;
}

/* Unloads others until there is room for the model, whose size is now known. Returns false where
 * the rest is held, nobody waits for the model, or unloading would not suffice. */
static bool make_room(struct mt_model_host *host, const struct mt_served_model *served)
{
    while (!fits(host, served)) {
        struct mt_served_model *victim = NULL;
        if (may_displace(served) && could_ever_fit(host, served))
            victim = least_recently_used(host);
        if (!victim)
            return false;
        unload(victim);
    }
    return true;
}

static void load(struct mt_served_model *served)
{
    struct mt_model_host *host = served->host;
    struct mt_model_size size;
    struct mt_error err;
    int64_t start_ns = mt_now_ns();
    served->phase = PHASE_LOADING;
    host->is_at_work = true;
    pthread_mutex_unlock(&host->mutex);
    enum mt_status status = mt_model_loading_begin(served, &size, &err);
    pthread_mutex_lock(&host->mutex);
    host->is_at_work = false;
    pthread_cond_broadcast(&host->changed);
    if (status) {
        fail(served, &err);
        return;
    }
    keep_size(served, &size);
    if (!make_room(host, served)) { /* it is tried again in its next turn */
        pthread_mutex_unlock(&host->mutex);
        mt_model_loading_end(served);
        pthread_mutex_lock(&host->mutex);
        served->phase = PHASE_COLD;
        return;
    }
    served->phase = PHASE_READY;
    served->turn = 0;
    served->is_prefetched = false;
    served->refused = (struct mt_error){0};
    served->used_ns = mt_now_ns();
    served->counts.load_seconds = (double)(served->used_ns - start_ns) * 1e-9;
    served->counts.n_loads++;
    host->counts.n_loads++;
    host->counts.n_loaded++;
    host->counts.loaded_bytes += counted_bytes(served);
    size_t n_mib = (size_t)(bytes_of(served) / MIB);
    double n_ms = served->counts.load_seconds * 1e3;
    pthread_mutex_unlock(&host->mutex);
    mt_log(MT_LOG_DEBUG, "%s is loaded: %zu MiB, %.0f ms", served->info.id, n_mib, n_ms);
    pthread_mutex_lock(&host->mutex);
    end_waits(served, MT_OK, NULL);
}

static void destroy(struct mt_served_model *served)
{
    struct mt_model_host *host = served->host;
    MT_LIST_REMOVE(&host->models, served);
    mt_arena_destroy(served->arena);
    free(served);
}

/* ---- the loader ---- */

static bool is_wanted(const struct mt_served_model *served)
{
    return served->turn != 0 && (served->phase == PHASE_COLD || served->phase == PHASE_FAILED);
}

/* Models are loaded in the order in which they were requested. Pinned ones come first, because a
 * reload waits for them, which must not wait for others that find no room. */
static bool comes_before(const struct mt_served_model *a, const struct mt_served_model *b)
{
    return a->info.is_pinned != b->info.is_pinned ? a->info.is_pinned : a->turn < b->turn;
}

static struct mt_served_model *next_wanted(const struct mt_model_host *host)
{
    struct mt_served_model *first = NULL;
    for (struct mt_served_model *s = host->models.first; s; s = s->next)
        if (is_wanted(s) && (!first || comes_before(s, first)))
            first = s;
    return first;
}

static int64_t idle_at(const struct mt_served_model *served, int64_t now_ns)
{
    int64_t idle_ns = served->host->limits.idle_ns;
    if (idle_ns == 0 || served->phase != PHASE_READY || served->info.is_pinned ||
        served->defaults.preload || served->refused.status)
        return NEVER;
    return (served->n_holders > 0 ? now_ns : served->used_ns) + idle_ns;
}

/* Whether a damaged model has to be loaded again before it gets new requests. A pinned one is not,
 * within its snapshot. */
static bool is_to_be_renewed(const struct mt_served_model *served)
{
    return atomic_load(&served->is_damaged) && !served->info.is_pinned;
}

static bool is_to_be_unloaded(const struct mt_served_model *served, int64_t now_ns)
{
    if (!is_loaded(served) || served->n_holders > 0)
        return false;
    return served->n_catalogs == 0 || served->phase == PHASE_CLOSING || served->wants_unload ||
           is_to_be_renewed(served) || idle_at(served, now_ns) <= now_ns;
}

/* Unloads what is not needed any more, and returns whether it did anything. */
static bool tidy(struct mt_model_host *host)
{
    int64_t now_ns = mt_now_ns();
    struct mt_served_model *over_limit = is_over_limit(host) ? least_recently_used(host) : NULL;
    if (over_limit) { /* the limit was lowered */
        unload(over_limit);
        return true;
    }
    for (struct mt_served_model *s = host->models.first; s; s = s->next) {
        /* requests that came just too late to hold it */
        if (s->phase == PHASE_READY && s->n_waiting > 0 && !is_to_be_renewed(s)) {
            s->turn = 0;
            end_waits(s, MT_OK, NULL);
            return true;
        }
        if (is_to_be_unloaded(s, now_ns)) {
            unload(s);
            return true;
        }
        if (s->n_catalogs == 0 && !is_loaded(s)) {
            destroy(s);
            return true;
        }
    }
    return false;
}

static void refuse_for_size(struct mt_served_model *served)
{
    struct mt_error err;
    mt_fail(&err, MT_LIMIT,
            "%s takes %llu MiB of memory: models_memory is %llu MiB for all models together",
            served->info.directory, (unsigned long long)(bytes_of(served) / MIB),
            (unsigned long long)(served->host->limits.memory_bytes / MIB));
    fail(served, &err);
}

/* Gives up loading a model for which there is not enough memory. */
static void give_up_for_size(struct mt_served_model *served)
{
    struct mt_error err;
    mt_fail(&err, MT_BUSY, "there is no room for %s", served->info.directory);
    served->turn = 0;
    served->is_prefetched = false;
    served->has_no_room = true;
    end_waits(served, MT_BUSY, &err);
}

/* Opens a closed model for new requests; tidy ends their waits. Releases the mutex meanwhile. */
static void reopen(struct mt_served_model *served)
{
    served->phase = PHASE_READY;
    pthread_mutex_unlock(&served->host->mutex);
    mt_log(MT_LOG_DEBUG, "%s is not unloaded: it is held", served->info.id);
    pthread_mutex_lock(&served->host->mutex);
}

/* Opens the closing model again if it is held for too long. Returns false where its holders may
 * still let go of it before *wake_ns. */
static bool give_back(struct mt_served_model *closing, int64_t *wake_ns)
{
    int64_t now_ns = mt_now_ns();
    if (mt_model_loading_is_busy(closing))
        closing->busy_ns = now_ns;
    *wake_ns = closing->busy_ns + MT_CLOSING_PATIENCE_MS * NS_PER_MS;
    if (now_ns < *wake_ns)
        return false;
    closing->open_end_ns = now_ns + MT_REOPENED_MS * NS_PER_MS;
    reopen(closing);
    return true;
}

/* Loads the next model, or does what has to come before. Returns false where nothing can be done
 * now; then *wake_ns gets the time when that changes. */
static bool advance(struct mt_model_host *host, int64_t *wake_ns)
{
    struct mt_served_model *served = next_wanted(host);
    struct mt_served_model *closing = find_closing(host), *victim = NULL;
    if (!served && closing) { /* the request for whose model it was closed has ended */
        reopen(closing);
        return true;
    }
    if (!served)
        return false;
    if (!could_ever_fit(host, served)) {
        refuse_for_size(served);
        return true;
    }
    if (fits(host, served)) {
        load(served);
        return true;
    }
    if (!may_displace(served)) {
        give_up_for_size(served);
        return true;
    }
    victim = least_recently_used(host);
    if (victim) {
        unload(victim);
        return true;
    }
    if (closing)
        return give_back(closing, wake_ns);
    int64_t now_ns = mt_now_ns();
    victim = find_victim(host, now_ns, wake_ns);
    int64_t patience_ns = served->wanted_ns + MT_LOAD_PATIENCE_MS * NS_PER_MS;
    if (!victim) /* models of a former snapshot are unloaded together with it */
        return false;
    if (now_ns < patience_ns) {
        *wake_ns = patience_ns;
        return false;
    }
    victim->phase = PHASE_CLOSING;
    victim->busy_ns = now_ns;
    return true;
}

static void rest(struct mt_model_host *host, int64_t wake_ns)
{
    if (wake_ns == NEVER) {
        pthread_cond_wait(&host->changed, &host->mutex);
        return;
    }
    const struct timespec until = mt_timespec_of_ns(wake_ns);
    pthread_cond_timedwait(&host->changed, &host->mutex, &until);
}

static void cancel_waits(struct mt_model_host *host)
{
    struct mt_served_model *served = host->models.first;
    struct mt_error err;
    mt_fail(&err, MT_CANCELLED, "the server is shutting down");
    while (served) {
        if (served->n_waiting > 0) {
            served->turn = 0;
            end_waits(served, MT_CANCELLED, &err);
            /* the list may have changed while the mutex was released */
            served = host->models.first;
        } else {
            served = served->next;
        }
    }
}

static void *run_loader(void *argument)
{
    struct mt_model_host *host = argument;
    prctl(PR_SET_NAME, "model-loader");
    pthread_mutex_lock(&host->mutex);
    while (!host->is_stopping) {
        int64_t wake_ns = NEVER;
        recount(host);
        if (tidy(host) || advance(host, &wake_ns))
            continue;
        int64_t now_ns = mt_now_ns();
        for (struct mt_served_model *s = host->models.first; s; s = s->next) {
            int64_t ns = idle_at(s, now_ns);
            wake_ns = ns < wake_ns ? ns : wake_ns;
        }
        int64_t recount_ns = recount_at(host, now_ns);
        host->is_watching = recount_ns != NEVER || host->limits.memory_bytes == 0;
        wake_ns = recount_ns < wake_ns ? recount_ns : wake_ns;
        rest(host, wake_ns);
    }
    cancel_waits(host);
    pthread_mutex_unlock(&host->mutex);
    return NULL;
}

/* ---- the keeper: ends waits at their deadlines, even while the loader is busy ---- */

static void expire(struct mt_model_wait *wait)
{
    struct mt_served_model *served = wait->served;
    struct mt_model_host *host = served->host;
    mt_model_wait_unlink(wait);
    mt_fail(&wait->err, MT_TIMEOUT, "the model %s was not loaded in time", served->info.id);
    pthread_mutex_unlock(&host->mutex);
    wait->on_done(wait, MT_TIMEOUT);
    pthread_mutex_lock(&host->mutex);
}

static struct mt_model_wait *most_urgent(const struct mt_model_host *host)
{
    struct mt_model_wait *first = NULL;
    for (struct mt_served_model *s = host->models.first; s; s = s->next)
        for (struct mt_model_wait *w = s->waits.first; w; w = w->next)
            if (w->deadline_ns != 0 && (!first || w->deadline_ns < first->deadline_ns))
                first = w;
    return first;
}

static void *run_keeper(void *argument)
{
    struct mt_model_host *host = argument;
    prctl(PR_SET_NAME, "model-keeper");
    pthread_mutex_lock(&host->mutex);
    while (!host->is_stopping) {
        struct mt_model_wait *wait = most_urgent(host);
        if (wait && wait->deadline_ns <= mt_now_ns())
            expire(wait);
        else
            rest(host, wait ? wait->deadline_ns : NEVER);
    }
    pthread_mutex_unlock(&host->mutex);
    return NULL;
}

/* ---- functions for other threads, which call them without the mutex ---- */

static enum mt_status start_threads(struct mt_model_host *host, struct mt_error *err)
{
    int code = pthread_create(&host->loader, NULL, run_loader, host);
    host->has_loader = code == 0;
    if (code == 0) {
        code = pthread_create(&host->keeper, NULL, run_keeper, host);
        host->has_keeper = code == 0;
    }
    if (code != 0)
        return mt_fail(err, MT_IO, "cannot start a thread: %s", strerror(code));
    return MT_OK;
}

enum mt_status mt_model_host_create(const struct mt_model_host_options *options,
                                    struct mt_model_host **out, struct mt_error *err)
{
    struct mt_model_host *host = calloc(1, sizeof *host);
    pthread_condattr_t monotonic;
    if (!host)
        return mt_fail_memory(err, sizeof *host, "models");
    host->n_hosted = 1;
    host->splitter = options->splitter;
    host->number_words = options->number_words;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&host->mutex, NULL);
    pthread_cond_init(&host->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    enum mt_status status = mt_engine_create(&options->engine, &host->engine, err);
    if (!status)
        status = start_threads(host, err);
    if (status) {
        mt_model_host_let_go(host);
        return status;
    }
    *out = host;
    return MT_OK;
}

void mt_model_host_hold(struct mt_model_host *host)
{
    pthread_mutex_lock(&host->mutex);
    host->n_hosted++;
    pthread_mutex_unlock(&host->mutex);
}

static void stop(struct mt_model_host *host)
{
    pthread_mutex_lock(&host->mutex);
    host->is_stopping = true;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
}

void mt_model_host_let_go(struct mt_model_host *host)
{
    if (!host)
        return;
    pthread_mutex_lock(&host->mutex);
    size_t n_left = --host->n_hosted;
    pthread_mutex_unlock(&host->mutex);
    if (n_left > 0)
        return;
    stop(host);
    if (host->has_loader)
        pthread_join(host->loader, NULL);
    if (host->has_keeper)
        pthread_join(host->keeper, NULL);
    pthread_mutex_lock(&host->mutex);
    /* these were dropped, but the loader ended before it destroyed them */
    while (host->models.first) {
        if (is_loaded(host->models.first))
            unload(host->models.first);
        destroy(host->models.first);
    }
    pthread_mutex_unlock(&host->mutex);
    mt_engine_destroy(host->engine);
    pthread_cond_destroy(&host->changed);
    pthread_mutex_destroy(&host->mutex);
    free(host);
}

void mt_model_host_set_limits(struct mt_model_host *host, const struct mt_model_host_limits *limits)
{
    pthread_mutex_lock(&host->mutex);
    host->limits = *limits;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
}

bool mt_model_host_stop(struct mt_model_host *host, int64_t timeout_ms)
{
    int64_t deadline_ns = mt_now_ns() + timeout_ms * NS_PER_MS;
    stop(host);
    pthread_mutex_lock(&host->mutex);
    while (host->is_at_work && mt_now_ns() < deadline_ns)
        rest(host, deadline_ns);
    bool is_idle = !host->is_at_work;
    pthread_mutex_unlock(&host->mutex);
    return is_idle;
}

struct mt_engine *mt_model_host_engine(const struct mt_model_host *host)
{
    return host->engine;
}

void mt_model_host_count(struct mt_model_host *host, struct mt_model_host_counts *out)
{
    pthread_mutex_lock(&host->mutex);
    *out = host->counts;
    out->memory_bytes = host->limits.memory_bytes;
    pthread_mutex_unlock(&host->mutex);
}
