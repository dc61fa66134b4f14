/*
 * Pages of HTML as files: attributes with words, and the language that a page says it is in. What is
 * translated stands between brackets; expected pages were written by hand after HTML's own rules.
 */
#include "translated_file.h"

#include <stdio.h>

static bool turns_page; /* whether the page itself is translated, too */

static void bracket(const struct mt_document_text *text, struct mt_text *out)
{
    bool is_page = strchr(text->bytes, '<') != NULL;
    if (is_page && !turns_page)
        mt_text_append(out, text->bytes, text->length);
    else if (!is_page)
        mt_text_appendf(out, "[%s]", text->bytes);
    for (const char *at = text->bytes; is_page && turns_page && *at; at++)
        mt_text_append(out, *at == 'Q' ? "Z" : at, 1);
}

static void expect_page(const char *page, const char *source, const char *target,
                        const char *expected)
{
    const struct mt_document_options options = {
        .format = MT_DOCUMENT_HTML, .source_lang = source, .target_lang = target};
    struct mt_document_report report;
    char *result = translate_with(page, &options, bracket, &report);
    ck_assert_str_eq(result, expected);
    free(result);
    result = translate_with(page, &options, same, &report);
    ck_assert_str_eq(result, page);
    ck_assert_uint_eq(report.n_translated, 0);
    free(result);
    result = translate_with(page, &options, nothing, &report);
    ck_assert_str_eq(result, page);
    free(result);
}

static const struct {
    const char *page, *expected;
} attributes[] = {
    {"<p title=\"A note\">x</p>", "<p title=\"[A note]\">x</p>"},
    {"<img src=\"a.png\" alt='A red house'  >", "<img src=\"a.png\" alt='[A red house]'  >"},
    {"<img alt=House>", "<img alt=\"[House]\">"},
    {"<input placeholder=\"Search\" value=\"Go\" name=\"q\">",
     "<input placeholder=\"[Search]\" value=\"Go\" name=\"q\">"},
    {"<textarea placeholder=\"Say it\">no</textarea>",
     "<textarea placeholder=\"[Say it]\">no</textarea>"},
    {"<button aria-label=\"Close\">x</button>", "<button aria-label=\"[Close]\">x</button>"},
    {"<input type=\"Submit\" value=\"Send\"><input value=\"mine\"><input type=hidden "
     "value=\"key\">",
     "<input type=\"Submit\" value=\"[Send]\"><input value=\"mine\"><input type=hidden "
     "value=\"key\">"},
    {"<select><optgroup label=\"Fruit\"><option label=\"Red\" value=\"r\">x</select>",
     "<select><optgroup label=\"[Fruit]\"><option label=\"[Red]\" value=\"r\">x</select>"},
    {"<BUTTON ARIA-LABEL=\"Close\">x</BUTTON>", "<BUTTON ARIA-LABEL=\"[Close]\">x</BUTTON>"},
    {"<head><meta name=\"description\" content=\"About us\"></head>",
     "<head><meta name=\"description\" content=\"[About us]\"></head>"},
    {"<head><meta content=\"T\" property='og:title'><meta property=og:description "
     "content=D></head>",
     "<head><meta content=\"[T]\" property='og:title'><meta property=og:description "
     "content=\"[D]\"></head>"},
    {"<meta name=twitter:title content=\"T\"><meta name=og:image:alt content='I'>",
     "<meta name=twitter:title content=\"[T]\"><meta name=og:image:alt content='[I]'>"},
    {"<svg aria-label=\"Close\"><path d=\"M0\"/></svg>",
     "<svg aria-label=\"[Close]\"><path d=\"M0\"/></svg>"},
    {"<template><p title=\"A\">x</p></template>", "<template><p title=\"[A]\">x</p></template>"},
    {"<head><meta name=\"viewport\" content=\"width=device-width\"></head>",
     "<head><meta name=\"viewport\" content=\"width=device-width\"></head>"},
    {"<head><link rel=\"alternate stylesheet\" title=\"Dark\" href=\"a\"></head>",
     "<head><link rel=\"alternate stylesheet\" title=\"Dark\" href=\"a\"></head>"},
    {"<p title=\"\">x</p><p title>y</p>", "<p title=\"\">x</p><p title>y</p>"},
    {"<p placeholder=\"no\" alt=\"no\">x</p>", "<p placeholder=\"no\" alt=\"no\">x</p>"},
    /* as they are written */
    {"<p title=\"A &amp; B\">x</p>", "<p title=\"[A &amp; B]\">x</p>"},
    {"<p title=\"1 < 2\">x</p>", "<p title=\"[1 &lt; 2]\">x</p>"},
    {"<p title='say \"hi\"'>x</p>", "<p title='[say \"hi\"]'>x</p>"},
    {"<p\n  title = \"A\"\n>x</p>", "<p\n  title = \"[A]\"\n>x</p>"},
    {"<p title=\"A\" title=\"B\">x</p>", "<p title=\"[A]\" title=\"B\">x</p>"},
    /* what is left alone */
    {"<p translate=\"no\" title=\"A\">x</p>", "<p translate=\"no\" title=\"A\">x</p>"},
    {"<div translate=no><p title=\"A\"><img alt=\"B\">x</p></div><p title=\"C\">y</p>",
     "<div translate=no><p title=\"A\"><img alt=\"B\">x</p></div><p title=\"[C]\">y</p>"},
    {"<pre title=\"A\"><i title=\"B\">x</i></pre>",
     "<pre title=\"[A]\"><i title=\"B\">x</i></pre>"},
    {"<svg title=\"A\"><title>B</title></svg>", "<svg title=\"A\"><title>B</title></svg>"},
    {"<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p><b>x</b> "
     "<i><svg></svg></i></p></body></html>",
     "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p><b>x</b> "
     "<i><svg></svg></i></p></body></html>"},
    {"<script title=\"A\">\"<p title='B'>\"</script>",
     "<script title=\"[A]\">\"<p title='B'>\"</script>"},
    {"<!-- <p title=\"A\"> --><p>x</p>", "<!-- <p title=\"A\"> --><p>x</p>"},
    {"<p title=\"A\">\x01 0</p>", "<p title=\"A\">\x01 0</p>"},
    /* broken markup, from which the parser makes elements twice */
    {"<b title=\"A\"><p>x</b>y</p>", "<b title=\"[A]\"><p>x</b>y</p>"},
    {"<table><p title=\"A\">x<tr><td title=\"B\">y",
     "<table><p title=\"[A]\">x<tr><td title=\"[B]\">y"},
    {"<p title=\"A>x</p>", "<p title=\"A>x</p>"},
};

START_TEST(attributes_are_texts)
{
    turns_page = false;
    expect_page(attributes[_i].page, "en", "de", attributes[_i].expected);
}
END_TEST

static const struct {
    const char *page, *source, *target, *expected;
} languages[] = {
    {"<html lang=\"en\"><p>Q", "en", "de", "<html lang=\"de\"><p>Z"},
    {"<html lang=\"en-US\"><p>Q", "en", "pt-BR", "<html lang=\"pt-BR\"><p>Z"},
    {"<html lang=en><p>Q", NULL, "de", "<html lang=de><p>Z"},
    {"<!DOCTYPE html>\n<HTML class='a' LANG='EN'>\n<p>Q", "en", "de",
     "<!DOCTYPE html>\n<HTML class='a' LANG='de'>\n<p>Z"},
    {"<html lang=\"fr\"><p>Q", "en", "de", "<html lang=\"fr\"><p>Z"},
    {"<html><p>Q", "en", "de", "<html><p>Z"},
    {"<html lang=\"\"><p>Q", "en", "de", "<html lang=\"\"><p>Z"},
    {"<html lang=\"en\"><p lang=\"en\">Q", "en", "de", "<html lang=\"de\"><p lang=\"en\">Z"},
    {"<html lang=\"en\" id=a><p>Q", "en", "ar", "<html lang=\"ar\" dir=\"rtl\" id=a><p>Z"},
    {"<html dir='ltr' lang='en'><p>Q", "en", "he", "<html dir='rtl' lang='he'><p>Z"},
    {"<html dir=\"rtl\" lang=\"ar\"><p>Q", "ar", "en", "<html dir=\"ltr\" lang=\"en\"><p>Z"},
    {"<html dir=\"rtl\" lang=\"ar\"><p>Q", "ar", "fa", "<html dir=\"rtl\" lang=\"fa\"><p>Z"},
    {"<html lang=\"en\"><p>Q", "en", NULL, "<html lang=\"en\"><p>Z"},
    {"<p lang=\"en\">Q</p>", "en", "de", "<p lang=\"en\">Z</p>"},
    {"\xEF\xBB\xBF<html lang=\"en\"><p title=\"A\">Q", "en", "de",
     "\xEF\xBB\xBF<html lang=\"de\"><p title=\"[A]\">Z"},
};

START_TEST(a_page_says_its_language)
{
    turns_page = true;
    expect_page(languages[_i].page, languages[_i].source, languages[_i].target,
                languages[_i].expected);
}
END_TEST

Suite *suite_html_file(void)
{
    Suite *suite = suite_create("html_file");
    TCase *tcase = tcase_create("html_file");
    tcase_add_loop_test(tcase, attributes_are_texts, 0, sizeof attributes / sizeof *attributes);
    tcase_add_loop_test(tcase, a_page_says_its_language, 0, sizeof languages / sizeof *languages);
    suite_add_tcase(suite, tcase);
    return suite;
}
