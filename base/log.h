/*
 * The log: one line per event on standard error, or nowhere. Only server/ uses it.
 *
 *   2026-01-31T12:00:00.123Z info  listening on 127.0.0.1:5000
 *
 * or, as JSON lines: {"time":"...","level":"info","message":"..."}. A record has fields besides:
 *
 *   2026-01-31T12:00:00.123Z info  request method=POST status=200 total_ms=12.345
 *   {"time":"...","level":"info","message":"request","method":"POST","status":200,"total_ms":12.345}
 *
 * Control characters are escaped, so that one event is always one line, and one of at most PIPE_BUF
 * bytes, which a pipe takes in one piece.
 *
 * Nobody waits for a reader that stands still: what standard error does not take within
 * MT_LOG_PATIENCE_MS is lost, and how many lines were is the next one that gets through. All waits
 * together are at most one part in MT_LOG_PATIENCE_SHARE of the time, so that a reader that is
 * merely slow does not set the pace.
 *
 * Thread-safety: safe after mt_log_configure, which runs once before threads start.
 */
#ifndef MT_BASE_LOG_H
#define MT_BASE_LOG_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_LOG_PATIENCE_MS 50
#define MT_LOG_PATIENCE_SHARE 20

enum mt_log_level { MT_LOG_DEBUG, MT_LOG_INFO, MT_LOG_WARN, MT_LOG_ERROR, MT_LOG_NONE };

/* Sets the level, below which events are dropped, and the format. */
void mt_log_configure(enum mt_log_level level, bool as_json);

/* Changes only the level, at any time. */
void mt_log_set_level(enum mt_log_level level);

/* "debug", "info", "warn", "error", "none"; false for anything else. */
bool mt_log_level_parse(const char *name, enum mt_log_level *out);

void mt_log(enum mt_log_level level, const char *format, ...) MT_PRINTF(2, 3);

/* Longer texts of a record are cut; if the line would be longer than PIPE_BUF, to a few bytes. */
#define MT_LOG_TEXT_BYTES 128

enum mt_log_kind {
    MT_LOG_TEXT,   /* any bytes; a field whose text is NULL is left out */
    MT_LOG_NUMBER, /* written unchanged */
    MT_LOG_MS      /* number is nanoseconds, shown as milliseconds with at most three decimals */
};

struct mt_log_field {
    const char *name; /* of a-z and '_'; not "time", "level", "message" */
    enum mt_log_kind kind;
    const char *text;
    int64_t number;
};

/* Logs one event with at most MT_LOG_FIELDS fields. In a line for people a text is quoted if it is
 * empty or has more than letters, digits and ._:/+,@- */
#define MT_LOG_FIELDS 24
void mt_log_record(enum mt_log_level level, const char *message, const struct mt_log_field *fields,
                   size_t n_fields);

#endif
