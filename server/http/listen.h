/*
 * Listening sockets. Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_LISTEN_H
#define MT_SERVER_HTTP_LISTEN_H

#include "base/status.h"

#include <stdint.h>

#define MT_ADDRESS_BYTES 80

struct mt_listener {
    int fd;                         /* the caller closes it */
    uint16_t port;                  /* the bound port, never 0 */
    char address[MT_ADDRESS_BYTES]; /* "127.0.0.1:5000", "[::1]:5000" */
};

/* Binds the first address of host (a name or a number) that can be bound, and listens. port 0: the
 * kernel chooses one. MT_IO says why no address could be bound, MT_NOT_FOUND that there is no such
 * host. */
MT_MUST_CHECK enum mt_status mt_listen(const char *host, uint16_t port, struct mt_listener *out,
                                       struct mt_error *err);

/* Whether mt_listen_unix could make a socket there, as far as can be told without making it;
 * whether somebody already listens there is not checked. MT_IO, MT_LIMIT as from mt_listen_unix. */
MT_MUST_CHECK enum mt_status mt_listen_unix_check(const char *path, struct mt_error *err);

/* Makes a socket in the file system to which only the owner of the process may connect (mode 0600).
 * A socket that a former process has left behind is replaced. MT_BUSY: somebody listens there.
 * MT_IO; MT_LIMIT: the path has more than 107 bytes. *out_fd and the file are the caller's. */
MT_MUST_CHECK enum mt_status mt_listen_unix(const char *path, int *out_fd, struct mt_error *err);

#endif
