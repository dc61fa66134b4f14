#include "server/requests/exchange.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/http/client.h"
#include "server/http/connections.h"
#include "server/http/descriptors.h"
#include "server/http/tls.h"
#include "server/service/snapshot.h"
#include "server/service/snapshots.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long handshakes that have begun may still take once new ones are turned away. A client that
 * comes in this time gets no answer, tries again after a second, and is refused then. */
#define HANDSHAKE_MS 50
/* Systems send packets with a time to live of 64, 128 or 255, and each router on the way takes one
 * off: only a neighbour's packets arrive with 255, and few systems send those. */
#define UNLIKELY_TTL 255
/* How long the listener pauses where the system has no descriptor or memory for a connection,
 * unless a connection ends earlier. */
#define LACKING_MS 100
/* Most connections that are accepted before their requests are read. Only after reading it is known
 * whether a connection still waits for its client. */
#define ACCEPT_BATCH 8
/* How often work that waits for room in the queue is tried again. */
#define RETRY_MS 100

enum { WAKEUP = 1, LISTENER = 2, LIBRARY = 4 }; /* bits of mt_connections_wait */

static void cancel_work(void *context, void *work, bool has_left)
{
    (void)context;
    mt_exchange_cancel(work, has_left ? MT_STOP_LEFT : MT_STOP_SERVER);
}

static enum mt_answer ask_work(void *context, void *work)
{
    (void)context;
    return mt_exchange_ask(work);
}

static void wake_handshake(void *context, void *connection)
{
    struct mt_http *http = context;
    http->has_resumed = true;
    MHD_resume_connection(connection);
}

enum mt_status mt_http_create(const struct mt_http_options *options, struct mt_http **out,
                              struct mt_error *err)
{
    struct mt_http *http = calloc(1, sizeof *http);
    if (!http)
        return mt_fail_memory(err, sizeof *http, "HTTP server");
    http->options = *options;
    http->listen_fd = http->wakeup_fd = -1;
    pthread_mutex_init(&http->mutex, NULL);
    size_t limit = options->max_client_connections;
    const struct mt_connections_options connections = {
        .max_connections = options->max_connections,
        .max_over_limit = MT_CONNECTIONS_OVER_LIMIT,
        .max_client_connections = limit > 0 ? limit : (options->max_connections + 3) / 4,
        .limits_this_machine = limit > 0,
        .proxies = options->proxies,
        .timeout_ms =
            {
                [MT_PHASE_FRESH] = options->header_timeout_ms,
                [MT_PHASE_HEADER] = options->header_timeout_ms,
                [MT_PHASE_BODY] = options->body_timeout_ms,
                [MT_PHASE_WORK] = 0, /* the engine ends the work at its deadline */
                [MT_PHASE_STREAM] = MT_REPLY_TIMEOUT_MS,
                [MT_PHASE_REPLY] = MT_REPLY_TIMEOUT_MS,
                [MT_PHASE_IDLE] = options->idle_timeout_ms,
            },
        .end_is_leaving = options->has_tls,
        .cancel = cancel_work,
        .ask = ask_work,
        .wake = wake_handshake,
        .nudge_ms = options->stream_keepalive_ms,
        .context = http,
    };
    enum mt_status status = mt_connections_create(&connections, &http->connections, err);
    if (!status) {
        http->wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (http->wakeup_fd < 0 ||
            !mt_connections_listen(http->connections, http->wakeup_fd, WAKEUP, true))
            status = mt_fail(err, MT_IO, "no descriptor to wake the HTTP thread with: %s",
                             strerror(errno));
    }
    if (status) {
        mt_http_destroy(http);
        return status;
    }
    *out = http;
    return MT_OK;
}

/* ---- TLS ---- */

static struct mt_connection *slot_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* GnuTLS calls this during each handshake, to learn which certificate to show. */
static int on_handshake(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                        gnutls_pcert_st **certificates, unsigned *n_certificates,
                        gnutls_ocsp_data_st **ocsp, unsigned *n_ocsp, gnutls_privkey_t *key,
                        unsigned *flags)
{
    (void)info;
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    const struct mt_connection *slot = connection ? slot_of(connection) : NULL;
    if (!slot)
        return -1;
    const struct mt_http *http = mt_connection_context(slot);
    struct mt_snapshots *snapshots = http->options.snapshots;
    struct mt_snapshot *snapshot = mt_snapshots_hold(snapshots);
    *ocsp = NULL;
    *n_ocsp = 0;
    int code = mt_tls_retrieve(mt_snapshot_service(snapshot)->tls, certificates, n_certificates,
                               key, flags);
    mt_snapshots_let_go(snapshots, snapshot);
    return code;
}

/*
 * The function that GnuTLS reads with. From 0.9.75 to 1.0.1 libmicrohttpd takes a connection for
 * readable while its handshake waits for the client, and retries without end: four bytes of a
 * record kept a whole core busy. So the connection is suspended until there is more to read.
 * (libmicrohttpd's mode with poll instead of epoll has no such fault, but it looks at every
 * connection each time: beside a thousand idle ones it answered a twentieth of the requests.) After
 * the handshake libmicrohttpd waits as it should.
 */
static ssize_t receive(gnutls_transport_ptr_t transport, void *bytes, size_t n_max)
{
    gnutls_session_t session = transport;
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    ssize_t n = recv(fd, bytes, n_max, 0);
    int reason = errno;
    struct mt_connection *slot = slot_of(connection);
    bool waits = n < 0 && (reason == EAGAIN || reason == EWOULDBLOCK) && slot &&
                 gnutls_handshake_get_last_in(session) != GNUTLS_HANDSHAKE_FINISHED;
    if (waits) {
        struct mt_http *http = mt_connection_context(slot);
        MHD_suspend_connection(connection);
        mt_connections_sleep(http->connections, slot, connection);
    }
    errno = reason; /* GnuTLS looks at it */
    return n;
}

static void receive_handshake(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_session_t session = info->tls_session;
    gnutls_transport_set_ptr2(session, session, gnutls_transport_get_ptr(session));
    gnutls_transport_set_pull_function(session, receive);
}

/* ---- connections ---- */

/* From now on the socket accepts only packets with at least this time to live; 0: all packets. A
 * listener that asks for one that hardly any packet has gets no new clients, while handshakes that
 * have begun go on. Closing it at once would reset clients that believe they are connected. A
 * socket filter would be more exact, but needs privileges. Returns false where fd is no TCP
 * listener. */
static bool limit_ttl(int fd, int ttl)
{
    bool has_ipv4 = setsockopt(fd, IPPROTO_IP, IP_MINTTL, &ttl, sizeof ttl) == 0;
    bool has_ipv6 = setsockopt(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &ttl, sizeof ttl) == 0;
    return has_ipv4 || has_ipv6;
}

static size_t connection_limit(const struct mt_http *http)
{
    return http->options.max_connections + MT_CONNECTIONS_OVER_LIMIT;
}

static bool has_room(const struct mt_http *http)
{
    struct mt_connection_counts counts;
    mt_connections_count(http->connections, &counts);
    return counts.n_open < connection_limit(http);
}

/* Returns true when nobody is left who waits to be accepted. */
static bool accept_connections(struct mt_http *http)
{
    for (int i = 0; i < ACCEPT_BATCH && has_room(http); i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = accept4(http->listen_fd, (struct sockaddr *)&address, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (fd < 0) {
            http->lacking_ms = mt_now_ms();
            mt_connections_want_room(http->connections);
            mt_log(MT_LOG_DEBUG, "no connection can be accepted: %s", strerror(errno));
            return false;
        }
        if (mt_http_is_draining(http))
            limit_ttl(fd, 0); /* inherited from the listener */
        /* MHD_add_connection owns the descriptor, whatever it returns. */
        (void)MHD_add_connection(http->daemon, fd, (struct sockaddr *)&address, length);
    }
    return false;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct mt_http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            mt_connections_remove(http->connections, *socket_context);
        http->lacking_ms = 0;
        return;
    }
    /* Each answer is copied at once: from 1.0 on it is valid only until the next question. */
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *socket_context = mt_connections_add(http->connections, fd, info ? info->client_addr : NULL);
    if (http->options.has_tls)
        receive_handshake(connection);
}

/* Called for the request line, before libmicrohttpd parses the target. Returns the exchange, which
 * the other callbacks get. */
static void *on_request_line(void *context, const char *target, struct MHD_Connection *connection)
{
    struct mt_http *http = context;
    struct mt_connection *slot = slot_of(connection);
    if (!slot)
        return NULL;
    return mt_exchange_create(http, connection, slot, target ? target : "");
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *n_upload, void **exchange)
{
    (void)context, (void)connection, (void)url;
    if (!*exchange)
        return MHD_NO;
    return mt_exchange_advance(*exchange, method, version, upload, n_upload);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection;
    if (*exchange)
        mt_exchange_complete(*exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *exchange = NULL;
}

/* Leaves targets as they were received: routes match exactly. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

bool mt_http_has_old_parser(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
}

/* libmicrohttpd's messages concern single connections, so they are logged at level debug. */
MT_PRINTF(2, 0) static void log_message(void *context, const char *format, va_list arguments)
{
    static const char refusal[] = "Error processing request (HTTP response code is %u";
    bool refuses_badly =
        mt_http_has_old_parser() && strncmp(format, refusal, sizeof refusal - 1) == 0;
    if (refuses_badly) {
        va_list copy;
        va_copy(copy, arguments);
        mt_exchange_refuse_head(context, va_arg(copy, unsigned));
        va_end(copy);
    }
    char message[256];
    vsnprintf(message, sizeof message, format, arguments);
    message[strcspn(message, "\n")] = '\0';
    mt_log(MT_LOG_DEBUG, "libmicrohttpd: %s", message);
}

static void panic(void *context, const char *file, unsigned line, const char *reason)
{
    (void)context;
    mt_log(MT_LOG_ERROR, "libmicrohttpd gave up at %s:%u: %s", file, line, reason);
    abort();
}

static bool is_on_loopback(int listen_fd)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (getsockname(listen_fd, (struct sockaddr *)&bound, &length) != 0)
        return false;
    struct mt_address address = mt_address_of((const struct sockaddr *)&bound);
    return mt_address_is_loopback(&address);
}

/* ---- the thread ---- */

static void listen_where_there_is_room(struct mt_http *http)
{
    if (http->lacking_ms > 0 && mt_now_ms() - http->lacking_ms >= LACKING_MS)
        http->lacking_ms = 0;
    bool may_accept = http->listen_fd >= 0 && http->lacking_ms == 0 && has_room(http);
    if (may_accept != http->is_listening &&
        mt_connections_listen(http->connections, http->listen_fd, LISTENER, may_accept))
        http->is_listening = may_accept;
}

/* Accepts connections that the kernel has already established, because their clients believe that
 * they are connected. */
static void drain(struct mt_http *http)
{
    if (http->drained_ms == 0) {
        http->drained_ms = mt_now_ms();
        if (!limit_ttl(http->listen_fd, UNLIKELY_TTL))
            http->drained_ms -= HANDSHAKE_MS; /* no handshake is on its way */
    }
    bool is_time = mt_now_ms() - http->drained_ms >= HANDSHAKE_MS;
    if (!accept_connections(http) || !(is_time || atomic_load(&http->refuses_work)))
        return;
    if (http->is_listening)
        mt_connections_listen(http->connections, http->listen_fd, LISTENER, false);
    http->is_listening = false;
    close(http->listen_fd);
    http->listen_fd = -1;
    atomic_store(&http->has_passed, true);
}

static void follow_end(struct mt_http *http)
{
    int end = atomic_load(&http->end);
    if (end >= MT_HTTP_DRAINING && http->listen_fd >= 0)
        drain(http);
    if (end >= MT_HTTP_CLOSING_IDLE)
        mt_connections_close_idle(http->connections, 100);
    if (end >= MT_HTTP_CANCELLING) {
        mt_connections_cancel_all(http->connections);
        mt_exchange_cancel_detached(http);
    }
}

static void retry(struct mt_http *http)
{
    int64_t now_ms = mt_now_ms();
    if (!http->detached.first || now_ms - http->retried_ms < RETRY_MS)
        return;
    http->retried_ms = now_ms;
    mt_exchange_retry_detached(http);
}

/* Returns -1 for ever. Before 1.0 libmicrohttpd does not report connections that have been
 * resumed. */
static int timeout_ms(const struct mt_http *http)
{
    MHD_UNSIGNED_LONG_LONG library_ms;
    if (http->has_resumed ||
        (MHD_get_timeout(http->daemon, &library_ms) == MHD_YES && library_ms == 0))
        return 0;
    return http->lacking_ms > 0 ? LACKING_MS : http->detached.first ? RETRY_MS : -1;
}

static void *serve(void *argument)
{
    struct mt_http *http = argument;
    prctl(PR_SET_NAME, http->options.name);
    while (atomic_load(&http->end) < MT_HTTP_OVER || atomic_load(&http->n_working) > 0) {
        listen_where_there_is_room(http);
        unsigned ready = mt_connections_wait(http->connections, timeout_ms(http));
        if (ready & WAKEUP) {
            eventfd_t ignored;
            eventfd_read(http->wakeup_fd, &ignored);
            mt_exchange_take_returned(http);
            follow_end(http);
        }
        if ((ready & LISTENER) && http->listen_fd >= 0)
            accept_connections(http);
        retry(http);
        http->has_resumed = false;
        MHD_run(http->daemon);
    }
    mt_connections_wake_all(
        http->connections); /* libmicrohttpd must not stop with suspended connections */
    MHD_stop_daemon(http->daemon);
    return NULL;
}

enum mt_status mt_http_start(struct mt_http *http, int listen_fd, struct mt_error *err)
{
    enum mt_status status = mt_descriptors_reserve(http->options.max_connections, err);
    http->listen_fd = listen_fd;
    if (status)
        return status;
    http->is_loopback = is_on_loopback(listen_fd);
    MHD_set_panic_func(panic, NULL);
    /* Before 1.0 libmicrohttpd's own refusals have two heads, so it is not made strict: the gate
     * refuses the same requests. From 1.0 on, unless it is strict, it replaces the end of a folded
     * line by blanks, accepts chunks whose lines end in LF alone, and redirects where a target has
     * blanks, and the gate cannot see any of that afterwards. */
    int strictness = mt_http_has_old_parser() ? 0 : 1;
    unsigned flags =
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)MT_TLS_PRIORITIES},
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)on_handshake},
        {MHD_OPTION_END, 0, NULL},
    };
    if (http->options.has_tls)
        flags |= MHD_USE_TLS;
    else
        tls[0].option = MHD_OPTION_END;
    // clang-format off
    http->daemon = MHD_start_daemon(
        flags,
        0, NULL, NULL, on_access, http,
        MHD_OPTION_EXTERNAL_LOGGER, log_message, http,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)connection_limit(http),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MT_CONNECTION_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, strictness,
        MHD_OPTION_URI_LOG_CALLBACK, on_request_line, http,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    // clang-format on
    if (!http->daemon)
        return mt_fail(err, MT_IO, "libmicrohttpd could not start: %s", strerror(errno));
    int library_fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    if (!mt_connections_listen(http->connections, library_fd, LIBRARY, true))
        return mt_fail(err, MT_IO, "no memory for watching connections");
    http->has_thread = pthread_create(&http->thread, NULL, serve, http) == 0;
    return http->has_thread ? MT_OK : mt_fail(err, MT_IO, "no thread for HTTP");
}

/* ---- the end ---- */

static void advance_end(struct mt_http *http, enum mt_http_end end)
{
    int now = atomic_load(&http->end);
    while (now < (int)end && !atomic_compare_exchange_weak(&http->end, &now, (int)end))
        ;
    eventfd_write(http->wakeup_fd, 1);
}

void mt_http_announce_end(struct mt_http *http)
{
    advance_end(http, MT_HTTP_UNREADY);
}

bool mt_http_drain(struct mt_http *http)
{
    advance_end(http, MT_HTTP_DRAINING);
    return atomic_load(&http->has_passed);
}

void mt_http_close_idle(struct mt_http *http)
{
    advance_end(http, MT_HTTP_CLOSING_IDLE);
}

void mt_http_refuse_work(struct mt_http *http)
{
    atomic_store(&http->refuses_work, true);
    eventfd_write(http->wakeup_fd, 1);
}

void mt_http_cancel(struct mt_http *http)
{
    advance_end(http, MT_HTTP_CANCELLING);
}

void mt_http_destroy(struct mt_http *http)
{
    if (!http)
        return;
    if (http->has_thread) {
        mt_http_refuse_work(http);
        advance_end(http, MT_HTTP_OVER);
        pthread_join(http->thread, NULL);
    } else if (http->daemon) {
        MHD_stop_daemon(http->daemon);
    }
    if (http->listen_fd >= 0)
        close(http->listen_fd);
    if (http->wakeup_fd >= 0)
        close(http->wakeup_fd);
    mt_connections_destroy(http->connections);
    pthread_mutex_destroy(&http->mutex);
    free(http);
}

/* Under SCHED_BATCH the kernel does not let a thread preempt others when it wakes up. A policy that
 * the operator has chosen is left alone. */
void mt_http_give_way(struct mt_http *http, bool gives_way)
{
    const struct sched_param none = {0};
    if (gives_way == http->gives_way || (gives_way && sched_getscheduler(0) != SCHED_OTHER))
        return;
    if (sched_setscheduler(0, gives_way ? SCHED_BATCH : SCHED_OTHER, &none) == 0)
        http->gives_way = gives_way;
}

bool mt_http_is_ending(const struct mt_http *http)
{
    return atomic_load(&http->end) >= MT_HTTP_UNREADY;
}

bool mt_http_is_draining(const struct mt_http *http)
{
    return atomic_load(&http->end) >= MT_HTTP_DRAINING;
}

void mt_http_count(const struct mt_http *http, struct mt_connection_counts *out)
{
    mt_connections_count(http->connections, out);
    out->n_working = atomic_load(&http->n_working);
}
