/* TCP connections of which a test has both ends. */
#ifndef MT_TESTS_UNIT_SERVER_HTTP_CONNECTION_PAIRS_H
#define MT_TESTS_UNIT_SERVER_HTTP_CONNECTION_PAIRS_H

#include "server/http/connections.h"

#include <check.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Both ends of a TCP connection: resets and half-closes exist nowhere else. */
struct pair {
    int server, client;
};

static inline struct pair connect_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    struct pair pair;
    pair.client = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(pair.client, (struct sockaddr *)&address, sizeof address), 0);
    pair.server = accept(listener, NULL, NULL);
    ck_assert_int_ge(pair.server, 0);
    close(listener);
    return pair;
}

static inline void sleep_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Whether the server's side has been shut: the client then reads the end. */
static inline bool is_shut(const struct pair *pair)
{
    char byte;
    return recv(pair->client, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The connections' owner does what it does all the time, for so long. */
static inline void run_for(struct mt_connections *connections, int ms)
{
    for (; ms > 0; ms -= 5)
        mt_connections_wait(connections, 5);
}

static inline bool becomes_shut(struct mt_connections *connections, const struct pair *pair, int ms)
{
    for (; ms > 0 && !is_shut(pair); ms -= 5)
        mt_connections_wait(connections, 5);
    return is_shut(pair);
}

#endif
