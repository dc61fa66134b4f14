/*
 * One exchange: a request and its reply, from the request line to the last byte sent. It goes one
 * way, through five files, of which each calls only those to its right:
 *
 *   http.c -> receive.c -> work.c -> (stream.c) -> send.c
 *   the       head, body    rounds     events        the reply; back to
 *   thread                (read.c: fields, access)   the HTTP thread
 *
 * The state says which thread has the exchange. The HTTP thread has it until the request's last
 * byte was received, and again when the work is over. In between the connection is suspended
 * (libmicrohttpd does not touch it), and the exchange occupies no thread between two steps.
 *
 *   AT_HEAD -> AT_BODY -> RECEIVED -> WORKING -> LOADING  --> WORKING
 *                 |                      |  '--> DECODING --> WORKING  (another round: handler.h)
 *                 |                      '-----------------------------> DONE -> SENDING
 *                 '-- refusals, health ---------------------------------------------'
 *
 * A streamed reply is sent while the work goes on. Its events belong to the text thread in WORKING
 * and COLLECTING, else to the HTTP thread. New events are collected when the earlier ones have been
 * sent, so that a slow reader delays only its own request:
 *
 *   DECODING <-> COLLECTING -> WORKING     the job has ended meanwhile
 *       '-> PAUSED <-> WORKING -> DONE    no work goes on: the events are being sent
 *   COLLECTING -> ENDING -> WORKING        the last event is there, but the job has not ended yet
 *
 * Up to RECEIVED, and from DONE to SENDING, only the HTTP thread changes the state. In between the
 * thread that has the exchange changes it: text threads and idle workers in WORKING, the engine at
 * the end of DECODING, COLLECTING and ENDING, the models' host at the end of LOADING. In addition,
 * cancel, called by the HTTP thread, takes it from LOADING and PAUSED to WORKING. From WORKING on
 * the mutex guards the state.
 *
 * Where the reply is complete before the work (request.outlives_ns), it is sent while the work goes
 * on, in LOADING, DECODING and WORKING as usual. After the last byte of its reply the exchange is
 * detached: it has no connection, and no client learns how the work ends. Because such a request
 * has been accepted, it is not refused where the queue is full, but WAITING.
 *
 * The client of a stream can leave before the work has ended. So the HTTP thread frees an exchange
 * when it has no connection and is not being worked on.
 */
#ifndef MT_SERVER_REQUESTS_EXCHANGE_H
#define MT_SERVER_REQUESTS_EXCHANGE_H

#include "server/engine/engine.h"
#include "server/http/client.h"
#include "server/models/served_model.h"
#include "server/requests/account.h"
#include "server/requests/handler.h"
#include "server/requests/http.h"
#include "server/service/keys.h"
#include "server/service/metrics.h"
#include "server/text/text_threads.h"

#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

struct mt_connection;
struct mt_connections;
struct mt_exchange;

struct mt_exchange_list {
    struct mt_exchange *first, *last;
};

/* How far the server's end has come; http.h describes the steps. */
enum mt_http_end {
    MT_HTTP_SERVING,
    MT_HTTP_UNREADY,
    MT_HTTP_DRAINING,
    MT_HTTP_CLOSING_IDLE,
    MT_HTTP_CANCELLING,
    MT_HTTP_OVER
};

struct mt_http {
    struct mt_http_options options;
    struct MHD_Daemon *daemon;
    struct mt_connections *connections;
    pthread_t thread;
    bool has_thread;
    int wakeup_fd;            /* wakes the HTTP thread */
    atomic_int end;           /* enum mt_http_end; it only grows */
    atomic_bool refuses_work; /* set once, never unset */
    atomic_bool has_passed;   /* all connections accepted before draining began are here */
    atomic_size_t n_working;  /* exchanges between RECEIVED and SENDING */
    atomic_size_t n_detached_sentences; /* sentences in the engine whose clients have their reply */
    atomic_size_t n_documents; /* requests longer than max_body_bytes; max_documents at most */
    pthread_mutex_t mutex;     /* guards what follows */
    struct mt_exchange_list returned;

    /* Used by the HTTP thread alone. */
    int listen_fd;
    bool is_loopback;  /* listen_fd has a loopback address */
    bool is_listening; /* mt_connections_wait looks at listen_fd */
    bool gives_way;
    bool has_resumed;                 /* a connection was resumed: MHD_run has to be called */
    int64_t drained_ms, lacking_ms;   /* when draining began; when accept failed; 0: not so */
    int64_t retried_ms;               /* when work in detached was last tried again */
    struct mt_exchange_list heads;    /* AT_HEAD */
    struct mt_exchange_list detached; /* whose clients have their reply, and whose work goes on */
};

enum mt_exchange_state {
    MT_AT_HEAD,    /* the request line is there, the rest of the head is awaited */
    MT_AT_BODY,    /* the rest of the body is awaited */
    MT_RECEIVED,   /* the request is complete; libmicrohttpd has to call once more (receive.c) */
    MT_WORKING,    /* a text thread or an idle worker has the exchange, or is about to */
    MT_LOADING,    /* the round's model is being loaded */
    MT_WAITING,    /* the queue has no room for the round; the HTTP thread tries it again */
    MT_DECODING,   /* the round's sentences are being decoded */
    MT_COLLECTING, /* the same, while a text thread makes events of what is decoded */
    MT_PAUSED,     /* no work goes on: events have to be sent first */
    MT_ENDING,     /* there will be no more events; the sentences are in use until the job ends */
    MT_DONE,       /* on the way back to the HTTP thread */
    MT_SENDING     /* the HTTP thread sends the reply */
};

/* The next thing that a text thread does for the exchange. */
typedef void mt_exchange_step(struct mt_exchange *exchange);

/* The events of a streamed reply. */
struct mt_exchange_stream {
    struct mt_text events;
    size_t n_sent;
    bool is_open;           /* the reply has begun, or is about to; never unset */
    bool has_events;        /* there is something new since the last collection */
    bool is_broken;         /* there was no memory for events: the connection is cut off */
    atomic_bool has_pieces; /* some of the translation was sent, so the request counts */
};

#define MT_REQUEST_ID_BYTES 128
/* Most bytes of model ids in the line of the log; further ids are left out. */
#define MT_LOGGED_MODELS_BYTES 96

/* What the log and the metrics are told at the end of a request. These are copies, because the
 * originals may be gone by then. The exchange's mutex guards them, except trace and members that
 * are NULL or empty because nothing is logged. */
struct mt_exchange_record {
    bool is_wanted;     /* the request gets a line in the log */
    const char *method; /* static */
    char request_id[MT_REQUEST_ID_BYTES + 1], key_name[MT_MAX_KEY_NAME_BYTES + 1];
    char models[MT_LOGGED_MODELS_BYTES];
    struct mt_traceparent trace;
    struct mt_account account;
    uint64_t n_bytes; /* length of the reply's body; the HTTP thread's from the first byte sent */
};

/* Why nothing new may begin for an exchange. */
enum mt_stop { MT_GO_ON, MT_STOP_SERVER, MT_STOP_LEFT };

struct mt_exchange {
    struct mt_request request; /* the handler's view */
    struct mt_http *http;
    struct mt_snapshot *snapshot; /* held until the reply no longer needs it; then NULL */
    char *target;                 /* as received; request.path and query are cut out of it */
    const char *target_place;     /* libmicrohttpd's, while the head is being checked */
    const char *query;
    const struct mt_route *route;
    bool is_begun;            /* the handler's release has to be called */
    bool is_counted_document; /* the exchange is counted in http->n_documents */
    bool is_http_1_1, keeps_body;
    bool is_answered; /* the reply was complete before the work; it does not change any more */
    bool is_vital;    /* the route tells of the daemon's health; web pages may not read it */
    struct mt_address peer; /* the other end of the connection */
    uint64_t address;       /* the client's address: client.h */
    struct mt_text body;
    uint64_t n_discarded;
    int64_t start_ns, timeout_ns, deadline_ns;
    struct mt_exchange_record record;
    atomic_int rejection; /* enum mt_rejection; MT_N_REJECTIONS: none */

    /* Used by the HTTP thread alone. */
    struct MHD_Connection *connection; /* NULL: it has ended. For headers use mt_exchange_header */
    struct mt_connection *slot;        /* NULL once the connection has ended */
    bool is_suspended;
    bool is_detached; /* the reply was sent, and the work goes on: the exchange is in detached */
    struct mt_exchange *next_detached, *previous_detached;

    struct mt_exchange *next,
        *previous;    /* neighbours in the list heads or returned; guarded like it */
    bool is_returned; /* the exchange is in the list returned */

    /* The work. It belongs to whoever has the exchange. */
    struct mt_text_task task;
    mt_exchange_step *step; /* what the task does */
    struct mt_job job;
    enum mt_status job_status;
    size_t n_detached_sentences;     /* the job's part of http->n_detached_sentences */
    struct mt_served_model *awaited; /* the model that is being loaded */
    struct mt_model_wait wait;
    enum mt_status wait_status;
    struct MHD_Response *response; /* the reply, or the head of a streamed one; NULL: no memory */

    pthread_mutex_t mutex; /* guards what follows */
    enum mt_exchange_state state;
    enum mt_stop stop;
    struct mt_exchange_stream stream;
};

/* --- http.c --- */

/* While the HTTP thread gives way, a wake-up does not make it preempt a thread that computes: it
 * runs when that thread's time slice is over, some milliseconds later, and then does all that has
 * come meanwhile. Called by the HTTP thread. */
void mt_http_give_way(struct mt_http *http, bool gives_way);

/* --- receive.c: the HTTP thread, from the request line to the complete request --- */

/* Returns NULL without memory; the request is then cut off. */
struct mt_exchange *mt_exchange_create(struct mt_http *http, struct MHD_Connection *connection,
                                       struct mt_connection *slot, const char *target);

/* Called where libmicrohttpd's log says that it answers a head with that code. Where its own answer
 * would be malformed, this one is sent instead. */
void mt_exchange_refuse_head(struct mt_http *http, unsigned code);

/* libmicrohttpd's access handler: called for the head, for each piece of the body, twice for its
 * end, and when a reply is there. */
enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload);

/* Called when the connection no longer needs the exchange. is_complete: the whole reply was
 * sent. */
void mt_exchange_complete(struct mt_exchange *exchange, bool is_complete);

/* --- read.c: from the bytes of a request to its fields --- */

/* Sets the request's deadline. MT_INVALID where X-Request-Timeout is no such number. */
MT_MUST_CHECK enum mt_status mt_exchange_read_timeout(struct mt_exchange *exchange,
                                                      struct mt_error *err);

/* Makes the reply that err asks for, as mt_reply_failure does. */
void mt_exchange_fail(struct mt_exchange *exchange, const struct mt_error *err);

/* Parses body and query string into request.params, and checks whether the client may ask. After
 * MT_OK reply.code is set where the client is refused. */
MT_MUST_CHECK enum mt_status mt_exchange_read(struct mt_exchange *exchange, struct mt_error *err);

/* --- work.c: from the complete request to the complete reply --- */

/* Returns whether the queue is full, and then makes the reply that says so. For requests that would
 * have to be queued. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange);

/* Does all the work of the request before it returns. For handlers that choose no model and do not
 * take long. */
void mt_exchange_do_at_once(struct mt_exchange *exchange);

/* Hands the received request, whose connection is suspended, to a text thread. */
void mt_exchange_begin_work(struct mt_exchange *exchange);

/* The first ends all detached exchanges, the second tries those again that wait for room in the
 * queue. Called by the HTTP thread. */
void mt_exchange_cancel_detached(struct mt_http *http);
void mt_exchange_retry_detached(struct mt_http *http);

/* Whether the request takes so long that its client may leave meanwhile. */
bool mt_exchange_takes_long(const struct mt_exchange *exchange);

/* Asks for the work to end as soon as possible. Called by the HTTP thread. */
void mt_exchange_cancel(struct mt_exchange *exchange, enum mt_stop why);

/* Makes the reply to a cancelled request. */
void mt_exchange_fail_cancelled(struct mt_exchange *exchange);

/* Has a text thread go on with a request that was waiting for its events to be sent. Called with
 * the mutex held. */
void mt_exchange_go_on(struct mt_exchange *exchange);

/* --- stream.c: what is said of the work while it goes on --- */

/* The first makes the head of a streamed reply; the second discards that head, because another
 * reply is sent instead. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_exchange_open_stream(struct mt_exchange *exchange,
                                                     struct mt_error *err);
void mt_exchange_drop_stream(struct mt_exchange *exchange);

/* Appends the events that the handler's advance makes. *has_more: it made some, so it may have
 * more. */
MT_MUST_CHECK enum mt_status mt_exchange_collect(struct mt_exchange *exchange, bool *has_more,
                                                 struct mt_error *err);

/* Appends the reply as the last event. */
void mt_exchange_say_last(struct mt_exchange *exchange);

/* Whether all events have been sent. Called with the mutex held, by the thread that has the
 * events. */
bool mt_exchange_is_sent(const struct mt_exchange *exchange);

/* Sends something to find out whether the client is still there, where the protocol has something
 * to send at this point. Called by the HTTP thread. */
enum mt_answer mt_exchange_ask(struct mt_exchange *exchange);

/* --- send.c: from the complete reply to the last byte --- */

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason);

/* Returns a header of the request, or NULL. The HTTP thread may call it, and other threads from
 * WORKING until the reply is there. */
const char *mt_exchange_header(const struct mt_exchange *exchange, const char *name);

/* Whether an X-Request-ID is one that the reply repeats. */
bool mt_exchange_is_request_id(const char *id);

/* Makes the response of a complete reply; afterwards handler and model are no longer needed. */
void mt_exchange_make_response(struct mt_exchange *exchange);

/* Makes the response of a reply that is complete before the work (handler.h), and empties the
 * reply. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_exchange_answer(struct mt_exchange *exchange, struct mt_error *err);

/* Adds all headers except "Connection: close". */
void mt_exchange_add_headers(const struct mt_exchange *exchange, struct MHD_Response *response);

/* Frees what the reply was made of, and with it the handler's state and the snapshot. */
void mt_exchange_free_work(struct mt_exchange *exchange);
void mt_exchange_let_go_of_model(struct mt_exchange *exchange);

/* Asks the HTTP thread to look at the exchange: its work is done, or it has events to be sent.
 * Called with the mutex held. */
void mt_exchange_return(struct mt_exchange *exchange);

/* Goes on with all exchanges that were returned. Called by the HTTP thread. */
void mt_exchange_take_returned(struct mt_http *http);

/* Queues the reply in libmicrohttpd. Called by the HTTP thread. */
enum MHD_Result mt_exchange_send(struct mt_exchange *exchange);

/* Writes the request's line to the log and counts it in the metrics. */
void mt_exchange_tell_end(struct mt_exchange *exchange, bool is_complete);

void mt_exchange_free(struct mt_exchange *exchange);

#endif
