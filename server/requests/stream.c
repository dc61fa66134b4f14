#include "server/requests/exchange.h"

#include "base/size.h"
#include "server/http/connections.h"
#include "server/http/events.h"
#include "server/http/router.h"

#include <string.h>

/* Size of libmicrohttpd's buffer; each filling becomes one chunk. */
#define BLOCK_BYTES ((size_t)16 << 10)

bool mt_exchange_is_sent(const struct mt_exchange *exchange)
{
    return exchange->stream.n_sent == exchange->stream.events.length;
}

/* ---- the text threads: events are made ---- */

/* Returns the events with room for the next ones. */
static struct mt_text *events_of(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    if (mt_exchange_is_sent(exchange))
        stream->events.length = stream->n_sent = 0;
    return &stream->events;
}

enum mt_status mt_exchange_collect(struct mt_exchange *exchange, bool *has_more,
                                   struct mt_error *err)
{
    struct mt_text *events = events_of(exchange);
    size_t n_before = events->length;
    enum mt_status status = exchange->route->handler->advance(&exchange->request, events, err);
    if (status)
        events->length = n_before;
    *has_more = events->length > n_before;
    if (*has_more)
        atomic_store(&exchange->stream.has_pieces, true);
    return status ? status : mt_text_check(events, "an event", err);
}

/* The head was sent with 200, so a failure is reported in an event, which is the last. */
void mt_exchange_say_last(struct mt_exchange *exchange)
{
    struct mt_text *events = events_of(exchange);
    struct mt_text *body = &exchange->request.reply.body;
    bool is_good = exchange->request.reply.code < 400;
    if (body->status)
        events->status = body->status;
    mt_event_begin(events, is_good ? "result" : "error");
    mt_text_append(events, body->length > 0 ? body->bytes : "", body->length);
    mt_event_end(events);
    if (is_good) {
        atomic_store(&exchange->stream.has_pieces, true);
        mt_event_begin(events, NULL);
        mt_text_append_string(events, "[DONE]");
        mt_event_end(events);
    }
    mt_text_finish(body); /* the body is sent once */
    if (!events->status)
        return;
    events->length = exchange->stream.n_sent = 0;
    exchange->stream.is_broken = true;
}

/* ---- the HTTP thread: events are sent ---- */

/* Whether the events belong to the HTTP thread. Called with the mutex held. */
static bool are_ours(const struct mt_exchange *exchange)
{
    return exchange->state != MT_WORKING && exchange->state != MT_COLLECTING;
}

/* Copies events into buffer, at most n_max bytes, and returns how many; 0: there are none yet.
 * Called with the mutex held. */
static size_t take_events(struct mt_exchange *exchange, char *buffer, size_t n_max)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    size_t n = mt_size_min(n_max, stream->events.length - stream->n_sent);
    if (n == 0)
        return 0;
    memcpy(buffer, stream->events.bytes + stream->n_sent, n);
    stream->n_sent += n;
    exchange->record.n_bytes += n;
    return n;
}

/* libmicrohttpd asks for more of the reply. Where there is none yet, the connection is suspended
 * and 0 is returned. */
static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position;
    struct mt_exchange *exchange = context;
    pthread_mutex_lock(&exchange->mutex);
    bool is_last = exchange->state >= MT_ENDING;
    ssize_t n = are_ours(exchange) ? (ssize_t)take_events(exchange, buffer, n_max) : 0;
    if (n > 0) {
        mt_exchange_go_on(exchange);
    } else if (is_last) {
        n = exchange->stream.is_broken ? MHD_CONTENT_READER_END_WITH_ERROR
                                       : MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        exchange->is_suspended = true;
        MHD_suspend_connection(exchange->connection);
    }
    pthread_mutex_unlock(&exchange->mutex);
    if (n > 0)
        mt_connections_enter(exchange->http->connections, exchange->slot,
                             is_last ? MT_PHASE_REPLY : MT_PHASE_STREAM);
    return n;
}

/* Called with the mutex held. */
static enum mt_answer send_comment(struct mt_exchange *exchange)
{
    if (!are_ours(exchange))
        return MT_ASK_AGAIN;
    if (exchange->state < MT_ENDING && mt_exchange_is_sent(exchange)) {
        mt_event_comment(events_of(exchange));
        mt_exchange_return(exchange);
    }
    return MT_SENT;
}

/* Before the head of the reply an interim response can be sent as a probe. None is sent until it is
 * known that the request has to wait: behind the head of a streamed reply it would stand in the
 * reply's body. */
enum mt_answer mt_exchange_ask(struct mt_exchange *exchange)
{
    enum mt_answer answer = MT_ASK_AGAIN;
    pthread_mutex_lock(&exchange->mutex);
    bool waits =
        exchange->state == MT_LOADING || exchange->state == MT_DECODING || exchange->task.is_long;
    if (exchange->stream.is_open)
        answer = send_comment(exchange);
    else if (waits && exchange->state < MT_DONE)
        answer = exchange->is_http_1_1 ? MT_PROBE : MT_SENT;
    pthread_mutex_unlock(&exchange->mutex);
    return answer;
}

/* ---- the head of the reply ---- */

enum mt_status mt_exchange_open_stream(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_reply *reply = &exchange->request.reply;
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                                      read_events, exchange, NULL);
    if (!response)
        return mt_fail_memory(err, BLOCK_BYTES, "a stream of events");
    exchange->stream.events.limit_bytes = MT_MAX_REPLY_BYTES;
    exchange->job_status = MT_OK;
    exchange->response = response;
    reply->content_type = MT_EVENTS_TYPE;
    mt_exchange_add_headers(exchange, response);
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "X-Accel-Buffering",
                            "no"); /* else nginx would collect events */
    return MT_OK;
}

void mt_exchange_drop_stream(struct mt_exchange *exchange)
{
    MHD_destroy_response(exchange->response);
    exchange->response = NULL;
}
