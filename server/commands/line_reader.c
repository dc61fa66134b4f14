#include "server/commands/line_reader.h"

#include "base/vector.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)1 << 16)

void mt_line_reader_finish(struct mt_line_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
    reader->begin = reader->end = reader->capacity = reader->searched = 0;
}

/* Returns bytes[begin, end) of the buffer as a line that takes up n_taken bytes. */
static void take_line(struct mt_line_reader *reader, size_t length, size_t n_taken,
                      const char **line, size_t *out_length)
{
    *line = reader->bytes + reader->begin;
    *out_length = length;
    reader->begin += n_taken;
    reader->searched = reader->begin;
    reader->n_lines++;
}

static bool find_line(struct mt_line_reader *reader, const char **line, size_t *length)
{
    const char *from = reader->bytes + reader->searched;
    const char *feed =
        reader->searched < reader->end ? memchr(from, '\n', reader->end - reader->searched) : NULL;
    if (!feed) {
        reader->searched = reader->end;
        return false;
    }
    size_t n = (size_t)(feed - (reader->bytes + reader->begin));
    take_line(reader, n, n + 1, line, length);
    return true;
}

/* Makes room for one more block behind what was read. */
static enum mt_status make_room(struct mt_line_reader *reader, struct mt_error *err)
{
    size_t n_kept = reader->end - reader->begin;
    if (n_kept > MT_MAX_LINE_BYTES)
        return mt_fail(err, MT_LIMIT, "line %zu: longer than %zu bytes", reader->n_lines + 1,
                       MT_MAX_LINE_BYTES);
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, n_kept);
        reader->searched -= reader->begin;
        reader->begin = 0;
        reader->end = n_kept;
    }
    return MT_ROOM(&reader->bytes, &reader->capacity, reader->end + BLOCK_BYTES, "a line", err);
}

/* *is_ready is false where the other descriptor was readable first. */
static enum mt_status wait_for_input(const struct mt_line_reader *reader, int other_fd,
                                     bool *is_ready, struct mt_error *err)
{
    struct pollfd fds[] = {{.fd = other_fd, .events = POLLIN},
                           {.fd = reader->fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR && errno != EAGAIN)
            return mt_fail(err, MT_IO, "cannot wait for input: %s", strerror(errno));
    *is_ready = !fds[0].revents;
    return MT_OK;
}

static enum mt_status read_block(struct mt_line_reader *reader, struct mt_error *err)
{
    ssize_t n = read(reader->fd, reader->bytes + reader->end, reader->capacity - reader->end);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        return mt_fail(err, MT_IO, "line %zu: cannot read: %s", reader->n_lines + 1,
                       strerror(errno));
    if (n == 0)
        reader->has_ended = true;
    if (n > 0)
        reader->end += (size_t)n;
    return MT_OK;
}

enum mt_status mt_line_reader_next(struct mt_line_reader *reader, int other_fd, const char **line,
                                   size_t *length, struct mt_error *err)
{
    *line = NULL;
    while (!reader->has_ended) {
        if (find_line(reader, line, length))
            return MT_OK;
        bool is_ready = false;
        enum mt_status status = make_room(reader, err);
        if (!status)
            status = wait_for_input(reader, other_fd, &is_ready, err);
        if (!status && is_ready)
            status = read_block(reader, err);
        if (status || !is_ready)
            return status;
    }
    if (reader->begin < reader->end)
        take_line(reader, reader->end - reader->begin, reader->end - reader->begin, line, length);
    return MT_OK;
}
