#include "server/http/reply.h"

#include <check.h>
#include <string.h>

#include <zlib.h>

START_TEST(errors_are_json_whatever_they_say)
{
    struct mt_reply reply = {0};
    mt_text_append_string(&reply.body, "half a reply");
    reply.content_type = "image/png";
    mt_reply_header(&reply, "Allow", "GET");
    mt_reply_error(&reply, 418, "a \"pot\"\n\xC3\xA4\xFF");
    ck_assert_uint_eq(reply.code, 418);
    ck_assert_ptr_null(reply.content_type);
    ck_assert_str_eq(reply.body.bytes, "{\"error\":\"a \\\"pot\\\"\\n\xC3\xA4\xEF\xBF\xBD\"}");
    ck_assert_uint_eq(reply.n_headers, 1);
    mt_reply_finish(&reply);
}
END_TEST

START_TEST(errors_speak_the_dialect_of_their_client)
{
    struct mt_reply reply = {.dialect = MT_DEEPL};
    mt_reply_error(&reply, 400, "why");
    ck_assert_str_eq(reply.body.bytes, "{\"message\":\"why\"}");
    mt_reply_finish(&reply);
}
END_TEST

static const struct {
    enum mt_status status;
    unsigned code;
} codes[] = {
    {MT_INVALID, 400}, {MT_FORMAT, 400},  {MT_UNSUPPORTED, 400}, {MT_NOT_FOUND, 404},
    {MT_LIMIT, 413},   {MT_IO, 500},      {MT_BUSY, 503},        {MT_CANCELLED, 503},
    {MT_MEMORY, 503},  {MT_TIMEOUT, 504}, {MT_FORBIDDEN, 403},   {MT_THROTTLED, 429},
};

START_TEST(each_status_has_its_code)
{
    struct mt_reply reply = {0};
    struct mt_error err;
    mt_fail(&err, codes[_i].status, "why");
    mt_reply_failure(&reply, &err);
    ck_assert_uint_eq(reply.code, codes[_i].code);
    ck_assert_str_eq(reply.body.bytes, "{\"error\":\"why\"}");
    bool has_retry = reply.n_headers == 1 && strcmp(reply.headers[0].name, "Retry-After") == 0;
    ck_assert(has_retry == (codes[_i].code == 503 || codes[_i].code == 429));
    mt_reply_finish(&reply);
}
END_TEST

START_TEST(a_time_to_retry_that_is_known_stays)
{
    struct mt_reply reply = {0};
    struct mt_error err;
    mt_fail(&err, MT_THROTTLED, "why");
    mt_reply_header(&reply, "Retry-After", "17");
    mt_reply_failure(&reply, &err);
    ck_assert_uint_eq(reply.n_headers, 1);
    ck_assert_str_eq(reply.headers[0].value, "17");
    mt_reply_finish(&reply);
}
END_TEST

START_TEST(headers_beyond_the_limit_are_left_out)
{
    struct mt_reply reply = {0};
    for (size_t i = 0; i < MT_REPLY_HEADERS + 3; i++)
        mt_reply_header(&reply, "X", "y");
    ck_assert_uint_eq(reply.n_headers, MT_REPLY_HEADERS);
    mt_reply_finish(&reply);
}
END_TEST

static const struct {
    const char *accept; /* NULL: no header */
    bool gzip;
} accepts[] = {
    {NULL, false},
    {"", false},
    {"gzip", true},
    {"GZip", true},
    {"x-gzip", true},
    {"deflate, gzip", true},
    {"deflate,gzip;q=0.5", true},
    {"br;q=1.0, gzip;q=0.8, *;q=0.1", true},
    {"gzip;q=0", false},
    {"gzip; q=0.000", false},
    {"gzip ; q=0.001", true},
    {"*", true},
    {"*;q=0", false},
    {"gzip;q=0, *", false},
    {"*;q=0, gzip", true},
    {"identity", false},
    {"gzipped", false},
    {"notgzip", false},
    {",,,", false},
    {"deflate;q=0,", false},
};

START_TEST(accept_encoding_is_understood)
{
    ck_assert_msg(mt_accepts_gzip(accepts[_i].accept) == accepts[_i].gzip, "%s",
                  accepts[_i].accept ? accepts[_i].accept : "no header");
}
END_TEST

static void fill(struct mt_reply *reply, size_t n, bool is_noise)
{
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245 + 12345;
        char c = is_noise ? (char)(seed >> 16) : "abc"[i % 3];
        mt_text_append(&reply->body, &c, 1);
    }
}

START_TEST(compression_keeps_the_bytes)
{
    struct mt_reply reply = {0};
    fill(&reply, 5000, false);
    mt_reply_compress(&reply, "gzip");
    ck_assert_uint_lt(reply.body.length, 500);
    ck_assert_uint_eq(reply.n_headers, 2);
    ck_assert_str_eq(reply.headers[0].name, "Vary");
    ck_assert_str_eq(reply.headers[1].name, "Content-Encoding");

    unsigned char plain[6000];
    z_stream stream = {.next_in = (Bytef *)reply.body.bytes,
                       .avail_in = (uInt)reply.body.length,
                       .next_out = plain,
                       .avail_out = sizeof plain};
    ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.total_out, 5000);
    for (size_t i = 0; i < 5000; i++)
        ck_assert(plain[i] == "abc"[i % 3]);
    inflateEnd(&stream);
    mt_reply_finish(&reply);
}
END_TEST

START_TEST(compression_happens_only_where_it_pays)
{
    static const struct {
        size_t n;
        bool is_noise, no_compression;
        const char *accept;
        size_t n_headers; /* Vary alone says that another client might have got gzip */
    } cases[] = {
        {1000, false, false, "gzip", 0},
        {5000, true, false, "gzip", 1},
        {5000, false, false, "br", 1},
        {5000, false, true, "gzip", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_reply reply = {.no_compression = cases[i].no_compression};
        fill(&reply, cases[i].n, cases[i].is_noise);
        mt_reply_compress(&reply, cases[i].accept);
        ck_assert_uint_eq(reply.body.length, cases[i].n);
        ck_assert_uint_eq(reply.n_headers, cases[i].n_headers);
        mt_reply_finish(&reply);
    }
}
END_TEST

Suite *suite_reply(void)
{
    Suite *suite = suite_create("reply");
    TCase *tcase = tcase_create("reply");
    tcase_add_test(tcase, errors_are_json_whatever_they_say);
    tcase_add_test(tcase, errors_speak_the_dialect_of_their_client);
    tcase_add_loop_test(tcase, each_status_has_its_code, 0, sizeof codes / sizeof codes[0]);
    tcase_add_test(tcase, a_time_to_retry_that_is_known_stays);
    tcase_add_test(tcase, headers_beyond_the_limit_are_left_out);
    tcase_add_loop_test(tcase, accept_encoding_is_understood, 0,
                        sizeof accepts / sizeof accepts[0]);
    tcase_add_test(tcase, compression_keeps_the_bytes);
    tcase_add_test(tcase, compression_happens_only_where_it_pays);
    suite_add_tcase(suite, tcase);
    return suite;
}
