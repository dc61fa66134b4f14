#include "server/service/snapshot.h"

#include "base/log.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/models/catalog.h"
#include "server/http/cors.h"
#include "server/engine/engine.h"
#include "server/service/file_names.h"
#include "server/service/service.h"
#include "server/service/keys.h"
#include "server/service/memory_plan.h"
#include "server/models/model_host.h"
#include "server/http/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CERTIFICATE_WARNING_DAYS 7

struct mt_snapshot {
    struct mt_settings settings;
    struct mt_model_host *host;
    struct mt_catalog *catalog;
    struct mt_keys *keys; /* NULL: no keys are needed */
    struct mt_tls *tls;   /* NULL: none */
    struct mt_service service;
    uint64_t number;
    struct mt_model_host_limits limits;
    /* settings->model, in memory as long as the snapshot. NULL: there is only a
     * models_directory. */
    const struct mt_loaded_model *pinned;
};

static void describe_service(struct mt_snapshot *g, const struct mt_service *common)
{
    struct mt_service *service = &g->service;
    *service = *common;
    service->settings = &g->settings;
    service->engine = mt_model_host_engine(g->host);
    service->catalog = g->catalog;
    service->snapshot = g;
    service->keys = g->keys;
    service->tls = g->tls;
    service->pinned = g->pinned;
}

/* ---- all of it ---- */

static struct mt_engine_options engine_options(const struct mt_settings *settings)
{
    return (struct mt_engine_options){
        .n_workers = (size_t)settings->workers,
        .threads_per_worker = (size_t)settings->threads_per_worker,
        .max_batch_rows = (size_t)settings->max_batch_rows,
        .max_queued_sentences = (size_t)settings->max_queued_sentences,
        .max_follow_up_jobs = (size_t)settings->max_connections,
        .late_ms = settings->request_timeout_ms / 2,
    };
}

/* Takes the former snapshot's host if the engine's settings are the same. */
static enum mt_status open_host(struct mt_snapshot *g, const struct mt_snapshot_options *options,
                                struct mt_error *err)
{
    const struct mt_snapshot *former = options->former;
    const struct mt_model_host_options host = {
        .engine = engine_options(&g->settings),
        .splitter = options->common->splitter,
        .number_words = options->common->number_words,
    };
    if (former) {
        const struct mt_engine_options running = engine_options(&former->settings);
        if (memcmp(&host.engine, &running, sizeof running) == 0) {
            mt_model_host_hold(former->host);
            g->host = former->host;
            return MT_OK;
        }
    }
    if (options->loads_nothing)
        return mt_fail(err, MT_BUSY, "there is no engine of these settings");
    return mt_model_host_create(&host, &g->host, err);
}

/* A model for whose sentences memory_limit leaves no room is excluded. Otherwise its config.json
 * could keep the daemon from starting. */
static enum mt_status check_sentence(void *context, const struct mt_longest_sentence *longest,
                                     struct mt_error *err)
{
    const struct mt_settings *settings = context;
    struct mt_memory_plan plan;
    char what[96];
    enum mt_status status = mt_memory_plan_make(settings, NULL, longest, &plan, err);
    if (!status)
        status = mt_memory_plan_check(&plan, (uint64_t)settings->memory_limit, err);
    if (status != MT_INVALID)
        return status;
    snprintf(what, sizeof what, "for sentences of %zu tokens and %zu beams", longest->n_positions,
             longest->n_beams);
    return mt_fail_in(err, status, what);
}

static enum mt_status open_catalog(struct mt_snapshot *g, const struct mt_snapshot_options *options,
                                   struct mt_error *err)
{
    const struct mt_catalog_options catalog = {
        .settings = &g->settings,
        .host = g->host,
        .former = options->former ? options->former->catalog : NULL,
        .shows_progress = options->shows_progress,
        .check_sentence = check_sentence,
        .context = &g->settings,
    };
    return mt_catalog_create(&catalog, &g->catalog, err);
}

/* Loads settings->model, which may be in memory already. */
static enum mt_status load_pinned(struct mt_snapshot *g, const struct mt_snapshot_options *options,
                                  struct mt_error *err)
{
    struct mt_served_model *served = mt_catalog_default(g->catalog);
    if (!served || !mt_served_model_info(served)->is_pinned)
        return MT_OK;
    struct mt_served_model_status found;
    mt_served_model_describe(served, &found);
    if (options->loads_nothing && found.state != MT_SERVED_READY)
        return mt_fail(err, MT_BUSY, "%s is not in memory", g->settings.model);
    return mt_served_model_load(served, &g->pinned, err);
}

static enum mt_status plan_memory(struct mt_snapshot *g, struct mt_error *err)
{
    const struct mt_settings *settings = &g->settings;
    struct mt_memory_plan plan;
    struct mt_text text = {0};
    const struct mt_longest_sentence longest = mt_catalog_longest_sentence(g->catalog);
    enum mt_status status = mt_memory_plan_make(settings, g->pinned, &longest, &plan, err);
    if (!status)
        status = mt_memory_plan_check(&plan, (uint64_t)settings->memory_limit, err);
    if (status)
        return status;
    g->limits = (struct mt_model_host_limits){
        .memory_bytes = plan.bytes[MT_MEMORY_MODELS],
        .idle_ns = settings->models_idle_ms * 1000000,
    };
    mt_memory_plan_describe(&plan, &text);
    if (!text.status)
        mt_log(MT_LOG_INFO, "memory at worst: %s, beside %llu MiB of mapped weights%s", text.bytes,
               (unsigned long long)(plan.mapped_bytes >> 20),
               settings->models_directory[0] != '\0' && g->limits.memory_bytes == 0
                   ? " and models_directory's models, which have no limit"
                   : "");
    mt_text_finish(&text);
    return MT_OK;
}

static enum mt_status open_keys(struct mt_snapshot *g, struct mt_error *err)
{
    enum mt_status status = mt_keys_open(&g->settings, &g->keys, err);
    if (status || !g->keys)
        return status;
    mt_log(MT_LOG_INFO, "%s: %zu API keys", g->settings.api_keys_file, mt_keys_count(g->keys));
    if (mt_keys_file_is_public(g->keys))
        mt_log(MT_LOG_WARN, "%s can be read by everybody on this machine: chmod 600 mends that",
               g->settings.api_keys_file);
    return MT_OK;
}

static enum mt_status open_tls(struct mt_snapshot *g, struct mt_error *err)
{
    enum mt_status status = mt_tls_open(&g->settings, &g->tls, err);
    if (status || !g->tls)
        return status;
    long days = mt_tls_days_left(g->tls);
    if (days < CERTIFICATE_WARNING_DAYS)
        mt_log(MT_LOG_WARN, "%s: the certificate %s", g->settings.tls_certificate,
               days < 0 ? "has expired" : "expires within a week");
    if (mt_tls_key_is_public(g->tls))
        mt_log(MT_LOG_WARN, "%s can be read by everybody on this machine: chmod 600 mends that",
               g->settings.tls_key);
    return MT_OK;
}

static enum mt_status build(struct mt_snapshot *g, const struct mt_snapshot_options *options,
                            struct mt_error *err)
{
    enum mt_status status = open_keys(g, err);
    if (!status)
        status = open_tls(g, err);
    if (!status)
        status = mt_files_check_url(g->settings.public_url, err);
    if (!status)
        status = mt_cors_check("cors_origins", g->settings.cors_origins, err);
    if (!status)
        status = mt_cors_check("frame_ancestors", g->settings.frame_ancestors, err);
    if (!status)
        status = open_host(g, options, err);
    if (!status)
        status = open_catalog(g, options, err);
    if (!status)
        status = load_pinned(g, options, err);
    if (!status)
        status = plan_memory(g, err);
    if (status)
        return status;
    describe_service(g, options->common);
    mt_model_host_set_limits(g->host, &g->limits);
    mt_catalog_prefetch(g->catalog, options->former ? options->former->catalog : NULL);
    return MT_OK;
}

enum mt_status mt_snapshot_create(const struct mt_snapshot_options *options,
                                  struct mt_settings *settings, struct mt_snapshot **out,
                                  struct mt_error *err)
{
    struct mt_snapshot *g = calloc(1, sizeof *g);
    if (!g) {
        mt_settings_finish(settings);
        return mt_fail_memory(err, sizeof *g, "a generation");
    }
    g->settings = *settings;
    *settings = (struct mt_settings){0};
    g->number = options->number;
    enum mt_status status = build(g, options, err);
    if (status) {
        mt_snapshot_destroy(g);
        return status;
    }
    *out = g;
    return MT_OK;
}

void mt_snapshot_destroy(struct mt_snapshot *g)
{
    if (!g)
        return;
    mt_catalog_destroy(g->catalog);
    mt_model_host_let_go(g->host);
    mt_keys_destroy(g->keys);
    mt_tls_destroy(g->tls);
    mt_settings_finish(&g->settings);
    free(g);
}

const struct mt_service *mt_snapshot_service(const struct mt_snapshot *g)
{
    return &g->service;
}

uint64_t mt_snapshot_number(const struct mt_snapshot *g)
{
    return g->number;
}

struct mt_model_host *mt_snapshot_host(const struct mt_snapshot *g)
{
    return g->host;
}

enum mt_status mt_snapshot_check(struct mt_snapshot *g, struct mt_error *err)
{
    return g->pinned ? mt_served_model_check(g->pinned->served, err) : MT_OK;
}

void mt_snapshot_look_after(struct mt_snapshot *g)
{
    for (size_t i = 0; i < mt_catalog_n(g->catalog); i++)
        mt_served_model_look_after(mt_catalog_at(g->catalog, i));
}
