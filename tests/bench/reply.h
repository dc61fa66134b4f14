/*
 * The little of HTTP/1.1 that a client of one well-behaved server needs: RFC 9112 replies with a
 * Content-Length.
 */
#ifndef MT_TESTS_BENCH_REPLY_H
#define MT_TESTS_BENCH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_MAX_REPLY_BYTES ((size_t)1 << 20)

enum load_reply_state { LOAD_REPLY_INCOMPLETE, LOAD_REPLY_COMPLETE, LOAD_REPLY_MALFORMED };

struct load_reply {
    int status;       /* 100 to 599 */
    const char *body; /* borrowed from the bytes */
    size_t body_length;
    bool closes; /* the server closes the connection behind it */
    bool has_retry_after;
};

/* Reads bytes[0, length): interim replies (1xx) are passed over, and nothing may follow the reply.
 * *out is only written where it is complete. */
enum load_reply_state load_reply_parse(const char *bytes, size_t length, struct load_reply *out);

/* usage.target_tokens of a reply to /translate, or -1. Not a JSON parser: a quote inside a string
 * is always escaped, so the key as it is searched for can be nothing else. */
int64_t load_reply_target_tokens(const struct load_reply *reply);

#endif
