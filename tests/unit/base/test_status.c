#include "base/status.h"

#include "base/text.h"

#include <check.h>
#include <string.h>

START_TEST(fail_stores_status_and_message_and_returns_the_status)
{
    struct mt_error err = {0};
    ck_assert_int_eq(mt_fail(&err, MT_LIMIT, "%s: %d, expected %d", "x", 7, 6), MT_LIMIT);
    ck_assert_int_eq(err.status, MT_LIMIT);
    ck_assert_str_eq(err.message, "x: 7, expected 6");
}
END_TEST

START_TEST(nobody_needs_to_want_the_message)
{
    ck_assert_int_eq(mt_fail(NULL, MT_IO, "lost"), MT_IO);
    ck_assert_int_eq(mt_fail_in(NULL, MT_FORMAT, "here"), MT_FORMAT);
    ck_assert_int_eq(mt_fail_memory(NULL, 8, "it"), MT_MEMORY);
}
END_TEST

START_TEST(context_goes_before_the_message)
{
    struct mt_error err;
    mt_fail(&err, MT_FORMAT, "line 3");
    ck_assert_int_eq(mt_fail_in(&err, MT_OK, "config.json"), MT_FORMAT);
    ck_assert_str_eq(err.message, "config.json: line 3");
}
END_TEST

START_TEST(memory_message_names_bytes_and_purpose)
{
    struct mt_error err;
    mt_fail_memory(&err, 4096, "batch");
    ck_assert_int_eq(err.status, MT_MEMORY);
    ck_assert_str_eq(err.message, "out of memory: 4096 bytes for batch");
}
END_TEST

/* Every length around the limit, with characters of every length where the cut falls. */
START_TEST(long_messages_are_cut_between_characters)
{
    static const char *const characters[] = {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    const char *character = characters[_i];
    size_t width = strlen(character);
    for (size_t n_before = 0; n_before < 4; n_before++)
        for (size_t length = MT_ERROR_BYTES - 8; length < MT_ERROR_BYTES + 8; length++) {
            char text[2 * MT_ERROR_BYTES] = {0};
            memset(text, 'x', n_before);
            for (size_t at = n_before; at + width <= length; at += width)
                memcpy(text + at, character, width);
            struct mt_error err;
            mt_fail(&err, MT_INVALID, "%s", text);
            size_t shown = strlen(err.message);
            ck_assert_uint_eq(mt_utf8_valid_prefix(err.message, shown), shown);
            if (strlen(text) < MT_ERROR_BYTES) {
                ck_assert_str_eq(err.message, text);
            } else {
                ck_assert_uint_ge(shown, MT_ERROR_BYTES - 1 - 3);
                ck_assert_str_eq(err.message + shown - 3, "...");
                ck_assert_mem_eq(err.message, text, shown - 3);
            }
        }
}
END_TEST

START_TEST(messages_are_utf8_whatever_they_quote)
{
    struct mt_error err;
    mt_fail(&err, MT_FORMAT, "<%.4s>, expected <%s>", "\xC3\xA4\xE2\x82\xAC", "\xFF");
    ck_assert_str_eq(err.message, "<\xC3\xA4?"
                                  "?>, expected <?>");
}
END_TEST

START_TEST(every_status_has_a_name_of_its_own)
{
    for (int i = MT_OK; i <= MT_MEMORY; i++) {
        ck_assert_str_ne(mt_status_name((enum mt_status)i), "unknown");
        for (int j = MT_OK; j < i; j++)
            ck_assert_str_ne(mt_status_name((enum mt_status)i), mt_status_name((enum mt_status)j));
    }
    ck_assert_str_eq(mt_status_name((enum mt_status)99), "unknown");
}
END_TEST

Suite *suite_status(void)
{
    Suite *suite = suite_create("status");
    TCase *tcase = tcase_create("messages");
    tcase_add_test(tcase, fail_stores_status_and_message_and_returns_the_status);
    tcase_add_test(tcase, nobody_needs_to_want_the_message);
    tcase_add_test(tcase, context_goes_before_the_message);
    tcase_add_test(tcase, memory_message_names_bytes_and_purpose);
    tcase_add_test(tcase, messages_are_utf8_whatever_they_quote);
    tcase_add_loop_test(tcase, long_messages_are_cut_between_characters, 0, 4);
    tcase_add_test(tcase, every_status_has_a_name_of_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}
