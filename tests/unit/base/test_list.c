#include "base/list.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#define MAX_ITEMS 8

struct item {
    char name;
    struct item *next, *previous;
    struct item *later, *sooner;
};

struct list {
    struct item *first, *last;
};

static struct item items[MAX_ITEMS];

static void set_up(void)
{
    for (int i = 0; i < MAX_ITEMS; i++)
        items[i] = (struct item){.name = (char)('a' + i)};
}

/* The names, forwards; backwards they must be the same. */
static void check_names(const struct list *list, const char *expected)
{
    char names[MAX_ITEMS + 1] = "";
    size_t n = 0;
    const struct item *last = NULL;
    for (const struct item *item = list->first; item; last = item, item = item->next) {
        ck_assert_ptr_eq(item->previous, last);
        ck_assert_uint_lt(n, MAX_ITEMS);
        names[n++] = item->name;
    }
    ck_assert_ptr_eq(list->last, last);
    ck_assert_str_eq(names, expected);
}

static void check_is_out(const struct item *item)
{
    ck_assert_ptr_null(item->next);
    ck_assert_ptr_null(item->previous);
}

START_TEST(items_are_put_at_both_ends_and_behind_others)
{
    struct list list = {0};
    check_names(&list, "");
    MT_LIST_APPEND(&list, &items[2]);
    check_names(&list, "c");
    MT_LIST_APPEND(&list, &items[4]);
    check_names(&list, "ce");
    MT_LIST_PREPEND(&list, &items[0]);
    check_names(&list, "ace");
    MT_LIST_INSERT(&list, &items[1], &items[0]);
    MT_LIST_INSERT(&list, &items[3], &items[2]);
    MT_LIST_INSERT(&list, &items[5], &items[4]);
    check_names(&list, "abcdef");
}
END_TEST

START_TEST(items_are_taken_out_wherever_they_are)
{
    struct list list = {0};
    for (size_t i = 0; i < 4; i++)
        MT_LIST_APPEND(&list, &items[i]);
    MT_LIST_REMOVE(&list, &items[1]);
    check_names(&list, "acd");
    check_is_out(&items[1]);
    MT_LIST_REMOVE(&list, &items[0]);
    check_names(&list, "cd");
    MT_LIST_REMOVE(&list, &items[3]);
    check_names(&list, "c");
    MT_LIST_REMOVE(&list, &items[2]);
    check_names(&list, "");
    check_is_out(&items[2]);
    MT_LIST_PREPEND(&list, &items[2]);
    check_names(&list, "c");
}
END_TEST

/* Against an array that is moved about. */
START_TEST(any_order_of_operations_is_right)
{
    struct list list = {0};
    char names[MAX_ITEMS + 1] = "";
    uint32_t dice = 1;
    for (int turn = 0; turn < 20000; turn++) {
        dice = dice * 1664525 + 1013904223;
        struct item *item = &items[(dice >> 8) % MAX_ITEMS];
        char *at = strchr(names, item->name);
        size_t n = strlen(names);
        if (at) {
            MT_LIST_REMOVE(&list, item);
            memmove(at, at + 1, strlen(at));
        } else {
            size_t place = (dice >> 16) % (n + 1);
            MT_LIST_INSERT(&list, item, place ? &items[names[place - 1] - 'a'] : NULL);
            memmove(names + place + 1, names + place, n - place + 1);
            names[place] = item->name;
        }
        check_names(&list, names);
    }
}
END_TEST

START_TEST(an_item_with_other_links_is_in_two_lists)
{
    struct list list = {0}, deadlines = {0};
    for (size_t i = 0; i < 3; i++) {
        MT_LIST_APPEND(&list, &items[i]);
        MT_LIST_INSERT_BY(&deadlines, &items[i], NULL, later, sooner);
    }
    ck_assert_ptr_eq(deadlines.first, &items[2]);
    ck_assert_ptr_eq(deadlines.last, &items[0]);
    MT_LIST_REMOVE_BY(&deadlines, &items[1], later, sooner);
    ck_assert_ptr_eq(items[2].later, &items[0]);
    ck_assert_ptr_eq(items[0].sooner, &items[2]);
    check_names(&list, "abc");
    MT_LIST_REMOVE(&list, &items[1]);
    check_names(&list, "ac");
}
END_TEST

START_TEST(arguments_are_evaluated_once)
{
    struct list lists[2] = {0}, *list = lists;
    struct item *item = items;
    MT_LIST_APPEND(list++, item++);
    ck_assert_ptr_eq(list, &lists[1]);
    ck_assert_ptr_eq(item, &items[1]);
    list = lists;
    item = items;
    MT_LIST_REMOVE(list++, item++);
    ck_assert_ptr_eq(list, &lists[1]);
    ck_assert_ptr_eq(item, &items[1]);
    check_names(&lists[0], "");
}
END_TEST

Suite *suite_list(void)
{
    Suite *suite = suite_create("list");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, items_are_put_at_both_ends_and_behind_others);
    tcase_add_test(tcase, items_are_taken_out_wherever_they_are);
    tcase_add_test(tcase, any_order_of_operations_is_right);
    tcase_add_test(tcase, an_item_with_other_links_is_in_two_lists);
    tcase_add_test(tcase, arguments_are_evaluated_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
