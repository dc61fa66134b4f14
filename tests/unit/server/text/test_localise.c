#include "server/text/localise.h"

#include <check.h>
#include <string.h>

#include <unicode/uloc.h>

/* As CLDR's patterns for amounts and shares have them. */
static const struct {
    const char *source_lang, *target_lang, *number, *expected;
} numbers[] = {
    {"en", "de", "1,234.56", "1.234,56"},
    {"en", "de", "$5.00", "5,00\u00A0$"},
    {"en", "de", "$ 1,200", "1.200\u00A0$"},
    {"en", "fr", "\u00A31,234.56", "1\u202F234,56\u00A0\u00A3"},
    {"en", "ja", "$5.00", "$5.00"},
    {"de", "en", "5,00 \u20AC", "\u20AC5.00"},
    {"en", "nl", "\u20AC20", "\u20AC\u00A020"},
    {"en", "de", "-$5.00", "-5,00\u00A0$"},
    {"en", "de", "50%", "50\u00A0%"},
    {"de", "en", "+3,5 %", "+3.5%"},
    {"en", "tr", "50%", "%50"},
    {"en", "de", "10th", "10."},
    {"en", "fr", "10th", "10e"},
    {"en", "de", "9am", "9:00"},
    {"en", "de", "9am-5:30pm", "9:00-17:30"},
    {"en", "fr", "12:30 a.m.", "0:30"},
    {"en", "de", "12 AM", "0:00"},
    {"en", "de", "$45,000-$60,000", "45.000\u00a0$-60.000\u00a0$"},
    {"en", "ja", "$5.50-$6", "$5.50-$6"},
    {"en", "ja", "12am\u201312.15PM", "0:00\u201312:15"},
    {"en", "hi", "5pm", "5pm"},
    /* What is not known stays. */
    {"en", "de", "13pm", "13pm"},
    {"en", "", "5pm", "5pm"},
    {"en", "de", "10st", "10st"},
    {"en", "", "10th", "10th"},
    {"en", "de", "-5", "-5"},
    {"en", "de", "$5\u20AC", "$5\u20AC"},
    {"en", "de", "$1.234,56", "$1.234,56"},
    {"en", "", "$5", "$5"},
    {"en", "zz", "$5.00", "$5.00"},
    {"de", "zz", "1.234,56 \u20AC", "1.234,56 \u20AC"},
    /* Older names of languages. */
    {"en", "no", "1,234.56", "1\u00A0234,56"},
    {"en", "tl", "$5.00", "$5.00"},
    {"en", "iw", "50%", "50%"},
};

/* As the program does (main.c). */
static void forget_locale(void)
{
    UErrorCode code = U_ZERO_ERROR;
    uloc_setDefault("root", &code);
}

START_TEST(a_bare_number_is_written_as_the_target_language_writes_it)
{
    struct mt_text text = {0};
    struct mt_error err;
    const struct mt_localising languages = {numbers[_i].source_lang, numbers[_i].target_lang};
    const char *number = numbers[_i].number;
    ck_assert_int_eq(
        mt_localise(&languages, MT_CODE_LOCAL_NUMBER, number, strlen(number), &text, &err), MT_OK);
    ck_assert_str_eq(text.bytes, numbers[_i].expected);
    mt_text_finish(&text);
}
END_TEST

Suite *suite_localise(void)
{
    Suite *suite = suite_create("localise");
    TCase *tcase = tcase_create("localise");
    tcase_add_checked_fixture(tcase, forget_locale, NULL);
    tcase_add_loop_test(tcase, a_bare_number_is_written_as_the_target_language_writes_it, 0,
                        sizeof numbers / sizeof *numbers);
    suite_add_tcase(suite, tcase);
    return suite;
}
