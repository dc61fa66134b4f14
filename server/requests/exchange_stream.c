#include "server/requests/exchange_state.h"

#include "base/size.h"
#include "server/http/connections.h"
#include "server/http/events.h"
#include "server/http/router.h"

#include <string.h>

/* libmicrohttpd's buffer for a piece, which becomes a chunk. */
#define BLOCK_BYTES ((size_t)16 << 10)

static void collect(struct mt_exchange *exchange);

/* With the mutex held. */
static void collect_if_due(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    bool is_sent = stream->n_sent == stream->events.length;
    if (!stream->has_news || stream->is_collecting || stream->is_done)
        return;
    if (!is_sent && !stream->is_over && !exchange->is_cancelled)
        return; /* a slow reader costs nothing but its own request */
    stream->has_news = false;
    stream->is_collecting = true;
    mt_exchange_submit_step(exchange, collect, true);
}

void mt_exchange_stream_news(struct mt_exchange *exchange)
{
    exchange->stream.has_news = true;
    collect_if_due(exchange);
}

static void tell_news(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    mt_exchange_stream_news(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* By a worker's thread. */
static void on_progress(struct mt_job *job)
{
    tell_news(job->user);
}

/* By a worker's thread. */
static void job_done(struct mt_job *job, enum mt_status status)
{
    struct mt_exchange *exchange = job->user;
    pthread_mutex_lock(&exchange->mutex);
    exchange->job_status = status;
    exchange->holder = WITH_TEXT_THREADS;
    mt_exchange_account(exchange, job);
    mt_exchange_stream_news(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* By a thread of the models' host. */
static void model_done(struct mt_model_wait *wait, enum mt_status status)
{
    struct mt_exchange *exchange = wait->user;
    pthread_mutex_lock(&exchange->mutex);
    exchange->wait_status = status;
    exchange->request.model = wait->model;
    exchange->holder = WITH_TEXT_THREADS;
    mt_exchange_stream_news(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* By the thread that watches connections. */
void mt_exchange_nudge(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    exchange->stream.wants_comment = true;
    mt_exchange_stream_news(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* ---- rounds, by the text thread that collects ---- */

/* Nothing comes after what events hold now. */
static void end_stream(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    exchange->stream.is_over = true;
    bool is_done = exchange->holder == WITH_TEXT_THREADS || mt_exchange_stop_waiting(exchange);
    pthread_mutex_unlock(&exchange->mutex);
    if (is_done) /* else its sentences are in use until it ends */
        mt_exchange_settle(exchange);
}

/* The reply's body as the last event but [DONE], or as an error, after which there is none. */
static void append_reply(struct mt_exchange *exchange, const char *name)
{
    struct mt_text *events = &exchange->stream.events;
    struct mt_text *body = &exchange->request.reply.body;
    if (body->status)
        events->status = body->status;
    mt_event_begin(events, name);
    mt_text_append(events, body->length > 0 ? body->bytes : "", body->length);
    mt_event_end(events);
    mt_text_finish(body); /* once is enough */
    end_stream(exchange);
}

/* The head has gone out with 200, and the metrics count what was sent. */
static void append_error(struct mt_exchange *exchange)
{
    append_reply(exchange, "error");
    exchange->request.reply.code = 200;
}

static void append_failure(struct mt_exchange *exchange, const struct mt_error *err)
{
    mt_reply_failure(&exchange->request.reply, err);
    append_error(exchange);
}

static void append_result(struct mt_exchange *exchange)
{
    struct mt_error err;
    if (exchange->route->handler->finish(&exchange->request, &err) != MT_OK) {
        append_failure(exchange, &err);
        return;
    }
    atomic_store(&exchange->stream.has_pieces, true);
    append_reply(exchange, "result");
    mt_event_begin(&exchange->stream.events, NULL);
    mt_text_append_string(&exchange->stream.events, "[DONE]");
    mt_event_end(&exchange->stream.events);
}

static enum mt_status submit(struct mt_exchange *exchange, struct mt_error *err)
{
    exchange->job.on_progress = on_progress;
    return mt_exchange_run_job(exchange, job_done, err);
}

static void load_model(struct mt_exchange *exchange, struct mt_served_model *served)
{
    struct mt_error err;
    exchange->stream.was_loading = true;
    if (mt_exchange_wait_for_model(exchange, served, model_done, &err) == MT_OK)
        return;
    mt_exchange_fail_wait(exchange, &err);
    append_error(exchange);
}

/* With the round's model. */
static void run_round(struct mt_exchange *exchange)
{
    struct mt_error err;
    exchange->stream.was_loading = false;
    if (mt_exchange_begin_round(exchange, &err) != MT_OK) {
        append_failure(exchange, &err);
    } else if (exchange->request.n_sentences == 0) {
        tell_news(exchange); /* what is blank may be sent before the next round */
    } else if (submit(exchange, &err) != MT_OK) {
        mt_exchange_refuse_job(exchange, &err);
        append_error(exchange);
    }
}

/* The round has ended, and all of it was sent. */
static void next_round(struct mt_exchange *exchange)
{
    struct mt_served_model *served;
    struct mt_error err;
    if (mt_exchange_choose(exchange, &served, &err) != MT_OK)
        append_failure(exchange, &err);
    else if (!served)
        append_result(exchange);
    else if (!exchange->request.model)
        load_model(exchange, served);
    else
        run_round(exchange);
}

static void end_loading(struct mt_exchange *exchange)
{
    if (!exchange->wait_status) {
        run_round(exchange);
        return;
    }
    mt_exchange_fail_wait(exchange, &exchange->wait.err);
    append_error(exchange);
}

/* While sentences are decoded, and after that. */
static void collect_pieces(struct mt_exchange *exchange, bool has_ended)
{
    struct mt_text *events = &exchange->stream.events;
    size_t n_before = events->length;
    struct mt_error err;
    if (has_ended && exchange->job_status) {
        mt_exchange_fail_job(exchange);
        append_error(exchange);
        return;
    }
    if (mt_exchange_refuse_damaged(exchange)) {
        append_error(exchange);
        return;
    }
    if (exchange->route->handler->advance(&exchange->request, events, &err) != MT_OK) {
        events->length = n_before;
        append_failure(exchange, &err);
        return;
    }
    if (events->length > n_before)
        atomic_store(&exchange->stream.has_pieces, true);
    else if (has_ended)
        next_round(exchange);
}

static void collect_events(struct mt_exchange *exchange, bool has_ended, bool wants_comment)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    if (stream->n_sent == stream->events.length)
        stream->events.length = stream->n_sent = 0;
    if (!stream->was_loading)
        collect_pieces(exchange, has_ended);
    else if (has_ended)
        end_loading(exchange);
    if (wants_comment && stream->events.length == 0)
        mt_event_comment(&stream->events);
    if (stream->events.status) {
        stream->events.length = stream->n_sent = 0;
        stream->is_broken = true;
        end_stream(exchange);
    }
}

/* The work is over. The connection may be gone. */
static void end_work(struct mt_exchange *exchange)
{
    struct mt_connections *connections = exchange->http->connections;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    mt_exchange_let_go(exchange);
    /* Last, because the server ends when no work is left. */
    mt_connections_count_done(connections);
}

static void collect(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    pthread_mutex_lock(&exchange->mutex);
    bool has_ended = exchange->holder == WITH_TEXT_THREADS;
    bool is_over = stream->is_over || stream->is_gone;
    bool wants_comment = stream->wants_comment;
    stream->wants_comment = false;
    pthread_mutex_unlock(&exchange->mutex);
    if (!is_over)
        collect_events(exchange, has_ended, wants_comment);

    pthread_mutex_lock(&exchange->mutex);
    bool has_events = stream->n_sent < stream->events.length;
    stream->is_collecting = false;
    stream->has_news |= has_events && !stream->is_over; /* there may be more of them */
    stream->is_done = (stream->is_over || stream->is_gone) && exchange->holder == WITH_TEXT_THREADS;
    if (stream->is_resting && (has_events || stream->is_over)) {
        stream->is_resting = false;
        MHD_resume_connection(exchange->connection);
    }
    collect_if_due(exchange);
    bool is_done = stream->is_done;
    pthread_mutex_unlock(&exchange->mutex);
    if (is_done)
        end_work(exchange);
}

/* ---- the HTTP thread ---- */

/* With the mutex held. How much of the events was copied; 0: there are none, for now. */
static size_t take_events(struct mt_exchange *exchange, char *buffer, size_t n_max)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    if (stream->is_collecting || stream->n_sent == stream->events.length)
        return 0;
    size_t n = mt_size_min(n_max, stream->events.length - stream->n_sent);
    memcpy(buffer, stream->events.bytes + stream->n_sent, n);
    stream->n_sent += n;
    exchange->record.n_bytes += n;
    collect_if_due(exchange);
    return n;
}

/* libmicrohttpd asks for more. 0 with the connection suspended: later. */
static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position;
    struct mt_exchange *exchange = context;
    struct mt_exchange_stream *stream = &exchange->stream;
    pthread_mutex_lock(&exchange->mutex);
    bool is_last = stream->is_over;
    ssize_t n = (ssize_t)take_events(exchange, buffer, n_max);
    if (n == 0 && !stream->is_collecting && stream->is_broken) {
        n = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (n == 0 && !stream->is_collecting && stream->is_over) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (n == 0) {
        stream->is_resting = true;
        MHD_suspend_connection(exchange->connection);
    }
    pthread_mutex_unlock(&exchange->mutex);
    if (n > 0) /* the connections' lock comes before the exchange's mutex */
        mt_connections_enter(exchange->http->connections, exchange->slot,
                             is_last ? MT_PHASE_REPLY : MT_PHASE_STREAM);
    return n;
}

/* The first news is collected when the reply's head has been queued: until then the HTTP thread
 * rests. */
enum mt_status mt_exchange_stream_begin(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    stream->events.limit_bytes = MT_MAX_REPLY_BYTES;
    pthread_mutex_lock(&exchange->mutex);
    exchange->is_streaming = true;
    stream->is_collecting = true; /* until the connection is back */
    pthread_mutex_unlock(&exchange->mutex);
    exchange->job_status = MT_OK;
    atomic_fetch_add(&exchange->n_holders, 1);
    enum mt_status status = exchange->request.n_sentences > 0 ? submit(exchange, err) : MT_OK;
    if (status) {
        atomic_fetch_sub(&exchange->n_holders, 1);
        pthread_mutex_lock(&exchange->mutex);
        exchange->is_streaming = stream->is_collecting = false;
        pthread_mutex_unlock(&exchange->mutex);
        return status;
    }
    mt_connections_watch_stream(exchange->http->connections, exchange->slot);
    MHD_resume_connection(exchange->connection);
    return MT_OK;
}

enum MHD_Result mt_exchange_stream_reply(struct mt_exchange *exchange)
{
    struct mt_reply *reply = &exchange->request.reply;
    enum MHD_Result result = MHD_NO;
    reply->code = 200;
    reply->content_type = MT_EVENTS_TYPE;
    mt_reply_header(reply, "Cache-Control", "no-cache");
    mt_reply_header(reply, "X-Accel-Buffering", "no"); /* nginx would collect events */
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                                      read_events, exchange, NULL);
    if (response) {
        mt_exchange_add_headers(exchange, response);
        result = mt_exchange_queue(exchange, response);
    }
    pthread_mutex_lock(&exchange->mutex);
    exchange->stream.has_begun = true; /* the reply is the text threads' from here */
    exchange->stream.is_collecting = false;
    mt_exchange_stream_news(exchange);
    pthread_mutex_unlock(&exchange->mutex);
    return result;
}

void mt_exchange_stream_leave(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    struct mt_connections *connections = exchange->http->connections;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    mt_connections_forget_work(connections, exchange->slot);
    pthread_mutex_lock(&exchange->mutex);
    if (!stream->is_over)
        mt_exchange_count_rejection(exchange, MT_REJECTED_CLIENT_GONE);
    if (!stream->has_begun)
        stream->is_collecting = false;
    exchange->is_cancelled = stream->is_gone = true;
    mt_exchange_stop_waiting(exchange);
    mt_exchange_stream_news(exchange); /* the work ends now, or with what still runs */
    pthread_mutex_unlock(&exchange->mutex);
}
