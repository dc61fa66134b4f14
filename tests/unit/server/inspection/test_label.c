#include "server/inspection/label.h"

#include <check.h>

START_TEST(columns_are_those_of_a_terminal)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},           {"Haus", 4},    {"▁für", 4}, {"日本", 4},
        {"\U0001F600", 2}, {"e\u0301", 1}, {"ＡＢ", 4}, {"\u200Bx", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(mt_label_columns(cases[i].text) == cases[i].columns, "%s: %zu", cases[i].text,
                      mt_label_columns(cases[i].text));
}
END_TEST

START_TEST(labels_are_cut_between_characters)
{
    static const struct {
        const char *text;
        size_t max_columns;
        const char *expected;
    } cases[] = {
        {"Bahnhof", 7, "Bahnhof"},     {"Bahnhof", 6, "Bahnh…"},
        {"Bahnhof", 1, "…"},           {"日本語", 6, "日本語"},
        {"日本語", 5, "日本…"},        {"日本語", 4, "日…"},
        {"a\x01z", 9, "a\uFFFDz"},     {"", 3, ""},
        {"\xEF\xBF\xBE", 9, "\uFFFD"}, {"\xEF\xBF\xBFz", 9, "\uFFFDz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_text out = {0};
        mt_text_append(&out, "", 0);
        size_t n = mt_label_append(&out, cases[i].text, cases[i].max_columns);
        ck_assert_str_eq(out.bytes, cases[i].expected);
        ck_assert_uint_le(n, cases[i].max_columns);
        mt_text_finish(&out);
    }
}
END_TEST

Suite *suite_label(void)
{
    Suite *suite = suite_create("label");
    TCase *tests = tcase_create("label");
    tcase_add_test(tests, columns_are_those_of_a_terminal);
    tcase_add_test(tests, labels_are_cut_between_characters);
    suite_add_tcase(suite, tests);
    return suite;
}
