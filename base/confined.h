/*
 * Runs work on untrusted bytes in a process of its own that can only compute: it has a copy of this
 * process's memory, limits on further memory and on its time, and only the system calls that
 * allocate memory, write its result and end it. Whatever the bytes cause cannot leave that process.
 *
 * Limits that a kernel or a sanitizer does not support are left out, so the work has to be correct
 * without them.
 *
 * Thread-safety: the function is safe; the work runs alone in its process, and may use malloc, but
 * no lock that another thread could hold.
 */
#ifndef MT_BASE_CONFINED_H
#define MT_BASE_CONFINED_H

#include "base/file.h"

struct mt_confined {
    /* Writes its result to fd. It runs in the other process: only the result, the status and the
     * error come back. */
    enum mt_status (*work)(void *context, int fd, struct mt_error *err);
    void *context;
    const char *what;             /* what is worked on, for messages */
    size_t max_memory_bytes;      /* in addition to this process's memory */
    unsigned max_seconds;         /* of the processor */
    unsigned max_elapsed_seconds; /* of the clock: it may wait for a disk, but not for ever */
};

/* Runs the work and maps its result, sealed against changes. Returns the work's own error, or
 * MT_LIMIT if a limit stopped it, or MT_FORMAT if it crashed. */
MT_MUST_CHECK enum mt_status mt_confined_run(const struct mt_confined *confined,
                                             struct mt_mapping *out, struct mt_error *err);

/* Writes all of the bytes to fd. The work calls this to return its result. */
MT_MUST_CHECK enum mt_status mt_confined_write(int fd, const void *bytes, size_t length,
                                               struct mt_error *err);

#endif
