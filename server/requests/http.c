#include "server/requests/http.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/http/client.h"
#include "server/http/connections.h"
#include "server/http/descriptors.h"
#include "server/requests/exchange.h"
#include "server/service/generation.h"
#include "server/service/generations.h"
#include "server/requests/handler.h"
#include "server/http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long handshakes that have begun have to end, once new ones are turned away. A client that
 * comes meanwhile hears nothing, asks again after a second, and is refused. */
#define HANDSHAKE_MS 50
/* Systems send with 64 or 128, and each router takes one off: of the few that send with 255 only a
 * neighbour is heard, as before. */
#define UNLIKELY_TTL 255
/* libmicrohttpd does not survive to be given a connection at its limit: 0.9.75 keeps a lock. Those
 * that it takes or lets go of meanwhile, and the barrier, are not counted. */
#define ROOM_MARGIN 8

static void cancel_work(void *context, void *work, bool has_left)
{
    (void)context;
    mt_exchange_cancel(work, has_left);
}

static void nudge_work(void *context, void *work)
{
    (void)context;
    mt_exchange_nudge(work);
}

static void wake_handshake(void *context, void *connection)
{
    (void)context;
    MHD_resume_connection(connection);
}

enum mt_status mt_http_create(const struct mt_http_options *options, struct mt_http **out,
                              struct mt_error *err)
{
    struct mt_http *http = calloc(1, sizeof *http);
    if (!http)
        return mt_fail_memory(err, sizeof *http, "HTTP server");
    http->options = *options;
    http->listen_fd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, http->barrier_fds) !=
        0) {
        enum mt_status failed = mt_fail(err, MT_IO, "no sockets for HTTP: %s", strerror(errno));
        free(http);
        return failed;
    }
    size_t limit = options->max_client_connections;
    const struct mt_connections_options connections = {
        .max_connections = options->max_connections,
        .max_surplus = MT_SURPLUS_CONNECTIONS,
        .max_client_connections = limit > 0 ? limit : (options->max_connections + 3) / 4,
        .limits_this_machine = limit > 0,
        .proxies = options->proxies,
        .timeout_ms =
            {
                [MT_PHASE_FRESH] = options->header_timeout_ms,
                [MT_PHASE_HEADER] = options->header_timeout_ms,
                [MT_PHASE_BODY] = options->body_timeout_ms,
                [MT_PHASE_WORK] = 0, /* the engine keeps the request's deadline */
                [MT_PHASE_STREAM] = MT_REPLY_TIMEOUT_MS,
                [MT_PHASE_REPLY] = MT_REPLY_TIMEOUT_MS,
                [MT_PHASE_IDLE] = options->idle_timeout_ms,
            },
        .end_is_leaving = options->has_tls,
        .cancel = cancel_work,
        .nudge = nudge_work,
        .wake = wake_handshake,
        .nudge_ms = options->stream_keepalive_ms,
        .context = http,
    };
    enum mt_status status = mt_connections_create(&connections, &http->connections, err);
    if (status) {
        mt_http_destroy(http);
        return status;
    }
    *out = http;
    return MT_OK;
}

static struct mt_connection *slot_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* GnuTLS asks during each handshake. */
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
    struct mt_generations *generations = http->options.generations;
    struct mt_generation *generation = mt_generations_hold(generations);
    *ocsp = NULL;
    *n_ocsp = 0;
    int code = mt_tls_retrieve(mt_generation_service(generation)->tls, certificates, n_certificates,
                               key, flags);
    mt_generations_let_go(generations, generation);
    return code;
}

/*
 * How GnuTLS reads. libmicrohttpd, from 0.9.75 to 1.0.1, counts a connection as ready to be read
 * while its handshake waits for the client, and tries again without end: four bytes of a record
 * took a whole core. So the connection is suspended until there is more to be read. Its poll
 * instead of epoll would wait by itself, but looks at every connection each time: beside a thousand
 * idle ones it answered a twentieth of the requests. After the handshake libmicrohttpd waits well.
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
    errno = reason; /* which GnuTLS looks at */
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

/* From now on the socket sees only packets with so much time to live, 0: all. A listener that asks
 * for the unlikely hears nothing of new clients, while handshakes that have begun go on: were it
 * closed at once, a client that takes itself for connected would be reset. A socket filter could
 * say it better, but takes privileges. False: it is no listener for TCP. */
static bool limit_ttl(int fd, int ttl)
{
    bool has_ipv4 = setsockopt(fd, IPPROTO_IP, IP_MINTTL, &ttl, sizeof ttl) == 0;
    bool has_ipv6 = setsockopt(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &ttl, sizeof ttl) == 0;
    return has_ipv4 || has_ipv6;
}

/* The HTTP thread's name, which libmicrohttpd has given it already, as any other. */
static void take_name(struct mt_http *http)
{
    if (!http->has_name)
        prctl(PR_SET_NAME, http->options.name);
    http->has_name = true;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct mt_http *http = context;
    take_name(http);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            mt_connections_remove(http->connections, *socket_context);
        return;
    }
    /* Each by value: what is returned holds until the next question only, from 1.0 on. */
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    if (address && address->sa_family == AF_UNSPEC) {
        atomic_store(&http->has_passed, true);
        return; /* its end has come, and it is closed */
    }
    if (mt_http_is_draining(http))
        limit_ttl(fd, 0); /* which the last ones have of the listener */
    *socket_context = mt_connections_add(http->connections, fd, address);
    if (http->options.has_tls)
        receive_handshake(connection);
}

/* Called with the request line, before libmicrohttpd takes the target apart. What it returns is the
 * exchange that the other callbacks get. */
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
        mt_exchange_destroy(*exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *exchange = NULL;
}

/* Targets stay as they were received; routes match exactly. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

/* What libmicrohttpd has to say is about single connections, and of interest to those who look. */
MT_PRINTF(2, 0) static void log_message(void *context, const char *format, va_list arguments)
{
    static const char refusal[] = "Error processing request (HTTP response code is %u";
    static const char full[] = "Hit process or system resource limit at %u";
    bool refuses_badly = strncmp(MHD_get_version(), "0.", 2) == 0 &&
                         strncmp(format, refusal, sizeof refusal - 1) == 0;
    if (refuses_badly) {
        va_list copy;
        va_copy(copy, arguments);
        mt_exchange_refuse_head(context, va_arg(copy, unsigned));
        va_end(copy);
    }
    if (strncmp(format, full, sizeof full - 1) == 0)
        mt_connections_want_room(((struct mt_http *)context)->connections);
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

bool mt_http_has_old_parser(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
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

static size_t connection_limit(const struct mt_http *http)
{
    return http->options.max_connections + MT_SURPLUS_CONNECTIONS;
}

enum mt_status mt_http_start(struct mt_http *http, int listen_fd, struct mt_error *err)
{
    enum mt_status status = mt_descriptors_reserve(http->options.max_connections, err);
    if (status) {
        close(listen_fd);
        return status;
    }
    http->is_loopback = is_on_loopback(listen_fd);
    MHD_set_panic_func(panic, NULL);
    /* Before 1.0 its own refusals send two heads, and the gate refuses the same. From 1.0 on it
     * puts blanks in the place of a folded line's end, accepts chunks whose lines end in LF alone,
     * and answers blanks in a target with a redirection, unless it is strict; nobody behind it can
     * tell. */
    int strictness = mt_http_has_old_parser() ? 0 : 1;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
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
        MHD_OPTION_LISTEN_SOCKET, listen_fd,
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
    if (http->daemon)
        return MT_OK;
    /* libmicrohttpd has closed listen_fd on some of its ways out; nobody can tell. */
    return mt_fail(err, MT_IO, "libmicrohttpd could not start: %s", strerror(errno));
}

/* Whether libmicrohttpd may be given another connection. */
static bool has_room(struct mt_http *http)
{
    struct mt_connection_counts counts;
    mt_connections_count(http->connections, &counts);
    uint64_t n_arrived = counts.n_came - http->n_came;
    uint64_t n_on_their_way = http->n_given > n_arrived ? http->n_given - n_arrived : 0;
    return counts.n_open + n_on_their_way + ROOM_MARGIN < connection_limit(http);
}

/* Connections that the kernel has completed are clients that we have accepted, in their eyes.
 * False: there may be more, for which there is no room now. */
static bool take_backlog(struct mt_http *http)
{
    while (has_room(http)) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = accept4(http->listen_fd, (struct sockaddr *)&address, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return true;
        /* It owns the descriptor, whatever it returns. */
        if (MHD_add_connection(http->daemon, fd, (struct sockaddr *)&address, length) == MHD_YES)
            http->n_given++;
    }
    return false;
}

/* The HTTP thread knows of a connection some time after it was accepted, by itself or by us. What
 * is added now it meets after all of those: a connection without an address that has already ended.
 * False: it could not be added. */
static bool set_barrier(struct mt_http *http)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    int fd = fcntl(http->barrier_fds[0], F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return false;
    shutdown(http->barrier_fds[1], SHUT_WR);
    return MHD_add_connection(http->daemon, fd, &nowhere, sizeof nowhere) == MHD_YES;
}

static void begin_drain(struct mt_http *http)
{
    struct mt_connection_counts counts;
    http->drained_ms = mt_now_ms();
    http->listen_fd = MHD_quiesce_daemon(http->daemon);
    mt_connections_count(http->connections, &counts);
    http->n_came = counts.n_came;
    http->is_shut = http->listen_fd < 0;
    if (!http->is_shut && !limit_ttl(http->listen_fd, UNLIKELY_TTL))
        http->drained_ms -= HANDSHAKE_MS; /* there is nothing to wait for */
}

/* shutdown, not close: the HTTP thread may be about to accept, and must not find another file under
 * that number. */
static void shut_listener(struct mt_http *http)
{
    shutdown(http->listen_fd, SHUT_RDWR);
    http->is_shut = true;
}

void mt_http_announce_end(struct mt_http *http)
{
    atomic_store(&http->is_unready, true);
}

bool mt_http_drain(struct mt_http *http)
{
    if (!atomic_exchange(&http->is_draining, true))
        begin_drain(http);
    bool is_time = mt_now_ms() - http->drained_ms >= HANDSHAKE_MS;
    if (!http->is_shut && take_backlog(http) && is_time)
        shut_listener(http);
    if (http->is_shut && !http->is_barrier_set && has_room(http))
        http->is_barrier_set = set_barrier(http);
    return atomic_load(&http->has_passed);
}

void mt_http_close_idle(struct mt_http *http)
{
    mt_connections_close_idle(http->connections, 100);
}

void mt_http_refuse_work(struct mt_http *http)
{
    if (mt_http_is_draining(http) && !http->is_shut) {
        take_backlog(http);
        shut_listener(http);
    }
    mt_connections_refuse_work(http->connections);
}

void mt_http_cancel(struct mt_http *http)
{
    mt_connections_cancel_all(http->connections);
}

void mt_http_destroy(struct mt_http *http)
{
    if (!http)
        return;
    if (http->daemon) {
        mt_http_drain(http);
        mt_connections_wake_all(http->connections); /* it wants nothing suspended */
        MHD_stop_daemon(http->daemon);
        if (http->listen_fd >= 0)
            close(http->listen_fd);
    }
    close(http->barrier_fds[0]);
    close(http->barrier_fds[1]);
    mt_connections_destroy(http->connections);
    free(http);
}

/* A thread that the kernel takes for a batch job does not preempt when it wakes up. A policy that
 * the operator has chosen stays. */
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
    return atomic_load(&http->is_unready) || mt_http_is_draining(http);
}

bool mt_http_is_draining(const struct mt_http *http)
{
    return atomic_load(&http->is_draining);
}

void mt_http_count(struct mt_http *http, struct mt_connection_counts *out)
{
    mt_connections_count(http->connections, out);
}
