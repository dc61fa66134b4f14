#include "server/exchange_state.h"

#include "base/clock.h"
#include "base/size.h"
#include "config/settings.h"
#include "server/client.h"
#include "server/connections.h"
#include "server/router.h"

/* ---- what goes wrong ---- */

bool mt_exchange_refuse_damaged(struct mt_exchange *exchange)
{
    const struct mt_loaded_model *model = exchange->request.model;
    struct mt_error err;
    if (model == NULL || mt_served_model_check(model->served, &err) == MT_OK)
        return false;
    mt_exchange_count_rejection(exchange, MT_REJECTED_DAMAGED);
    mt_reply_failure(&exchange->request.reply, &err);
    return true;
}

void mt_exchange_refuse_job(struct mt_exchange *exchange, const struct mt_error *err)
{
    mt_reply_failure(&exchange->request.reply, err);
    if (err->status == MT_BUSY)
        mt_exchange_count_rejection(exchange, MT_REJECTED_QUEUE_FULL);
    else if (err->status == MT_THROTTLED)
        mt_exchange_count_rejection(exchange, MT_REJECTED_SHARE);
    else if (err->status == MT_CANCELLED)
        mt_exchange_count_rejection(exchange, MT_REJECTED_DRAINING);
}

/* Most of what a daemon does that is asked for far more than it can do is to refuse, which is a
 * third cheaper before the text has been read, split and tokenized. Keys and rates have not been
 * looked at yet, either. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange)
{
    const struct mt_handler *handler = exchange->route->handler;
    struct mt_error err;
    if (handler->choose == NULL || handler->begin == NULL)
        return false;
    bool is_full = mt_engine_check_room(exchange->request.service->engine, &err) != MT_OK;
    mt_http_give_way(exchange->http, is_full);
    if (is_full)
        mt_exchange_refuse_job(exchange, &err);
    return is_full;
}

static void fail_late(struct mt_exchange *exchange)
{
    struct mt_error err;
    mt_exchange_count_rejection(exchange, MT_REJECTED_TIMEOUT);
    mt_fail(&err, MT_TIMEOUT, "the request took longer than %.1f s",
            (double)exchange->timeout_ns * 1e-9);
    mt_reply_failure(&exchange->request.reply, &err);
}

static void fail_cancelled(struct mt_exchange *exchange)
{
    struct mt_error err;
    mt_exchange_count_rejection(exchange, exchange->has_left ? MT_REJECTED_CLIENT_GONE
                                                             : MT_REJECTED_DRAINING);
    mt_fail(&err, MT_CANCELLED, "the server is shutting down");
    exchange->request.reply.close = true;
    mt_reply_failure(&exchange->request.reply, &err);
}

void mt_exchange_fail_job(struct mt_exchange *exchange)
{
    if (exchange->job_status == MT_TIMEOUT)
        fail_late(exchange);
    else
        fail_cancelled(exchange);
}

/* What is wrong with a model's files is the operator's business: the log says it, and the admin
 * socket. Clients are told which model it is, or that it was damaged, which names no file. */
static void fail_load(struct mt_exchange *exchange)
{
    struct mt_served_model_status status;
    struct mt_error err;
    mt_exchange_count_rejection(exchange, MT_REJECTED_MODEL);
    mt_served_model_describe(exchange->awaited, &status);
    if (status.is_damaged)
        mt_fail(&err, MT_BUSY, "%s", status.reason);
    else
        mt_fail(&err, MT_BUSY, "the model %s cannot be served now",
                mt_served_model_info(exchange->awaited)->id);
    mt_reply_failure(&exchange->request.reply, &err);
}

void mt_exchange_fail_wait(struct mt_exchange *exchange, const struct mt_error *err)
{
    if (err->status == MT_TIMEOUT) {
        fail_late(exchange);
    } else if (err->status == MT_CANCELLED) {
        fail_cancelled(exchange);
    } else {
        fail_load(exchange);
    }
}

/* ---- a round ---- */

/* How many sentences of the client may wait; 0: any number. */
static size_t queue_share(const struct mt_exchange *exchange)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    const struct mt_address *peer = mt_connection_address(exchange->slot);
    bool is_local =
        exchange->request.access.client == mt_address_client(peer) && mt_address_is_loopback(peer);
    if (settings->max_client_sentences > 0)
        return (size_t)settings->max_client_sentences;
    return is_local ? 0 : (size_t)(settings->max_queued_sentences + 1) / 2;
}

/* The next model may find more sentences in the same text. */
#define CONTINUED_FACTOR 2

/* A round that follows another is no newcomer: where it were refused, the work of those before
 * would be lost. But a short text opens no door for a long one in another language. */
static size_t n_continued(const struct mt_exchange *exchange)
{
    const struct mt_job *former = &exchange->job; /* it ended well, or there was none */
    return mt_size_max(former->n_continued, CONTINUED_FACTOR * former->n_sentences);
}

/* More than there can ever be room for would be refused for ever as if they only came too early. Of
 * a client's share one request may have more, where it is the only one. */
static enum mt_status check_sentences(const struct mt_request *request, size_t n_continued,
                                      struct mt_error *err)
{
    size_t limit = (size_t)request->service->settings->max_queued_sentences;
    if (request->n_sentences > mt_size_max(limit, n_continued))
        return mt_fail(err, MT_LIMIT, "the request has %zu sentences: at most %zu",
                       request->n_sentences, limit);
    return MT_OK;
}

enum mt_status mt_exchange_choose(struct mt_exchange *exchange, struct mt_served_model **out,
                                  struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    *out = NULL;
    request->goes_on = false;
    request->until_ns = mt_exchange_end_until(exchange);
    enum mt_status status = exchange->route->handler->choose(request, out, err);
    if (status != MT_OK || *out == NULL)
        return status;
    if (request->model != NULL && request->model->served == *out)
        return MT_OK;
    /* No request holds one model while it waits for another: where memory is for one alone, two
     * such requests would wait for each other. */
    mt_exchange_let_go_of_model(exchange);
    request->model = mt_served_model_hold(*out);
    return MT_OK;
}

enum mt_status mt_exchange_begin_round(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    size_t n_expected = n_continued(exchange);
    if (!request->goes_on)
        request->n_sentences = request->n_made = 0;
    request->max_made =
        2 * mt_size_max((size_t)request->service->settings->max_queued_sentences, n_expected);
    request->goes_on = false;
    request->until_ns = mt_exchange_begin_until(exchange);
    const struct mt_handler *handler = exchange->route->handler;
    enum mt_status status = handler->begin != NULL ? handler->begin(request, err) : MT_OK;
    if (status != MT_OK || request->goes_on)
        return status;
    status = check_sentences(request, n_expected, err);
    exchange->job = (struct mt_job){
        .sentences = request->sentences,
        .n_sentences = request->n_sentences,
        .lane = request->model->lane,
        .client = request->access.client,
        .max_client_sentences = queue_share(exchange),
        .n_continued = n_expected,
        .deadline_ns = exchange->deadline_ns,
        .user = exchange,
    };
    return status;
}

void mt_exchange_describe_wait(struct mt_exchange *exchange, struct mt_served_model *served)
{
    exchange->awaited = served;
    exchange->wait = (struct mt_model_wait){.deadline_ns = exchange->deadline_ns, .user = exchange};
}

/* ---- with the connection suspended ---- */

static enum MHD_Result finish_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    if (exchange->route->handler->finish(request, &err) != MT_OK)
        return mt_exchange_send_failure(exchange, &err);
    if (request->reply.code == 0)
        request->reply.code = 200;
    return mt_exchange_send(exchange);
}

/* A worker's thread. After leave_work nobody cancels, and after resume the exchange may be gone;
 * libmicrohttpd goes when no work is counted, so that comes last. */
static void job_done(struct mt_job *job, enum mt_status status)
{
    struct mt_exchange *exchange = job->user;
    struct mt_connections *connections = exchange->http->connections;
    struct MHD_Connection *connection = exchange->connection;
    exchange->job_status = status;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    MHD_resume_connection(connection);
    mt_connections_count_done(connections);
}

enum MHD_Result mt_exchange_refuse_work(struct mt_exchange *exchange)
{
    fail_cancelled(exchange);
    return mt_exchange_send(exchange);
}

/* Suspends first: the job may end before mt_engine_submit returns. */
static enum MHD_Result run_sentences(struct mt_exchange *exchange)
{
    struct mt_http *http = exchange->http;
    struct mt_error err;
    if (!mt_connections_begin_work(http->connections, exchange->slot, exchange))
        return mt_exchange_refuse_work(exchange);
    exchange->stage = STAGE_RUNNING;
    exchange->job.on_done = job_done;
    MHD_suspend_connection(exchange->connection);
    enum mt_status status = mt_engine_submit(exchange->request.model->engine, &exchange->job, &err);
    if (status == MT_OK) {
        mt_connections_watch_work(http->connections, exchange->slot, exchange->is_http_1_1);
        return MHD_YES;
    }
    mt_exchange_refuse_job(exchange, &err); /* the reply waits until the connection is back */
    mt_connections_end_work(http->connections, exchange->slot);
    MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

/* A thread of the models' host; as job_done. */
static void model_done(struct mt_model_wait *wait, enum mt_status status)
{
    struct mt_exchange *exchange = wait->user;
    struct mt_connections *connections = exchange->http->connections;
    struct MHD_Connection *connection = exchange->connection;
    exchange->wait_status = status;
    exchange->request.model = wait->model;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    MHD_resume_connection(connection);
    mt_connections_count_done(connections);
}

static enum MHD_Result load_model(struct mt_exchange *exchange, struct mt_served_model *served)
{
    struct mt_connections *connections = exchange->http->connections;
    struct mt_error err;
    if (!mt_connections_begin_work(connections, exchange->slot, exchange))
        return mt_exchange_refuse_work(exchange);
    exchange->stage = STAGE_LOADING;
    exchange->is_waiting = true;
    exchange->is_wait_ours = false;
    mt_exchange_describe_wait(exchange, served);
    exchange->wait.on_done = model_done;
    MHD_suspend_connection(exchange->connection);
    if (mt_served_model_wait(served, &exchange->wait, &err) == MT_OK) {
        mt_connections_watch_work(connections, exchange->slot, exchange->is_http_1_1);
        return MHD_YES;
    }
    exchange->is_wait_ours = true;
    mt_exchange_fail_wait(exchange, &err);
    MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

void mt_exchange_cancel(struct mt_exchange *exchange, bool has_left)
{
    bool is_loading =
        exchange->is_streaming ? exchange->stream.is_loading : exchange->stage == STAGE_LOADING;
    exchange->has_left |= has_left;
    if (exchange->is_in_line) {
        mt_exchange_stop_waiting_for_turn(exchange);
    } else if (!is_loading) {
        mt_engine_cancel(exchange->request.model->engine, &exchange->job);
    } else if (exchange->is_streaming) {
        mt_exchange_stream_stop(exchange);
    } else if (mt_served_model_stop_waiting(exchange->awaited, &exchange->wait)) {
        exchange->wait_status = mt_fail(&exchange->wait.err, MT_CANCELLED, "nobody waits for it");
        exchange->is_wait_ours = true;
        MHD_resume_connection(exchange->connection);
    }
}

/* ---- from round to round ---- */

static enum MHD_Result stream_reply(struct mt_exchange *exchange)
{
    struct mt_error err;
    enum MHD_Result result;
    if (mt_exchange_stream_begin(exchange, &result, &err) == MT_OK)
        return result;
    mt_exchange_refuse_job(exchange, &err);
    return mt_exchange_send(exchange);
}

static enum MHD_Result begin_round(struct mt_exchange *exchange);

/* With the round's model. False: it has ended at once, because nothing had to be decoded. */
static bool run_round(struct mt_exchange *exchange, enum MHD_Result *result)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    if (mt_exchange_begin_round(exchange, &err) != MT_OK)
        *result = mt_exchange_send_failure(exchange, &err);
    else if (request->reply.code != 0)
        *result = mt_exchange_send(exchange);
    else if (request->goes_on)
        *result = mt_exchange_go_on(exchange, begin_round);
    else if (request->n_sentences == 0 && !request->is_streamed)
        return false;
    else if (mt_exchange_refuse_damaged(exchange))
        *result = mt_exchange_send(exchange);
    else
        *result = request->is_streamed ? stream_reply(exchange) : run_sentences(exchange);
    return true;
}

static enum MHD_Result end_round(struct mt_exchange *exchange);

static enum MHD_Result next_round(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    enum MHD_Result result;
    do {
        struct mt_served_model *served;
        struct mt_error err;
        if (mt_exchange_choose(exchange, &served, &err) != MT_OK)
            return mt_exchange_send_failure(exchange, &err);
        if (request->reply.code != 0)
            return mt_exchange_send(exchange);
        if (request->goes_on)
            return mt_exchange_go_on(exchange, end_round);
        if (served == NULL)
            return request->is_streamed ? stream_reply(exchange) : finish_request(exchange);
        if (request->model == NULL)
            return load_model(exchange, served);
    } while (!run_round(exchange, &result));
    return result;
}

static enum MHD_Result begin_round(struct mt_exchange *exchange)
{
    enum MHD_Result result;
    return run_round(exchange, &result) ? result : next_round(exchange);
}

/* Its sentences have ended well. */
static enum MHD_Result end_round(struct mt_exchange *exchange)
{
    return mt_exchange_refuse_damaged(exchange) ? mt_exchange_send(exchange) : next_round(exchange);
}

enum MHD_Result mt_exchange_work(struct mt_exchange *exchange)
{
    const struct mt_handler *handler = exchange->route->handler;
    struct mt_error err;
    exchange->is_begun = true;
    if (handler->choose != NULL)
        return next_round(exchange);
    if (handler->begin != NULL && handler->begin(&exchange->request, &err) != MT_OK)
        return mt_exchange_send_failure(exchange, &err);
    return exchange->request.reply.code != 0 ? mt_exchange_send(exchange)
                                             : finish_request(exchange);
}

void mt_exchange_end_wait(struct mt_exchange *exchange)
{
    if (!exchange->is_waiting)
        return;
    exchange->is_waiting = false;
    if (exchange->is_wait_ours)
        mt_connections_end_work(exchange->http->connections, exchange->slot);
    mt_connections_forget_work(exchange->http->connections, exchange->slot);
}

static enum MHD_Result end_loading(struct mt_exchange *exchange)
{
    mt_exchange_end_wait(exchange);
    if (exchange->request.reply.code == 0 && exchange->wait_status != MT_OK)
        mt_exchange_fail_wait(exchange, &exchange->wait.err);
    if (exchange->request.reply.code != 0)
        return mt_exchange_send(exchange);
    return mt_exchange_begin(exchange, begin_round);
}

static enum MHD_Result end_job(struct mt_exchange *exchange)
{
    mt_connections_forget_work(exchange->http->connections, exchange->slot);
    if (exchange->request.reply.code == 0 && exchange->job_status != MT_OK)
        mt_exchange_fail_job(exchange);
    if (exchange->request.reply.code != 0)
        return mt_exchange_send(exchange);
    return mt_exchange_end(exchange, end_round);
}

enum MHD_Result mt_exchange_resume(struct mt_exchange *exchange)
{
    return exchange->stage == STAGE_LOADING ? end_loading(exchange) : end_job(exchange);
}
