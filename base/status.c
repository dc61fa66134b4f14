#include "base/status.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* A message cut in the middle of a UTF-8 sequence would make every JSON reply that quotes it
 * invalid. */
static void end_with_ellipsis(char *message, size_t capacity)
{
    size_t end = capacity - sizeof "...";
    while (end > 0 && ((unsigned char)message[end] & 0xC0u) == 0x80u)
        end--;
    memcpy(message + end, "...", sizeof "...");
}

/* So would one that a "%.40s" has cut. */
static void mend_characters(char *message)
{
    size_t length = strlen(message), at = 0;
    while ((at += mt_utf8_valid_prefix(message + at, length - at)) < length)
        message[at] = '?';
}

enum mt_status mt_vfail(struct mt_error *err, enum mt_status status, const char *format,
                        va_list args)
{
    if (!err)
        return status;
    err->status = status;
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    if (n < 0)
        snprintf(err->message, sizeof err->message, "(message could not be formatted)");
    else if ((size_t)n >= sizeof err->message)
        end_with_ellipsis(err->message, sizeof err->message);
    mend_characters(err->message);
    return status;
}

enum mt_status mt_fail(struct mt_error *err, enum mt_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mt_vfail(err, status, format, args);
    va_end(args);
    return status;
}

enum mt_status mt_fail_in(struct mt_error *err, enum mt_status status, const char *context)
{
    if (!err)
        return status;
    char inner[MT_ERROR_BYTES];
    memcpy(inner, err->message, sizeof inner);
    return mt_fail(err, err->status, "%s: %s", context, inner);
}

enum mt_status mt_fail_memory(struct mt_error *err, size_t bytes, const char *what)
{
    return mt_fail(err, MT_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

const char *mt_status_name(enum mt_status status)
{
    switch (status) {
    case MT_OK:
        return "ok";
    case MT_INVALID:
        return "invalid";
    case MT_NOT_FOUND:
        return "not_found";
    case MT_IO:
        return "io";
    case MT_FORMAT:
        return "format";
    case MT_UNSUPPORTED:
        return "unsupported";
    case MT_LIMIT:
        return "limit";
    case MT_BUSY:
        return "busy";
    case MT_FORBIDDEN:
        return "forbidden";
    case MT_THROTTLED:
        return "throttled";
    case MT_TIMEOUT:
        return "timeout";
    case MT_CANCELLED:
        return "cancelled";
    case MT_MEMORY:
        return "memory";
    }
    return "unknown";
}
