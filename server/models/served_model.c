#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "server/models/served_model_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static enum mt_status copy(struct mt_arena *arena, const char *from, const char **out,
                           struct mt_error *err)
{
    return mt_arena_copy_string(arena, from, strlen(from), out, err);
}

static enum mt_status copy_list(struct mt_arena *arena, const char *const *from, size_t n,
                                const char *const **out, struct mt_error *err)
{
    void *list;
    enum mt_status status = mt_arena_take(arena, n, sizeof **out, "names", &list, err);
    for (size_t i = 0; i < n && !status; i++)
        status = copy(arena, from[i], &((const char **)list)[i], err);
    if (!status)
        *out = list;
    return status;
}

static enum mt_status copy_languages(struct mt_arena *arena, const struct mt_model_language *from,
                                     size_t n, const struct mt_model_language **out,
                                     struct mt_error *err)
{
    void *memory;
    enum mt_status status = mt_arena_take(arena, n, sizeof *from, "languages", &memory, err);
    if (status)
        return status;
    struct mt_model_language *list = memory;
    for (size_t i = 0; i < n && !status; i++) {
        list[i] = from[i];
        if (from[i].token)
            status = copy(arena, from[i].token, &list[i].token, err);
    }
    *out = list;
    return status;
}

static enum mt_status copy_defaults(struct mt_served_model *served,
                                    const struct mt_model_defaults *from, struct mt_error *err)
{
    struct mt_model_defaults *to = &served->defaults;
    *to = *from;
    to->left_out = NULL;
    enum mt_status status =
        copy_list(served->arena, from->source_langs, from->n_source_langs, &to->source_langs, err);
    if (!status)
        status = copy_list(served->arena, from->target_langs, from->n_target_langs,
                           &to->target_langs, err);
    if (!status)
        status = copy_list(served->arena, from->aliases, from->n_aliases, &to->aliases, err);
    if (!status && from->alignment.layers)
        status = copy(served->arena, from->alignment.layers, &to->alignment.layers, err);
    if (!status && from->alignment.heads)
        status = copy(served->arena, from->alignment.heads, &to->alignment.heads, err);
    if (!status && from->alignment.mode)
        status = copy(served->arena, from->alignment.mode, &to->alignment.mode, err);
    if (!status && from->alignment.shift)
        status = copy(served->arena, from->alignment.shift, &to->alignment.shift, err);
    return status;
}

static enum mt_status copy_info(struct mt_served_model *served,
                                const struct mt_served_model_info *from, struct mt_error *err)
{
    struct mt_served_model_info *to = &served->info;
    struct mt_arena *arena = served->arena;
    *to = *from;
    to->defaults = &served->defaults;
    enum mt_status status = copy(arena, from->id, &to->id, err);
    if (!status)
        status = copy(arena, from->directory, &to->directory, err);
    if (!status)
        status = copy_languages(arena, from->sources, from->n_sources, &to->sources, err);
    if (!status)
        status = copy_languages(arena, from->targets, from->n_targets, &to->targets, err);
    return status ? status : copy_defaults(served, from->defaults, err);
}

static void log_cache_failure(const struct mt_error *err)
{
    mt_log(MT_LOG_WARN, "packed weights are not kept, and are packed again at the next load: %s",
           err->message);
}

static enum mt_status copy_options(struct mt_served_model *served,
                                   const struct mt_served_model_options *from, struct mt_error *err)
{
    struct mt_arena *arena = served->arena;
    const char *cache = from->model->cache_directory, *kernels = from->model->kernels;
    served->options = *from->model;
    /* Requests wait while a model of a directory is loaded. Only the start of the daemon waits for
     * a pinned one, and it logs where the weights are. */
    served->options.writes_cache_later = !from->info.is_pinned;
    served->options.on_cache_failure = log_cache_failure;
    served->expected_bytes = from->expected_bytes;
    served->warm_up_beam_size = from->warm_up_beam_size;
    enum mt_status status = copy(arena, from->warm_up_text, &served->warm_up_text, err);
    if (!status)
        status = copy(arena, from->warm_up_answer, &served->warm_up_answer, err);
    if (!status)
        status = copy(arena, from->fingerprint, &served->fingerprint, err);
    if (!status && cache)
        status = copy(arena, cache, &served->options.cache_directory, err);
    if (!status && kernels)
        status = copy(arena, kernels, &served->options.kernels, err);
    return status;
}

static void describe_loaded(struct mt_served_model *served)
{
    const struct mt_served_model_info *info = &served->info;
    struct mt_loaded_model *loaded = &served->loaded;
    loaded->served = served;
    loaded->label = info->id;
    loaded->defaults = info->defaults;
    if (info->n_sources == 1)
        memcpy(loaded->source_lang, info->sources[0].code, MT_LANGUAGE_BYTES);
    if (info->n_targets == 1)
        memcpy(loaded->target_lang, info->targets[0].code, MT_LANGUAGE_BYTES);
}

enum mt_status mt_served_model_create(struct mt_model_host *host,
                                      const struct mt_served_model_options *options,
                                      struct mt_served_model **out, struct mt_error *err)
{
    struct mt_served_model *served = calloc(1, sizeof *served);
    if (!served)
        return mt_fail_memory(err, sizeof *served, "a model's description");
    enum mt_status status = mt_arena_create(0, &served->arena, err);
    if (!status)
        status = copy_info(served, &options->info, err);
    if (!status)
        status = copy_options(served, options, err);
    if (status) {
        mt_arena_destroy(served->arena);
        free(served);
        return status;
    }
    describe_loaded(served);
    served->host = host;
    served->n_catalogs = 1;
    if (options->failure) {
        served->phase = PHASE_FAILED;
        served->is_hopeless = true;
        served->failure = *options->failure;
    }
    pthread_mutex_lock(&host->mutex);
    MT_LIST_PREPEND(&host->models, served);
    pthread_mutex_unlock(&host->mutex);
    *out = served;
    return MT_OK;
}

void mt_served_model_share(struct mt_served_model *served)
{
    pthread_mutex_lock(&served->host->mutex);
    served->n_catalogs++;
    served->refused = (struct mt_error){0}; /* the model that was refused is not there any more */
    pthread_mutex_unlock(&served->host->mutex);
}

void mt_served_model_drop(struct mt_served_model *served)
{
    if (!served)
        return;
    struct mt_model_host *host = served->host;
    pthread_mutex_lock(&host->mutex);
    served->n_catalogs--;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
}

bool mt_served_model_is(struct mt_served_model *served, const struct mt_model_host *host,
                        const char *fingerprint)
{
    if (served->host != host || strcmp(served->fingerprint, fingerprint) != 0)
        return false;
    pthread_mutex_lock(&served->host->mutex);
    bool is_sound = served->phase != PHASE_FAILED && !atomic_load(&served->is_damaged);
    pthread_mutex_unlock(&served->host->mutex);
    return is_sound;
}

/* ---- functions for requests ---- */

const struct mt_served_model_info *mt_served_model_info(const struct mt_served_model *served)
{
    return &served->info;
}

const struct mt_loaded_model *mt_served_model_hold(struct mt_served_model *served)
{
    const struct mt_loaded_model *loaded = NULL;
    pthread_mutex_lock(&served->host->mutex);
    if (served->phase == PHASE_READY && !atomic_load(&served->is_damaged)) {
        loaded = &served->loaded;
        served->n_holders++;
        served->counts.n_holds++;
        served->used_ns = mt_now_ns();
        if (!served->host->is_watching)
            pthread_cond_broadcast(&served->host->changed);
    }
    pthread_mutex_unlock(&served->host->mutex);
    return loaded;
}

void mt_served_model_let_go(struct mt_served_model *served)
{
    struct mt_model_host *host = served->host;
    pthread_mutex_lock(&host->mutex);
    assert(served->n_holders > 0);
    served->used_ns = mt_now_ns();
    bool is_awaited = host->counts.n_waiting > 0 || served->phase == PHASE_CLOSING ||
                      served->wants_unload || served->n_catalogs == 0 ||
                      atomic_load(&served->is_damaged);
    if (--served->n_holders == 0 && is_awaited)
        pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
}

#define DAMAGED "the model's files were damaged while it was in use"

/* The caller has the mutex. */
static bool has_just_failed(const struct mt_served_model *served, int64_t now_ns)
{
    bool is_fresh = now_ns - served->failed_ns < MT_LOAD_RETRY_MS * INT64_C(1000000);
    return served->phase == PHASE_FAILED && (served->is_hopeless || is_fresh);
}

bool mt_served_model_is_usable(struct mt_served_model *served)
{
    pthread_mutex_lock(&served->host->mutex);
    bool is_damaged = atomic_load(&served->is_damaged) && served->info.is_pinned;
    bool is_usable = !is_damaged && !has_just_failed(served, mt_now_ns());
    pthread_mutex_unlock(&served->host->mutex);
    return is_usable;
}

/* Returns why the model cannot be waited for. The caller has the mutex. */
static enum mt_status refuse(struct mt_served_model *served, int64_t deadline_ns,
                             struct mt_error *err)
{
    int64_t now_ns = mt_now_ns();
    if (served->host->is_stopping)
        return mt_fail(err, MT_CANCELLED, "the server is shutting down");
    if (deadline_ns != 0 && deadline_ns <= now_ns)
        return mt_fail(err, MT_TIMEOUT, "the model %s was not loaded in time", served->info.id);
    if (atomic_load(&served->is_damaged) && served->info.is_pinned)
        return mt_fail(err, MT_BUSY, DAMAGED);
    if (has_just_failed(served, now_ns))
        return mt_fail(err, MT_BUSY, "the model %s cannot be served now: %s", served->info.id,
                       served->failure.message);
    return MT_OK;
}

enum mt_status mt_served_model_wait(struct mt_served_model *served, struct mt_model_wait *wait,
                                    struct mt_error *err)
{
    struct mt_model_host *host = served->host;
    pthread_mutex_lock(&host->mutex);
    enum mt_status status = refuse(served, wait->deadline_ns, err);
    if (!status) {
        wait->served = served;
        MT_LIST_APPEND(&served->waits, wait);
        served->n_waiting++;
        host->counts.n_waiting++;
        mt_served_model_want(served);
    }
    pthread_mutex_unlock(&host->mutex);
    return status;
}

bool mt_served_model_stop_waiting(struct mt_served_model *served, struct mt_model_wait *wait)
{
    pthread_mutex_lock(&served->host->mutex);
    bool is_waiting = wait->served != NULL;
    if (is_waiting)
        mt_model_wait_unlink(wait);
    pthread_mutex_unlock(&served->host->mutex);
    return is_waiting;
}

enum mt_status mt_served_model_check(struct mt_served_model *served, struct mt_error *err)
{
    struct mt_error reason;
    if (!atomic_load(&served->is_damaged)) {
        if (mt_model_check(served->model, &reason) == MT_OK)
            return MT_OK;
        if (!atomic_exchange(&served->is_damaged, true))
            mt_log(MT_LOG_ERROR, "%s: %s", reason.message,
                   served->info.is_pinned ? "refusing to translate until SIGHUP finds a sound model"
                                          : "it is loaded anew for the next request");
    }
    return mt_fail(err, MT_BUSY, DAMAGED);
}

void mt_served_model_look_after(struct mt_served_model *served)
{
    struct mt_model_host *host = served->host;
    pthread_mutex_lock(&host->mutex);
    bool is_ready = served->phase == PHASE_READY && !atomic_load(&served->is_damaged);
    served->n_holders += is_ready;
    pthread_mutex_unlock(&host->mutex);
    if (!is_ready)
        return;
    (void)!mt_served_model_check(served, NULL);
    pthread_mutex_lock(&host->mutex);
    if (--served->n_holders == 0)
        pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
}

void mt_served_model_prefetch(struct mt_served_model *served)
{
    pthread_mutex_lock(&served->host->mutex);
    if (served->phase == PHASE_COLD) {
        served->is_prefetched = true;
        mt_served_model_want(served);
    }
    pthread_mutex_unlock(&served->host->mutex);
}

enum mt_status mt_served_model_unload(struct mt_served_model *served, struct mt_error *err)
{
    if (served->info.is_pinned)
        return mt_fail(err, MT_INVALID,
                       "%s is the daemon's own model (the setting \"model\"): it "
                       "stays in memory",
                       served->info.id);
    pthread_mutex_lock(&served->host->mutex);
    served->wants_unload = served->phase == PHASE_READY;
    pthread_cond_broadcast(&served->host->changed);
    pthread_mutex_unlock(&served->host->mutex);
    return MT_OK;
}

/* ---- blocking until it is loaded ---- */

struct here {
    pthread_mutex_t mutex; /* guards the other members */
    pthread_cond_t ended;
    bool has_ended;
    enum mt_status status;
};

static void end_here(struct mt_model_wait *wait, enum mt_status status)
{
    struct here *here = wait->user;
    pthread_mutex_lock(&here->mutex);
    here->status = status;
    here->has_ended = true;
    pthread_cond_signal(&here->ended);
    pthread_mutex_unlock(&here->mutex);
}

enum mt_status mt_served_model_load(struct mt_served_model *served,
                                    const struct mt_loaded_model **out, struct mt_error *err)
{
    struct here here = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    struct mt_model_wait wait = {.on_done = end_here, .user = &here};
    enum mt_status status = mt_served_model_wait(served, &wait, err);
    if (!status) {
        pthread_mutex_lock(&here.mutex);
        while (!here.has_ended)
            pthread_cond_wait(&here.ended, &here.mutex);
        pthread_mutex_unlock(&here.mutex);
        status = here.status;
        if (status && err)
            *err = wait.err;
    }
    if (!status) {
        *out = wait.model;
        mt_served_model_let_go(served);
    }
    if (status != MT_BUSY)
        return status;
    pthread_mutex_lock(&served->host->mutex);
    if (served->phase == PHASE_FAILED) { /* with the lowest level's message */
        status = served->failure.status;
        if (err)
            *err = served->failure;
    }
    pthread_mutex_unlock(&served->host->mutex);
    return status;
}

/* ---- replacing a model ---- */

/* Holds a model that is worth keeping, without counting as a request. */
static bool keep(struct mt_served_model *served)
{
    pthread_mutex_lock(&served->host->mutex);
    bool is_sound = served->phase == PHASE_READY && !atomic_load(&served->is_damaged);
    served->n_holders += is_sound;
    pthread_mutex_unlock(&served->host->mutex);
    return is_sound;
}

static enum mt_status try_to_load(struct mt_served_model *newcomer, struct mt_error *err)
{
    const struct mt_loaded_model *loaded;
    pthread_mutex_t *mutex = &newcomer->host->mutex;
    pthread_mutex_lock(mutex);
    newcomer->is_newcomer = true;
    pthread_mutex_unlock(mutex);
    enum mt_status status = mt_served_model_load(newcomer, &loaded, err);
    pthread_mutex_lock(mutex);
    bool has_no_room = newcomer->has_no_room;
    newcomer->is_newcomer = newcomer->has_no_room = false;
    pthread_mutex_unlock(mutex);
    return has_no_room ? mt_model_loading_check(newcomer, err) : status;
}

enum mt_status mt_served_model_succeed(struct mt_served_model *former,
                                       struct mt_served_model *newcomer, struct mt_error *err)
{
    struct mt_model_host *host = newcomer->host;
    struct mt_error reason = {0};
    if (former->host != host || !keep(former))
        return MT_OK;
    enum mt_status status = try_to_load(newcomer, &reason);
    if (status && err)
        *err = reason;
    pthread_mutex_lock(&host->mutex);
    if (status) {
        former->refused = reason;
        mt_fail_in(&former->refused, status, "what lies in its directory now cannot be served");
        former->n_catalogs++;
    }
    former->n_holders--;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->mutex);
    return status;
}

/* ---- descriptions ---- */

const char *mt_served_state_name(enum mt_served_state state)
{
    static const char *const names[] = {[MT_SERVED_COLD] = "cold",
                                        [MT_SERVED_LOADING] = "loading",
                                        [MT_SERVED_READY] = "ready",
                                        [MT_SERVED_FAILED] = "failed"};
    return names[state];
}

static bool is_in_memory(const struct mt_served_model *served)
{
    return served->phase == PHASE_READY || served->phase == PHASE_CLOSING ||
           served->phase == PHASE_UNLOADING;
}

static enum mt_served_state state_of(const struct mt_served_model *served)
{
    if (is_in_memory(served))
        return atomic_load(&served->is_damaged) ? MT_SERVED_FAILED : MT_SERVED_READY;
    if (served->phase == PHASE_LOADING || served->turn != 0)
        return MT_SERVED_LOADING;
    return served->phase == PHASE_FAILED ? MT_SERVED_FAILED : MT_SERVED_COLD;
}

void mt_served_model_describe(struct mt_served_model *served, struct mt_served_model_status *out)
{
    pthread_mutex_lock(&served->host->mutex);
    *out = served->counts;
    out->state = state_of(served);
    out->is_damaged = out->state == MT_SERVED_FAILED && served->phase != PHASE_FAILED;
    if (out->state == MT_SERVED_FAILED)
        memcpy(out->reason, served->phase == PHASE_FAILED ? served->failure.message : DAMAGED,
               served->phase == PHASE_FAILED ? sizeof out->reason : sizeof DAMAGED);
    else if (served->refused.status)
        memcpy(out->reason, served->refused.message, sizeof out->reason);
    out->n_holders = served->n_holders;
    out->n_waiting = served->n_waiting;
    if (is_in_memory(served))
        out->loaded_bytes = out->mapped_bytes + out->private_bytes + out->cache_bytes;
    pthread_mutex_unlock(&served->host->mutex);
}
