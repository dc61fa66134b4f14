#include "server/text/markup.h"
#include "server/text/protect.h"

#include <check.h>
#include <gumbo.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;

static enum mt_status parse(const char *html, size_t max_tags, struct mt_markup **out)
{
    struct mt_stand_ins stand_ins;
    mt_stand_ins_init(&stand_ins, html, strlen(html));
    const struct mt_markup_options options = {
        .stand_ins = &stand_ins, .protects = true, .max_tags = max_tags};
    return mt_markup_parse(html, strlen(html), &options, out, &err);
}

/* Verbatim parts as they are, segments' texts in brackets. */
static const struct {
    const char *html, *parts;
} cases[] = {
    {"", ""},
    {"Hello.", "[Hello.]"},
    {"<p>Hello.</p>", "<p>[Hello.]</p>"},
    {"<p>\n  Hello   <b>you\n</b> there. </p>", "<p>\n  [Hello you there.] </p>"},
    {"<p>A <b>red</b> house</p><pre> x </pre>", "<p>[A red house]</p><pre> x </pre>"},
    {"a<p>b</p>c", "[a]<p>[b]</p>[c]"},
    {"<ul><li>a<li>b</ul>", "<ul><li>[a]</li><li>[b]</li></ul>"},
    {"<td>a</td>", "<td>[a]</td>"},
    {"<a href=1><div>a</div></a>", "<a href=1><div>[a]</div></a>"},
    {"one<br>two", "[one\ntwo]"},
    {"Use <code>f()</code> now", "[Use Tom now]"},
    {"I <img> see", "[I see]"},
    {"Hi {x}, \xF0\x9F\x98\x80 bye", "[Hi Tom, bye]"},
    {"A &amp; B &lt;", "[A & B <]"},
    {"&#65;&#x42;&#0000000000067;", "[ABC]"},
    {"a&#4294967361;b&#x100000041;c", "[a\xEF\xBF\xBD\x62\xEF\xBF\xBD\x63]"},
    {"a&#3066666666666;b&#xFFFFFFFF80000041;c", "[a\xEF\xBF\xBD\x62\xEF\xBF\xBD\x63]"},
    {"<p translate=no>a</p><p>b</p>", "<p translate=no>a</p><p>[b]</p>"},
    {"<p>&nbsp;</p><p> - </p>", "<p>&nbsp;</p><p> - </p>"},
    {"<script>a</script>", "<script>a</script>"},
    {"<pre>\n\na</pre>", "<pre>\n\na</pre>"},
    {"<b/>a", "[a]"},
    {"<!DOCTYPE html><html><body>a</body></html>", "<!DOCTYPE html><html><body>[a]</body></html>"},
};

START_TEST(html_falls_into_what_stays_and_what_is_translated)
{
    struct mt_markup *markup;
    struct mt_text parts = {0};
    ck_assert_int_eq(parse(cases[_i].html, 100, &markup), MT_OK);
    mt_text_append(&parts, "", 0);
    for (size_t i = 0; i <= mt_markup_n_segments(markup); i++) {
        mt_markup_write_verbatim(markup, i, &parts);
        if (i < mt_markup_n_segments(markup))
            mt_text_appendf(&parts, "[%s]", mt_markup_segment(markup, i)->text.bytes);
    }
    ck_assert_str_eq(parts.bytes, cases[_i].parts);
    mt_text_finish(&parts);
    mt_markup_destroy(markup);
}
END_TEST

START_TEST(characters_are_written_as_their_source_wrote_them)
{
    struct mt_markup *markup;
    struct mt_text out = {0};
    ck_assert_int_eq(parse("<p>K&ouml;ln &#38; &quot;x&quot;</p><p>y</p>", 100, &markup), MT_OK);
    struct mt_markup_text text = {.markup = markup, .segment = 0};
    mt_markup_write_text(&text, "\"\xC3\xB6\xC3\xBC&<", 7, &out);
    ck_assert_str_eq(out.bytes, "&quot;&ouml;\xC3\xBC&#38;&lt;");
    out.length = 0;
    text.segment = 1;
    mt_markup_write_text(&text, "\"\xC3\xB6>&", 5, &out);
    ck_assert_str_eq(out.bytes, "\"\xC3\xB6&gt;&amp;");
    mt_text_finish(&out);
    mt_markup_destroy(markup);
}
END_TEST

START_TEST(too_many_tags_and_too_deep_ones_are_refused)
{
    struct mt_markup *markup = NULL;
    char html[3 * 600 + 2] = "";
    for (size_t i = 0; i < 600; i++)
        memcpy(html + 3 * i, "<i>", 4);
    memcpy(html + 1800, "x", 2);
    ck_assert_int_eq(parse(html, 599, &markup), MT_LIMIT);
    ck_assert_int_eq(parse(html, 600, &markup), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "512 deep"));
    ck_assert_ptr_null(markup);
}
END_TEST

/* Every <p> opens all the <b> again: the tree is the product. */
START_TEST(markup_that_explodes_is_refused)
{
    enum { N = 2000 };
    struct mt_markup *markup = NULL;
    struct mt_text html = {0};
    mt_text_append(&html, "<p>", 3);
    for (int i = 0; i < N; i++)
        mt_text_appendf(&html, "<b id=%d>", i);
    for (int i = 0; i < N; i++)
        mt_text_appendf(&html, "<p>x");
    ck_assert_int_eq(parse(html.bytes, 2 * N + 1, &markup), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "MiB"));
    mt_text_finish(&html);
}
END_TEST

/* As many elements as a sentence may have, and one more; n counts the outermost too. */
static void check_segments(const char *open, const char *close, size_t n, const char *parts)
{
    struct mt_markup *markup;
    struct mt_text html = {0}, found = {0};
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&html, open);
    mt_text_append_string(&html, "x");
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&html, close);
    mt_text_append_string(&html, "y");
    ck_assert_int_eq(parse(html.bytes, 10 * n, &markup), MT_OK);
    mt_text_append(&found, "", 0);
    for (size_t i = 0; i < mt_markup_n_segments(markup); i++)
        mt_text_appendf(&found, "[%s]", mt_markup_segment(markup, i)->text.bytes);
    ck_assert_str_eq(found.bytes, parts);
    mt_text_finish(&html);
    mt_text_finish(&found);
    mt_markup_destroy(markup);
}

/* Behind what html holds: `before`, n different attributes, `behind`. */
static enum mt_status parse_attributes(const char *before, size_t n, const char *behind,
                                       struct mt_text *html)
{
    struct mt_markup *markup = NULL;
    mt_text_append_string(html, before);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(html, "a%zu ", i);
    mt_text_append_string(html, behind);
    enum mt_status status = parse(html->bytes, 10000, &markup);
    mt_markup_destroy(markup);
    return status;
}

START_TEST(too_many_attributes_are_refused)
{
    struct mt_text html = {0};
    char value[128] = {0};
    ck_assert_int_eq(parse_attributes("<p ", MT_HTML_MAX_ATTRIBUTES, ">x", &html), MT_OK);
    html.length = 0;
    ck_assert_int_eq(parse_attributes("<p ", MT_HTML_MAX_ATTRIBUTES + 1, ">x", &html), MT_LIMIT);
    ck_assert_str_eq(err.message, "the html has a tag with more than 256 attributes");
    /* Values as large as what gumbo makes of an element do not hide them. */
    memset(value, 'v', sizeof value - 1);
    html.length = 0;
    mt_text_append_string(&html, "<p ");
    for (size_t i = 0; i < MT_HTML_MAX_ATTRIBUTES; i++)
        mt_text_appendf(&html, "b%zu=%s c%zu=7654321 ", i, value, i);
    ck_assert_int_eq(parse_attributes("", 1, ">x", &html), MT_LIMIT);
    /* Each in its own element, they are none too many. */
    html.length = 0;
    for (size_t i = 0; i < 9000; i++)
        mt_text_appendf(&html, "<br class=%zu id=%zu>", i, i);
    ck_assert_int_eq(parse_attributes("<p ", 1, ">x", &html), MT_OK);
    mt_text_finish(&html);
}
END_TEST

START_TEST(attributes_of_many_bodies_are_refused)
{
    struct mt_text html = {0};
    for (size_t i = 0; i < MT_HTML_MAX_ALL_ATTRIBUTES; i++)
        mt_text_appendf(&html, "<br><body a%zu>", i);
    ck_assert_int_eq(parse_attributes("", 0, "x", &html), MT_OK);
    ck_assert_int_eq(parse_attributes("<body ", 1, ">x", &html), MT_LIMIT);
    ck_assert_str_eq(err.message,
                     "the html has more than 4096 attributes and 8 tags <html> and <body>");
    mt_text_finish(&html);
}
END_TEST

START_TEST(elements_with_many_in_them_are_blocks)
{
    check_segments("<b>", "</b>", 64, "[xy]");
    check_segments("<b>", "</b>", 65, "[x][y]");
    check_segments("<b><code><i></i><i></i></code>", "</b>", 32, "[xy]");   /* what is left alone */
    check_segments("<b><code><i></i><i></i></code>", "</b>", 33, "[x][y]"); /* counts as one */
}
END_TEST

/* What looks for ignored tags in an element is counted (meson.build: --wrap). */
static size_t n_compared;
bool __real_mt_html_is_named(const GumboNode *element, const char *name);
bool __wrap_mt_html_is_named(const GumboNode *element, const char *name);

bool __wrap_mt_html_is_named(const GumboNode *element, const char *name)
{
    n_compared++;
    return __real_mt_html_is_named(element, name);
}

START_TEST(nested_elements_are_looked_at_once)
{
    enum { N_DEEP = 400, N_IGNORED = 64 };
    struct mt_markup *markup;
    struct mt_stand_ins stand_ins;
    struct mt_text html = {0};
    const char *ignored[N_IGNORED];
    for (size_t i = 0; i < N_IGNORED; i++)
        ignored[i] = "x-y";
    for (size_t i = 0; i < N_DEEP; i++)
        mt_text_append_string(&html, "<b>x y ");
    mt_stand_ins_init(&stand_ins, html.bytes, html.length);
    const struct mt_markup_options options = {.stand_ins = &stand_ins,
                                              .max_tags = N_DEEP,
                                              .ignored_tags = ignored,
                                              .n_ignored_tags = N_IGNORED};
    n_compared = 0;
    ck_assert_int_eq(mt_markup_parse(html.bytes, html.length, &options, &markup, &err), MT_OK);
    /* Once for whether it is a block, and once to write those in a sentence. */
    ck_assert_uint_ge(n_compared, (size_t)N_DEEP * N_IGNORED);
    ck_assert_uint_le(n_compared, (size_t)2 * N_DEEP * N_IGNORED);
    mt_text_finish(&html);
    mt_markup_destroy(markup);
}
END_TEST

/* So are the characters that are looked at for whether there are words, and the bytes for whether
 * all is a placeholder. */
static size_t n_looked_at, n_protect_bytes;
bool __real_mt_is_word_char(uint32_t code_point);
bool __wrap_mt_is_word_char(uint32_t code_point);
bool __real_mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind);
bool __wrap_mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind);

bool __wrap_mt_is_word_char(uint32_t code_point)
{
    n_looked_at++;
    return __real_mt_is_word_char(code_point);
}

bool __wrap_mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind)
{
    n_protect_bytes += length;
    return __real_mt_protect_is_all(text, length, kind);
}

/* The text in nested <b>. */
static void parse_nested(size_t n_deep, const char *text, struct mt_markup **out)
{
    struct mt_text html = {0};
    for (size_t i = 0; i < n_deep; i++)
        mt_text_append_string(&html, "<b>");
    mt_text_append_string(&html, text);
    for (size_t i = 0; i < n_deep; i++)
        mt_text_append_string(&html, "</b>");
    ck_assert_int_eq(parse(html.bytes, 1000, out), MT_OK);
    mt_text_finish(&html);
}

START_TEST(a_text_in_many_elements_is_looked_at_a_few_times)
{
    enum { N_DEEP = 60, N_BYTES = 5000 };
    char text[N_BYTES + 1];
    struct mt_markup *markup;
    memset(text, '.', N_BYTES);
    memcpy(text + N_BYTES - 2, " a", 3);
    n_looked_at = n_protect_bytes = 0;
    parse_nested(N_DEEP, text, &markup);
    ck_assert_uint_eq(mt_markup_segment(markup, 0)->n, N_DEEP);
    ck_assert_uint_le(n_looked_at, 2 * N_BYTES);
    ck_assert_uint_le(n_protect_bytes, 4 * N_BYTES);
    mt_markup_destroy(markup);
}
END_TEST

START_TEST(a_placeholder_in_elements_is_a_word_with_them)
{
    struct mt_markup *markup;
    parse_nested(4, "{x}", &markup);
    ck_assert_uint_eq(mt_markup_n_segments(markup), 0);
    mt_markup_destroy(markup);
    parse_nested(6, "{x}", &markup);
    ck_assert_uint_eq(mt_markup_n_segments(markup), 0);
    mt_markup_destroy(markup);
    ck_assert_int_eq(
        parse("See <b><b><b><b><b>{x}</b></b></b></b></b><i>{y}</i> <u></u> now", 100, &markup),
        MT_OK);
    const struct mt_marked *marked = mt_markup_segment(markup, 0);
    ck_assert_uint_eq(marked->n, 4);
    ck_assert_int_eq(marked->marks[0].kind, MT_MARK_SPAN);
    ck_assert_int_eq(marked->marks[1].kind, MT_MARK_STAND_IN);
    ck_assert_int_eq(marked->marks[2].kind, MT_MARK_STAND_IN);
    ck_assert_int_eq(marked->marks[3].kind, MT_MARK_POINT);
    mt_markup_destroy(markup);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("markup");
    TCase *tcase = tcase_create("markup");
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, html_falls_into_what_stays_and_what_is_translated, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, characters_are_written_as_their_source_wrote_them);
    tcase_add_test(tcase, too_many_tags_and_too_deep_ones_are_refused);
    tcase_add_test(tcase, markup_that_explodes_is_refused);
    tcase_add_test(tcase, too_many_attributes_are_refused);
    tcase_add_test(tcase, attributes_of_many_bodies_are_refused);
    tcase_add_test(tcase, elements_with_many_in_them_are_blocks);
    tcase_add_test(tcase, nested_elements_are_looked_at_once);
    tcase_add_test(tcase, a_text_in_many_elements_is_looked_at_a_few_times);
    tcase_add_test(tcase, a_placeholder_in_elements_is_a_word_with_them);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
