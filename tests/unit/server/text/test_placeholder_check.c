#include "server/text/placeholder_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct mt_error err;
static struct mt_tagged_text tagged;

static void report(void *context, const char *bytes, size_t length)
{
    struct mt_text *out = context;
    mt_text_append(out, bytes, length);
    mt_text_append(out, " ", 1);
}

/* What is reported, with a blank behind each. */
static void check_lost(const char *translation, const char *expected)
{
    struct mt_text text = {0}, found = {0};
    mt_text_append_string(&text, translation);
    mt_text_append(&found, "", 0);
    ck_assert_int_eq(mt_placeholder_check(&tagged, &text, report, &found, &err), MT_OK);
    ck_assert_str_eq(found.bytes, expected);
    mt_text_finish(&text);
    mt_text_finish(&found);
}

START_TEST(what_is_not_there_as_often_is_lost)
{
    mt_tagged_init(&tagged);
    mt_tagged_substitute(&tagged, "Tom", "{b}", 3);
    mt_tagged_substitute(&tagged, "Maria", "{a}", 3);
    mt_tagged_point(&tagged, "<img>", 5);
    mt_tagged_open(&tagged, "<b c={x}>", 9); /* a span is none, but may hold one */
    mt_tagged_substitute(&tagged, "Tom", "{b}", 3);
    mt_tagged_close(&tagged, "</b>", 4);
    mt_tagged_substitute(&tagged, "Tom", "{x}", 3);
    mt_tagged_substitute(&tagged, "Tom", "{a}", 3);
    ck_assert_int_eq(mt_tagged_check(&tagged, &err), MT_OK);
    check_lost("{b}{a}<img><b c={x}>{b}</b>{x}{a}", "");
    check_lost("{b}{a}<img><b c={x}>b</b>{x}{a}", "{b} {b} ");
    check_lost("{b}{a}<img><b c={x}>{b}</b>{a}{a}", "{a} {x} {a} ");
    check_lost("", "{b} {a} <img> {b} {x} {a} ");
    mt_tagged_finish(&tagged);
}
END_TEST

/* Searches are counted (meson.build: --wrap). */
static size_t n_searches;
void *__real_memmem(const void *bytes, size_t n, const void *other, size_t n_other);
void *__wrap_memmem(const void *bytes, size_t n, const void *other, size_t n_other);

void *__wrap_memmem(const void *bytes, size_t n, const void *other, size_t n_other)
{
    n_searches++;
    return __real_memmem(bytes, n, other, n_other);
}

START_TEST(what_is_there_often_is_counted_once)
{
    enum { N = 2000 };
    struct mt_text text = {0};
    mt_tagged_init(&tagged);
    for (size_t i = 0; i < N; i++) {
        mt_tagged_substitute(&tagged, "Tom", "%s", 2);
        mt_text_append(&text, "%s ", 3);
    }
    n_searches = 0;
    check_lost(text.bytes, "");
    ck_assert_uint_le(n_searches, 2 * N + 2);
    mt_text_finish(&text);
    mt_tagged_finish(&tagged);
}
END_TEST

Suite *suite_placeholder_check(void)
{
    Suite *suite = suite_create("placeholder_check");
    TCase *tcase = tcase_create("placeholder_check");
    tcase_add_test(tcase, what_is_not_there_as_often_is_lost);
    tcase_add_test(tcase, what_is_there_often_is_counted_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
