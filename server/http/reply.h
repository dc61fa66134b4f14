/*
 * A reply, before it becomes bytes on a socket: handlers fill it in and http.c sends it. Every
 * error of the server is rendered here: {"error": "..."}.
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
    char *value;      /* owned by the reply */
};

/* Which service's interface the client uses. */
enum mt_dialect { MT_LIBRETRANSLATE, MT_DEEPL };

/* {0} is an empty reply. code 0 means that there is no answer yet; it becomes 200 after finish. */
struct mt_reply {
    unsigned code;
    const char *content_type; /* static; NULL: application/json */
    struct mt_text body;
    /* Used instead of body: bytes that live as long as the process (embedded files). */
    const void *static_body;
    size_t static_length;
    /* Used instead of body: bytes made while they are sent (stream.h). The reply owns the stream
     * until the HTTP side takes it (and sets NULL). The stream does not need the request. */
    struct mt_stream *stream;
    enum mt_dialect dialect; /* of errors */
    bool no_compression;     /* the body is compressed already, or not worth it */
    bool close;              /* end the connection after this reply */
    struct mt_reply_header headers[MT_REPLY_HEADERS];
    size_t n_headers;
};

/* reply is zeroed, or may be finished already. */
void mt_reply_finish(struct mt_reply *reply);

/* Adds a header. name is static; value is copied. Beyond MT_REPLY_HEADERS, or without memory, the
 * header is left out: none is important enough to fail a reply. */
void mt_reply_header(struct mt_reply *reply, const char *name, const char *value);

/* Makes the reply an error: code and {"error": message}, or DeepL's {"message": message}. What it
 * held before is dropped, except headers. Without memory the body is empty. */
void mt_reply_error(struct mt_reply *reply, unsigned code, const char *message);

/* Calls mt_reply_error for err, and adds Retry-After where the code is 429 or 503 and there is none
 * yet. */
void mt_reply_failure(struct mt_reply *reply, const struct mt_error *err);

/* Ends a body of JSON with a line feed, which every parser accepts, so that on a terminal the
 * prompt is on a line of its own. Static and streamed bodies are left alone; without memory the
 * line feed is left out. */
void mt_reply_end_line(struct mt_reply *reply);

/* Compresses the body with gzip where accept_encoding (the request's header, may be NULL) allows it
 * and it saves enough; adds Content-Encoding and Vary. Without memory the body stays as it is. */
void mt_reply_compress(struct mt_reply *reply, const char *accept_encoding);

/* Whether an Accept-Encoding header (RFC 9110, 12.5.3) admits gzip. NULL: no. */
bool mt_accepts_gzip(const char *accept_encoding);

#endif
