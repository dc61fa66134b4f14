/*
 * The snapshots of the service: the current one, which new requests get, and a few former ones,
 * each until its last request is done.
 *
 *   SIGHUP -> reload -> a thread reads the settings again, finds the models, loads the first
 *                         |- good: it becomes current; the former is destroyed when nobody holds it
 *                         '- anything wrong: one line in the log, and nothing changes
 *
 * Snapshots share the models that are the same. A reload with another settings->model waits until
 * all former snapshots are gone, so that there are never more than two of these in memory. Other
 * reloads wait only while there are MT_SNAPSHOTS_AT_ONCE. Several requests for a reload during a
 * wait are one, and each makes the thread check again what it has to wait for.
 *
 * A change in models_directory requests a reload, too, once nothing has changed there for
 * models_watch_ms.
 *
 * The same thread checks the weights of the current snapshot regularly, so that damage is found
 * (mt_snapshot_check) without traffic.
 *
 * Thread-safety: safe, except for create, start and destroy.
 */
#ifndef MT_SERVER_SERVICE_SNAPSHOTS_H
#define MT_SERVER_SERVICE_SNAPSHOTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine_stats;
struct mt_snapshot;
struct mt_snapshots;
struct mt_http;
struct mt_service;
struct mt_settings;

/* The current snapshot, and former ones until their requests are done. */
#define MT_SNAPSHOTS_AT_ONCE 8

/* How often the weights are checked. */
#define MT_WEIGHTS_CHECK_MS 500

struct mt_snapshots_options {
    /* What all snapshots share: metrics, splitter, attention budget, http. Copied. */
    const struct mt_service *common;
    /* Reads the current settings; called by the thread that reloads. The caller finishes *out. */
    enum mt_status (*read_settings)(void *context, struct mt_settings *out, struct mt_error *err);
    /* Called when a snapshot has become current, including the first one, for what depends only
     * on settings. */
    void (*apply_settings)(void *context, const struct mt_settings *settings);
    void *context;
};

/* Creates the struct without a snapshot. */
MT_MUST_CHECK enum mt_status mt_snapshots_create(const struct mt_snapshots_options *options,
                                                 struct mt_snapshots **out, struct mt_error *err);

/* Creates the first snapshot in the calling thread, and starts the thread. http becomes part of
 * the service (NULL: there is none). *settings is taken over as by mt_snapshot_create. */
MT_MUST_CHECK enum mt_status mt_snapshots_start(struct mt_snapshots *snapshots,
                                                struct mt_settings *settings, struct mt_http *http,
                                                struct mt_error *err);

/* Requests a reload and returns at once. */
void mt_snapshots_reload(struct mt_snapshots *snapshots);

/* Stops reloads and the loading of models. Returns false where a model is still being loaded after
 * timeout_ms, so that destroy would wait for it. */
bool mt_snapshots_stop(struct mt_snapshots *snapshots, int64_t timeout_ms);

/* NULL is allowed. Nobody may hold a snapshot any more. */
void mt_snapshots_destroy(struct mt_snapshots *snapshots);

/* Returns the current snapshot, which exists until it is let go. To be called after start. */
struct mt_snapshot *mt_snapshots_hold(struct mt_snapshots *snapshots);
void mt_snapshots_let_go(struct mt_snapshots *snapshots, struct mt_snapshot *snapshot);

struct mt_snapshots_counts {
    uint64_t number; /* number of the current snapshot */
    size_t n_alive;
    uint64_t n_reloads, n_failed_reloads;
};
void mt_snapshots_count(struct mt_snapshots *snapshots, struct mt_snapshots_counts *out);

/* Present values are those of the current engine; counters include all snapshots since the
 * start. */
void mt_snapshots_engine_stats(struct mt_snapshots *snapshots, struct mt_engine_stats *out);

#endif
