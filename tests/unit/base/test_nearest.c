#include "base/nearest.h"

#include <check.h>
#include <string.h>

static const char *nearest_of(const char *word, const char *const *candidates)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, word);
    for (; *candidates; candidates++)
        mt_nearest_offer(&nearest, *candidates);
    return nearest.best;
}

static const char *const flags[] = {"host",           "port",    "max_body_bytes",
                                    "max_batch_rows", "workers", NULL};

static const struct {
    const char *word;
    const char *expected; /* NULL: nothing is near */
} cases[] = {
    {"port", "port"},
    {"prot", "port"},  /* swapped neighbours count once */
    {"prt", "port"},   /* one missing */
    {"portt", "port"}, /* one too many */
    {"hest", "host"},  /* one other */
    {"max-body-byte", "max_body_bytes"},
    {"max-body", "max_body_bytes"}, /* the beginning of one */
    {"max", "max_body_bytes"},      /* the beginning of two: the first */
    {"max-batch", "max_batch_rows"},
    {"wrokres", "workers"},
    {"p", NULL}, /* too short for a beginning, too far from all */
    {"", NULL},
    {"zebra", NULL},
    {"trop", NULL},
    {"port-port-port-port-port-port-port-port-port-port-port", NULL}, /* over the limit */
};

START_TEST(finds_the_word_that_was_meant)
{
    const char *found = nearest_of(cases[_i].word, flags);
    const char *expected = cases[_i].expected;
    ck_assert_msg(found == expected || (found && expected && !strcmp(found, expected)),
                  "\"%s\": found %s, expected %s", cases[_i].word, found ? found : "nothing",
                  expected ? expected : "nothing");
}
END_TEST

START_TEST(keeps_the_nearer_whatever_the_order)
{
    const char *const one[] = {"boat", "coat", NULL};
    const char *const other[] = {"coat", "boat", NULL};
    ck_assert_str_eq(nearest_of("coats", one), "coat");
    ck_assert_str_eq(nearest_of("coats", other), "coat");
}
END_TEST

Suite *suite_nearest(void)
{
    Suite *suite = suite_create("nearest");
    TCase *tcase = tcase_create("words");
    tcase_add_loop_test(tcase, finds_the_word_that_was_meant, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, keeps_the_nearer_whatever_the_order);
    suite_add_tcase(suite, tcase);
    return suite;
}
