/*
 * Who is connected, since when, and in which phase. Connections that take too long are closed
 * (libmicrohttpd's timeout knows only inactivity, so one that sends a byte a second would live for
 * ever), and clients are noticed that leave while their request is being worked on (libmicrohttpd
 * does not look at a suspended connection).
 *
 *   FRESH -> HEADER -> BODY -> WORK -> (STREAM) -> REPLY -> IDLE -> HEADER -> ...
 *
 * A client that has gone and one that has only finished sending (shutdown(SHUT_WR)) look the same
 * at first: both are a FIN. So the FIN is answered with "HTTP/1.1 100 Continue", which HTTP clients
 * ignore (RFC 9110, 15.2.1). A closed socket answers that with a reset, and then the work is
 * cancelled; a half-closed one stays open and gets its reply. Where a reply has begun, a piece of
 * the reply is sent instead, to the same effect.
 *
 * Thread-safety: all functions belong to the HTTP thread, except mt_connections_count, which is
 * safe.
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

/* Most connections over the limit that may stay because their client has its share. */
#define MT_POLITE_OVER_LIMIT 16

/* Most connections of administrators to the admin socket. */
#define MT_ADMIN_CONNECTIONS 16

/* Memory that libmicrohttpd uses for a connection: head, body as it arrives, head of the reply. */
#define MT_CONNECTION_BYTES (32 * 1024)
/* Most connections beyond the limit: those that are being refused, and those that are being
 * closed. */
#define MT_CONNECTIONS_OVER_LIMIT 64

enum mt_phase {
    MT_PHASE_FRESH,  /* connected, no request line yet */
    MT_PHASE_HEADER, /* the request line is there */
    MT_PHASE_BODY,   /* the head is complete */
    MT_PHASE_WORK,   /* the request is complete */
    MT_PHASE_STREAM, /* the reply is being sent, the work goes on; entered with each piece */
    MT_PHASE_REPLY,  /* the reply is being sent */
    MT_PHASE_IDLE,   /* the reply was sent, the connection stays open */
    MT_N_PHASES
};

/* How to find out next whether a client is still there. */
enum mt_answer {
    MT_ASK_AGAIN, /* nothing now; ask again later */
    MT_PROBE,     /* 100 Continue */
    MT_SENT       /* a part of the reply was sent, or nothing ever can be */
};

struct mt_connections_options {
    size_t max_connections; /* connections beyond these are over the limit: refused with a reply */
    size_t max_over_limit;  /* see mt_connections_add */
    /* Most connections of one client (client.h); 0: any number. Proxies have no limit, and neither
     * has this machine where limits_this_machine is false. */
    size_t max_client_connections;
    bool limits_this_machine;
    const struct mt_proxies *proxies; /* NULL: none */
    /* A phase that takes longer ends the connection; 0: any time. A phase that waits for a request
     * may take twice as long where bytes have arrived that nobody has read. */
    int64_t timeout_ms[MT_N_PHASES];
    /* The client's end of stream counts as the end of the connection. This is for TLS, where no
     * probe can be inserted into the stream. */
    bool end_is_leaving;
    /* Asks for the end of the work that is watched. has_left: the client has left; otherwise
     * cancel_all was called. */
    void (*cancel)(void *context, void *work, bool has_left);
    /* Called where the client may have left, or no part of a streamed reply was sent for
     * nudge_ms. */
    enum mt_answer (*ask)(void *context, void *work);
    /* Called when the sleeper has to go on. */
    void (*wake)(void *context, void *sleeper);
    int64_t nudge_ms;
    void *context;
};

MT_MUST_CHECK enum mt_status mt_connections_create(const struct mt_connections_options *options,
                                                   struct mt_connections **out,
                                                   struct mt_error *err);

/* connections may be NULL. Connections that are left are forgotten, not closed. */
void mt_connections_destroy(struct mt_connections *connections);

/* Waits until a connection, or one of the descriptors of mt_connections_listen, has an event, or
 * for timeout_ms (-1: for ever), and acts on deadlines that have passed. Returns the bits of the
 * descriptors that can be read. */
unsigned mt_connections_wait(struct mt_connections *connections, int timeout_ms);

/* Says whether mt_connections_wait watches that descriptor. bit is a power of two. Returns false
 * without memory. */
bool mt_connections_listen(struct mt_connections *connections, int fd, unsigned bit, bool is_on);

/*
 * Adds a connection that was just accepted. fd stays the caller's, and open until remove. Where a
 * client has too many connections, the one that has been without a request for longest is closed to
 * make room. Where there are too many in all, one of the client that has most is closed, so that
 * nobody can take the places of others by connecting. A connection is not closed that has sent
 * something nobody has read yet, that had a reply a moment ago and whose client is still there, or
 * that came or began a head within the last second (a moment ago, where its client has more
 * connections than the new one's). Where none can be closed, the new one is over the limit.
 *
 * Connections over the limit get a refusal, or an answer about the server's health. Clients that
 * send nothing or do not read the reply must not keep others from that: half of max_over_limit may
 * stay, and MT_POLITE_OVER_LIMIT more whose client has too many; the next one closes the first of
 * its kind, in whatever phase that is. So max_over_limit is reached only for as long as it takes to
 * remove what has been closed.
 *
 * Returns NULL if it is reached all the same.
 */
struct mt_connection *mt_connections_add(struct mt_connections *connections, int fd,
                                         const struct sockaddr *address);
void mt_connections_remove(struct mt_connections *connections, struct mt_connection *connection);

/* Says that no connection can be accepted, for want of descriptors or memory, until one is removed.
 * As soon as there is a connection that may be closed to make room, it is closed. */
void mt_connections_want_room(struct mt_connections *connections);

void mt_connections_enter(struct mt_connections *connections, struct mt_connection *connection,
                          enum mt_phase phase);

/* Whether the connection is one too many and must be refused. This does not change from add to
 * remove. */
enum mt_over_limit {
    MT_OVER_NO_LIMIT,
    MT_OVER_LIMIT_OF_ALL,
    MT_OVER_LIMIT_OF_CLIENT,
    MT_N_OVER_LIMIT
};
enum mt_over_limit mt_connection_over_limit(const struct mt_connection *connection);
/* Returns the options' context. */
void *mt_connection_context(const struct mt_connection *connection);
const struct mt_address *mt_connection_address(const struct mt_connection *connection);

/* Tells the work for a connection's request, if it takes long enough for the client to leave
 * meanwhile, until it is NULL again. The caller makes sure that a cancel which comes when the work
 * has just ended does no harm. */
void mt_connections_watch(struct mt_connections *connections, struct mt_connection *connection,
                          void *work);

/* Says that a connection, which has no work, cannot go on until its client has sent something or
 * left: options.wake(sleeper) is called then, or by wake_all, or before this returns where it is
 * impossible to wait. */
void mt_connections_sleep(struct mt_connections *connections, struct mt_connection *connection,
                          void *sleeper);

/* For the end of the server: wakes all sleepers, and from then on none sleeps. */
void mt_connections_wake_all(struct mt_connections *connections);

/* For the end of the server, too. The first cancels all work that is watched. The second, called
 * until all have been closed, closes connections that have been without a request for at least
 * age_ms and have sent nothing. (The next request of a pipeline may have been read already; it
 * begins at once then.) */
void mt_connections_cancel_all(struct mt_connections *connections);
void mt_connections_close_idle(struct mt_connections *connections, int64_t age_ms);

struct mt_connection_counts {
    size_t n_open;    /* all connections */
    size_t n_active;  /* with a request: HEADER to REPLY */
    size_t n_working; /* requests that are worked on: http.h */
    uint64_t n_came;  /* this and those that follow are counted since creation */
    uint64_t n_timed_out, n_left, n_evicted;
    uint64_t n_refused_of_client;
};
/* Sets all members but n_working. */
void mt_connections_count(const struct mt_connections *connections,
                          struct mt_connection_counts *out);

#endif
