#include "server/exchange_state.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/settings.h"
#include "server/client.h"
#include "server/connections.h"
#include "server/cors.h"
#include "server/generation.h"
#include "server/generations.h"
#include "server/http_gate.h"
#include "server/router.h"
#include "server/served_model.h"
#include "server/stream.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A refused body of up to 4 times the limit, and in any case of 8 MiB, is read and thrown away,
 * because clients that are still sending do not look for a reply; a longer one ends the connection.
 */
#define DISCARD_FACTOR 4
#define MIN_DISCARD_BYTES ((uint64_t)8 << 20)
#define MAX_REQUEST_ID_BYTES 128

struct mt_exchange *mt_exchange_create(struct mt_http *http, struct MHD_Connection *connection,
                                       struct mt_connection *slot, const char *target)
{
    struct mt_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL)
        return NULL;
    exchange->target = strdup(target);
    if (exchange->target == NULL) {
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
    exchange->generation = mt_generations_hold(http->options.generations);
    exchange->request.service = mt_generation_service(exchange->generation);
    exchange->request.reply.body.limit_bytes = MT_MAX_REPLY_BYTES;
    mt_metrics_request_begin(http->options.metrics);
    mt_connections_enter(http->connections, slot, MT_PHASE_HEADER);
    mt_exchange_await_head(exchange);
    return exchange;
}

static size_t route_index(const struct mt_exchange *exchange)
{
    if (exchange->route == NULL)
        return MT_NO_ROUTE;
    return (size_t)(exchange->route - exchange->http->options.routes);
}

/* The reply is there: the handler's state and the generation go, so that a client that reads slowly
 * does not keep a model in memory. */
void mt_exchange_settle(struct mt_exchange *exchange)
{
    if (exchange->is_begun && exchange->route->handler->release != NULL)
        exchange->route->handler->release(&exchange->request);
    exchange->is_begun = false;
    mt_params_finish(&exchange->request.params);
    mt_text_finish(&exchange->body);
    mt_exchange_let_go_of_model(exchange);
    exchange->request.service = NULL;
    if (exchange->generation != NULL)
        mt_generations_let_go(exchange->http->options.generations, exchange->generation);
    exchange->generation = NULL;
}

void mt_exchange_let_go_of_model(struct mt_exchange *exchange)
{
    if (exchange->request.model != NULL)
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
    free(exchange->target);
    free(exchange);
}

/* Whether the client has got something of the translation: it counts then, or who closes the
 * connection before the last byte would have nearly all of it for nothing. A stream fails with the
 * code 200 that it began with. */
static bool has_answered(const struct mt_exchange *exchange)
{
    if (exchange->is_streaming)
        return exchange->stream.has_pieces;
    return exchange->stage == STAGE_REPLIED && exchange->request.reply.code < 400 &&
           !exchange->has_left;
}

void mt_exchange_destroy(struct mt_exchange *exchange, bool is_complete)
{
    struct mt_http *http = exchange->http;
    struct mt_metrics *metrics = http->options.metrics;
    mt_exchange_have_head(exchange);
    mt_exchange_leave_desk(exchange);
    /* Of a client that has left, we may be told nothing but this. */
    mt_exchange_leave_line(exchange);
    if (exchange->is_streaming) {
        mt_exchange_stream_leave(exchange);
        mt_connections_forget_work(http->connections, exchange->slot);
    }
    mt_exchange_end_wait(exchange);
    if (exchange->has_left && !exchange->has_rejection)
        mt_exchange_count_rejection(exchange, MT_REJECTED_CLIENT_GONE);
    unsigned code = is_complete && !exchange->has_left ? exchange->request.reply.code : 499;
    double seconds = (double)(mt_now_ns() - exchange->start_ns) * 1e-9;
    if (exchange->has_rejection)
        mt_metrics_reject(metrics, exchange->rejection);
    if (!has_answered(exchange))
        mt_access_give_back(&exchange->request.access, http->options.meters);
    mt_metrics_request_end(metrics, route_index(exchange), code, seconds);
    mt_log(MT_LOG_DEBUG, "%s %s %u %.1f ms",
           exchange->request.method ? exchange->request.method : "?",
           exchange->route != NULL ? exchange->route->path : "(no route)", code, seconds * 1e3);
    mt_connections_enter(http->connections, exchange->slot, MT_PHASE_IDLE);
    mt_exchange_let_go(exchange);
}

static const char *header(const struct mt_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *mt_request_header(const struct mt_request *request, const char *name)
{
    return header((const struct mt_exchange *)request, name);
}

/* What a refusal of access.h needs beside its text. */
static void describe_refusal(struct mt_exchange *exchange)
{
    const struct mt_access *access = &exchange->request.access;
    mt_exchange_count_rejection(exchange, access->rejection);
    if (access->retry_seconds <= 0)
        return;
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%lld", (long long)access->retry_seconds);
    mt_reply_header(&exchange->request.reply, "Retry-After", seconds);
}

enum mt_status mt_request_take_chars(struct mt_request *request, uint64_t n_chars,
                                     struct mt_error *err)
{
    enum mt_status status =
        mt_access_take_chars(&request->access, request->service->meters, n_chars, mt_now_ns(), err);
    if (status != MT_OK)
        describe_refusal((struct mt_exchange *)request);
    return status;
}

uint64_t mt_request_used_chars(const struct mt_request *request)
{
    return mt_access_used_chars(&request->access, request->service->meters, mt_now_ns());
}

enum mt_status mt_request_admit(void *context, const struct mt_translation_part *part,
                                struct mt_error *err)
{
    (void)part;
    struct mt_request *request = context;
    if (request->n_made++ < request->max_made)
        return MT_OK;
    return mt_fail(err, MT_LIMIT, "the request has more than %zu sentences: at most %zu",
                   request->max_made, (size_t)request->service->settings->max_queued_sentences);
}

enum mt_status mt_request_add_sentence(struct mt_request *request, struct mt_sentence *sentence,
                                       struct mt_error *err)
{
    if (request->n_sentences == MT_MAX_REQUEST_SENTENCES)
        return mt_fail(err, MT_LIMIT, "a request may have at most %d sentences",
                       MT_MAX_REQUEST_SENTENCES);
    if (request->n_sentences == request->sentence_capacity) {
        size_t capacity = request->sentence_capacity > 0 ? 2 * request->sentence_capacity : 16;
        struct mt_sentence **larger =
            realloc(request->sentences, capacity * sizeof request->sentences[0]);
        if (larger == NULL)
            return mt_fail_memory(err, capacity * sizeof request->sentences[0], "sentences");
        request->sentences = larger;
        request->sentence_capacity = capacity;
    }
    request->sentences[request->n_sentences++] = sentence;
    return MT_OK;
}

/* ---- replying ---- */

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason)
{
    exchange->has_rejection = true;
    exchange->rejection = reason;
}

/* Bytes that are made while they are sent. */
#define STREAM_BLOCK_BYTES ((size_t)32 << 10)

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position; /* MHD reads in order */
    ssize_t n = mt_stream_read(context, buffer, n_max);
    return n > 0    ? n
           : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                    : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_stream(void *context)
{
    mt_stream_destroy(context);
}

/* The response takes the stream over, which lives on after the exchange and owns all that it
 * renders: a client that reads slowly keeps neither model nor generation. */
static struct MHD_Response *make_stream_response(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    uint64_t n_bytes = mt_stream_bytes(reply->stream);
    struct MHD_Response *response = MHD_create_response_from_callback(
        n_bytes == MT_STREAM_UNKNOWN ? MHD_SIZE_UNKNOWN : n_bytes, STREAM_BLOCK_BYTES, read_stream,
        reply->stream, free_stream);
    if (response != NULL)
        reply->stream = NULL;
    return response;
}

static struct MHD_Response *make_response(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    if (reply->stream != NULL)
        return make_stream_response(exchange);
    if (reply->static_body != NULL)
        return MHD_create_response_from_buffer(
            reply->static_length, (void *)(uintptr_t)reply->static_body, MHD_RESPMEM_PERSISTENT);
    char *bytes = reply->body.bytes;
    size_t length = reply->body.length;
    struct MHD_Response *response;
    static char nothing;
    if (length == 0)
        return MHD_create_response_from_buffer(0, &nothing, MHD_RESPMEM_PERSISTENT);
    response = MHD_create_response_from_buffer(length, bytes, MHD_RESPMEM_MUST_FREE);
    if (response != NULL)
        reply->body.bytes = NULL, reply->body.length = reply->body.capacity = 0;
    return response;
}

/* A client's own number for its request, given back so that both logs can be joined. */
static bool is_request_id(const char *id)
{
    size_t length = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "-_.:/+=");
    return length > 0 && length <= MAX_REQUEST_ID_BYTES && id[length] == '\0';
}

/* As LibreTranslate does, on every reply; but a browser takes "*" for no site of which it would
 * send credentials. */
static void add_cors(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    static const char *const common[][2] = {
        {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
        {"Access-Control-Expose-Headers", "Authorization"},
        {"Access-Control-Allow-Methods", "GET, POST"},
        {"Access-Control-Max-Age", "1728000"},
    };
    const char *origins = exchange->request.service->settings->cors_origins;
    const char *allowed = mt_cors_allowed(origins, header(exchange, "Origin"));
    if (exchange->is_vital)
        return;
    if (!mt_cors_is_open(origins))
        MHD_add_response_header(response, "Vary", "Origin");
    if (allowed == NULL)
        return;
    MHD_add_response_header(response, "Access-Control-Allow-Origin", allowed);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        MHD_add_response_header(response, common[i][0], common[i][1]);
    if (!mt_cors_is_open(origins))
        MHD_add_response_header(response, "Access-Control-Allow-Credentials", "true");
}

static void add_headers(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    const struct mt_reply *reply = &exchange->request.reply;
    add_cors(exchange, response);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    const char *type = reply->content_type != NULL ? reply->content_type : "application/json";
    if (reply->code != 304)
        MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < reply->n_headers; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    const char *id = header(exchange, "X-Request-ID");
    if (id != NULL && is_request_id(id))
        MHD_add_response_header(response, "X-Request-ID", id);
    if (reply->close || mt_http_is_draining(exchange->http))
        MHD_add_response_header(response, "Connection", "close");
}

enum MHD_Result mt_exchange_queue(struct mt_exchange *exchange, struct MHD_Response *response)
{
    add_headers(exchange, response);
    exchange->stage = STAGE_REPLIED;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_REPLY);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, exchange->request.reply.code, response);
    MHD_destroy_response(response);
    return result;
}

/* Where every reply leaves that is complete. */
enum MHD_Result mt_exchange_send(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    assert(reply->code != 0);
    if (reply->body.status != MT_OK) {
        struct mt_error err;
        mt_fail(&err, reply->body.status, "the reply is larger than this server can send");
        mt_reply_failure(&exchange->request.reply, &err);
    }
    mt_reply_end_line(reply);
    mt_reply_compress(reply, header(exchange, "Accept-Encoding"));
    struct MHD_Response *response = make_response(exchange);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result = mt_exchange_queue(exchange, response);
    mt_exchange_settle(exchange);
    return result;
}

enum MHD_Result mt_exchange_send_failure(struct mt_exchange *exchange, const struct mt_error *err)
{
    mt_reply_failure(&exchange->request.reply, err);
    return mt_exchange_send(exchange);
}

/* ---- the head ---- */

static size_t max_body_bytes(const struct mt_exchange *exchange)
{
    return (size_t)exchange->request.service->settings->max_body_bytes;
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
        .name = name != NULL ? name : "",
        .value = value != NULL ? value : "",
        .name_length = name != NULL ? name_length : 0,
        .value_length = value != NULL ? value_length : 0,
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
    if (info == NULL || !mt_http_has_old_parser())
        return;
    head->target_place = exchange->target_place;
    head->end = head->method + info->header_size;
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
        exchange->request.method = routing.route->method;
        exchange->request.path = routing.route->path;
        reply->dialect = routing.route->dialect;
        if (routing.route->is_folder) { /* longer than "/", so that it is in the target */
            char *path = exchange->target + (gate->path - exchange->target);
            path[gate->path_length] = '\0';
            exchange->request.path = path;
        }
        exchange->keeps_body = strcmp(method, "POST") == 0;
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
    if (exchange->route != NULL && exchange->route->is_vital)
        return;
    bool is_of_client = mt_connection_surplus(exchange->slot) == MT_SURPLUS_OF_CLIENT;
    struct mt_error err;
    if (is_of_client)
        mt_fail(&err, MT_THROTTLED, "too many connections from this address: try again later");
    else
        mt_fail(&err, MT_BUSY, "too many connections: try again later");
    mt_reply_failure(&exchange->request.reply, &err);
    exchange->request.reply.close = true;
    mt_exchange_count_rejection(exchange,
                                is_of_client ? MT_REJECTED_SHARE : MT_REJECTED_CONNECTIONS);
}

static uint64_t max_discarded(const struct mt_exchange *exchange)
{
    uint64_t limit_bytes = DISCARD_FACTOR * (uint64_t)max_body_bytes(exchange);
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
    return mt_exchange_send(exchange);
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
        mt_text_append(&exchange->body, bytes, length);
        if (exchange->body.status == MT_OK)
            return MHD_YES;
        refuse_body(exchange, length);
    }
    exchange->n_discarded += length;
    return exchange->n_discarded <= max_discarded(exchange) ? MHD_YES : MHD_NO;
}

/* The media type without its parameters: its length. */
static size_t type_length(const char *type)
{
    size_t length = strcspn(type, ";");
    while (length > 0 && (type[length - 1] == ' ' || type[length - 1] == '\t'))
        length--;
    return length;
}

static bool is_type(const char *type, const char *name)
{
    return type_length(type) == strlen(name) && strncasecmp(type, name, strlen(name)) == 0;
}

static bool is_json_type(const char *type)
{
    size_t length = type_length(type);
    return is_type(type, "application/json") ||
           (length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0);
}

static enum mt_status refuse_type(struct mt_exchange *exchange, const char *type)
{
    struct mt_error err;
    mt_fail(&err, MT_UNSUPPORTED,
            "Content-Type is \"%.60s\", expected application/json, "
            "application/x-www-form-urlencoded or multipart/form-data",
            type);
    mt_reply_error(&exchange->request.reply, 415, err.message);
    return MT_OK;
}

/* JSON under another type, as curl's -d sends it: as a form it would be one field of a strange
 * name, and the client would be told that what it sent was missing. */
static enum mt_status check_no_json(const struct mt_text *body, const char *type,
                                    struct mt_error *err)
{
    size_t blank = body->length > 0 ? strspn(body->bytes, " \t\r\n") : 0;
    if (blank == body->length || body->bytes[blank] != '{')
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "Content-Type is \"%.60s\", but the body looks like JSON: "
                   "expected Content-Type: application/json",
                   type);
}

/* All encodings end up in request.params. Beside JSON the query string does not count; beside a
 * form it does, and comes first. */
static enum mt_status parse_params(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_params *params = &exchange->request.params;
    const struct mt_text *body = &exchange->body;
    const char *type = header(exchange, "Content-Type");
    bool has_query = exchange->query[0] != '\0';
    bool wants_body = strcmp(exchange->route->method, "POST") == 0;
    if (type == NULL)
        type = "";
    if (is_json_type(type) && (body->length > 0 || (wants_body && !has_query)))
        return mt_params_parse_json(params, body->length > 0 ? body->bytes : "", body->length, err);
    bool is_form = is_type(type, "application/x-www-form-urlencoded");
    bool is_multipart = is_type(type, "multipart/form-data");
    if (body->length > 0 && !is_form && !is_multipart && exchange->route->is_strict_about_type)
        return refuse_type(exchange, type);
    enum mt_status status =
        mt_params_parse_form(params, exchange->query, strlen(exchange->query), true, err);
    if (status != MT_OK || body->length == 0)
        return status;
    if (is_form || (!is_multipart && !has_query))
        status = check_no_json(body, type, err);
    if (status != MT_OK)
        return status;
    if (is_form)
        return mt_params_parse_form(params, body->bytes, body->length, true, err);
    if (is_multipart)
        return mt_params_parse_multipart(params, type, body->bytes, body->length, err);
    return MT_OK;
}

/* X-Request-Timeout: seconds that the client is going to wait. */
static enum mt_status read_timeout(struct mt_exchange *exchange, struct mt_error *err)
{
    double limit = (double)exchange->request.service->settings->request_timeout_ms * 1e-3;
    const char *text = header(exchange, "X-Request-Timeout");
    double seconds = limit;
    if (text != NULL && (!mt_parse_number(text, &seconds) || seconds < 0))
        return mt_fail(err, MT_INVALID,
                       "X-Request-Timeout is \"%.40s\", expected a number of seconds", text);
    exchange->timeout_ns = (int64_t)(fmin(seconds, limit) * 1e9);
    exchange->deadline_ns = mt_now_ns() + exchange->timeout_ns;
    return MT_OK;
}

static enum mt_access_kind access_kind(const struct mt_route *route)
{
    if (route->is_vital)
        return MT_ACCESS_OPEN;
    if (route->access != MT_ACCESS_BY_METHOD)
        return route->access;
    return strcmp(route->method, "POST") == 0 ? MT_ACCESS_METERED : MT_ACCESS_OPEN;
}

static enum mt_status check_access(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    struct mt_access *access = &request->access;
    const struct mt_access_question question = {
        .kind = access_kind(exchange->route),
        .dialect = exchange->route->dialect,
        .settings = request->service->settings,
        .keys = request->service->keys,
        .meters = request->service->meters,
        .params = &request->params,
        .query = exchange->query,
        .authorization = header(exchange, "Authorization"),
        .address = exchange->address,
        .now_ns = mt_now_ns(),
    };
    enum mt_status status = mt_access_check(&question, access, err);
    if (status == MT_OK)
        return MT_OK;
    if (access->is_over_quota && request->reply.dialect == MT_DEEPL) {
        mt_exchange_count_rejection(exchange, access->rejection);
        mt_reply_error(&request->reply, 456, err->message);
        return MT_OK;
    }
    describe_refusal(exchange);
    return status;
}

static enum mt_status read_request(struct mt_exchange *exchange, struct mt_error *err)
{
    enum mt_status status = parse_params(exchange, err);
    if (status == MT_OK && exchange->request.reply.code == 0)
        status = check_access(exchange, err);
    if (exchange->request.params.n_files == 0) /* they are views into it */
        mt_text_finish(&exchange->body);
    return status;
}

static enum MHD_Result begin_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    bool has_waited = mt_desk_has(&exchange->http->desk, &exchange->place);
    if (has_waited && mt_exchange_refuse_early(exchange))
        return mt_exchange_send(exchange);
    if (read_request(exchange, &err) != MT_OK)
        return mt_exchange_send_failure(exchange, &err);
    if (request->reply.code != 0)
        return mt_exchange_send(exchange);
    return mt_exchange_work(exchange);
}

static enum MHD_Result begin_in_turn(struct mt_exchange *exchange)
{
    return mt_exchange_begin(exchange, begin_request);
}

/* Nobody waits in line for a refusal that is certain already. */
static enum MHD_Result handle_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_WORK);
    if (request->reply.code != 0)
        return mt_exchange_send(exchange);
    request->is_ending = mt_http_is_ending(exchange->http);
    if (mt_exchange_refuse_early(exchange))
        return mt_exchange_send(exchange);
    if (read_timeout(exchange, &err) != MT_OK)
        return mt_exchange_send_failure(exchange, &err);
    mt_exchange_measure(exchange);
    if (mt_exchange_may_wait(exchange))
        return mt_exchange_stop_reading(exchange, begin_in_turn);
    return begin_request(exchange);
}

static enum MHD_Result advance(struct mt_exchange *exchange, const char *method,
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
    case STAGE_TURN:
        return mt_exchange_take_turn(exchange);
    case STAGE_LOADING:
    case STAGE_RUNNING:
        return mt_exchange_resume(exchange);
    case STAGE_REPLIED:
        break;
    }
    return MHD_NO;
}

enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload)
{
    enum MHD_Result result = advance(exchange, method, version, upload, n_upload);
    if (exchange->stage != STAGE_TURN)
        mt_exchange_leave_desk(exchange);
    return result;
}
