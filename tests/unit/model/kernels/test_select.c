#include "config/table.h"
#include "model/kernels/kernels.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Two lists that the linker does not hold together: what may be set, and what there is. */
START_TEST(what_may_be_set_is_what_there_is)
{
    const struct mt_setting *setting = mt_setting_find("kernels");
    ck_assert_ptr_nonnull(setting);
    struct mt_error unknown;
    const struct mt_kernels *found;
    ck_assert_int_eq(mt_kernels_find("?", &found, &unknown), MT_INVALID);
    size_t n_choices = 0, n_quotes = 0;
    for (const char *const *choice = setting->choices; *choice; choice++) {
        struct mt_error err;
        ck_assert_msg(mt_kernels_find(*choice, &found, &err) != MT_INVALID, "%s", err.message);
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\"", *choice);
        ck_assert_ptr_nonnull(strstr(unknown.message, quoted));
        n_choices++;
    }
    /* The message names no others. */
    for (const char *c = unknown.message; *c; c++)
        n_quotes += *c == '"';
    ck_assert_uint_eq(n_quotes, 2 * n_choices + 2 /* around "?" */);
}
END_TEST

START_TEST(every_table_here_is_found_by_its_name)
{
    size_t n;
    const struct mt_kernels *const *tables = mt_kernels_available(&n);
    ck_assert_uint_ge(n, 1);
    ck_assert_str_eq(tables[n - 1]->name, "c");
    for (size_t i = 0; i < n; i++) {
        const struct mt_kernels *found;
        struct mt_error err;
        ck_assert_msg(!mt_kernels_find(tables[i]->name, &found, &err), "%s", err.message);
        ck_assert_ptr_eq(found, tables[i]);
    }
}
END_TEST

/* One of another processor's at least is known and lacking here. */
START_TEST(what_is_lacking_is_refused_with_what_there_is)
{
    static const char *const of_others[] = {"neon", "avx2", "sse41", "dotprod"};
    size_t n, n_refused = 0;
    const struct mt_kernels *const *tables = mt_kernels_available(&n);
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) {
        const struct mt_kernels *found;
        struct mt_error err;
        if (mt_kernels_find(of_others[i], &found, &err) != MT_UNSUPPORTED)
            continue;
        n_refused++;
        for (size_t j = 0; j < n; j++) {
            char quoted[32];
            snprintf(quoted, sizeof quoted, "\"%s\"", tables[j]->name);
            ck_assert_msg(strstr(err.message, quoted) != NULL, "%s", err.message);
        }
    }
    ck_assert_uint_ge(n_refused, 1);
}
END_TEST

Suite *suite_select(void)
{
    Suite *suite = suite_create("select");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, what_may_be_set_is_what_there_is);
    tcase_add_test(tcase, every_table_here_is_found_by_its_name);
    tcase_add_test(tcase, what_is_lacking_is_refused_with_what_there_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
