/*
 * One exchange: a request and its reply, from the request line to the last byte sent. The one place
 * that replies.
 *
 *   HEAD -> BODY -> RECEIVED -> WORKING -> REPLIED
 *
 * The HTTP thread has the request until its last byte was received, and again when the reply is
 * complete. In between, in WORKING, the connection is suspended, and the request goes from hand to
 * hand: text threads (text_threads.h) parse it, add the sentences and render the reply; the engine
 * decodes; the models' host loads what is not in memory. Nothing holds a thread between two of
 * these steps:
 *
 *   text thread -> (host -> text thread) -> engine -> text thread -> HTTP thread
 *                      ^---------------------------------'  another round (handler.h)
 *
 * libmicrohttpd does not touch a suspended connection, so an exchange never ends before its work
 * has. A streamed reply (exchange_state.h) is REPLIED while its work goes on, and its connection
 * suspended only where there is nothing to send.
 *
 * Only http.c uses this. Thread-safety: the HTTP thread alone, but for cancel and nudge.
 */
#ifndef MT_SERVER_REQUESTS_EXCHANGE_H
#define MT_SERVER_REQUESTS_EXCHANGE_H

#include "server/requests/http.h"

#include <stdatomic.h>

#include <microhttpd.h>

struct mt_connection;
struct mt_connections;
struct mt_exchange;

struct mt_http {
    struct mt_http_options options;
    struct MHD_Daemon *daemon;
    struct mt_connections *connections;
    atomic_size_t n_documents; /* requests longer than max_body_bytes; max_documents at most */
    int listen_fd;             /* ours again once draining; else -1 */
    atomic_bool is_unready;    /* its end was announced */
    atomic_bool is_draining;
    int64_t drained_ms;  /* when that began */
    uint64_t n_came;     /* connections until then */
    uint64_t n_given;    /* taken from the listener and given to libmicrohttpd since */
    bool is_shut;        /* the listener */
    bool is_loopback;    /* it listens on such an address */
    int barrier_fds[2];  /* http.c: a connection that is none */
    bool is_barrier_set; /* it is on its way to the HTTP thread */
    atomic_bool has_passed;
    bool gives_way;            /* the HTTP thread's alone */
    bool has_name;             /* likewise */
    struct mt_exchange *heads; /* likewise: those whose head is not complete */
};

/* While the HTTP thread gives way, it does not take a processor from a thread that computes as soon
 * as there is something to do, but when that one's time is over, some milliseconds later, and then
 * does what has come together. From the HTTP thread. */
void mt_http_give_way(struct mt_http *http, bool gives_way);

/* NULL without memory; the request is then cut off. */
struct mt_exchange *mt_exchange_create(struct mt_http *http, struct MHD_Connection *connection,
                                       struct mt_connection *slot, const char *target);

/* From libmicrohttpd's log: it answers a head with that code. Answers in its place where it would
 * do so badly. */
void mt_exchange_refuse_head(struct mt_http *http, unsigned code);

/* libmicrohttpd's access handler: called for the head, for each piece of the body, twice for its
 * end, and when the reply is complete. */
enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload);

/* is_complete: the reply was sent to its end. */
void mt_exchange_destroy(struct mt_exchange *exchange, bool is_complete);

/* Asks for the end of the exchange's work, which is registered with the connections. Any thread,
 * with the connections' lock held. */
void mt_exchange_cancel(struct mt_exchange *exchange, bool has_left);

/* Has something sent for a streamed reply whose work has not ended, be it a comment. Any thread. */
void mt_exchange_nudge(struct mt_exchange *exchange);

#endif
