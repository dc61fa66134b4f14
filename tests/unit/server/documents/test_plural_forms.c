/*
 * Plural forms that a language has, as the CLDR's table of cardinals lists them, and that catalogues get
 * which lack them. What is translated stands between brackets.
 */
#include "translated_file.h"

#include "server/documents/plural_forms.h"

static const struct {
    const char *lang, *forms;
} languages[] = {
    {"en", "one other"},
    {"de", "one other"},
    {"ja", "other"},
    {"zh-Hans", "other"},
    {"pl", "one few many other"},
    {"ru", "one few many other"},
    {"ar", "zero one two few many other"},
    {"cy", "zero one two few many other"},
    {"lv", "zero one other"},
    {"he", "one two other"},
    {"sl", "one two few other"},
    {"ro", "one few other"},
    {"xx", "other"},
};

START_TEST(forms_of_languages)
{
    bool has[MT_N_PLURAL_FORMS];
    struct mt_text all = {0};
    mt_plural_forms_of_language(languages[_i].lang, has);
    for (size_t i = 0; i < MT_N_PLURAL_FORMS; i++)
        if (has[i])
            mt_text_appendf(&all, "%s%s", all.length ? " " : "",
                            mt_plural_form_name((enum mt_plural_form)i));
    /* newer tables have "many" for millions in some languages, and no "many" of Hebrew's any more */
    ck_assert_msg(
        strcmp(all.bytes, languages[_i].forms) == 0 ||
            (strcmp(languages[_i].lang, "he") == 0 && strcmp(all.bytes, "one two many other") == 0),
        "%s: %s", languages[_i].lang, all.bytes);
    mt_text_finish(&all);
}
END_TEST

static void bracket(const struct mt_document_text *text, struct mt_text *out)
{
    mt_text_appendf(out, "[%s]", text->bytes);
}

#define PLURALS(items) "<resources>\n  <plurals name=\"a\">" items "\n  </plurals>\n</resources>\n"
#define ITEM(form, words) "\n    <item quantity=\"" form "\">" words "</item>"
#define DICT(keys)                                                                               \
    "<plist><dict><key>n</key><dict><key>NSStringFormatSpecTypeKey</key><string>x</string>" keys \
    "\n</dict></dict></plist>\n"
#define KEY(form, words) "\n\t<key>" form "</key>\n\t<string>" words "</string>"

static const struct {
    enum mt_document_format format;
    const char *lang, *file, *expected;
} files[] = {
    {MT_DOCUMENT_ANDROID, "pl", PLURALS(ITEM("one", "%d file") ITEM("other", "%d files")),
     PLURALS(ITEM("one", "[%d file]") ITEM("other", "[%d files]") ITEM("few", "[%d files]")
                 ITEM("many", "[%d files]"))},
    {MT_DOCUMENT_ANDROID, "de", PLURALS(ITEM("one", "%d file") ITEM("other", "%d files")),
     PLURALS(ITEM("one", "[%d file]") ITEM("other", "[%d files]"))},
    {MT_DOCUMENT_ANDROID, "ja", PLURALS(ITEM("one", "%d file") ITEM("other", "%d files")),
     PLURALS(ITEM("one", "[%d file]") ITEM("other", "[%d files]"))},
    /* behind the last one, wherever "other" stands */
    {MT_DOCUMENT_ANDROID, "ro",
     PLURALS("\n    <item quantity='other' a=\"b\"> <![CDATA[%d <b>files</b>]]> </item>" ITEM(
         "one", "%d file")),
     PLURALS("\n    <item quantity='other' a=\"b\"> <![CDATA[[%d <b>files</b>]]]> </item>" ITEM(
         "one",
         "[%d file]") "\n    <item quantity='few' a=\"b\"> <![CDATA[[%d <b>files</b>]]]> </item>")},
    {MT_DOCUMENT_ANDROID, "pl", PLURALS(ITEM("one", "%d file")), PLURALS(ITEM("one", "[%d file]"))},
    {MT_DOCUMENT_ANDROID, "pl", PLURALS(ITEM("other", "%d")), PLURALS(ITEM("other", "%d"))},
    {MT_DOCUMENT_ANDROID, "pl",
     "<resources><plurals name=\"a\" translatable=\"false\">" ITEM(
         "other", "files") "</plurals></resources>",
     "<resources><plurals name=\"a\" translatable=\"false\">" ITEM(
         "other", "files") "</plurals></resources>"},
    {MT_DOCUMENT_ANDROID, "pl", "<resources><string name=\"other\">other</string></resources>",
     "<resources><string name=\"other\">[other]</string></resources>"},
    {MT_DOCUMENT_ANDROID, NULL, PLURALS(ITEM("other", "files")), PLURALS(ITEM("other", "[files]"))},
    {MT_DOCUMENT_STRINGSDICT, "pl", DICT(KEY("one", "%d file") KEY("other", "%d files")),
     DICT(KEY("one", "[%d file]") KEY("other", "[%d files]") KEY("few", "[%d files]")
              KEY("many", "[%d files]"))},
    {MT_DOCUMENT_STRINGSDICT, "ar", DICT(KEY("zero", "no") KEY("other", "files")),
     DICT(KEY("zero", "[no]") KEY("other", "[files]") KEY("one", "[files]") KEY("two", "[files]")
              KEY("few", "[files]") KEY("many", "[files]"))},
};

START_TEST(catalogues_get_the_forms_that_they_lack)
{
    const struct mt_document_options options = {.format = files[_i].format,
                                                .target_lang = files[_i].lang};
    struct mt_document_report report;
    char *result = translate_with(files[_i].file, &options, bracket, &report);
    ck_assert_str_eq(result, files[_i].expected);
    free(result);
    result = translate_with(files[_i].file, &options, nothing, &report);
    ck_assert_str_eq(result, files[_i].file);
    free(result);
    result = translate_with(files[_i].file, &options, same, &report);
    ck_assert_str_eq(result, files[_i].file);
    free(result);
}
END_TEST

/* ---- Xcode's, with the source's localization beside the target's ---- */

#define CATALOGUE(localizations)                                                    \
    "{\"sourceLanguage\" : \"en\", \"strings\" : { \"k\" : {\n\"localizations\" : " \
    "{\n" localizations "\n} } } }"
#define FORM(form, state, value)                                                              \
    "\n  \"" form "\" : { \"stringUnit\" : { \"state\" : \"" state "\", \"value\" : \"" value \
    "\" } }"
#define VARIED(lang, kind, forms) \
    "\"" lang "\" : { \"variations\" : { \"" kind "\" : {" forms "\n} } }"
#define BESIDE ",\n        "

static const struct {
    const char *lang, *localizations, *added;
    size_t n_texts;
} varied[] = {
    {"pl",
     VARIED("en", "plural", FORM("one", "new", "%lld file") "," FORM("other", "new", "%lld files")),
     BESIDE VARIED("pl", "plural",
                   FORM("one", "needs_review", "[%lld file]") "," FORM(
                       "other", "needs_review",
                       "[%lld files]") "," FORM("few", "needs_review",
                                                "[%lld files]") "," FORM("many", "needs_review",
                                                                         "[%lld files]")),
     2},
    {"ja",
     VARIED("en", "plural",
            FORM("other", "new", "%lld files") "," FORM("one", "new", "a \\\"file\\\"")),
     BESIDE VARIED("ja", "plural",
                   FORM("other", "needs_review", "[%lld files]") "," FORM("one", "needs_review",
                                                                          "[a \\\"file\\\"]")),
     2},
    /* by device, and a plural of one of them; what has no words is copied */
    {"ru",
     VARIED("en", "device",
            FORM("mac", "translated", "Click") ",\n \"other\" : {\"variations\":{\"plural\":{" FORM(
                "other", "new", "%lld taps") "," FORM("one", "new", "1") "}}}"),
     BESIDE VARIED(
         "ru", "device",
         FORM(
             "mac", "needs_review",
             "[Click]") ",\n \"other\" : "
                        "{\"variations\":{\"plural\":{" FORM(
                            "other", "needs_review",
                            "[%lld taps]") "," FORM("one", "needs_review",
                                                    "1") "," FORM("few", "needs_review",
                                                                  "[%lld taps]") "," FORM("many",
                                                                                          "needs"
                                                                                          "_revi"
                                                                                          "ew",
                                                                                          "[%"
                                                                                          "lld "
                                                                                          "taps"
                                                                                          "]") "}}"
                                                                                               "}"),
     2},
    /* a sentence into which forms are put */
    {"lv",
     "\"en\" : { \"stringUnit\" : { \"value\" : \"In %#@f@\" }, \"substitutions\" : { \"f\" : { "
     "\"argNum\" : 1, "
     "\"formatSpecifier\" : \"lld\", \"variations\" : { \"plural\" : {" FORM(
         "one", "x", "%arg file") "," FORM("other", "x", "%arg files") "} } } } }",
     BESIDE "\"lv\" : { \"stringUnit\" : { \"value\" : \"[In %#@f@]\" }, \"substitutions\" : { "
            "\"f\" : { \"argNum\" : 1, "
            "\"formatSpecifier\" : \"lld\", \"variations\" : { \"plural\" : {" FORM(
                "one", "needs_review",
                "[%arg file]") "," FORM("other", "needs_review",
                                        "[%arg files]") "," FORM("zero", "needs_review",
                                                                 "[%arg files]") "} } } } }",
     3},
    /* there is one; nothing has words */
    {"pl", "\"pl\" : {}, " VARIED("en", "plural", FORM("other", "new", "files")), "", 0},
    {"pl", VARIED("en", "plural", FORM("other", "new", "files")) ", \"pl\" : {}", "", 0},
    {"pl", VARIED("en", "plural", FORM("other", "new", "7")), "", 0},
};

static void lose(const struct mt_document_text *text, struct mt_text *out)
{
    mt_text_append_string(out, strstr(text->bytes, "files") ? "lost" : text->bytes);
}

START_TEST(catalogues_of_xcode_get_their_variations)
{
    const struct mt_document_options options = {.format = MT_DOCUMENT_XCSTRINGS,
                                                .target_lang = varied[_i].lang};
    struct mt_document_report report;
    struct mt_text file = {0}, expected = {0};
    mt_text_appendf(&file, CATALOGUE("%s"), varied[_i].localizations);
    mt_text_appendf(&expected, CATALOGUE("%s%s"), varied[_i].localizations, varied[_i].added);
    char *result = translate_with(file.bytes, &options, bracket, &report);
    ck_assert_uint_eq(report.n_texts, varied[_i].n_texts);
    ck_assert_uint_eq(report.n_translated, varied[_i].n_texts);
    ck_assert_str_eq(result, expected.bytes);
    free(result);
    result = translate_with(file.bytes, &options, nothing, &report);
    ck_assert_str_eq(result, file.bytes);
    free(result);
    mt_text_finish(&file);
    mt_text_finish(&expected);
}
END_TEST

START_TEST(a_localization_is_written_whole_or_not_at_all)
{
    static const char file[] = CATALOGUE(VARIED(
        "en", "plural", FORM("one", "new", "a file") "," FORM("other", "new", "%lld files")));
    const struct mt_document_options options = {.format = MT_DOCUMENT_XCSTRINGS,
                                                .target_lang = "de"};
    struct mt_document_report report;
    char *result = translate_with(file, &options, lose, &report);
    ck_assert_str_eq(result, file);
    ck_assert_uint_eq(report.n_translated, 0);
    ck_assert_uint_eq(report.n_refused, 2);
    free(result);
}
END_TEST

/* A string with more texts than any, and plurals within plurals, each of which would get all forms of Arabic. */
START_TEST(what_is_varied_too_much_stays)
{
    const struct mt_document_options options = {.format = MT_DOCUMENT_XCSTRINGS,
                                                .target_lang = "ar"};
    struct mt_document_report report;
    struct mt_text wide = {0}, deep = {0};
    mt_text_append_string(&wide,
                          "{\"sourceLanguage\":\"en\",\"strings\":{\"k\":{\"localizations\":{"
                          "\"en\":{\"variations\":{\"device\":{");
    mt_text_append_string(&deep, wide.bytes);
    for (int i = 0; i < 300; i++)
        mt_text_appendf(&wide, "\"d%d\":{\"stringUnit\":{\"value\":\"file\"}},", i);
    mt_text_append_string(&wide, "\"other\":{}}}}}}}}");
    for (int i = 0; i < 16; i++)
        mt_text_append_string(&deep, "\"other\":{\"variations\":{\"plural\":{");
    mt_text_append_string(&deep, "\"other\":{\"stringUnit\":{\"value\":\"files\"}}");
    for (int i = 0; i < 16; i++)
        mt_text_append_string(&deep, "}}}");
    mt_text_append_string(&deep, "}}}}}}}");
    char *result = translate_with(wide.bytes, &options, bracket, &report);
    ck_assert_str_eq(result, wide.bytes);
    free(result);
    result = translate_with(deep.bytes, &options, bracket, &report);
    ck_assert_uint_eq(report.n_translated, 1);
    ck_assert_uint_lt(strlen(result), 3 * deep.length);
    free(result);
    mt_text_finish(&wide);
    mt_text_finish(&deep);
}
END_TEST

Suite *suite_plural_forms(void)
{
    Suite *suite = suite_create("plural_forms");
    TCase *tcase = tcase_create("plural_forms");
    tcase_add_loop_test(tcase, forms_of_languages, 0, sizeof languages / sizeof *languages);
    tcase_add_loop_test(tcase, catalogues_get_the_forms_that_they_lack, 0,
                        sizeof files / sizeof *files);
    tcase_add_loop_test(tcase, catalogues_of_xcode_get_their_variations, 0,
                        sizeof varied / sizeof *varied);
    tcase_add_test(tcase, a_localization_is_written_whole_or_not_at_all);
    tcase_add_test(tcase, what_is_varied_too_much_stays);
    suite_add_tcase(suite, tcase);
    return suite;
}
