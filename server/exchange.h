/*
 * One exchange: a request and its reply, from the request line to the last byte sent. The one place
 * that replies.
 *
 *   HEAD -> BODY -> (TURN) -> (LOADING -> (TURN)) -> RUNNING -> (TURN) -> REPLIED
 *                                  ^-------------------------------'  another round (handler.h)
 *
 * In TURN others are looked at first, or have the desk (desk.h). While it waits in line, and in
 * LOADING and RUNNING, the connection is suspended; a model is being loaded, or the sentences are
 * the engine's. The exchange itself stays the HTTP thread's. libmicrohttpd does not touch a
 * suspended connection, so an exchange never ends before its job or its wait: on_done is what
 * resumes the connection. A streamed reply (exchange_state.h) is REPLIED while its job runs, and
 * its connection suspended only where there is nothing to send.
 *
 * Only http.c uses this. Thread-safety: the HTTP thread alone, but for cancel and nudge.
 */
#ifndef MT_SERVER_EXCHANGE_H
#define MT_SERVER_EXCHANGE_H

#include "server/desk.h"
#include "server/http.h"

#include <stdatomic.h>

#include <microhttpd.h>

struct mt_connection;
struct mt_connections;
struct mt_exchange;

struct mt_http {
    struct mt_http_options options;
    struct MHD_Daemon *daemon;
    struct mt_connections *connections;
    int listen_fd;          /* ours again once draining; else -1 */
    atomic_bool is_unready; /* its end was announced */
    atomic_bool is_draining;
    int64_t drained_ms;  /* when that began */
    bool is_shut;        /* the listener */
    bool is_loopback;    /* it listens on such an address */
    int barrier_fds[2];  /* http.c: a connection that is none */
    bool is_barrier_set; /* it is on its way to the HTTP thread */
    atomic_bool has_passed;
    bool gives_way;            /* the HTTP thread's alone */
    bool has_name;             /* likewise */
    struct mt_exchange *heads; /* likewise: those whose head is not complete */
    struct mt_desk desk;       /* likewise */
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

/* libmicrohttpd's access handler: called for the head, for each piece of the body, for its end, and
 * after the job has ended. */
enum MHD_Result mt_exchange_advance(struct mt_exchange *exchange, const char *method,
                                    const char *version, const char *upload, size_t *n_upload);

/* What http->desk.call is. */
void mt_exchange_call(struct mt_desk_place *place);

/* is_complete: the reply was sent to its end. */
void mt_exchange_destroy(struct mt_exchange *exchange, bool is_complete);

/* Asks for the end of what the exchange waits for: its job, which must not have ended, a model, or
 * its turn.
 * Any thread, with the connections' lock held. */
void mt_exchange_cancel(struct mt_exchange *exchange, bool has_left);

/* Has something sent for a streamed reply whose job has not ended, be it a comment. Any thread. */
void mt_exchange_nudge(struct mt_exchange *exchange);

#endif
