/*
 * The inside of an exchange, shared by exchange.c (which receives and replies) and
 * exchange_stream.c (which replies while the work goes on).
 */
#ifndef MT_SERVER_EXCHANGE_STATE_H
#define MT_SERVER_EXCHANGE_STATE_H

#include "server/bell.h"
#include "server/engine.h"
#include "server/exchange.h"
#include "server/handler.h"
#include "server/metrics.h"

enum mt_exchange_stage { STAGE_HEAD, STAGE_BODY, STAGE_RUNNING, STAGE_REPLIED };

/*
 * A streamed reply. Whoever is last of the connection and the job frees the exchange: unlike a
 * suspended one, a connection that is being written to can end while its job runs.
 *
 *   worker:       publish, ring ........... job's end: status, ring, let go
 *   HTTP thread:  hear, read what is published, send | nothing: suspend, rest
 */
struct mt_exchange_stream {
    struct mt_bell bell;
    struct mt_text events; /* what is being sent: never more than one piece */
    size_t n_sent;
    bool is_over;              /* events are the last */
    bool is_broken;            /* without memory for them: the connection is cut off */
    atomic_bool has_ended;     /* the job; its status is there */
    atomic_bool wants_comment; /* the connection has been silent */
};

struct mt_exchange {
    struct mt_request request; /* the handler's view */
    struct mt_http *http;
    struct mt_generation *generation; /* held until the reply needs it no more; then NULL */
    struct MHD_Connection *connection;
    struct mt_connection *slot;
    char *target; /* as received; request.path and query are cut out of it */
    const char *query;
    enum mt_exchange_stage stage;
    const struct mt_route *route;
    bool is_begun; /* the handler's release is due */
    bool is_http_1_1, keeps_body;
    uint64_t address; /* whom it comes from: client.h */
    struct mt_text body;
    uint64_t n_discarded;
    int64_t start_ns, timeout_ns;
    bool has_rejection;
    enum mt_rejection rejection;

    /* Written before mt_connections_end_work, read after the connection was resumed. */
    struct mt_job job;
    enum mt_status job_status;
    bool has_left; /* written under the connections' lock, before the job ends */

    bool is_streaming;
    atomic_int n_holders; /* the connection, and a job that is streamed */
    struct mt_exchange_stream stream;
};

/* --- of exchange.c --- */

/* One holder less; the last one frees the exchange. */
void mt_exchange_let_go(struct mt_exchange *exchange);

/* The reply needs neither handler nor model any more. */
void mt_exchange_settle(struct mt_exchange *exchange);

/* Makes the reply that of a job that did not end well. */
void mt_exchange_fail_job(struct mt_exchange *exchange);

/* Whether the weights are damaged; the reply says so then. What they gave since must not leave. */
bool mt_exchange_refuse_damaged(struct mt_exchange *exchange);

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason);

/* Queues the response, which it takes, with the reply's code and headers. */
enum MHD_Result mt_exchange_queue(struct mt_exchange *exchange, struct MHD_Response *response);

/* --- of exchange_stream.c --- */

/* Submits the request's job, if it has sentences, and begins the reply. MT_OK: that was done,
 * *result is for libmicrohttpd; else nothing was. */
enum mt_status mt_exchange_stream_begin(struct mt_exchange *exchange, enum MHD_Result *result,
                                        struct mt_error *err);

/* The connection goes; the job, if it has not ended, is cancelled. */
void mt_exchange_stream_leave(struct mt_exchange *exchange);

#endif
