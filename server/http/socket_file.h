/*
 * The end of a socket's file. The sandbox keeps the daemon from removing it, as from all else that
 * is not its cache, and so a process of its own does, which was made before: it holds nothing but
 * the file, and waits for the daemon's end, of whatever kind that is.
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
    int fd; /* what the process waits for the end of */
};

/* From now on the file that is there is removed when this process ends, but no later file of that
 * path. Called before the sandbox begins. MT_IO: the file will stay. */
MT_MUST_CHECK enum mt_status mt_socket_file_watch(const char *path, struct mt_socket_file *out,
                                                  struct mt_error *err);
/* Removes the file now; it is gone on return. */
void mt_socket_file_remove(struct mt_socket_file *file);

#endif
