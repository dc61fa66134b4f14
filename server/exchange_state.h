/*
 * The inside of an exchange, shared by exchange.c (which receives and replies), exchange_heads.c
 * (which replies where libmicrohttpd does badly), exchange_work.c
 * (which has the work done), exchange_turns.c (which waits for the HTTP thread's time) and
 * exchange_stream.c (which replies while it goes on).
 */
#ifndef MT_SERVER_EXCHANGE_STATE_H
#define MT_SERVER_EXCHANGE_STATE_H

#include "server/bell.h"
#include "server/desk.h"
#include "server/engine.h"
#include "server/exchange.h"
#include "server/handler.h"
#include "server/metrics.h"
#include "server/served_model.h"

enum mt_exchange_stage {
    STAGE_HEAD,
    STAGE_BODY,
    STAGE_TURN, /* in line for the desk, or a step is done when libmicrohttpd calls again */
    STAGE_LOADING,
    STAGE_RUNNING,
    STAGE_REPLIED
};

/* What an exchange does at the HTTP thread at a stretch. */
typedef enum MHD_Result mt_exchange_step(struct mt_exchange *exchange);

/*
 * A streamed reply. Whoever is last of the connection and the task (a job, or a wait for a model)
 * frees the exchange: unlike a suspended one, a connection that is being written to can end while
 * its task runs.
 *
 *   worker:       publish, ring ........... task's end: status, ring, let go
 *   HTTP thread:  hear, read what is published, send | nothing: suspend, rest | next task
 */
struct mt_exchange_stream {
    struct mt_bell bell;
    struct mt_text events; /* what is being sent: never more than one piece */
    size_t n_sent;
    bool is_over;              /* events are the last */
    bool has_pieces;           /* of the translation: the request counts, however it ends */
    bool is_broken;            /* without memory for them: the connection is cut off */
    bool is_loading;           /* the task is a wait, not a job */
    atomic_bool was_stopped;   /* the wait, which nobody ends then but the HTTP thread */
    atomic_bool has_ended;     /* the task; its status is there */
    atomic_bool wants_comment; /* the connection has been silent */
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
    enum mt_exchange_stage stage;
    const struct mt_route *route;
    bool is_begun; /* the handler's release is due */
    bool is_http_1_1, keeps_body;
    bool is_vital;    /* the path is: it is for the server's doctors, not for pages */
    uint64_t address; /* whom it comes from: client.h */
    struct mt_text body;
    uint64_t n_discarded;
    int64_t start_ns, timeout_ns, deadline_ns;
    bool has_rejection;
    enum mt_rejection rejection;

    /* Written before mt_connections_end_work, read after the connection was resumed. */
    struct mt_job job;
    enum mt_status job_status;
    bool is_waiting;                 /* suspended for a model */
    struct mt_served_model *awaited; /* which one */
    struct mt_model_wait wait;
    enum mt_status wait_status;
    bool is_wait_ours; /* nobody else ends it: it was not accepted, or taken back under the lock */
    bool has_left;     /* written under the connections' lock, before the job ends */

    struct mt_desk_place place;
    mt_exchange_step *step; /* what is done in its turn */
    bool is_long;           /* so that it begins and ends at the desk */
    bool is_in_line;        /* suspended, and counted as work */
    bool was_called;        /* resumed; written under the connections' lock, or after leave_work */
    bool was_cancelled;     /* likewise */
    bool is_hurried; /* the server ends: what has been decoded is sent without further turns */

    bool is_streaming;
    atomic_int n_holders; /* the connection, and a job that is streamed */
    struct mt_exchange_stream stream;
};

/* --- of exchange.c --- */

/* One holder less; the last one frees the exchange. */
void mt_exchange_let_go(struct mt_exchange *exchange);

/* The reply needs neither handler nor model any more. */
void mt_exchange_settle(struct mt_exchange *exchange);

/* Likewise of the model of the round, if there is one. */
void mt_exchange_let_go_of_model(struct mt_exchange *exchange);

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason);

/* Queues the response, which it takes, with the reply's code and headers. */
enum MHD_Result mt_exchange_queue(struct mt_exchange *exchange, struct MHD_Response *response);

/* Where every reply leaves that is complete. */
enum MHD_Result mt_exchange_send(struct mt_exchange *exchange);
enum MHD_Result mt_exchange_send_failure(struct mt_exchange *exchange, const struct mt_error *err);

/* --- of exchange_heads.c --- */

/* The request line is there, and the rest of the head is awaited; it is, or will never be. */
void mt_exchange_await_head(struct mt_exchange *exchange);
void mt_exchange_have_head(struct mt_exchange *exchange);

/* --- of exchange_work.c --- */

/* The request is there. Does what it takes until something has to be waited for, or the reply has
 * been sent. */
enum MHD_Result mt_exchange_work(struct mt_exchange *exchange);
/* After the connection was resumed. */
enum MHD_Result mt_exchange_resume(struct mt_exchange *exchange);

/* Asks the handler for the next round. *out NULL: there is none, and the model of the last one
 * stays; else request.model is that one where it was to be had at once, or NULL. */
MT_MUST_CHECK enum mt_status mt_exchange_choose(struct mt_exchange *exchange,
                                                struct mt_served_model **out, struct mt_error *err);

/* Has the handler add the round's sentences, and describes them as a job; unless it goes on. */
MT_MUST_CHECK enum mt_status mt_exchange_begin_round(struct mt_exchange *exchange,
                                                     struct mt_error *err);

/* The connection is back, or gone, after a wait. Does nothing where there was none. */
void mt_exchange_end_wait(struct mt_exchange *exchange);

/* Fills exchange->awaited and wait in, but for on_done. */
void mt_exchange_describe_wait(struct mt_exchange *exchange, struct mt_served_model *served);

/* Whether the queue is full; the reply says so then, and the HTTP thread gives way until a request
 * finds that it is not. For a request that would have to be queued, of which nothing but the body's
 * end is known yet. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange);

/* Make the reply that of a job that did not end well, one that the engine did not accept, and a
 * model that could not be had. */
void mt_exchange_fail_job(struct mt_exchange *exchange);
void mt_exchange_refuse_job(struct mt_exchange *exchange, const struct mt_error *err);
void mt_exchange_fail_wait(struct mt_exchange *exchange, const struct mt_error *err);

/* Whether the weights are damaged; the reply says so then. What they gave since must not leave. */
bool mt_exchange_refuse_damaged(struct mt_exchange *exchange);

/* The server ends, and takes no more work. */
enum MHD_Result mt_exchange_refuse_work(struct mt_exchange *exchange);

/* --- of exchange_turns.c --- */

/* The body is there: whether it is a long one. */
void mt_exchange_measure(struct mt_exchange *exchange);

/* Whether the connection may be suspended for the request. What is short and has no model is done
 * at once: nobody waits for it to a degree that matters. */
bool mt_exchange_may_wait(const struct mt_exchange *exchange);

/*
 * Does the step when the other connections have been looked at. To be called at the body's end,
 * before the connection is suspended for the first time: libmicrohttpd (0.9.75, 1.0.1) keeps of a
 * suspended connection whether it was being read from, and it still is then. The first thing after
 * its resumption would be to read, unless no connection is older, and the end of what the client
 * has sent, who waits for the reply, would end the connection. Where a call for the body's end
 * leaves neither a reply nor a suspension, reading is over.
 */
enum MHD_Result mt_exchange_stop_reading(struct mt_exchange *exchange, mt_exchange_step *step);

/* Does the first step of a request or a round, or of a round's end, at once or in its turn. A
 * beginning may be late then. */
enum MHD_Result mt_exchange_begin(struct mt_exchange *exchange, mt_exchange_step *step);
enum MHD_Result mt_exchange_end(struct mt_exchange *exchange, mt_exchange_step *step);

/* The step has not done all: goes on with this one in the next turn. */
enum MHD_Result mt_exchange_go_on(struct mt_exchange *exchange, mt_exchange_step *step);

/* When the step that is being done should end, or ask to go on; INT64_MAX: never. */
int64_t mt_exchange_begin_until(const struct mt_exchange *exchange);
int64_t mt_exchange_end_until(const struct mt_exchange *exchange);

/* The connection is back, in STAGE_TURN. */
enum MHD_Result mt_exchange_take_turn(struct mt_exchange *exchange);

/* The exchange has no step to do for now. */
void mt_exchange_leave_desk(struct mt_exchange *exchange);

/* The connection is back, or gone, after waiting in line. Does nothing where it did not. */
void mt_exchange_leave_line(struct mt_exchange *exchange);

/* Ends the wait. With the connections' lock held. */
void mt_exchange_stop_waiting_for_turn(struct mt_exchange *exchange);

/* --- of exchange_stream.c --- */

/* Submits the request's job, if it has sentences, and begins the reply. MT_OK: that was done,
 * *result is for libmicrohttpd; else nothing was. */
enum mt_status mt_exchange_stream_begin(struct mt_exchange *exchange, enum MHD_Result *result,
                                        struct mt_error *err);

/* The connection goes; the task, if it has not ended, is cancelled. */
void mt_exchange_stream_leave(struct mt_exchange *exchange);

/* Asks for the end of a wait. With the connections' lock held. */
void mt_exchange_stream_stop(struct mt_exchange *exchange);

#endif
