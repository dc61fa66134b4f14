#include "server/requests/exchange.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/size.h"
#include "config/settings.h"
#include "server/http/client.h"
#include "server/http/connections.h"
#include "server/http/cors.h"
#include "server/http/http_gate.h"
#include "server/http/router.h"
#include "server/service/snapshot.h"
#include "server/service/snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <gnutls/gnutls.h>

/* A form writes one byte as up to three. */
#define FORM_FACTOR 3
/* A refused body of up to 4 times the limit, and in any case one of up to 8 MiB, is read and thrown
 * away, because clients that are still sending do not look for a reply. A longer one ends the
 * connection. */
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
    exchange->peer = *mt_connection_address(slot);
    exchange->query = "";
    exchange->start_ns = mt_now_ns();
    atomic_init(&exchange->rejection, MT_N_REJECTIONS);
    pthread_mutex_init(&exchange->mutex, NULL);
    exchange->snapshot = mt_snapshots_hold(http->options.snapshots);
    exchange->request.service = mt_snapshot_service(exchange->snapshot);
    exchange->request.reply.dialect = mt_route_dialect(target);
    exchange->request.reply.body.limit_bytes = MT_MAX_REPLY_BYTES;
    exchange->record.is_wanted = exchange->request.service->settings->log_requests;
    mt_metrics_request_begin(http->options.metrics);
    mt_connections_enter(http->connections, slot, MT_PHASE_HEADER);
    MT_LIST_PREPEND(&http->heads, exchange);
    return exchange;
}

static enum mt_exchange_state state_of(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    enum mt_exchange_state state = exchange->state;
    pthread_mutex_unlock(&exchange->mutex);
    return state;
}

/* The client has its reply; the work goes on without a connection. */
static void detach(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    MT_LIST_INSERT_BY(&http->detached, exchange, NULL, next_detached, previous_detached);
    if (atomic_load(&http->end) >= MT_HTTP_CANCELLING)
        mt_exchange_cancel(exchange, MT_STOP_SERVER);
}

void mt_exchange_complete(struct mt_exchange *exchange, bool is_complete)
{
    struct mt_connections *connections = exchange->http->connections;
    pthread_mutex_lock(&exchange->mutex);
    enum mt_exchange_state state = exchange->state;
    bool is_answered = exchange->is_answered;
    pthread_mutex_unlock(&exchange->mutex);
    if (state == MT_AT_HEAD)
        MT_LIST_REMOVE(&exchange->http->heads, exchange);
    bool is_at_work = state >= MT_WORKING && state < MT_SENDING;
    bool is_detached = is_at_work && is_answered && is_complete;
    if (is_at_work && !is_detached && state != MT_ENDING && state != MT_DONE)
        mt_exchange_count_rejection(exchange, MT_REJECTED_CLIENT_GONE);
    mt_exchange_tell_end(exchange, is_complete);
    mt_connections_watch(connections, exchange->slot, NULL);
    mt_connections_enter(connections, exchange->slot, MT_PHASE_IDLE);
    exchange->connection = NULL;
    exchange->slot = NULL;
    exchange->is_detached = is_detached;
    if (is_detached)
        detach(exchange);
    else if (is_at_work)
        mt_exchange_cancel(exchange, MT_STOP_LEFT);
    else
        mt_exchange_free(exchange);
}

/* Sends a reply that is known before any work. */
static enum MHD_Result refuse_now(struct mt_exchange *exchange)
{
    exchange->state = MT_SENDING;
    mt_exchange_make_response(exchange);
    return mt_exchange_send(exchange);
}

/*
 * ---- heads that libmicrohttpd refuses by itself ----
 *
 * Up to 0.9.77 libmicrohttpd makes a malformed answer where the fields of a complete head are wrong
 * (a Content-Length that is no number, or cookies that it has no memory for): it sends status line
 * and fields twice, the second time as the beginning of the body. It calls none of our functions
 * before that; it only logs a line. So we send an answer while it logs, and close our side of the
 * socket, so that its own answer is not sent.
 */

static const union MHD_ConnectionInfo *ask(const struct mt_exchange *exchange,
                                           enum MHD_ConnectionInfoType what)
{
    return MHD_get_connection_info(exchange->connection, what);
}

/* Finds the exchange whose head is complete, although we have not been called for it: libmicrohttpd
 * works on one head at a time, and tells the size of a complete one. */
static struct mt_exchange *find_complete(const struct mt_http *http)
{
    struct mt_exchange *exchange = http->heads.first;
    while (exchange && !ask(exchange, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE))
        exchange = exchange->next;
    return exchange;
}

/* Sends all of the bytes at once, or none. They fit into the socket's buffer, which is empty, since
 * earlier replies have been sent. */
static void send_last(const struct mt_exchange *exchange, const char *bytes, size_t length)
{
    int fd = ask(exchange, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    ssize_t n =
        exchange->http->options.has_tls
            ? gnutls_record_send(ask(exchange, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session,
                                 bytes, length)
            : send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)n;
    shutdown(fd, SHUT_WR);
}

void mt_exchange_refuse_head(struct mt_http *http, unsigned code)
{
    struct mt_exchange *exchange = find_complete(http);
    if (!exchange)
        return;
    struct mt_reply *reply = &exchange->request.reply;
    const char *message = code == 431   ? MT_GATE_LONG_HEADERS
                          : code == 413 ? MT_GATE_LONG_BODY
                                        : MT_GATE_NO_LENGTH;
    mt_reply_error(reply, code, message);
    mt_exchange_count_rejection(exchange,
                                code == 413 ? MT_REJECTED_TOO_LARGE : MT_REJECTED_MALFORMED);
    char bytes[512];
    int length = snprintf(bytes, sizeof bytes,
                          "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%.*s",
                          code, MHD_get_reason_phrase_for(code), reply->body.length,
                          (int)reply->body.length, reply->body.bytes);
    if (length > 0 && (size_t)length < sizeof bytes)
        send_last(exchange, bytes, (size_t)length);
}

/* ---- the head ---- */

/* The limit of the route or, while the route is not known, that of the route which allows most. */
static size_t max_body_bytes(const struct mt_exchange *exchange)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    size_t limit = (size_t)settings->max_body_bytes;
    bool takes_documents = !exchange->route || exchange->route->takes_documents;
    bool takes_glossaries = !exchange->route || exchange->route->takes_glossaries;
    size_t more = 0; /* a form with a file may be longer by this */
    if (takes_documents && settings->files_translation)
        more = (size_t)settings->max_document_bytes;
    if (takes_glossaries && mt_settings_keep_data(settings))
        more = mt_size_max(more, FORM_FACTOR * (size_t)settings->max_glossary_bytes);
    return limit + more;
}

static void refuse(struct mt_exchange *exchange, const struct mt_error *err,
                   enum mt_rejection reason)
{
    mt_reply_failure(&exchange->request.reply, err);
    mt_exchange_count_rejection(exchange, reason);
}

/* Decides whether a body of n_bytes may come in; some of it may be there already. The memory plan
 * counts bodies of usual length with their connections; only max_documents longer ones are received
 * at a time. */
static void admit_body(struct mt_exchange *exchange, uint64_t n_bytes)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    struct mt_error err;
    if (n_bytes <= (uint64_t)settings->max_body_bytes || exchange->is_counted_document)
        return;
    if (n_bytes > max_body_bytes(exchange)) {
        mt_fail(&err, MT_LIMIT, MT_GATE_LONG_BODY);
        refuse(exchange, &err, MT_REJECTED_TOO_LARGE);
        return;
    }
    exchange->is_counted_document = true;
    if (atomic_fetch_add(&exchange->http->n_documents, 1) < (size_t)settings->max_documents)
        return;
    exchange->is_counted_document = false;
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
    /* The list holds one field more than the gate allows, so that the gate sees that they are too
     * many. */
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
 * Finds the head in libmicrohttpd's memory, so that the gate can check what libmicrohttpd does not
 * report. Up to 0.9.77 libmicrohttpd splits the head inside its read buffer, which may grow but
 * does not move; it appends a folded line to the name of its field, and ends values at a NUL. From
 * 1.0 on it refuses both by itself (http.c), and trims values, so that the parts of the head do not
 * adjoin.
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

/* Two traceparent headers count as none (W3C Trace Context, section 3.2). */
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
    if (id && mt_exchange_is_request_id(id))
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
        exchange->address = mt_client_of(exchange->http->options.proxies, &exchange->peer, &head);
        return;
    }
    mt_reply_error(&exchange->request.reply, gate->code, gate->message);
    exchange->request.reply.close = gate->must_close;
    if (gate->code == 415)
        mt_reply_header(&exchange->request.reply, "Accept-Encoding", "identity");
    mt_exchange_count_rejection(exchange,
                                gate->code == 413 ? MT_REJECTED_TOO_LARGE : MT_REJECTED_MALFORMED);
}

/* Notes the method by which the route is found. HEAD counts as GET. */
static void take_method(struct mt_exchange *exchange, const char *method)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    exchange->request.method = "GET";
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(method, methods[i]) == 0)
            exchange->request.method = methods[i];
    exchange->keeps_body = strchr("GD", exchange->request.method[0]) == NULL;
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
        if (routing.route->is_folder) { /* the prefix is longer than "/", so target contains it */
            char *path = exchange->target + (gate->path - exchange->target);
            path[gate->path_length] = '\0';
            exchange->request.path = path;
        }
        take_method(exchange, method);
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

/* Refuses a Host other than this machine on a loopback address: the request may come from a page
 * that must not read what is here (cors.h). */
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

static void refuse_over_limit(struct mt_exchange *exchange)
{
    if (exchange->route && exchange->route->is_vital)
        return;
    bool is_of_client = mt_connection_over_limit(exchange->slot) == MT_OVER_LIMIT_OF_CLIENT;
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
    MT_LIST_REMOVE(&exchange->http->heads, exchange);
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_BODY);
    check_head(exchange, method, version, &gate);
    if (reply->code == 0)
        check_host(exchange, &gate);
    if (reply->code == 0)
        route_request(exchange, method, &gate);
    if (reply->code == 0 && mt_connection_over_limit(exchange->slot))
        refuse_over_limit(exchange);
    if (reply->code == 0)
        admit_body(exchange, gate.content_length);
    exchange->state = MT_AT_BODY;
    exchange->body.limit_bytes = max_body_bytes(exchange);
    if (reply->code == 0)
        return MHD_YES;
    /* The reply is known before the body. A short body is received first, so that the connection
     * stays open and the client sees the reply; but the client is not asked for it with 100
     * Continue. */
    bool is_short = gate.content_length <= max_discarded(exchange);
    bool is_worth_reading = is_short && !gate.expects_continue;
    if (!gate.must_close && (!gate.has_body || is_worth_reading))
        return MHD_YES;
    return refuse_now(exchange);
}

/* ---- the body ---- */

/* Refuses a body that is too long, or that there is no memory for. */
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

/* The request is complete. One that will certainly be refused does not wait for a thread, and
 * neither does a route that tells of the daemon's health. */
static enum MHD_Result handle_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_WORK);
    if (request->reply.code != 0)
        return refuse_now(exchange);
    request->is_ending = mt_http_is_ending(exchange->http);
    bool is_full = mt_exchange_refuse_early(exchange);
    if (exchange->route->handler->choose)
        mt_http_give_way(exchange->http, is_full);
    if (is_full)
        return refuse_now(exchange);
    if (mt_exchange_read_timeout(exchange, &err) != MT_OK) {
        mt_reply_failure(&request->reply, &err);
        return refuse_now(exchange);
    }
    if (exchange->route->is_vital) {
        mt_exchange_do_at_once(exchange);
        return refuse_now(exchange);
    }
    /* libmicrohttpd (0.9.75, 1.0.1) remembers that a suspended connection was being read from.
     * After its resumption it would read first, unless no connection is older, and take a
     * half-closed client's end of stream for the end of the connection. Where the call for the
     * body's end makes neither a reply nor a suspension, libmicrohttpd stops reading; so the
     * exchange is suspended in the call after this one. */
    exchange->state = MT_RECEIVED;
    return MHD_YES;
}

/* Suspends the connection first, because the work may end before begin_work returns. Counts it
 * before it looks at refuses_work: whoever sets that and then sees a count of 0 knows that no work
 * begins. */
static enum MHD_Result hand_over(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    atomic_fetch_add(&http->n_working, 1);
    if (atomic_load(&http->refuses_work)) {
        atomic_fetch_sub(&http->n_working, 1);
        mt_exchange_fail_cancelled(exchange);
        return refuse_now(exchange);
    }
    bool takes_long = mt_exchange_takes_long(exchange);
    exchange->state = MT_WORKING;
    exchange->is_suspended = true;
    MHD_suspend_connection(exchange->connection);
    mt_exchange_begin_work(exchange);
    if (takes_long)
        mt_connections_watch(http->connections, exchange->slot, exchange);
    return MHD_YES;
}

enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload)
{
    size_t n = *n_upload;
    switch (state_of(exchange)) {
    case MT_AT_HEAD:
        return receive_head(exchange, method, version);
    case MT_AT_BODY:
        if (n == 0)
            return handle_request(exchange);
        *n_upload = 0;
        return receive_body(exchange, upload, n);
    case MT_RECEIVED:
        return hand_over(exchange);
    default:
        return mt_exchange_send(exchange);
    }
}
