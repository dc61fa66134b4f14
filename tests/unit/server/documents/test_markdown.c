/*
 * Markdown as people write it: texts within texts, names of addresses, and lines of other dialects.
 * Each text is translated into itself with "x" behind it.
 */
#include "translated_file.h"

#include <stdio.h>

static const struct mt_document_options options = {.format = MT_DOCUMENT_MD, .target_lang = "de"};

static void lengthen(const struct mt_document_text *text, struct mt_text *out)
{
    mt_text_appendf(out, "%sx", text->bytes);
}

static const struct {
    const char *file, *written;
} rows[] = {
    /* words that are the name of an address, too */
    {"See [a b] or [c][] x.\n\n[a b]: d\n[c]: e\n",
     "See [a b][a b] or [c][c] x.x\n\n[a b]: d\n[c]: e\n"},
    {"[a][b] c [d](e)\n\n[b]: f\n", "[a][b] c [d](e)x\n\n[b]: f\n"},
    {"[a] b\n", "[a] bx\n"},
    {"![a] b\n\n[a]: c\n", "![ax][a] bx\n\n[a]: c\n"},
    /* pictures */
    {"[![a](b)](c \"d\") ![](e) ![7](f) g\n", "[![ax](b)](c \"dx\") ![](e) ![7](f) gx\n"},
    {"![a *b* c](d) e\n", "![a *b* cx](d) ex\n"},
    {"![a\nb](c) d\n", "![a b](c) dx\n"},
    {"![|\r|d](c) e\r", "![|\r|d](c) ex\r"},
    /* a title is escaped where its quotation marks are others */
    {"[a](b 'c')\n", "[a](b 'cx')x\n"},
    /* attributes */
    {"a <img src=b alt=c> d\n", "a <img src=b alt=\"cx\"> dx\n"},
    {"|a|b|\n|---|---|\n|<b title='c'>d</b>|5|\n",
     "|ax|bx|\n|---|---|\n|<b title='cx'>d</b>x|5|\n"},
    /* tables with fewer dashes than md4c asks for */
    {"|a|b|\n|-|-|\n|c|5|\n", "|a|b|x\n|-|-|\n|c|5|x\n"},
    {"a b\nc | d\n-|-\ne | f\n", "a bx\nc | dx\n-|-\ne | fx\n"},
    /* what is no text */
    {"import A from '@b/c';\n\nexport const d = 5;\n\ne\n",
     "import A from '@b/c';\n\nexport const d = 5;\n\nex\n"},
    {"[^a]: b\n[c]: d\n", "[^a]: bx\n[c]: d\n"},
    {"$$\na\n$$\n\nb\n\n{{< highlight go >}}\nc\n{{< /highlight >}}\n",
     "$$\na\n$$\n\nbx\n\n{{< highlight go >}}\nc\n{{< /highlight >}}\n"},
    /* front matter that is none */
    {"---\n- a: [b\n---\nc\n", "---\n- a: [b\n---\ncx\n"},
    {"---\na\n", "---\nax\n"},
    {"---\ntitle: a\ntitle: \"b\"\nc: {title: [d, 5], e: title}\n---\n",
     "---\ntitle: ax\ntitle: \"bx\"\nc: {title: [dx, 5], e: title}\n---\n"},
    /* a file that has the characters of slots has no texts within texts */
    {"a\1 [b](c \"d\") e\n", "a\1 [b](c \"d\") ex\n"},
    {"a \1"
     "11\2\n\n\nb c\n",
     "a \1"
     "11\2x\n\n\nb cx\n"},
};

START_TEST(texts_within_texts)
{
    struct mt_document_report report;
    char *result = translate_with(rows[_i].file, &options, lengthen, &report);
    ck_assert_str_eq(result, rows[_i].written);
    free(result);
    result = translate_with(rows[_i].file, &options, same, &report);
    ck_assert_str_eq(result, rows[_i].file);
    free(result);
    result = translate_with(rows[_i].file, &options, nothing, &report);
    ck_assert_str_eq(result, rows[_i].file);
    free(result);
}
END_TEST

/* The text around the titles loses one of its words, so that it is written. */
static void quote(const struct mt_document_text *text, struct mt_text *out)
{
    bool is_outer = strchr(text->bytes, '[') != NULL;
    mt_text_append_string(out, is_outer ? text->bytes : "\"' )");
    if (is_outer)
        mt_text_append(out, "!", 1);
}

START_TEST(a_title_ends_where_it_did)
{
    struct mt_document_report report;
    char *result = translate_with("[a](b \"c\") [d](e 'f') [g](h (i))\n", &options, quote, &report);
    ck_assert_str_eq(result, "[a](b \"\\\"' )\") [d](e '\"\\' )') [g](h (\"' \\)))!\n");
    free(result);
}
END_TEST

START_TEST(many_titles)
{
    enum { N = 5000 };
    struct mt_text file = {0}, out = {0};
    struct mt_document *document;
    struct mt_document_report report;
    struct mt_error err;
    for (int i = 0; i < N; i++)
        mt_text_append_string(&file, i % 2 ? "[a](b \"c\")  \n" : "[a](b \"c\")\n");
    document = read_with(file.bytes, file.length, &options);
    ck_assert_uint_eq(mt_document_n_texts(document), N + N / 2);
    ck_assert_int_eq(mt_document_write(document, NULL, &out, &report, &err), MT_OK);
    ck_assert_uint_eq(out.length, file.length);
    mt_document_destroy(document);
    mt_text_finish(&file);
    mt_text_finish(&out);
}
END_TEST

Suite *suite_markdown(void)
{
    Suite *suite = suite_create("markdown");
    TCase *tcase = tcase_create("markdown");
    tcase_add_loop_test(tcase, texts_within_texts, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, a_title_ends_where_it_did);
    tcase_add_test(tcase, many_titles);
    suite_add_tcase(suite, tcase);
    return suite;
}
