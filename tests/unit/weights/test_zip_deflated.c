#include "weights/zip.h"

#include "base/file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tests/tools/make_parser_corpus.py had Python's zipfile write. */
static char *read_sample(const char *name, size_t *length)
{
    char path[512], *bytes = NULL;
    struct mt_error err;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/zip/%s", getenv("MT_SOURCE_DIR"), name);
    ck_assert_msg(mt_file_read(path, 1 << 20, &bytes, length, &err) == MT_OK, "%s", err.message);
    return bytes;
}

static enum mt_status unpack_all(const void *bytes, size_t length, struct mt_error *err)
{
    struct mt_zip *zip = NULL;
    enum mt_status status = mt_zip_open_deflated(bytes, length, "a.zip", &zip, err);
    for (size_t i = 0; !status && i < mt_zip_count(zip); i++) {
        const struct mt_zip_entry *entry = mt_zip_at(zip, i);
        ck_assert_uint_le(entry->unpacked_length, 2000 * length);
        char *out = malloc(entry->unpacked_length + 1);
        status = mt_zip_unpack(zip, entry, out, err);
        free(out);
    }
    mt_zip_close(zip);
    return status;
}

START_TEST(unpacks_stored_and_deflated)
{
    static const char *const samples[] = {"stored", "deflated"};
    size_t length;
    char *bytes = read_sample(samples[_i], &length), text[300];
    struct mt_zip *zip = NULL;
    struct mt_error err = {0};
    ck_assert_msg(mt_zip_open_deflated((const void *)bytes, length, "a.zip", &zip, &err) == MT_OK,
                  "%s", err.message);
    const struct mt_zip_entry *entry = mt_zip_find(zip, "text"), *empty = mt_zip_find(zip, "empty");
    ck_assert(entry && empty);
    ck_assert_int_eq(entry->is_deflated, _i);
    ck_assert_uint_eq(entry->unpacked_length, sizeof text);
    ck_assert_msg(mt_zip_unpack(zip, entry, text, &err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof text; i++)
        ck_assert_int_eq(text[i], "abc"[i % 3]);
    ck_assert_uint_eq(empty->unpacked_length, 0);
    ck_assert(mt_zip_unpack(zip, empty, text, &err) == MT_OK);
    mt_zip_close(zip);
    free(bytes);
}
END_TEST

START_TEST(deflated_only_where_it_is_asked_for)
{
    size_t length;
    char *bytes = read_sample("deflated", &length);
    struct mt_zip *zip = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_zip_open((const void *)bytes, length, "a.zip", &zip, &err), MT_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "is compressed (method 8), expected it to be stored"), "%s",
                  err.message);
    free(bytes);
    bytes = read_sample("bzip2", &length);
    ck_assert_int_eq(unpack_all(bytes, length, &err), MT_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "(method 12), expected it to be stored or deflated"), "%s",
                  err.message);
    free(bytes);
}
END_TEST

START_TEST(refuses_every_truncation_and_survives_every_flipped_bit)
{
    size_t length;
    struct mt_error err = {0};
    char *bytes = read_sample("deflated", &length);
    for (size_t n = 0; n < length; n++) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, bytes, n);
        ck_assert_msg(unpack_all(cut, n, &err) != MT_OK, "%zu bytes were taken", n);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        err.message[0] = '\0';
        ck_assert(unpack_all(bytes, length, &err) == MT_OK || err.message[0]);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(bytes);
}
END_TEST

/* The uncompressed size of "text", at both places that say it, is a lie. */
static void say_size(char *bytes, size_t length, uint32_t size)
{
    for (size_t at = 0; at + 46 < length; at++) {
        bool is_local = !memcmp(bytes + at, "PK\3\4", 4),
             is_central = !memcmp(bytes + at, "PK\1\2", 4);
        const char *name = bytes + at + (is_local ? 30 : 46);
        if ((is_local || is_central) && !memcmp(name, "text", 4))
            memcpy(bytes + at + (is_local ? 22 : 24), &size, sizeof size);
    }
}

START_TEST(sizes_that_lie)
{
    static const struct {
        uint32_t size;
        const char *message;
    } cases[] = {
        {299, "does not unpack to the 299 bytes that it says"},
        {301, "does not unpack to the 301 bytes that it says"},
        {0, "does not unpack to the 0 bytes that it says"},
        {100000000, "says that it is longer than it can be"},
    };
    size_t length;
    char *bytes = read_sample("deflated", &length);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_error err = {0};
        say_size(bytes, length, cases[i].size);
        ck_assert_int_eq(unpack_all(bytes, length, &err), MT_FORMAT);
        ck_assert_msg(strstr(err.message, cases[i].message), "%s", err.message);
    }
    free(bytes);
}
END_TEST

Suite *suite_zip_deflated(void)
{
    Suite *suite = suite_create("zip_deflated");
    TCase *tcase = tcase_create("zip_deflated");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, unpacks_stored_and_deflated, 0, 2);
    tcase_add_test(tcase, deflated_only_where_it_is_asked_for);
    tcase_add_test(tcase, refuses_every_truncation_and_survives_every_flipped_bit);
    tcase_add_test(tcase, sizes_that_lie);
    suite_add_tcase(suite, tcase);
    return suite;
}
