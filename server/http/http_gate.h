/*
 * The gate: what a request head must look like before anything else is done with it. libmicrohttpd
 * accepts heads that RFC 9112 calls invalid, among them those in which one party sees one request
 * and the next party two (request smuggling). Such requests are refused here, and the connection
 * ends.
 *
 * Pure functions over what was received. Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_HTTP_GATE_H
#define MT_SERVER_HTTP_HTTP_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of a request target, and of all header names and values together. */
#define MT_MAX_TARGET_BYTES (16 * 1024)
#define MT_MAX_HEADER_BYTES (16 * 1024)
#define MT_MAX_HEADERS 100

/* Messages of refusals that other files make, too. */
#define MT_GATE_NO_LENGTH "malformed request: Content-Length must be one number"
#define MT_GATE_LONG_BODY "the request body is longer than this server accepts"
#define MT_GATE_LONG_HEADERS "the request headers are longer than 16384 bytes or more than 100"

struct mt_gate_header {
    const char *name, *value;
    size_t name_length, value_length;
};

struct mt_gate_head {
    const char *method;
    const char *target;  /* as received: path and query, nothing decoded */
    const char *version; /* "HTTP/1.1" */
    const struct mt_gate_header *headers;
    size_t n_headers;
    uint64_t max_body_bytes;
    /* Where the target was received, or NULL. Where it is not NULL, all strings above but target
     * are still in the receive buffer, each ended by a NUL in place of the byte behind it, and the
     * gate also checks the bytes between them. */
    const char *target_place;
    const char *end; /* behind the empty line */
};

/* What the gate found out. Pointers are into the head, or to static text. */
struct mt_gate_result {
    unsigned code;       /* 0: the request is let in; else the HTTP code of the refusal */
    const char *message; /* of a refusal; static */
    bool must_close;     /* the connection cannot be trusted or used any further */
    const char *path;
    size_t path_length;
    const char *query; /* behind '?'; "" where there is none */
    const char *host; /* the server that is asked, "localhost:5000": from the target or from Host */
    size_t host_length;
    bool has_body; /* Content-Length is above 0, or the body is chunked */
    bool is_chunked, has_length;
    uint64_t content_length;
    bool expects_continue;
};

/*
 * Refusals:
 *
 * - 400 and close: Transfer-Encoding that is not exactly one "chunked", or together with
 *   Content-Length, or in HTTP/1.0; more than one Content-Length; a length that is no number; more
 *   than one Host, or none in HTTP/1.1; a header name or method that is no token; a control
 *   character in a value; bytes that are in none of the fields: a folded line (obs-fold), or a NUL
 *   and what stands behind it
 * - 400: a target that does not begin with '/' or with http:// or https:// and a host, or has
 *   control characters, blanks, bytes above 0x7E or %00 in it; "*" is for OPTIONS alone
 * - 411: POST, PUT or PATCH without Content-Length or chunked, and without a query string
 * - 413: Content-Length above max_body_bytes
 * - 415: a body with another Content-Encoding than identity
 * - 414: a target over the limit above
 * - 431 and close: headers over the limits above; what stands behind them was not looked at
 * - 417: Expect with anything but 100-continue
 * - 505 and close: another version than HTTP/1.0 and HTTP/1.1
 */
void mt_gate_check(const struct mt_gate_head *head, struct mt_gate_result *out);

#endif
