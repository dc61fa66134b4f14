/*
 * A reply, before it becomes bytes on a socket: what handlers fill in and http.c sends. Every error
 * of the server is rendered here: {"error": "..."}.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_REPLY_H
#define MT_SERVER_HTTP_REPLY_H

#include "base/text.h"

#define MT_REPLY_HEADERS 8

struct mt_stream;

struct mt_reply_header {
    const char *name; /* static */
    char *value;      /* the reply's */
};

/* Who the clients take the server for. */
enum mt_dialect { MT_LIBRETRANSLATE, MT_DEEPL };

/* {0} is an empty one; code 0 means "not answered yet" and becomes 200 after finish. */
struct mt_reply {
    unsigned code;
    const char *content_type; /* static; NULL: application/json */
    struct mt_text body;
    /* Instead of body: bytes that outlive the server (embedded files). */
    const void *static_body;
    size_t static_length;
    /* Instead of body: bytes made while they are sent (stream.h). The reply's, until the HTTP side
     * takes it (and sets NULL); it does not need the request any more. */
    struct mt_stream *stream;
    enum mt_dialect dialect; /* of errors */
    bool no_compression;     /* the body is compressed already, or not worth it */
    bool close;              /* end the connection after this reply */
    struct mt_reply_header headers[MT_REPLY_HEADERS];
    size_t n_headers;
};

/* Takes zeroed or already finished replies. */
void mt_reply_finish(struct mt_reply *reply);

/* Adds a header. name is static; value is copied. Beyond MT_REPLY_HEADERS, or without memory, it is
 * left out: none is worth failing a reply for. */
void mt_reply_header(struct mt_reply *reply, const char *name, const char *value);

/* Makes the reply an error: code and {"error": message}, or DeepL's {"message": message}, whatever
 * it held before but its headers. Without memory the body is empty. */
void mt_reply_error(struct mt_reply *reply, unsigned code, const char *message);

/* The HTTP code of a failure:
 *   MT_INVALID, MT_FORMAT, MT_UNSUPPORTED 400; MT_FORBIDDEN 403; MT_NOT_FOUND 404; MT_LIMIT 413;
 *   MT_THROTTLED 429; MT_BUSY, MT_CANCELLED, MT_MEMORY 503; MT_TIMEOUT 504; MT_IO 500. */
unsigned mt_reply_code(enum mt_status status);

/* mt_reply_error for err, with Retry-After where the code is 429 or 503 and there is none yet. */
void mt_reply_failure(struct mt_reply *reply, const struct mt_error *err);

/* Ends a body of JSON with a line feed, which no parser minds: on a terminal the prompt comes on a
 * line of its own. Bodies that are static or streamed end as they were made; without memory for it,
 * the body goes without. */
void mt_reply_end_line(struct mt_reply *reply);

/* Compresses the body with gzip where accept_encoding (the request's header, may be NULL) allows it
 * and it pays; adds Content-Encoding and Vary. Without memory the body stays as it is. */
void mt_reply_compress(struct mt_reply *reply, const char *accept_encoding);

/* Whether an Accept-Encoding header (RFC 9110, 12.5.3) admits gzip. NULL: no. */
bool mt_accepts_gzip(const char *accept_encoding);

#endif
