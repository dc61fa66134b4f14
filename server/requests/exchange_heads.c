/*
 * Heads that libmicrohttpd refuses by itself. Up to 0.9.77 it answers what is wrong in the fields
 * of a complete head, a Content-Length that is no number or cookies that it has no memory for, with
 * its status line and fields twice, the second time as the beginning of the body, and asks nobody
 * before. All that we hear of it is a line for the log. So we answer at that moment, and close our
 * side of the socket, so that what it is about to send does not leave.
 */
#include "server/requests/exchange_state.h"
#include "server/http/http_gate.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <gnutls/gnutls.h>

void mt_exchange_await_head(struct mt_exchange *exchange)
{
    struct mt_exchange **first = &exchange->http->heads;
    exchange->next_head = *first;
    exchange->head_place = first;
    if (*first)
        (*first)->head_place = &exchange->next_head;
    *first = exchange;
}

void mt_exchange_have_head(struct mt_exchange *exchange)
{
    if (!exchange->head_place)
        return;
    *exchange->head_place = exchange->next_head;
    if (exchange->next_head)
        exchange->next_head->head_place = exchange->head_place;
    exchange->head_place = NULL;
}

static const union MHD_ConnectionInfo *ask(const struct mt_exchange *exchange,
                                           enum MHD_ConnectionInfoType what)
{
    return MHD_get_connection_info(exchange->connection, what);
}

/* The one whose head is complete, although we were not called for it: libmicrohttpd goes from one
 * to the other without a break, and tells the size in between. */
static struct mt_exchange *find_complete(const struct mt_http *http)
{
    struct mt_exchange *exchange = http->heads;
    while (exchange && !ask(exchange, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE))
        exchange = exchange->next_head;
    return exchange;
}

/* All of it at once, or nothing: the socket's buffer is empty, since earlier replies have left. */
static void send_last(const struct mt_exchange *exchange, const char *bytes, size_t length)
{
    int fd = ask(exchange, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    ssize_t n =
        exchange->http->options.has_tls
            ? gnutls_record_send(ask(exchange, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session,
                                 bytes, length)
            : send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)n;
    shutdown(fd, SHUT_WR);
}

void mt_exchange_refuse_head(struct mt_http *http, unsigned code)
{
    struct mt_exchange *exchange = find_complete(http);
    if (!exchange)
        return;
    struct mt_reply *reply = &exchange->request.reply;
    const char *message = code == 431   ? MT_GATE_LONG_HEADERS
                          : code == 413 ? MT_GATE_LONG_BODY
                                        : MT_GATE_NO_LENGTH;
    mt_reply_error(reply, code, message);
    mt_exchange_count_rejection(exchange,
                                code == 413 ? MT_REJECTED_TOO_LARGE : MT_REJECTED_MALFORMED);
    char bytes[512];
    int length = snprintf(bytes, sizeof bytes,
                          "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%.*s",
                          code, MHD_get_reason_phrase_for(code), reply->body.length,
                          (int)reply->body.length, reply->body.bytes);
    if (length > 0 && (size_t)length < sizeof bytes)
        send_last(exchange, bytes, (size_t)length);
}
