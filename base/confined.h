/*
 * Work on untrusted bytes in a process of its own that can do nothing but compute: it has this
 * process's memory as it was, limits on what more it may take and on its time, and system calls to
 * allocate memory, write its result and end. Whatever the bytes make it do stays in there.
 *
 * Limits that a kernel or a sanitizer does not allow are left out: the work must be right by
 * itself.
 *
 * Thread-safety: the function is safe; the work runs alone in its process, and may use malloc, but
 * no lock that another thread could hold.
 */
#ifndef MT_BASE_CONFINED_H
#define MT_BASE_CONFINED_H

#include "base/file.h"

struct mt_confined {
    /* Writes its result to fd. Runs in the other process: nothing that it changes is seen here, but
     * for the result, the status and the error. */
    enum mt_status (*work)(void *context, int fd, struct mt_error *err);
    void *context;
    const char *what;             /* what is worked on, for messages */
    size_t max_memory_bytes;      /* beyond what there is already */
    unsigned max_seconds;         /* of the processor */
    unsigned max_elapsed_seconds; /* of the clock: it may wait for a disk, but not for ever */
};

/* Runs the work and maps what it wrote, sealed against changes. The work's own error, or MT_LIMIT
 * where it was stopped by a limit, or MT_FORMAT where it died. */
MT_MUST_CHECK enum mt_status mt_confined_run(const struct mt_confined *confined,
                                             struct mt_mapping *out, struct mt_error *err);

/* For the work: all of bytes to fd. */
MT_MUST_CHECK enum mt_status mt_confined_write(int fd, const void *bytes, size_t length,
                                               struct mt_error *err);

#endif
