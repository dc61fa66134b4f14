/*
 * The HTTP server: one thread, which does nothing but sockets, and in which libmicrohttpd runs. It
 * accepts connections, receives requests, hands them to text threads (text_threads.h) with the
 * connection suspended, notices clients that leave, and sends what is replied. Only the routes that tell of the daemon's health are answered by the HTTP
 * thread itself. A request may have its reply streamed as server-sent events while its sentences
 * run.
 *
 * Headers that count on every route: Accept-Encoding (gzip), X-Request-ID and traceparent (given
 * back, and logged where log_requests is set), and X-Request-Timeout (seconds that the client is going to wait; when they, or request_timeout_ms,
 * are over, the answer is 504).
 *
 * Thread-safety: create, start and destroy one thread at a time, the others safe.
 */
#ifndef MT_SERVER_REQUESTS_HTTP_H
#define MT_SERVER_REQUESTS_HTTP_H

#include "base/status.h"
#include "server/http/connections.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_connection_counts;
struct mt_generations;
struct mt_http;
struct mt_meters;
struct mt_metrics;
struct mt_proxies;
struct mt_route;
struct mt_text_threads;

/* A client that reads its reply slower than that, or takes nothing of a streamed one for so long,
 * is cut off. */
#define MT_REPLY_TIMEOUT_MS 120000
/* Largest reply. */
#define MT_MAX_REPLY_BYTES ((size_t)256 << 20)

struct mt_http_options {
    const char *name;                   /* of its thread; at most 15 bytes */
    struct mt_generations *generations; /* borrowed, like metrics and routes; started before http */
    struct mt_metrics *metrics;
    const struct mt_route *routes;
    size_t n_routes;
    struct mt_meters *meters;             /* borrowed */
    struct mt_text_threads *text_threads; /* borrowed; to be destroyed after http */
    const struct mt_proxies *proxies;     /* whose X-Forwarded-For counts; borrowed */
    bool has_tls;                         /* with what the current generation holds: tls.h */
    size_t max_connections;
    size_t max_client_connections; /* 0: chosen */
    int64_t header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    int64_t stream_keepalive_ms;
};

MT_MUST_CHECK enum mt_status mt_http_create(const struct mt_http_options *options,
                                            struct mt_http **out, struct mt_error *err);

/* Takes listen_fd, on failure too, and begins to accept. Raises the limit on descriptors where
 * max_connections needs it; MT_LIMIT where the system does not allow that. */
MT_MUST_CHECK enum mt_status mt_http_start(struct mt_http *http, int listen_fd,
                                           struct mt_error *err);

/*
 * The end, in this order: announce_end says that the server is not ready any more, and changes
 * nothing else; drain, to be called again and again, turns new clients away, takes in
 * those that the kernel has accepted, marks the server as not ready and ends each connection with
 * its next reply; when it has returned true, no connection is on its way and all are counted;
 * close_idle, again and again, closes connections without a request; after refuse_work no work
 * begins, and requests that need some are told so; cancel ends the work that is left; destroy, when
 * there is none (n_working is 0) after refuse_work, cuts off what is still connected.
 */
void mt_http_announce_end(struct mt_http *http);
bool mt_http_drain(struct mt_http *http);
void mt_http_close_idle(struct mt_http *http);
void mt_http_refuse_work(struct mt_http *http);
void mt_http_cancel(struct mt_http *http);
/* Takes NULL. */
void mt_http_destroy(struct mt_http *http);

/* Whether its end was announced or has begun: no more requests should come. */
bool mt_http_is_ending(const struct mt_http *http);
bool mt_http_is_draining(const struct mt_http *http);

/* Whether the libmicrohttpd that runs is one before 1.0, which rewrote what reads heads: Debian 12
 * has 0.9.75, Debian 13 has 1.0.1. */
bool mt_http_has_old_parser(void);
void mt_http_count(const struct mt_http *http, struct mt_connection_counts *out);

#endif
