/* What the model is shown of words and codes, and where that stands in the words. */
#include "server/text/tagged_text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Words of a source as they are. */
static void append(struct mt_tagged_text *tagged, const char *source, size_t begin, size_t end)
{
    mt_tagged_at(tagged, begin);
    mt_tagged_append(tagged, source + begin, end - begin);
    mt_tagged_at(tagged, end);
}

static void point(struct mt_tagged_text *tagged, const char *source, size_t begin, size_t end)
{
    mt_tagged_at(tagged, begin);
    mt_tagged_point(tagged, source + begin, end - begin);
    mt_tagged_at(tagged, end);
}

static void substitute(struct mt_tagged_text *tagged, const char *source, size_t begin, size_t end)
{
    mt_tagged_at(tagged, begin);
    mt_tagged_substitute(tagged, "Tom", source + begin, end - begin);
    mt_tagged_at(tagged, end);
}

/* The bytes of the source that a piece of the tagged text was made of. */
static void expect_source(const struct mt_tagged_text *tagged, const char *source,
                          const char *piece, const char *expected)
{
    const char *at = strstr(tagged->text.bytes, piece);
    ck_assert_msg(at, "\"%s\" is not in \"%s\"", piece, tagged->text.bytes);
    size_t begin = (size_t)(at - tagged->text.bytes);
    struct mt_range range =
        mt_tagged_find_source(tagged, (struct mt_range){begin, begin + strlen(piece)});
    ck_assert_msg(range.end - range.begin == strlen(expected) &&
                      memcmp(source + range.begin, expected, strlen(expected)) == 0,
                  "\"%s\" of \"%s\": \"%.*s\", expected \"%s\"", piece, source,
                  (int)(range.end - range.begin), source + range.begin, expected);
}

static void expect_text(struct mt_tagged_text *tagged, const char *expected)
{
    struct mt_error err = {0};
    ck_assert_msg(!mt_tagged_check(tagged, &err), "%s", err.message);
    ck_assert_str_eq(tagged->text.bytes, expected);
}

START_TEST(without_anchors_text_and_source_go_in_step)
{
    struct mt_tagged_text tagged;
    mt_tagged_init(&tagged);
    mt_tagged_append(&tagged, "old house", 9);
    expect_source(&tagged, "old house", "house", "house");
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(signs_that_are_read_as_others_are_found_again)
{
    static const char source[] = "Say \u2019{name}\u2019 now";
    struct mt_tagged_text tagged;
    mt_tagged_init(&tagged);
    append(&tagged, source, 0, 4);
    mt_tagged_append(&tagged, "'", 1);
    substitute(&tagged, source, 7, 13);
    mt_tagged_append(&tagged, "'", 1);
    append(&tagged, source, 16, 20);
    expect_text(&tagged, "Say 'Tom' now");
    expect_source(&tagged, source, "Say", "Say");
    expect_source(&tagged, source, "Tom", "{name}");
    expect_source(&tagged, source, "'Tom'", "\u2019{name}\u2019");
    expect_source(&tagged, source, "now", "now");
    mt_tagged_finish(&tagged);
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
    struct mt_tagged_text tagged;
    const char *before = around_points[_i].before, *behind = around_points[_i].behind;
    size_t at = strlen(before), end = at + strlen("<img>");
    snprintf(source, sizeof source, "%s<img>%s", before, behind);
    mt_tagged_init(&tagged);
    append(&tagged, source, 0, at);
    point(&tagged, source, at, end);
    append(&tagged, source, end, strlen(source));
    expect_text(&tagged, around_points[_i].text);
    expect_source(&tagged, source, "old", "old");
    expect_source(&tagged, source, "house", "house");
    mt_tagged_finish(&tagged);
}
END_TEST

/* A word that stands in for something is a word of its own for the model. */
static const struct {
    const char *before, *behind, *text;
} around_substitutes[] = {
    {"old", "house", "old Tom house"},
    {"old ", " house", "old Tom house"},
    {"(", ")house", "(Tom)house"},
    {"cafe\u0301", "house", "cafe\u0301 Tom house"},
    {"old\u200E", "\u200Ehouse", "old\u200E Tom \u200Ehouse"},
    {"old\x1B", "\x7Fhouse", "old\x1B Tom \x7Fhouse"},
    {"", "\u0301house", "Tom \u0301house"},
    {"", "", "Tom"},
};

START_TEST(substitutes_touch_no_word)
{
    char source[64];
    struct mt_tagged_text tagged;
    const char *before = around_substitutes[_i].before, *behind = around_substitutes[_i].behind;
    size_t at = strlen(before), end = at + strlen("{x}");
    snprintf(source, sizeof source, "%s{x}%s", before, behind);
    mt_tagged_init(&tagged);
    append(&tagged, source, 0, at);
    substitute(&tagged, source, at, end);
    append(&tagged, source, end, strlen(source));
    expect_text(&tagged, around_substitutes[_i].text);
    expect_source(&tagged, source, "Tom", "{x}");
    if (strstr(behind, "house"))
        expect_source(&tagged, source, "house", "house");
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(substitutes_touch_no_word_of_an_element)
{
    struct mt_tagged_text tagged;
    mt_tagged_init(&tagged);
    mt_tagged_substitute(&tagged, "Tom", "{x}", 3);
    mt_tagged_open(&tagged, "<b>", 3);
    mt_tagged_append(&tagged, "old", 3);
    mt_tagged_close(&tagged, "</b>", 4);
    mt_tagged_substitute(&tagged, "Ann", "{y}", 3);
    const struct mt_tagged_term term = {.words = "house",
                                        .n_words = 5,
                                        .target = "Haus",
                                        .n_target = 4,
                                        .written = "Haus",
                                        .n_written = 4};
    mt_tagged_term(&tagged, &term);
    expect_text(&tagged, "Tom old Ann house");
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(a_gap_is_one_blank)
{
    static const char source[] = "old\n  house";
    struct mt_tagged_text tagged;
    mt_tagged_init(&tagged);
    append(&tagged, source, 0, 3);
    mt_tagged_gap(&tagged, source + 3, 3);
    append(&tagged, source, 6, 11);
    expect_text(&tagged, "old house");
    expect_source(&tagged, source, "old", "old");
    expect_source(&tagged, source, "house", "house");
    mt_tagged_finish(&tagged);
}
END_TEST

START_TEST(a_repeated_word_is_shown_once)
{
    struct mt_tagged_text tagged;
    mt_tagged_init(&tagged);
    mt_tagged_open(&tagged, "", 0);
    mt_tagged_append(&tagged, "no", 2);
    mt_tagged_repeat(&tagged, 2, ", ", 2);
    mt_tagged_close(&tagged, "", 0);
    expect_text(&tagged, "no");
    ck_assert_uint_eq(tagged.n, 1);
    ck_assert_uint_eq(tagged.tags[0].n_repeats, 2);
    ck_assert_uint_eq(tagged.tags[0].separator.end - tagged.tags[0].separator.begin, 2);
    mt_tagged_finish(&tagged);
}
END_TEST

Suite *suite_tagged_text(void)
{
    Suite *suite = suite_create("tagged");
    TCase *all = tcase_create("all");
    tcase_add_test(all, without_anchors_text_and_source_go_in_step);
    tcase_add_test(all, signs_that_are_read_as_others_are_found_again);
    tcase_add_loop_test(all, words_behind_points_are_found_again, 0,
                        (int)(sizeof around_points / sizeof *around_points));
    tcase_add_loop_test(all, substitutes_touch_no_word, 0,
                        (int)(sizeof around_substitutes / sizeof *around_substitutes));
    tcase_add_test(all, substitutes_touch_no_word_of_an_element);
    tcase_add_test(all, a_gap_is_one_blank);
    tcase_add_test(all, a_repeated_word_is_shown_once);
    suite_add_tcase(suite, all);
    return suite;
}
