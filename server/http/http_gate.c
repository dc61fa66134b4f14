#include "server/http/http_gate.h"

#include "base/ascii.h"

#include <string.h>
#include <strings.h>

static void refuse(struct mt_gate_result *out, unsigned code, bool must_close, const char *message)
{
    out->must_close |= must_close;
    if (out->code != 0)
        return;
    out->code = code;
    out->message = message;
}

/* RFC 9110, 5.6.2. */
static bool is_token(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool is_alphanumeric = mt_ascii_is_letter_or_digit(c);
        if (!is_alphanumeric && (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return length > 0;
}

/* RFC 9110, 5.5: no control characters but the tab. Bytes above 0x7F are allowed and have no
 * meaning. */
static bool is_field_value(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

static bool has_name(const struct mt_gate_header *header, const char *name)
{
    return header->name_length == strlen(name) &&
           strncasecmp(header->name, name, header->name_length) == 0;
}

static size_t count(const struct mt_gate_head *head, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < head->n_headers; i++)
        n += has_name(&head->headers[i], name);
    return n;
}

/* Finds a field of a request head by name, without regard to case; NULL where there is none. */
static const struct mt_gate_header *find_header(const struct mt_gate_head *head, const char *name)
{
    for (size_t i = 0; i < head->n_headers; i++)
        if (has_name(&head->headers[i], name))
            return &head->headers[i];
    return NULL;
}

static void check_request_line(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    if (!is_token(head->method, strlen(head->method)))
        refuse(out, 400, true, "malformed request: the method is not a token");
    if (strcmp(head->version, "HTTP/1.1") != 0 && strcmp(head->version, "HTTP/1.0") != 0)
        refuse(out, 505, true, "this HTTP version is not supported: use HTTP/1.1");
}

/* A target may begin with scheme and server (RFC 9112, 3.2.2). Returns the rest, the path. */
static const char *skip_authority(const char *target, struct mt_gate_result *out)
{
    size_t n_scheme = strncasecmp(target, "http://", 7) == 0    ? 7
                      : strncasecmp(target, "https://", 8) == 0 ? 8
                                                                : 0;
    if (n_scheme == 0)
        return target;
    const char *authority = target + n_scheme;
    size_t length = strcspn(authority, "/?#");
    if (length == 0 || memchr(authority, '@', length))
        refuse(out, 400, false, "malformed request target: no host, or a user name before it");
    out->host = authority;
    out->host_length = length;
    return authority + length;
}

static void check_target(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    const char *target = head->target;
    size_t length = strlen(target);
    const char *origin = skip_authority(target, out);
    out->path = origin;
    out->path_length = strcspn(origin, "?");
    out->query = origin[out->path_length] == '?' ? origin + out->path_length + 1 : "";
    if (out->path_length == 0 && origin > target) {
        out->path = "/";
        out->path_length = 1;
    }
    if (length > MT_MAX_TARGET_BYTES)
        refuse(out, 414, false, "the request target is longer than 16384 bytes");
    bool is_star = strcmp(target, "*") == 0 && strcmp(head->method, "OPTIONS") == 0;
    if (out->path[0] != '/' && !is_star)
        refuse(out, 400, false, "malformed request target: it does not begin with '/' or http://");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)target[i] <= 0x20 || (unsigned char)target[i] > 0x7E)
            refuse(out, 400, false, "malformed request target: characters must be %-encoded");
    if (strstr(target, "%00"))
        refuse(out, 400, false, "malformed request target: NUL byte");
}

static void check_fields(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < head->n_headers; i++) {
        const struct mt_gate_header *header = &head->headers[i];
        n_bytes += header->name_length + header->value_length;
        if (!is_token(header->name, header->name_length))
            refuse(out, 400, true, "malformed request: a header name is not a token");
        if (!is_field_value(header->value, header->value_length))
            refuse(out, 400, true, "malformed request: control character in a header value");
    }
    const struct mt_gate_header *host = find_header(head, "Host");
    if (host) {
        out->host = host->value;
        out->host_length = host->value_length;
    }
    size_t n_hosts = count(head, "Host");
    if (n_hosts > 1 || (n_hosts == 0 && strcmp(head->version, "HTTP/1.1") == 0))
        refuse(out, 400, true, "malformed request: there must be one Host header");
    if (n_bytes > MT_MAX_HEADER_BYTES || head->n_headers > MT_MAX_HEADERS)
        refuse(out, 431, true, MT_GATE_LONG_HEADERS);
}

static bool is_filled_with(const char *begin, const char *end, char c)
{
    for (; begin < end; begin++)
        if (*begin != c)
            return false;
    return true;
}

/* Whether next is where the line behind end begins. A NUL at end stands for LF, two NULs stand for
 * CR LF; NUL LF looks the same as the latter. */
static bool is_next_line(const char *end, const char *next)
{
    return next == end + 1 || (next == end + 2 && end[1] == '\0');
}

/* Whether the parts of the head adjoin, except for blanks that may be between them. Where they do
 * not, the next party may have read another request than we did: libmicrohttpd took a NUL for the
 * end of a part or of the head, or moved a name that a folded line continued. */
static bool is_gapless(const struct mt_gate_head *head)
{
    const char *end = head->method + strlen(head->method);
    if (end >= head->target_place || !is_filled_with(end + 1, head->target_place, ' ') ||
        head->target_place + strlen(head->target) + 1 != head->version)
        return false;
    end = head->version + strlen(head->version);
    for (size_t i = 0; i < head->n_headers; i++) {
        const struct mt_gate_header *header = &head->headers[i];
        const char *value = header->name + header->name_length + 1; /* behind the colon */
        if (!is_next_line(end, header->name) || header->value < value)
            return false;
        value += strspn(value, " \t");
        if (header->value != value)
            return false;
        end = value + header->value_length;
    }
    /* The end of the last line, and the empty line. */
    ptrdiff_t n_rest = head->end - end;
    return n_rest >= 2 && n_rest <= 4 && is_filled_with(end, head->end, '\0');
}

static void check_gaps(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    bool is_complete = head->n_headers <= MT_MAX_HEADERS;
    if (head->target_place && is_complete && !is_gapless(head))
        refuse(out, 400, true, "malformed request: a folded line or a NUL byte in its head");
}

static bool parse_length(const struct mt_gate_header *header, uint64_t *out)
{
    uint64_t length = 0;
    for (size_t i = 0; i < header->value_length; i++) {
        char c = header->value[i];
        if (c < '0' || c > '9' || length > (UINT64_MAX - 9) / 10)
            return false;
        length = length * 10 + (uint64_t)(c - '0');
    }
    *out = length;
    return header->value_length > 0;
}

/* Checks how long the body is (RFC 9112, 6.3). Request smuggling makes two parties disagree on
 * that. */
static void check_framing(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    const struct mt_gate_header *encoding = find_header(head, "Transfer-Encoding");
    const struct mt_gate_header *length = find_header(head, "Content-Length");
    if (encoding) {
        out->is_chunked =
            encoding->value_length == 7 && strncasecmp(encoding->value, "chunked", 7) == 0;
        if (!out->is_chunked || count(head, "Transfer-Encoding") > 1)
            refuse(out, 400, true, "malformed request: Transfer-Encoding must be one \"chunked\"");
        if (length)
            refuse(out, 400, true,
                   "malformed request: Content-Length together with Transfer-Encoding");
        if (strcmp(head->version, "HTTP/1.0") == 0)
            refuse(out, 400, true, "malformed request: Transfer-Encoding in HTTP/1.0");
    }
    if (length) {
        out->has_length = parse_length(length, &out->content_length);
        if (!out->has_length || count(head, "Content-Length") > 1)
            refuse(out, 400, true, MT_GATE_NO_LENGTH);
    }
    out->has_body = encoding || out->content_length > 0;
}

static void check_body(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    bool needs_length = strcmp(head->method, "POST") == 0 || strcmp(head->method, "PUT") == 0 ||
                        strcmp(head->method, "PATCH") == 0;
    /* A request without a length has no body (RFC 9112, 6.3). A client that puts all fields into
     * the query string means that; other clients have mostly forgotten the length, so they are
     * told. */
    if (needs_length && out->query[0] == '\0' && !out->has_length && !out->is_chunked)
        refuse(out, 411, false, "Content-Length is missing");
    const struct mt_gate_header *coding = find_header(head, "Content-Encoding");
    bool is_plain =
        !coding || (coding->value_length == 8 && strncasecmp(coding->value, "identity", 8) == 0);
    if (out->has_body && (!is_plain || count(head, "Content-Encoding") > 1))
        refuse(out, 415, false,
               "Content-Encoding must be identity: the body may not be compressed");
    if (out->content_length > head->max_body_bytes)
        refuse(out, 413, false, MT_GATE_LONG_BODY);
    const struct mt_gate_header *expect = find_header(head, "Expect");
    if (!expect)
        return;
    out->expects_continue =
        expect->value_length == 12 && strncasecmp(expect->value, "100-continue", 12) == 0;
    if (!out->expects_continue)
        refuse(out, 417, false, "Expect must be 100-continue");
}

void mt_gate_check(const struct mt_gate_head *head, struct mt_gate_result *out)
{
    *out = (struct mt_gate_result){.path = "", .query = "", .host = ""};
    check_gaps(head, out);
    check_framing(head, out);
    check_fields(head, out);
    check_request_line(head, out);
    check_target(head, out);
    check_body(head, out);
}
