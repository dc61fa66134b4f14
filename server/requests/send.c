#include "server/requests/exchange.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "config/settings.h"
#include "server/http/connections.h"
#include "server/http/cors.h"
#include "server/http/router.h"
#include "server/http/stream.h"
#include "server/service/snapshot.h"
#include "server/service/snapshots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <sys/eventfd.h>

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason)
{
    atomic_store(&exchange->rejection, (int)reason);
}

const char *mt_exchange_header(const struct mt_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *mt_request_header(const struct mt_request *request, const char *name)
{
    return mt_exchange_header((const struct mt_exchange *)request, name);
}

/* The reply is complete: the handler's state and the snapshot are freed, so that a client that
 * reads slowly does not keep a model in memory. */
void mt_exchange_free_work(struct mt_exchange *exchange)
{
    if (exchange->is_begun && exchange->route->handler->release)
        exchange->route->handler->release(&exchange->request);
    exchange->is_begun = false;
    mt_params_finish(&exchange->request.params);
    mt_text_finish(&exchange->body);
    if (exchange->is_counted_document)
        atomic_fetch_sub(&exchange->http->n_documents, 1);
    exchange->is_counted_document = false;
    mt_exchange_let_go_of_model(exchange);
    exchange->request.service = NULL;
    if (exchange->snapshot)
        mt_snapshots_let_go(exchange->http->options.snapshots, exchange->snapshot);
    exchange->snapshot = NULL;
}

void mt_exchange_let_go_of_model(struct mt_exchange *exchange)
{
    if (exchange->request.model)
        mt_served_model_let_go(exchange->request.model->served);
    exchange->request.model = NULL;
}

/* ---- the response ---- */

/* Block size of replies whose bytes are made while they are sent. */
#define STREAM_BLOCK_BYTES ((size_t)32 << 10)

/* The stream lives as long as its response; the exchange lives at least until the last read. */
struct sent_stream {
    struct mt_stream *stream;
    struct mt_exchange *exchange;
};

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position; /* libmicrohttpd reads in order */
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

/* The response takes over the stream, which outlives the exchange and owns all that it renders: a
 * client that reads slowly keeps neither model nor snapshot. */
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

/* A client's own number for its request is repeated in the reply, so that both logs can be
 * joined. */
bool mt_exchange_is_request_id(const char *id)
{
    size_t length = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "-_.:/+=");
    return length > 0 && length <= MT_REQUEST_ID_BYTES && id[length] == '\0';
}

/* Adds these headers to every reply, as LibreTranslate does. Where a browser sends credentials it
 * does not accept "*", so the site is named. */
static void add_cors(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    static const char *const common[][2] = {
        {"Access-Control-Allow-Headers",
         "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout"},
        {"Access-Control-Expose-Headers",
         "Authorization, Content-Disposition, Retry-After, Server-Timing, Traceparent, "
         "X-Request-ID"},
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
    bool is_deepl = exchange->request.reply.dialect == MT_DEEPL;
    MHD_add_response_header(response, "Access-Control-Allow-Methods",
                            is_deepl ? "GET, POST, PUT, PATCH, DELETE" : "GET, POST");
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
    if (id && mt_exchange_is_request_id(id))
        MHD_add_response_header(response, "X-Request-ID", id);
    if (exchange->record.trace.value[0] != '\0')
        MHD_add_response_header(response, "Traceparent", exchange->record.trace.value);
}

/* Only replies of routes that use a model have times. A streamed reply has none, because its head
 * is sent before anything has been measured. */
static void add_timing(const struct mt_exchange *exchange, struct MHD_Response *response)
{
    char timing[MT_SERVER_TIMING_BYTES];
    if (!exchange->is_begun || !exchange->route->handler->choose)
        return;
    mt_account_write_timing(&exchange->record.account, mt_now_ns() - exchange->start_ns, timing);
    MHD_add_response_header(response, "Server-Timing", timing);
}

static void render(struct mt_exchange *exchange)
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
}

void mt_exchange_make_response(struct mt_exchange *exchange)
{
    render(exchange);
    mt_exchange_free_work(exchange);
}

enum mt_status mt_exchange_answer(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_reply *reply = &exchange->request.reply;
    const struct mt_reply empty = {.dialect = reply->dialect,
                                   .body.limit_bytes = MT_MAX_REPLY_BYTES};
    reply->code = 200;
    render(exchange);
    mt_reply_finish(reply);
    *reply = empty;
    return exchange->response ? MT_OK : mt_fail_memory(err, 0, "a reply");
}

/* ---- back to the HTTP thread ---- */

/* The wake-up happens inside the lock, because the server may be destroyed as soon as the HTTP
 * thread has taken the exchange. */
void mt_exchange_return(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    pthread_mutex_lock(&http->mutex);
    bool was_empty = !http->returned.first;
    if (!exchange->is_returned)
        MT_LIST_APPEND(&http->returned, exchange);
    exchange->is_returned = true;
    if (was_empty)
        eventfd_write(http->wakeup_fd, 1);
    pthread_mutex_unlock(&http->mutex);
}

static struct mt_exchange *next_returned(struct mt_http *http)
{
    pthread_mutex_lock(&http->mutex);
    struct mt_exchange *exchange = http->returned.first;
    if (exchange) {
        MT_LIST_REMOVE(&http->returned, exchange);
        exchange->is_returned = false;
    }
    pthread_mutex_unlock(&http->mutex);
    return exchange;
}

/* Takes the exchange out of the list of returned ones. It may be there again: it was returned once
 * because it had events, and a second time, after it was taken, because its work is done. */
static void take_back(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    pthread_mutex_lock(&http->mutex);
    if (exchange->is_returned)
        MT_LIST_REMOVE(&http->returned, exchange);
    exchange->is_returned = false;
    pthread_mutex_unlock(&http->mutex);
}

static void tell_work(struct mt_exchange *exchange);

static void take(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    pthread_mutex_lock(&exchange->mutex);
    bool is_done = exchange->state == MT_DONE;
    bool is_answered = exchange->is_answered;
    if (is_done)
        exchange->state = MT_SENDING;
    pthread_mutex_unlock(&exchange->mutex);
    if (is_done)
        take_back(exchange);
    if ((is_done || is_answered) && exchange->connection)
        mt_connections_watch(http->connections, exchange->slot, NULL);
    if (is_done && is_answered)
        tell_work(exchange);
    if (exchange->is_suspended)
        MHD_resume_connection(exchange->connection);
    exchange->is_suspended = false;
    if (is_done && exchange->is_detached)
        MT_LIST_REMOVE_BY(&http->detached, exchange, next_detached, previous_detached);
    if (is_done && !exchange->connection)
        mt_exchange_free(exchange);
    if (is_done)
        atomic_fetch_sub(&http->n_working, 1);
}

void mt_exchange_take_returned(struct mt_http *http)
{
    struct mt_exchange *exchange;
    while ((exchange = next_returned(http)))
        take(exchange);
}

/* ---- sending ---- */

/* Sends the head of a streamed reply without looking at what a text thread may be writing. */
enum MHD_Result mt_exchange_send(struct mt_exchange *exchange)
{
    bool is_early = exchange->stream.is_open || exchange->is_answered;
    const struct mt_reply *reply = &exchange->request.reply;
    struct mt_connections *connections = exchange->http->connections;
    struct MHD_Response *response = exchange->response;
    exchange->response = NULL;
    if (!response)
        return MHD_NO;
    if ((!is_early && reply->close) || mt_connection_over_limit(exchange->slot) ||
        mt_http_is_draining(exchange->http))
        MHD_add_response_header(response, "Connection", "close");
    mt_connections_enter(connections, exchange->slot,
                         exchange->stream.is_open ? MT_PHASE_STREAM : MT_PHASE_REPLY);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, is_early ? 200 : reply->code, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- the end ---- */

static size_t route_index(const struct mt_exchange *exchange)
{
    if (!exchange->route)
        return MT_NO_ROUTE;
    return (size_t)(exchange->route - exchange->http->options.routes);
}

/* Whether the client has received some of the translation. The request counts then: otherwise a
 * client that closes the connection before the last byte would have nearly all of it for nothing. A
 * stream that fails still has the code 200 that it began with. */
static bool has_answered(const struct mt_exchange *exchange)
{
    if (exchange->stream.is_open)
        return atomic_load(&exchange->stream.has_pieces);
    if (exchange->is_answered)
        return true; /* where the work fails, tell_work gives back what was counted */
    return exchange->state == MT_SENDING && exchange->request.reply.code < 400 &&
           exchange->stop != MT_STOP_LEFT;
}

/* The work of a streamed reply may still go on here. */
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

/* Logs how the work ended whose reply was sent before it, and gives back characters that were not
 * translated. */
static void tell_work(struct mt_exchange *exchange)
{
    const struct mt_http_options *options = &exchange->http->options;
    unsigned code = exchange->request.reply.code;
    if (code >= 400)
        mt_access_give_back(&exchange->request.access, options->meters);
    log_end(exchange, code, mt_now_ns() - exchange->start_ns);
}

void mt_exchange_tell_end(struct mt_exchange *exchange, bool is_complete)
{
    const struct mt_http_options *options = &exchange->http->options;
    int64_t total_ns = mt_now_ns() - exchange->start_ns;
    int rejection = atomic_load(&exchange->rejection);
    unsigned code = 200;
    pthread_mutex_lock(&exchange->mutex);
    bool has_left = exchange->stop == MT_STOP_LEFT, counts = has_answered(exchange);
    bool is_early = exchange->stream.is_open || exchange->is_answered;
    pthread_mutex_unlock(&exchange->mutex);
    if (has_left && rejection == MT_N_REJECTIONS)
        rejection = MT_REJECTED_CLIENT_GONE;
    if (!is_complete || has_left)
        code = 499;
    else if (!is_early)
        code = exchange->request.reply.code;
    if (rejection != MT_N_REJECTIONS)
        mt_metrics_reject(options->metrics, (enum mt_rejection)rejection);
    if (!counts)
        mt_access_give_back(&exchange->request.access, options->meters);
    mt_metrics_request_end(options->metrics, route_index(exchange), code, (double)total_ns * 1e-9);
    log_end(exchange, code, total_ns);
}

void mt_exchange_free(struct mt_exchange *exchange)
{
    mt_exchange_free_work(exchange);
    free(exchange->request.sentences);
    mt_reply_finish(&exchange->request.reply);
    mt_text_finish(&exchange->stream.events);
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    pthread_mutex_destroy(&exchange->mutex);
    free(exchange->target);
    free(exchange);
}
