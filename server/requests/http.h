/*
 * The HTTP server: one thread, which does nothing but sockets, and in which libmicrohttpd runs. It
 * accepts connections, receives requests, hands them to text threads (text_threads.h) with the
 * connection suspended, notices clients that leave, and sends the replies. It answers only the
 * routes itself that tell of the daemon's health. A reply may be streamed as server-sent events
 * while the request's sentences run.
 *
 * Headers that count on every route: Accept-Encoding (gzip); X-Request-ID and traceparent, which
 * the reply repeats, and which are logged where log_requests is set; and X-Request-Timeout, the
 * seconds that the client is going to wait. When these, or request_timeout_ms, are over, the answer
 * is 504.
 *
 * Thread-safety: create, start and destroy are for one thread at a time, the others are safe.
 */
#ifndef MT_SERVER_REQUESTS_HTTP_H
#define MT_SERVER_REQUESTS_HTTP_H

#include "base/status.h"
#include "server/http/connections.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_connection_counts;
struct mt_snapshots;
struct mt_http;
struct mt_meters;
struct mt_metrics;
struct mt_proxies;
struct mt_route;
struct mt_text_threads;

/* A client that reads its reply more slowly than this, or takes nothing of a streamed reply for
 * this long, is cut off. */
#define MT_REPLY_TIMEOUT_MS 120000
/* Largest reply. */
#define MT_MAX_REPLY_BYTES ((size_t)256 << 20)

struct mt_http_options {
    const char *name;               /* name of the thread; at most 15 bytes */
    struct mt_snapshots *snapshots; /* borrowed, like metrics and routes; started before http */
    struct mt_metrics *metrics;
    const struct mt_route *routes;
    size_t n_routes;
    struct mt_meters *meters;             /* borrowed */
    struct mt_text_threads *text_threads; /* borrowed; to be destroyed after http */
    const struct mt_proxies *proxies;     /* the proxies whose X-Forwarded-For counts; borrowed */
    bool has_tls;                         /* with the current snapshot's certificates: tls.h */
    size_t max_connections;
    size_t max_client_connections; /* 0: the daemon chooses */
    int64_t header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    int64_t stream_keepalive_ms;
};

MT_MUST_CHECK enum mt_status mt_http_create(const struct mt_http_options *options,
                                            struct mt_http **out, struct mt_error *err);

/* Begins to accept connections. It owns listen_fd from then on, even if it fails. Raises the limit
 * on descriptors where max_connections needs it; MT_LIMIT where the system does not allow that. */
MT_MUST_CHECK enum mt_status mt_http_start(struct mt_http *http, int listen_fd,
                                           struct mt_error *err);

/*
 * How the server ends, in this order:
 *
 * announce_end says that the server is not ready any more, and changes nothing else.
 *
 * drain turns new clients away, takes in those that the kernel has accepted, and ends each
 * connection with its next reply. It is called until it returns true: then no connection is on its
 * way, and all are counted.
 *
 * close_idle closes connections without a request. It is called again and again.
 *
 * refuse_work: from now on no work begins, and requests that need some are told so.
 *
 * cancel ends the work that is left.
 *
 * destroy cuts off what is still connected. It may be called when n_working is 0 after refuse_work.
 */
void mt_http_announce_end(struct mt_http *http);
bool mt_http_drain(struct mt_http *http);
void mt_http_close_idle(struct mt_http *http);
void mt_http_refuse_work(struct mt_http *http);
void mt_http_cancel(struct mt_http *http);
/* server may be NULL. */
void mt_http_destroy(struct mt_http *http);

/* Whether the server's end was announced or has begun: no more requests should come. */
bool mt_http_is_ending(const struct mt_http *http);
bool mt_http_is_draining(const struct mt_http *http);

/* Whether the libmicrohttpd that runs is older than 1.0, whose parser of heads is a new one. Debian
 * 12 has 0.9.75, Debian 13 has 1.0.1. */
bool mt_http_has_old_parser(void);
void mt_http_count(const struct mt_http *http, struct mt_connection_counts *out);

#endif
