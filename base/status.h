/*
 * Status codes and error messages, used by every fallible function of the project.
 *
 * The lowest level that knows what went wrong writes the message: the value seen, the value
 * expected, and where (which file, which field). Callers add nothing but context and pass the
 * status on. Only server/ prints.
 */
#ifndef MT_BASE_STATUS_H
#define MT_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

enum mt_status {
    MT_OK = 0,
    MT_INVALID,     /* an argument, request or setting has a value that is not allowed */
    MT_NOT_FOUND,   /* a file, tensor, language or route does not exist */
    MT_IO,          /* the operating system refused: open, read, map, bind, thread creation */
    MT_FORMAT,      /* the content of a file or message is malformed */
    MT_UNSUPPORTED, /* well-formed, but not implemented */
    MT_LIMIT,       /* larger than a named limit of ours */
    MT_BUSY,        /* no room now: try again later */
    MT_FORBIDDEN,   /* the client or user is not allowed to do this */
    MT_THROTTLED,   /* the client has requested too much: try again later */
    MT_TIMEOUT,     /* a deadline passed */
    MT_CANCELLED,   /* the client has gone, or asked to stop */
    MT_MEMORY,      /* an allocation failed; used for nothing else */
};

/* Most bytes of a message, with its terminating NUL. Longer ones are cut at a character boundary
 * and end in "...". */
#define MT_ERROR_BYTES 512

struct mt_error {
    enum mt_status status;
    char message[MT_ERROR_BYTES];
};

#define MT_MUST_CHECK __attribute__((warn_unused_result))
#define MT_PRINTF(format_index, first_index) \
    __attribute__((format(printf, format_index, first_index)))

/* Writes status and message to err (which may be NULL) and returns status, so that `return
 * mt_fail(...)` reads well. */
enum mt_status mt_fail(struct mt_error *err, enum mt_status status, const char *format, ...)
    MT_PRINTF(3, 4);
enum mt_status mt_vfail(struct mt_error *err, enum mt_status status, const char *format,
                        va_list args) MT_PRINTF(3, 0);

/* Puts "context: " before the message that err already holds. err may be NULL. Returns err's
 * status, or status where err is NULL. */
enum mt_status mt_fail_in(struct mt_error *err, enum mt_status status, const char *context);

/* Returns MT_MEMORY, with a message that has the number of bytes and their purpose. */
enum mt_status mt_fail_memory(struct mt_error *err, size_t bytes, const char *what);

/* Returns "ok", "invalid", ..., for logs and metrics labels. Never NULL. */
const char *mt_status_name(enum mt_status status);

#endif
