#include "server/text/html/html_reader.h"
#include "server/text/html/html_tree.h"

#include <check.h>
#include <string.h>

static struct mt_error err;

static enum mt_status read_limited(const char *html, size_t max_tags, struct mt_coded *out)
{
    const struct mt_coded_options options = {.max_tags = max_tags};
    *out = (struct mt_coded){0};
    return mt_read_html(html, strlen(html), &options, out, &err);
}

static void read_html(const char *html, struct mt_coded *out)
{
    enum mt_status status = read_limited(html, 100000, out);
    ck_assert_msg(status == MT_OK, "%s: %s", html, err.message);
}

static void repeat(struct mt_text *out, size_t n, const char *piece)
{
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(out, piece);
}

static enum mt_status try(const char *html, size_t max_tags)
{
    struct mt_coded coded;
    enum mt_status status = read_limited(html, max_tags, &coded);
    mt_coded_finish(&coded);
    return status;
}

START_TEST(too_many_tags_and_too_deep_ones_are_refused)
{
    struct mt_text html = {0};
    repeat(&html, 600, "<i>");
    mt_text_append_string(&html, "x");
    ck_assert_int_eq(try(html.bytes, 599), MT_LIMIT);
    ck_assert_str_eq(err.message, "the html has 600 tags, at most 599 are allowed");
    ck_assert_int_eq(try(html.bytes, 600), MT_LIMIT);
    ck_assert_str_eq(err.message, "html is nested more than 512 deep");
    mt_text_finish(&html);
}
END_TEST

START_TEST(a_page_may_be_as_deep_as_is_said)
{
    for (size_t depth = 300; depth <= 500; depth += 20) {
        struct mt_text html = {0};
        repeat(&html, depth, "<div>");
        mt_text_append_string(&html, "x");
        repeat(&html, depth, "</div>");
        ck_assert_msg(try(html.bytes, 1000) == MT_OK, "%zu: %s", depth, err.message);
        mt_text_finish(&html);
    }
}
END_TEST

/* A tree of these would take gumbo minutes: it is given up while it grows. */
START_TEST(a_page_that_is_deep_costs_little)
{
    static const char *const tags[] = {"<div>", "<b title=\"</b>\">", "<x-y>",   "<div></b>",
                                       "<svg>", "<table><tr><td>",    "<ul><li>"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct mt_text html = {0};
        struct mt_html_tree tree = {0};
        repeat(&html, 200000, tags[i]);
        ck_assert_int_eq(mt_html_parse(html.bytes, html.length, &tree, &err), MT_LIMIT);
        ck_assert_str_eq(err.message, "html is nested more than 512 deep");
        ck_assert_uint_lt(tree.n_bytes, 1 << 20);
        mt_html_finish(&tree);
        mt_text_finish(&html);
    }
}
END_TEST

/* Every <p> opens all the <b> again: the tree is the product. */
START_TEST(markup_that_explodes_is_refused)
{
    enum { N_OPEN = 500, N = 2000 };
    struct mt_text html = {0};
    mt_text_append(&html, "<p>", 3);
    for (int i = 0; i < N_OPEN; i++)
        mt_text_appendf(&html, "<b id=%d>", i);
    repeat(&html, N, "<p>x");
    ck_assert_int_eq(try(html.bytes, N_OPEN + N + 1), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "MiB"));
    mt_text_finish(&html);
}
END_TEST

/* Behind what html holds: `before`, n different attributes, `behind`. */
static enum mt_status read_attributes(const char *before, size_t n, const char *behind,
                                      struct mt_text *html)
{
    mt_text_append_string(html, before);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(html, "a%zu ", i);
    mt_text_append_string(html, behind);
    return try(html->bytes, 10000);
}

START_TEST(too_many_attributes_are_refused)
{
    struct mt_text html = {0};
    char value[128] = {0};
    ck_assert_int_eq(read_attributes("<p ", MT_HTML_MAX_ATTRIBUTES, ">x", &html), MT_OK);
    html.length = 0;
    ck_assert_int_eq(read_attributes("<p ", MT_HTML_MAX_ATTRIBUTES + 1, ">x", &html), MT_LIMIT);
    ck_assert_str_eq(err.message, "the html has a tag with more than 256 attributes");
    /* Values as large as what gumbo makes of an element do not hide them. */
    memset(value, 'v', sizeof value - 1);
    html.length = 0;
    mt_text_append_string(&html, "<p ");
    for (size_t i = 0; i < MT_HTML_MAX_ATTRIBUTES; i++)
        mt_text_appendf(&html, "b%zu=%s c%zu=7654321 ", i, value, i);
    ck_assert_int_eq(read_attributes("", 1, ">x", &html), MT_LIMIT);
    /* Each in its own element, they are none too many. */
    html.length = 0;
    for (size_t i = 0; i < 9000; i++)
        mt_text_appendf(&html, "<br class=%zu id=%zu>", i, i);
    ck_assert_int_eq(read_attributes("<p ", 1, ">x", &html), MT_OK);
    mt_text_finish(&html);
}
END_TEST

START_TEST(attributes_of_many_bodies_are_refused)
{
    struct mt_text html = {0};
    for (size_t i = 0; i < MT_HTML_MAX_ALL_ATTRIBUTES; i++)
        mt_text_appendf(&html, "<br><body a%zu>", i);
    ck_assert_int_eq(read_attributes("", 0, "x", &html), MT_OK);
    ck_assert_int_eq(read_attributes("<body ", 1, ">x", &html), MT_LIMIT);
    ck_assert_str_eq(err.message,
                     "the html has more than 4096 attributes and 8 tags <html> and <body>");
    mt_text_finish(&html);
}
END_TEST

/* Of n elements, one in the other around x, and y behind them. */
static size_t count_segments(const char *open, const char *close, size_t n)
{
    struct mt_coded coded;
    struct mt_text html = {0};
    repeat(&html, n, open);
    mt_text_append_string(&html, "x");
    repeat(&html, n, close);
    mt_text_append_string(&html, "y");
    read_html(html.bytes, &coded);
    size_t n_segments = coded.n;
    mt_text_finish(&html);
    mt_coded_finish(&coded);
    return n_segments;
}

START_TEST(elements_with_many_in_them_are_blocks)
{
    ck_assert_uint_eq(count_segments("<b>", "</b>", 64), 1);
    ck_assert_uint_eq(count_segments("<b>", "</b>", 65), 2);
    ck_assert_uint_eq(count_segments("<b><code><i></i><i></i></code>", "</b>", 32), 1);
    ck_assert_uint_eq(count_segments("<b><code><i></i><i></i></code>", "</b>", 33), 2);
}
END_TEST

START_TEST(a_text_with_too_many_codes_ends)
{
    struct mt_coded coded;
    struct mt_text html = {0};
    repeat(&html, 1000, "one <b>big <i>dog</i></b> and</u> ");
    read_html(html.bytes, &coded);
    ck_assert_uint_ge(coded.n, 1000 * 3 / 129);
    for (size_t i = 0; i < coded.n; i++)
        ck_assert_uint_le(coded.segments[i].n, 256 + 4);
    mt_text_finish(&html);
    mt_coded_finish(&coded);
}
END_TEST

/* The parser closes each <a> before the next one, and passes over the end tags. */
START_TEST(pairs_that_the_tree_does_not_have_are_limited_too)
{
    enum { N = 100000 };
    struct mt_text html = {0};
    repeat(&html, N, "<a>");
    mt_text_append_string(&html, "<i>y</i> Y<br>");
    repeat(&html, N, "</a>");
    ck_assert_int_eq(try(html.bytes, 3 * N), MT_OK);
    mt_text_finish(&html);
}
END_TEST

START_TEST(empty_unknown_tags_are_not_nested)
{
    struct mt_coded coded;
    struct mt_text html = {0};
    repeat(&html, 5000, "a <x/>b<my-x id=\"7\" /> ");
    read_html(html.bytes, &coded);
    ck_assert_uint_ge(coded.n, 10);
    mt_text_finish(&html);
    mt_coded_finish(&coded);
}
END_TEST

/* What looks for ignored tags, and characters that are looked at for whether they are of words, are
 * counted (meson.build: --wrap). */
static size_t n_compared, n_looked_at;
bool __real_mt_html_is_named(const GumboNode *element, const char *name);
bool __wrap_mt_html_is_named(const GumboNode *element, const char *name);
bool __real_mt_is_word_char(uint32_t code_point);
bool __wrap_mt_is_word_char(uint32_t code_point);

bool __wrap_mt_html_is_named(const GumboNode *element, const char *name)
{
    n_compared++;
    return __real_mt_html_is_named(element, name);
}

bool __wrap_mt_is_word_char(uint32_t code_point)
{
    n_looked_at++;
    return __real_mt_is_word_char(code_point);
}

START_TEST(nested_elements_are_looked_at_once)
{
    enum { N_DEEP = 60, N_BYTES = 5000 };
    struct mt_coded coded;
    struct mt_text html = {0};
    repeat(&html, N_DEEP, "<b>");
    repeat(&html, N_BYTES - 2, ".");
    mt_text_append_string(&html, " a");
    repeat(&html, N_DEEP, "</b>");
    mt_text_append_string(&html, " b");
    n_compared = n_looked_at = 0;
    read_html(html.bytes, &coded);
    ck_assert_uint_eq(coded.segments[0].n, 2 * N_DEEP);
    ck_assert_uint_le(n_compared, N_DEEP + 1); /* and the outermost */
    ck_assert_uint_le(n_looked_at, 2 * N_BYTES + 10);
    mt_text_finish(&html);
    mt_coded_finish(&coded);
}
END_TEST

Suite *suite_html_limits(void)
{
    Suite *suite = suite_create("html_limits");
    TCase *tcase = tcase_create("html_limits");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, too_many_tags_and_too_deep_ones_are_refused);
    tcase_add_test(tcase, a_page_may_be_as_deep_as_is_said);
    tcase_add_test(tcase, a_page_that_is_deep_costs_little);
    tcase_add_test(tcase, markup_that_explodes_is_refused);
    tcase_add_test(tcase, too_many_attributes_are_refused);
    tcase_add_test(tcase, attributes_of_many_bodies_are_refused);
    tcase_add_test(tcase, elements_with_many_in_them_are_blocks);
    tcase_add_test(tcase, a_text_with_too_many_codes_ends);
    tcase_add_test(tcase, pairs_that_the_tree_does_not_have_are_limited_too);
    tcase_add_test(tcase, empty_unknown_tags_are_not_nested);
    tcase_add_test(tcase, nested_elements_are_looked_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
