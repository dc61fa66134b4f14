#include "server/exchange_state.h"

#include "base/size.h"
#include "server/connections.h"
#include "server/events.h"
#include "server/router.h"

#include <string.h>

/* libmicrohttpd's buffer for a piece, which becomes a chunk. */
#define BLOCK_BYTES ((size_t)16 << 10)

/* A worker's thread, or that of the connections. */
static void wake(void *context)
{
    struct mt_exchange *exchange = context;
    MHD_resume_connection(exchange->connection);
}

static void on_progress(struct mt_job *job)
{
    struct mt_exchange *exchange = job->user;
    mt_bell_ring(&exchange->stream.bell);
}

/* Any thread; the task's status is there. The connection may be gone. */
static void end_task(struct mt_exchange *exchange)
{
    struct mt_connections *connections = exchange->http->connections;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    atomic_store(&exchange->stream.has_ended, true);
    mt_bell_ring(&exchange->stream.bell);
    mt_exchange_let_go(exchange);
    /* Last, because the server ends when no work is left. */
    mt_connections_count_done(connections);
}

/* A worker's thread. */
static void job_done(struct mt_job *job, enum mt_status status)
{
    struct mt_exchange *exchange = job->user;
    exchange->job_status = status;
    end_task(exchange);
}

/* A thread of the models' host. */
static void model_done(struct mt_model_wait *wait, enum mt_status status)
{
    struct mt_exchange *exchange = wait->user;
    exchange->wait_status = status;
    exchange->request.model = wait->model;
    end_task(exchange);
}

/* Whether nobody ends the wait then but the HTTP thread. */
static bool stop_waiting(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    if (!mt_served_model_stop_waiting(exchange->awaited, &exchange->wait))
        return atomic_load(&stream->was_stopped);
    exchange->wait_status = mt_fail(&exchange->wait.err, MT_CANCELLED, "nobody waits for it");
    atomic_store(&stream->was_stopped, true);
    return true;
}

/* end_task takes the lock that is held here. */
void mt_exchange_stream_stop(struct mt_exchange *exchange)
{
    if (stop_waiting(exchange))
        mt_bell_ring(&exchange->stream.bell);
}

void mt_exchange_nudge(struct mt_exchange *exchange)
{
    atomic_store(&exchange->stream.wants_comment, true);
    mt_bell_ring(&exchange->stream.bell);
}

/* ---- the HTTP thread ---- */

/* It must not have ended. */
static void cancel_task(struct mt_exchange *exchange)
{
    if (!exchange->stream.is_loading) {
        mt_engine_cancel(exchange->request.model->engine, &exchange->job);
        return;
    }
    /* From now on nobody else stops it. */
    mt_connections_leave_work(exchange->http->connections, exchange->slot, exchange);
    if (stop_waiting(exchange))
        end_task(exchange);
}

/* Nothing comes after what events hold now. */
static void end_stream(struct mt_exchange *exchange)
{
    exchange->stream.is_over = true;
    if (atomic_load(&exchange->stream.has_ended))
        mt_exchange_settle(exchange);
    else /* its sentences are in use until it ends */
        cancel_task(exchange);
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_REPLY);
}

/* The reply's body as the last event but [DONE], or as an error, after which there is none. */
static void append_reply(struct mt_exchange *exchange, const char *name)
{
    struct mt_text *events = &exchange->stream.events;
    struct mt_text *body = &exchange->request.reply.body;
    if (body->status != MT_OK)
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
    exchange->stream.has_pieces = true;
    append_reply(exchange, "result");
    mt_event_begin(&exchange->stream.events, NULL);
    mt_text_append_string(&exchange->stream.events, "[DONE]");
    mt_event_end(&exchange->stream.events);
}

/* ---- tasks ---- */

static enum mt_status begin_task(struct mt_exchange *exchange, bool is_loading,
                                 struct mt_error *err)
{
    if (!mt_connections_begin_work(exchange->http->connections, exchange->slot, exchange))
        return mt_fail(err, MT_CANCELLED, "the server is shutting down");
    exchange->stream.is_loading = is_loading;
    atomic_store(&exchange->stream.was_stopped, false);
    atomic_store(&exchange->stream.has_ended, false);
    atomic_fetch_add(&exchange->n_holders, 1);
    return MT_OK;
}

/* Nobody has accepted it. */
static void take_task_back(struct mt_exchange *exchange)
{
    atomic_fetch_sub(&exchange->n_holders, 1);
    atomic_store(&exchange->stream.has_ended, true);
    mt_connections_end_work(exchange->http->connections, exchange->slot);
}

static enum mt_status submit(struct mt_exchange *exchange, struct mt_error *err)
{
    exchange->job.on_progress = on_progress;
    exchange->job.on_done = job_done;
    enum mt_status status = begin_task(exchange, false, err);
    if (status != MT_OK)
        return status;
    status = mt_engine_submit(exchange->request.model->engine, &exchange->job, err);
    if (status == MT_OK)
        mt_connections_watch_stream(exchange->http->connections, exchange->slot);
    else
        take_task_back(exchange);
    return status;
}

static void load_model(struct mt_exchange *exchange, struct mt_served_model *served)
{
    struct mt_error err;
    mt_exchange_describe_wait(exchange, served);
    exchange->wait.on_done = model_done;
    enum mt_status status = begin_task(exchange, true, &err);
    if (status == MT_OK) {
        if (mt_served_model_wait(served, &exchange->wait, &err) == MT_OK) {
            mt_connections_watch_stream(exchange->http->connections, exchange->slot);
            return;
        }
        take_task_back(exchange);
    }
    mt_exchange_fail_wait(exchange, &err);
    append_error(exchange);
}

/* With the round's model. False: nothing has to be decoded. */
static bool run_round(struct mt_exchange *exchange)
{
    struct mt_error err;
    if (mt_exchange_begin_round(exchange, &err) != MT_OK) {
        append_failure(exchange, &err);
    } else if (exchange->request.n_sentences == 0) {
        return false;
    } else if (submit(exchange, &err) != MT_OK) {
        mt_exchange_refuse_job(exchange, &err);
        append_error(exchange);
    }
    return true;
}

/* The round has ended, and all of it was sent. */
static void next_round(struct mt_exchange *exchange)
{
    struct mt_served_model *served;
    struct mt_error err;
    mt_connections_forget_work(exchange->http->connections, exchange->slot);
    if (mt_exchange_choose(exchange, &served, &err) != MT_OK)
        append_failure(exchange, &err);
    else if (exchange->request.goes_on)
        mt_bell_ring(&exchange->stream.bell);
    else if (served == NULL)
        append_result(exchange);
    else if (exchange->request.model == NULL)
        load_model(exchange, served);
    else if (!run_round(exchange)) /* what is blank may be sent before the next one */
        mt_bell_ring(&exchange->stream.bell);
}

static void end_wait(struct mt_exchange *exchange)
{
    mt_connections_forget_work(exchange->http->connections, exchange->slot);
    exchange->stream.is_loading = false;
    if (exchange->wait_status == MT_OK) {
        if (!run_round(exchange))
            mt_bell_ring(&exchange->stream.bell);
        return;
    }
    mt_exchange_fail_wait(exchange, &exchange->wait.err);
    append_error(exchange);
}

/* ---- events ---- */

/* While sentences are decoded, and after that. */
static void collect_pieces(struct mt_exchange *exchange, bool has_ended)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    struct mt_error err;
    if (has_ended && exchange->job_status != MT_OK) {
        mt_exchange_fail_job(exchange);
        append_error(exchange);
        return;
    }
    if (mt_exchange_refuse_damaged(exchange)) {
        append_error(exchange);
        return;
    }
    if (exchange->route->handler->advance(&exchange->request, &stream->events, &err) != MT_OK) {
        stream->events.length = 0;
        append_failure(exchange, &err);
        return;
    }
    if (stream->events.length > 0)
        stream->has_pieces = true;
    else if (has_ended)
        next_round(exchange);
}

/* What has become known since the last time; nothing where nothing has. */
static void collect_events(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    mt_bell_hear(&stream->bell);
    if (atomic_load(&stream->was_stopped) && !atomic_load(&stream->has_ended))
        end_task(exchange);
    bool has_ended = atomic_load(&stream->has_ended);
    if (!stream->is_loading)
        collect_pieces(exchange, has_ended);
    else if (has_ended)
        end_wait(exchange);
}

/* Whether there is something to send. */
static bool refill(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    if (stream->n_sent < stream->events.length)
        return true;
    if (stream->is_over)
        return false;
    mt_connections_enter(exchange->http->connections, exchange->slot, MT_PHASE_STREAM);
    stream->events.length = stream->n_sent = 0;
    collect_events(exchange);
    bool wants_comment = atomic_exchange(&stream->wants_comment, false);
    if (wants_comment && stream->events.length == 0)
        mt_event_comment(&stream->events);
    if (stream->events.status != MT_OK) {
        stream->events.length = 0;
        stream->is_broken = true;
        end_stream(exchange);
    }
    return stream->events.length > 0;
}

/* libmicrohttpd asks for more. 0 with the connection suspended: later. */
static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t n_max)
{
    (void)position;
    struct mt_exchange *exchange = context;
    struct mt_exchange_stream *stream = &exchange->stream;
    if (refill(exchange)) {
        size_t n = mt_size_min(n_max, stream->events.length - stream->n_sent);
        memcpy(buffer, stream->events.bytes + stream->n_sent, n);
        stream->n_sent += n;
        return (ssize_t)n;
    }
    if (stream->is_broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->is_over)
        return MHD_CONTENT_READER_END_OF_STREAM;
    MHD_suspend_connection(exchange->connection);
    if (!mt_bell_rest(&stream->bell))
        MHD_resume_connection(exchange->connection);
    return 0;
}

enum mt_status mt_exchange_stream_begin(struct mt_exchange *exchange, enum MHD_Result *result,
                                        struct mt_error *err)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    struct mt_reply *reply = &exchange->request.reply;
    mt_bell_init(&stream->bell, wake, exchange);
    stream->events.limit_bytes = MT_MAX_REPLY_BYTES;
    atomic_init(&stream->has_ended, true);
    exchange->job_status = MT_OK;
    exchange->is_streaming = true;
    enum mt_status status = exchange->request.n_sentences > 0 ? submit(exchange, err) : MT_OK;
    if (status != MT_OK) {
        exchange->is_streaming = false;
        return status;
    }
    reply->code = 200;
    reply->content_type = MT_EVENTS_TYPE;
    mt_reply_header(reply, "Cache-Control", "no-cache");
    mt_reply_header(reply, "X-Accel-Buffering", "no"); /* nginx would collect events */
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                                      read_events, exchange, NULL);
    *result = response != NULL ? mt_exchange_queue(exchange, response) : MHD_NO;
    return MT_OK;
}

void mt_exchange_stream_leave(struct mt_exchange *exchange)
{
    mt_connections_leave_work(exchange->http->connections, exchange->slot, exchange);
    mt_bell_silence(&exchange->stream.bell);
    if (atomic_load(&exchange->stream.has_ended))
        return;
    if (!exchange->stream.is_over)
        mt_exchange_count_rejection(exchange, MT_REJECTED_CLIENT_GONE);
    cancel_task(exchange);
}
