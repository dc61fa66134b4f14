/* Parsing into trees, typed access, the reader and the writer. The scanner: test_json_check.c. */
#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"

#include <cjson/cJSON.h>
#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cJSON *parse(const char *text)
{
    cJSON *tree;
    struct mt_error err;
    ck_assert_msg(mt_json_parse(text, strlen(text), NULL, "test", &tree, &err) == MT_OK, "%s",
                  err.message);
    return tree;
}

/* Files. */

START_TEST(files_are_parsed_and_named_in_messages)
{
    struct mt_error err;
    char path[] = "/tmp/mt_test_json.XXXXXX", expected[200];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(mt_file_write(path, "{\"a\": [1]}", 10, NULL), MT_OK);
    cJSON *tree;
    ck_assert_int_eq(mt_json_read_file(path, 10, NULL, &tree, NULL), MT_OK);
    ck_assert(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(tree, "a")));
    cJSON_Delete(tree);
    ck_assert_int_eq(mt_json_read_file(path, 9, NULL, &tree, &err), MT_LIMIT);
    ck_assert_int_eq(mt_file_write(path, "{\"a\": [1}", 9, NULL), MT_OK);
    ck_assert_int_eq(mt_json_read_file(path, 10, NULL, &tree, &err), MT_FORMAT);
    snprintf(expected, sizeof expected, "%s: line 1, column 9: expected ',' or ']', found '}'",
             path);
    ck_assert_str_eq(err.message, expected);
    unlink(path);
    ck_assert_int_eq(mt_json_read_file(path, 10, NULL, &tree, &err), MT_NOT_FOUND);
}
END_TEST

/* Typed access. */

START_TEST(absent_and_null_members_leave_the_default)
{
    cJSON *tree = parse("{\"null\": null, \"KEY\": 1}");
    static const char *const keys[] = {"null", "absent", "key"};
    for (size_t i = 0; i < 3; i++) {
        const char *string = "default";
        bool boolean = true, found = true;
        int64_t integer = 7;
        double number = 0.5;
        ck_assert_int_eq(mt_json_get_string(tree, keys[i], &string, &found, NULL), MT_OK);
        ck_assert(!found);
        ck_assert_int_eq(mt_json_get_bool(tree, keys[i], &boolean, NULL, NULL), MT_OK);
        ck_assert_int_eq(mt_json_get_integer(tree, keys[i], 0, 9, &integer, NULL, NULL), MT_OK);
        ck_assert_int_eq(mt_json_get_number(tree, keys[i], 0, 9, &number, NULL, NULL), MT_OK);
        ck_assert_str_eq(string, "default");
        ck_assert(boolean && integer == 7 && number == 0.5);
    }
    cJSON_Delete(tree);
}
END_TEST

START_TEST(members_of_the_right_type_are_read)
{
    cJSON *tree = parse("{\"s\": \"\\u00e4\", \"t\": true, \"f\": false, \"n\": 0.25}");
    const char *string = NULL;
    bool yes = false, no = true, found = false;
    double number = 0;
    ck_assert_int_eq(mt_json_get_string(tree, "s", &string, &found, NULL), MT_OK);
    ck_assert_str_eq(string, "\xC3\xA4");
    ck_assert(found);
    ck_assert_int_eq(mt_json_get_bool(tree, "t", &yes, NULL, NULL), MT_OK);
    ck_assert_int_eq(mt_json_get_bool(tree, "f", &no, NULL, NULL), MT_OK);
    ck_assert(yes && !no);
    ck_assert_int_eq(mt_json_get_number(tree, "n", 0.25, 0.25, &number, &found, NULL), MT_OK);
    ck_assert(found && number == 0.25);
    cJSON_Delete(tree);
}
END_TEST

static const struct {
    const char *value; /* in the document */
    int64_t low, high;
    bool is_ok;
    int64_t expected;
    const char *message;
} integers[] = {
    {"5", 0, 9, true, 5, NULL},
    {"5.0", 0, 9, true, 5, NULL},
    {"5e0", 0, 9, true, 5, NULL},
    {"0.5e1", 5, 5, true, 5, NULL},
    {"-3", -3, 9, true, -3, NULL},
    {"-0", 0, 9, true, 0, NULL},
    {"9007199254740991", 0, INT64_MAX, true, 9007199254740991, NULL},
    {"-9007199254740991", INT64_MIN, 0, true, -9007199254740991, NULL},
    {"5.5", 0, 9, false, 0, "k: expected an integer from 0 to 9, found 5.5"},
    {"10", 0, 9, false, 0, "k: expected an integer from 0 to 9, found 10"},
    {"-1", 0, 9, false, 0, "k: expected an integer from 0 to 9, found -1"},
    {"1e300", 0, INT64_MAX, false, 0,
     "k: expected an integer from 0 to 9223372036854775807, found 1.0000000000000001e+300"},
    {"9007199254740993", 0, 9007199254740992, false, 0,
     "k: expected an integer from 0 to 9007199254740992, found 9007199254740992"},
    {"\"5\"", 0, 9, false, 0, "k: expected an integer from 0 to 9, found the string \"5\""},
    {"true", 0, 9, false, 0, "k: expected an integer from 0 to 9, found true"},
    {"[5]", 0, 9, false, 0, "k: expected an integer from 0 to 9, found an array"},
    {"{}", 0, 9, false, 0, "k: expected an integer from 0 to 9, found an object"},
};

START_TEST(integers_are_whole_and_in_range)
{
    char text[100];
    snprintf(text, sizeof text, "{\"k\": %s}", integers[_i].value);
    cJSON *tree = parse(text);
    struct mt_error err;
    int64_t value = -99;
    enum mt_status status =
        mt_json_get_integer(tree, "k", integers[_i].low, integers[_i].high, &value, NULL, &err);
    if (integers[_i].is_ok) {
        ck_assert_int_eq(status, MT_OK);
        ck_assert_int_eq(value, integers[_i].expected);
    } else {
        ck_assert_int_eq(status, MT_INVALID);
        ck_assert_int_eq(value, -99);
        ck_assert_str_eq(err.message, integers[_i].message);
    }
    cJSON_Delete(tree);
}
END_TEST

START_TEST(messages_of_the_other_types)
{
    cJSON *tree = parse("{\"s\": 1.5, \"b\": \"yes\", \"n\": 2, \"f\": false}");
    struct mt_error err;
    const char *string;
    bool boolean;
    double number;
    ck_assert_int_eq(mt_json_get_string(tree, "s", &string, NULL, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "s: expected a string, found 1.5");
    ck_assert_int_eq(mt_json_get_bool(tree, "b", &boolean, NULL, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "b: expected true or false, found the string \"yes\"");
    ck_assert_int_eq(mt_json_get_number(tree, "n", 0, 1.5, &number, NULL, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "n: expected a number from 0 to 1.5, found 2");
    ck_assert_int_eq(mt_json_get_number(tree, "f", 0, 1, &number, NULL, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "f: expected a number from 0 to 1, found false");
    cJSON_Delete(tree);
}
END_TEST

START_TEST(long_strings_are_quoted_in_part)
{
    char text[400] = "{\"b\": \"x";
    for (int i = 0; i < 100; i++)
        strcat(text, "\xC3\xA4");
    strcat(text, "\"}");
    cJSON *tree = parse(text);
    struct mt_error err;
    bool boolean;
    ck_assert_int_eq(mt_json_get_bool(tree, "b", &boolean, NULL, &err), MT_INVALID);
    size_t length = strlen(err.message);
    ck_assert_uint_eq(mt_utf8_valid_prefix(err.message, length), length);
    ck_assert_uint_lt(length, 140);
    ck_assert_str_eq(err.message + length - 4, "...\"");
    cJSON_Delete(tree);
}
END_TEST

START_TEST(a_byte_order_mark_is_passed_over)
{
    static const char text[] = "\xEF\xBB\xBF{\"a\": 5}";
    struct mt_error err;
    cJSON *tree = NULL;
    int64_t value = 0;
    ck_assert_int_eq(mt_json_parse(text, strlen(text), NULL, "test", &tree, &err), MT_OK);
    ck_assert_int_eq(mt_json_get_integer(tree, "a", 0, 9, &value, NULL, &err), MT_OK);
    ck_assert_int_eq(value, 5);
    cJSON_Delete(tree);
    struct mt_json_reader reader;
    uint64_t read = 0;
    mt_json_reader_init(&reader, text, strlen(text));
    mt_json_reader_enter(&reader);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_span_equals(mt_json_reader_string(&reader), "a"));
    ck_assert(mt_json_reader_u64(&reader, &read));
    ck_assert_uint_eq(read, 5);
}
END_TEST

/* The reader. */

static struct mt_json_reader read_text(const char *text)
{
    struct mt_error err;
    struct mt_json_reader reader;
    ck_assert_msg(mt_json_check(text, strlen(text), NULL, "test", &err) == MT_OK, "%s",
                  err.message);
    mt_json_reader_init(&reader, text, strlen(text));
    return reader;
}

START_TEST(reader_walks_keys_and_values_in_order)
{
    struct mt_json_reader reader =
        read_text(" { \"a\" : [ 1 , 22 ] , \"skip\":{\"x\":[\"]}\\\"\",-1.5e3,[]],\"y\":null} ,"
                  "\"\\u0062\":18446744073709551615 , \"c\" : true}\n");
    uint64_t value = 0;
    ck_assert_int_eq(mt_json_reader_peek(&reader), '{');
    mt_json_reader_enter(&reader);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_span_equals(mt_json_reader_string(&reader), "a"));
    ck_assert_int_eq(mt_json_reader_peek(&reader), '[');
    mt_json_reader_enter(&reader);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_reader_u64(&reader, &value) && value == 1);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_reader_u64(&reader, &value) && value == 22);
    ck_assert(!mt_json_reader_next(&reader));
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_span_equals(mt_json_reader_string(&reader), "skip"));
    mt_json_reader_skip(&reader);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_span_equals(mt_json_reader_string(&reader), "b"));
    ck_assert(mt_json_reader_u64(&reader, &value) && value == UINT64_MAX);
    ck_assert(mt_json_reader_next(&reader));
    ck_assert(mt_json_span_equals(mt_json_reader_string(&reader), "c"));
    struct mt_json_span excerpt = mt_json_reader_excerpt(&reader);
    ck_assert(excerpt.length == 4 && memcmp(excerpt.bytes, "true", 4) == 0);
    mt_json_reader_skip(&reader);
    ck_assert(!mt_json_reader_next(&reader));
    ck_assert_int_eq(mt_json_reader_peek(&reader), '\0');
}
END_TEST

START_TEST(reader_takes_only_plain_integers)
{
    static const char *const refused[] = {
        "-1",    "-0",  "1.0", "1e3", "18446744073709551616",   "0.5", "true", "null",
        "\"1\"", "[1]", "{}",  "1E0", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct mt_json_reader reader = read_text(refused[i]);
        uint64_t value = 5;
        ck_assert_msg(!mt_json_reader_u64(&reader, &value), "%s", refused[i]);
        ck_assert_uint_eq(value, 5);
        ck_assert_int_eq(mt_json_reader_peek(&reader), refused[i][0]); /* still to come */
    }
}
END_TEST

START_TEST(spans_are_unescaped)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"\"\"", ""},
        {"\"abc\"", "abc"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\"", "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\\u07ff\\u0800\\uFFFF\\uDBFF\\uDFFF\"",
         "\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF4\x8F\xBF\xBF"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_json_reader reader = read_text(cases[i].text);
        struct mt_json_span span = mt_json_reader_string(&reader);
        char out[64] = {0};
        ck_assert_uint_le(mt_json_span_unescape(span, out), span.length);
        ck_assert_str_eq(out, cases[i].expected);
        ck_assert(mt_json_span_equals(span, cases[i].expected));
        ck_assert(!mt_json_span_equals(span, "something else"));
        strcat(out, "x");
        ck_assert(!mt_json_span_equals(span, out));
    }
}
END_TEST

START_TEST(excerpts_end_between_characters)
{
    struct mt_json_reader reader =
        read_text("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xC3\xA4\xC3\xA4\xC3\xA4\"");
    struct mt_json_span excerpt = mt_json_reader_excerpt(&reader);
    ck_assert_uint_eq(excerpt.length, 39);
}
END_TEST

/* The writer. */

static void begin_writing(struct mt_json_writer *writer, struct mt_text *text)
{
    *text = (struct mt_text){0};
    mt_json_writer_init(writer, text);
}

static void assert_written(struct mt_text *text, const char *expected)
{
    ck_assert_int_eq(text->status, MT_OK);
    ck_assert_str_eq(text->bytes, expected);
    mt_text_finish(text);
}

START_TEST(writer_nests_and_separates)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_begin_object(&writer);
    mt_json_key(&writer, "empty");
    mt_json_begin_array(&writer);
    mt_json_end_array(&writer);
    mt_json_key(&writer, "values");
    mt_json_begin_array(&writer);
    mt_json_integer(&writer, INT64_MIN);
    mt_json_string_z(&writer, "s");
    mt_json_bool(&writer, true);
    mt_json_bool(&writer, false);
    mt_json_null(&writer);
    mt_json_begin_object(&writer);
    mt_json_end_object(&writer);
    mt_json_fixed(&writer, 0.5, 3);
    mt_json_fixed(&writer, 1e20, 3);
    mt_json_number(&writer, 0.5, 3);
    mt_json_begin_array(&writer);
    mt_json_fixed(&writer, 0.5, 3);
    mt_json_end_array(&writer);
    mt_json_end_array(&writer);
    mt_json_key(&writer, "last \"key\"");
    mt_json_fixed(&writer, 2, 3);
    mt_json_end_object(&writer);
    assert_written(&text, "{\"empty\":[],\"values\":[-9223372036854775808,\"s\",true,false,null,{},"
                          "0.5,100000000000000000000,0.5,[0.5]],\"last \\\"key\\\"\":2}");
}
END_TEST

static const struct {
    const char *bytes;
    size_t length;
    const char *expected;
} strings[] = {
    {"", 0, "\"\""},
    {NULL, 0, "\"\""},
    {"abc", 3, "\"abc\""},
    {"a\0b", 3, "\"a\\u0000b\""},
    {"\"\\/\b\f\n\r\t", 8, "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"\x01\x1F\x7F", 3, "\"\\u0001\\u001f\x7F\""},
    {"\xC3\xA4\xF0\x9F\x98\x80", 6, "\"\xC3\xA4\xF0\x9F\x98\x80\""},
    {"\xFF", 1, "\"\xEF\xBF\xBD\""},
    {"a\xC3", 2, "\"a\xEF\xBF\xBD\""},
    {"\xC3\"\xE2\x82z", 5, "\"\xEF\xBF\xBD\\\"\xEF\xBF\xBD\xEF\xBF\xBDz\""},
    {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
};

START_TEST(members_have_key_and_value)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, "s", "x");
    mt_json_member_bytes(&writer, "b", "xyz", 2);
    mt_json_member_bool(&writer, "t", true);
    mt_json_member_integer(&writer, "i", -7);
    mt_json_member_count(&writer, "c", 7);
    mt_json_member_number(&writer, "n", 0.25, 6);
    mt_json_member_array(&writer, "a");
    mt_json_end_array(&writer);
    mt_json_member_object(&writer, "o");
    mt_json_end_object(&writer);
    mt_json_end_object(&writer);
    assert_written(&text, "{\"s\":\"x\",\"b\":\"xy\",\"t\":true,\"i\":-7,\"c\":7,\"n\":0.25,"
                          "\"a\":[],\"o\":{}}");
}
END_TEST

START_TEST(what_is_json_already_goes_out_as_it_is)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_begin_array(&writer);
    mt_json_raw(&writer, "{\"a\":[1]}", 9);
    mt_json_raw(&writer, "null", 4);
    mt_json_end_array(&writer);
    ck_assert_str_eq(text.bytes, "[{\"a\":[1]},null]");
    mt_text_finish(&text);
}
END_TEST

START_TEST(strings_are_escaped_and_always_valid)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_string(&writer, strings[_i].bytes, strings[_i].length);
    bool has_nul = strstr(strings[_i].expected, "\\u0000"); /* the one thing we do not read back */
    ck_assert_int_eq(mt_json_check(text.bytes, text.length, NULL, "x", NULL),
                     has_nul ? MT_FORMAT : MT_OK);
    assert_written(&text, strings[_i].expected);
}
END_TEST

static const struct {
    double value;
    int digits;
    const char *expected;
} numbers[] = {
    {0, 6, "0"},
    {-0.0, 6, "-0"},
    {1, 6, "1"},
    {0.1, 17, "0.10000000000000001"},
    {0.1, 15, "0.1"},
    {-1234.5678, 6, "-1234.57"},
    {1e20, 6, "1e+20"},
    {1.5e-7, 6, "1.5e-07"},
    {123456, 1, "1e+05"},
    {-2.2250738585072014e-308, 17, "-2.2250738585072014e-308"},
    {(double)INFINITY, 6, "null"},
    {-(double)INFINITY, 6, "null"},
    {(double)NAN, 6, "null"},
};

START_TEST(numbers_have_significant_digits)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_number(&writer, numbers[_i].value, numbers[_i].digits);
    assert_written(&text, numbers[_i].expected);
}
END_TEST

static const struct {
    double value;
    int decimals;
    const char *expected;
} fixed[] = {
    {0, 4, "0"},
    {-0.0, 4, "0"},
    {1, 0, "1"},
    {0.5, 0, "0"}, /* ties to even, as printf */
    {1.5, 0, "2"},
    {0.125, 2, "0.12"},
    {0.375, 2, "0.38"},
    {-0.0001, 2, "0"},
    {-0.25, 4, "-0.25"},
    {0.1, 9, "0.1"},
    {1.0 / 3, 4, "0.3333"},
    {2.0 / 3, 9, "0.666666667"},
    {0.99999, 4, "1"},
    {0.00012, 4, "0.0001"},
    {1e-9, 9, "0.000000001"},
    {100, 3, "100"},
    {120.5, 3, "120.5"},
    {8999999.9375, 9, "8999999.9375"},
    {-8999999.5, 9, "-8999999.5"},
    {9000000.5, 9, "9000000.5"}, /* the slow way */
    {1e15, 9, "1000000000000000"},
    {-1e300, 0, NULL}, /* 301 digits: only compared with printf */
    {(double)INFINITY, 4, "null"},
    {(double)NAN, 4, "null"},
};

START_TEST(fixed_numbers_have_decimals)
{
    struct mt_text text;
    struct mt_json_writer writer;
    char printed[400];
    begin_writing(&writer, &text);
    mt_json_fixed(&writer, fixed[_i].value, fixed[_i].decimals);
    snprintf(printed, sizeof printed, "%.0f", fixed[_i].value);
    assert_written(&text, fixed[_i].expected ? fixed[_i].expected : printed);
}
END_TEST

static const struct {
    int64_t ns;
    const char *expected;
} milliseconds[] = {
    {0, "0"},
    {999, "0"},
    {1000, "0.001"},
    {12345678, "12.345"},
    {120500000, "120.5"},
    {INT64_MAX, "9223372036854.775"},
};

START_TEST(milliseconds_have_three_decimals)
{
    char number[MT_JSON_NUMBER_BYTES];
    size_t length = mt_json_format_ms(milliseconds[_i].ns, number);
    ck_assert_str_eq(number, milliseconds[_i].expected);
    ck_assert_uint_eq(length, strlen(number));
}
END_TEST

/* What printf writes, trailing zeros and the sign of zero cut. */
static void print_fixed(char *out, size_t capacity, double value, int decimals)
{
    snprintf(out, capacity, "%.*f", decimals, value);
    if (strchr(out, '.')) {
        char *end = out + strlen(out);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            *--end = '\0';
    }
    if (strcmp(out, "-0") == 0)
        strcpy(out, "0");
}

/* Attention weights are floats: for them the fast way must round as printf does. */
START_TEST(floats_have_a_point)
{
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_begin_array(&writer);
    mt_json_float(&writer, 90, 4);
    mt_json_float(&writer, 0, 4);
    mt_json_float(&writer, 12.5, 4);
    mt_json_float(&writer, NAN, 4);
    mt_json_end_array(&writer);
    assert_written(&text, "[90.0,0.0,12.5,null]");
}
END_TEST

START_TEST(fixed_floats_equal_printf)
{
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        float value = (float)(random >> 40) / (i % 2 ? 0x1p24f : 0x1p8f);
        int decimals = i % 10;
        struct mt_text text;
        struct mt_json_writer writer;
        char printed[100];
        begin_writing(&writer, &text);
        mt_json_fixed(&writer, (double)value, decimals);
        print_fixed(printed, sizeof printed, (double)value, decimals);
        if (strcmp(text.bytes, printed) != 0)
            ck_abort_msg("%d decimals: %s, printf %s", decimals, text.bytes, printed);
        mt_text_finish(&text);
    }
}
END_TEST

START_TEST(writer_failures_stay_in_the_text)
{
    struct mt_text text = {.limit_bytes = 10};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &text);
    mt_json_begin_array(&writer);
    for (int i = 0; i < 100; i++)
        mt_json_integer(&writer, i);
    mt_json_end_array(&writer);
    ck_assert_int_eq(text.status, MT_LIMIT);
    ck_assert_uint_le(text.length, 10);
    mt_text_finish(&text);
}
END_TEST

/* Locales. */

static bool has_decimal_comma(const char *name)
{
    return setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ".") != 0;
}

/* A locale that writes 0,5: one that is installed or in the environment, else one made for the
 * occasion. */
static bool enter_comma_locale(void)
{
    static const char *const names[] = {"", "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_decimal_comma(names[i]))
            return true;
    char directory[] = "/tmp/mt_test_locale.XXXXXX", command[200];
    if (!mkdtemp(directory))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             directory, directory);
    bool is_made = system(command) == 0 && setenv("LOCPATH", directory, 1) == 0 &&
                   has_decimal_comma("de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) == 0 && is_made;
}

START_TEST(a_decimal_comma_changes_nothing)
{
    if (!enter_comma_locale()) {
        fprintf(stderr, "test_json: skipped: no locale with a decimal comma can be had\n");
        return;
    }
    char printed[16];
    snprintf(printed, sizeof printed, "%.1f", 0.5);
    ck_assert_str_eq(printed, "0,5"); /* the locale does what the test is about */

    cJSON *tree = parse("{\"k\": 0.5, \"e\": 1.25e-3, \"i\": 5.0}");
    double number = 0;
    int64_t integer = 0;
    ck_assert_int_eq(mt_json_get_number(tree, "k", 0, 1, &number, NULL, NULL), MT_OK);
    ck_assert(number == 0.5);
    ck_assert_int_eq(mt_json_get_number(tree, "e", 0, 1, &number, NULL, NULL), MT_OK);
    ck_assert(number == 1.25e-3);
    ck_assert_int_eq(mt_json_get_integer(tree, "i", 0, 9, &integer, NULL, NULL), MT_OK);
    struct mt_error err;
    ck_assert_int_eq(mt_json_get_number(tree, "k", 0.75, 1.5, &number, NULL, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "k: expected a number from 0.75 to 1.5, found 0.5");
    cJSON_Delete(tree);

    ck_assert_int_ne(mt_json_check("[0,5.5]x", 8, NULL, "x", NULL), MT_OK);
    struct mt_text text;
    struct mt_json_writer writer;
    begin_writing(&writer, &text);
    mt_json_begin_array(&writer);
    mt_json_number(&writer, 0.5, 6);
    mt_json_number(&writer, -1.25e-30, 6);
    mt_json_number(&writer, 3, 6);
    mt_json_fixed(&writer, 0.5, 6);
    mt_json_fixed(&writer, 9000000.5, 9);
    mt_json_fixed(&writer, 1234567890123456.5, 3);
    mt_json_end_array(&writer);
    assert_written(&text, "[0.5,-1.25e-30,3,0.5,9000000.5,1234567890123456.5]");
}
END_TEST

static TCase *writer_cases(void)
{
    TCase *tcase = tcase_create("writer");
    tcase_add_test(tcase, writer_nests_and_separates);
    tcase_add_test(tcase, members_have_key_and_value);
    tcase_add_test(tcase, what_is_json_already_goes_out_as_it_is);
    tcase_add_loop_test(tcase, strings_are_escaped_and_always_valid, 0,
                        sizeof strings / sizeof *strings);
    tcase_add_loop_test(tcase, numbers_have_significant_digits, 0,
                        sizeof numbers / sizeof *numbers);
    tcase_add_loop_test(tcase, milliseconds_have_three_decimals, 0,
                        sizeof milliseconds / sizeof *milliseconds);
    tcase_add_loop_test(tcase, fixed_numbers_have_decimals, 0, sizeof fixed / sizeof *fixed);
    tcase_add_test(tcase, floats_have_a_point);
    tcase_add_test(tcase, fixed_floats_equal_printf);
    tcase_add_test(tcase, writer_failures_stay_in_the_text);
    tcase_add_test(tcase, a_decimal_comma_changes_nothing);
    tcase_set_timeout(tcase, 60); /* localedef takes a second or two */
    return tcase;
}

Suite *suite_json(void)
{
    Suite *suite = suite_create("json");
    TCase *tree = tcase_create("tree");
    tcase_add_test(tree, files_are_parsed_and_named_in_messages);
    tcase_add_test(tree, absent_and_null_members_leave_the_default);
    tcase_add_test(tree, members_of_the_right_type_are_read);
    tcase_add_loop_test(tree, integers_are_whole_and_in_range, 0,
                        sizeof integers / sizeof *integers);
    tcase_add_test(tree, messages_of_the_other_types);
    tcase_add_test(tree, long_strings_are_quoted_in_part);
    suite_add_tcase(suite, tree);
    TCase *reader = tcase_create("reader");
    tcase_add_test(reader, a_byte_order_mark_is_passed_over);
    tcase_add_test(reader, reader_walks_keys_and_values_in_order);
    tcase_add_test(reader, reader_takes_only_plain_integers);
    tcase_add_test(reader, spans_are_unescaped);
    tcase_add_test(reader, excerpts_end_between_characters);
    suite_add_tcase(suite, reader);
    suite_add_tcase(suite, writer_cases());
    return suite;
}
