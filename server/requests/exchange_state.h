/*
 * The inside of an exchange, shared by exchange.c (the HTTP thread: it receives and replies),
 * exchange_heads.c (replies in the place of libmicrohttpd's, where these are bad), exchange_read.c
 * (from the bytes of a request to its fields), exchange_work.c (from round to round) and
 * exchange_stream.c (a reply that is sent while it is made).
 */
#ifndef MT_SERVER_REQUESTS_EXCHANGE_STATE_H
#define MT_SERVER_REQUESTS_EXCHANGE_STATE_H

#include "server/engine/engine.h"
#include "server/requests/account.h"
#include "server/requests/exchange.h"
#include "server/requests/handler.h"
#include "server/service/keys.h"
#include "server/service/metrics.h"
#include "server/models/served_model.h"
#include "server/text/text_threads.h"

#include <pthread.h>

enum mt_exchange_stage {
    STAGE_HEAD,
    STAGE_BODY,
    STAGE_RECEIVED, /* the connection is suspended when libmicrohttpd calls again */
    STAGE_WORKING,  /* the connection is suspended */
    STAGE_REPLIED
};

/* Who has the request, from STAGE_WORKING to the end of its work. */
enum mt_exchange_holder {
    WITH_TEXT_THREADS, /* waiting, or being worked on; in a stream also: nothing is to be done */
    WITH_MODEL_HOST,   /* the round's model is being loaded */
    WITH_ENGINE        /* the round's sentences are being decoded */
};

/* What a text thread does for the exchange next. */
typedef void mt_exchange_step(struct mt_exchange *exchange);

/*
 * A streamed reply: text threads collect events, and the HTTP thread sends them.
 *
 *   collect (a text thread) ---> events ---> read_events (the HTTP thread)
 *      ^                                        |
 *      '--- has_news, and all events are sent --'
 *
 * The events belong to the text thread while is_collecting, else to the HTTP thread. The exchange's
 * mutex guards the rest.
 */
struct mt_exchange_stream {
    struct mt_text events;
    size_t n_sent;
    bool has_news;          /* there may be something to collect */
    bool is_collecting;     /* also until has_begun */
    bool has_begun;         /* the head of the reply has been made */
    bool is_resting;        /* the connection is suspended, for want of events */
    bool is_over;           /* events are the last ones */
    bool is_broken;         /* without memory for them: the connection is cut off */
    bool is_gone;           /* the connection */
    bool is_done;           /* the text threads need the exchange no more */
    atomic_bool has_pieces; /* of the translation: the request counts, however it ends */
    bool was_loading;       /* what ended last is a wait for a model, not a job */
    bool wants_comment;     /* the connection has been silent */
};

#define MT_REQUEST_ID_BYTES 128
/* Ids of models in the log's line: more are left out. */
#define MT_LOGGED_MODELS_BYTES 96

/* What of a request is told at its end, kept because what it stands in may be gone by then. Guarded
 * by the exchange's mutex, but for trace and what is NULL or empty where nothing is logged. */
struct mt_exchange_record {
    bool is_wanted;     /* a line in the log */
    const char *method; /* static */
    char request_id[MT_REQUEST_ID_BYTES + 1], key_name[MT_MAX_KEY_NAME_BYTES + 1];
    char models[MT_LOGGED_MODELS_BYTES];
    struct mt_traceparent trace;
    struct mt_account account;
    uint64_t n_bytes; /* of the reply's body: the HTTP thread's from its first byte on */
};

struct mt_exchange {
    struct mt_request request; /* the handler's view */
    struct mt_http *http;
    struct mt_generation *generation; /* held until the reply needs it no more; then NULL */
    struct MHD_Connection *connection;
    struct mt_connection *slot;
    char *target;             /* as received; request.path and query are cut out of it */
    const char *target_place; /* libmicrohttpd's, while the head is being checked */
    const char *query;
    struct mt_exchange *next_head, **head_place; /* in http->heads; place NULL: not there */
    enum mt_exchange_stage stage;                /* the HTTP thread's */
    const struct mt_route *route;
    bool is_begun;  /* the handler's release is due */
    bool has_place; /* counted in http->n_documents */
    bool is_http_1_1, keeps_body;
    bool is_vital;    /* the path is: it is for the server's doctors, not for pages */
    uint64_t address; /* whom it comes from: client.h */
    struct mt_text body;
    uint64_t n_discarded;
    int64_t start_ns, timeout_ns, deadline_ns;
    struct mt_exchange_record record;
    atomic_int rejection; /* enum mt_rejection; MT_N_REJECTIONS: none */

    /* The work. Whoever holds it has the request, too. */
    struct mt_text_task task;
    mt_exchange_step *step; /* what the task does */
    struct mt_job job;
    enum mt_status job_status;
    struct mt_served_model *awaited; /* the model that is being loaded */
    struct mt_model_wait wait;
    enum mt_status wait_status;
    struct MHD_Response *response; /* the complete reply; NULL: not made yet */

    pthread_mutex_t mutex; /* guards what follows; taken behind the connections' lock */
    enum mt_exchange_holder holder;
    bool is_cancelled; /* nothing new may begin */
    bool has_left;     /* the client; then nothing needs to be ended well, either */
    bool is_streaming;
    struct mt_exchange_stream stream;

    atomic_int n_holders; /* the connection, and the work of a streamed reply */
};

/* --- of exchange.c --- */

/* One holder less; the last one frees the exchange. */
void mt_exchange_let_go(struct mt_exchange *exchange);

/* The reply needs neither handler nor model any more. */
void mt_exchange_settle(struct mt_exchange *exchange);

/* Likewise of the model of the round, if there is one. */
void mt_exchange_let_go_of_model(struct mt_exchange *exchange);

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason);

/* A header of the request, or NULL. By the HTTP thread, and by others in STAGE_WORKING until the
 * connection is resumed. */
const char *mt_exchange_header(const struct mt_exchange *exchange, const char *name);

/* Makes the response of a complete reply, and settles. No response: there is no memory for it. */
void mt_exchange_make_response(struct mt_exchange *exchange);

/* All but what says that the connection is going to be closed. */
void mt_exchange_add_headers(const struct mt_exchange *exchange, struct MHD_Response *response);

/* Queues the response, which it takes, with the reply's code. By the HTTP thread. */
enum MHD_Result mt_exchange_queue(struct mt_exchange *exchange, struct MHD_Response *response);

/* A job is done. With the exchange's mutex held. */
void mt_exchange_account(struct mt_exchange *exchange, const struct mt_job *job);

/* --- of exchange_read.c --- */

/* Sets the request's deadline. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_exchange_read_timeout(struct mt_exchange *exchange,
                                                      struct mt_error *err);

/* Parses body and query into request.params, and asks whether the client may. After MT_OK
 * reply.code may be set: refused. */
MT_MUST_CHECK enum mt_status mt_exchange_read(struct mt_exchange *exchange, struct mt_error *err);

/* --- of exchange_heads.c --- */

/* The request line is there, and the rest of the head is awaited; it is, or will never be. */
void mt_exchange_await_head(struct mt_exchange *exchange);
void mt_exchange_have_head(struct mt_exchange *exchange);

/* --- of exchange_work.c --- */

/* Does all that the request takes, at once. For handlers that neither choose a model nor take
 * long. */
void mt_exchange_do_at_once(struct mt_exchange *exchange);

/* Hands the received request, whose connection is suspended, to a text thread. */
void mt_exchange_begin_work(struct mt_exchange *exchange);

/* Has a text thread do the step. is_ending: it lets memory go (text_threads.h). */
void mt_exchange_submit_step(struct mt_exchange *exchange, mt_exchange_step *step, bool is_ending);

/* Asks the handler for the next round. *out NULL: there is none, and the model of the last one
 * stays; else request.model is that one where it was to be had at once, or NULL. */
MT_MUST_CHECK enum mt_status mt_exchange_choose(struct mt_exchange *exchange,
                                                struct mt_served_model **out, struct mt_error *err);

/* Has the handler add the round's sentences, and describes them as a job. */
MT_MUST_CHECK enum mt_status mt_exchange_begin_round(struct mt_exchange *exchange,
                                                     struct mt_error *err);

/* Hands the job to the engine, or the wait for the model to its host. MT_CANCELLED also where the
 * work was cancelled. After MT_OK on_done will be called, or was. */
MT_MUST_CHECK enum mt_status mt_exchange_run_job(struct mt_exchange *exchange,
                                                 void (*on_done)(struct mt_job *job,
                                                                 enum mt_status status),
                                                 struct mt_error *err);
MT_MUST_CHECK enum mt_status
mt_exchange_wait_for_model(struct mt_exchange *exchange, struct mt_served_model *served,
                           void (*on_done)(struct mt_model_wait *wait, enum mt_status status),
                           struct mt_error *err);

/* Ends what the engine or the host does for the exchange, as soon as may be. With its mutex held.
 * True: nobody calls on_done, because the host had not begun. */
bool mt_exchange_stop_waiting(struct mt_exchange *exchange);

/* Whether the queue is full; the reply says so then. For a request that would have to be queued. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange);

/* Make the reply that of a job that did not end well, one that the engine did not accept, and a
 * model that could not be had. */
void mt_exchange_fail_job(struct mt_exchange *exchange);
void mt_exchange_refuse_job(struct mt_exchange *exchange, const struct mt_error *err);
void mt_exchange_fail_wait(struct mt_exchange *exchange, const struct mt_error *err);
void mt_exchange_fail_cancelled(struct mt_exchange *exchange);

/* Whether the weights are damaged; the reply says so then. What they gave since must not leave. */
bool mt_exchange_refuse_damaged(struct mt_exchange *exchange);

/* --- of exchange_stream.c --- */

/* Submits the request's job, if it has sentences, and has the HTTP thread begin the reply. Nothing
 * was done but after MT_OK. */
MT_MUST_CHECK enum mt_status mt_exchange_stream_begin(struct mt_exchange *exchange,
                                                      struct mt_error *err);

/* The connection is back. */
enum MHD_Result mt_exchange_stream_reply(struct mt_exchange *exchange);

/* The connection goes; what still runs is cancelled. */
void mt_exchange_stream_leave(struct mt_exchange *exchange);

/* There may be something to collect. With the exchange's mutex held. */
void mt_exchange_stream_news(struct mt_exchange *exchange);

#endif
