/*
 * The generations of the service: the current one, which new requests get, and a few former ones,
 * each until its last request is done.
 *
 *   SIGHUP -> reload -> a thread reads the settings again, finds the models, loads the first
 *                         |- good: it becomes current; the former is destroyed when nobody holds it
 *                         '- anything wrong: one line in the log, and nothing changes
 *
 * Generations share the models that are the same. A reload that needs another settings->model waits
 * until all former generations are gone, so that there are never more than two of these in memory;
 * any other waits only while there are MT_GENERATIONS_AT_ONCE. Requests for reloads that come
 * meanwhile are one, and each looks anew at what there is to wait for.
 *
 * A change in models_directory is a request for a reload, too, once nothing has changed there for
 * models_watch_ms.
 *
 * The same thread looks at the weights of the current generation now and then, so that damage shows
 * (mt_generation_check) without traffic.
 *
 * Thread-safety: safe, but for create, start and destroy.
 */
#ifndef MT_SERVER_SERVICE_GENERATIONS_H
#define MT_SERVER_SERVICE_GENERATIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine_stats;
struct mt_generation;
struct mt_generations;
struct mt_http;
struct mt_service;
struct mt_settings;

/* The current one, and former ones until their requests are done. */
#define MT_GENERATIONS_AT_ONCE 8

/* How often the weights are looked at. */
#define MT_WEIGHTS_CHECK_MS 500

struct mt_generations_options {
    /* What all generations share: metrics, splitter, attention budget, http. Copied. */
    const struct mt_service *common;
    /* The settings as they are now; called from the thread that reloads.
     * The caller finishes *out. */
    enum mt_status (*read_settings)(void *context, struct mt_settings *out, struct mt_error *err);
    /* A generation has become current, the first one too: what depends on settings alone. */
    void (*apply_settings)(void *context, const struct mt_settings *settings);
    void *context;
};

/* Without a generation yet. */
MT_MUST_CHECK enum mt_status mt_generations_create(const struct mt_generations_options *options,
                                                   struct mt_generations **out,
                                                   struct mt_error *err);

/* Makes the first generation here and now, and starts the thread. http is put into the service
 * (NULL: there is none). *settings is taken over as mt_generation_create does. */
MT_MUST_CHECK enum mt_status mt_generations_start(struct mt_generations *generations,
                                                  struct mt_settings *settings,
                                                  struct mt_http *http, struct mt_error *err);

/* Returns at once. */
void mt_generations_reload(struct mt_generations *generations);

/* No more reloads, nor are models loaded. False: one is still being loaded after timeout_ms, and
 * destroy would wait for it. */
bool mt_generations_stop(struct mt_generations *generations, int64_t timeout_ms);

/* Takes NULL. Nobody holds a generation any more. */
void mt_generations_destroy(struct mt_generations *generations);

/* The current generation, which exists until it is let go. After start. */
struct mt_generation *mt_generations_hold(struct mt_generations *generations);
void mt_generations_let_go(struct mt_generations *generations, struct mt_generation *generation);

struct mt_generations_counts {
    uint64_t number; /* of the current generation */
    size_t n_alive;
    uint64_t n_reloads, n_failed_reloads;
};
void mt_generations_count(struct mt_generations *generations, struct mt_generations_counts *out);

/* What is now: the current engine's; counters: of all generations since the start. */
void mt_generations_engine_stats(struct mt_generations *generations, struct mt_engine_stats *out);

#endif
