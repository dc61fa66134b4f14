#include "server/text/brands.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *source, *target, *language, *expected; /* NULL: it stays */
} cases[] = {
    {"About us", "Mozillaについて", "ja", "私たち"},
    {"Our website", "Mozillaの製品", "ja", "私たち"},
    {"OUR PRODUCTS", "Mozilla製品", "ja-JP", "私たちの"},
    {"It is us.", "Mozilla", "ja", "私たち"},
    {"Mozilla and us", "Mozilla", "ja", NULL},
    {"About this house", "Mozilla", "ja", NULL}, /* "us" is within a word */
    {"About us", "Mozilla", "de", NULL},
    {"About us", "Mozilla", "jam", NULL},
    {"About us", "Mozilla", NULL, NULL},
    {"About us", "Mozi", "ja", NULL},
};

START_TEST(a_name_that_stands_for_us_gives_way)
{
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    size_t n = mt_brand_write(cases[_i].source, strlen(cases[_i].source), cases[_i].target,
                              strlen(cases[_i].target), 0, cases[_i].language, &out);
    ck_assert_uint_eq(n, cases[_i].expected ? strlen("Mozilla") : 0);
    ck_assert_str_eq(out.bytes, cases[_i].expected ? cases[_i].expected : "");
    mt_text_finish(&out);
}
END_TEST

Suite *suite_brands(void)
{
    Suite *suite = suite_create("brands");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_name_that_stands_for_us_gives_way, 0,
                        (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, all);
    return suite;
}
