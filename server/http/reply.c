#include "server/http/reply.h"

#include "base/json.h"
#include "server/http/stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

/* A shorter reply fits into one packet anyway. */
#define GZIP_MIN_BYTES 1024
/* A fast level, because compression runs in the HTTP thread: level 3 takes about 10 ms per MiB of
 * JSON. */
#define GZIP_LEVEL 3
/* zlib's largest window, plus 16, which asks for a gzip header. */
#define GZIP_WINDOW_BITS (15 + 16)

static void drop_body(struct mt_reply *reply)
{
    size_t limit_bytes = reply->body.limit_bytes;
    mt_text_finish(&reply->body);
    reply->body = (struct mt_text){.limit_bytes = limit_bytes};
    reply->static_body = NULL;
    reply->static_length = 0;
    mt_stream_destroy(reply->stream);
    reply->stream = NULL;
}

void mt_reply_finish(struct mt_reply *reply)
{
    mt_text_finish(&reply->body);
    mt_stream_destroy(reply->stream);
    for (size_t i = 0; i < reply->n_headers; i++)
        free(reply->headers[i].value);
    *reply = (struct mt_reply){0};
}

void mt_reply_header(struct mt_reply *reply, const char *name, const char *value)
{
    if (reply->n_headers == MT_REPLY_HEADERS)
        return;
    char *copy = strdup(value);
    if (!copy)
        return;
    reply->headers[reply->n_headers++] = (struct mt_reply_header){.name = name, .value = copy};
}

void mt_reply_error(struct mt_reply *reply, unsigned code, const char *message)
{
    drop_body(reply);
    reply->code = code;
    reply->content_type = NULL;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &reply->body);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, reply->dialect == MT_DEEPL ? "message" : "error", message);
    mt_json_end_object(&writer);
    if (!reply->body.status)
        return;
    static const char *const out_of_memory[] = {
        /* these need no memory */
        [MT_LIBRETRANSLATE] = "{\"error\":\"out of memory\"}\n",
        [MT_DEEPL] = "{\"message\":\"out of memory\"}\n",
    };
    drop_body(reply);
    reply->static_body = out_of_memory[reply->dialect];
    reply->static_length = strlen(out_of_memory[reply->dialect]);
}

/* Returns the HTTP code of a failure. MT_INVALID, MT_FORMAT, MT_UNSUPPORTED: 400; MT_FORBIDDEN:
 * 403; MT_NOT_FOUND: 404; MT_LIMIT: 413; MT_THROTTLED: 429; MT_BUSY, MT_CANCELLED, MT_MEMORY: 503;
 * MT_TIMEOUT: 504; MT_IO: 500. */
static unsigned code_of(enum mt_status status)
{
    switch (status) {
    case MT_OK:
        return 200;
    case MT_INVALID:
    case MT_FORMAT:
    case MT_UNSUPPORTED:
        return 400;
    case MT_FORBIDDEN:
        return 403;
    case MT_NOT_FOUND:
        return 404;
    case MT_LIMIT:
        return 413;
    case MT_THROTTLED:
        return 429;
    case MT_BUSY:
    case MT_CANCELLED:
    case MT_MEMORY:
        return 503;
    case MT_TIMEOUT:
        return 504;
    case MT_IO:
        return 500;
    }
    return 500;
}

static bool has_header(const struct mt_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->headers[i].name, name) == 0)
            return true;
    return false;
}

void mt_reply_failure(struct mt_reply *reply, const struct mt_error *err)
{
    unsigned code = code_of(err->status);
    mt_reply_error(reply, code, err->message);
    if ((code == 429 || code == 503) && !has_header(reply, "Retry-After"))
        mt_reply_header(reply, "Retry-After", "1");
}

void mt_reply_end_line(struct mt_reply *reply)
{
    struct mt_text *body = &reply->body;
    bool is_json = !reply->content_type && !body->status && body->length > 0;
    if (!is_json || body->bytes[body->length - 1] == '\n')
        return;
    mt_text_append(body, "\n", 1);
    body->status = MT_OK; /* without memory the reply has no line end */
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* Whether the parameters that follow a coding ("; q=0.5") give it the weight 0. */
static bool has_zero_weight(const char *parameters, const char *end)
{
    const char *at = skip_blanks(parameters);
    if (at >= end || *at != ';')
        return false;
    at = skip_blanks(at + 1);
    if (end - at < 3 || (at[0] != 'q' && at[0] != 'Q') || at[1] != '=')
        return false;
    return at[2] == '0' && strspn(at + 2, "0. \t") >= (size_t)(end - at - 2);
}

bool mt_accepts_gzip(const char *accept_encoding)
{
    bool any = false;
    for (const char *at = accept_encoding; at && *at != '\0';) {
        at = skip_blanks(at);
        const char *end = at + strcspn(at, ",");
        size_t length = strcspn(at, ",; \t");
        bool is_gzip = (length == 4 && strncasecmp(at, "gzip", 4) == 0) ||
                       (length == 6 && strncasecmp(at, "x-gzip", 6) == 0);
        bool is_wanted = !has_zero_weight(at + length, end);
        if (is_gzip)
            return is_wanted;
        if (length == 1 && *at == '*')
            any = is_wanted;
        at = *end == ',' ? end + 1 : end;
    }
    return any;
}

/* Compresses bytes into a new buffer. Returns false where that fails or saves less than a tenth. */
static bool deflate_all(const char *bytes, size_t length, struct mt_text *out)
{
    if (length > UINT32_MAX)
        return false;
    z_stream stream = {0};
    if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return false;
    size_t room = length - length / 10;
    char *buffer = malloc(room);
    bool is_done = false;
    if (buffer) {
        stream.next_in = (z_const Bytef *)bytes;
        stream.avail_in = (uInt)length;
        stream.next_out = (Bytef *)buffer;
        stream.avail_out = (uInt)room;
        is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    }
    size_t n = stream.total_out;
    deflateEnd(&stream);
    if (!is_done) {
        free(buffer);
        return false;
    }
    *out = (struct mt_text){.bytes = buffer, .length = n, .capacity = room};
    return true;
}

/* Adds a header, and returns whether it was added: a compressed body must not be sent without
 * it. */
static bool add_label(struct mt_reply *reply, const char *name, const char *value)
{
    size_t n_headers = reply->n_headers;
    mt_reply_header(reply, name, value);
    return reply->n_headers > n_headers;
}

static void compress_stream(struct mt_reply *reply)
{
    struct mt_error err;
    struct mt_stream *inner = reply->stream;
    if (mt_stream_bytes(inner) < GZIP_MIN_BYTES || !add_label(reply, "Content-Encoding", "gzip"))
        return;
    reply->stream = NULL;
    if (mt_stream_gzip(inner, &reply->stream, &err) == MT_OK)
        return;
    free(reply->headers[--reply->n_headers].value);
    mt_reply_failure(reply, &err);
}

static void compress_body(struct mt_reply *reply)
{
    struct mt_text packed;
    if (!deflate_all(reply->body.bytes, reply->body.length, &packed))
        return;
    if (!add_label(reply, "Content-Encoding", "gzip")) {
        mt_text_finish(&packed);
        return;
    }
    mt_text_finish(&reply->body);
    reply->body = packed;
}

void mt_reply_compress(struct mt_reply *reply, const char *accept_encoding)
{
    if (reply->no_compression || reply->static_body)
        return;
    bool is_short = reply->body.status || reply->body.length < GZIP_MIN_BYTES;
    if (!reply->stream && is_short)
        return;
    mt_reply_header(reply, "Vary", "Accept-Encoding");
    if (!mt_accepts_gzip(accept_encoding))
        return;
    if (reply->stream)
        compress_stream(reply);
    else
        compress_body(reply);
}
