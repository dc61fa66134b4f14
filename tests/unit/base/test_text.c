#include "base/text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *bytes;
    size_t valid; /* length of the well-formed prefix */
} prefixes[] = {
    {"", 0},
    {"abc", 3},
    {"\xC2\x80", 2},
    {"\xDF\xBF", 2},
    {"\xE0\xA0\x80", 3},
    {"\xED\x9F\xBF", 3},
    {"\xEE\x80\x80", 3},
    {"\xEF\xBF\xBF", 3},
    {"\xF0\x90\x80\x80", 4},
    {"\xF4\x8F\xBF\xBF", 4},
    {"a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 10},
    {"\x80", 0}, /* continuation alone */
    {"\xBF", 0},
    {"\xC0\x80", 0},         /* overlong NUL */
    {"\xC1\xBF", 0},         /* overlong */
    {"\xE0\x9F\xBF", 0},     /* overlong */
    {"\xF0\x8F\xBF\xBF", 0}, /* overlong */
    {"\xED\xA0\x80", 0},     /* first surrogate */
    {"\xED\xBF\xBF", 0},     /* last surrogate */
    {"\xF4\x90\x80\x80", 0}, /* U+110000 */
    {"\xF5\x80\x80\x80", 0},
    {"\xFE", 0},
    {"\xFF", 0},
    {"\xC3", 0}, /* cut short */
    {"\xE2\x82", 0},
    {"\xF0\x9F\x98", 0},
    {"ab\xE2\x82", 2},
    {"\xC3\x28", 0}, /* no continuation */
    {"\xE2\x28\xA1", 0},
    {"\xE2\x82\x28", 0},
    {"\xF0\x28\x8C\xBC", 0},
    {"\xF0\x90\x28\xBC", 0},
    {"\xF0\x90\x8C\x28", 0},
    {"\xC3\xA4\xC3", 2},
};

START_TEST(well_formed_prefix_ends_at_the_first_bad_byte)
{
    const char *bytes = prefixes[_i].bytes;
    ck_assert_uint_eq(mt_utf8_valid_prefix(bytes, strlen(bytes)), prefixes[_i].valid);
}
END_TEST

/* Encodes as the standard's table 3-6 says, without excluding anything. */
static size_t encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}

static bool is_understood(uint32_t c)
{
    char bytes[5] = {0};
    size_t n = encode(c, bytes);
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return mt_utf8_valid_prefix(bytes, n) == 0;
    return mt_utf8_valid_prefix(bytes, n) == n && mt_utf8_length((unsigned char)bytes[0]) == n &&
           mt_utf8_decode(bytes) == c && mt_utf8_count(bytes, n) == 1 &&
           mt_utf8_count_utf16(bytes, n) == (c > 0xFFFF ? 2 : 1);
}

START_TEST(every_code_point_is_valid_decoded_and_counted)
{
    uint32_t c = 1;
    while (c <= 0x110FFF && is_understood(c))
        c++;
    ck_assert_msg(c == 0x111000, "U+%04X", c);
}
END_TEST

START_TEST(characters_are_written_as_utf_8)
{
    for (uint32_t c = 1; c <= 0x10FFFF; c++) {
        char expected[5] = {0}, bytes[5] = {0};
        size_t n = encode(c, expected);
        if (mt_utf8_encode(c, bytes) != n || memcmp(bytes, expected, n) != 0)
            ck_abort_msg("U+%04X", c);
    }
    struct mt_text text = {0};
    mt_text_append_char(&text, 'a');
    mt_text_append_char(&text, 0x1F600);
    ck_assert_str_eq(text.bytes, "a\xF0\x9F\x98\x80");
    mt_text_finish(&text);
}
END_TEST

START_TEST(text_is_counted_in_both_units)
{
    const char *text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";
    ck_assert_uint_eq(mt_utf8_count(text, strlen(text)), 5);
    ck_assert_uint_eq(mt_utf8_count_utf16(text, strlen(text)), 6);
    ck_assert_uint_eq(mt_utf8_count("", 0), 0);
}
END_TEST

START_TEST(white_space_is_unicodes)
{
    size_t n = 0;
    for (uint32_t c = 0; c <= 0x10FFFF; c++)
        n += mt_is_space(c);
    ck_assert_uint_eq(n, 25); /* PropList.txt: "Total code points: 25" */
    ck_assert(mt_is_space(' ') && mt_is_space('\t') && mt_is_space(0xA0) && mt_is_space(0x3000));
    ck_assert(!mt_is_space(0x200B) && !mt_is_space(0xFEFF) && !mt_is_space('a'));
}
END_TEST

START_TEST(appends_grow_and_stay_terminated)
{
    struct mt_text text = {0};
    for (int i = 0; i < 1000; i++) {
        mt_text_append_string(&text, "ab");
        mt_text_appendf(&text, "%03d", i);
        mt_text_append(&text, "\0!", 2);
        ck_assert_uint_eq(text.length, 7 * (size_t)(i + 1));
        ck_assert_int_eq(text.bytes[text.length], '\0');
    }
    ck_assert_mem_eq(text.bytes + 7 * 999, "ab999\0!", 7);
    ck_assert_int_eq(mt_text_check(&text, "text", NULL), MT_OK);
    mt_text_append(&text, NULL, 0);
    ck_assert_uint_eq(text.length, 7000);
    mt_text_finish(&text);
    ck_assert_ptr_null(text.bytes);
}
END_TEST

START_TEST(limit_is_kept_and_the_first_failure_stays)
{
    struct mt_error err;
    struct mt_text text = {.limit_bytes = 5};
    char *bytes = (char *)&err;
    mt_text_append_string(&text, "abcde");
    ck_assert_int_eq(text.status, MT_OK);
    mt_text_append_string(&text, "f");
    ck_assert_int_eq(text.status, MT_LIMIT);
    mt_text_appendf(&text, "%s", "");
    ck_assert_str_eq(text.bytes, "abcde");
    ck_assert_int_eq(mt_text_check(&text, "reply", &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "reply is larger than the limit of 5 bytes");
    ck_assert_int_eq(mt_text_take(&text, "reply", &bytes, NULL, &err), MT_LIMIT);
    ck_assert_ptr_eq(bytes, (char *)&err);
    mt_text_finish(&text);
    ck_assert_int_eq(text.status, MT_OK);
    ck_assert_uint_eq(text.limit_bytes, 5);
}
END_TEST

START_TEST(absurd_lengths_overflow_nothing)
{
    struct mt_text text = {0};
    mt_text_append_string(&text, "abc");
    mt_text_append(&text, "x", SIZE_MAX - 2);
    ck_assert_int_eq(text.status, MT_LIMIT);
    ck_assert_str_eq(text.bytes, "abc");
    mt_text_finish(&text);
}
END_TEST

START_TEST(taking_hands_over_and_empties)
{
    struct mt_text text = {.limit_bytes = 10};
    char *bytes;
    size_t length;
    mt_text_append_string(&text, "abc");
    ck_assert_int_eq(mt_text_take(&text, "text", &bytes, &length, NULL), MT_OK);
    ck_assert_str_eq(bytes, "abc");
    ck_assert_uint_eq(length, 3);
    ck_assert_ptr_null(text.bytes);
    free(bytes);
    ck_assert_int_eq(mt_text_take(&text, "text", &bytes, NULL, NULL), MT_OK);
    ck_assert_str_eq(bytes, "");
    free(bytes);
}
END_TEST

static const struct {
    const char *broken, *repaired;
    size_t length;
} repairs[] = {
    {"", "", 0},
    {"abc", "abc", 3},
    {"\xC3\xA4", "\xC3\xA4", 2},
    {"\xFF", "\xEF\xBF\xBD", 1},
    {"a\xC3", "a\xEF\xBF\xBD", 2},
    {"\xE2\x82z", "\xEF\xBF\xBD\xEF\xBF\xBDz", 3},
};

START_TEST(repaired_text_is_well_formed)
{
    struct mt_text text = {0};
    mt_text_append(&text, repairs[_i].broken, repairs[_i].length);
    ck_assert_int_eq(mt_text_repair(&text, "text", NULL), MT_OK);
    ck_assert_str_eq(text.bytes, repairs[_i].repaired);
    ck_assert_uint_eq(text.length, strlen(repairs[_i].repaired));
    mt_text_finish(&text);

    text.limit_bytes = 2;
    mt_text_append(&text, "a\xC3", 2);
    ck_assert_int_eq(mt_text_repair(&text, "text", NULL), MT_LIMIT);
    mt_text_finish(&text);
}
END_TEST

START_TEST(what_a_terminal_shows_is_what_there_is)
{
    static const struct {
        const char *bytes, *shown, *in_json; /* in_json NULL: not in JSON */
    } cases[] = {
        {"plain \xC3\xA4 \xE2\x82\xAC", "plain \xC3\xA4 \xE2\x82\xAC",
         "plain \xC3\xA4 \xE2\x82\xAC"},
        {"a\nb\x1B[2J\x7F", "a\\nb\\x1b[2J\\x7f", NULL},
        {"\xC2\x9B", "\\x9b", "\\u009b"},
        {"\x7F", "\\x7f", "\\u007f"},
        {"a\xE2\x80\xA8z\xE2\x80\xA9", "a\\u2028z\\u2029", "a\\u2028z\\u2029"},
        {"\xE2\x80\xAEtxt\xE2\x81\xA6", "\\u202etxt\\u2066", "\\u202etxt\\u2066"},
        {"\xD8\x9C\xE2\x80\x8E\xE2\x80\x8F\xEF\xBB\xBF", "\\u061c\\u200e\\u200f\\ufeff",
         "\\u061c\\u200e\\u200f\\ufeff"},
        {"\xF3\xA0\x81\x81", "\\udb40\\udc41", "\\udb40\\udc41"}, /* TAG LATIN CAPITAL LETTER A */
        {"\xE2\x80\x8C\xE2\x80\x8D", "\xE2\x80\x8C\xE2\x80\x8D", "\xE2\x80\x8C\xE2\x80\x8D"},
        {"a\xFFz", "a\xEF\xBF\xBDz", NULL},
        {"{\n}", "{\\n}", "{\n}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_text text = {0};
        mt_text_append_printable(&text, cases[i].bytes, strlen(cases[i].bytes));
        ck_assert_str_eq(text.bytes, cases[i].shown);
        text.length = 0;
        mt_text_append_printable_json(&text, cases[i].in_json ? cases[i].bytes : "x",
                                      cases[i].in_json ? strlen(cases[i].bytes) : 1);
        ck_assert_str_eq(text.bytes, cases[i].in_json ? cases[i].in_json : "x");
        mt_text_finish(&text);
    }
}
END_TEST

Suite *suite_text(void)
{
    Suite *suite = suite_create("text");
    TCase *utf8 = tcase_create("UTF-8");
    tcase_add_loop_test(utf8, well_formed_prefix_ends_at_the_first_bad_byte, 0,
                        sizeof prefixes / sizeof *prefixes);
    tcase_add_test(utf8, every_code_point_is_valid_decoded_and_counted);
    tcase_add_test(utf8, text_is_counted_in_both_units);
    tcase_add_test(utf8, characters_are_written_as_utf_8);
    tcase_add_test(utf8, white_space_is_unicodes);
    suite_add_tcase(suite, utf8);
    TCase *buffer = tcase_create("buffer");
    tcase_add_test(buffer, appends_grow_and_stay_terminated);
    tcase_add_test(buffer, limit_is_kept_and_the_first_failure_stays);
    tcase_add_test(buffer, absurd_lengths_overflow_nothing);
    tcase_add_test(buffer, taking_hands_over_and_empties);
    tcase_add_test(buffer, what_a_terminal_shows_is_what_there_is);
    tcase_add_loop_test(buffer, repaired_text_is_well_formed, 0, sizeof repairs / sizeof *repairs);
    suite_add_tcase(suite, buffer);
    return suite;
}
