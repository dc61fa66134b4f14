#include "model/tokenizer/tokenizer.h"
#include "server/text/quality_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Letters for ids. */
static const struct {
    const char *ids;
    size_t n_repeats;
} cases[] = {
    {"", 1},         {"a", 1},           {"ab", 1},          {"aa", 2},      {"abab", 2},
    {"abcabc", 2},   {"abcabcab", 2},    {"xabcabcabcx", 3}, {"aaaa", 4},    {"abaaba", 2},
    {"aabaabaa", 2}, {"abxabyabz", 1},   {"abababcd", 3},    {"xyzzzyx", 3}, {"aabbaabb", 2},
    {"abcdabce", 1}, {"abababababa", 5}, {"aaab", 3},        {"baaa", 3},
};

START_TEST(the_most_repeated_group_is_counted)
{
    int32_t ids[16];
    size_t n = strlen(cases[_i].ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = cases[_i].ids[i];
    ck_assert_uint_eq(mt_quality_count_repeats(ids, n), cases[_i].n_repeats);
}
END_TEST

START_TEST(groups_are_found_up_to_the_longest)
{
    int32_t ids[(MT_QUALITY_MAX_PERIOD + 1) * 3];
    for (size_t period = MT_QUALITY_MAX_PERIOD; period <= MT_QUALITY_MAX_PERIOD + 1; period++) {
        for (size_t i = 0; i < period * 3; i++)
            ids[i] = (int32_t)(i % period);
        ck_assert_uint_eq(mt_quality_count_repeats(ids, period * 3),
                          period <= MT_QUALITY_MAX_PERIOD ? 3 : 1);
    }
}
END_TEST

/* Of a probability of a half, n_half times, between certain ones. */
static double least_of(size_t n_before, size_t n_half, size_t n_behind)
{
    float logprobs[64] = {0};
    for (size_t i = n_before; i < n_before + n_half; i++)
        logprobs[i] = logf(0.5f);
    return mt_quality_least_probability(logprobs, n_before + n_half + n_behind);
}

START_TEST(the_least_probable_stretch_counts)
{
    const float never[] = {-INFINITY, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    ck_assert_double_eq(mt_quality_least_probability(NULL, 0), 1);
    ck_assert_double_eq(least_of(0, 0, 20), 1);
    for (size_t n_before = 0; n_before < 20; n_before++) {
        ck_assert_double_eq_tol(least_of(n_before, MT_QUALITY_WINDOW, 20), 0.5, 1e-6);
        ck_assert_double_eq_tol(least_of(n_before, 2 * MT_QUALITY_WINDOW, 0), 0.5, 1e-6);
        ck_assert_double_eq_tol(least_of(n_before, MT_QUALITY_WINDOW / 2, 20), sqrt(0.5), 1e-6);
        ck_assert_double_eq_tol(least_of(n_before, MT_QUALITY_WINDOW / 2, 0), sqrt(0.5), 1e-6);
    }
    ck_assert_double_lt(mt_quality_least_probability(never, 10), 1e-3);
}
END_TEST

/* Pieces with blanks between them, of which _ begins a word. */
static const struct {
    const char *pieces;
    size_t n;
} spelled[] = {
    {"", 1},
    {"_The _house .", 1},
    {"_The _war ran ty .", 3},
    {"_Gr and ma _sleep s", 3},
    {"_We _meet _Gr and ma", 1},
    {"_a 1 b 2", 1},
    {"_i Ph one", 3},
    {"_\u6771 \u4eac \u90fd", 1},
};

START_TEST(words_that_are_spelled_are_counted)
{
    struct mt_token tokens[8];
    char pieces[8][16], text[64], *rest = text, *piece;
    struct mt_token_list list = {.tokens = tokens};
    strcpy(text, spelled[_i].pieces);
    while (*text && (piece = strsep(&rest, " "))) {
        bool begins = piece[0] == '_';
        snprintf(pieces[list.n], sizeof pieces[0], "%s%s", begins ? "\u2581" : "", piece + begins);
        tokens[list.n] = (struct mt_token){.piece = pieces[list.n]};
        list.n++;
    }
    ck_assert_uint_eq(mt_quality_count_pieces(&list), spelled[_i].n);
}
END_TEST

START_TEST(every_warning_has_a_name_of_its_own)
{
    for (unsigned i = 0; i < MT_N_WARNINGS; i++)
        for (unsigned k = 0; k < i; k++)
            ck_assert_str_ne(mt_warning_name((enum mt_warning)i),
                             mt_warning_name((enum mt_warning)k));
}
END_TEST

Suite *suite_quality_check(void)
{
    Suite *suite = suite_create("quality_check");
    TCase *tcase = tcase_create("quality_check");
    tcase_add_loop_test(tcase, the_most_repeated_group_is_counted, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, the_least_probable_stretch_counts);
    tcase_add_loop_test(tcase, words_that_are_spelled_are_counted, 0,
                        sizeof spelled / sizeof spelled[0]);
    tcase_add_test(tcase, groups_are_found_up_to_the_longest);
    tcase_add_test(tcase, every_warning_has_a_name_of_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}
