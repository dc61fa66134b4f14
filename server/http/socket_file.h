/*
 * Removes a socket's file when the daemon ends. The sandbox lets the daemon remove nothing outside
 * its cache. So another process does it, which is made before the sandbox: it has nothing but the
 * file, and waits for the daemon's end, of whatever kind.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_SOCKET_FILE_H
#define MT_SERVER_HTTP_SOCKET_FILE_H

#include "base/status.h"

#include <sys/types.h>

/* {.fd = -1}: no process waits. */
struct mt_socket_file {
    pid_t pid;
    int fd; /* the process waits until this descriptor is closed */
};

/* From now on the file at path is removed when this process ends, unless it is another file by
 * then. Called before the sandbox begins. MT_IO: the file will stay. */
MT_MUST_CHECK enum mt_status mt_socket_file_watch(const char *path, struct mt_socket_file *out,
                                                  struct mt_error *err);
/* Removes the file, and returns when it has been removed. */
void mt_socket_file_remove(struct mt_socket_file *file);

#endif
