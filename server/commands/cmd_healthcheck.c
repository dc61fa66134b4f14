#include "server/commands/cli.h"
#include "server/commands/commands.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gnutls/gnutls.h>

/* Enough for the status line; the rest of the reply is ignored. */
#define REPLY_BYTES 512

/* The connection: a socket, perhaps with TLS. */
struct line {
    int fd;
    gnutls_session_t tls; /* NULL: none */
    gnutls_certificate_credentials_t credentials;
};

/* An address that means "every interface" cannot be connected to, so the loopback address is taken
 * instead. */
static const char *reachable(const char *host)
{
    if (!strcmp(host, "0.0.0.0"))
        return "127.0.0.1";
    return !strcmp(host, "::") ? "::1" : host;
}

static enum mt_status connect_to(const char *host, const char *port, int64_t timeout_ms, int *out,
                                 struct mt_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval timeout = {
        .tv_sec = timeout_ms / 1000,
        .tv_usec = timeout_ms % 1000 * 1000,
    };
    struct addrinfo *addresses;
    int failure = getaddrinfo(host, port, &hints, &addresses);
    if (failure)
        return mt_fail(err, MT_IO, "%s: %s", host, gai_strerror(failure));
    enum mt_status status = mt_fail(err, MT_IO, "%s: no address", host);
    for (const struct addrinfo *a = addresses; a && status; a = a->ai_next) {
        int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        bool is_connected = fd >= 0 &&
                            !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) &&
                            !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) &&
                            !connect(fd, a->ai_addr, a->ai_addrlen);
        if (is_connected) {
            *out = fd;
            status = MT_OK;
            continue;
        }
        status = mt_fail(err, MT_IO, "%s port %s: %s", host, port, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    freeaddrinfo(addresses);
    return status;
}

/* The certificate is not verified: it is made for the daemon's public name, and here only a reply
 * counts. */
static enum mt_status start_tls(struct line *line, struct mt_error *err)
{
    int code = gnutls_certificate_allocate_credentials(&line->credentials);
    if (code == 0)
        code = gnutls_init(&line->tls, GNUTLS_CLIENT);
    if (code == 0)
        code = gnutls_set_default_priority(line->tls);
    if (code == 0)
        code = gnutls_credentials_set(line->tls, GNUTLS_CRD_CERTIFICATE, line->credentials);
    if (code == 0) {
        gnutls_transport_set_int(line->tls, line->fd);
        do
            code = gnutls_handshake(line->tls);
        while (code == GNUTLS_E_INTERRUPTED);
    }
    if (code == GNUTLS_E_AGAIN)
        return mt_fail(err, MT_TIMEOUT, "connected, but no answer came");
    if (code != 0)
        return mt_fail(err, MT_IO, "TLS: %s", gnutls_strerror(code));
    return MT_OK;
}

static void hang_up(struct line *line)
{
    if (line->tls)
        gnutls_deinit(line->tls);
    if (line->credentials)
        gnutls_certificate_free_credentials(line->credentials);
    if (line->fd >= 0)
        close(line->fd);
}

static ssize_t send_bytes(const struct line *line, const char *bytes, size_t length)
{
    return line->tls ? gnutls_record_send(line->tls, bytes, length)
                     : send(line->fd, bytes, length, MSG_NOSIGNAL);
}

static ssize_t receive_bytes(const struct line *line, char *bytes, size_t length)
{
    ssize_t n;
    if (!line->tls)
        return recv(line->fd, bytes, length, 0);
    do /* there may be a session ticket first */
        n = gnutls_record_recv(line->tls, bytes, length);
    while (n == GNUTLS_E_INTERRUPTED);
    return n;
}

/* Reads until the status line is complete, and ignores the rest of the reply. */
static size_t read_status_line(const struct line *line, char reply[REPLY_BYTES])
{
    size_t length = 0;
    while (length + 1 < REPLY_BYTES) {
        ssize_t n = receive_bytes(line, reply + length, REPLY_BYTES - 1 - length);
        if (n <= 0)
            break;
        length += (size_t)n;
        reply[length] = '\0';
        if (strstr(reply, "\r\n"))
            break;
    }
    reply[length] = '\0';
    return strcspn(reply, "\r\n");
}

static enum mt_status ask(const struct line *line, struct mt_error *err)
{
    static const char request[] =
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char reply[REPLY_BYTES];
    if (send_bytes(line, request, strlen(request)) != (ssize_t)strlen(request))
        return mt_fail(err, MT_IO, "cannot send: %s", strerror(errno));
    size_t line_length = read_status_line(line, reply);
    if (!line_length)
        return mt_fail(err, MT_TIMEOUT, "connected, but no answer came");
    if (strncmp(reply, "HTTP/1.1 200", strlen("HTTP/1.1 200")))
        return mt_fail(err, MT_IO, "expected \"HTTP/1.1 200\", found \"%.*s\"", (int)line_length,
                       reply);
    return MT_OK;
}

int mt_cmd_healthcheck(int argc, char **argv)
{
    int64_t timeout_ms = 5000;
    const struct mt_cli_option options[] = {
        {
            .name = "timeout-ms",
            .value_name = "MS",
            .doc = "give up after so long without an answer (default 5000)",
            .integer = &timeout_ms,
            .low = 1,
            .high = 600000,
        },
        {0},
    };
    const struct mt_cli_command command = {
        .name = "healthcheck",
        .verb = MT_VERB_HEALTHCHECK,
        .synopsis = "[--host H] [--port P]",
        .summary = "ask a running daemon whether it is well",
        .detail =
            "Sends GET /health, over TLS where tls_certificate is set, and succeeds if the answer "
            "is 200.\nFor containers, which carry no curl.\n",
        .options = options,
    };
    struct mt_cli cli;
    struct mt_error err;
    char port[sizeof "65535"];
    struct line line = {.fd = -1};
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    snprintf(port, sizeof port, "%d", (int)cli.settings.port);
    enum mt_status status =
        connect_to(reachable(cli.settings.host), port, timeout_ms, &line.fd, &err);
    if (!status && *cli.settings.tls_certificate)
        status = start_tls(&line, &err);
    if (!status)
        status = ask(&line, &err);
    exit_code = status ? mt_cli_fail(&command, &err) : MT_EXIT_OK;
    hang_up(&line);
    mt_cli_finish(&cli);
    return exit_code;
}
