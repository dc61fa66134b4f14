#include "server/http/listen.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* Without this a restart would wait until the TIME_WAIT of the last connections is over. */
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static enum mt_status describe(struct mt_listener *listener, struct mt_error *err)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(listener->fd, (struct sockaddr *)&bound, &length) != 0 ||
        getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return mt_fail(err, MT_IO, "cannot find out the address that was bound");
    bool is_ipv6 = bound.ss_family == AF_INET6;
    const void *port_field = is_ipv6 ? (void *)&((struct sockaddr_in6 *)&bound)->sin6_port
                                     : (void *)&((struct sockaddr_in *)&bound)->sin_port;
    in_port_t network_port;
    memcpy(&network_port, port_field, sizeof network_port);
    listener->port = ntohs(network_port);
    snprintf(listener->address, sizeof listener->address, is_ipv6 ? "[%.60s]:%.8s" : "%.60s:%.8s",
             host, port);
    return MT_OK;
}

enum mt_status mt_listen(const char *host, uint16_t port, struct mt_listener *out,
                         struct mt_error *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *addresses;
    int code = getaddrinfo(host, service, &hints, &addresses);
    if (code != 0)
        return mt_fail(err, MT_NOT_FOUND, "cannot listen on %s:%u: %s", host, port,
                       gai_strerror(code));
    struct mt_listener listener = {.fd = -1};
    int reason = 0;
    for (const struct addrinfo *at = addresses; at && listener.fd < 0; at = at->ai_next) {
        listener.fd = open_socket(at);
        if (listener.fd < 0 && reason == 0)
            reason = errno;
    }
    freeaddrinfo(addresses);
    if (listener.fd < 0)
        return mt_fail(err, MT_IO, "cannot listen on %s:%u: %s%s", host, port, strerror(reason),
                       reason == EADDRINUSE ? "; --port N takes another one" : "");
    enum mt_status status = describe(&listener, err);
    if (status) {
        close(listener.fd);
        return status;
    }
    *out = listener;
    return MT_OK;
}

enum mt_status mt_listen_unix_check(const char *path, struct mt_error *err)
{
    struct stat st;
    size_t length = strlen(path), limit = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    if (length > limit)
        return mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", path, length, limit);
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return mt_fail(err, MT_IO, "%s: expected a socket or nothing, found a %s", path,
                       mt_file_kind(st.st_mode));
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct sockaddr_un *)0)->sun_path] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return mt_fail(err, MT_IO, "%s: cannot make a socket in %s: %s", path, folder,
                       strerror(errno));
    return MT_OK;
}

/* Removes a socket file where nobody answers: a former process left it behind. */
static enum mt_status remove_leftover(const struct sockaddr_un *address, struct mt_error *err)
{
    struct stat st;
    const char *path = address->sun_path;
    if (lstat(path, &st) != 0)
        return MT_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return mt_fail(err, MT_IO, "%s: cannot make a socket: %s", path, strerror(errno));
    int code = connect(fd, (const struct sockaddr *)address, sizeof *address);
    int reason = errno;
    close(fd);
    if (code == 0 || reason != ECONNREFUSED)
        return mt_fail(err, MT_BUSY, "%s: another process listens there", path);
    if (unlink(path) != 0)
        return mt_fail(err, MT_IO, "%s: cannot remove: %s", path, strerror(errno));
    return MT_OK;
}

/* The file gets the mode of the socket, so that others cannot connect at any moment. */
static bool bind_private(int fd, const struct sockaddr_un *address)
{
    return fchmod(fd, S_IRUSR | S_IWUSR) == 0 &&
           bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           listen(fd, SOMAXCONN) == 0;
}

enum mt_status mt_listen_unix(const char *path, int *out_fd, struct mt_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    enum mt_status status = mt_listen_unix_check(path, err);
    if (status)
        return status;
    memcpy(address.sun_path, path, strlen(path));
    status = remove_leftover(&address, err);
    if (status)
        return status;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !bind_private(fd, &address)) {
        status = mt_fail(err, MT_IO, "cannot listen on %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    *out_fd = fd;
    return MT_OK;
}
