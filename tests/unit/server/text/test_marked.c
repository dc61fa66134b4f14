/* What the model is shown of words and codes, and where that stands in the words. */
#include "server/text/marked.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Words of a source as they are. */
static void append(struct mt_marked *marked, const char *source, size_t begin, size_t end)
{
    mt_marked_at(marked, begin);
    mt_marked_append(marked, source + begin, end - begin);
    mt_marked_at(marked, end);
}

static void point(struct mt_marked *marked, const char *source, size_t begin, size_t end)
{
    mt_marked_at(marked, begin);
    mt_marked_point(marked, source + begin, end - begin);
    mt_marked_at(marked, end);
}

static void stand_in(struct mt_marked *marked, const char *source, size_t begin, size_t end)
{
    mt_marked_at(marked, begin);
    mt_marked_stand_in(marked, "Tom", source + begin, end - begin);
    mt_marked_at(marked, end);
}

/* The bytes of the source that a piece of the marked text was made of. */
static void expect_source(const struct mt_marked *marked, const char *source, const char *piece,
                          const char *expected)
{
    const char *at = strstr(marked->text.bytes, piece);
    ck_assert_msg(at, "\"%s\" is not in \"%s\"", piece, marked->text.bytes);
    size_t begin = (size_t)(at - marked->text.bytes);
    struct mt_range range =
        mt_marked_find_source(marked, (struct mt_range){begin, begin + strlen(piece)});
    ck_assert_msg(range.end - range.begin == strlen(expected) &&
                      memcmp(source + range.begin, expected, strlen(expected)) == 0,
                  "\"%s\" of \"%s\": \"%.*s\", expected \"%s\"", piece, source,
                  (int)(range.end - range.begin), source + range.begin, expected);
}

static void expect_text(struct mt_marked *marked, const char *expected)
{
    struct mt_error err = {0};
    ck_assert_msg(!mt_marked_check(marked, &err), "%s", err.message);
    ck_assert_str_eq(marked->text.bytes, expected);
}

START_TEST(without_anchors_text_and_source_go_in_step)
{
    struct mt_marked marked;
    mt_marked_init(&marked);
    mt_marked_append(&marked, "old house", 9);
    expect_source(&marked, "old house", "house", "house");
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(signs_that_are_read_as_others_are_found_again)
{
    static const char source[] = "Say \u2019{name}\u2019 now";
    struct mt_marked marked;
    mt_marked_init(&marked);
    append(&marked, source, 0, 4);
    mt_marked_append(&marked, "'", 1);
    stand_in(&marked, source, 7, 13);
    mt_marked_append(&marked, "'", 1);
    append(&marked, source, 16, 20);
    expect_text(&marked, "Say 'Tom' now");
    expect_source(&marked, source, "Say", "Say");
    expect_source(&marked, source, "Tom", "{name}");
    expect_source(&marked, source, "'Tom'", "\u2019{name}\u2019");
    expect_source(&marked, source, "now", "now");
    mt_marked_finish(&marked);
}
END_TEST

/* Blanks beside points come and go. */
static const struct {
    const char *before, *behind, *text;
} around_points[] = {
    {"a ", " old house", "a old house"},
    {"a ", "old house", "a old house"},
    {"a", " old house", "a old house"},
    {"a", "old house", "aold house"},
    {"", " old house", "old house"},
    {"", "old house", "old house"},
    {"a ", ", old house", "a, old house"},
    {"a ", "'s old house", "a 's old house"},
    {"a ", "\u00ADold house", "a \u00ADold house"},
};

START_TEST(words_behind_points_are_found_again)
{
    char source[64];
    struct mt_marked marked;
    const char *before = around_points[_i].before, *behind = around_points[_i].behind;
    size_t at = strlen(before), end = at + strlen("<img>");
    snprintf(source, sizeof source, "%s<img>%s", before, behind);
    mt_marked_init(&marked);
    append(&marked, source, 0, at);
    point(&marked, source, at, end);
    append(&marked, source, end, strlen(source));
    expect_text(&marked, around_points[_i].text);
    expect_source(&marked, source, "old", "old");
    expect_source(&marked, source, "house", "house");
    mt_marked_finish(&marked);
}
END_TEST

/* A word that stands in for something is a word of its own for the model. */
static const struct {
    const char *before, *behind, *text;
} around_stand_ins[] = {
    {"old", "house", "old Tom house"},
    {"old ", " house", "old Tom house"},
    {"(", ")house", "(Tom)house"},
    {"cafe\u0301", "house", "cafe\u0301 Tom house"},
    {"old\u200E", "\u200Ehouse", "old\u200E Tom \u200Ehouse"},
    {"old\x1B", "\x7Fhouse", "old\x1B Tom \x7Fhouse"},
    {"", "\u0301house", "Tom \u0301house"},
    {"", "", "Tom"},
};

START_TEST(stand_ins_touch_no_word)
{
    char source[64];
    struct mt_marked marked;
    const char *before = around_stand_ins[_i].before, *behind = around_stand_ins[_i].behind;
    size_t at = strlen(before), end = at + strlen("{x}");
    snprintf(source, sizeof source, "%s{x}%s", before, behind);
    mt_marked_init(&marked);
    append(&marked, source, 0, at);
    stand_in(&marked, source, at, end);
    append(&marked, source, end, strlen(source));
    expect_text(&marked, around_stand_ins[_i].text);
    expect_source(&marked, source, "Tom", "{x}");
    if (strstr(behind, "house"))
        expect_source(&marked, source, "house", "house");
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(stand_ins_touch_no_word_of_an_element)
{
    struct mt_marked marked;
    mt_marked_init(&marked);
    mt_marked_stand_in(&marked, "Tom", "{x}", 3);
    mt_marked_open(&marked, "<b>", 3);
    mt_marked_append(&marked, "old", 3);
    mt_marked_close(&marked, "</b>", 4);
    mt_marked_stand_in(&marked, "Ann", "{y}", 3);
    const struct mt_marked_term term = {.words = "house",
                                        .n_words = 5,
                                        .target = "Haus",
                                        .n_target = 4,
                                        .written = "Haus",
                                        .n_written = 4};
    mt_marked_term(&marked, &term);
    expect_text(&marked, "Tom old Ann house");
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(a_gap_is_one_blank)
{
    static const char source[] = "old\n  house";
    struct mt_marked marked;
    mt_marked_init(&marked);
    append(&marked, source, 0, 3);
    mt_marked_gap(&marked, source + 3, 3);
    append(&marked, source, 6, 11);
    expect_text(&marked, "old house");
    expect_source(&marked, source, "old", "old");
    expect_source(&marked, source, "house", "house");
    mt_marked_finish(&marked);
}
END_TEST

START_TEST(a_repeated_word_is_shown_once)
{
    struct mt_marked marked;
    mt_marked_init(&marked);
    mt_marked_open(&marked, "", 0);
    mt_marked_append(&marked, "no", 2);
    mt_marked_repeat(&marked, 2, ", ", 2);
    mt_marked_close(&marked, "", 0);
    expect_text(&marked, "no");
    ck_assert_uint_eq(marked.n, 1);
    ck_assert_uint_eq(marked.marks[0].n_repeats, 2);
    ck_assert_uint_eq(marked.marks[0].separator.end - marked.marks[0].separator.begin, 2);
    mt_marked_finish(&marked);
}
END_TEST

Suite *suite_marked(void)
{
    Suite *suite = suite_create("marked");
    TCase *all = tcase_create("all");
    tcase_add_test(all, without_anchors_text_and_source_go_in_step);
    tcase_add_test(all, signs_that_are_read_as_others_are_found_again);
    tcase_add_loop_test(all, words_behind_points_are_found_again, 0,
                        (int)(sizeof around_points / sizeof *around_points));
    tcase_add_loop_test(all, stand_ins_touch_no_word, 0,
                        (int)(sizeof around_stand_ins / sizeof *around_stand_ins));
    tcase_add_test(all, stand_ins_touch_no_word_of_an_element);
    tcase_add_test(all, a_gap_is_one_blank);
    tcase_add_test(all, a_repeated_word_is_shown_once);
    suite_add_tcase(suite, all);
    return suite;
}
