#include "weights/ctranslate2.h"

#include "base/file.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tests/tools/export_ctranslate2.py --seeds writes: one model of few numbers in every version
 * and type. */
static const struct {
    const char *name;
    unsigned version, revision;
    enum mt_dtype dtype; /* of the weights */
    float tolerance;     /* half a step of the quantisation; its numbers are at most 1 */
} samples[] = {
    {"v1.bin", 1, 1, MT_F32, 0},        {"v2.bin", 2, 3, MT_F32, 0},
    {"v3.bin", 3, 4, MT_F32, 0},        {"v4.bin", 4, 5, MT_F32, 0},
    {"v5.bin", 5, 6, MT_F32, 0},        {"v6.bin", 6, 7, MT_F32, 0},
    {"float16.bin", 6, 7, MT_F16, 0},   {"bfloat16.bin", 6, 7, MT_BF16, 0},
    {"int16.bin", 6, 7, MT_I16, 5e-4f}, {"int8.bin", 6, 7, MT_I8, 4e-3f},
};
#define N_SAMPLES ((int)(sizeof samples / sizeof *samples))

struct sample {
    char *bytes;
    size_t length;
};

static struct sample read_sample(const char *name)
{
    char path[512];
    struct sample sample;
    struct mt_error err;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/ctranslate2/%s", getenv("MT_SOURCE_DIR"),
             name);
    ck_assert_msg(mt_file_read(path, 1 << 20, &sample.bytes, &sample.length, &err) == MT_OK, "%s",
                  err.message);
    return sample;
}

/* Number n of the tiny model, whose tensors were filled one after the other. */
static float number(size_t n)
{
    return ((float)(n * 37 % 64) - 31) / 32;
}

static void check_rows(const struct mt_ctranslate2 *file, const char *name, size_t n_rows,
                       size_t n_columns, size_t first_row, size_t first_number, float tolerance)
{
    const struct mt_ctranslate2_variable *v = mt_ctranslate2_find(file, name);
    struct mt_error err = {0};
    float numbers[64], copy[64];
    ck_assert_msg(v, "no %s", name);
    ck_assert_uint_eq(v->rank, n_columns > 1 ? 2 : 1);
    ck_assert_uint_eq(v->shape[0], n_rows);
    size_t n = (n_rows - first_row) * n_columns;
    ck_assert_msg(mt_ctranslate2_copy(file, v, first_row, n_rows - first_row, copy, &err) == MT_OK,
                  "%s", err.message);
    if (mt_ctranslate2_copied_dtype(v) == MT_F32)
        memcpy(numbers, copy, n * sizeof *copy);
    else
        mt_widen_f32(v->dtype, copy, n, numbers);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabsf(numbers[i] - number(first_number + i)) <= tolerance,
                      "%s: number %zu is %g, expected %g", name, i, (double)numbers[i],
                      (double)number(first_number + i));
}

START_TEST(reads_every_version_and_type)
{
    struct sample sample = read_sample(samples[_i].name);
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    float tolerance = samples[_i].tolerance;
    ck_assert_msg(mt_ctranslate2_open((const void *)sample.bytes, sample.length, "m.bin", &file,
                                      &err) == MT_OK,
                  "%s", err.message);
    ck_assert_uint_eq(mt_ctranslate2_version(file), samples[_i].version);
    ck_assert_uint_eq(mt_ctranslate2_revision(file), samples[_i].revision);
    ck_assert_str_eq(mt_ctranslate2_spec(file), samples[_i].version > 1 ? "TransformerSpec" : "");
    const struct mt_ctranslate2_variable *table =
        mt_ctranslate2_find(file, "decoder/embeddings/weight");
    const struct mt_ctranslate2_variable *output =
        mt_ctranslate2_find(file, "decoder/projection/weight");
    ck_assert(table && output);
    ck_assert_int_eq(table->dtype, samples[_i].dtype);
    ck_assert_msg((table == output) == (samples[_i].version >= 3), "aliases came with version 3");
    check_rows(file, "decoder/embeddings/weight", 4, 4, 0, 0, tolerance);
    check_rows(file, "decoder/projection/weight", 4, 4, 1, 4, tolerance);
    /* q, k and v in one, of 4 rows each. */
    const char *qkv = "encoder/layer_0/self_attention/linear_0/weight";
    ck_assert_uint_eq(mt_ctranslate2_find(file, qkv)->shape[0], 12);
    check_rows(file, "decoder/projection/bias", 4, 1, 0, 20, 0);
    double pre_norm, layer;
    const char *prefix = samples[_i].revision < 5 ? "" : "encoder/";
    char name[64];
    snprintf(name, sizeof name, "%spre_norm", prefix);
    ck_assert(mt_ctranslate2_scalar(mt_ctranslate2_find(file, name), &pre_norm) && pre_norm == 0);
    snprintf(name, sizeof name, "%salignment_layer", *prefix ? "decoder/" : "");
    ck_assert(mt_ctranslate2_scalar(mt_ctranslate2_find(file, name), &layer) && layer == -1);
    ck_assert(!mt_ctranslate2_scalar(table, &layer));
    ck_assert_ptr_null(mt_ctranslate2_find(file, "absent"));
    ck_assert_ptr_null(mt_ctranslate2_at(file, mt_ctranslate2_count(file)));
    mt_ctranslate2_close(file);
    free(sample.bytes);
}
END_TEST

static enum mt_status copy_all(const struct mt_ctranslate2 *file, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < mt_ctranslate2_count(file) && !status; i++) {
        const struct mt_ctranslate2_variable *v = mt_ctranslate2_at(file, i);
        void *copy = malloc(v->n_elements * sizeof(float));
        status = mt_ctranslate2_copy(file, v, 0, v->rank ? v->shape[0] : 1, copy, err);
        free(copy);
    }
    return status;
}

/* In memory of exactly that size, so that the address sanitizer sees a read behind the end. */
static void try_bytes(const char *bytes, size_t length, bool must_fail)
{
    char *exact = malloc(length ? length : 1);
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    memcpy(exact, bytes, length);
    enum mt_status status = mt_ctranslate2_open((const void *)exact, length, "m.bin", &file, &err);
    if (!status)
        status = copy_all(file, &err);
    ck_assert_msg(!must_fail || status, "%zu bytes were taken", length);
    ck_assert(!status || err.message[0]);
    mt_ctranslate2_close(file);
    free(exact);
}

START_TEST(refuses_every_truncation)
{
    struct sample sample = read_sample(samples[_i].name);
    for (size_t length = 0; length < sample.length; length++)
        try_bytes(sample.bytes, length, true);
    free(sample.bytes);
}
END_TEST

START_TEST(survives_every_flipped_bit)
{
    struct sample sample = read_sample(samples[_i].name);
    for (size_t bit = 0; bit < 8 * sample.length; bit++) {
        sample.bytes[bit / 8] ^= (char)(1 << bit % 8);
        try_bytes(sample.bytes, sample.length, false);
        sample.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(sample.bytes);
}
END_TEST

/* A file of version 6 up to the number of its variables; of version 3; variables; ends. */
#define HEAD "\6\0\0\0\2\0S\0\1\0\0\0"
#define HEAD_3 "\3\0\0\0\2\0S\0\2\0\0\0"
#define N(n) n "\0\0\0"
#define NO_ALIASES N("\0")
#define A_F32 "\2\0a\0\1" N("\1") "\0" N("\4") "\0\0\x80\x3f"
#define A_I8 "\2\0a\0\1" N("\2") "\1" N("\2") "\1\2"
#define FILE(text) text, sizeof text - 1

static const struct {
    const char *bytes;
    size_t length;
    enum mt_status status; /* MT_OK: fine */
    const char *message;
} cases[] = {
    {FILE(HEAD N("\0") NO_ALIASES), MT_OK, ""},
    {FILE(HEAD N("\1") A_F32 NO_ALIASES), MT_OK, ""},
    {FILE(HEAD N("\1") A_F32 N("\1") "\2\0b\0\2\0a\0"), MT_OK, ""},
    {FILE("\2\0\0\0\2\0S\0\2\0\0\0" N("\0")), MT_OK, ""},
    {FILE("\1\0\0\0" N("\0")), MT_FORMAT, "Marian's own .bin files begin so"},
    {FILE(""), MT_FORMAT, "expected 4 bytes at byte 0, found 0"},
    {FILE("\7\0\0\0\2\0S\0\1\0\0\0" N("\0") NO_ALIASES), MT_UNSUPPORTED, "binary version 7"},
    {FILE("\0\0\0\0"), MT_UNSUPPORTED, "binary version 0"},
    {FILE("PK\3\4"), MT_UNSUPPORTED, "not a model.bin of CTranslate2"},
    {FILE("\6\0\0\0\0\0\1\0\0\0"), MT_FORMAT, "does not end where it should"},
    {FILE("\6\0\0\0\2\0SS\1\0\0\0"), MT_FORMAT, "does not end where it should"},
    {FILE("\6\0\0\0\3\0\0S\0\1\0\0\0"), MT_FORMAT, "does not end where it should"},
    {FILE("\6\0\0\0\2\0\n\0\1\0\0\0"), MT_FORMAT, "not text"},
    {FILE("\6\0\0\0\2\0\xff\0\1\0\0\0"), MT_FORMAT, "not text"},
    {FILE("\6\0\0\0\xff\xff"), MT_LIMIT, "a name of 65535 bytes"},
    {FILE(HEAD "\xff\xff\xff\xff"), MT_LIMIT, "4294967295 variables"},
    {FILE(HEAD "\0\x40\0\0"), MT_FORMAT, "shorter than its variables"},
    {FILE(HEAD N("\1") A_F32), MT_FORMAT, "expected 4 bytes"},
    {FILE(HEAD N("\1") A_F32 NO_ALIASES "\0"), MT_FORMAT, "1 bytes behind its end"},
    {FILE(HEAD N("\2") A_F32 A_F32 NO_ALIASES), MT_FORMAT, "two variables \"a\""},
    {FILE(HEAD N("\1") A_F32 N("\1") "\2\0a\0\2\0a\0"), MT_FORMAT, "two variables \"a\""},
    {FILE(HEAD N("\1") A_F32 N("\1") "\2\0b\0\2\0c\0"), MT_FORMAT, "another name of \"c\""},
    {FILE(HEAD N("\1") A_F32 N("\2") "\2\0b\0\2\0a\0\2\0c\0\2\0b\0"), MT_FORMAT,
     "another name of \"b\""},
    {FILE(HEAD N("\1") A_F32 "\xff\xff\xff\xff"), MT_LIMIT, "4294967295 aliases"},
    {FILE(HEAD N("\1") "\2\0a\0\5"
                       "12345678"),
     MT_LIMIT, "5 dimensions"},
    {FILE(HEAD N("\1") "\2\0a\0\1" N("\0") "\0" N("\0") NO_ALIASES), MT_FORMAT, "sizes are 0"},
    {FILE(HEAD N("\1") "\2\0a\0\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), MT_FORMAT,
     "sizes overflow"},
    {FILE(HEAD N("\1") "\2\0a\0\2\xff\xff\xff\xff\xff\xff\xff\xff\0" N("\4")), MT_FORMAT,
     "says 4 bytes"},
    {FILE(HEAD N("\1") "\2\0a\0\1" N("\1") "\0" N("\2") "\0\0" NO_ALIASES), MT_FORMAT,
     "says 2 bytes, its sizes 4"},
    {FILE(HEAD N("\1") "\2\0a\0\1\xff\xff\xff\x0f\1\xff\xff\xff\x0f"), MT_FORMAT,
     "expected 268435455 bytes"},
    {FILE(HEAD N("\1") "\2\0a\0\1" N("\1") "\6" N("\4") "1234" NO_ALIASES), MT_UNSUPPORTED,
     "of type 6"},
    {FILE(HEAD_3 N("\1") "\2\0a\0\1" N("\1") "\x08" N("\1") "12345678" NO_ALIASES), MT_UNSUPPORTED,
     "numbers of 8 bytes"},
    {FILE(HEAD_3 N("\1") "\2\0a\0\1" N("\1") "\4" N("\2") "12345678" NO_ALIASES), MT_FORMAT,
     "says 2 numbers, its sizes 1"},
    {FILE(HEAD N("\1") A_I8 NO_ALIASES), MT_FORMAT, "expected \"a_scale\", found none"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\0\0" N("\4") "\0\0\0\0" NO_ALIASES), MT_FORMAT,
     "\"a_scale\": expected positive numbers, found 0"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\0\0" N("\4") "\0\0\xc0\x7f" NO_ALIASES), MT_FORMAT,
     "\"a_scale\": expected positive numbers"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\0\0" N("\4") "\0\0\x80\xbf" NO_ALIASES), MT_FORMAT,
     "\"a_scale\": expected positive numbers, found -1"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\1" N("\3") "\0" N("\x0c") "123412341234" NO_ALIASES),
     MT_FORMAT, "expected one scale or 2 in F32, found 3"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\0\1" N("\1") "\1" NO_ALIASES), MT_FORMAT,
     "found 1 in I8"},
    {FILE(HEAD N("\2") A_I8 "\x08\0a_scale\0\0\0" N("\4") "\0\0\0\x40" NO_ALIASES), MT_OK, ""},
};

START_TEST(refuses_by_name)
{
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    enum mt_status status =
        mt_ctranslate2_open((const void *)cases[_i].bytes, cases[_i].length, "m.bin", &file, &err);
    if (!status)
        status = copy_all(file, &err);
    ck_assert_msg(status == cases[_i].status, "%d: %s", status, err.message);
    ck_assert_msg(!status ||
                      (strstr(err.message, cases[_i].message) && strstr(err.message, "m.bin")),
                  "%s", err.message);
    mt_ctranslate2_close(file);
}
END_TEST

/* Files of before scales were saved: 1000 for all. */
START_TEST(int16_without_scale)
{
    static const char bytes[] =
        HEAD_3 N("\1") "\2\0a\0\1" N("\2") "\2" N("\2") "\xe8\x03\x0c\xfe" NO_ALIASES;
    struct mt_ctranslate2 *file = NULL;
    struct mt_error err = {0};
    float numbers[2];
    ck_assert(mt_ctranslate2_open((const void *)bytes, sizeof bytes - 1, "m", &file, &err) ==
              MT_OK);
    ck_assert(mt_ctranslate2_copy(file, mt_ctranslate2_at(file, 0), 0, 2, numbers, &err) == MT_OK);
    ck_assert(numbers[0] == 1 && numbers[1] == -0.5f);
    mt_ctranslate2_close(file);
}
END_TEST

Suite *suite_ctranslate2(void)
{
    Suite *suite = suite_create("ctranslate2");
    TCase *tcase = tcase_create("ctranslate2");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, reads_every_version_and_type, 0, N_SAMPLES);
    tcase_add_loop_test(tcase, refuses_every_truncation, 0, N_SAMPLES);
    tcase_add_loop_test(tcase, survives_every_flipped_bit, 0, N_SAMPLES);
    tcase_add_loop_test(tcase, refuses_by_name, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, int16_without_scale);
    suite_add_tcase(suite, tcase);
    return suite;
}
