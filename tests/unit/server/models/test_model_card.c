#include "server/models/model_card.h"

#include <check.h>

static const struct {
    const char *card, *licence;
} cards[] = {
    {"---\nlanguage: [en, de]\nlicense: cc-by-4.0\ntags: [x]\n---\n# A model\n", "cc-by-4.0"},
    {"---\r\nlicense: apache-2.0\r\n---\r\n", "apache-2.0"},
    {"---\nlicense: \"mit\"   # as the authors say\n---\n", "mit"},
    {"---\nlicense: [cc-by-4.0, mit]\n---\n", "cc-by-4.0"},
    {"---\nlicense:\n  - cc-by-sa-4.0\n  - mit\n---\n", "cc-by-sa-4.0"},
    {"---\nlicence: other\n---\n", "other"},
    {"---\nlicense: mit", "mit"},
    /* None. */
    {"", ""},
    {"---", ""},
    {"# A model\nlicense: mit\n", ""},
    {"---\nlanguage: en\n---\nlicense: mit\n", ""},
    {"---\nlicense:\n---\n", ""},
    {"---\nlicense:\nlanguage: en\n---\n", ""},
    {"---\nlicense_link: https://example.org\n---\n", ""},
    {"---\nlicense: a name that is far longer than any licence's identifier in any list of "
     "licences\n",
     ""},
};

START_TEST(licence_of_a_card)
{
    char found[MT_LICENCE_BYTES];
    bool is_there = mt_model_card_find_licence(cards[_i].card, found);
    ck_assert_str_eq(found, cards[_i].licence);
    ck_assert_int_eq(is_there, cards[_i].licence[0] != '\0');
}
END_TEST

START_TEST(directory_without_a_card)
{
    char found[MT_LICENCE_BYTES];
    ck_assert(!mt_model_card_licence("/nowhere/at/all", found));
    ck_assert_str_eq(found, "");
}
END_TEST

Suite *suite_model_card(void)
{
    Suite *suite = suite_create("model_card");
    TCase *tests = tcase_create("card");
    tcase_add_loop_test(tests, licence_of_a_card, 0, sizeof cards / sizeof cards[0]);
    tcase_add_test(tests, directory_without_a_card);
    suite_add_tcase(suite, tests);
    return suite;
}
