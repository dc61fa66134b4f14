#include "server/data/messages.h"

#include "base/clock.h"
#include "base/flat.h"
#include "base/size.h"
#include "base/vector.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A larger buffer is freed after its message. */
#define KEPT_BYTES ((size_t)64 << 10)

struct head {
    uint32_t kind, length;
};

/* ---- bytes ---- */

static enum mt_status wait_for(int fd, short events, int64_t deadline_ms, struct mt_error *err)
{
    struct pollfd polled = {.fd = fd, .events = events};
    int n;
    do {
        int64_t left_ms = deadline_ms < 0 ? -1 : deadline_ms - mt_now_ms();
        if (deadline_ms >= 0 && left_ms < 0)
            left_ms = 0;
        n = poll(&polled, 1, (int)left_ms);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return mt_fail(err, MT_IO, "cannot wait for the other process: %s", strerror(errno));
    return n > 0 ? MT_OK : mt_fail(err, MT_TIMEOUT, "the other process does not answer");
}

static enum mt_status transfer(int fd, bool is_sending, char *bytes, size_t length,
                               int64_t deadline_ms, struct mt_error *err)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = is_sending ? send(fd, bytes + at, length - at, MSG_NOSIGNAL | MSG_DONTWAIT)
                               : recv(fd, bytes + at, length - at, MSG_DONTWAIT);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return mt_fail(err, MT_IO, "the other process has ended");
        enum mt_status status = wait_for(fd, is_sending ? POLLOUT : POLLIN, deadline_ms, err);
        if (status)
            return status;
    }
    return MT_OK;
}

static void drop_bytes(struct mt_message *message)
{
    free(message->bytes);
    message->bytes = NULL;
    message->length = message->capacity = 0;
}

void mt_message_finish(struct mt_message *message)
{
    drop_bytes(message);
    message->at = message->end = 0;
}

static enum mt_status fill_buffer(int fd, struct mt_message *message, int64_t deadline_ms,
                                  struct mt_error *err)
{
    enum mt_status status = transfer(fd, false, message->buffer, 1, deadline_ms, err);
    if (status)
        return status;
    ssize_t n = recv(fd, message->buffer + 1, sizeof message->buffer - 1, MSG_DONTWAIT);
    message->at = 0;
    message->end = 1 + (n > 0 ? (size_t)n : 0);
    return MT_OK;
}

static enum mt_status take(int fd, struct mt_message *message, char *bytes, size_t length,
                           int64_t deadline_ms, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    while (length > 0 && !status) {
        size_t n = mt_size_min(message->end - message->at, length);
        memcpy(bytes, message->buffer + message->at, n);
        message->at += n;
        bytes += n;
        length -= n;
        if (length >= sizeof message->buffer)
            return transfer(fd, false, bytes, length, deadline_ms, err);
        if (length > 0)
            status = fill_buffer(fd, message, deadline_ms, err);
    }
    return status;
}

enum mt_status mt_message_receive(int fd, int64_t deadline_ms, struct mt_message *message,
                                  struct mt_error *err)
{
    struct head head;
    if (message->capacity > KEPT_BYTES)
        drop_bytes(message);
    message->length = 0;
    enum mt_status status = take(fd, message, (char *)&head, sizeof head, deadline_ms, err);
    if (!status && (head.kind >= MT_N_MESSAGE_KINDS || head.length > MT_MESSAGE_MAX_BYTES))
        status = mt_fail(err, MT_FORMAT, "the other process does not make sense");
    if (!status)
        status = MT_ROOM(&message->bytes, &message->capacity, head.length + 1, "a message", err);
    if (!status)
        status = take(fd, message, message->bytes, head.length, deadline_ms, err);
    if (status)
        return status;
    message->kind = (enum mt_message_kind)head.kind;
    message->length = head.length;
    return MT_OK;
}

void mt_message_begin(struct mt_text *out)
{
    const struct head none = {0};
    *out = (struct mt_text){.limit_bytes = sizeof none + MT_MESSAGE_MAX_BYTES};
    mt_text_append(out, (const char *)&none, sizeof none);
}

static enum mt_status write_head(struct mt_text *out, enum mt_message_kind kind,
                                 struct mt_error *err)
{
    struct head head = {.kind = (uint32_t)kind};
    enum mt_status status = mt_text_check(out, "a statement, or a row of the database", err);
    if (status)
        return status;
    head.length = (uint32_t)(out->length - sizeof head);
    memcpy(out->bytes, &head, sizeof head);
    return MT_OK;
}

enum mt_status mt_message_send(int fd, int64_t deadline_ms, enum mt_message_kind kind,
                               struct mt_text *out, struct mt_error *err)
{
    enum mt_status status = write_head(out, kind, err);
    if (!status)
        status = transfer(fd, true, out->bytes, out->length, deadline_ms, err);
    mt_text_finish(out);
    return status;
}

enum mt_status mt_message_flush(int fd, int64_t deadline_ms, struct mt_text *waiting,
                                struct mt_error *err)
{
    enum mt_status status = mt_text_check(waiting, "rows of the database", err);
    if (!status)
        status = transfer(fd, true, waiting->bytes, waiting->length, deadline_ms, err);
    mt_text_finish(waiting);
    return status;
}

enum mt_status mt_message_collect(int fd, int64_t deadline_ms, enum mt_message_kind kind,
                                  struct mt_text *out, struct mt_text *waiting,
                                  struct mt_error *err)
{
    enum mt_status status = write_head(out, kind, err);
    if (!status)
        mt_text_append(waiting, out->bytes, out->length);
    mt_text_finish(out);
    if (!status && waiting->length < MT_MESSAGE_BUFFER_BYTES && !waiting->status)
        return MT_OK;
    return status ? status : mt_message_flush(fd, deadline_ms, waiting, err);
}

/* ---- content ---- */

void mt_message_put_statement(struct mt_text *out, const char *sql)
{
    mt_flat_put_string(out, sql, strlen(sql));
}

void mt_message_put_values(struct mt_text *out, const struct mt_value *values, size_t n)
{
    mt_flat_put_number(out, n);
    for (size_t i = 0; i < n; i++) {
        char digits[24];
        mt_flat_put_number(out, (size_t)values[i].type);
        if (values[i].type == MT_VALUE_INTEGER) {
            int length = snprintf(digits, sizeof digits, "%lld", (long long)values[i].integer);
            mt_flat_put_string(out, digits, (size_t)length);
        } else if (values[i].type == MT_VALUE_TEXT) {
            mt_flat_put_string(out, values[i].text, values[i].length);
        }
    }
}

void mt_message_put_count(struct mt_text *out, size_t n_changed)
{
    mt_flat_put_number(out, n_changed);
}

void mt_message_put_failure(struct mt_text *out, const struct mt_message_failure *failure)
{
    mt_flat_put_number(out, (size_t)failure->status);
    mt_flat_put_number(out, failure->is_lost);
    mt_flat_put_string(out, failure->message, strlen(failure->message));
}

static void take_value(struct mt_flat *flat, struct mt_value *out)
{
    char *end;
    *out = (struct mt_value){.type = (enum mt_value_type)mt_flat_number(flat, MT_VALUE_TEXT)};
    if (out->type == MT_VALUE_NULL)
        return;
    out->text = mt_flat_string(flat, &out->length);
    if (out->type != MT_VALUE_INTEGER)
        return;
    errno = 0;
    out->integer = strtoll(out->text, &end, 10);
    flat->is_broken = flat->is_broken || errno != 0 || end == out->text || *end != '\0';
}

static void take_values(struct mt_flat *flat, struct mt_message_values *out)
{
    out->n = mt_flat_number(flat, MT_DATABASE_MAX_VALUES);
    for (size_t i = 0; i < out->n && !flat->is_broken; i++)
        take_value(flat, &out->values[i]);
}

static struct mt_flat begin_reading(const struct mt_message *message, enum mt_message_kind kind)
{
    return (struct mt_flat){.bytes = message->bytes ? message->bytes : "",
                            .length = message->length,
                            .is_broken = message->kind != kind};
}

static bool is_whole(const struct mt_flat *flat)
{
    return !flat->is_broken && flat->at == flat->length;
}

bool mt_message_read_run(const struct mt_message *message, const char **sql,
                         struct mt_message_values *out)
{
    struct mt_flat flat = begin_reading(message, MT_MESSAGE_RUN);
    *sql = mt_flat_string(&flat, NULL);
    take_values(&flat, out);
    return is_whole(&flat);
}

bool mt_message_read_row(const struct mt_message *message, struct mt_message_values *out)
{
    struct mt_flat flat = begin_reading(message, MT_MESSAGE_ROW);
    take_values(&flat, out);
    return is_whole(&flat);
}

bool mt_message_read_done(const struct mt_message *message, size_t *n_changed)
{
    struct mt_flat flat = begin_reading(message, MT_MESSAGE_DONE);
    *n_changed = mt_flat_number(&flat, SIZE_MAX);
    return is_whole(&flat);
}

bool mt_message_read_failed(const struct mt_message *message, struct mt_message_failure *out)
{
    struct mt_flat flat = begin_reading(message, MT_MESSAGE_FAILED);
    out->status = (enum mt_status)mt_flat_number(&flat, MT_MEMORY);
    out->is_lost = mt_flat_number(&flat, 1) == 1;
    out->message = mt_flat_string(&flat, NULL);
    return is_whole(&flat) && out->status != MT_OK;
}
