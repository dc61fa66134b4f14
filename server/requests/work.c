#include "server/requests/exchange.h"

#include "base/clock.h"
#include "base/size.h"
#include "base/vector.h"
#include "config/settings.h"
#include "server/engine/result_cache.h"
#include "server/http/client.h"
#include "server/http/router.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A longer request may take more than some milliseconds to split and tokenize. */
#define MAX_SHORT_BYTES ((size_t)4096)

/* ---- what goes wrong ---- */

static enum mt_stop why_stopped(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    enum mt_stop why = exchange->stop;
    pthread_mutex_unlock(&exchange->mutex);
    return why;
}

/* Whether the model's weights are damaged; if so, makes the reply that says it. */
static bool refuse_damaged(struct mt_exchange *exchange)
{
    const struct mt_loaded_model *model = exchange->request.model;
    struct mt_error err;
    if (!model || mt_served_model_check(model->served, &err) == MT_OK)
        return false;
    mt_exchange_count_rejection(exchange, MT_REJECTED_DAMAGED);
    mt_reply_failure(&exchange->request.reply, &err);
    return true;
}

static void refuse_job(struct mt_exchange *exchange, const struct mt_error *err)
{
    mt_reply_failure(&exchange->request.reply, err);
    if (err->status == MT_BUSY)
        mt_exchange_count_rejection(exchange, MT_REJECTED_QUEUE_FULL);
    else if (err->status == MT_THROTTLED)
        mt_exchange_count_rejection(exchange, MT_REJECTED_SHARE);
    else if (err->status == MT_CANCELLED)
        mt_exchange_fail_cancelled(exchange);
}

/* A daemon that is asked for far more than it can do mostly refuses. To refuse is a third cheaper
 * before the text has been read, split and tokenized. Keys and rates have not been checked at this
 * point. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange)
{
    const struct mt_handler *handler = exchange->route->handler;
    struct mt_error err;
    if (!handler->choose || !handler->begin)
        return false;
    bool is_full = mt_engine_check_room(exchange->request.service->engine, &err) != MT_OK;
    if (is_full)
        refuse_job(exchange, &err);
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

void mt_exchange_fail_cancelled(struct mt_exchange *exchange)
{
    struct mt_error err;
    mt_exchange_count_rejection(exchange, why_stopped(exchange) == MT_STOP_LEFT
                                              ? MT_REJECTED_CLIENT_GONE
                                              : MT_REJECTED_DRAINING);
    mt_fail(&err, MT_CANCELLED, "the server is shutting down");
    exchange->request.reply.close = true;
    mt_reply_failure(&exchange->request.reply, &err);
}

static void fail_job(struct mt_exchange *exchange)
{
    if (exchange->job_status == MT_TIMEOUT)
        fail_late(exchange);
    else
        mt_exchange_fail_cancelled(exchange);
}

/* What is wrong with a model's files concerns the operator, so it is told in the log and on the
 * admin socket. Clients are told which model it is, or that it was damaged, but no file's name. */
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

static void fail_wait(struct mt_exchange *exchange, const struct mt_error *err)
{
    if (err->status == MT_TIMEOUT) {
        fail_late(exchange);
    } else if (err->status == MT_CANCELLED) {
        mt_exchange_fail_cancelled(exchange);
    } else {
        fail_load(exchange);
    }
}

/* ---- a round ---- */

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
    if (MT_ROOM(&request->sentences, &request->sentence_capacity, request->n_sentences + 1,
                "sentences", err))
        return MT_MEMORY;
    request->sentences[request->n_sentences++] = sentence;
    return MT_OK;
}

/* Returns how many sentences of the client may wait in the queue; 0: any number. */
static size_t queue_share(const struct mt_exchange *exchange)
{
    const struct mt_settings *settings = exchange->request.service->settings;
    const struct mt_address *peer = &exchange->peer;
    bool is_local =
        exchange->request.access.client == mt_address_client(peer) && mt_address_is_loopback(peer);
    if (settings->max_client_sentences > 0)
        return (size_t)settings->max_client_sentences;
    return is_local ? 0 : (size_t)(settings->max_queued_sentences + 1) / 2;
}

/* The next model may split the text into more sentences, but at most into this many times as
 * many. */
#define FOLLOW_UP_FACTOR 2

/* A follow-up round may exceed the client's share of the queue, because a refusal would waste the
 * rounds before it; but not by much, or a short text could let in a long one in another
 * language. */
static size_t n_follow_up(const struct mt_exchange *exchange)
{
    const struct mt_job *former = &exchange->job; /* it ended well, or there was none */
    return mt_size_max(former->n_follow_up, FOLLOW_UP_FACTOR * former->n_sentences);
}

/* Refuses what the queue can never hold. Told to try again, the client would do so for ever. */
static enum mt_status check_sentences(const struct mt_request *request, size_t n_follow_up,
                                      struct mt_error *err)
{
    size_t limit = (size_t)request->service->settings->max_queued_sentences;
    if (request->n_sentences > mt_size_max(limit, n_follow_up))
        return mt_fail(err, MT_LIMIT, "the request has %zu sentences: at most %zu",
                       request->n_sentences, limit);
    return MT_OK;
}

/* Asks the handler for the next round's model. Where there is no further round *out is NULL, and
 * request.model stays. Otherwise request.model becomes the model, or NULL where it is not loaded.
 * */
static enum mt_status choose(struct mt_exchange *exchange, struct mt_served_model **out,
                             struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    *out = NULL;
    enum mt_status status = exchange->route->handler->choose(request, out, err);
    if (status || !*out)
        return status;
    if (request->model && request->model->served == *out)
        return MT_OK;
    /* No request holds one model while it waits for another: where there is memory for one model
     * only, two such requests would wait for each other. */
    mt_exchange_let_go_of_model(exchange);
    request->model = mt_served_model_hold(*out);
    return MT_OK;
}

/* Notes the model's id for the log, once, as long as there is room. */
static void record_model(struct mt_exchange *exchange, const char *id)
{
    struct mt_exchange_record *record = &exchange->record;
    size_t n = strlen(record->models), n_id = strlen(id);
    bool is_there = false;
    for (const char *name = record->models; *name != '\0' && !is_there;
         name += strcspn(name, ","), name += *name == ',')
        is_there = strcspn(name, ",") == n_id && strncmp(name, id, n_id) == 0;
    if (is_there || n + n_id + 2 > sizeof record->models)
        return;
    pthread_mutex_lock(&exchange->mutex);
    if (n > 0)
        record->models[n++] = ',';
    memcpy(record->models + n, id, n_id + 1);
    pthread_mutex_unlock(&exchange->mutex);
}

/* Drops the sentences that an earlier round has decoded. */
static void recall(struct mt_request *request)
{
    size_t n = 0;
    for (size_t i = 0; i < request->n_sentences; i++)
        if (!mt_result_cache_recall(request->service->results, request->sentences[i]))
            request->sentences[n++] = request->sentences[i];
    request->n_sentences = n;
}

static void keep(const struct mt_request *request)
{
    for (size_t i = 0; request->service->results && i < request->n_sentences; i++)
        mt_result_cache_keep(request->service->results, request->sentences[i]);
}

/* Has the handler add the round's sentences, and describes them as a job. */
static enum mt_status prepare_round(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    size_t n_expected = n_follow_up(exchange);
    if (exchange->record.is_wanted)
        record_model(exchange, mt_served_model_info(request->model->served)->id);
    request->n_sentences = request->n_made = 0;
    request->max_made =
        2 * mt_size_max((size_t)request->service->settings->max_queued_sentences, n_expected);
    const struct mt_handler *handler = exchange->route->handler;
    enum mt_status status = handler->begin ? handler->begin(request, err) : MT_OK;
    if (status)
        return status;
    recall(request);
    status = check_sentences(request, n_expected, err);
    exchange->job = (struct mt_job){
        .sentences = request->sentences,
        .n_sentences = request->n_sentences,
        .lane = request->model->lane,
        .client = request->access.client,
        .max_client_sentences = queue_share(exchange),
        .n_follow_up = n_expected,
        .deadline_ns = exchange->deadline_ns,
        .user = exchange,
    };
    return status;
}

/* ---- text threads ---- */

static void run_step(struct mt_text_task *task)
{
    struct mt_exchange *exchange =
        (struct mt_exchange *)((char *)task - offsetof(struct mt_exchange, task));
    exchange->step(exchange);
}

/* Has a text thread do the step. is_ending: the step frees memory (text_threads.h). */
static void submit_step(struct mt_exchange *exchange, mt_exchange_step *step, bool is_ending)
{
    exchange->step = step;
    exchange->task.run = run_step;
    exchange->task.is_ending = is_ending;
    exchange->task.client = exchange->address;
    exchange->task.deadline_ns = is_ending ? INT64_MAX : exchange->deadline_ns;
    mt_text_threads_submit(exchange->http->options.text_threads, &exchange->task);
}

static void begin_request(struct mt_exchange *exchange);
static void end_loading(struct mt_exchange *exchange);
static void retry(struct mt_exchange *exchange);
static void end_job(struct mt_exchange *exchange);
static void collect(struct mt_exchange *exchange);
static void end_work(struct mt_exchange *exchange);

/* Gives the exchange to a text thread. Called with the mutex held, like those that follow. */
static void work_on(struct mt_exchange *exchange, mt_exchange_step *step, bool is_ending)
{
    exchange->state = MT_WORKING;
    submit_step(exchange, step, is_ending);
}

void mt_exchange_go_on(struct mt_exchange *exchange)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    bool has_ended = exchange->state == MT_PAUSED;
    bool is_due = has_ended || (exchange->state == MT_DECODING && stream->has_events);
    if (!is_due || (!mt_exchange_is_sent(exchange) && exchange->stop == MT_GO_ON))
        return;
    stream->has_events = false;
    exchange->state = has_ended ? MT_WORKING : MT_COLLECTING;
    submit_step(exchange, has_ended ? end_job : collect, true);
}

/* ---- what is waited for ---- */

/* Called by a worker's thread. */
static void on_progress(struct mt_job *job)
{
    struct mt_exchange *exchange = job->user;
    pthread_mutex_lock(&exchange->mutex);
    exchange->stream.has_events = true;
    mt_exchange_go_on(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* Called by the thread that has the job, which is not in the engine. */
static void give_share_back(struct mt_exchange *exchange)
{
    atomic_fetch_sub(&exchange->http->n_detached_sentences, exchange->n_detached_sentences);
    exchange->n_detached_sentences = 0;
}

/* Called by a worker's thread. Where no other request wants the worker, it writes a short reply
 * itself, which saves waking another thread. */
static void job_done(struct mt_job *job, enum mt_status status)
{
    struct mt_exchange *exchange = job->user;
    bool is_at_once = false;
    pthread_mutex_lock(&exchange->mutex);
    exchange->job_status = status;
    give_share_back(exchange);
    mt_account_add(&exchange->record.account, job);
    if (exchange->state == MT_COLLECTING) {
        exchange->state = MT_WORKING;
    } else if (exchange->state == MT_ENDING) {
        work_on(exchange, end_work, true);
    } else if (exchange->stream.is_open) {
        exchange->state = MT_PAUSED;
        mt_exchange_go_on(exchange);
    } else {
        is_at_once = job->was_last && job->n_sentences == 1 && !exchange->task.is_long;
        if (is_at_once)
            exchange->state = MT_WORKING;
        else
            work_on(exchange, end_job, true);
    }
    pthread_mutex_unlock(&exchange->mutex);
    if (is_at_once)
        end_job(exchange);
}

/* Called by a thread of the models' host. */
static void model_done(struct mt_model_wait *wait, enum mt_status status)
{
    struct mt_exchange *exchange = wait->user;
    pthread_mutex_lock(&exchange->mutex);
    exchange->wait_status = status;
    exchange->request.model = wait->model;
    work_on(exchange, end_loading, false);
    pthread_mutex_unlock(&exchange->mutex);
}

/* Hands the job to the engine or, while the model is not loaded, the wait to the models' host.
 * After MT_OK this thread has no right to the exchange any more. MT_CANCELLED also where the work
 * was. */
static enum mt_status run_job(struct mt_exchange *exchange, struct mt_error *err)
{
    bool is_streamed = exchange->request.is_streamed;
    exchange->job.on_done = job_done;
    exchange->job.on_progress = is_streamed ? on_progress : NULL;
    pthread_mutex_lock(&exchange->mutex); /* on_done takes it, so it comes after this */
    enum mt_status status =
        exchange->stop != MT_GO_ON
            ? mt_fail(err, MT_CANCELLED, "the server is shutting down")
            : mt_engine_submit(exchange->request.model->engine, &exchange->job, err);
    if (!status) {
        exchange->state = MT_DECODING;
        if (is_streamed && !exchange->stream.is_open)
            mt_exchange_return(exchange); /* the head of the reply can be sent */
        exchange->stream.is_open = is_streamed;
    }
    pthread_mutex_unlock(&exchange->mutex);
    return status;
}

static enum mt_status wait_for_model(struct mt_exchange *exchange, struct mt_served_model *served,
                                     struct mt_error *err)
{
    exchange->awaited = served;
    exchange->wait = (struct mt_model_wait){
        .deadline_ns = exchange->deadline_ns, .user = exchange, .on_done = model_done};
    pthread_mutex_lock(&exchange->mutex);
    enum mt_status status = exchange->stop != MT_GO_ON
                                ? mt_fail(err, MT_CANCELLED, "the server is shutting down")
                                : mt_served_model_wait(served, &exchange->wait, err);
    if (!status)
        exchange->state = MT_LOADING;
    pthread_mutex_unlock(&exchange->mutex);
    return status;
}

void mt_exchange_cancel(struct mt_exchange *exchange, enum mt_stop why)
{
    pthread_mutex_lock(&exchange->mutex);
    if (exchange->stop < why)
        exchange->stop = why;
    switch (exchange->state) {
    case MT_LOADING:
        if (!mt_served_model_stop_waiting(exchange->awaited, &exchange->wait))
            break; /* model_done is going to be called */
        exchange->wait_status = mt_fail(&exchange->wait.err, MT_CANCELLED, "nobody waits for it");
        work_on(exchange, end_loading, false);
        break;
    case MT_DECODING:
    case MT_COLLECTING:
    case MT_ENDING:
        mt_engine_cancel(exchange->request.model->engine, &exchange->job);
        break;
    case MT_WORKING:
        mt_text_threads_prioritise(exchange->http->options.text_threads, &exchange->task);
        break;
    case MT_PAUSED:
        mt_exchange_go_on(exchange);
        break;
    case MT_WAITING:
        work_on(exchange, retry, false);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&exchange->mutex);
}

void mt_exchange_cancel_detached(struct mt_http *http)
{
    for (struct mt_exchange *exchange = http->detached.first; exchange;
         exchange = exchange->next_detached)
        mt_exchange_cancel(exchange, MT_STOP_SERVER);
}

void mt_exchange_retry_detached(struct mt_http *http)
{
    for (struct mt_exchange *exchange = http->detached.first; exchange;
         exchange = exchange->next_detached) {
        pthread_mutex_lock(&exchange->mutex);
        if (exchange->state == MT_WAITING)
            work_on(exchange, retry, false);
        pthread_mutex_unlock(&exchange->mutex);
    }
}

/* ---- the end of the work ---- */

/* From now on nothing is needed but what has to be sent. */
static void end_work(struct mt_exchange *exchange)
{
    mt_exchange_free_work(exchange);
    pthread_mutex_lock(&exchange->mutex);
    exchange->state = MT_DONE;
    mt_exchange_return(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* The last event has been appended. Where the job still runs, it is told to end. */
static void end_stream(struct mt_exchange *exchange)
{
    pthread_mutex_lock(&exchange->mutex);
    bool runs = exchange->state == MT_COLLECTING;
    if (runs) {
        exchange->state = MT_ENDING;
        mt_engine_cancel(exchange->request.model->engine, &exchange->job);
        mt_exchange_return(exchange);
    }
    pthread_mutex_unlock(&exchange->mutex);
    if (!runs)
        end_work(exchange);
}

/* The reply is complete. */
static void respond(struct mt_exchange *exchange)
{
    if (exchange->stream.is_open) {
        mt_exchange_say_last(exchange);
        end_stream(exchange);
        return;
    }
    if (!exchange->is_answered)
        mt_exchange_make_response(exchange);
    end_work(exchange);
}

static void respond_failure(struct mt_exchange *exchange, const struct mt_error *err)
{
    mt_exchange_fail(exchange, err);
    respond(exchange);
}

/* ---- from round to round ---- */

static void finish_request(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    if (exchange->route->handler->finish(request, &err) != MT_OK)
        mt_reply_failure(&request->reply, &err);
    else if (request->reply.code == 0)
        request->reply.code = 200;
}

/* Pauses until the events have been sent. has_more: the handler may have more at once. */
static void pause_stream(struct mt_exchange *exchange, bool has_more)
{
    struct mt_exchange_stream *stream = &exchange->stream;
    pthread_mutex_lock(&exchange->mutex);
    exchange->state = exchange->state == MT_COLLECTING ? MT_DECODING : MT_PAUSED;
    if (!stream->is_open || !mt_exchange_is_sent(exchange))
        mt_exchange_return(exchange);
    stream->is_open = true;
    stream->has_events |= has_more;
    mt_exchange_go_on(exchange);
    pthread_mutex_unlock(&exchange->mutex);
}

/* Work whose client already has its reply gets a quarter of the queue altogether, half of what one
 * client may have there, so that clients who wait find room. A larger round runs alone. */
#define DETACHED_SHARE 4

static bool take_share(struct mt_exchange *exchange)
{
    atomic_size_t *all = &exchange->http->n_detached_sentences;
    size_t n = exchange->request.n_sentences, now = atomic_load(all);
    size_t limit =
        (size_t)exchange->request.service->settings->max_queued_sentences / DETACHED_SHARE;
    do {
        if (now > 0 && now + n > limit)
            return false;
    } while (!atomic_compare_exchange_weak(all, &now, now + n));
    exchange->n_detached_sentences = n;
    return true;
}

/* Like run_job, but a request that was accepted waits where the queue has no room yet: MT_OK. */
static enum mt_status run_detached_job(struct mt_exchange *exchange, struct mt_error *err)
{
    enum mt_status status = MT_BUSY;
    if (take_share(exchange)) {
        status = run_job(exchange, err);
        if (status)
            give_share_back(exchange);
    }
    if (status != MT_BUSY && status != MT_THROTTLED)
        return status;
    pthread_mutex_lock(&exchange->mutex);
    exchange->state = MT_WAITING;
    pthread_mutex_unlock(&exchange->mutex);
    return MT_OK;
}

static void run_sentences(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    bool begins = request->is_streamed && !exchange->stream.is_open;
    if (begins && mt_exchange_open_stream(exchange, &err) != MT_OK) {
        respond_failure(exchange, &err);
        return;
    }
    if (request->n_sentences == 0) {
        pause_stream(exchange, false);
        return;
    }
    enum mt_status status =
        exchange->is_answered ? run_detached_job(exchange, &err) : run_job(exchange, &err);
    if (!status)
        return;
    if (begins)
        mt_exchange_drop_stream(exchange);
    refuse_job(exchange, &err);
    respond(exchange);
}

/* Runs a round whose model is loaded. Returns false where there was nothing to decode. */
static bool run_round(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    struct mt_error err;
    if (prepare_round(exchange, &err) != MT_OK)
        respond_failure(exchange, &err);
    else if (request->reply.code != 0)
        respond(exchange);
    else if (request->n_sentences == 0 && !request->is_streamed)
        return false;
    else if (refuse_damaged(exchange))
        respond(exchange);
    else
        run_sentences(exchange);
    return true;
}

static void load_model(struct mt_exchange *exchange, struct mt_served_model *served)
{
    struct mt_error err;
    if (wait_for_model(exchange, served, &err) == MT_OK)
        return;
    fail_wait(exchange, &err);
    respond(exchange);
}

/* Sends the reply while the work goes on. */
static enum mt_status answer(struct mt_exchange *exchange, struct mt_error *err)
{
    enum mt_status status = mt_exchange_answer(exchange, err);
    if (status)
        return status;
    exchange->timeout_ns = exchange->request.outlives_ns;
    exchange->deadline_ns = mt_now_ns() + exchange->timeout_ns;
    pthread_mutex_lock(&exchange->mutex);
    exchange->is_answered = true;
    mt_exchange_return(exchange);
    pthread_mutex_unlock(&exchange->mutex);
    return MT_OK;
}

static void next_round(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    do {
        struct mt_served_model *served;
        struct mt_error err;
        enum mt_status status = choose(exchange, &served, &err);
        if (!status && request->outlives_ns > 0 && !exchange->is_answered)
            status = answer(exchange, &err);
        if (status) {
            respond_failure(exchange, &err);
            return;
        }
        if (request->reply.code == 0 && !served && request->is_streamed &&
            !exchange->stream.is_open) {
            request->n_sentences = 0;
            run_sentences(exchange);
            return;
        }
        if (request->reply.code == 0 && !served)
            finish_request(exchange);
        if (request->reply.code != 0) {
            respond(exchange);
            return;
        }
        if (!request->model) {
            load_model(exchange, served);
            return;
        }
    } while (!run_round(exchange));
}

/* Returns whether the request has waited in vain and must not begin; the reply then says why. */
static bool is_too_late(struct mt_exchange *exchange)
{
    if (why_stopped(exchange) != MT_GO_ON)
        mt_exchange_fail_cancelled(exchange);
    else if (mt_now_ns() >= exchange->deadline_ns)
        fail_late(exchange);
    else
        return false;
    return true;
}

static void end_loading(struct mt_exchange *exchange)
{
    if (exchange->wait_status)
        fail_wait(exchange, &exchange->wait.err);
    else if (!is_too_late(exchange)) {
        if (!run_round(exchange))
            next_round(exchange);
        return;
    }
    respond(exchange);
}

/* Tries a round again for which the queue had no room. */
static void retry(struct mt_exchange *exchange)
{
    if (is_too_late(exchange))
        respond(exchange);
    else
        run_sentences(exchange);
}

/* Makes events of what has been decoded so far. */
static void collect(struct mt_exchange *exchange)
{
    struct mt_error err;
    bool has_more;
    if (refuse_damaged(exchange))
        respond(exchange);
    else if (mt_exchange_collect(exchange, &has_more, &err) != MT_OK)
        respond_failure(exchange, &err);
    else
        pause_stream(exchange, has_more);
}

/* What has been decoded becomes a reply even where the server ends, but not where the client has
 * left. A streamed reply gets what is certain before another round begins. */
static void end_job(struct mt_exchange *exchange)
{
    struct mt_error err;
    bool has_more = false;
    if (!exchange->job_status && why_stopped(exchange) == MT_STOP_LEFT)
        exchange->job_status = MT_CANCELLED;
    if (exchange->job_status)
        fail_job(exchange);
    else if (!refuse_damaged(exchange)) {
        if (exchange->stream.is_open && mt_exchange_collect(exchange, &has_more, &err) != MT_OK)
            respond_failure(exchange, &err);
        else if (has_more)
            pause_stream(exchange, true);
        else {
            keep(&exchange->request);
            next_round(exchange);
        }
        return;
    }
    respond(exchange);
}

/* Does the whole work of a request that needs no model. */
static void do_without_model(struct mt_exchange *exchange)
{
    struct mt_request *request = &exchange->request;
    const struct mt_handler *handler = exchange->route->handler;
    struct mt_error err;
    exchange->is_begun = true;
    if (handler->begin && handler->begin(request, &err) != MT_OK)
        mt_reply_failure(&request->reply, &err);
    else if (request->reply.code == 0)
        finish_request(exchange);
}

static bool read_request(struct mt_exchange *exchange)
{
    struct mt_error err;
    if (mt_exchange_read(exchange, &err) != MT_OK)
        mt_exchange_fail(exchange, &err);
    return exchange->request.reply.code == 0;
}

void mt_exchange_do_at_once(struct mt_exchange *exchange)
{
    if (read_request(exchange))
        do_without_model(exchange);
}

/* While a long request waited for its text thread, the queue may have become full. */
static void begin_request(struct mt_exchange *exchange)
{
    bool is_refused = is_too_late(exchange) ||
                      (exchange->task.is_long && mt_exchange_refuse_early(exchange)) ||
                      !read_request(exchange);
    if (!is_refused && exchange->route->handler->choose) {
        exchange->is_begun = true;
        next_round(exchange);
        return;
    }
    if (!is_refused)
        do_without_model(exchange);
    respond(exchange);
}

/* Run by an idle worker, which saves waking one thread that would wake another. */
static void run_begin(void *exchange)
{
    begin_request(exchange);
}

static bool is_long(const struct mt_exchange *exchange)
{
    return exchange->body.length + strlen(exchange->query) > MAX_SHORT_BYTES;
}

bool mt_exchange_takes_long(const struct mt_exchange *exchange)
{
    return exchange->route->handler->choose || is_long(exchange);
}

void mt_exchange_begin_work(struct mt_exchange *exchange)
{
    exchange->task.is_long = is_long(exchange);
    if (exchange->task.is_long || !exchange->route->handler->choose ||
        !mt_engine_run_idle(exchange->request.service->engine, run_begin, exchange))
        submit_step(exchange, begin_request, false);
}
