#include "model/tokenizer/vocab.h"

#include "base/text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct mt_vocab *parse(const char *json)
{
    struct mt_vocab *vocab;
    struct mt_error err = {0};
    if (mt_vocab_parse(json, strlen(json), "vocab.json", &vocab, &err))
        ck_abort_msg("%s: %s", json, err.message);
    return vocab;
}

static int32_t id_of(const struct mt_vocab *vocab, const char *piece)
{
    return mt_vocab_id(vocab, piece, strlen(piece));
}

START_TEST(maps_both_ways)
{
    struct mt_vocab *vocab = parse(" { \"</s>\" : 0 , \"a\":7,\n\"\":3,\"ab\":1}\n");
    ck_assert_int_eq(id_of(vocab, "</s>"), 0);
    ck_assert_int_eq(id_of(vocab, "a"), 7);
    ck_assert_int_eq(id_of(vocab, "ab"), 1);
    ck_assert_int_eq(id_of(vocab, ""), 3);
    ck_assert_int_eq(id_of(vocab, "abc"), -1);
    ck_assert_int_eq(mt_vocab_id(vocab, "a\0b", 3), -1);
    ck_assert_str_eq(mt_vocab_piece(vocab, 7), "a");
    ck_assert_str_eq(mt_vocab_piece(vocab, 3), "");
    ck_assert_ptr_null(mt_vocab_piece(vocab, 2)); /* ids need not be dense */
    ck_assert_ptr_null(mt_vocab_piece(vocab, 8));
    ck_assert_ptr_null(mt_vocab_piece(vocab, -1));
    ck_assert_uint_eq(mt_vocab_size(vocab), 8);
    mt_vocab_close(vocab);
}
END_TEST

START_TEST(understands_escapes)
{
    struct mt_vocab *vocab = parse("{\"\\u2581na\\u00efve\": 0, \"\\ud83d\\udc95\": 1, "
                                   "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\": 2, \"\\u0041\": 3}");
    ck_assert_int_eq(id_of(vocab, "\xE2\x96\x81na\xC3\xAFve"), 0);
    ck_assert_int_eq(id_of(vocab, "\xF0\x9F\x92\x95"), 1);
    ck_assert_int_eq(id_of(vocab, "\"\\/\b\f\n\r\t"), 2);
    ck_assert_int_eq(id_of(vocab, "A"), 3);
    mt_vocab_close(vocab);
}
END_TEST

static const struct {
    const char *json;
    enum mt_status status;
    const char *message;
} bad_cases[] = {
    {"", MT_FORMAT, "vocab.json"},
    {"[]", MT_FORMAT, "vocab.json: expected an object"},
    {"3", MT_FORMAT, "vocab.json: expected an object"},
    {"{\"a\": 0", MT_FORMAT, "vocab.json"},
    {"{\"a\": 0} x", MT_FORMAT, "vocab.json"},
    {"{\"a\": -1}", MT_FORMAT, "\"a\" is -1, expected a whole number from 0 to 2097151"},
    {"{\"a\": 1.5}", MT_FORMAT, "\"a\" is 1.5, expected"},
    {"{\"a\": 1e3}", MT_FORMAT, "\"a\" is 1e3, expected"},
    {"{\"a\": 2097152}", MT_FORMAT, "\"a\" is 2097152, expected"},
    {"{\"a\": 18446744073709551616}", MT_FORMAT, "\"a\" is 18446744073709551616, expected"},
    {"{\"a\": \"1\"}", MT_FORMAT, "\"a\" is \"1\", expected"},
    {"{\"a\": null}", MT_FORMAT, "\"a\" is null, expected"},
    {"{\"a\": {\"b\": 1}}", MT_FORMAT, "\"a\" is {"},
    {"{\"a\": 5, \"b\": 5}", MT_FORMAT, "\"a\" and \"b\" both have id 5"},
    {"{\"a\": 5, \"a\": 6}", MT_FORMAT, "twice"},
    {"{\"a\": 5, \"\\u0061\": 6}", MT_FORMAT, "twice"},
    {"{\"\xC3\": 5}", MT_FORMAT, "vocab.json"},
    {"{\"a\\u0000\": 5}", MT_FORMAT, "vocab.json"},
};

START_TEST(refuses_malformed_files_with_the_piece)
{
    for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
        const char *json = bad_cases[i].json;
        struct mt_vocab *vocab = NULL;
        struct mt_error err = {0};
        enum mt_status status = mt_vocab_parse(json, strlen(json), "vocab.json", &vocab, &err);
        ck_assert_msg(status == bad_cases[i].status, "%s: status %d", json, (int)status);
        ck_assert_msg(strstr(err.message, bad_cases[i].message), "%s: \"%s\" lacks \"%s\"", json,
                      err.message, bad_cases[i].message);
        ck_assert_ptr_null(vocab);
    }
}
END_TEST

START_TEST(refuses_what_is_over_the_limits)
{
    struct mt_vocab *vocab = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_vocab_parse("", MT_VOCAB_MAX_FILE_BYTES + 1, "x", &vocab, &err), MT_LIMIT);
    char json[1100] = "{\"";
    memset(json + 2, 'a', 1025);
    strcpy(json + 2 + 1025, "\": 1}");
    ck_assert_int_eq(mt_vocab_parse(json, strlen(json), "x", &vocab, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "1025 bytes, expected at most 1024"));
    json[2 + 1024] = '"'; /* one byte less */
    strcpy(json + 2 + 1025, ": 1}");
    ck_assert_int_eq(mt_vocab_parse(json, strlen(json), "x", &vocab, &err), MT_OK);
    mt_vocab_close(vocab);
}
END_TEST

/* Every piece of a vocabulary larger than the table's first sizes is found, and nothing else. */
START_TEST(finds_each_of_many)
{
    enum { N = 70000 };
    struct mt_text json = {0};
    for (int i = 0; i < N; i++)
        mt_text_appendf(&json, "%s\"p%d\": %d", i ? ", " : "{", i, (i * 7919) % N);
    mt_text_append_string(&json, "}");
    struct mt_vocab *vocab = parse(json.bytes);
    ck_assert_uint_eq(mt_vocab_size(vocab), N);
    for (int i = 0; i < N; i++) {
        char piece[16];
        snprintf(piece, sizeof piece, "p%d", i);
        ck_assert_int_eq(id_of(vocab, piece), (i * 7919) % N);
        ck_assert_str_eq(mt_vocab_piece(vocab, (i * 7919) % N), piece);
        snprintf(piece, sizeof piece, "q%d", i);
        ck_assert_int_eq(id_of(vocab, piece), -1);
    }
    mt_vocab_close(vocab);
    mt_text_finish(&json);
}
END_TEST

/* The table's hash is public (FNV-1a), so that a file could make every look-up walk through all of
 * it: 1,000 pieces whose hashes agree in the bits that a table of 2,048 uses. */
START_TEST(refuses_pieces_made_to_collide)
{
    struct mt_text json = {0};
    for (int i = 0, n = 0; n < 1000; i++) {
        char piece[16];
        uint64_t hash = 14695981039346656037u;
        snprintf(piece, sizeof piece, "p%d", i);
        for (const char *p = piece; *p; p++)
            hash = (hash ^ (unsigned char)*p) * 1099511628211u;
        if (((hash ^ hash >> 32) & 2047) == 0) {
            mt_text_appendf(&json, "%s\"%s\": %d", n ? ", " : "{", piece, n);
            n++;
        }
    }
    mt_text_append_string(&json, "}");
    struct mt_vocab *vocab;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_vocab_parse(json.bytes, json.length, "vocab.json", &vocab, &err),
                     MT_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "500 more pieces collide"));
    mt_text_finish(&json);
}
END_TEST

Suite *suite_vocab(void)
{
    Suite *suite = suite_create("vocab");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 110);
    tcase_add_test(tcase, maps_both_ways);
    tcase_add_test(tcase, understands_escapes);
    tcase_add_test(tcase, refuses_malformed_files_with_the_piece);
    tcase_add_test(tcase, refuses_what_is_over_the_limits);
    tcase_add_test(tcase, finds_each_of_many);
    tcase_add_test(tcase, refuses_pieces_made_to_collide);
    suite_add_tcase(suite, tcase);
    return suite;
}
