#include "server/requests/exchange_state.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/settings.h"
#include "server/http/client.h"
#include "server/http/connections.h"
#include "server/http/cors.h"
#include "server/service/generation.h"
#include "server/service/generations.h"
#include "server/http/http_gate.h"
#include "server/http/router.h"
#include "server/models/served_model.h"
#include "server/http/stream.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A refused body of up to 4 times the limit, and in any case of 8 MiB, is read and thrown away,
 * because clients that are still sending do not look for a reply;
 * a longer one ends the connection. */
#define DISCARD_FACTOR 4
#define MIN_DISCARD_BYTES ((uint64_t)8 << 20)

struct mt_exchange *mt_exchange_create(struct mt_http *http, struct MHD_Connection *connection,
                                       struct mt_connection *slot, const char *target)
{
    struct mt_exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    exchange->target = strdup(target);
    if (!exchange->target) {
        free(exchange);
        return NULL;
    }
    exchange->target_place = target;
    exchange->http = http;
    exchange->connection = connection;
    exchange->slot = slot;
    exchange->query = "";
    exchange->start_ns = mt_now_ns();
    atomic_init(&exchange->n_holders, 1);
    atomic_init(&exchange->rejection, MT_N_REJECTIONS);
    pthread_mutex_init(&exchange->mutex, NULL);
    exchange->generation = mt_generations_hold(http->options.generations);
    exchange->request.service = mt_generation_service(exchange->generation);
    exchange->request.reply.dialect = mt_route_dialect(target);
    exchange->request.reply.body.limit_bytes = MT_MAX_REPLY_BYTES;
    exchange->record.is_wanted = exchange->request.service->settings->log_requests;
    mt_metrics_request_begin(http->options.metrics);
    mt_connections_enter(http->connections, slot, MT_PHASE_HEADER);
    mt_exchange_await_head(exchange);
    return exchange;
}

static size_t route_index(const struct mt_exchange *exchange)
{
    if (!exchange->route)
        return MT_NO_ROUTE;
    return (size_t)(exchange->route - exchange->http->options.routes);
}

/* The reply is there: the handler's state and the generation go, so that a client that reads slowly
 * does not keep a model in memory. */
void mt_exchange_settle(struct mt_exchange *exchange)
{
    if (exchange->is_begun && exchange->route->handler->release)
        exchange->route->handler->release(&exchange->request);
    exchange->is_begun = false;
    mt_params_finish(&exchange->request.params);
    mt_text_finish(&exchange->body);
    if (exchange->has_place)
        atomic_fetch_sub(&exchange->http->n_documents, 1);
    exchange->has_place = false;
    mt_exchange_let_go_of_model(exchange);
    exchange->request.service = NULL;
    if (exchange->generation)
        mt_generations_let_go(exchange->http->options.generations, exchange->generation);
    exchange->generation = NULL;
}

void mt_exchange_let_go_of_model(struct mt_exchange *exchange)
{
    if (exchange->request.model)
        mt_served_model_let_go(exchange->request.model->served);
    exchange->request.model = NULL;
}

void mt_exchange_let_go(struct mt_exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->n_holders, 1) > 1)
        return;
    mt_exchange_settle(exchange);
    free(exchange->request.sentences);
    mt_reply_finish(&exchange->request.reply);
    mt_text_finish(&exchange->stream.events);
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    pthread_mutex_destroy(&exchange->mutex);
    free(exchange->target);
    free(exchange);
}

/* Whether the client has got something of the translation: it counts then, or who closes the
 * connection before the last byte would have nearly all of it for nothing. A stream fails with the
 * code 200 that it began with. */
static bool has_answered(const struct mt_exchange *exchange)
{
    if (exchange->is_streaming)
        return atomic_load(&exchange->stream.has_pieces);
    return exchange->stage == STAGE_REPLIED && exchange->request.reply.code < 400 &&
           !exchange->has_left;
}

void mt_exchange_account(struct mt_exchange *exchange, const struct mt_job *job)
{
    mt_account_add(&exchange->record.account, job);
}

/* The work of a streamed reply may go on. */
static void log_end(struct mt_exchange *exchange, unsigned code, int64_t total_ns)
{
    const char *route = exchange->route ? exchange->route->path : NULL;
    if (!exchange->record.is_wanted) {
        mt_log(MT_LOG_DEBUG, "%s %s %u %.1f ms",
               exchange->request.method ? exchange->request.method : "?",
               route ? route : "(no route)", code, (double)total_ns * 1e-6);
        return;
    }
    pthread_mutex_lock(&exchange->mutex);
    const struct mt_exchange_record record = exchange->record;
    pthread_mutex_unlock(&exchange->mutex);
    const struct mt_request_end end = {
        .method = record.method,
        .route = route,
        .status = code,
        .n_bytes = record.n_bytes,
        .key = record.key_name,
        .models = record.models,
        .request_id = record.request_id,
        .trace = &record.trace,
        .account = &record.account,
        .total_ns = total_ns,
    };
    mt_account_log(&end);
}

void mt_exchange_destroy(struct mt_exchange *exchange, bool is_complete)
{
    struct mt_http *http = exchange->http;
    struct mt_metrics *metrics = http->options.metrics;
    mt_exchange_have_head(exchange);
    /* Of a client that has left, we may be told nothing but this. */
    if (exchange->is_streaming)
        mt_exchange_stream_leave(exchange);
    else if (exchange->stage == STAGE_WORKING)
        mt_connections_forget_work(http->connections, exchange->slot);
    int rejection = atomic_load(&exchange->rejection);
    if (exchange->has_left && rejection == MT_N_REJECTIONS)
        rejection = MT_REJECTED_CLIENT_GONE;
    unsigned code = exchange->is_streaming ? 200 : exchange->request.reply.code;
    if (!is_complete || exchange->has_left)
        code = 499;
    int64_t total_ns = mt_now_ns() - exchange->start_ns;
    if (rejection != MT_N_REJECTIONS)
        mt_metrics_reject(metrics, (enum mt_rejection)rejection);
    if (!has_answered(exchange))
        mt_access_give_back(&exchange->request.access, http->options.meters);
    mt_metrics_request_end(metrics, route_index(exchange), code, (double)total_ns * 1e-9);
    log_end(exchange, code, total_ns);
    mt_connections_enter(http->connections, exchange->slot, MT_PHASE_IDLE);
    mt_exchange_let_go(exchange);
}

const char *mt_exchange_header(const struct mt_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *mt_request_header(const struct mt_request *request, const char *name)
{
    return mt_exchange_header((const struct mt_exchange *)request, name);
}

/* ---- replying ---- */

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason)
{
    atomic_store(&exchange->rejection, (int)reason);
}

/* Bytes that are made while they are sent. */
#define STREAM_BLOCK_BYTES ((size_t)32 << 10)

/* The stream lives as long as its response, the exchange at least until the last read. */
struct sent_stream {
    struct mt_stream *stream;
    struct mt_exchange *exchange;
};

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position; /* MHD reads in order */
    const struct sent_stream *sent = context;
    ssize_t n = mt_stream_read(sent->stream, buffer, n_max);
    if (n > 0)
        sent->exchange->record.n_bytes += (size_t)n;
    return n > 0    ? n
           : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                    : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_stream(void *context)
{
    struct sent_stream *sent = context;
    mt_stream_destroy(sent->stream);
    free(sent);
}

/* The response takes the stream over, which lives on after the exchange and owns all that it
 * renders: a client that reads slowly keeps neither model nor generation. */
static struct MHD_Response *make_stream_response(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    uint64_t n_bytes = mt_stream_bytes(reply->stream);
    struct sent_stream *sent = malloc(sizeof *sent);
    if (!sent)
        return NULL;
    *sent = (struct sent_stream){.stream = reply->stream, .exchange = exchange};
    struct MHD_Response *response =
        MHD_create_response_from_callback(n_bytes == MT_STREAM_UNKNOWN ? MHD_SIZE_UNKNOWN : n_bytes,
                                          STREAM_BLOCK_BYTES, read_stream, sent, free_stream);
    if (response)
        reply->stream = NULL;
    else
        free(sent);
    return response;
}

static struct MHD_Response *make_response(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    if (reply->stream)
        return make_stream_response(exchange);
    exchange->record.n_bytes = reply->static_body ? reply->static_length : reply->body.length;
    if (reply->static_body)
        return MHD_create_response_from_buffer(
            reply->static_length, (void *)(uintptr_t)reply->static_body, MHD_RESPMEM_PERSISTENT);
    char *bytes = reply->body.bytes;
    size_t length = reply->body.length;
    struct MHD_Response *response;
    static char nothing;
    if (length == 0)
        return MHD_create_response_from_buffer(0, &nothing, MHD_RESPMEM_PERSISTENT);
    response = MHD_create_response_from_buffer(length, bytes, MHD_RESPMEM_MUST_FREE);
    if (response)
        reply->body.bytes = NULL, reply->body.length = reply->body.capacity = 0;
    return response;
}

/* A client's own number for its request, given back so that both logs can be joined. */
static bool is_request_id(const char *id)
{
    size_t length = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "-_.:/+=");
    return length > 0 && length <= MT_REQUEST_ID_BYTES && id[length] == '\0';
}

/* As LibreTranslate does, on every reply; but a browser takes "*" for no site of which it would
 * send credentials. */
static void add_cors(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    static const char *const common[][2] = {
        {"Access-Control-Allow-Headers",
         "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout"},
        {"Access-Control-Expose-Headers",
         "Authorization, Content-Disposition, Retry-After, Server-Timing, Traceparent, "
         "X-Request-ID"},
        {"Access-Control-Allow-Methods", "GET, POST"},
        {"Access-Control-Max-Age", "1728000"},
    };
    const char *origins = exchange->request.service->settings->cors_origins;
    const char *allowed = mt_cors_allowed(origins, mt_exchange_header(exchange, "Origin"));
    if (exchange->is_vital)
        return;
    if (!mt_cors_is_open(origins))
        MHD_add_response_header(response, "Vary", "Origin");
    if (!allowed)
        return;
    MHD_add_response_header(response, "Access-Control-Allow-Origin", allowed);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        MHD_add_response_header(response, common[i][0], common[i][1]);
    if (!mt_cors_is_open(origins))
        MHD_add_response_header(response, "Access-Control-Allow-Credentials", "true");
}

void mt_exchange_add_headers(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    const struct mt_reply *reply = &exchange->request.reply;
    add_cors(exchange, response);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    const char *type = reply->content_type ? reply->content_type : "application/json";
    if (reply->code != 304)
        MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < reply->n_headers; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    const char *id = mt_exchange_header(exchange, "X-Request-ID");
    if (id && is_request_id(id))
        MHD_add_response_header(response, "X-Request-ID", id);
    if (exchange->record.trace.value[0] != '\0')
        MHD_add_response_header(response, "Traceparent", exchange->record.trace.value);
}

enum MHD_Result mt_exchange_queue(struct mt_exchange *exchange, struct MHD_Response *response)
{
    if (exchange->request.reply.close || mt_connection_surplus(exchange->slot) ||
        mt_http_is_draining(exchange->http))
        MHD_add_response_header(response, "Connection", "close");
    exchange->stage = STAGE_REPLIED;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_REPLY);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, exchange->request.reply.code, response);
    MHD_destroy_response(response);
    return result;
}

/* Of replies of routes that use a model. The head of a streamed one goes before there is anything
 * to tell. */
static void add_timing(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    char timing[MT_SERVER_TIMING_BYTES];
    if (!exchange->is_begun || !exchange->route->handler->choose)
        return;
    mt_account_write_timing(&exchange->record.account, mt_now_ns() - exchange->start_ns, timing);
    MHD_add_response_header(response, "Server-Timing", timing);
}

void mt_exchange_make_response(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    assert(reply->code != 0);
    if (reply->body.status) {
        struct mt_error err;
        mt_fail(&err, reply->body.status, "the reply is larger than this server can send");
        mt_reply_failure(&exchange->request.reply, &err);
    }
    mt_reply_end_line(reply);
    mt_reply_compress(reply, mt_exchange_header(exchange, "Accept-Encoding"));
    exchange->response = make_response(exchange);
    if (exchange->response) {
        mt_exchange_add_headers(exchange, exchange->response);
        add_timing(exchange, exchange->response);
    }
    mt_exchange_settle(exchange);
}

/* Where every reply leaves that is complete. */
static enum MHD_Result send_reply(struct mt_exchange *exchange)
{
    if (!exchange->response && exchange->stage != STAGE_WORKING)
        mt_exchange_make_response(exchange);
    struct MHD_Response *response = exchange->response;
    exchange->response = NULL;
    return response ? mt_exchange_queue(exchange, response) : MHD_NO;
}

/* ---- the head ---- */

/* Of the route, and before it is known of the one that takes most. */
static size_t max_body_bytes(const struct mt_exchange *exchange)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    size_t limit = (size_t)settings->max_body_bytes;
    bool takes_documents = !exchange->route || exchange->route->takes_documents;
    /* Beside a file there are other fields. */
    if (takes_documents && settings->files_translation)
        limit += (size_t)settings->max_document_bytes;
    return limit;
}

static void refuse(struct mt_exchange *exchange, const struct mt_error *err,
                   enum mt_rejection reason)
{
    mt_reply_failure(&exchange->request.reply, err);
    mt_exchange_count_rejection(exchange, reason);
}

/* A body of so many bytes, some of which may be there. What is no longer than other bodies has its
 * place in the memory plan with its connection; of others, only so many are taken in at a time. */
static void admit_body(struct mt_exchange *exchange, uint64_t n_bytes)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    struct mt_error err;
    if (n_bytes <= (uint64_t)settings->max_body_bytes || exchange->has_place)
        return;
    if (n_bytes > max_body_bytes(exchange)) {
        mt_fail(&err, MT_LIMIT, MT_GATE_LONG_BODY);
        refuse(exchange, &err, MT_REJECTED_TOO_LARGE);
        return;
    }
    exchange->has_place = true;
    if (atomic_fetch_add(&exchange->http->n_documents, 1) < (size_t)settings->max_documents)
        return;
    exchange->has_place = false;
    atomic_fetch_sub(&exchange->http->n_documents, 1);
    mt_fail(&err, MT_BUSY,
            "%lld large files are being translated, as many as may be at a time: "
            "try again later",
            (long long)settings->max_documents);
    refuse(exchange, &err, MT_REJECTED_DOCUMENTS);
}

struct header_list {
    struct mt_gate_header items[MT_MAX_HEADERS + 1];
    size_t n;
};

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  size_t name_length, const char *value, size_t value_length)
{
    (void)kind;
    struct header_list *list = context;
    /* One more than the gate allows is enough for it to say so. */
    if (list->n == sizeof list->items / sizeof list->items[0])
        return MHD_NO;
    list->items[list->n++] = (struct mt_gate_header){
        .name = name ? name : "",
        .value = value ? value : "",
        .name_length = name ? name_length : 0,
        .value_length = value ? value_length : 0,
    };
    return MHD_YES;
}

/*
 * Where the head is, for the gate to see what libmicrohttpd does not say. Up to 0.9.77 it cuts the
 * head up in its read buffer, whose beginning stays where it is however much it grows; a folded
 * line makes it append the line to the name of its field, and values end at a NUL. From 1.0 on it
 * refuses both by itself (http.c), and trims values, so that the pieces do not adjoin.
 */
static void find_place(const struct mt_exchange *exchange, struct mt_gate_head *head)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info || !mt_http_has_old_parser())
        return;
    head->target_place = exchange->target_place;
    head->end = head->method + info->header_size;
}

/* Two of them say nothing (W3C Trace Context, section 3.2). */
static void read_trace(struct mt_exchange *exchange, const struct header_list *list)
{
    const char *value = NULL;
    for (size_t i = 0; i < list->n; i++) {
        const struct mt_gate_header *header = &list->items[i];
        if (header->name_length != strlen("traceparent") ||
            strncasecmp(header->name, "traceparent", header->name_length) != 0)
            continue;
        if (value)
            return;
        value = header->value;
    }
    if (value)
        (void)mt_traceparent_parse(value, &exchange->record.trace);
}

static void begin_record(struct mt_exchange *exchange, const char *method)
{
    static const char *const methods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                          "CONNECT", "OPTIONS", "TRACE", "PATCH"};
    struct mt_exchange_record *record = &exchange->record;
    const char *id = mt_exchange_header(exchange, "X-Request-ID");
    if (!record->is_wanted)
        return;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(method, methods[i]) == 0)
            record->method = methods[i];
    if (id && is_request_id(id))
        strcpy(record->request_id, id);
}

static void check_head(struct mt_exchange *exchange, const char *method, const char *version,
                       struct mt_gate_result *gate)
{
    struct header_list list = {.n = 0};
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, add_header, &list);
    struct mt_gate_head head = {
        .method = method,
        .target = exchange->target,
        .version = version,
        .headers = list.items,
        .n_headers = list.n,
        .max_body_bytes = max_body_bytes(exchange),
    };
    begin_record(exchange, method);
    read_trace(exchange, &list);
    find_place(exchange, &head);
    mt_gate_check(&head, gate);
    exchange->is_http_1_1 = strcmp(version, "HTTP/1.1") == 0;
    exchange->query = gate->query;
    if (gate->code == 0) {
        exchange->address = mt_client_of(exchange->http->options.proxies,
                                         mt_connection_address(exchange->slot), &head);
        return;
    }
    mt_reply_error(&exchange->request.reply, gate->code, gate->message);
    exchange->request.reply.close = gate->must_close;
    if (gate->code == 415)
        mt_reply_header(&exchange->request.reply, "Accept-Encoding", "identity");
    mt_exchange_count_rejection(exchange,
                                gate->code == 413 ? MT_REJECTED_TOO_LARGE : MT_REJECTED_MALFORMED);
}

static void route_request(struct mt_exchange *exchange, const char *method,
                          const struct mt_gate_result *gate)
{
    const struct mt_http_options *options = &exchange->http->options;
    struct mt_reply *reply = &exchange->request.reply;
    struct mt_routing routing;
    mt_route_find(options->routes, options->n_routes, method, gate->path, gate->path_length,
                  &routing);
    exchange->route = routing.route;
    exchange->is_vital = routing.is_vital;
    switch (routing.match) {
    case MT_ROUTE_FOUND:
        exchange->request.path = routing.route->path;
        if (routing.route->is_folder) { /* longer than "/", so that it is in the target */
            char *path = exchange->target + (gate->path - exchange->target);
            path[gate->path_length] = '\0';
            exchange->request.path = path;
        }
        exchange->keeps_body = strcmp(method, "POST") == 0;
        exchange->request.method = exchange->keeps_body ? "POST" : "GET";
        return;
    case MT_ROUTE_OPTIONS:
        reply->code = 200;
        break;
    case MT_ROUTE_WRONG_METHOD:
        mt_reply_error(reply, 405, "The method is not allowed for the requested URL.");
        break;
    case MT_ROUTE_UNKNOWN:
        mt_reply_error(reply, 404, "The requested URL was not found on the server.");
        return;
    }
    mt_reply_header(reply, "Allow", routing.allow);
}

/* See cors.h: what asks a loopback address for another machine by name may be a page that must not
 * read what is here. */
static void check_host(struct mt_exchange *exchange, const struct mt_gate_result *gate)
{
    const char *origins = exchange->request.service->settings->cors_origins;
    bool is_good = !exchange->http->is_loopback || gate->host_length == 0 ||
                   mt_cors_is_open(origins) ||
                   mt_cors_has_host(origins, gate->host, gate->host_length);
    if (is_good)
        return;
    struct mt_error err;
    mt_fail(&err, MT_INVALID,
            "the request is for \"%.*s\", expected localhost, an address, or the host of an origin "
            "that cors_origins has",
            gate->host_length < 80 ? (int)gate->host_length : 80, gate->host);
    mt_reply_error(&exchange->request.reply, 403, err.message);
    mt_exchange_count_rejection(exchange, MT_REJECTED_MALFORMED);
}

static void refuse_surplus(struct mt_exchange *exchange)
{
    if (exchange->route && exchange->route->is_vital)
        return;
    bool is_of_client = mt_connection_surplus(exchange->slot) == MT_SURPLUS_OF_CLIENT;
    struct mt_error err;
    if (is_of_client)
        mt_fail(&err, MT_THROTTLED, "too many connections from this address: try again later");
    else
        mt_fail(&err, MT_BUSY, "too many connections: try again later");
    mt_reply_failure(&exchange->request.reply, &err);
    mt_exchange_count_rejection(exchange,
                                is_of_client ? MT_REJECTED_SHARE : MT_REJECTED_CONNECTIONS);
}

static uint64_t max_discarded(const struct mt_exchange *exchange)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    uint64_t limit_bytes = DISCARD_FACTOR * (uint64_t)settings->max_body_bytes;
    if (exchange->route && limit_bytes < max_body_bytes(exchange))
        limit_bytes = max_body_bytes(exchange);
    return limit_bytes > MIN_DISCARD_BYTES ? limit_bytes : MIN_DISCARD_BYTES;
}

static enum MHD_Result receive_head(struct mt_exchange *exchange, const char *method,
                                    const char *version)
{
    struct mt_reply *reply = &exchange->request.reply;
    struct mt_gate_result gate;
    mt_exchange_have_head(exchange);
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_BODY);
    check_head(exchange, method, version, &gate);
    if (reply->code == 0)
        check_host(exchange, &gate);
    if (reply->code == 0)
        route_request(exchange, method, &gate);
    if (reply->code == 0 && mt_connection_surplus(exchange->slot))
        refuse_surplus(exchange);
    if (reply->code == 0)
        admit_body(exchange, gate.content_length);
    exchange->stage = STAGE_BODY;
    exchange->body.limit_bytes = max_body_bytes(exchange);
    if (reply->code == 0)
        return MHD_YES;
    /* The answer is known before the body: wait for one that is short, so that the connection
     * lives on and clients see the reply, but do not ask for one with 100 Continue. */
    bool is_short = gate.content_length <= max_discarded(exchange);
    bool is_worth_reading = is_short && !gate.expects_continue;
    if (!gate.must_close && (!gate.has_body || is_worth_reading))
        return MHD_YES;
    return send_reply(exchange);
}

/* ---- the body ---- */

/* Too long, or there is no memory to keep it in. */
static void refuse_body(struct mt_exchange *exchange, size_t n_bytes)
{
    struct mt_error err;
    bool is_too_long = exchange->body.status == MT_LIMIT;
    if (is_too_long)
        mt_fail(&err, MT_LIMIT, "the request body is longer than this server accepts");
    else
        mt_fail_memory(&err, n_bytes, "a request body");
    mt_reply_failure(&exchange->request.reply, &err);
    if (is_too_long)
        mt_exchange_count_rejection(exchange, MT_REJECTED_TOO_LARGE);
    mt_text_finish(&exchange->body);
}

static enum MHD_Result receive_body(struct mt_exchange *exchange, const char *bytes, size_t length)
{
    struct mt_reply *reply = &exchange->request.reply;
    if (reply->code == 0 && exchange->keeps_body) {
        admit_body(exchange, (uint64_t)exchange->body.length + length);
        if (reply->code == 0)
            mt_text_append(&exchange->body, bytes, length);
        if (reply->code == 0 && !exchange->body.status)
            return MHD_YES;
        if (reply->code == 0)
            refuse_body(exchange, length);
        mt_text_finish(&exchange->body);
    }
    exchange->n_discarded += length;
    return exchange->n_discarded <= max_discarded(exchange) ? MHD_YES : MHD_NO;
}

/* Nobody waits for a refusal that is certain already. The server's own doctors wait for nobody. */
static enum MHD_Result handle_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_WORK);
    if (request->reply.code != 0)
        return send_reply(exchange);
    request->is_ending = mt_http_is_ending(exchange->http);
    bool is_full = mt_exchange_refuse_early(exchange);
    if (exchange->route->handler->choose)
        mt_http_give_way(exchange->http, is_full);
    if (is_full)
        return send_reply(exchange);
    if (mt_exchange_read_timeout(exchange, &err) != MT_OK) {
        mt_reply_failure(&request->reply, &err);
        return send_reply(exchange);
    }
    if (exchange->route->is_vital) {
        mt_exchange_do_at_once(exchange);
        return send_reply(exchange);
    }
    /* libmicrohttpd (0.9.75, 1.0.1) keeps of a suspended connection whether it was being read from,
     * and it still is. The first thing after its resumption would be to read, unless no connection
     * is older, and the end of what a half-closed client has sent would end the connection. Where a
     * call for the body's end leaves neither a reply nor a suspension, reading is over. */
    exchange->stage = STAGE_RECEIVED;
    return MHD_YES;
}

/* Suspends first: the work may end before begin_work returns. */
static enum MHD_Result hand_over(struct mt_exchange *exchange)
{
    struct mt_connections *connections = exchange->http->connections;
    if (!mt_connections_begin_work(connections, exchange->slot, exchange)) {
        mt_exchange_fail_cancelled(exchange);
        return send_reply(exchange);
    }
    exchange->stage = STAGE_WORKING;
    MHD_suspend_connection(exchange->connection);
    mt_exchange_begin_work(exchange);
    return MHD_YES;
}

/* The connection is back. */
static enum MHD_Result reply_to_work(struct mt_exchange *exchange)
{
    if (exchange->is_streaming)
        return mt_exchange_stream_reply(exchange);
    mt_connections_forget_work(exchange->http->connections, exchange->slot);
    return send_reply(exchange);
}

enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload)
{
    size_t n = *n_upload;
    switch (exchange->stage) {
    case STAGE_HEAD:
        return receive_head(exchange, method, version);
    case STAGE_BODY:
        if (n == 0)
            return handle_request(exchange);
        *n_upload = 0;
        return receive_body(exchange, upload, n);
    case STAGE_RECEIVED:
        return hand_over(exchange);
    case STAGE_WORKING:
        return reply_to_work(exchange);
    case STAGE_REPLIED:
        break;
    }
    return MHD_NO;
}
