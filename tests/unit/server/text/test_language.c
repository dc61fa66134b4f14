#include "server/text/language.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *code, *normalised, *name;
} codes[] = {
    {"en", "en", "English"},
    {"EN", "en", "English"},
    {"eng", "en", "English"},
    {"deu", "de", "German"},
    {"en_US", "en-US", "English (United States)"},
    {"pb", "pt-BR", "Portuguese (Brazil)"},
    {"PT-br", "pt-BR", "Portuguese (Brazil)"},
    {"zh", "zh-Hans", "Chinese (Simplified)"},
    {"zho", "zh-Hans", "Chinese (Simplified)"},
    {"zh-hant", "zh-Hant", "Chinese (Traditional)"},
    {"zt", "zh-Hant", "Chinese (Traditional)"},
    {"zz", "zz", "zz"},
    {"", "", NULL},
    {"a b", "", NULL},
    {"en-", "", NULL},
    {"\xC3\xA4", "", NULL},
    {"abcdefghijklmnopqrstuvwxyzabcdefghij", "", NULL},
};

START_TEST(codes_come_to_one_form)
{
    char code[MT_LANGUAGE_BYTES], name[MT_LANGUAGE_NAME_BYTES];
    bool is_code = false;
    for (int i = 0; i < 2; i++) { /* the second time it may be known already */
        memset(code, 'x', sizeof code);
        is_code = mt_language_normalise(codes[_i].code, code);
        ck_assert_str_eq(code, codes[_i].normalised);
        ck_assert(is_code == (codes[_i].name != NULL));
    }
    if (!is_code)
        return;
    mt_language_name(code, name);
    ck_assert_str_eq(name, codes[_i].name);
}
END_TEST

static const struct {
    const char *asked, *offered;
    bool matches;
} pairs[] = {
    {"en", "en", true},
    {"en-US", "en", true},
    {"pt", "pt-BR", true},
    {"zh-TW", "zh-Hant", true},
    {"zh-CN", "zh-Hans", true},
    {"zh-TW", "zh-Hans", false},
    {"zh-Hans", "zh-Hant", false},
    {"pt-PT", "pt-BR", false},
    {"en", "de", false},
    {"en", "eng", false},
    {"e", "en", false},
    {"sr-Latn", "sr-Cyrl", false},
};

START_TEST(a_language_serves_its_variants_but_no_other)
{
    ck_assert_msg(mt_language_matches(pairs[_i].asked, pairs[_i].offered) == pairs[_i].matches,
                  "%s by %s", pairs[_i].asked, pairs[_i].offered);
}
END_TEST

static const struct {
    const char *own, *code;
} models[] = {
    {"en", "en"},
    {"no", "nb"},
    {"zh", "zh-Hans"},
    {"ns", "nso"},
    {"eng_Latn", "en"},
    {"zho_Hans", "zh-Hans"},
    {"zho_Hant", "zh-Hant"},
    {"arb_Arab", "ar"},
    {"pes_Arab", "fa"},
    {"srp_Cyrl", "sr"},
    {"kor_Hang", "ko"},
    {"jpn_Jpan", "ja"},
    {"kas_Arab", "ks"},
    {"kas_Deva", "ks-Deva"},
    {"ace_Arab", "ace-Arab"},
    {"ace_Latn", "ace"},
    {"nob_Latn", "nb"},
    {"swh_Latn", "sw"},
    {"en_XX", "en"},
    {"pt_XX", "pt"},
    {"zh_CN", "zh-Hans"},
    {"de_DE", "de"},
    {"knc_Arab", "knc-Arab"},
    {"knc_Latn", "knc"},
};

START_TEST(what_models_call_them)
{
    char code[MT_LANGUAGE_BYTES];
    ck_assert_msg(mt_language_of_model(models[_i].own, code), "%s", models[_i].own);
    ck_assert_str_eq(code, models[_i].code);
}
END_TEST

Suite *suite_language(void)
{
    Suite *suite = suite_create("language");
    TCase *tcase = tcase_create("language");
    tcase_add_loop_test(tcase, codes_come_to_one_form, 0, sizeof codes / sizeof codes[0]);
    tcase_add_loop_test(tcase, what_models_call_them, 0, sizeof models / sizeof models[0]);
    tcase_add_loop_test(tcase, a_language_serves_its_variants_but_no_other, 0,
                        sizeof pairs / sizeof pairs[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
