#include "base/log.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define MAX_PATIENCE_NS (MT_LOG_PATIENCE_MS * NS_PER_MS)

/* Most bytes of a message. */
#define MESSAGE_BYTES 2048
/* Most bytes of a message if its line is too long for a pipe to take it in one piece. An escaped
 * byte has at most six ("\u001b"). */
#define ESCAPED_MESSAGE_BYTES 640
/* Most bytes of each text of a record if its line is too long. There are up to 24 texts, six times
 * as long when escaped, and their names and numbers. */
#define SHORT_TEXT_BYTES 16

/* The log sink: set by mt_log_configure before threads start; only the level changes after. */
static _Atomic enum mt_log_level lowest_level = MT_LOG_INFO;
static bool is_json;
static int sink_fd = STDERR_FILENO;

/* A mutex keeps lines of several threads apart, and no thread uses the room that another has
 * found. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static uint64_t n_lost;                 /* lost lines since the last one that was written */
static int64_t patience_ns, counted_ns; /* time left for waiting, and when it was computed */
static bool is_cut;                     /* the last line was not written to its end */

static const char *const level_names[] = {"debug", "info", "warn", "error", "none"};

/* If a pipe has room for one byte, it has room for PIPE_BUF, and sockets are similar, but a
 * terminal may block for the rest. O_NONBLOCK would also be set for every process that shares our
 * standard error, except for a terminal that is opened again. */
static int open_sink(void)
{
    int fd = -1;
    if (isatty(STDERR_FILENO))
        fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? fd : STDERR_FILENO;
}

void mt_log_configure(enum mt_log_level level, bool as_json)
{
    sink_fd = open_sink();
    lowest_level = level;
    is_json = as_json;
}

void mt_log_set_level(enum mt_log_level level)
{
    lowest_level = level;
}

bool mt_log_level_parse(const char *name, enum mt_log_level *out)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (strcmp(name, level_names[i]) == 0) {
            *out = (enum mt_log_level)i;
            return true;
        }
    return false;
}

static void format_time(char *out, size_t capacity)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(out, capacity, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + n, capacity - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/* The contents of an event. */
struct event {
    const char *message;
    const struct mt_log_field *fields;
    size_t n_fields;
    size_t text_bytes; /* most bytes of a field's text */
};

static size_t shown_bytes(const struct event *event, const char *text)
{
    size_t n = strnlen(text, event->text_bytes + 1);
    return n <= event->text_bytes ? n : mt_utf8_valid_prefix(text, event->text_bytes);
}

static void append_json_field(struct mt_json_writer *writer, const struct event *event,
                              const struct mt_log_field *field)
{
    char number[MT_JSON_NUMBER_BYTES];
    if (field->kind == MT_LOG_TEXT && !field->text)
        return;
    mt_json_key(writer, field->name);
    if (field->kind == MT_LOG_TEXT)
        mt_json_string(writer, field->text, shown_bytes(event, field->text));
    else if (field->kind == MT_LOG_MS)
        mt_json_raw(writer, number, mt_json_format_ms(field->number, number));
    else
        mt_json_integer(writer, field->number);
}

static void append_quoted(struct mt_text *line, const char *text, size_t length)
{
    mt_text_append(line, "\"", 1);
    for (size_t i = 0, n; i < length; i += n) {
        bool is_special = text[i] == '"' || text[i] == '\\';
        if (is_special)
            mt_text_append(line, "\\", 1);
        n = is_special ? 1 : strcspn(text + i, "\"\\");
        n = n < length - i ? n : length - i;
        if (is_special)
            mt_text_append(line, text + i, 1);
        else
            mt_text_append_printable(line, text + i, n);
    }
    mt_text_append(line, "\"", 1);
}

static void append_text_field(struct mt_text *line, const struct event *event,
                              const struct mt_log_field *field)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/+,@-";
    char number[MT_JSON_NUMBER_BYTES];
    if (field->kind == MT_LOG_TEXT && !field->text)
        return;
    mt_text_appendf(line, " %s=", field->name);
    if (field->kind == MT_LOG_MS) {
        mt_text_append(line, number, mt_json_format_ms(field->number, number));
    } else if (field->kind == MT_LOG_NUMBER) {
        mt_text_appendf(line, "%" PRId64, field->number);
    } else {
        size_t length = shown_bytes(event, field->text);
        if (length > 0 && strspn(field->text, plain) >= length)
            mt_text_append(line, field->text, length);
        else
            append_quoted(line, field->text, length);
    }
}

static void append_json(struct mt_text *line, const char *time, const char *level,
                        const struct event *event)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, line);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, "time", time);
    mt_json_member(&writer, "level", level);
    mt_json_member(&writer, "message", event->message);
    for (size_t i = 0; i < event->n_fields; i++)
        append_json_field(&writer, event, &event->fields[i]);
    mt_json_end_object(&writer);
}

static void cut(char message[MESSAGE_BYTES], size_t n_bytes)
{
    memcpy(message + n_bytes - sizeof "...", "...", sizeof "...");
}

static void append_line(struct mt_text *line, const char *time, const char *level,
                        const struct event *event)
{
    if (is_json) {
        append_json(line, time, level, event);
    } else {
        mt_text_appendf(line, "%s %-5s ", time, level);
        mt_text_append_printable(line, event->message, strlen(event->message));
        for (size_t i = 0; i < event->n_fields; i++)
            append_text_field(line, event, &event->fields[i]);
    }
    mt_text_append(line, "\n", 1);
}

/* The callers of the following functions have the mutex. */
static bool is_writable(int timeout_ms)
{
    struct pollfd sink = {.fd = sink_fd, .events = POLLOUT};
    int n;
    do
        n = poll(&sink, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

static bool has_room(void)
{
    if (is_writable(0))
        return true;
    int64_t now_ns = mt_now_ns();
    patience_ns += (now_ns - counted_ns) / MT_LOG_PATIENCE_SHARE;
    if (patience_ns > MAX_PATIENCE_NS)
        patience_ns = MAX_PATIENCE_NS;
    bool is_so = is_writable((int)(patience_ns / NS_PER_MS));
    counted_ns = mt_now_ns();
    patience_ns -= counted_ns - now_ns;
    if (patience_ns < 0)
        patience_ns = 0;
    return is_so;
}

/* Returns how many bytes were written. The rest (closed, full, a disk without space) is lost. */
static size_t write_bytes(const char *bytes, size_t length)
{
    size_t n_written = 0;
    while (n_written < length && has_room()) {
        ssize_t n = write(sink_fd, bytes + n_written, length - n_written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        n_written += (size_t)n;
    }
    return n_written;
}

static bool write_line(const char *bytes, size_t length)
{
    if (is_cut && write_bytes("\n", 1) == 0)
        return false;
    size_t n = write_bytes(bytes, length);
    is_cut = n > 0 && n < length;
    return n == length;
}

/* Writes how many lines were lost, directly before the next line that is written. */
static bool write_loss(const char *time)
{
    struct mt_text line = {0};
    char message[96];
    snprintf(message, sizeof message, "%" PRIu64 " lines of the log were lost: its reader was slow",
             n_lost);
    append_line(&line, time, level_names[MT_LOG_WARN], &(struct event){.message = message});
    bool is_written = !line.status && write_line(line.bytes, line.length);
    mt_text_finish(&line);
    return is_written;
}

static void write_event(const char *time, const char *bytes, size_t length)
{
    pthread_mutex_lock(&writing);
    if (n_lost > 0 && write_loss(time))
        n_lost = 0;
    if (n_lost > 0 || !write_line(bytes, length))
        n_lost++;
    pthread_mutex_unlock(&writing);
}

/* Logs the event, or `shorter`, which has the same with fewer bytes, if the event's line is too
 * long to be written to a pipe in one piece. */
static void log_event(enum mt_log_level level, const struct event *event,
                      const struct event *shorter)
{
    char time[64];
    struct mt_text line = {0};
    format_time(time, sizeof time);
    append_line(&line, time, level_names[level], event);
    if (line.length > PIPE_BUF) {
        line.length = 0;
        append_line(&line, time, level_names[level], shorter);
    }
    if (line.status)
        write_event(time, "log: out of memory\n", strlen("log: out of memory\n"));
    else
        write_event(time, line.bytes, line.length);
    mt_text_finish(&line);
}

void mt_log_record(enum mt_log_level level, const char *message, const struct mt_log_field *fields,
                   size_t n_fields)
{
    if (level < lowest_level || level >= MT_LOG_NONE)
        return;
    const struct event event = {message, fields, n_fields, MT_LOG_TEXT_BYTES};
    const struct event shorter = {message, fields, n_fields, SHORT_TEXT_BYTES};
    log_event(level, &event, &shorter);
}

void mt_log(enum mt_log_level level, const char *format, ...)
{
    if (level < lowest_level || level >= MT_LOG_NONE)
        return;
    char message[MESSAGE_BYTES], shorter[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof message)
        cut(message, sizeof message);
    memcpy(shorter, message, ESCAPED_MESSAGE_BYTES);
    cut(shorter, ESCAPED_MESSAGE_BYTES);
    log_event(level, &(struct event){.message = message}, &(struct event){.message = shorter});
}
