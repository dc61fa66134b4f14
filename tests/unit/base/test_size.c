#include "base/size.h"

#include <check.h>

static const struct {
    size_t a, b;
    bool fits;
    size_t result;
} sums[] = {
    {0, 0, true, 0},
    {1, 2, true, 3},
    {SIZE_MAX, 0, true, SIZE_MAX},
    {SIZE_MAX - 1, 1, true, SIZE_MAX},
    {SIZE_MAX, 1, false, 0},
    {1, SIZE_MAX, false, 0},
    {SIZE_MAX, SIZE_MAX, false, 0},
};

static const struct {
    size_t a, b;
    bool fits;
    size_t result;
} products[] = {
    {0, 0, true, 0},
    {0, SIZE_MAX, true, 0},
    {SIZE_MAX, 1, true, SIZE_MAX},
    {6, 7, true, 42},
    {(size_t)1 << 32, ((size_t)1 << 32) - 1, true, 0xFFFFFFFF00000000u},
    {(size_t)1 << 32, (size_t)1 << 32, false, 0},
    {SIZE_MAX, 2, false, 0},
    {3, SIZE_MAX / 2, false, 0},
};

START_TEST(sums_fit_or_leave_the_result_alone)
{
    size_t result = 99;
    ck_assert(mt_size_add(sums[_i].a, sums[_i].b, &result) == sums[_i].fits);
    ck_assert_uint_eq(result, sums[_i].fits ? sums[_i].result : 99);
}
END_TEST

START_TEST(products_fit_or_leave_the_result_alone)
{
    size_t result = 99;
    ck_assert(mt_size_mul(products[_i].a, products[_i].b, &result) == products[_i].fits);
    ck_assert_uint_eq(result, products[_i].fits ? products[_i].result : 99);
}
END_TEST

START_TEST(smaller_larger_and_rounded)
{
    ck_assert_uint_eq(mt_size_min(3, 4), 3);
    ck_assert_uint_eq(mt_size_min(4, 3), 3);
    ck_assert_uint_eq(mt_size_max(3, 4), 4);
    ck_assert_uint_eq(mt_size_max(4, 3), 4);
    ck_assert_uint_eq(mt_size_round_up(0, 64), 0);
    ck_assert_uint_eq(mt_size_round_up(1, 64), 64);
    ck_assert_uint_eq(mt_size_round_up(64, 64), 64);
    ck_assert_uint_eq(mt_size_round_up(65, 64), 128);
    ck_assert_uint_eq(mt_size_round_up(7, 1), 7);
}
END_TEST

Suite *suite_size(void)
{
    Suite *suite = suite_create("size");
    TCase *tcase = tcase_create("arithmetic");
    tcase_add_loop_test(tcase, sums_fit_or_leave_the_result_alone, 0, sizeof sums / sizeof *sums);
    tcase_add_loop_test(tcase, products_fit_or_leave_the_result_alone, 0,
                        sizeof products / sizeof *products);
    tcase_add_test(tcase, smaller_larger_and_rounded);
    suite_add_tcase(suite, tcase);
    return suite;
}
