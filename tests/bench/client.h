/*
 * One keep-alive connection of the load generator, without blocking, in an epoll set.
 *
 *   CLOSED -> CONNECTING -> IDLE -> SENDING -> RECEIVING -> IDLE ...
 *
 * Any failure closes the connection.
 *
 * Thread-safety: one thread.
 */
#ifndef MT_TESTS_BENCH_CLIENT_H
#define MT_TESTS_BENCH_CLIENT_H

#include "base/text.h"
#include "tests/bench/reply.h"

#include <sys/socket.h>

enum load_client_state {
    LOAD_CLOSED,
    LOAD_CONNECTING,
    LOAD_IDLE,
    LOAD_SENDING,
    LOAD_RECEIVING,
};

struct load_client {
    enum load_client_state state;
    int fd, epoll_fd;
    int connect_error;             /* errno, behind LOAD_NOT_CONNECTED */
    const struct mt_text *message; /* borrowed; while SENDING */
    size_t n_sent;
    struct mt_text received;
    int64_t intended_ns; /* when the request should have gone out: latency counts from here */
    /* When the kernel had taken the request's last byte, and when it got the reply's first, which
     * may be long before this program is given the processor to read it. CLOCK_REALTIME, as the
     * kernel's own stamps are; 0: not yet. */
    int64_t sent_ns, replied_ns;
    int64_t rests_until_ns; /* the caller's */
};

enum load_event {
    LOAD_NOTHING,
    LOAD_ANSWERED,       /* reply is filled, and lives until the next request */
    LOAD_NOT_CONNECTED,  /* from here on: failures */
    LOAD_DISCONNECTED,   /* with a request under way; without one it is LOAD_NOTHING */
    LOAD_NOT_UNDERSTOOD, /* the reply is no HTTP, or too long */
};

/* Starts to connect, and is IDLE some events later. LOAD_NOTHING or LOAD_NOT_CONNECTED. */
enum load_event load_client_open(struct load_client *client, int epoll_fd,
                                 const struct sockaddr *address, socklen_t length);

/* Closes the connection, and may be called twice; a request under way is forgotten. */
void load_client_close(struct load_client *client);
void load_client_finish(struct load_client *client);

/* The client must be IDLE. */
enum load_event load_client_send(struct load_client *client, const struct mt_text *message,
                                 int64_t intended_ns);

/* What epoll said: goes as far as it can. After a failure the connection is closed. */
enum load_event load_client_handle(struct load_client *client, uint32_t epoll_events,
                                   struct load_reply *reply);

#endif
