/*
 * multipart/form-data (RFC 7578) over a complete body: a reader that gives one part after the
 * other, as views into the body. Strict: whatever is not framed as the standard says ends with an
 * error that names the byte, a NUL in a part's header too. Names and file names are understood as
 * clients write them: quoted with backslashes, percent-encoded by browsers (and left so), bare
 * tokens, filename*=UTF-8''...
 *
 * Our own, because libmicrohttpd's post processor reads no bare names (.NET sends them), no
 * parameter behind the boundary, and gives files in copied pieces; and it needs a connection, so
 * that no fuzzer gets near it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_MULTIPART_H
#define MT_SERVER_HTTP_MULTIPART_H

#include "base/status.h"

#include <stdbool.h>

/* RFC 2046, 5.1.1. */
#define MT_MAX_BOUNDARY_BYTES 70
/* Headers of one part, and a name, a file name or a type of it. */
#define MT_MAX_PART_HEADER_BYTES 8192
#define MT_MAX_PART_NAME_BYTES 1024

struct mt_multipart {
    const char *bytes;
    size_t length, at;
    char delimiter[4 + MT_MAX_BOUNDARY_BYTES + 1]; /* CR LF "--" and the boundary */
    size_t delimiter_length;
    bool is_begun, is_closed;
};

/* Names are well-formed UTF-8 without control characters. */
struct mt_part {
    char name[MT_MAX_PART_NAME_BYTES];
    bool is_file;                              /* it has a file name, perhaps "" */
    char file_name[MT_MAX_PART_NAME_BYTES];    /* as the client says: not to be trusted as a path */
    char content_type[MT_MAX_PART_NAME_BYTES]; /* "" where the part does not say */
    const char *bytes;                         /* in the body; any bytes */
    size_t length;
};

/* content_type: the request's whole header. bytes are borrowed. MT_FORMAT where it names no
 * boundary, or one that is none. */
MT_MUST_CHECK enum mt_status mt_multipart_open(struct mt_multipart *reader,
                                               const char *content_type, const char *bytes,
                                               size_t length, struct mt_error *err);

/* The next part, or *found false behind the closing boundary. MT_FORMAT for broken framing, which
 * includes an end without closing boundary and anything but line ends behind it; MT_UNSUPPORTED for
 * a Content-Transfer-Encoding that would have to be decoded. No further call after an error. */
MT_MUST_CHECK enum mt_status mt_multipart_next(struct mt_multipart *reader, struct mt_part *out,
                                               bool *found, struct mt_error *err);

#endif
