#include "tests/bench/reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char end_of_head[] = "\r\n\r\n";

struct head {
    int status;
    bool has_length, closes, has_retry_after;
    size_t n_bytes, body_length;
};

/* The value of a header line that has this name, or NULL. */
static const char *header_value(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    return line + length + 1 + strspn(line + length + 1, " \t");
}

static bool read_length(const char *value, size_t *out)
{
    size_t n_digits = strspn(value, "0123456789");
    if (n_digits == 0 || n_digits > 9)
        return false;
    *out = (size_t)strtoul(value, NULL, 10);
    return *out <= LOAD_MAX_REPLY_BYTES;
}

/* bytes[0, length) is a whole head. */
static bool parse_head(const char *bytes, size_t length, struct head *out)
{
    static const char version[] = "HTTP/1.1 ";
    size_t n_version = sizeof version - 1;
    if (length < n_version + 3 || memcmp(bytes, version, n_version) != 0)
        return false;
    *out = (struct head){.status = atoi(bytes + n_version), .n_bytes = length};
    const char *end = bytes + length;
    for (const char *line = bytes; line < end; line = strstr(line, "\r\n") + 2) {
        const char *value;
        if ((value = header_value(line, "Content-Length"))) {
            if (!read_length(value, &out->body_length))
                return false;
            out->has_length = true;
        } else if ((value = header_value(line, "Connection"))) {
            out->closes = strncasecmp(value, "close", 5) == 0;
        } else if (header_value(line, "Retry-After")) {
            out->has_retry_after = true;
        } else if (header_value(line, "Transfer-Encoding")) {
            return false;
        }
    }
    bool is_interim = out->status >= 100 && out->status < 200;
    return is_interim || (out->status < 600 && out->status >= 200 && out->has_length);
}

enum load_reply_state load_reply_parse(const char *bytes, size_t length, struct load_reply *out)
{
    const char *end = bytes + length;
    for (;;) {
        const char *stop = memmem(bytes, (size_t)(end - bytes), end_of_head, 4);
        if (!stop)
            return LOAD_REPLY_INCOMPLETE;
        struct head head;
        if (!parse_head(bytes, (size_t)(stop - bytes) + 4, &head))
            return LOAD_REPLY_MALFORMED;
        bytes += head.n_bytes;
        if (head.status < 200)
            continue;
        size_t n_left = (size_t)(end - bytes);
        if (n_left < head.body_length)
            return LOAD_REPLY_INCOMPLETE;
        if (n_left > head.body_length)
            return LOAD_REPLY_MALFORMED;
        *out = (struct load_reply){
            .status = head.status,
            .body = bytes,
            .body_length = head.body_length,
            .closes = head.closes,
            .has_retry_after = head.has_retry_after,
        };
        return LOAD_REPLY_COMPLETE;
    }
}

int64_t load_reply_target_tokens(const struct load_reply *reply)
{
    static const char key[] = "\"target_tokens\":";
    const char *at = memmem(reply->body, reply->body_length, key, sizeof key - 1);
    if (!at)
        return -1;
    at += sizeof key - 1;
    at += strspn(at, " ");
    size_t n_digits = strspn(at, "0123456789");
    return n_digits > 0 && n_digits < 10 ? strtoll(at, NULL, 10) : -1;
}
