/*
 * One exchange: a request and its reply, from the request line to the last byte sent. It goes one
 * way, through five files, of which each calls only those to its right:
 *
 *   http.c -> receive.c -> work.c -> (stream.c) -> send.c
 *   the       head, body    rounds     events        the reply; back to
 *   thread                (read.c: fields, access)   the HTTP thread
 *
 * Its state says who has it. The HTTP thread has it until its last byte was received, and again
 * when the work is over. In between the connection is suspended (libmicrohttpd does not touch it),
 * and nothing holds a thread between two steps.
 *
 *   AT_HEAD -> AT_BODY -> RECEIVED -> WORKING -> LOADING  --> WORKING
 *                 |                      |  '--> DECODING --> WORKING  (another round: handler.h)
 *                 |                      '-----------------------------> DONE -> SENDING
 *                 '-- refusals, health ---------------------------------------------'
 *
 * A reply that is streamed is sent while the work goes on. Its events belong to the text thread in
 * WORKING and COLLECTING, else to the HTTP thread; new ones are collected when those before have
 * been sent, so that a slow reader costs nothing but its own request:
 *
 *   DECODING <-> COLLECTING -> WORKING     the job has ended meanwhile
 *       '-> RESTING <-> WORKING -> DONE    nothing runs: the events are being sent
 *   COLLECTING -> ENDING -> WORKING        all is said, but the job has not ended yet
 *
 * Up to RECEIVED, and from DONE to SENDING, only the HTTP thread changes the state; else whoever
 * has the exchange does (text threads and idle workers in WORKING, the engine at the end of
 * DECODING, COLLECTING and ENDING, the models' host at the end of LOADING), and cancel, from the
 * HTTP thread, takes it from LOADING and RESTING to WORKING. From WORKING on the mutex guards it.
 *
 * A reply that is complete before the work (request.outlives_ns) is sent while the work goes on, in
 * LOADING, DECODING and WORKING as ever. From the last byte of its reply on the exchange is
 * detached: it has no connection, and how its work ends is told to nobody. It was accepted: where the
 * queue is full it is not refused, but WAITING.
 *
 * Because the client of a stream can leave before the work has ended, an exchange is freed by the
 * HTTP thread, when it has no connection and is not being worked on.
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

/* How far the end of the server is: http.h. */
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
    int wakeup_fd;                      /* wakes the HTTP thread */
    atomic_int end;                     /* enum mt_http_end; grows */
    atomic_bool refuses_work;           /* likewise */
    atomic_bool has_passed;             /* those on their way when draining began are here */
    atomic_size_t n_working;            /* exchanges between RECEIVED and SENDING */
    atomic_size_t n_detached_sentences; /* in the engine; their clients have their reply */
    atomic_size_t n_documents; /* requests longer than max_body_bytes; max_documents at most */
    pthread_mutex_t mutex;     /* guards what follows */
    struct mt_exchange_list returned;

    /* The HTTP thread's alone. */
    int listen_fd;
    bool is_loopback;  /* it listens on such an address */
    bool is_listening; /* mt_connections_wait looks at it */
    bool gives_way;
    bool has_resumed;                 /* a connection was: MHD_run has to be called */
    int64_t drained_ms, lacking_ms;   /* when draining began; when accept failed; 0: not so */
    int64_t retried_ms;               /* when work in detached was last tried again */
    struct mt_exchange_list heads;    /* AT_HEAD */
    struct mt_exchange_list detached; /* whose clients have their reply, and whose work goes on */
};

enum mt_exchange_state {
    MT_AT_HEAD,    /* the request line is there, the rest of the head is awaited */
    MT_AT_BODY,    /* the rest of the body is awaited */
    MT_RECEIVED,   /* complete; libmicrohttpd has to call once more (receive.c) */
    MT_WORKING,    /* a text thread or an idle worker has it, or it waits for one */
    MT_LOADING,    /* the round's model is being loaded */
    MT_WAITING,    /* the queue has no room for the round, which is tried again: the HTTP thread */
    MT_DECODING,   /* the round's sentences are being decoded */
    MT_COLLECTING, /* so they are, and a text thread makes events of what is there */
    MT_RESTING,    /* nothing runs: events have to be sent first */
    MT_ENDING,     /* there will be no more events; the sentences are in use until the job ends */
    MT_DONE,       /* on the way back to the HTTP thread */
    MT_SENDING     /* there */
};

/* What a text thread does for the exchange next. */
typedef void mt_exchange_step(struct mt_exchange *exchange);

/* The events of a streamed reply. */
struct mt_exchange_stream {
    struct mt_text events;
    size_t n_sent;
    bool is_open;           /* the reply has begun, or is going to; then it stays so */
    bool has_events;        /* sentences got further since the last collection */
    bool is_broken;         /* without memory for events: the connection is cut off */
    atomic_bool has_pieces; /* of the translation: the request counts, however it ends */
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

/* Why nothing new may begin for an exchange. */
enum mt_stop { MT_GO_ON, MT_STOP_SERVER, MT_STOP_LEFT };

struct mt_exchange {
    struct mt_request request; /* the handler's view */
    struct mt_http *http;
    struct mt_generation *generation; /* held until the reply needs it no more; then NULL */
    char *target;                     /* as received; request.path and query are cut out of it */
    const char *target_place;         /* libmicrohttpd's, while the head is being checked */
    const char *query;
    const struct mt_route *route;
    bool is_begun;  /* the handler's release is due */
    bool has_place; /* counted in http->n_documents */
    bool is_http_1_1, keeps_body;
    bool is_answered;       /* the reply is complete before the work; it does not change any more */
    bool is_vital;          /* the path is: it tells of the server's health, and is not for pages */
    struct mt_address peer; /* the connection's */
    uint64_t address;       /* whom it comes from: client.h */
    struct mt_text body;
    uint64_t n_discarded;
    int64_t start_ns, timeout_ns, deadline_ns;
    struct mt_exchange_record record;
    atomic_int rejection; /* enum mt_rejection; MT_N_REJECTIONS: none */

    /* The HTTP thread's alone. */
    struct MHD_Connection *connection; /* NULL: it has gone. Headers: see mt_exchange_header */
    struct mt_connection *slot;        /* likewise */
    bool is_suspended;
    bool is_detached; /* its reply was sent, and the work goes on: it is in detached */
    struct mt_exchange *next_detached, *previous_detached;

    struct mt_exchange *next, *previous; /* in heads, or in returned, guarded like that */
    bool is_returned;                    /* it is in there */

    /* The work. Whoever has the exchange has this, too. */
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

/* While the HTTP thread gives way, it does not take a processor from a thread that computes as soon
 * as there is something to do, but when that one's time is over, some milliseconds later, and then
 * does what has come together. From the HTTP thread. */
void mt_http_give_way(struct mt_http *http, bool gives_way);

/* --- receive.c: the HTTP thread, from the request line to the complete request --- */

/* NULL without memory; the request is then cut off. */
struct mt_exchange *mt_exchange_create(struct mt_http *http, struct MHD_Connection *connection,
                                       struct mt_connection *slot, const char *target);

/* From libmicrohttpd's log: it answers a head with that code. Answers in its place where it would
 * do so badly. */
void mt_exchange_refuse_head(struct mt_http *http, unsigned code);

/* libmicrohttpd's access handler: called for the head, for each piece of the body, twice for its
 * end, and when a reply is there. */
enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload);

/* The connection has no more to do with the exchange. is_complete: the reply was sent to its end. */
void mt_exchange_complete(struct mt_exchange *exchange, bool is_complete);

/* --- read.c: from the bytes of a request to its fields --- */

/* Sets the request's deadline. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_exchange_read_timeout(struct mt_exchange *exchange,
                                                      struct mt_error *err);

/* The reply says what went wrong, as mt_reply_failure does. */
void mt_exchange_fail(struct mt_exchange *exchange, const struct mt_error *err);

/* Parses body and query into request.params, and asks whether the client may. After MT_OK
 * reply.code may be set: refused. */
MT_MUST_CHECK enum mt_status mt_exchange_read(struct mt_exchange *exchange, struct mt_error *err);

/* --- work.c: from the complete request to the complete reply --- */

/* Whether the queue is full; the reply says so then. For a request that would have to be queued. */
bool mt_exchange_refuse_early(struct mt_exchange *exchange);

/* Does all that the request takes, at once. For handlers that neither choose a model nor take
 * long. */
void mt_exchange_do_at_once(struct mt_exchange *exchange);

/* Hands the received request, whose connection is suspended, to a text thread. */
void mt_exchange_begin_work(struct mt_exchange *exchange);

/* Ends all exchanges that are detached, or tries those again that wait for room in the queue. The
 * HTTP thread calls it. */
void mt_exchange_cancel_detached(struct mt_http *http);
void mt_exchange_retry_detached(struct mt_http *http);

/* Whether it takes so long that the client may leave meanwhile. */
bool mt_exchange_takes_long(const struct mt_exchange *exchange);

/* Asks for the end of the work, as soon as may be. By the HTTP thread. */
void mt_exchange_cancel(struct mt_exchange *exchange, enum mt_stop why);

/* The reply to one that has been cancelled. */
void mt_exchange_fail_cancelled(struct mt_exchange *exchange);

/* Has a text thread go on where that is due, because events were sent. With the mutex held. */
void mt_exchange_go_on(struct mt_exchange *exchange);

/* --- stream.c: what is said of the work while it goes on --- */

/* Makes the head of the reply; takes it back, because there is another reply. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_exchange_open_stream(struct mt_exchange *exchange,
                                                     struct mt_error *err);
void mt_exchange_drop_stream(struct mt_exchange *exchange);

/* Appends what the handler's advance has to say. *has_more: it had something. */
MT_MUST_CHECK enum mt_status mt_exchange_collect(struct mt_exchange *exchange, bool *has_more,
                                                 struct mt_error *err);

/* The reply as the last event. */
void mt_exchange_say_last(struct mt_exchange *exchange);

/* Whether all events have been sent. With the mutex held, by who has the events. */
bool mt_exchange_is_sent(const struct mt_exchange *exchange);

/* What can be sent to find out whether the client is still there; it is, where that is a part of
 * the reply. By the HTTP thread. */
enum mt_answer mt_exchange_ask(struct mt_exchange *exchange);

/* --- send.c: from the complete reply to the last byte --- */

void mt_exchange_count_rejection(struct mt_exchange *exchange, enum mt_rejection reason);

/* A header of the request, or NULL. By the HTTP thread, and by others from WORKING until the reply
 * is there. */
const char *mt_exchange_header(const struct mt_exchange *exchange, const char *name);

/* Whether a client's own number for its request is one that is given back. */
bool mt_exchange_is_request_id(const char *id);

/* Makes the response of a complete reply; then handler and model are needed no more. */
void mt_exchange_make_response(struct mt_exchange *exchange);

/* Makes the response of a reply that is complete before the work (handler.h), and empties the
 * reply. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_exchange_answer(struct mt_exchange *exchange, struct mt_error *err);

/* All but what says that the connection is going to be closed. */
void mt_exchange_add_headers(const struct mt_exchange *exchange, struct MHD_Response *response);

/* What the reply is made of goes, the handler's state and the generation too. */
void mt_exchange_settle(struct mt_exchange *exchange);
void mt_exchange_let_go_of_model(struct mt_exchange *exchange);

/* The HTTP thread shall have a look: the work is done, or there are events. With the mutex held. */
void mt_exchange_return(struct mt_exchange *exchange);

/* Goes on with all that were returned. By the HTTP thread. */
void mt_exchange_take_returned(struct mt_http *http);

/* Queues the reply. By the HTTP thread. */
enum MHD_Result mt_exchange_send(struct mt_exchange *exchange);

/* Tells log and metrics of the end. */
void mt_exchange_tell_end(struct mt_exchange *exchange, bool is_complete);

void mt_exchange_free(struct mt_exchange *exchange);

#endif
