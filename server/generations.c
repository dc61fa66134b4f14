#include "server/generations.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "config/settings.h"
#include "server/engine.h"
#include "server/generation.h"
#include "server/handler.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

struct held {
    struct mt_generation *generation; /* NULL: there is none */
    size_t n_holders;
};

struct mt_generations {
    struct mt_generations_options options;
    struct mt_service common;
    pthread_t thread;
    bool is_started;

    pthread_mutex_t mutex;  /* guards what follows */
    pthread_cond_t changed; /* any of it */
    struct held current, former;
    bool wants_reload, is_reloading, is_stopping;
    uint64_t last_number, n_reloads, n_failed;
    struct mt_engine_stats ended; /* counters of generations that are gone */
};

static struct timespec at_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

enum mt_status mt_generations_create(const struct mt_generations_options *options,
                                     struct mt_generations **out, struct mt_error *err)
{
    struct mt_generations *g = calloc(1, sizeof *g);
    if (g == NULL)
        return mt_fail_memory(err, sizeof *g, "generations");
    g->options = *options;
    g->common = *options->common;
    g->common.generations = g;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = g;
    return MT_OK;
}

static void read_stats(const struct mt_generation *generation, struct mt_engine_stats *out)
{
    mt_engine_stats(mt_generation_service(generation)->engine, out);
}

/* ---- the thread; the mutex is held but where it says otherwise ---- */

/* Lets go of the mutex meanwhile: the engine's threads are joined. */
static void destroy_former(struct mt_generations *g)
{
    struct mt_generation *generation = g->former.generation;
    struct mt_engine_stats stats;
    pthread_mutex_unlock(&g->mutex);
    uint64_t number = mt_generation_number(generation);
    read_stats(generation, &stats);
    pthread_mutex_lock(&g->mutex);
    mt_engine_stats_add_counters(&stats, &g->ended);
    g->former.generation = NULL;
    pthread_mutex_unlock(&g->mutex);

    mt_generation_destroy(generation);
    malloc_trim(0); /* it was most of the heap */
    mt_log(MT_LOG_DEBUG, "generation %llu is gone", (unsigned long long)number);
    pthread_mutex_lock(&g->mutex);
    pthread_cond_broadcast(&g->changed);
}

/* Without the mutex. */
static enum mt_status load(struct mt_generations *g, const struct mt_settings *running,
                           uint64_t number, struct mt_generation **out, struct mt_error *err)
{
    struct mt_settings fresh;
    struct mt_text differing = {0};
    enum mt_status status = g->options.read_settings(g->options.context, &fresh, err);
    if (status != MT_OK)
        return status;
    status = mt_settings_keep_fixed(&fresh, running, &differing, err);
    if (status == MT_OK && differing.length > 0)
        mt_log(MT_LOG_WARN, "these settings have changed, which takes a restart: %s",
               differing.bytes);
    mt_text_finish(&differing);
    if (status != MT_OK) {
        mt_settings_finish(&fresh);
        return status;
    }
    const struct mt_generation_options options = {.common = &g->common, .number = number};
    return mt_generation_create(&options, &fresh, out, err);
}

static void replace(struct mt_generations *g, struct mt_generation *generation)
{
    g->former = g->current;
    g->current = (struct held){.generation = generation};
    g->last_number = mt_generation_number(generation);
    g->n_reloads++;
}

static void reload(struct mt_generations *g)
{
    struct mt_generation *fresh = NULL;
    struct mt_error err;
    const struct mt_service *running = mt_generation_service(g->current.generation);
    uint64_t number = g->last_number + 1;
    int64_t start_ns = mt_now_ns();
    g->wants_reload = false;
    g->is_reloading = true;
    pthread_mutex_unlock(&g->mutex);

    enum mt_status status = load(g, running->settings, number, &fresh, &err);
    if (status != MT_OK)
        mt_log(MT_LOG_ERROR, "reload failed, generation %llu stays: %s",
               (unsigned long long)mt_generation_number(running->generation), err.message);
    else
        g->options.apply_settings(g->options.context, mt_generation_service(fresh)->settings);

    pthread_mutex_lock(&g->mutex);
    g->is_reloading = false;
    if (status != MT_OK)
        g->n_failed++;
    else
        replace(g, fresh);
    pthread_cond_broadcast(&g->changed);
    if (status == MT_OK)
        mt_log(MT_LOG_INFO, "reloaded in %lld ms: generation %llu, model %s, %s",
               (long long)((mt_now_ns() - start_ns) / NS_PER_MS), (unsigned long long)number,
               mt_generation_service(fresh)->model_label,
               mt_generation_service(fresh)->settings->precision);
}

/* Damage is remembered and logged there. The thread's own hold keeps the generation. */
static void check_weights(struct mt_generations *g)
{
    struct mt_generation *generation = g->current.generation;
    pthread_mutex_unlock(&g->mutex);
    (void)!mt_generation_check(generation, NULL);
    pthread_mutex_lock(&g->mutex);
}

static void *run(void *argument)
{
    struct mt_generations *g = argument;
    pthread_mutex_lock(&g->mutex);
    while (!g->is_stopping) {
        if (g->former.generation != NULL && g->former.n_holders == 0) {
            destroy_former(g);
            continue;
        }
        if (g->wants_reload && g->former.generation == NULL) {
            reload(g);
            continue;
        }
        check_weights(g);
        struct timespec until = at_ns(mt_now_ns() + MT_WEIGHTS_CHECK_MS * NS_PER_MS);
        pthread_cond_timedwait(&g->changed, &g->mutex, &until);
    }
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* ---- what other threads ask for ---- */

enum mt_status mt_generations_start(struct mt_generations *g, struct mt_settings *settings,
                                    struct mt_http *http, struct mt_error *err)
{
    g->common.http = http;
    const struct mt_generation_options options = {
        .common = &g->common, .number = 1, .shows_progress = true};
    enum mt_status status = mt_generation_create(&options, settings, &g->current.generation, err);
    if (status != MT_OK)
        return status;
    g->last_number = 1;
    g->options.apply_settings(g->options.context,
                              mt_generation_service(g->current.generation)->settings);
    int code = pthread_create(&g->thread, NULL, run, g);
    if (code != 0)
        return mt_fail(err, MT_IO, "cannot start a thread: %s", strerror(code));
    pthread_setname_np(g->thread, "generations");
    g->is_started = true;
    return MT_OK;
}

void mt_generations_reload(struct mt_generations *g)
{
    pthread_mutex_lock(&g->mutex);
    g->wants_reload = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

bool mt_generations_stop(struct mt_generations *g, int64_t timeout_ms)
{
    struct timespec until = at_ns(mt_now_ns() + timeout_ms * NS_PER_MS);
    int code = 0;
    pthread_mutex_lock(&g->mutex);
    g->is_stopping = true;
    pthread_cond_broadcast(&g->changed);
    while (g->is_reloading && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&g->changed, &g->mutex, &until);
    bool is_idle = !g->is_reloading;
    pthread_mutex_unlock(&g->mutex);
    return is_idle;
}

void mt_generations_destroy(struct mt_generations *g)
{
    if (g == NULL)
        return;
    if (g->is_started) {
        mt_generations_stop(g, 0);
        pthread_join(g->thread, NULL);
    }
    mt_generation_destroy(g->former.generation);
    mt_generation_destroy(g->current.generation);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->mutex);
    free(g);
}

struct mt_generation *mt_generations_hold(struct mt_generations *g)
{
    pthread_mutex_lock(&g->mutex);
    g->current.n_holders++;
    struct mt_generation *generation = g->current.generation;
    pthread_mutex_unlock(&g->mutex);
    return generation;
}

void mt_generations_let_go(struct mt_generations *g, struct mt_generation *generation)
{
    pthread_mutex_lock(&g->mutex);
    struct held *held = generation == g->current.generation ? &g->current : &g->former;
    if (--held->n_holders == 0 && held == &g->former)
        pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

void mt_generations_count(struct mt_generations *g, struct mt_generations_counts *out)
{
    pthread_mutex_lock(&g->mutex);
    *out = (struct mt_generations_counts){
        .number = mt_generation_number(g->current.generation),
        .n_alive = g->former.generation != NULL ? 2 : 1,
        .n_reloads = g->n_reloads,
        .n_failed_reloads = g->n_failed,
    };
    pthread_mutex_unlock(&g->mutex);
}

void mt_generations_engine_stats(struct mt_generations *g, struct mt_engine_stats *out)
{
    struct mt_engine_stats former;
    pthread_mutex_lock(&g->mutex);
    read_stats(g->current.generation, out);
    mt_engine_stats_add_counters(&g->ended, out);
    if (g->former.generation != NULL) {
        read_stats(g->former.generation, &former);
        mt_engine_stats_add_counters(&former, out);
        out->n_running_sentences += former.n_running_sentences;
        out->n_running_rows += former.n_running_rows;
    }
    pthread_mutex_unlock(&g->mutex);
}
