#include "server/api/admin_api.h"

#include "base/json.h"
#include "config/settings.h"
#include "server/http/connections.h"
#include "server/engine/engine.h"
#include "server/service/snapshots.h"
#include "server/api/health_api.h"
#include "server/requests/http.h"
#include "server/service/keys.h"
#include "server/api/models_api.h"
#include "server/models/served_model.h"

static void write_connections(struct mt_json_writer *writer, const struct mt_service *service)
{
    struct mt_connection_counts counts;
    mt_http_count(service->http, &counts);
    mt_json_member_object(writer, "connections");
    mt_json_member_count(writer, "open", counts.n_open);
    mt_json_member_count(writer, "with_a_request", counts.n_active);
    mt_json_member_count(writer, "limit", (uint64_t)service->settings->max_connections);
    mt_json_member_count(writer, "timed_out", counts.n_timed_out);
    mt_json_member_count(writer, "left", counts.n_left);
    mt_json_member_count(writer, "evicted", counts.n_evicted);
    mt_json_member_count(writer, "over_share", counts.n_refused_of_client);
    mt_json_end_object(writer);
}

static void write_engine(struct mt_json_writer *writer, const struct mt_service *service)
{
    struct mt_engine_stats stats;
    mt_snapshots_engine_stats(service->snapshots, &stats);
    mt_json_member_object(writer, "engine");
    mt_json_member_count(writer, "workers", stats.n_workers);
    mt_json_member_count(writer, "spare_workers", stats.n_spare_workers);
    mt_json_member_count(writer, "threads_per_worker", stats.threads_per_worker);
    mt_json_member_count(writer, "sentences_waiting", stats.n_queued_sentences);
    mt_json_member_count(writer, "sentences_running", stats.n_running_sentences);
    mt_json_member_count(writer, "rows_running", stats.n_running_rows);
    mt_json_member_count(writer, "queue_limit", stats.max_queued_sentences);
    mt_json_member_count(writer, "jobs_done", stats.n_jobs_done);
    mt_json_member_count(writer, "jobs_cancelled", stats.n_jobs_cancelled);
    mt_json_member_count(writer, "jobs_expired", stats.n_jobs_expired);
    mt_json_member_count(writer, "jobs_refused", stats.n_jobs_refused);
    mt_json_member_count(writer, "source_tokens", stats.n_source_tokens);
    mt_json_member_count(writer, "target_tokens", stats.n_target_tokens);
    mt_json_end_object(writer);
}

static void write_snapshots(struct mt_json_writer *writer, const struct mt_service *service)
{
    struct mt_snapshots_counts counts;
    mt_snapshots_count(service->snapshots, &counts);
    mt_json_member_object(writer, "generation");
    mt_json_member_count(writer, "number", counts.number);
    mt_json_member_count(writer, "alive", counts.n_alive);
    mt_json_member_count(writer, "reloads", counts.n_reloads);
    mt_json_member_count(writer, "failed_reloads", counts.n_failed_reloads);
    mt_json_end_object(writer);
}

static enum mt_status finish_stats(struct mt_request *request, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_count(&writer, "api_keys", service->keys ? mt_keys_count(service->keys) : 0);
    write_connections(&writer, service);
    write_engine(&writer, service);
    write_snapshots(&writer, service);
    mt_json_key(&writer, "model");
    if (service->pinned)
        mt_json_string_z(&writer, service->pinned->label);
    else
        mt_json_null(&writer);
    mt_json_member(&writer, "version", MT_VERSION);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the state of the server", err);
}

static const struct mt_handler stats_handler = {.finish = finish_stats};

/* All routes are open: whoever may write to the socket may use all of them. */
const struct mt_route mt_admin_routes[] = {
    {.method = "GET", .path = "/health", .handler = &mt_health_handler, .access = MT_ACCESS_OPEN},
    {.method = "GET",
     .path = "/models",
     .handler = &mt_admin_models_handler,
     .access = MT_ACCESS_OPEN},
    {.method = "GET",
     .path = "/models/",
     .handler = &mt_admin_model_handler,
     .is_folder = true,
     .access = MT_ACCESS_OPEN},
    {.method = "POST",
     .path = "/models/",
     .handler = &mt_admin_model_action_handler,
     .is_folder = true,
     .access = MT_ACCESS_OPEN},
    {.method = "POST",
     .path = "/reload",
     .handler = &mt_admin_reload_handler,
     .access = MT_ACCESS_OPEN},
    {.method = "GET", .path = "/stats", .handler = &stats_handler, .access = MT_ACCESS_OPEN},
};

const size_t mt_n_admin_routes = sizeof mt_admin_routes / sizeof mt_admin_routes[0];
