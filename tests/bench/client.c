#include "tests/bench/client.h"

#include "tests/bench/machine.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdalign.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define RECEIVE_BYTES ((size_t)16 << 10)

/* Level-triggered: writable is only asked for while there is something to write. */
static void watch(struct load_client *client, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = client};
    epoll_ctl(client->epoll_fd, operation, client->fd, &event);
}

static enum load_event fail(struct load_client *client, enum load_event event)
{
    load_client_close(client);
    return event;
}

static enum load_event fail_to_connect(struct load_client *client, int error)
{
    client->connect_error = error;
    return fail(client, LOAD_NOT_CONNECTED);
}

enum load_event load_client_open(struct load_client *client, int epoll_fd,
                                 const struct sockaddr *address, socklen_t length)
{
    const int on = 1;
    client->epoll_fd = epoll_fd;
    client->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        return fail_to_connect(client, errno);
    client->state = LOAD_CONNECTING;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (connect(client->fd, address, length) != 0 && errno != EINPROGRESS)
        return fail_to_connect(client, errno);
    watch(client, EPOLL_CTL_ADD, EPOLLOUT);
    return LOAD_NOTHING;
}

void load_client_close(struct load_client *client)
{
    if (client->state != LOAD_CLOSED)
        close(client->fd);
    client->state = LOAD_CLOSED;
}

void load_client_finish(struct load_client *client)
{
    load_client_close(client);
    mt_text_finish(&client->received);
}

static enum load_event go_on_sending(struct load_client *client)
{
    const struct mt_text *message = client->message;
    while (client->n_sent < message->length) {
        ssize_t n = send(client->fd, message->bytes + client->n_sent,
                         message->length - client->n_sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(client, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return LOAD_NOTHING;
        }
        if (n < 0)
            return fail(client, LOAD_DISCONNECTED);
        client->n_sent += (size_t)n;
    }
    client->sent_ns = load_real_time_ns();
    client->state = LOAD_RECEIVING;
    return LOAD_NOTHING;
}

enum load_event load_client_send(struct load_client *client, const struct mt_text *message,
                                 int64_t intended_ns)
{
    client->state = LOAD_SENDING;
    client->message = message;
    client->n_sent = 0;
    client->received.length = 0;
    client->intended_ns = intended_ns;
    client->sent_ns = client->replied_ns = 0;
    return go_on_sending(client);
}

static enum load_event finish_connecting(struct load_client *client)
{
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error)
        return fail_to_connect(client, error);
    watch(client, EPOLL_CTL_MOD, EPOLLIN);
    client->state = LOAD_IDLE;
    return LOAD_NOTHING;
}

static enum load_event understand(struct load_client *client, struct load_reply *reply)
{
    const struct mt_text *received = &client->received;
    if (received->status || received->length > LOAD_MAX_REPLY_BYTES)
        return fail(client, LOAD_NOT_UNDERSTOOD);
    switch (load_reply_parse(received->bytes, received->length, reply)) {
    case LOAD_REPLY_INCOMPLETE:
        return LOAD_NOTHING;
    case LOAD_REPLY_MALFORMED:
        return fail(client, LOAD_NOT_UNDERSTOOD);
    case LOAD_REPLY_COMPLETE:
        break;
    }
    bool was_early = client->state == LOAD_SENDING;
    client->state = LOAD_IDLE;
    if (reply->closes || was_early)
        load_client_close(client);
    return LOAD_ANSWERED;
}

/* recv that also says when the bytes came to this machine's socket, as far as the kernel tells. */
static ssize_t receive_bytes(struct load_client *client, char *bytes, size_t capacity)
{
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec piece = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(client->fd, &message, 0);
    if (n <= 0 || client->replied_ns != 0)
        return n;
    client->replied_ns = load_real_time_ns();
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        struct timespec arrival;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&arrival, CMSG_DATA(c), sizeof arrival);
        client->replied_ns = load_to_ns(arrival);
    }
    return n;
}

static enum load_event receive(struct load_client *client, struct load_reply *reply)
{
    char bytes[RECEIVE_BYTES];
    ssize_t n = receive_bytes(client, bytes, sizeof bytes);
    if (n < 0 && errno == EAGAIN)
        return LOAD_NOTHING;
    bool is_idle = client->state == LOAD_IDLE;
    if (n <= 0)
        return fail(client, is_idle ? LOAD_NOTHING : LOAD_DISCONNECTED);
    if (is_idle)
        return fail(client, LOAD_NOT_UNDERSTOOD);
    mt_text_append(&client->received, bytes, (size_t)n);
    return understand(client, reply);
}

enum load_event load_client_handle(struct load_client *client, uint32_t epoll_events,
                                   struct load_reply *reply)
{
    if (client->state == LOAD_CLOSED)
        return LOAD_NOTHING;
    if (client->state == LOAD_CONNECTING)
        return finish_connecting(client);
    if (client->state == LOAD_SENDING && (epoll_events & EPOLLOUT)) {
        enum load_event event = go_on_sending(client);
        if (client->state == LOAD_RECEIVING)
            watch(client, EPOLL_CTL_MOD, EPOLLIN);
        return event;
    }
    return receive(client, reply);
}
