/*
 * A long reply that is made while it is sent: the sender pulls bytes, and a source makes the next
 * piece (a row of a matrix, a few kilobytes) only when the last one is used up. So a tensor of 90
 * MB as JSON never exists as a whole.
 *
 *   source.next -> piece -> [ gzip ] -> mt_stream_read -> socket, file
 *
 * A stream owns everything it needs: it may outlive the request that started it. The HTTP side
 * wraps mt_stream_read in a content reader callback and calls mt_stream_destroy when the response
 * is freed, on completion and on disconnection alike.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_STREAM_H
#define MT_SERVER_HTTP_STREAM_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_stream;

/* Most bytes that a source may append in one call of next. */
#define MT_STREAM_MAX_PIECE ((size_t)16 << 20)

struct mt_stream_source {
    /* Appends at least one byte to out, or returns false at the end. A failure is kept in out's
     * status. */
    bool (*next)(void *state, struct mt_text *out);
    void (*destroy)(void *state);
    void *state;
    bool is_slow; /* a piece takes milliseconds: a read that has bytes makes no further one */
};

/* n_bytes: what the stream will give in total, or MT_STREAM_UNKNOWN. On failure the source's state
 * has been destroyed. */
#define MT_STREAM_UNKNOWN UINT64_MAX
MT_MUST_CHECK enum mt_status mt_stream_create(struct mt_stream_source source, uint64_t n_bytes,
                                              struct mt_stream **out, struct mt_error *err);

/* stream may be NULL. */
void mt_stream_destroy(struct mt_stream *stream);

/* Returns how many bytes the stream gives in all, or MT_STREAM_UNKNOWN. */
uint64_t mt_stream_bytes(const struct mt_stream *stream);

/* Fills buffer with 1 to n_max (at least 1) bytes and returns how many; 0 at the end; -1 when the
 * source failed: the reply must be cut off, so that the client notices. */
ssize_t mt_stream_read(struct mt_stream *stream, char *buffer, size_t n_max);

/* Makes a stream that gives inner's bytes compressed as gzip (RFC 1952). It owns inner from then
 * on, even if it fails. */
MT_MUST_CHECK enum mt_status mt_stream_gzip(struct mt_stream *inner, struct mt_stream **out,
                                            struct mt_error *err);

#endif
