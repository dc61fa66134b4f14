/*
 * One snapshot of the service: settings, and the models that they name. It does not change. Other
 * models or other settings make another snapshot (snapshots.h), which shares with this one the
 * models that are the same, and the engine that runs them. The log, the metrics and the admin
 * socket call a snapshot's number the generation.
 *
 * Thread-safety: create and destroy one thread at a time, the others safe.
 */
#ifndef MT_SERVER_SERVICE_SNAPSHOT_H
#define MT_SERVER_SERVICE_SNAPSHOT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_engine;
struct mt_snapshot;
struct mt_model_host;
struct mt_service;
struct mt_settings;

struct mt_snapshot_options {
    /* what all snapshots share; the snapshot has a copy with the rest filled in */
    const struct mt_service *common;
    uint64_t number;                  /* 1 for the first snapshot */
    const struct mt_snapshot *former; /* snapshot to share with; NULL: there is none */
    /* MT_BUSY where another engine is needed, or another settings->model than former's */
    bool loads_nothing;
    bool shows_progress; /* shows the progress of packing weights on a terminal */
};

/*
 * Finds the models, and loads settings->model, which has to translate settings->warm_up_text. Takes
 * over the content of *settings and zeroes it, even if this fails. MT_INVALID for settings that do
 * not fit the model or its answer to the warm-up, MT_LIMIT over memory_limit, and errors of
 * mt_catalog_create, mt_model_host_create and mt_model_open.
 */
MT_MUST_CHECK enum mt_status mt_snapshot_create(const struct mt_snapshot_options *options,
                                                struct mt_settings *settings,
                                                struct mt_snapshot **out, struct mt_error *err);

/* NULL is allowed. Nobody may hold its models any more. */
void mt_snapshot_destroy(struct mt_snapshot *snapshot);

const struct mt_service *mt_snapshot_service(const struct mt_snapshot *snapshot);
uint64_t mt_snapshot_number(const struct mt_snapshot *snapshot);

/* The host is borrowed. */
struct mt_model_host *mt_snapshot_host(const struct mt_snapshot *snapshot);

/* Whether the files of settings->model are undamaged: mt_served_model_check. */
MT_MUST_CHECK enum mt_status mt_snapshot_check(struct mt_snapshot *snapshot, struct mt_error *err);

/* Checks the files of all its models that are in memory: mt_served_model_look_after. */
void mt_snapshot_look_after(struct mt_snapshot *snapshot);

#endif
