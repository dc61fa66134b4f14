#include "server/documents/xml_words.h"

#include <check.h>
#include <string.h>

/* Codes by letters: ( ) pairs, . points, - gaps, W words, N numbers, / breaks, | edges. */
static const struct {
    const char *xml, *android, *expected;
} inlines[] = {
    {"a &lt;&amp;&#228;&#x2026; b", NULL, "a <&\xC3\xA4\xE2\x80\xA6 b"},
    {"a <g id=\"1\">b <x id=\"2\"/> c</g>", NULL, "a [(]b [W] c[)]"},
    {"a<x id=\"2\"/>b <ph id=\"3\">%d</ph>.", NULL, "a[.]b [N]."},
    {"<g>a</g><g></g><g><x/></g>", NULL, "[(]a[)][.][.]"},
    {"<bpt i=\"1\">x</bpt>a <bpt i=\"2\"/>b<ept i=\"2\"/><ept i=\"1\">y</ept>", NULL,
     "[(]a [(]b[)][)]"},
    {"<bx id=\"1\"/>a<g><ex id=\"1\"/>b</g>", NULL, "[.]a[(][.]b[)]"},
    {"<sc id=\"1\"/>a<ec startRef=\"1\"/> <pc id=\"2\">b</pc>", NULL, "[(]a[)] [(]b[)]"},
    {"<mrk mtype=\"seg\">a</mrk> <mrk mtype=\"x-a\">b</mrk> <mrk translate=\"no\">c</mrk> d", NULL,
     "[|]a[|] [(]b[)] [W] d"},
    {"a <!-- b --><![CDATA[c]]>&d; e <?f?>", NULL, "a [.][.][.] e [.]"},
    {"a <x equiv-text=\"{{b}}\"/>c", NULL, "a [W]c"},
    {"a<x id=\"3\" ctype=\"lb\"/>b <ph id=\"0\" equiv=\"LINE_BREAK\" type=\"fmt\"/>c<ph "
     "subType=\"xlf:lb\"/>",
     NULL, "a[/]b [/]c[/]"},
    {"<x id=\"START_LINK_1\" equiv-text=\"{{a}}\"/>a <x id=\"START_TAG_B\"/>b<x "
     "id=\"CLOSE_TAG_B\"/><x id="
     "\"CLOSE_LINK\"/><x id=\"CLOSE_LINK\"/>",
     NULL, "[(]a [(]b[)][)][.]"},
    {"<x id=\"START_A\"/>a<g><x id=\"CLOSE_A\"/></g><x id=\"START_\"/>", NULL, "[.]a[.][.]"},
    {"a\n  b \\'c\\' \\u00e4 \\n\\@ \"d\"", "", "a[-]b 'c' \xC3\xA4 \n@ [.]d[.]"},
    {"\\u0020a:\\u0020", "", "[-]a:[-]"},
    {"<xliff:g id=\"a\">%1$s</xliff:g> b <xliff:g>%d</xliff:g>", "", "[W] b [N]"},
    {"a < b > c </g> <g>d", NULL, "a < b > c [.] [.]d"},
};

START_TEST(inline_elements_are_codes)
{
    static const char letters[] = {
        [MT_CODE_OPEN] = '(', [MT_CODE_CLOSE] = ')',  [MT_CODE_POINT] = '.', [MT_CODE_GAP] = '-',
        [MT_CODE_WORD] = 'W', [MT_CODE_NUMBER] = 'N', [MT_CODE_BREAK] = '/', [MT_CODE_EDGE] = '|'};
    const char *xml = inlines[_i].xml;
    const struct mt_coded_options options = {0};
    mt_coded_reader *read = inlines[_i].android ? mt_read_android_words : mt_read_xml_words;
    struct mt_coded coded = {0};
    struct mt_text shown = {0}, again = {0};
    struct mt_error err;
    ck_assert_int_eq(read(xml, strlen(xml), &options, &coded, &err), MT_OK);
    ck_assert_uint_eq(coded.n, 1);
    const struct mt_coded_segment *segment = &coded.segments[0];
    size_t at = 0, code = 0;
    for (size_t i = 0; i < segment->n; i++) {
        mt_text_append(&shown, segment->words.bytes + at, segment->codes[i].at.begin - at);
        mt_text_appendf(&shown, "[%c]", letters[segment->codes[i].kind]);
        at = segment->codes[i].at.end;
    }
    mt_text_append(&shown, segment->words.bytes + at, segment->words.length - at);
    ck_assert_str_eq(shown.bytes, inlines[_i].expected);
    /* Written again, they are read alike. */
    mt_coded_write_range(&coded, segment, (struct mt_range){0, segment->words.length}, &code,
                         &again);
    struct mt_coded second = {0};
    ck_assert_int_eq(read(again.bytes, again.length, &options, &second, &err), MT_OK);
    ck_assert_str_eq(second.segments[0].words.bytes, segment->words.bytes);
    ck_assert_uint_eq(second.segments[0].n, segment->n);
    mt_coded_finish(&second);
    mt_coded_finish(&coded);
    mt_text_finish(&shown);
    mt_text_finish(&again);
}
END_TEST

Suite *suite_xml_words(void)
{
    Suite *suite = suite_create("xml_words");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, inline_elements_are_codes, 0, sizeof inlines / sizeof *inlines);
    suite_add_tcase(suite, all);
    return suite;
}
