/*
 * Listening sockets. Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_LISTEN_H
#define MT_SERVER_HTTP_LISTEN_H

#include "base/status.h"

#include <stdint.h>

#define MT_ADDRESS_BYTES 80

struct mt_listener {
    int fd;                         /* the caller's: close it */
    uint16_t port;                  /* as bound: never 0 */
    char address[MT_ADDRESS_BYTES]; /* "127.0.0.1:5000", "[::1]:5000" */
};

/* Binds the first address of host (a name or a number) that can be bound, and listens. port 0: one
 * that the kernel chooses. MT_IO says why it could not be,
 * MT_NOT_FOUND that there is no such host. */
MT_MUST_CHECK enum mt_status mt_listen(const char *host, uint16_t port, struct mt_listener *out,
                                       struct mt_error *err);

/* Whether mt_listen_unix could make a socket there, as far as can be seen without making it: who
 * listens there already is not asked. MT_IO, MT_LIMIT as of it. */
MT_MUST_CHECK enum mt_status mt_listen_unix_check(const char *path, struct mt_error *err);

/* A socket in the file system, that the owner of the process alone may connect to (mode 0600). One
 * that a former process has left behind is replaced; MT_BUSY: somebody listens there. MT_IO,
 * MT_LIMIT (a path of more than 107 bytes). *out_fd is the caller's, and so is the file. */
MT_MUST_CHECK enum mt_status mt_listen_unix(const char *path, int *out_fd, struct mt_error *err);

#endif
