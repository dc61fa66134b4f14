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

Suite *suite_plural_forms(void)
{
    Suite *suite = suite_create("plural_forms");
    TCase *tcase = tcase_create("plural_forms");
    tcase_add_loop_test(tcase, forms_of_languages, 0, sizeof languages / sizeof *languages);
    tcase_add_loop_test(tcase, catalogues_get_the_forms_that_they_lack, 0,
                        sizeof files / sizeof *files);
    suite_add_tcase(suite, tcase);
    return suite;
}
