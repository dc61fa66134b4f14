#include "server/terms.h"

#include "base/text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;
static struct mt_terms *terms;

#define STREET "stra\xC3\x9F\x65" /* straße */

static void setup(void)
{
    static const char *const sources[] = {
        "train", "train station", "Apple", STREET, "C++", "\xE7\x81\xAB\xE8\xBD\xA6", "a b c"};
    ck_assert_int_eq(mt_terms_create(&terms, &err), MT_OK);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        ck_assert_int_eq(mt_terms_add(terms, "glossary", sources[i], "X", &err), MT_OK);
}

static void teardown(void)
{
    mt_terms_destroy(terms);
}

/* What is found, each in brackets with its term's number. */
static const struct {
    const char *text, *found;
    bool crosses_lines;
} cases[] = {
    {"", "", false},
    {"no such thing", "", false},
    {"a train.", "0[train]", false},
    {"train", "0[train]", false},
    /* Word boundaries. */
    {"trains, trainer, strain, train2, train_x", "", false},
    {"(train)-train/train", "0[train]0[train]0[train]", false},
    {"the train's, l'train, train\xE2\x80\x99s", "0[train]0[train]0[train]", false},
    {"the tra\xC3\xAFn and traine\xCC\x81", "", false},
    {"C++, C, C++!", "4[C++]4[C++]", false},
    /* Scripts without blanks: ICU's dictionary. */
    {"\xE5\x9D\x90\xE7\x81\xAB\xE8\xBD\xA6", "5[\xE7\x81\xAB\xE8\xBD\xA6]", false},
    /* The longest, and then the next behind it. */
    {"train station train", "1[train station]0[train]", false},
    {"train stations", "0[train]", false},
    /* Case: in lower case any, else as written. */
    {"TRAIN Station Train", "1[TRAIN Station]0[Train]", false},
    {"apple Apple APPLE", "2[Apple]", false},
    {"STRA\xE1\xBA\x9E"
     "E",
     "3[STRA\xE1\xBA\x9E"
     "E]",
     false},
    /* Blanks. */
    {"train \t station", "1[train \t station]", false},
    {"trainstation", "", false},
    {"train\xC2\xA0station", "1[train\xC2\xA0station]", false},
    {"train\nstation", "0[train]", false},
    {"train\nstation", "1[train\nstation]", true},
    {"a b a b c", "6[a b c]", false},
    {"train ", "0[train]", false},
};

START_TEST(terms_are_found_between_word_boundaries)
{
    struct mt_text found = {0};
    const char *text = cases[_i].text;
    mt_text_append(&found, "", 0);
    mt_terms_search(terms, text, strlen(text), cases[_i].crosses_lines);
    for (size_t from = 0;;) {
        struct mt_term_match match = mt_terms_find(terms, from);
        if (match.term == MT_NO_TERM) {
            ck_assert_uint_eq(match.begin, strlen(text));
            break;
        }
        mt_text_appendf(&found, "%zu[%.*s]", match.term, (int)(match.end - match.begin),
                        text + match.begin);
        from = match.end;
    }
    ck_assert_str_eq(found.bytes, cases[_i].found);
    mt_text_finish(&found);
}
END_TEST

START_TEST(every_text_is_searched_for_itself)
{
    char text[] = "a train";
    for (int i = 0; i < 2; i++) {
        mt_terms_search(terms, text, sizeof text - 1, false);
        ck_assert_uint_eq(mt_terms_find(terms, 0).begin, i ? 7 : 2);
        memcpy(text, "atrains", 7); /* the same memory, as a parser's */
    }
}
END_TEST

static void check_refused(const char *source, const char *target, const char *message)
{
    ck_assert_int_eq(mt_terms_add(terms, "glossary", source, target, &err), MT_INVALID);
    ck_assert_str_eq(err.message, message);
}

START_TEST(wrong_terms_are_refused)
{
    char longest[MT_MAX_TERM_BYTES + 2];
    memset(longest, 'x', sizeof longest);
    longest[MT_MAX_TERM_BYTES + 1] = '\0';
    check_refused(" ", "x", "glossary: found a blank term, expected words");
    check_refused("x", "", "glossary: found a blank term, expected words");
    check_refused("train", "Zug",
                  "glossary: \"train\" is to become \"Zug\", but before it was to "
                  "become \"X\"");
    check_refused("train", NULL,
                  "glossary: \"train\" is to become \"train\", but before it was to "
                  "become \"X\"");
    check_refused(longest, "x",
                  "glossary: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is 257 bytes, at most "
                  "256 are allowed");
    ck_assert_int_eq(mt_terms_add(terms, "glossary", longest + 1, longest + 1, &err), MT_OK);
}
END_TEST

START_TEST(terms_are_kept_in_order_without_blanks_around_them)
{
    size_t n = mt_terms_count(terms);
    ck_assert_int_eq(mt_terms_add(terms, "glossary", "train", "X", &err), MT_OK);
    ck_assert_int_eq(mt_terms_add(terms, "do_not_translate", " Foo \n", NULL, &err), MT_OK);
    ck_assert_uint_eq(mt_terms_count(terms), n + 1);
    struct mt_term first = mt_terms_at(terms, 0), last = mt_terms_at(terms, n);
    ck_assert_str_eq(first.source, "train");
    ck_assert_str_eq(first.target, "X");
    ck_assert(!first.is_kept && last.is_kept);
    ck_assert_str_eq(last.source, "Foo");
    ck_assert_str_eq(last.target, "Foo");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("terms");
    TCase *tcase = tcase_create("terms");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, terms_are_found_between_word_boundaries, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, every_text_is_searched_for_itself);
    tcase_add_test(tcase, wrong_terms_are_refused);
    tcase_add_test(tcase, terms_are_kept_in_order_without_blanks_around_them);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
