#include "server/api/health_api.h"

#include "config/settings.h"
#include "server/http/connections.h"
#include "server/engine/engine.h"
#include "server/engine/result_cache.h"
#include "server/service/document_jobs.h"
#include "server/service/file_store.h"
#include "server/service/snapshot.h"
#include "server/service/snapshots.h"
#include "server/requests/http.h"
#include "server/service/keys.h"
#include "server/service/metrics.h"
#include "server/models/model_host.h"
#include "server/models/served_model.h"

#include <string.h>
#include <strings.h>

static enum mt_status finish_health(struct mt_request *request, struct mt_error *err)
{
    mt_text_append_string(&request->reply.body, "{\"status\":\"ok\"}");
    return mt_text_check(&request->reply.body, "the state of health", err);
}

const struct mt_handler mt_health_handler = {.finish = finish_health};

static enum mt_status finish_ready(struct mt_request *request, struct mt_error *err)
{
    if (request->is_ending)
        return mt_fail(err, MT_BUSY, "the server is shutting down");
    enum mt_status status = mt_snapshot_check(request->service->snapshot, err);
    return status ? status : finish_health(request, err);
}

const struct mt_handler mt_ready_handler = {.finish = finish_ready};

/* A client without access to the metrics is told how to get it. */
static enum mt_status begin_metrics(struct mt_request *request, struct mt_error *err)
{
    static const char scheme[] = "Bearer ";
    const char *token = request->service->settings->metrics_token;
    const char *sent = mt_request_header(request, "Authorization");
    (void)err;
    bool is_bearer = sent && strncasecmp(sent, scheme, strlen(scheme)) == 0;
    if (token[0] == '\0' || (is_bearer && mt_secret_equals(token, sent + strlen(scheme))))
        return MT_OK;
    mt_reply_header(&request->reply, "WWW-Authenticate", "Bearer");
    mt_reply_error(&request->reply, 401, "the metrics take a token: Authorization: Bearer TOKEN");
    return MT_OK;
}

static enum mt_status finish_metrics(struct mt_request *request, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_engine_stats engine;
    struct mt_connection_counts connections;
    struct mt_snapshots_counts snapshots;
    struct mt_file_store_counts files;
    struct mt_model_host_counts models;
    struct mt_result_cache_counts results;
    mt_file_store_count(service->files, &files);
    mt_result_cache_count(service->results, &results);
    mt_snapshots_engine_stats(service->snapshots, &engine);
    mt_snapshots_count(service->snapshots, &snapshots);
    mt_http_count(service->http, &connections);
    mt_model_host_count(mt_snapshot_host(service->snapshot), &models);
    const struct mt_metrics_sources sources = {
        .version = MT_VERSION,
        .precision = service->settings->precision,
        .is_ready = !request->is_ending && mt_snapshot_check(service->snapshot, NULL) == MT_OK,
        .snapshots = &snapshots,
        .engine = &engine,
        .connections = &connections,
        .files = &files,
        .n_document_jobs = mt_document_jobs_count(service->documents),
        .results = &results,
        .catalog = service->catalog,
        .models = &models,
    };
    mt_metrics_render(service->metrics, &sources, &request->reply.body);
    request->reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return mt_text_check(&request->reply.body, "the metrics", err);
}

const struct mt_handler mt_metrics_handler = {.begin = begin_metrics, .finish = finish_metrics};
