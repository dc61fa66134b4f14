#include "server/passages/budget.h"

#include <check.h>

START_TEST(a_budget_is_never_overdrawn)
{
    struct mt_budget budget = {.limit = 10};
    ck_assert(mt_budget_take(&budget, 7));
    ck_assert(!mt_budget_take(&budget, 4));
    ck_assert(mt_budget_take(&budget, 3));
    ck_assert(!mt_budget_take(&budget, 1));
    mt_budget_give_back(&budget, 7);
    ck_assert(!mt_budget_take(&budget, UINT64_MAX));
    ck_assert(mt_budget_take(&budget, 7));
}
END_TEST

Suite *suite_budget(void)
{
    Suite *suite = suite_create("budget");
    TCase *tcase = tcase_create("budget");
    tcase_add_test(tcase, a_budget_is_never_overdrawn);
    suite_add_tcase(suite, tcase);
    return suite;
}
