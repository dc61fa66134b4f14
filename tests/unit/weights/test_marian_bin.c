/* The files are numpy's numbers in Marian's form: tests/tools/make_marian_corpus.py. */
#include "base/file.h"
#include "weights/marian_bin.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS 16
#define HEADER_BYTES 32
#define N_ITEMS 7

static char *bytes;
static size_t length;

static void read_bin(const char *name)
{
    char path[1024];
    struct mt_error err;
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/marian_bin/%s", root ? root : ".", name);
    ck_assert_msg(mt_file_read(path, 1 << 20, &bytes, &length, &err) == MT_OK, "%s", err.message);
}

static enum mt_status open_bin(size_t n, struct mt_marian_bin **bin, struct mt_error *err)
{
    return mt_marian_bin_open((const unsigned char *)bytes, n, "model.bin", bin, err);
}

static struct mt_marian_bin *open_sound(const char *name)
{
    struct mt_marian_bin *bin = NULL;
    struct mt_error err = {0};
    read_bin(name);
    ck_assert_msg(open_bin(length, &bin, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(mt_marian_bin_count(bin), N_ITEMS);
    return bin;
}

START_TEST(gives_floats_as_they_are_declared)
{
    struct mt_marian_bin *bin = open_sound("float");
    const struct mt_marian_item *table = mt_marian_bin_find(bin, "Wemb");
    ck_assert_ptr_nonnull(table);
    ck_assert_int_eq(table->dtype, MT_F32);
    ck_assert(!table->is_quantized && !table->is_transposed);
    ck_assert_uint_eq(table->rank, 2);
    ck_assert_uint_eq(table->shape[0], 3);
    ck_assert_uint_eq(table->shape[1], 4);
    for (size_t i = 0; i < 12; i++) {
        float number;
        memcpy(&number, table->data + 4 * i, sizeof number);
        ck_assert_float_eq(number, (float)i);
    }
    ck_assert_int_eq(mt_marian_bin_find(bin, "half")->dtype, MT_F16);
    ck_assert_int_eq(mt_marian_bin_find(bin, "ids")->dtype, MT_I32);
    ck_assert_uint_eq(mt_marian_bin_find(bin, "empty")->n_bytes, 0);
    ck_assert_ptr_null(mt_marian_bin_find(bin, "Wem"));
    ck_assert_ptr_null(mt_marian_bin_at(bin, N_ITEMS));
    const struct mt_marian_item *text = mt_marian_bin_find(bin, "special:model.yml");
    ck_assert_str_eq((const char *)text->data, "type: \"transformer\"\n");
    mt_marian_bin_close(bin);
    free(bytes);
}
END_TEST

/* [[1, -2, 3], [-4, 5, 127]], the largest 127: each number is its own quantum, and columns lie one
 * after the other. A table's rows do. */
START_TEST(says_how_quantised_ones_lie)
{
    static const signed char transposed[] = {1, -4, -2, 5, 3, 127};
    struct mt_marian_bin *bin = open_sound("intgemm8");
    const struct mt_marian_item *matrix = mt_marian_bin_find(bin, "encoder_l1_ffn_W1");
    ck_assert(matrix->is_quantized && matrix->is_transposed);
    ck_assert_int_eq(matrix->dtype, MT_I8);
    ck_assert_uint_eq(matrix->shape[0], 2);
    ck_assert_uint_eq(matrix->shape[1], 3);
    ck_assert_float_eq(matrix->scale, 1.0f);
    ck_assert_mem_eq(matrix->data, transposed, sizeof transposed);
    const struct mt_marian_item *table = mt_marian_bin_find(bin, "Wemb");
    ck_assert(table->is_quantized && !table->is_transposed);
    ck_assert_float_eq_tol(table->scale, 11.0f / 127.0f, 1e-8f);
    ck_assert_int_eq((signed char)table->data[11], 127);
    ck_assert_int_eq((signed char)table->data[1], 12); /* 127 / 11 = 11.5454... */
    mt_marian_bin_close(bin);
    free(bytes);
}
END_TEST

/* A number of one header, or of the file's beginning, that says something else. */
static const struct {
    size_t at;
    unsigned long long value;
    enum mt_status status;
    const char *message;
} lies[] = {
    {0, 2, MT_UNSUPPORTED, "expected version 1, found 2"},
    {8, 8, MT_FORMAT, ""},
    {8, 6, MT_FORMAT, ""},
    {8, 65536, MT_FORMAT, "headers of 65536 items"},
    {8, ~0ull, MT_LIMIT, "expected at most 65536 items"},
    {HEADERS, 1, MT_FORMAT, "a name: expected 2 to 256 bytes with its NUL, found 1"},
    {HEADERS, 4, MT_FORMAT, "expected one NUL, at its end, found none"},
    {HEADERS, 10, MT_FORMAT, "expected one NUL, at its end, found one before"},
    {HEADERS, ~0ull, MT_FORMAT, "a name: expected 2 to 256 bytes"},
    {HEADERS + 8, 0x4102, MT_UNSUPPORTED, "\"Wemb\": expected type .* found 0x4102 (intgemm16)"},
    {HEADERS + 8, 0x408, MT_UNSUPPORTED, "found 0x408"},
    {HEADERS + 16, 9, MT_LIMIT, "\"Wemb\": expected at most 8 dimensions, found 9"},
    {HEADERS + 16, ~0ull, MT_LIMIT, "at most 8 dimensions"},
    {HEADERS + 24, 47, MT_FORMAT, "its 12 numbers need more than the 47 bytes"},
    {HEADERS + 24, 257, MT_FORMAT, ""},
    {HEADERS + 24, ~0ull, MT_FORMAT, "data of Wemb: expected 18446744073709551615 bytes"},
};

/* "a .* b" in its two parts. */
static bool says(const char *message, const char *expected)
{
    const char *gap = strstr(expected, " .* ");
    if (!gap)
        return strstr(message, expected);
    char begin[128];
    snprintf(begin, sizeof begin, "%.*s", (int)(gap - expected), expected);
    return strstr(message, begin) && strstr(message, gap + 4);
}

START_TEST(refuses_lies_by_name)
{
    struct mt_marian_bin *bin = NULL;
    struct mt_error err = {0};
    read_bin("float");
    for (size_t i = 0; i < 8; i++)
        bytes[lies[_i].at + i] = (char)(lies[_i].value >> 8 * i);
    ck_assert_int_eq(open_bin(length, &bin, &err), lies[_i].status);
    ck_assert_msg(says(err.message, lies[_i].message), "%s", err.message);
    ck_assert_msg(strncmp(err.message, "model.bin: ", 11) == 0, "%s", err.message);
    ck_assert_ptr_null(bin);
    free(bytes);
}
END_TEST

START_TEST(refuses_an_empty_file)
{
    struct mt_marian_bin *bin = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_marian_bin_open(NULL, 0, "model.bin", &bin, &err), MT_FORMAT);
    ck_assert_str_eq(err.message,
                     "model.bin: a binary model of Marian's: expected 16 bytes, found 0");
    ck_assert_ptr_null(bin);
}
END_TEST

START_TEST(refuses_a_name_that_is_there_twice)
{
    struct mt_marian_bin *bin = NULL;
    struct mt_error err = {0};
    read_bin("float");
    char *name = memmem(bytes, length, "half", 5);
    memcpy(name, "Wemb", 5);
    ck_assert_int_eq(open_bin(length, &bin, &err), MT_FORMAT);
    ck_assert_str_eq(err.message, "model.bin: item \"Wemb\" is there twice");
    free(bytes);
}
END_TEST

START_TEST(refuses_a_scale_that_is_none)
{
    static const float wrong[] = {0.0f, -1.0f, INFINITY, 3e38f};
    struct mt_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mt_marian_bin *bin = open_sound("intgemm8"), *broken = NULL;
        const struct mt_marian_item *table = mt_marian_bin_find(bin, "Wemb");
        memcpy(bytes + (table->data - (unsigned char *)bytes) + 12, &wrong[i], sizeof *wrong);
        ck_assert_int_eq(open_bin(length, &broken, &err), MT_FORMAT);
        ck_assert_msg(says(err.message, "\"Wemb\": expected a positive number behind its 12"), "%s",
                      err.message);
        mt_marian_bin_close(bin);
        free(bytes);
    }
}
END_TEST

/* Whatever becomes of a byte, items stay inside the file, or nothing is given. */
START_TEST(no_damage_leads_outside)
{
    struct mt_error err;
    size_t n_refused = 0;
    read_bin("intgemm8");
    for (size_t bit = 0; bit < 8 * length; bit++) {
        struct mt_marian_bin *bin;
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (open_bin(length, &bin, &err)) {
            n_refused++;
        } else {
            for (size_t i = 0; i < mt_marian_bin_count(bin); i++) {
                const struct mt_marian_item *a = mt_marian_bin_at(bin, i);
                size_t at = (size_t)(a->data - (const unsigned char *)bytes);
                ck_assert(at <= length && a->n_bytes <= length - at);
            }
            mt_marian_bin_close(bin);
        }
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < length; cut++) {
        struct mt_marian_bin *bin;
        ck_assert_msg(open_bin(cut, &bin, &err) != MT_OK, "cut to %zu", cut);
    }
    ck_assert_uint_gt(n_refused, N_ITEMS * HEADER_BYTES * 8 / 2);
    free(bytes);
}
END_TEST

Suite *suite_marian_bin(void)
{
    Suite *suite = suite_create("marian_bin");
    TCase *tcase = tcase_create("files");
    tcase_add_test(tcase, gives_floats_as_they_are_declared);
    tcase_add_test(tcase, says_how_quantised_ones_lie);
    tcase_add_loop_test(tcase, refuses_lies_by_name, 0, sizeof lies / sizeof *lies);
    tcase_add_test(tcase, refuses_an_empty_file);
    tcase_add_test(tcase, refuses_a_name_that_is_there_twice);
    tcase_add_test(tcase, refuses_a_scale_that_is_none);
    tcase_add_test(tcase, no_damage_leads_outside);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite;
}
