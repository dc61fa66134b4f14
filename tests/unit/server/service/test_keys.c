#include "server/service/keys.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/test_keys_XXXXXX";

static void write_file(const char *bytes, size_t length, mode_t mode)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static struct mt_keys *read_keys(const char *text)
{
    struct mt_keys *keys = NULL;
    struct mt_error err;
    write_file(text, strlen(text), 0600);
    ck_assert_msg(mt_keys_read(path, &keys, &err) == MT_OK, "%s", err.message);
    return keys;
}

START_TEST(lines_are_keys_and_their_limits)
{
    struct mt_keys *keys =
        read_keys("# who may\n\n"
                  "plain-key-0001\n"
                  "\talice-key-0002  name=alice requests_per_minute=120\tchars_per_day=1000000"
                  " # her own\r\n"
                  "everything-0003 requests_per_hour=1 requests_per_day=2 max_text_chars=3"
                  " max_batch_texts=4 requests_per_minute=0");
    ck_assert_uint_eq(mt_keys_count(keys), 3);
    const struct mt_key *plain = mt_keys_find(keys, "plain-key-0001");
    ck_assert_str_eq(plain->name, "");
    for (size_t i = 0; i < MT_N_RATES; i++)
        ck_assert_int_eq(plain->limits.rates[i], -1);
    ck_assert_int_eq(plain->limits.max_text_chars, -1);
    ck_assert_int_eq(plain->limits.max_batch_texts, -1);
    const struct mt_key *alice = mt_keys_find(keys, "alice-key-0002");
    ck_assert_str_eq(alice->name, "alice");
    ck_assert_int_eq(alice->limits.rates[MT_RATE_MINUTE], 120);
    ck_assert_int_eq(alice->limits.rates[MT_RATE_CHARS], 1000000);
    ck_assert_int_eq(alice->limits.rates[MT_RATE_HOUR], -1);
    const struct mt_key *all = mt_keys_find(keys, "everything-0003");
    ck_assert_int_eq(all->limits.rates[MT_RATE_MINUTE], 0);
    ck_assert_int_eq(all->limits.rates[MT_RATE_HOUR], 1);
    ck_assert_int_eq(all->limits.rates[MT_RATE_DAY], 2);
    ck_assert_int_eq(all->limits.max_text_chars, 3);
    ck_assert_int_eq(all->limits.max_batch_texts, 4);
    ck_assert_uint_ne(alice->id, plain->id);
    mt_keys_destroy(keys);
}
END_TEST

START_TEST(only_the_whole_key_is_the_key)
{
    char longest[MT_MAX_KEY_BYTES + 2], line[2 * MT_MAX_KEY_BYTES];
    memset(longest, 'k', sizeof longest);
    longest[MT_MAX_KEY_BYTES] = '\0';
    snprintf(line, sizeof line, "secret-key-1\n%s\n", longest);
    struct mt_keys *keys = read_keys(line);
    ck_assert_ptr_nonnull(mt_keys_find(keys, "secret-key-1"));
    ck_assert_ptr_nonnull(mt_keys_find(keys, longest));
    static const char *const others[] = {"",
                                         "secret-key-",
                                         "secret-key-11",
                                         "Secret-key-1",
                                         "secret-key-2",
                                         "ecret-key-1",
                                         " secret-key-1",
                                         "#"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_ptr_null(mt_keys_find(keys, others[i]));
    longest[MT_MAX_KEY_BYTES] = 'k';
    longest[MT_MAX_KEY_BYTES + 1] = '\0';
    ck_assert_ptr_null(mt_keys_find(keys, longest));
    longest[MT_MAX_KEY_BYTES - 1] = '\0';
    ck_assert_ptr_null(mt_keys_find(keys, longest));
    mt_keys_destroy(keys);
}
END_TEST

START_TEST(a_key_has_the_same_id_wherever_it_stands)
{
    struct mt_keys *first = read_keys("key-number-one\nkey-number-two\n");
    struct mt_keys *second = read_keys("# new\nkey-number-two name=x\n");
    ck_assert_uint_eq(mt_keys_find(first, "key-number-two")->id,
                      mt_keys_find(second, "key-number-two")->id);
    mt_keys_destroy(first);
    mt_keys_destroy(second);
}
END_TEST

#define SECRET "h1dd3n-s3cret"

static const struct {
    const char *text, *message;
} broken[] = {
    {"shortk\n", "line 1: a key of 6 characters, expected 8 to 128"},
    {"\n\n" SECRET " nam=x\n", "line 3: unknown option"},
    {SECRET " " SECRET "\n", "line 1: expected name=value"},
    {SECRET " requests_per_minute=\n", "requests_per_minute is \"\", expected an integer"},
    {SECRET " requests_per_minute=-1\n", "requests_per_minute is \"-1\""},
    {SECRET " requests_per_minute=1e3\n", "requests_per_minute is \"1e3\""},
    {SECRET " chars_per_day=99999999999999999999\n", "chars_per_day is \""},
    {SECRET " max_text_chars=0\n", "max_text_chars is \"0\", expected an integer from 1"},
    {SECRET " name=\n", "a name of 0 characters"},
    {SECRET "#x\n", "line 1: the key has a '#'"},
    {"h1dd3n-s\xC3\xBC"
     "cret\n",
     "not printable ASCII"},
    {SECRET "\nother-key-77\n" SECRET "\n", "lines 1 and 3: the same key"},
};

START_TEST(what_is_wrong_is_said_with_its_line_and_without_the_key)
{
    struct mt_keys *keys;
    struct mt_error err;
    write_file(broken[_i].text, strlen(broken[_i].text), 0600);
    ck_assert_int_eq(mt_keys_read(path, &keys, &err), MT_INVALID);
    ck_assert_msg(strstr(err.message, broken[_i].message), "%s", err.message);
    ck_assert_ptr_nonnull(strstr(err.message, path));
    ck_assert_ptr_null(strstr(err.message, "h1dd3n"));
    ck_assert_ptr_null(strstr(err.message, "cret"));
}
END_TEST

START_TEST(files_that_are_none_are_refused)
{
    struct mt_keys *keys;
    ck_assert_int_eq(mt_keys_read("/nowhere/keys", &keys, NULL), MT_NOT_FOUND);
    ck_assert_int_eq(mt_keys_read("/tmp", &keys, NULL), MT_IO);
    write_file("key-\0-with-nul\n", 15, 0600);
    ck_assert_int_eq(mt_keys_read(path, &keys, NULL), MT_INVALID);
}
END_TEST

START_TEST(many_keys_are_all_found_and_one_more_is_too_many)
{
    enum { LINE = 20 };
    char *text = malloc((MT_MAX_KEYS + 1) * LINE + 1);
    struct mt_keys *keys;
    struct mt_error err;
    for (size_t i = 0; i <= MT_MAX_KEYS; i++)
        sprintf(text + i * LINE, "key-number-%08zu\n", i);
    write_file(text, MT_MAX_KEYS * LINE, 0600);
    ck_assert_int_eq(mt_keys_read(path, &keys, &err), MT_OK);
    ck_assert_uint_eq(mt_keys_count(keys), MT_MAX_KEYS);
    for (size_t i = 0; i < MT_MAX_KEYS; i += 999) {
        char key[LINE];
        snprintf(key, sizeof key, "key-number-%08zu", i);
        ck_assert_ptr_nonnull(mt_keys_find(keys, key));
    }
    ck_assert_ptr_null(mt_keys_find(keys, "key-number-00010000"));
    mt_keys_destroy(keys);
    write_file(text, (MT_MAX_KEYS + 1) * LINE, 0600);
    ck_assert_int_eq(mt_keys_read(path, &keys, &err), MT_LIMIT);
    free(text);
}
END_TEST

START_TEST(a_file_for_everybody_is_noticed)
{
    struct mt_keys *keys;
    write_file("", 0, 0644);
    ck_assert_int_eq(mt_keys_read(path, &keys, NULL), MT_OK);
    ck_assert(mt_keys_file_is_public(keys));
    ck_assert_uint_eq(mt_keys_count(keys), 0);
    ck_assert_ptr_null(mt_keys_find(keys, "any-key-at-all"));
    mt_keys_destroy(keys);
    write_file("", 0, 0640);
    ck_assert_int_eq(mt_keys_read(path, &keys, NULL), MT_OK);
    ck_assert(!mt_keys_file_is_public(keys));
    mt_keys_destroy(keys);
}
END_TEST

START_TEST(secrets_are_equal_as_a_whole)
{
    ck_assert(mt_secret_equals("abc", "abc"));
    ck_assert(!mt_secret_equals("abc", "abd"));
    ck_assert(!mt_secret_equals("abc", "ab"));
    ck_assert(!mt_secret_equals("abc", "abcabc"));
    ck_assert(!mt_secret_equals("abc", ""));
    ck_assert(!mt_secret_equals("", "a"));
}
END_TEST

static void make_file(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

Suite *suite_keys(void)
{
    Suite *suite = suite_create("keys");
    TCase *tcase = tcase_create("keys");
    tcase_add_unchecked_fixture(tcase, make_file, remove_file);
    tcase_add_test(tcase, lines_are_keys_and_their_limits);
    tcase_add_test(tcase, only_the_whole_key_is_the_key);
    tcase_add_test(tcase, a_key_has_the_same_id_wherever_it_stands);
    tcase_add_loop_test(tcase, what_is_wrong_is_said_with_its_line_and_without_the_key, 0,
                        sizeof broken / sizeof broken[0]);
    tcase_add_test(tcase, files_that_are_none_are_refused);
    tcase_add_test(tcase, many_keys_are_all_found_and_one_more_is_too_many);
    tcase_add_test(tcase, a_file_for_everybody_is_noticed);
    tcase_add_test(tcase, secrets_are_equal_as_a_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}
