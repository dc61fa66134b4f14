/*
 * The generations of the service: the current one, which new requests get, and a few former ones,
 * each until its last request is done.
 *
 *   SIGHUP -> reload -> a thread reads the settings again, finds the models, loads the first
 *                         |- good: it becomes current; the former is destroyed when nobody holds it
 *                         '- anything wrong: one line in the log, and nothing changes
 *
 * Generations share the models that are the same. A reload with another settings->model waits until
 * all former generations are gone, so that there are never more than two of these in memory. Other
 * reloads wait only while there are MT_GENERATIONS_AT_ONCE. Several requests for a reload during a
 * wait are one, and each makes the thread check again what it has to wait for.
 *
 * A change in models_directory requests a reload, too, once nothing has changed there for
 * models_watch_ms.
 *
 * The same thread checks the weights of the current generation regularly, so that damage is found
 * (mt_generation_check) without traffic.
 *
 * Thread-safety: safe, except for create, start and destroy.
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

/* The current generation, and former ones until their requests are done. */
#define MT_GENERATIONS_AT_ONCE 8

/* How often the weights are checked. */
#define MT_WEIGHTS_CHECK_MS 500

struct mt_generations_options {
    /* What all generations share: metrics, splitter, attention budget, http. Copied. */
    const struct mt_service *common;
    /* Reads the current settings; called by the thread that reloads. The caller finishes *out. */
    enum mt_status (*read_settings)(void *context, struct mt_settings *out, struct mt_error *err);
    /* Called when a generation has become current, including the first one, for what depends only
     * on settings. */
    void (*apply_settings)(void *context, const struct mt_settings *settings);
    void *context;
};

/* Creates the struct without a generation. */
MT_MUST_CHECK enum mt_status mt_generations_create(const struct mt_generations_options *options,
                                                   struct mt_generations **out,
                                                   struct mt_error *err);

/* Creates the first generation in the calling thread, and starts the thread. http becomes part of
 * the service (NULL: there is none). *settings is taken over as by mt_generation_create. */
MT_MUST_CHECK enum mt_status mt_generations_start(struct mt_generations *generations,
                                                  struct mt_settings *settings,
                                                  struct mt_http *http, struct mt_error *err);

/* Requests a reload and returns at once. */
void mt_generations_reload(struct mt_generations *generations);

/* Stops reloads and the loading of models. Returns false where a model is still being loaded after
 * timeout_ms, so that destroy would wait for it. */
bool mt_generations_stop(struct mt_generations *generations, int64_t timeout_ms);

/* NULL is allowed. Nobody may hold a generation any more. */
void mt_generations_destroy(struct mt_generations *generations);

/* Returns the current generation, which exists until it is let go. To be called after start. */
struct mt_generation *mt_generations_hold(struct mt_generations *generations);
void mt_generations_let_go(struct mt_generations *generations, struct mt_generation *generation);

struct mt_generations_counts {
    uint64_t number; /* number of the current generation */
    size_t n_alive;
    uint64_t n_reloads, n_failed_reloads;
};
void mt_generations_count(struct mt_generations *generations, struct mt_generations_counts *out);

/* Present values are those of the current engine; counters include all generations since the
 * start. */
void mt_generations_engine_stats(struct mt_generations *generations, struct mt_engine_stats *out);

#endif
