#include "base/vector.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct list {
    int *items;
    size_t n, capacity;
};

START_TEST(items_added_one_by_one_stay)
{
    struct list list = {0};
    size_t n_growths = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = list.capacity;
        ck_assert_int_eq(MT_ROOM(&list.items, &list.capacity, list.n + 1, "numbers", NULL), MT_OK);
        ck_assert_uint_gt(list.capacity, list.n);
        n_growths += list.capacity != before;
        list.items[list.n++] = i;
    }
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(list.items[i], i);
    ck_assert_uint_le(n_growths, 12);
    free(list.items);
}
END_TEST

START_TEST(room_for_many_is_made_at_once)
{
    struct list list = {0};
    ck_assert_int_eq(MT_ROOM(&list.items, &list.capacity, list.n, "numbers", NULL), MT_OK);
    ck_assert_ptr_null(list.items);
    ck_assert_int_eq(MT_ROOM(&list.items, &list.capacity, 12345, "numbers", NULL), MT_OK);
    ck_assert_uint_ge(list.capacity, 12345);
    free(list.items);
}
END_TEST

/* Items larger than what the first growth has room for. */
START_TEST(large_items_fit)
{
    struct {
        char bytes[1000];
    } *items = NULL;
    size_t capacity = 0;
    ck_assert_int_eq(MT_ROOM(&items, &capacity, 1, "blocks", NULL), MT_OK);
    ck_assert_uint_eq(capacity, 1);
    free(items);
}
END_TEST

START_TEST(what_does_not_fit_leaves_all_as_it_was)
{
    struct list list = {0};
    struct mt_error err = {0};
    ck_assert_int_eq(MT_ROOM(&list.items, &list.capacity, 1, "numbers", &err), MT_OK);
    list.items[list.n++] = 7;
    struct list before = list;
    const size_t sizes[] = {SIZE_MAX / 2, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ck_assert_int_eq(MT_ROOM(&list.items, &list.capacity, sizes[i], "numbers", &err),
                         MT_MEMORY);
        ck_assert_ptr_nonnull(strstr(err.message, "numbers"));
        ck_assert_ptr_eq(list.items, before.items);
        ck_assert_uint_eq(list.capacity, before.capacity);
        ck_assert_int_eq(list.items[0], 7);
    }
    free(list.items);
}
END_TEST

Suite *suite_vector(void)
{
    Suite *suite = suite_create("vector");
    TCase *tcase = tcase_create("vector");
    tcase_add_test(tcase, items_added_one_by_one_stay);
    tcase_add_test(tcase, room_for_many_is_made_at_once);
    tcase_add_test(tcase, large_items_fit);
    tcase_add_test(tcase, what_does_not_fit_leaves_all_as_it_was);
    suite_add_tcase(suite, tcase);
    return suite;
}
