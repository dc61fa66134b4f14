#include "model/kernels/activation.h"

#include <check.h>
#include <string.h>

START_TEST(every_activation_has_a_name_that_is_found_again)
{
    for (int i = 0; i < MT_ACTIVATIONS; i++) {
        const char *name = mt_activation_name((enum mt_activation)i);
        ck_assert_str_ne(name, "unknown");
        enum mt_activation found = MT_ACTIVATIONS;
        ck_assert_int_eq(mt_activation_find(MT_NAMED_BY_CONFIG, "key", name, &found, NULL), MT_OK);
        ck_assert_int_eq(found, i);
    }
}
END_TEST

static const struct {
    enum mt_activation_names names;
    const char *name;
    enum mt_activation activation;
} spellings[] = {
    {MT_NAMED_BY_CONFIG, "silu", MT_SILU},         {MT_NAMED_BY_CONFIG, "gelu_new", MT_GELU_TANH},
    {MT_NAMED_BY_MARIAN, "relu", MT_RELU},         {MT_NAMED_BY_MARIAN, "swish", MT_SILU},
    {MT_NAMED_BY_MARIAN, "gelu", MT_QUICK_GELU}, /* not what config.json calls gelu */
    {MT_NAMED_BY_CTRANSLATE2, "0", MT_RELU},       {MT_NAMED_BY_CTRANSLATE2, "1", MT_GELU_TANH},
    {MT_NAMED_BY_CTRANSLATE2, "2", MT_SILU},       {MT_NAMED_BY_CTRANSLATE2, "3", MT_GELU},
    {MT_NAMED_BY_CTRANSLATE2, "4", MT_QUICK_GELU},
};

START_TEST(each_family_has_names_of_its_own)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        enum mt_activation found = MT_ACTIVATIONS;
        ck_assert_int_eq(
            mt_activation_find(spellings[i].names, "key", spellings[i].name, &found, NULL), MT_OK);
        ck_assert_int_eq(found, spellings[i].activation);
    }
}
END_TEST

static const struct {
    enum mt_activation_names names;
    const char *name, *message;
} strangers[] = {
    {MT_NAMED_BY_CONFIG, "mish",
     "key: expected relu, gelu_new, swish, silu, gelu or quick_gelu, found \"mish\""},
    {MT_NAMED_BY_MARIAN, "silu", "key: expected relu, swish or gelu (quick_gelu), found \"silu\""},
    {MT_NAMED_BY_CTRANSLATE2, "5",
     "key: expected 0 (relu), 1 (gelu_new), 2 (swish), 3 (gelu) or 4 (quick_gelu), found \"5\""},
};

START_TEST(another_name_is_refused_with_those_that_are_known)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        enum mt_activation found = MT_ACTIVATIONS;
        struct mt_error err;
        ck_assert_int_eq(
            mt_activation_find(strangers[i].names, "key", strangers[i].name, &found, &err),
            MT_UNSUPPORTED);
        ck_assert_str_eq(err.message, strangers[i].message);
        ck_assert_int_eq(found, MT_ACTIVATIONS);
    }
}
END_TEST

Suite *suite_activation(void)
{
    Suite *suite = suite_create("activation");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, every_activation_has_a_name_that_is_found_again);
    tcase_add_test(tcase, each_family_has_names_of_its_own);
    tcase_add_test(tcase, another_name_is_refused_with_those_that_are_known);
    suite_add_tcase(suite, tcase);
    return suite;
}
