/*
 * Reads lines from a file descriptor, at most a block ahead, and never blocks in read: the caller
 * names another descriptor that ends the wait.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_LINE_READER_H
#define MT_SERVER_COMMANDS_LINE_READER_H

#include "base/status.h"

#include <stdbool.h>

/* Most bytes of a line, without its line feed. */
#define MT_MAX_LINE_BYTES ((size_t)16 << 20)

/* Has to be zero-initialised, except for fd. */
struct mt_line_reader {
    int fd;         /* borrowed */
    size_t n_lines; /* lines returned so far, which is the number of the current one */
    char *bytes;    /* bytes[begin, end) were read and not returned yet */
    size_t begin, end, capacity;
    size_t searched; /* bytes[begin, searched) holds no line feed */
    bool has_ended;
};

void mt_line_reader_finish(struct mt_line_reader *reader);

/*
 * Returns the next line in *line and *length, without its line feed, borrowed until the next call.
 * The last line need not have a line feed. *line is NULL at the end of the input
 * (reader->has_ended), and when other_fd has become readable first, which the caller should handle
 * then. MT_IO; MT_LIMIT over MT_MAX_LINE_BYTES.
 */
MT_MUST_CHECK enum mt_status mt_line_reader_next(struct mt_line_reader *reader, int other_fd,
                                                 const char **line, size_t *length,
                                                 struct mt_error *err);

#endif
