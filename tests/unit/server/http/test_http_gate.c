#include "server/http/http_gate.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BODY 1000
#define MAX_FIELDS 4

struct field {
    const char *name, *value;
};

struct request {
    const char *method, *target, *version;
    struct field fields[MAX_FIELDS]; /* Host is added */
    unsigned code;
    bool must_close;
};

static struct mt_gate_result check(const struct request *request, bool with_host)
{
    struct mt_gate_header headers[MAX_FIELDS + 1];
    size_t n = 0;
    if (with_host)
        headers[n++] = (struct mt_gate_header){"Host", "localhost", 4, 9};
    for (size_t i = 0; i < MAX_FIELDS && request->fields[i].name; i++)
        headers[n++] = (struct mt_gate_header){request->fields[i].name, request->fields[i].value,
                                               strlen(request->fields[i].name),
                                               strlen(request->fields[i].value)};
    const struct mt_gate_head head = {
        .method = request->method,
        .target = request->target,
        .version = request->version ? request->version : "HTTP/1.1",
        .headers = headers,
        .n_headers = n,
        .max_body_bytes = MAX_BODY,
    };
    struct mt_gate_result result;
    mt_gate_check(&head, &result);
    return result;
}

static const struct request requests[] = {
    {"GET", "/health", NULL, {{0}}, 0, false},
    {"GET", "/health", "HTTP/1.0", {{0}}, 0, false},
    {"OPTIONS", "*", NULL, {{0}}, 0, false},
    {"POST", "/t", NULL, {{"Content-Length", "0"}}, 0, false},
    {"POST", "/t", NULL, {{"content-length", "1000"}}, 0, false},
    {"POST", "/t", NULL, {{"Content-Length", "00000000000000000001000"}}, 0, false},
    {"POST", "/t", NULL, {{"Transfer-Encoding", "CHUNKED"}}, 0, false},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Expect", "100-Continue"}}, 0, false},
    {"GET", "/a", NULL, {{"X", "tab\tand \xE4"}, {"Y", ""}}, 0, false},
    /* framing */
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Content-Length", "5"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}, 400, true},
    {"POST", "/t", NULL, {{"Transfer-Encoding", "chunked"}, {"Content-Length", "0"}}, 400, true},
    {"GET", "/t", NULL, {{"Transfer-Encoding", "chunked"}, {"Content-Length", "0"}}, 400, true},
    {"POST", "/t", NULL, {{"Transfer-Encoding", "gzip, chunked"}}, 400, true},
    {"POST", "/t", NULL, {{"Transfer-Encoding", "chunked\t"}}, 400, true},
    {"POST", "/t", NULL, {{"Transfer-Encoding", ""}}, 400, true},
    {"POST",
     "/t",
     NULL,
     {{"Transfer-Encoding", "chunked"}, {"transfer-encoding", "chunked"}},
     400,
     true},
    {"POST", "/t", "HTTP/1.0", {{"Transfer-Encoding", "chunked"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", ""}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "+5"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "-1"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "5, 5"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "18446744073709551616"}}, 400, true},
    {"POST", "/t", NULL, {{"Content-Length", "99999999999999999999"}}, 400, true},
    /* fields */
    {"GET", "/a", NULL, {{"Host", "other"}}, 400, true},
    {"GET", "/a", NULL, {{"Bad Name", "x"}}, 400, true},
    {"GET", "/a", NULL, {{"Transfer-Encoding ", "chunked"}}, 400, true},
    {"GET", "/a", NULL, {{"", "x"}}, 400, true},
    {"GET", "/a", NULL, {{"X", "a\x01"}}, 400, true},
    {"GET", "/a", NULL, {{"X", "a\r"}}, 400, true},
    {"GET", "/a", NULL, {{"X", "a\x7F"}}, 400, true},
    /* the request line */
    {"G@T", "/a", NULL, {{0}}, 400, true},
    {"", "/a", NULL, {{0}}, 400, true},
    {"GET", "/a", "HTTP/1.2", {{0}}, 505, true},
    {"GET", "/a", "", {{0}}, 505, true},
    {"GET", "", NULL, {{0}}, 400, false},
    {"GET", "*", NULL, {{0}}, 400, false},
    {"GET", "http://localhost/", NULL, {{0}}, 0, false},
    {"GET", "HTTPS://[::1]:5000", NULL, {{0}}, 0, false},
    {"GET", "http:///a", NULL, {{0}}, 400, false},
    {"GET", "http://", NULL, {{0}}, 400, false},
    {"GET", "http://?a", NULL, {{0}}, 400, false},
    {"GET", "http://user@localhost/a", NULL, {{0}}, 400, false},
    {"GET", "http://localhost#a", NULL, {{0}}, 400, false},
    {"GET", "http:/a", NULL, {{0}}, 400, false},
    {"GET", "ftp://localhost/a", NULL, {{0}}, 400, false},
    {"CONNECT", "localhost:5000", NULL, {{0}}, 400, false},
    {"GET", "/a b", NULL, {{0}}, 400, false},
    {"GET", "/\xC3\xA4", NULL, {{0}}, 400, false},
    {"GET", "/a%00", NULL, {{0}}, 400, false},
    {"GET", "/a?b=%00", NULL, {{0}}, 400, false},
    /* the body */
    {"POST", "/t", NULL, {{0}}, 411, false},
    {"PUT", "/t", NULL, {{0}}, 411, false},
    {"POST", "/t?", NULL, {{0}}, 411, false},
    {"POST", "/t?q=x", NULL, {{0}}, 0, false},
    {"DELETE", "/t", NULL, {{0}}, 0, false},
    {"POST", "/t", NULL, {{"Content-Length", "1001"}}, 413, false},
    {"POST", "/t", NULL, {{"Content-Length", "18446744073709551600"}}, 413, false},
    {"GET", "/t", NULL, {{"Content-Length", "1001"}}, 413, false},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Expect", "200-ok"}}, 417, false},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Content-Encoding", "gzip"}}, 415, false},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Content-Encoding", ""}}, 415, false},
    {"POST",
     "/t",
     NULL,
     {{"Content-Encoding", "br"}, {"Transfer-Encoding", "chunked"}},
     415,
     false},
    {"POST", "/t", NULL, {{"Content-Length", "5"}, {"Content-Encoding", "Identity"}}, 0, false},
    {"POST", "/t", NULL, {{"Content-Length", "0"}, {"Content-Encoding", "gzip"}}, 0, false},
    {"GET", "/t", NULL, {{"Content-Encoding", "gzip"}}, 0, false},
    /* what closes closes, even where something else is complained about */
    {"GET", "/\xC3\xA4", "HTTP/3", {{"Content-Length", "x"}}, 400, true},
};

START_TEST(lets_in_what_is_well_formed_and_refuses_the_rest)
{
    const struct request *request = &requests[_i];
    struct mt_gate_result result = check(request, true);
    ck_assert_msg(result.code == request->code && result.must_close == request->must_close,
                  "%s %s: %u%s (%s), expected %u%s", request->method, request->target, result.code,
                  result.must_close ? " and close" : "", result.code ? result.message : "",
                  request->code, request->must_close ? " and close" : "");
    ck_assert((result.code != 0) == (result.message != NULL));
}
END_TEST

START_TEST(wants_a_host_in_http_1_1)
{
    const struct request request = {.method = "GET", .target = "/"};
    ck_assert_uint_eq(check(&request, false).code, 400);
    const struct request old = {.method = "GET", .target = "/", .version = "HTTP/1.0"};
    ck_assert_uint_eq(check(&old, false).code, 0);
}
END_TEST

START_TEST(takes_the_target_apart)
{
    const struct request request = {.method = "GET", .target = "/a/b?c=d?e"};
    struct mt_gate_result result = check(&request, true);
    ck_assert_uint_eq(result.path_length, 4);
    ck_assert_mem_eq(result.path, "/a/b", 4);
    ck_assert_str_eq(result.query, "c=d?e");
    const struct request absolute = {.method = "GET", .target = "http://localhost:1/a/b?c=/d"};
    result = check(&absolute, true);
    ck_assert_uint_eq(result.path_length, 4);
    ck_assert_mem_eq(result.path, "/a/b", 4);
    ck_assert_str_eq(result.query, "c=/d");
    const struct request bare = {.method = "GET", .target = "http://localhost?c=d"};
    result = check(&bare, true);
    ck_assert_uint_eq(result.path_length, 1);
    ck_assert_mem_eq(result.path, "/", 1);
    ck_assert_str_eq(result.query, "c=d");
    const struct request plain = {.method = "GET", .target = "/a"};
    ck_assert_str_eq(check(&plain, true).query, "");
}
END_TEST

START_TEST(finds_whom_the_request_is_for)
{
    const struct request plain = {.method = "GET", .target = "/a"};
    struct mt_gate_result result = check(&plain, true);
    ck_assert_uint_eq(result.host_length, 9);
    ck_assert_mem_eq(result.host, "localhost", 9);
    const struct request absolute = {.method = "GET", .target = "http://other:1/a"};
    result = check(&absolute, true);
    ck_assert_uint_eq(result.host_length, 7);
    ck_assert_mem_eq(result.host, "other:1", 7);
    const struct request old = {.method = "GET", .target = "/", .version = "HTTP/1.0"};
    ck_assert_uint_eq(check(&old, false).host_length, 0);
}
END_TEST

START_TEST(says_how_the_body_comes)
{
    const struct request sized = {
        .method = "POST", .target = "/", .fields = {{"Content-Length", "17"}}};
    struct mt_gate_result result = check(&sized, true);
    ck_assert(result.has_body && result.has_length && !result.is_chunked);
    ck_assert_uint_eq(result.content_length, 17);
    const struct request chunked = {
        .method = "POST", .target = "/", .fields = {{"Transfer-Encoding", "chunked"}}};
    result = check(&chunked, true);
    ck_assert(result.has_body && !result.has_length && result.is_chunked);
    const struct request empty = {
        .method = "POST", .target = "/", .fields = {{"Content-Length", "0"}}};
    ck_assert(!check(&empty, true).has_body);
    /* Not one that we know, but something follows. */
    const struct request unknown = {
        .method = "POST", .target = "/", .fields = {{"Transfer-Encoding", "br"}}};
    ck_assert(check(&unknown, true).has_body);
}
END_TEST

START_TEST(limits_the_size_of_a_head)
{
    static char longest[MT_MAX_TARGET_BYTES + 2];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    const struct request target = {.method = "GET", .target = longest};
    ck_assert_uint_eq(check(&target, true).code, 414);
    longest[MT_MAX_TARGET_BYTES] = '\0';
    ck_assert_uint_eq(check(&target, true).code, 0);

    static char value[MT_MAX_HEADER_BYTES];
    memset(value, 'x', sizeof value - 1);
    const struct request header = {.method = "GET", .target = "/", .fields = {{"X", value}}};
    ck_assert_uint_eq(check(&header, true).code, 431);
    ck_assert(check(&header, true).must_close);
    value[MT_MAX_HEADER_BYTES - 14] = '\0'; /* "X", "Host" and "localhost" count too */
    ck_assert_uint_eq(check(&header, true).code, 0);

    static struct mt_gate_header many[MT_MAX_HEADERS + 1];
    many[0] = (struct mt_gate_header){"Host", "h", 4, 1};
    for (size_t i = 1; i < MT_MAX_HEADERS + 1; i++)
        many[i] = (struct mt_gate_header){"X", "y", 1, 1};
    struct mt_gate_head head = {.method = "GET",
                                .target = "/",
                                .version = "HTTP/1.1",
                                .headers = many,
                                .n_headers = MT_MAX_HEADERS};
    struct mt_gate_result result;
    mt_gate_check(&head, &result);
    ck_assert_uint_eq(result.code, 0);
    head.n_headers = MT_MAX_HEADERS + 1;
    mt_gate_check(&head, &result);
    ck_assert_uint_eq(result.code, 431);
    ck_assert(result.must_close); /* nobody has looked at those behind */
}
END_TEST

/* ---- heads in place ---- */

#define PLACE_BYTES 256

/* libmicrohttpd's read buffer, and what it takes the head for. */
struct place {
    char bytes[PLACE_BYTES], *at;
    char moved[PLACE_BYTES], *free; /* names that a folded line was appended to */
    char target[PLACE_BYTES];
    struct mt_gate_header headers[MAX_FIELDS + 1];
    struct mt_gate_head head;
};

/* The next line; its end becomes NULs. NULL: there is none. */
static char *cut_line(struct place *place)
{
    char *line = place->at;
    char *end = memchr(line, '\n', (size_t)(place->bytes + sizeof place->bytes - line));
    if (!end)
        return NULL;
    place->at = end + 1;
    *end = '\0';
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

static void cut_request_line(struct place *place)
{
    char *line = cut_line(place);
    char *target = memchr(line, ' ', (size_t)(place->at - line));
    char *version = place->at - 1;
    while (version[-1] != ' ')
        version--;
    *target++ = '\0';
    target += strspn(target, " ");
    version[-1] = '\0';
    strcpy(place->target, target);
    place->head.method = line;
    place->head.target = place->target;
    place->head.target_place = target;
    place->head.version = version;
}

static void fold(struct place *place, struct mt_gate_header *header, const char *line)
{
    char *name = place->free;
    int n = sprintf(name, "%s%s", header->name, line + strspn(line, " \t"));
    place->free += n + 1;
    header->name = name;
    header->name_length = (size_t)n;
}

/* As libmicrohttpd 0.9.75 does. */
static struct mt_gate_result check_in_place(const char *bytes, size_t n)
{
    static struct place place;
    struct mt_gate_result result;
    memset(&place, '#', sizeof place);
    ck_assert_uint_le(n, sizeof place.bytes);
    memcpy(place.bytes, bytes, n);
    place.at = place.bytes;
    place.free = place.moved;
    place.head = (struct mt_gate_head){.headers = place.headers, .max_body_bytes = MAX_BODY};
    cut_request_line(&place);
    char *line;
    size_t n_fields = 0;
    while ((line = cut_line(&place)) && *line != '\0') {
        if ((*line == ' ' || *line == '\t') && n_fields > 0) {
            fold(&place, &place.headers[n_fields - 1], line);
            continue;
        }
        char *value = strchr(line, ':');
        ck_assert(value && n_fields < MAX_FIELDS + 1);
        *value++ = '\0';
        value += strspn(value, " \t");
        place.headers[n_fields++] =
            (struct mt_gate_header){line, value, strlen(line), strlen(value)};
    }
    ck_assert_ptr_nonnull(line);
    place.head.n_headers = n_fields;
    place.head.end = place.at;
    mt_gate_check(&place.head, &result);
    return result;
}

#define HEAD(text) text, sizeof text - 1
#define GET "GET /a HTTP/1.1\r\nHost: x\r\n"
#define POST "POST /a HTTP/1.1\r\nHost: x\r\n"

static const struct {
    const char *bytes;
    size_t n_bytes;
    unsigned code; /* 400 comes with close */
} places[] = {
    {HEAD(GET "\r\n"), 0},
    {HEAD(GET "\r\nthe body"), 0},
    {HEAD(GET "\r\n the body"), 0},
    {HEAD("GET   /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"), 0},
    {HEAD("GET /a HTTP/1.1\nHost: x\n\n"), 0},
    {HEAD("GET /a HTTP/1.1\nHost: x\r\n\n"), 0},
    {HEAD("GET /a HTTP/1.1\r\nHost: x\n\r\n b"), 0},
    {HEAD("GET /a HTTP/1.0\r\n\r\n"), 0},
    {HEAD("GET /a HTTP/1.0\n\n"), 0},
    {HEAD(GET "A:\r\nB: \t \r\nC:d\r\nD: e \t\r\n\r\n"), 0},
    {HEAD(GET "A:\nB:\n\n"), 0},
    /* folded lines */
    {HEAD(GET "A: b\r\n c\r\n\r\n"), 400},
    {HEAD(GET "A: b\r\n\tc\r\nB: c\r\n\r\n"), 400},
    {HEAD(GET "A: b\n c\n\n"), 400},
    {HEAD(GET "A: b\r\n \r\n\r\n"), 400},
    {HEAD(GET "A: b\n \n\n"), 400},
    {HEAD(POST "Content-Length:\r\n 38\r\n\r\n"), 400},
    {HEAD(POST "Content-Lengt:    38\r\n h\r\n\r\n"), 400},
    {HEAD(POST "Transfer-Encodin:  chunked\r\n g\r\n\r\n"), 400},
    {HEAD("GET /a HTTP/1.1\r\nHost:\r\n x\r\n\r\n"), 400},
    /* NULs */
    {HEAD(GET "A: b\0c\r\n\r\n"), 400},
    {HEAD(GET "A: b\0\r\n\r\n"), 400},
    {HEAD(GET "A:\0b\r\nB: c\r\n\r\n"), 400},
    {HEAD(POST "Content-Length: 3\0 99\r\n\r\n"), 400},
    {HEAD(POST "Transfer-Encoding: chunked\0x\r\nA: b\r\n\r\n"), 400},
    {HEAD(GET "\0A: b\r\nB: c\r\n\r\n"), 400}, /* would end the head there */
    {HEAD("GET /a HTTP/1.0\r\n\0Content-Length: 3\r\n\r\n"), 400},
    {HEAD("GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n"), 400},
    {HEAD("GET /a\0 HTTP/1.1\r\nHost: x\r\n\r\n"), 400},
    {HEAD("GET \0/a HTTP/1.1\r\nHost: x\r\n\r\n"), 400},
    {HEAD("GET\0b /a HTTP/1.1\r\nHost: x\r\n\r\n"), 400},
    {HEAD("GET\0 /a HTTP/1.1\r\nHost: x\r\n\r\n"), 400},
};

START_TEST(finds_what_is_in_none_of_the_fields)
{
    struct mt_gate_result result = check_in_place(places[_i].bytes, places[_i].n_bytes);
    ck_assert_msg(result.code == places[_i].code && result.must_close == (places[_i].code != 0),
                  "%u%s (%s), expected %u", result.code, result.must_close ? " and close" : "",
                  result.code ? result.message : "", places[_i].code);
}
END_TEST

Suite *suite_http_gate(void)
{
    Suite *suite = suite_create("http_gate");
    TCase *tcase = tcase_create("gate");
    tcase_add_loop_test(tcase, lets_in_what_is_well_formed_and_refuses_the_rest, 0,
                        sizeof requests / sizeof requests[0]);
    tcase_add_test(tcase, wants_a_host_in_http_1_1);
    tcase_add_test(tcase, takes_the_target_apart);
    tcase_add_test(tcase, finds_whom_the_request_is_for);
    tcase_add_test(tcase, says_how_the_body_comes);
    tcase_add_test(tcase, limits_the_size_of_a_head);
    tcase_add_loop_test(tcase, finds_what_is_in_none_of_the_fields, 0,
                        sizeof places / sizeof places[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
