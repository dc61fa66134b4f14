#include "base/log.h"

#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A longer message is cut. Short enough for a line without many escapes to fit the 4096 bytes that
 * a pipe takes in one piece, so that lines of several processes do not mix. */
#define MESSAGE_BYTES 2048

/* The log sink: set by mt_log_configure before threads start; only the level changes after. */
static _Atomic enum mt_log_level lowest_level = MT_LOG_INFO;
static bool is_json;

static const char *const level_names[] = {"debug", "info", "warn", "error", "none"};

void mt_log_configure(enum mt_log_level level, bool as_json)
{
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

/* Control characters would break lines or drive the reader's terminal: C0, DEL and C1 (in UTF-8,
 * U+0080 to U+009F) are escaped, and malformed bytes replaced. */
static void append_printable(struct mt_text *line, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t n = mt_utf8_length((unsigned char)bytes[at]);
        if (n > length - at || mt_utf8_valid_prefix(bytes + at, n) != n) {
            mt_text_append_string(line, "\xEF\xBF\xBD"); /* U+FFFD */
            at++;
            continue;
        }
        uint32_t c = mt_utf8_decode(bytes + at);
        if (c == '\n')
            mt_text_append_string(line, "\\n");
        else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
            mt_text_appendf(line, "\\x%02x", (unsigned)c);
        else
            mt_text_append(line, bytes + at, n);
        at += n;
    }
}

static void append_json(struct mt_text *line, const char *time, const char *level,
                        const char *message)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, line);
    mt_json_begin_object(&writer);
    mt_json_key(&writer, "time");
    mt_json_string_z(&writer, time);
    mt_json_key(&writer, "level");
    mt_json_string_z(&writer, level);
    mt_json_key(&writer, "message");
    mt_json_string_z(&writer, message);
    mt_json_end_object(&writer);
}

/* One write per line keeps the lines of several threads whole. What standard error does not take
 * (closed, full) is lost: a daemon does not stop for its log. */
static void write_line(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        bytes += n;
        length -= (size_t)n;
    }
}

void mt_log(enum mt_log_level level, const char *format, ...)
{
    if (level < lowest_level || level >= MT_LOG_NONE)
        return;
    char message[MESSAGE_BYTES], time[64];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof message)
        memcpy(message + sizeof message - sizeof "...", "...", sizeof "...");
    format_time(time, sizeof time);

    struct mt_text line = {0};
    if (is_json) {
        append_json(&line, time, level_names[level], message);
    } else {
        mt_text_appendf(&line, "%s %-5s ", time, level_names[level]);
        append_printable(&line, message, strlen(message));
    }
    mt_text_append(&line, "\n", 1);
    if (line.status)
        write_line("log: out of memory\n", strlen("log: out of memory\n"));
    else
        write_line(line.bytes, line.length);
    mt_text_finish(&line);
}
