#include "server/text/codes/numbered.h"

#include <check.h>
#include <string.h>

#define O(n) "\xEF\xB7\x90" n "\xEF\xB7\x93"
#define C(n) "\xEF\xB7\x91" n "\xEF\xB7\x93"
#define P(n) "\xEF\xB7\x92" n "\xEF\xB7\x93"

static struct mt_error err;

static struct mt_coded read_html(const char *source)
{
    const struct mt_coded_options options = {.max_tags = 1000};
    struct mt_coded coded = {0};
    ck_assert_int_eq(mt_read_html(source, strlen(source), &options, &coded, &err), MT_OK);
    ck_assert_uint_eq(coded.n, 1);
    return coded;
}

/* NULL: there is no such form. like NULL: numbered in order. */
static void check_written(const char *html, const char *like_html, const char *expected)
{
    struct mt_coded coded = read_html(html), like = {0};
    struct mt_numbered_stretch stretch = mt_numbered_whole(&coded, &coded.segments[0]), other;
    struct mt_text out = {0};
    if (like_html) {
        like = read_html(like_html);
        other = mt_numbered_whole(&like, &like.segments[0]);
    }
    ck_assert_int_eq(mt_numbered_write(&stretch, like_html ? &other : NULL, &out),
                     expected != NULL);
    if (expected)
        ck_assert_str_eq(out.bytes, expected);
    mt_text_finish(&out);
    mt_coded_finish(&coded);
    mt_coded_finish(&like);
}

START_TEST(codes_become_numbers)
{
    check_written("Press OK &amp; wait", NULL, "Press OK & wait");
    check_written("Press <b>OK</b><br>now", NULL, "Press " O("0") "OK" C("0") P("1") "now");
    check_written("a <b>b <i>c</i></b> d", NULL, "a " O("0") "b " O("1") "c" C("1") C("0") " d");
}
END_TEST

START_TEST(a_translation_has_the_numbers_of_its_source)
{
    check_written("<i>zwei</i> und <b>eins</b>", "<b>one</b> and <i>two</i>",
                  O("1") "zwei" C("1") " und " O("0") "eins" C("0"));
    /* What is written in another way is counted off. */
    check_written("<a href=\"/de\">x</a> <b>y</b>", "<a href=\"/en\">x</a> <b>y</b>",
                  O("0") "x" C("0") " " O("1") "y" C("1"));
    /* What the source does not have has a number that is not there. */
    check_written("<b>x</b> <i>y</i>", "<b>x</b>", O("0") "x" C("0") " " O("1") "y" C("1"));
}
END_TEST

START_TEST(our_own_signs_have_no_form)
{
    static const char *const texts[] = {"a " O("0") " b", "a \xEF\xB7\x93 b"};
    for (size_t i = 0; i < 2; i++) {
        struct mt_coded coded = {0};
        struct mt_text out = {0};
        ck_assert_int_eq(mt_read_plain(texts[i], strlen(texts[i]), NULL, &coded, &err), MT_OK);
        struct mt_numbered_stretch stretch = mt_numbered_whole(&coded, &coded.segments[0]);
        ck_assert(!mt_numbered_write(&stretch, NULL, &out));
        mt_text_finish(&out);
        mt_coded_finish(&coded);
    }
}
END_TEST

START_TEST(too_many_codes_have_no_form)
{
    char html[8 * (MT_MAX_NUMBERED_CODES + 1) + 8] = "";
    for (size_t i = 0; i < MT_MAX_NUMBERED_CODES; i++)
        strcat(html, "a<br>");
    struct mt_coded coded = read_html(html);
    struct mt_numbered_stretch stretch = mt_numbered_whole(&coded, &coded.segments[0]);
    struct mt_text out = {0};
    ck_assert(mt_numbered_write(&stretch, NULL, &out));
    mt_text_finish(&out);
    mt_coded_finish(&coded);
    strcat(html, "a<br>a");
    check_written(html, NULL, NULL);
}
END_TEST

static struct mt_text pieces;
static struct mt_coded shown;

static void take_words(void *context, const char *bytes, size_t length)
{
    (void)context;
    mt_text_append(&pieces, bytes, length);
}

static void take_code(void *context, size_t code)
{
    (void)context;
    struct mt_range bytes = shown.segments[0].codes[code].bytes;
    mt_text_append(&pieces, shown.source + bytes.begin, bytes.end - bytes.begin);
}

/* NULL: it is not the source's. */
static void check_read(const char *source, const char *text, const char *expected)
{
    shown = read_html(source);
    struct mt_numbered_stretch stretch = mt_numbered_whole(&shown, &shown.segments[0]);
    mt_text_append(&pieces, "", 0);
    ck_assert_int_eq(mt_numbered_read(text, strlen(text), &stretch, take_words, take_code, NULL),
                     expected != NULL);
    ck_assert_str_eq(pieces.bytes, expected ? expected : "");
    mt_text_finish(&pieces);
    pieces = (struct mt_text){0};
    mt_coded_finish(&shown);
}

START_TEST(codes_come_back_where_their_numbers_are)
{
    check_read("<b>one</b> and <i>two</i>", O("1") "zwei" C("1") " und " O("0") "eins" C("0"),
               "<i>zwei</i> und <b>eins</b>");
    check_read("plain", "schlicht", "schlicht");
    check_read("a<br>b", P("0") "x", "<br>x");
}
END_TEST

START_TEST(what_has_other_codes_is_not_used)
{
    check_read("<b>one</b> x", "eins", NULL);
    check_read("<b>one</b> x", O("0") "eins", NULL);
    check_read("<b>one</b> x", C("0") "eins" O("0"), NULL);
    check_read("<b>one</b> x", O("0") C("0") "eins" O("0") C("0"), NULL);
    check_read("<b>one</b> x", P("0") "eins", NULL);
    check_read("one", P("0") "eins", NULL);
    check_read("<b>a</b> <i>b</i>", O("0") "a" O("1") C("0") "b" C("1"), NULL);
    check_read("a<br>b", P("99999999999999999999") "x", NULL);
    check_read("a<br>b", P("") "x", NULL);
    check_read("a<br>b", "\xEF\xB7\x92", NULL);
}
END_TEST

/* "<br>a<img>", as a reader might have it that leaves them in the text. */
static struct mt_coded read_points(void)
{
    static const char source[] = " <br> a<img> <img>";
    struct mt_coded coded = {0};
    struct mt_coded_segment *segment;
    const struct mt_code codes[] = {
        {.kind = MT_CODE_POINT, .at = {1, 1}, .bytes = {1, 5}, .mate = MT_NO_MATE},
        {.kind = MT_CODE_BREAK, .at = {3, 4}, .bytes = {7, 12}, .mate = MT_NO_MATE},
        {.kind = MT_CODE_POINT, .at = {4, 4}, .bytes = {13, 18}, .mate = MT_NO_MATE},
    };
    coded.source = source;
    coded.length = strlen(source);
    ck_assert_int_eq(mt_coded_add_segment(&coded, 0, &segment, &err), MT_OK);
    mt_text_append_string(&segment->words, "  a\n");
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(mt_coded_add(segment, &codes[i], &err), MT_OK);
    return coded;
}

/* most: codes that may be taken off at each end. */
static void check_trimmed(size_t most, const char *expected, size_t before, size_t behind)
{
    struct mt_coded coded = read_points();
    struct mt_numbered_stretch stretch = mt_numbered_whole(&coded, &coded.segments[0]);
    struct mt_numbered_ends ends = {most, most};
    struct mt_text out = {0};
    mt_numbered_trim(&stretch, &ends);
    ck_assert(mt_numbered_write(&stretch, NULL, &out));
    ck_assert_str_eq(out.bytes, expected);
    ck_assert_uint_eq(ends.before, before);
    ck_assert_uint_eq(ends.behind, behind);
    mt_text_finish(&out);
    mt_coded_finish(&coded);
}

START_TEST(codes_are_taken_off_ends)
{
    check_trimmed(SIZE_MAX, "a", 1, 2);
    check_trimmed(1, "a" P("0"), 1, 1);
    check_trimmed(0, P("0") " a" P("1") P("2"), 0, 0);
}
END_TEST

START_TEST(words_alone_keep_their_distance)
{
    struct mt_text out = {0};
    const char text[] = O("0") "a" C("0") P("1") "b " P("2") "c";
    mt_numbered_append_words(text, strlen(text), &out);
    ck_assert_str_eq(out.bytes, "a b c");
    mt_text_finish(&out);
}
END_TEST

Suite *suite_numbered(void)
{
    Suite *suite = suite_create("numbered");
    TCase *tcase = tcase_create("numbered");
    tcase_add_test(tcase, codes_become_numbers);
    tcase_add_test(tcase, a_translation_has_the_numbers_of_its_source);
    tcase_add_test(tcase, our_own_signs_have_no_form);
    tcase_add_test(tcase, too_many_codes_have_no_form);
    tcase_add_test(tcase, codes_come_back_where_their_numbers_are);
    tcase_add_test(tcase, what_has_other_codes_is_not_used);
    tcase_add_test(tcase, codes_are_taken_off_ends);
    tcase_add_test(tcase, words_alone_keep_their_distance);
    suite_add_tcase(suite, tcase);
    return suite;
}
