#include "model/tokenizer/rewrite.h"

#include "base/text.h"

#include <check.h>
#include <string.h>

static struct mt_rewrite begin(const char *text)
{
    struct mt_rewrite rewrite;
    ck_assert_int_eq(mt_rewrite_init(&rewrite, text, strlen(text), NULL), MT_OK);
    return rewrite;
}

/* Where the bytes went never goes back, and stays inside. */
static void check_moved(const struct mt_rewrite *rewrite)
{
    ck_assert_uint_eq(strlen(rewrite->text), rewrite->length);
    ck_assert_uint_eq(rewrite->moved[rewrite->original_length], rewrite->length);
    for (size_t i = 0; i < rewrite->original_length; i++)
        ck_assert_uint_le(rewrite->moved[i], rewrite->moved[i + 1]);
}

static const struct {
    const char *text, *cleaned;
} clean_cases[] = {
    {"", ""},
    {"no change", "no change"},
    {"a . b ? c ! d , e", "a. b? c! d, e"},
    {" .", "."},
    {"a  .", "a ."},      /* one blank each */
    {"don ' t", "don't"}, /* " ' " before " n't" */
    {"do n't I 'm it 's we 've you 're", "don't I'm it's we've you're"},
    {"a ' ' b", "a'' b"}, /* left to right, without overlap: one match */
    {"a ' 's", "a''s"},
    {"a .. b", "a.. b"},
    {"x ... y", "x... y"},
    {"n ' '::,", "n''::,"},
    {"\xC3\xA9 , \xE2\x82\xAC !", "\xC3\xA9, \xE2\x82\xAC!"},
    {"a :b ;c", "a :b ;c"},
};

START_TEST(cleans_up_as_the_reference_does)
{
    for (size_t i = 0; i < sizeof clean_cases / sizeof *clean_cases; i++) {
        struct mt_rewrite rewrite = begin(clean_cases[i].text);
        mt_rewrite_clean_up(&rewrite);
        ck_assert_str_eq(rewrite.text, clean_cases[i].cleaned);
        check_moved(&rewrite);
        mt_rewrite_finish(&rewrite);
    }
}
END_TEST

static const struct {
    const char *text, *stripped;
} strip_cases[] = {
    {"", ""},
    {"  \t ", ""},
    {"a", "a"},
    {"  a b\n", "a b"},
    {"\xC2\xA0\xE3\x80\x80x\xE2\x80\x83", "x"}, /* no-break, ideographic, em space */
    {"\x1C\x1Fx\x1E", "x"},                     /* as Python has it */
    {"\xE2\x80\x8Bx", "\xE2\x80\x8Bx"},         /* U+200B is no white space */
    {"\xC3\xA9 ", "\xC3\xA9"},
};

START_TEST(strips_white_space)
{
    for (size_t i = 0; i < sizeof strip_cases / sizeof *strip_cases; i++) {
        struct mt_rewrite rewrite = begin(strip_cases[i].text);
        mt_rewrite_strip(&rewrite);
        ck_assert_str_eq(rewrite.text, strip_cases[i].stripped);
        check_moved(&rewrite);
        mt_rewrite_finish(&rewrite);
    }
}
END_TEST

/* Letters are never deleted here: each must be found where the rewrite says it went. */
START_TEST(remembers_where_everything_went)
{
    static const char alphabet[] = " .?!,'nmsvet\xE2";
    unsigned state = 1;
    for (int round = 0; round < 5000; round++) {
        struct mt_text text = {0};
        size_t n = (size_t)(round % 40);
        mt_text_append(&text, "", 0);
        for (size_t i = 0; i < n; i++) {
            state = state * 1103515245u + 12345u;
            char c = alphabet[state >> 16 & 15 ? (state >> 16) % 12 : 12];
            mt_text_append(&text, &c, 1);
            if (c == '\xE2')
                mt_text_append(&text, "\x96\x81", 2);
        }
        struct mt_rewrite rewrite = begin(text.bytes);
        mt_rewrite_replace(&rewrite, "\xE2\x96\x81", " ");
        mt_rewrite_strip(&rewrite);
        mt_rewrite_clean_up(&rewrite);
        check_moved(&rewrite);
        for (size_t i = 0; i < text.length; i++)
            if ((unsigned char)text.bytes[i] < 0x80 && text.bytes[i] != ' ')
                ck_assert_int_eq(rewrite.text[rewrite.moved[i]], text.bytes[i]);
        mt_rewrite_finish(&rewrite);
        mt_text_finish(&text);
    }
}
END_TEST

Suite *suite_rewrite(void)
{
    Suite *suite = suite_create("rewrite");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, cleans_up_as_the_reference_does);
    tcase_add_test(tcase, strips_white_space);
    tcase_add_test(tcase, remembers_where_everything_went);
    suite_add_tcase(suite, tcase);
    return suite;
}
