/*
 * Lines from a file descriptor, one at a time, without reading ahead more than a block and without
 * ever blocking in read: the caller says what else may end the wait.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_LINE_READER_H
#define MT_SERVER_COMMANDS_LINE_READER_H

#include "base/status.h"

#include <stdbool.h>

/* Longest line in bytes, without its line feed. */
#define MT_MAX_LINE_BYTES ((size_t)16 << 20)

/* Zero-initialise but for fd. */
struct mt_line_reader {
    int fd;         /* borrowed */
    size_t n_lines; /* returned so far: the number of the current line */
    char *bytes;    /* what was read and not yet returned: bytes[begin, end) */
    size_t begin, end, capacity;
    size_t searched; /* bytes[begin, searched) holds no line feed */
    bool has_ended;
};

void mt_line_reader_finish(struct mt_line_reader *reader);

/*
 * The next line in *line and *length, without its line feed, borrowed until the next call; a last
 * line without a line feed is one, too. *line is NULL where there is none: at the end of the input
 * (reader->has_ended), or when other_fd has become readable first, which then should be looked
 * after. MT_IO; MT_LIMIT over MT_MAX_LINE_BYTES.
 */
MT_MUST_CHECK enum mt_status mt_line_reader_next(struct mt_line_reader *reader, int other_fd,
                                                 const char **line, size_t *length,
                                                 struct mt_error *err);

#endif
