/*
 * multipart/form-data (RFC 7578) over a complete body: a reader that gives one part after the
 * other, as views into the body. It is strict: framing that deviates from the standard is an error
 * that names the byte, and so is a NUL in a part's header. Names and file names are understood as
 * clients write them: quoted with backslashes, percent-encoded by browsers (and left so), bare
 * tokens, filename*=UTF-8''...
 *
 * libmicrohttpd's post processor is not used, because it reads no bare names (.NET sends them) and
 * no parameter behind the boundary, and because it copies files piece by piece. Besides, it needs a
 * connection, so that it could not be fuzzed.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_MULTIPART_H
#define MT_SERVER_HTTP_MULTIPART_H

#include "base/status.h"

#include <stdbool.h>

/* RFC 2046, 5.1.1. */
#define MT_MAX_BOUNDARY_BYTES 70
/* Most bytes of the headers of one part, and of a name, a file name or a type of it. */
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
    bool is_file;                           /* the part has a file name, which may be "" */
    char file_name[MT_MAX_PART_NAME_BYTES]; /* the client's choice: not to be trusted as a path */
    char content_type[MT_MAX_PART_NAME_BYTES]; /* "" where the part has none */
    const char *bytes;                         /* a view into the body; any bytes */
    size_t length;
};

/* content_type is the whole header of the request. bytes are borrowed. MT_FORMAT where the header
 * has no valid boundary. */
MT_MUST_CHECK enum mt_status mt_multipart_open(struct mt_multipart *reader,
                                               const char *content_type, const char *bytes,
                                               size_t length, struct mt_error *err);

/* Reads the next part; *found is false behind the closing boundary. MT_FORMAT for broken framing,
 * which includes a missing closing boundary and anything but line ends behind it; MT_UNSUPPORTED
 * for a Content-Transfer-Encoding that would have to be decoded. Not to be called again after an
 * error. */
MT_MUST_CHECK enum mt_status mt_multipart_next(struct mt_multipart *reader, struct mt_part *out,
                                               bool *found, struct mt_error *err);

#endif
