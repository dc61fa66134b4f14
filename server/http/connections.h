/*
 * Who is connected, since when and doing what. Connections that take too long are closed
 * (libmicrohttpd's timeout knows only inactivity, so a byte a second lives for ever), and clients
 * are noticed that leave while their request is being worked on (libmicrohttpd does not look at a
 * suspended connection).
 *
 *   FRESH -> HEADER -> BODY -> WORK -> (STREAM) -> REPLY -> IDLE -> HEADER -> ...
 *
 * A client that has gone and one that has only finished sending (shutdown(SHUT_WR)) look the same
 * at first: both are a FIN. So the FIN is answered with "HTTP/1.1 100 Continue", which HTTP clients
 * ignore (RFC 9110, 15.2.1): a closed socket answers that with a reset, and then the work is
 * cancelled; a half-closed one stays, and gets its reply. Where a reply has begun, something of the
 * reply is sent instead, to the same effect.
 *
 * Thread-safety: all of it belongs to the HTTP thread; mt_connections_count alone is safe.
 */
#ifndef MT_SERVER_HTTP_CONNECTIONS_H
#define MT_SERVER_HTTP_CONNECTIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_address;
struct mt_proxies;
struct sockaddr;
struct mt_connections;
struct mt_connection;

/* Connections over the limit, of clients that have their share. */
#define MT_POLITE_OVER_LIMIT 16

/* Connections of administrators, to the admin socket. */
#define MT_ADMIN_CONNECTIONS 16

/* Memory that libmicrohttpd takes per connection: head, body as it arrives, head of the reply. */
#define MT_CONNECTION_BYTES (32 * 1024)
/* Connections beyond the limit: those that are being told so, and those that are being closed. */
#define MT_CONNECTIONS_OVER_LIMIT 64

enum mt_phase {
    MT_PHASE_FRESH,  /* connected, no request line yet */
    MT_PHASE_HEADER, /* the request line is there */
    MT_PHASE_BODY,   /* the head is complete */
    MT_PHASE_WORK,   /* the request is complete */
    MT_PHASE_STREAM, /* the reply is on its way while the work goes on;
                      * entered anew with each piece */
    MT_PHASE_REPLY,  /* the reply is on its way */
    MT_PHASE_IDLE,   /* the reply was sent, the connection is kept */
    MT_N_PHASES
};

/* What can be sent to a client to find out whether it is still there. */
enum mt_answer {
    MT_ASK_AGAIN, /* nothing now */
    MT_PROBE,     /* 100 Continue */
    MT_SENT       /* a part of the reply is sent; or nothing can ever be */
};

struct mt_connections_options {
    size_t max_connections; /* more are over the limit: refused, politely */
    size_t max_over_limit;  /* see mt_connections_add */
    /* Most connections of one client (client.h); 0: any number. Proxies have no limit, and neither
     * has this machine where limits_this_machine is false. */
    size_t max_client_connections;
    bool limits_this_machine;
    const struct mt_proxies *proxies; /* NULL: none */
    /* A phase that takes longer ends the connection; 0: never. Where a request is awaited and bytes
     * have arrived that nobody has read, it may take twice as long. */
    int64_t timeout_ms[MT_N_PHASES];
    /* The end of what a client sends is the end of the connection: so it is with TLS, where nothing
     * can be slipped into the stream to find out. */
    bool end_is_leaving;
    /* Asks for the end of the work that is watched. has_left: because of the client, not of
     * cancel_all. */
    void (*cancel)(void *context, void *work, bool has_left);
    /* The client may have left, or no part of a streamed reply was sent for nudge_ms. */
    enum mt_answer (*ask)(void *context, void *work);
    /* The sleeper must go on now. */
    void (*wake)(void *context, void *sleeper);
    int64_t nudge_ms;
    void *context;
};

MT_MUST_CHECK enum mt_status mt_connections_create(const struct mt_connections_options *options,
                                                   struct mt_connections **out,
                                                   struct mt_error *err);

/* Takes NULL. Connections that are left are forgotten, not closed. */
void mt_connections_destroy(struct mt_connections *connections);

/* Waits until a connection, or one of the descriptors of mt_connections_listen, has something to
 * tell, or for timeout_ms (-1: for ever), and sees to what is due by then. Returns the bits of the
 * descriptors that can be read. */
unsigned mt_connections_wait(struct mt_connections *connections, int timeout_ms);

/* Whether wait looks at that descriptor, too. bit is a power of two. False: there is no memory. */
bool mt_connections_listen(struct mt_connections *connections, int fd, unsigned bit, bool is_on);

/*
 * A connection that was just accepted. fd stays the caller's and open until remove. Where a client
 * has too many, the one of them that has been without a request for longest is closed to make room;
 * where there are too many in all, that one of the client that has most, so that nobody takes the
 * places of others by connecting. None is closed that has sent something nobody has read yet, that
 * had a reply a moment ago and is still there, or that came or began a head within the last second
 * (a moment ago, where its client has more than the new one's); where none is left, the new one is
 * over the limit.
 *
 * Those over the limit are there to be told so, and for questions after the server's health. Whoever
 * sends nothing, or does not take the reply, must not keep others from that: half of max_over_limit
 * may stay, and MT_POLITE_OVER_LIMIT more of those that are too many of their client; then the next
 * one closes the first of its kind, whatever that is at. So max_over_limit is never reached for
 * longer than it takes to remove what has been closed.
 *
 * NULL if it is reached all the same.
 */
struct mt_connection *mt_connections_add(struct mt_connections *connections, int fd,
                                         const struct sockaddr *address);
void mt_connections_remove(struct mt_connections *connections, struct mt_connection *connection);

/* No connection can be accepted, for want of descriptors or memory, until one is removed: as soon
 * as there is one that would make room for another, it is closed. */
void mt_connections_want_room(struct mt_connections *connections);

void mt_connections_enter(struct mt_connections *connections, struct mt_connection *connection,
                          enum mt_phase phase);

/* Whether the connection is one too many and must be refused, and where it comes from. Fixed from
 * add to remove. */
enum mt_over_limit {
    MT_OVER_NO_LIMIT,
    MT_OVER_LIMIT_OF_ALL,
    MT_OVER_LIMIT_OF_CLIENT,
    MT_N_OVER_LIMIT
};
enum mt_over_limit mt_connection_over_limit(const struct mt_connection *connection);
/* The options' context. */
void *mt_connection_context(const struct mt_connection *connection);
const struct mt_address *mt_connection_address(const struct mt_connection *connection);

/* The work for a connection's request, if it takes long enough for the client to leave meanwhile,
 * from its beginning until it is NULL again. Whoever calls sees to it that a cancel that comes when
 * the work has just ended does no harm. */
void mt_connections_watch(struct mt_connections *connections, struct mt_connection *connection,
                          void *work);

/* Nothing can be done for the connection, which has no work, until its client has sent something or
 * left: options.wake(sleeper) is called then, and at the latest after wake_all; before this returns
 * where it cannot be waited for. */
void mt_connections_sleep(struct mt_connections *connections, struct mt_connection *connection,
                          void *sleeper);

/* For the end of the server: wakes all sleepers, and from then on nobody sleeps any more. */
void mt_connections_wake_all(struct mt_connections *connections);

/* Likewise, to be called until it is reached: cancels all work that is watched; closes connections
 * that have been without a request for at least age_ms and have sent nothing (the next request of a
 * pipeline may have been read already, and then it begins at once). */
void mt_connections_cancel_all(struct mt_connections *connections);
void mt_connections_close_idle(struct mt_connections *connections, int64_t age_ms);

struct mt_connection_counts {
    size_t n_open;    /* all */
    size_t n_active;  /* with a request: HEADER to REPLY */
    size_t n_working; /* requests that are worked on: http.h */
    uint64_t n_came;  /* this and what follows are counted since creation */
    uint64_t n_timed_out, n_left, n_evicted;
    uint64_t n_refused_of_client;
};
/* All but n_working. */
void mt_connections_count(const struct mt_connections *connections,
                          struct mt_connection_counts *out);

#endif
