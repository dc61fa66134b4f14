/*
 * The scanner: which documents it accepts. Every case also goes to cJSON where it is accepted, so
 * that nothing passes the check that cJSON then cannot read.
 */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct document {
    const char *bytes;
    size_t length;
};

/* Literals may contain NUL bytes. Releases of clang-format disagree about the line. */
// clang-format off
#define DOC(literal) {literal, sizeof literal - 1}
// clang-format on

static const struct document accepted[] = {
    /* white space and the shape of documents */
    DOC("[]"),
    DOC("{}"),
    DOC(" []"),
    DOC("[] "),
    DOC("\t\r\n []\n"),
    DOC("[ ]"),
    DOC("{ }"),
    DOC("[\n]"),
    DOC(" [1] "),
    DOC("[1\n]"),
    DOC("\n[ 1 , 2 ]\r\n"),
    DOC("{ \"a\" : 1 }"),
    DOC("{\"a\":\t1,\r\n\"b\":2}"),
    /* scalars alone */
    DOC("null"),
    DOC("true"),
    DOC("false"),
    DOC("0"),
    DOC("42"),
    DOC("-0.1"),
    DOC("\"\""),
    DOC("\"asd\""),
    DOC(" null "),
    DOC("\" \""),
    /* numbers */
    DOC("[0]"),
    DOC("[-0]"),
    DOC("[-1]"),
    DOC("[123]"),
    DOC("[-123]"),
    DOC("[1.5]"),
    DOC("[0.0]"),
    DOC("[-0.0]"),
    DOC("[1e1]"),
    DOC("[1E1]"),
    DOC("[1e+2]"),
    DOC("[1E+2]"),
    DOC("[1e-2]"),
    DOC("[1E-2]"),
    DOC("[0e1]"),
    DOC("[0e+1]"),
    DOC("[20e1]"),
    DOC("[123e65]"),
    DOC("[123.456e78]"),
    DOC("[123.456789]"),
    DOC("[1.0e-400]"),
    DOC("[123.456e-789]"),
    DOC("[0e99999999999]"),
    DOC("[0.000e99999999999]"),
    DOC("[9.99e307]"),
    DOC("[0.00001e312]"),
    DOC("[-9.99e307]"),
    DOC("[12345678901234567890]"),
    DOC("[-9007199254740993]"),
    DOC("[1e007]"),
    DOC("[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]"),
    DOC("[11111111111111111111111111111111111111111111111111111111111111111111111111111]"),
    DOC("[1e-99999999999999999999999999]"),
    /* strings and escapes */
    DOC("[\"\"]"),
    DOC("[\"a\"]"),
    DOC("[\"\\\"\"]"),
    DOC("[\"\\\\\"]"),
    DOC("[\"\\/\"]"),
    DOC("[\"\\b\\f\\n\\r\\t\"]"),
    DOC("[\"\\u0041\"]"),
    DOC("[\"\\u00e4\\u00E4\"]"),
    DOC("[\"\\u0001\"]"),
    DOC("[\"\\u001f\"]"),
    DOC("[\"\\u007F\"]"),
    DOC("[\"\\ud83d\\ude00\"]"),
    DOC("[\"\\uD800\\uDC00\"]"),
    DOC("[\"\\uDBFF\\uDFFF\"]"),
    DOC("[\"\\uFFFF\"]"),
    DOC("[\"\\uFEFF\"]"),
    DOC("[\"\\uE000\"]"),
    DOC("[\"\\uD7FF\"]"),
    DOC("[\"\\\\u0000\"]"),
    DOC("[\"\\\\n\"]"),
    DOC("[\"a/*b*/c//d\"]"),
    DOC("[\"\x7F\"]"),
    DOC("[\"'\"]"),
    /* UTF-8 */
    DOC("[\"\xC3\xA4\"]"),
    DOC("[\"\xE2\x82\xAC\"]"),
    DOC("[\"\xF0\x9F\x98\x80\"]"),
    DOC("[\"\xEF\xBB\xBF\"]"),
    DOC("[\"\xE2\x80\xA8\"]"),
    DOC("[\"\xF4\x8F\xBF\xBF\"]"),
    DOC("[\"\xEF\xBF\xBF\"]"),
    DOC("[\"\xC2\x80\"]"),
    DOC("{\"\xC3\xA4\":1}"),
    /* arrays */
    DOC("[1,2]"),
    DOC("[[]]"),
    DOC("[[],[[]]]"),
    DOC("[null,1,\"1\",{}]"),
    DOC("[[1,2],[3,4]]"),
    DOC("[null, null, null]"),
    DOC("[true,false,null]"),
    DOC("[{\"a\":[]},[{}]]"),
    /* objects */
    DOC("{\"a\":1}"),
    DOC("{\"\":0}"),
    DOC("{\"a\":{\"a\":{\"a\":1}}}"),
    DOC("{\"a\":[],\"b\":{}}"),
    DOC("{\"a\":\"a\"}"),
    DOC("{\"a\":null,\"A\":null}"),
    DOC("{\"a\":1,\"aa\":2,\"aaa\":3}"),
    DOC("[{\"a\":1},{\"a\":1}]"),
    DOC("{\"x\":{\"a\":1},\"a\":1}"),
    DOC("{\"a\":1,\"x\":{\"a\":1}}"),
    DOC("{\"\\u0062\":1,\"a\":2}"),
    DOC("{\"a\\n\":1,\"a\\\\n\":2}"),
    DOC("{\"title\":\"\\u041f\\u043e\\u043b\\u0442\\u043e\\u0440\\u0430\"}"),
    /* a byte order mark before it */
    DOC("\xEF\xBB\xBF[]"),
    DOC("\xEF\xBB\xBF {\"a\":1}"),
    /* as deep as the default limit */
    DOC("[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"),
};

static const struct document rejected[] = {
    /* nothing, or not a value */
    DOC(""),
    DOC(" "),
    DOC("\n"),
    DOC("\0"),
    DOC("a"),
    DOC("abc"),
    DOC("'"),
    DOC(","),
    DOC(":"),
    DOC("]"),
    DOC("}"),
    DOC("*"),
    DOC("<null>"),
    DOC("<.>"),
    DOC("#"),
    DOC("@"),
    DOC("\\u005b]"),
    DOC("%"),
    DOC("(1)"),
    DOC("undefined"),
    DOC("\xC3\xA4"),
    DOC("\x0C[]"),
    DOC("\x0B[]"),
    DOC("\xC2\xA0[]"),
    DOC("\xE2\x81\xA0[]"),
    DOC("[\x0C]"),
    DOC("[\x0B]"),
    DOC("[\xC2\xA0]"),
    DOC("[\xE2\x80\x83]"),
    DOC("[\0]"),
    DOC("[]\0"),
    DOC("null\0"),
    DOC("[1]\0[2]"),
    /* byte order marks and other encodings */
    DOC("\xEF\xBB\xBF"),
    DOC("\xEF\xBB\xBF\xEF\xBB\xBF[]"),
    DOC(" \xEF\xBB\xBF[]"),
    DOC("[\xEF\xBB\xBF]"),
    DOC("\xEF\xBB"),
    DOC("\xFE\xFF\0[\0]"),
    DOC("\xFF\xFE[\0]\0"),
    DOC("[\0]\0"),
    /* literals */
    DOC("nul"),
    DOC("nulL"),
    DOC("NULL"),
    DOC("Null"),
    DOC("nullx"),
    DOC("tru"),
    DOC("True"),
    DOC("TRUE"),
    DOC("truex"),
    DOC("fals"),
    DOC("FALSE"),
    DOC("falsee"),
    DOC("[nul]"),
    DOC("[tru]"),
    DOC("[fals]"),
    DOC("[n]"),
    DOC("[truefalse]"),
    DOC("[true false]"),
    DOC("{\"a\":true\"b\":1}"),
    /* numbers */
    DOC("-"),
    DOC("+"),
    DOC("+1"),
    DOC("[+1]"),
    DOC("[++1]"),
    DOC("[-]"),
    DOC("[--1]"),
    DOC("[-+1]"),
    DOC("[- 1]"),
    DOC("[01]"),
    DOC("[-01]"),
    DOC("[00]"),
    DOC("[012]"),
    DOC("[-012]"),
    DOC("[.1]"),
    DOC("[-.1]"),
    DOC("[.]"),
    DOC("[.e1]"),
    DOC("[1.]"),
    DOC("[-1.]"),
    DOC("[0.]"),
    DOC("[1.e1]"),
    DOC("[0.e1]"),
    DOC("[0.1.2]"),
    DOC("[1..2]"),
    DOC("[1e]"),
    DOC("[1E]"),
    DOC("[1e+]"),
    DOC("[1E-]"),
    DOC("[1eE2]"),
    DOC("[1e1.5]"),
    DOC("[1e1e1]"),
    DOC("[0e]"),
    DOC("[0e+]"),
    DOC("[0.3e]"),
    DOC("[0.3e+]"),
    DOC("[1.0e+-2]"),
    DOC("[e1]"),
    DOC("[1e+ 2]"),
    DOC("[1 000.0]"),
    DOC("[1 2]"),
    DOC("[1,000]x"),
    DOC("[1_000]"),
    DOC("[0x1]"),
    DOC("[0x42]"),
    DOC("[0b1]"),
    DOC("[0o7]"),
    DOC("[1a]"),
    DOC("[1.2a-3]"),
    DOC("[1.8011670033376514H-308]"),
    DOC("[123\xC3\xA4]"),
    DOC("[NaN]"),
    DOC("[nan]"),
    DOC("[-NaN]"),
    DOC("[Inf]"),
    DOC("[inf]"),
    DOC("[Infinity]"),
    DOC("[-Infinity]"),
    DOC("[+Inf]"),
    DOC("[-foo]"),
    DOC("[1+2]"),
    DOC("[\xEF\xBC\x91]"),
    DOC("[0,5]]"),
    DOC("1 2"),
    DOC("-1-"),
    DOC("2."),
    DOC("1\x0C"),
    /* numbers that a double cannot hold */
    DOC("[1e308]"),
    DOC("[1e309]"),
    DOC("[1e400]"),
    DOC("[-1e400]"),
    DOC("[1.5e+9999]"),
    DOC("[123123e100000]"),
    DOC("[0.4e00669999999999999999999999999999999999999999999999]"),
    DOC("[10000000000e298]"),
    DOC("[0.01e310]"),
    DOC("[1e99999999999999999999999999]"),
    /* strings */
    DOC("\""),
    DOC("\"a"),
    DOC("[\""),
    DOC("[\"a"),
    DOC("[\"a]"),
    DOC("[\"\\\"]"),
    DOC("['a']"),
    DOC("[a]"),
    DOC("[\"a\nb\"]"),
    DOC("[\"a\tb\"]"),
    DOC("[\"\r\"]"),
    DOC("[\"\x1F\"]"),
    DOC("[\"a\0b\"]"),
    DOC("[\"\x01\"]"),
    DOC("[\"\\"),
    DOC("[\"\\\"\"\"]"),
    DOC("\"\\\\\\\""),
    /* escapes */
    DOC("[\"\\x00\"]"),
    DOC("[\"\\a\"]"),
    DOC("[\"\\v\"]"),
    DOC("[\"\\0\"]"),
    DOC("[\"\\'\"]"),
    DOC("[\"\\U0041\"]"),
    DOC("[\"\\ \"]"),
    DOC("[\"\\\n\"]"),
    DOC("[\"\\\0\"]"),
    DOC("[\"\\\xC3\xA4\"]"),
    DOC("[\"\\u\"]"),
    DOC("[\"\\u1\"]"),
    DOC("[\"\\u00\"]"),
    DOC("[\"\\u004\"]"),
    DOC("[\"\\u00G0\"]"),
    DOC("[\"\\u 041\"]"),
    DOC("[\"\\u+041\"]"),
    DOC("[\"\\u-041\"]"),
    DOC("[\"\\u0x41\"]"),
    DOC("[\"\\u00`0\"]"),
    DOC("[\"\\u00/0\"]"),
    DOC("[\"\\u00:0\"]"),
    DOC("[\"\\u00@0\"]"),
    DOC("[\"\\u0000\"]"),
    DOC("[\"a\\u0000b\"]"),
    DOC("{\"a\\u0000\":1}"),
    /* surrogates */
    DOC("[\"\\ud800\"]"),
    DOC("[\"\\udc00\"]"),
    DOC("[\"\\udfff\\ud800\"]"),
    DOC("[\"\\uD800\\\"]"),
    DOC("[\"\\uD800\\u\"]"),
    DOC("[\"\\uD800\\u1\"]"),
    DOC("[\"\\uD800\\u1x\"]"),
    DOC("[\"\\uD800\\uD800\"]"),
    DOC("[\"\\uD800\\u0041\"]"),
    DOC("[\"\\uD800abc\"]"),
    DOC("[\"\\uD834\\\\uDD1E\"]"),
    DOC("[\"\\uDBFF\\uE000\"]"),
    DOC("[\"\\ud800\\n\"]"),
    DOC("{\"\\udead\":1}"),
    /* malformed UTF-8 */
    DOC("[\"\x80\"]"),
    DOC("[\"\xFF\"]"),
    DOC("[\"\xC3\"]"),
    DOC("[\"\xC3\x28\"]"),
    DOC("[\"\xC0\x80\"]"),
    DOC("[\"\xC0\xAF\"]"),
    DOC("[\"\xE0\x80\xAF\"]"),
    DOC("[\"\xED\xA0\x80\"]"),
    DOC("[\"\xED\xA0\xBD\xED\xB8\x80\"]"),
    DOC("[\"\xE2\x82\"]"),
    DOC("[\"\xF4\x90\x80\x80\"]"),
    DOC("[\"\xF8\x88\x80\x80\x80\"]"),
    DOC("[\"\\u00e\xFF\"]"),
    DOC("{\"\xE9\":1}"),
    DOC("[1\xE5]"),
    DOC("[\xFF]"),
    DOC("[]\xFF"),
    DOC("\xE5"),
    /* arrays */
    DOC("["),
    DOC("[["),
    DOC("[1"),
    DOC("[1,"),
    DOC("[,"),
    DOC("[,]"),
    DOC("[,1]"),
    DOC("[1,]"),
    DOC("[1,,2]"),
    DOC("[1,,]"),
    DOC("[\"\",]"),
    DOC("[1}"),
    DOC("[}"),
    DOC("[1:2]"),
    DOC("[\"a\":1]"),
    DOC("[1]]"),
    DOC("[1]x"),
    DOC("[][]"),
    DOC("[1],"),
    DOC("[1];"),
    DOC("[1;2]"),
    DOC("[3[4]]"),
    DOC("[1]{}"),
    DOC("[\"a\" \"b\"]"),
    DOC("[*]"),
    DOC("[1 true]"),
    DOC("[\n1\n,"),
    DOC("[a,]"),
    /* objects */
    DOC("{"),
    DOC("{\"a\""),
    DOC("{\"a\":"),
    DOC("{\"a\":1"),
    DOC("{\"a\":1,"),
    DOC("{\"a\":1,}"),
    DOC("{,}"),
    DOC("{,\"a\":1}"),
    DOC("{\"a\":1,,\"b\":2}"),
    DOC("{\"a\":1,,}"),
    DOC("{\"a\"}"),
    DOC("{\"a\" 1}"),
    DOC("{\"a\",1}"),
    DOC("{\"a\"::1}"),
    DOC("{\"a\":}"),
    DOC("{\"a\":,}"),
    DOC("{:1}"),
    DOC("{1:1}"),
    DOC("{a:1}"),
    DOC("{'a':1}"),
    DOC("{null:1}"),
    DOC("{[]:1}"),
    DOC("{\"a\":1 \"b\":2}"),
    DOC("{\"a\":1]"),
    DOC("{\"a\":1}}"),
    DOC("{\"a\":1}{}"),
    DOC("{\"a\":1}#"),
    DOC("{\"a\":1}//"),
    DOC("{\"a\":/*x*/1}"),
    DOC("{\"a\":1}/**/"),
    DOC("{\"a\":1;\"b\":2}"),
    DOC("{\"a\"=1}"),
    DOC("{\"a\":1,\"b\"}"),
    DOC("{\"a\":\"b\":1}"),
    DOC("{\xF0\x9F\x87\xA8}"),
    DOC("{}}"),
    DOC("{]"),
    DOC("{{}:1}"),
    DOC("{\"a\":(1)}"),
    /* keys that appear twice */
    DOC("{\"a\":1,\"a\":1}"),
    DOC("{\"a\":1,\"b\":2,\"a\":3}"),
    DOC("{\"\":1,\"\":2}"),
    DOC("{\"a\":1,\"\\u0061\":2}"),
    DOC("{\"\\n\":1,\"\\u000A\":2}"),
    DOC("{\"/\":1,\"\\/\":2}"),
    DOC("{\"\xC3\xA4\":1,\"\\u00e4\":2}"),
    DOC("{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude00\":2}"),
    DOC("[{\"x\":{\"a\":1,\"a\":2}}]"),
    DOC("{\"a\":1,\"x\":{\"a\":1},\"a\":2}"),
    /* deeper than the default limit */
    DOC("[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]"),
    DOC("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":[[[[[[[[[1]]]]]]]]]}}}}}}}}"),
};

static enum mt_status check(const char *bytes, size_t length, struct mt_error *err)
{
    /* In memory of its own, so that the address sanitizer sees a read behind the end. */
    char *copy = malloc(length ? length : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, length);
    enum mt_status status = mt_json_check(copy, length, NULL, "test", err);
    free(copy);
    return status;
}

START_TEST(accepts)
{
    struct mt_error err = {0};
    const struct document *document = &accepted[_i];
    ck_assert_msg(check(document->bytes, document->length, &err) == MT_OK, "%s: %s",
                  document->bytes, err.message);
    cJSON *tree;
    ck_assert_msg(mt_json_parse(document->bytes, document->length, NULL, "test", &tree, &err) ==
                      MT_OK,
                  "%s: %s", document->bytes, err.message);
    cJSON_Delete(tree);
}
END_TEST

START_TEST(rejects_with_a_message_that_says_where)
{
    struct mt_error err = {0};
    const struct document *document = &rejected[_i];
    enum mt_status status = check(document->bytes, document->length, &err);
    ck_assert_msg(status == MT_FORMAT || status == MT_LIMIT, "accepted: %s", document->bytes);
    ck_assert_int_eq(strncmp(err.message, "test: line ", 11), 0);
    ck_assert_ptr_nonnull(strstr(err.message, ", column "));
    size_t length = strlen(err.message);
    ck_assert_uint_eq(mt_utf8_valid_prefix(err.message, length), length);
}
END_TEST

/* A document in brackets is complete only with its last byte. */
START_TEST(rejects_every_beginning_of_a_document)
{
    const struct document *document = &accepted[_i];
    size_t length = document->length;
    while (length > 0 && strchr(" \t\r\n", document->bytes[length - 1]))
        length--;
    if (!strchr("]}\"", document->bytes[length - 1]))
        return;
    for (size_t n = 0; n < length; n++)
        ck_assert_msg(check(document->bytes, n, NULL) == MT_FORMAT, "accepted: %.*s", (int)n,
                      document->bytes);
}
END_TEST

static const struct {
    const char *text, *message;
} messages[] = {
    {"", "test: line 1, column 1: expected a value, found the end of the text"},
    {"\xEF\xBB\xBF{]", "test: line 1, column 2: expected a key in double quotes, found ']'"},
    {"{\"a\": 1\n \"b\": 2}", "test: line 2, column 2: expected ',' or '}', found '\"'"},
    {"[\"\xC3\xA4\xE2\x82\xAC\", x]", "test: line 1, column 8: expected a value, found 'x'"},
    {"[\n\n\xC3\xA4]", "test: line 3, column 1: expected a value, found '\xC3\xA4'"},
    {"[\"\xC3\xA4\xFF\"]", "test: line 1, column 4: expected UTF-8, found byte 0xff"},
    {"[1 2]", "test: line 1, column 4: expected ',' or ']', found '2'"},
    {"{a: 1}", "test: line 1, column 2: expected a key in double quotes, found 'a'"},
    {"{\"a\" 1}", "test: line 1, column 6: expected ':' behind the key, found '1'"},
    {"[\"ab\ncd\"]", "test: line 1, column 5: expected an escape sequence for a control character, "
                     "found byte 0x0a"},
    {"[1, \"abc", "test: line 1, column 5: expected '\"' at the end of this string"},
    {"[trve]", "test: line 1, column 2: expected true, found 't'"},
    {"[-x]", "test: line 1, column 3: expected a digit, found 'x'"},
    {"[1.x]", "test: line 1, column 4: expected a digit behind the point, found 'x'"},
    {"[1e]", "test: line 1, column 4: expected a digit of the exponent, found ']'"},
    {"[1e400]", "test: line 1, column 2: expected a number below 1e308, found 1e400"},
    {"[\"\\u00g0\"]", "test: line 1, column 3: expected four hexadecimal digits behind \\u"},
    {"[\"\\u0000\"]", "test: line 1, column 3: \\u0000 is not allowed in strings"},
    {"[\"\\udc00\"]", "test: line 1, column 3: low surrogate \\udc00 without a high one before it"},
    {"[\"\\ud800x\"]",
     "test: line 1, column 3: high surrogate \\ud800 without a low one behind it"},
    {"[\"\\q\"]", "test: line 1, column 4: expected one of \" \\ / b f n r t u behind the "
                  "backslash, found 'q'"},
    {"[] []", "test: line 1, column 4: expected the end of the text, found '['"},
    {"[[[[[[[[[[[[[[[[[", "test: line 1, column 17: nested deeper than 16"},
    {"{\"a\": 1, \"b\": 2,\n\"\\u0062\": 3, \"a\": 4, \"a\": 5}",
     "test: line 2, column 1: key \"\\u0062\" appears twice"},
};

START_TEST(messages_tell_place_expectation_and_find)
{
    struct mt_error err;
    const char *text = messages[_i].text;
    ck_assert_int_ne(check(text, strlen(text), &err), MT_OK);
    ck_assert_str_eq(err.message, messages[_i].message);
}
END_TEST

START_TEST(limits_are_kept_exactly)
{
    struct mt_error err;
    struct mt_json_limits limits = {.max_depth = 2, .max_values = 6};
    static const char fits[] = "[{\"a\":1,\"b\":2}]", deeper[] = "[[[]]]", more[] = "[1,2,3,4,5,6]";
    ck_assert_int_eq(mt_json_check(fits, strlen(fits), &limits, "x", &err), MT_OK);
    ck_assert_int_eq(mt_json_check(deeper, strlen(deeper), &limits, "x", &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "x: line 1, column 3: nested deeper than 2");
    ck_assert_int_eq(mt_json_check(more, strlen(more), &limits, "x", &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "x: line 1, column 12: more than 6 values");
    limits.max_values = 7;
    ck_assert_int_eq(mt_json_check(more, strlen(more), &limits, "x", &err), MT_OK);
}
END_TEST

START_TEST(depth_has_a_ceiling_whatever_is_asked)
{
    struct mt_json_limits limits = {.max_depth = SIZE_MAX, .max_values = SIZE_MAX};
    char nested[2 * MT_JSON_MAX_DEPTH + 2];
    memset(nested, '[', MT_JSON_MAX_DEPTH);
    memset(nested + MT_JSON_MAX_DEPTH, ']', MT_JSON_MAX_DEPTH);
    cJSON *tree;
    ck_assert_int_eq(mt_json_parse(nested, 2 * MT_JSON_MAX_DEPTH, &limits, "x", &tree, NULL),
                     MT_OK);
    cJSON_Delete(tree);
    memset(nested, '[', sizeof nested);
    ck_assert_int_eq(mt_json_check(nested, sizeof nested, &limits, "x", NULL), MT_LIMIT);
}
END_TEST

START_TEST(an_absent_body_is_an_empty_one)
{
    ck_assert_int_eq(mt_json_check(NULL, 0, NULL, "x", NULL), MT_FORMAT);
}
END_TEST

/* {"k0":0,"k1":1,...}; last replaces the last key if it is not NULL. */
static struct mt_text many_keys(size_t n, const char *last)
{
    struct mt_text text = {0};
    for (size_t i = 0; i + 1 < n; i++)
        mt_text_appendf(&text, "%c\"k%zu\":%zu", i ? ',' : '{', i, i);
    mt_text_appendf(&text, ",\"%s\":0}", last);
    ck_assert_int_eq(text.status, MT_OK);
    return text;
}

/* With a comparison of every pair this would take longer than the test has. */
START_TEST(many_keys_take_no_time)
{
    struct mt_error err;
    struct mt_json_limits limits = {.max_values = SIZE_MAX};
    struct mt_text unique = many_keys(400000, "last"), twice = many_keys(400000, "k200000");
    ck_assert_int_eq(mt_json_check(unique.bytes, unique.length, &limits, "x", &err), MT_OK);
    ck_assert_int_eq(mt_json_check(twice.bytes, twice.length, &limits, "x", &err), MT_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "key \"k200000\" appears twice"));
    mt_text_finish(&unique);
    mt_text_finish(&twice);
}
END_TEST

Suite *suite_json_check(void)
{
    Suite *suite = suite_create("json_check");
    TCase *tcase = tcase_create("grammar");
    tcase_add_loop_test(tcase, accepts, 0, sizeof accepted / sizeof *accepted);
    tcase_add_loop_test(tcase, rejects_with_a_message_that_says_where, 0,
                        sizeof rejected / sizeof *rejected);
    tcase_add_loop_test(tcase, rejects_every_beginning_of_a_document, 0,
                        sizeof accepted / sizeof *accepted);
    tcase_add_loop_test(tcase, messages_tell_place_expectation_and_find, 0,
                        sizeof messages / sizeof *messages);
    suite_add_tcase(suite, tcase);
    TCase *limits = tcase_create("limits");
    tcase_add_test(limits, limits_are_kept_exactly);
    tcase_add_test(limits, depth_has_a_ceiling_whatever_is_asked);
    tcase_add_test(limits, an_absent_body_is_an_empty_one);
    tcase_add_test(limits, many_keys_take_no_time);
    tcase_set_timeout(limits, 30);
    suite_add_tcase(suite, limits);
    return suite;
}
