#include "weights/torch.h"

#include "base/file.h"
#include "weights/safetensors.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tests/tools/make_checkpoints.py had torch write. */
static const char *const samples[] = {"zip.bin", "legacy.bin"};

struct sample {
    char *bytes;
    size_t length;
};

static struct sample read_sample(const char *name)
{
    char path[512];
    struct sample sample;
    struct mt_error err;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/torch/%s", getenv("MT_SOURCE_DIR"), name);
    ck_assert_msg(mt_file_read(path, 1 << 20, &sample.bytes, &sample.length, &err) == MT_OK, "%s",
                  err.message);
    return sample;
}

/* The checkpoint as a safetensors file; NULL, and err, where it is refused. */
static struct mt_safetensors *convert(const void *bytes, size_t length, struct mt_image **image,
                                      struct mt_error *err)
{
    struct mt_safetensors *file = NULL;
    *image = NULL;
    if (mt_torch_read(bytes, length, "m.bin", image, err)) {
        ck_assert_ptr_null(*image);
        return NULL;
    }
    size_t n;
    const void *made = mt_image_bytes(*image, &n);
    ck_assert_msg(mt_safetensors_open_memory(made, n, "m", &file, err) == MT_OK, "%s",
                  err->message);
    return file;
}

static void check_f32(const struct mt_safetensors *file, const char *name, size_t rank,
                      const size_t *shape, const float *expected)
{
    const struct mt_tensor *tensor = mt_safetensors_find(file, name);
    ck_assert_msg(tensor, "no tensor %s", name);
    ck_assert_int_eq(tensor->dtype, MT_F32);
    ck_assert_uint_eq(tensor->rank, rank);
    for (size_t i = 0; i < rank; i++)
        ck_assert_uint_eq(tensor->shape[i], shape[i]);
    ck_assert_msg(!memcmp(tensor->data, expected, tensor->n_bytes), "%s", name);
}

START_TEST(reads_what_torch_wrote)
{
    struct sample sample = read_sample(samples[_i]);
    struct mt_image *image;
    struct mt_error err = {0};
    struct mt_safetensors *file = convert(sample.bytes, sample.length, &image, &err);
    ck_assert_msg(file, "%s", err.message);
    ck_assert_uint_eq(mt_safetensors_count(file), 8); /* "tied" is "plain" once more */
    float plain[24], transposed[24], slice[6];
    for (size_t i = 0; i < 24; i++)
        plain[i] = (float)i;
    for (size_t i = 0; i < 24; i++)
        transposed[i] = plain[i % 4 * 6 + i / 4];
    for (size_t i = 0; i < 6; i++)
        slice[i] = plain[(1 + i / 3) * 6 + 2 + i % 3];
    check_f32(file, "plain", 2, (size_t[]){4, 6}, plain);
    check_f32(file, "transposed", 2, (size_t[]){6, 4}, transposed);
    check_f32(file, "slice", 2, (size_t[]){2, 3}, slice);
    check_f32(file, "parameter", 2, (size_t[]){1, 1}, (float[]){7});
    check_f32(file, "empty", 2, (size_t[]){0, 3}, plain);
    float wide[3];
    const struct mt_tensor *half = mt_safetensors_find(file, "half");
    const struct mt_tensor *bfloat16 = mt_safetensors_find(file, "bfloat16");
    ck_assert(half && half->dtype == MT_F16 && bfloat16 && bfloat16->dtype == MT_BF16);
    mt_widen_f32(MT_F16, half->data, 3, wide);
    ck_assert(wide[0] == 1.5f && wide[1] == -2 && wide[2] == 65504);
    mt_widen_f32(MT_BF16, bfloat16->data, 2, wide);
    ck_assert(wide[0] == 1.5f && wide[1] == -3);
    const struct mt_tensor *scalar = mt_safetensors_find(file, "scalar");
    int64_t four;
    ck_assert(scalar && scalar->dtype == MT_I64 && scalar->rank == 0);
    memcpy(&four, scalar->data, sizeof four);
    ck_assert_int_eq(four, -4);
    mt_safetensors_close(file);
    mt_image_destroy(image);
    free(sample.bytes);
}
END_TEST

/* In memory of exactly that size, so that the address sanitizer sees a read behind the end. */
static void try_bytes(const char *bytes, size_t length, bool must_fail)
{
    char *copy = malloc(length ? length : 1);
    struct mt_image *image;
    struct mt_error err = {0};
    memcpy(copy, bytes, length);
    struct mt_safetensors *file = convert(copy, length, &image, &err);
    ck_assert_msg(!must_fail || !file, "%zu bytes were taken", length);
    ck_assert(file || err.message[0]);
    mt_safetensors_close(file);
    mt_image_destroy(image);
    free(copy);
}

START_TEST(refuses_every_truncation)
{
    struct sample sample = read_sample(samples[_i]);
    for (size_t length = 0; length < sample.length; length++)
        try_bytes(sample.bytes, length, true);
    free(sample.bytes);
}
END_TEST

START_TEST(survives_every_flipped_bit)
{
    struct sample sample = read_sample(samples[_i]);
    for (size_t bit = 0; bit < 8 * sample.length; bit++) {
        sample.bytes[bit / 8] ^= (char)(1 << bit % 8);
        try_bytes(sample.bytes, sample.length, false);
        sample.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(sample.bytes);
}
END_TEST

/* The old container's head, one pickle in place of the checkpoint, and no storages. */
#define MAGIC "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
#define HEAD                   \
    MAGIC "\x80\x02M\xe9\x03." \
          "\x80\x02}X\x0d\0\0\0little_endian\x88s."
#define NO_STORAGES "\x80\x02]."
#define LEGACY(pickle) \
    HEAD "\x80\x02" pickle NO_STORAGES, sizeof HEAD "\x80\x02" pickle NO_STORAGES - 1

static const struct {
    const char *bytes;
    size_t length;
    enum mt_status status;
    const char *message;
} hostile[] = {
    {LEGACY("cos\nsystem\nX\x02\0\0\0id\x85R."), MT_UNSUPPORTED, "wants to use \"os.system\""},
    {LEGACY("c__builtin__\neval\n."), MT_UNSUPPORTED, "\"__builtin__.eval\""},
    {LEGACY("ctorch\nload\n."), MT_UNSUPPORTED, "\"torch.load\""},
    {LEGACY("(cos\nsystem\no."), MT_UNSUPPORTED, "\"os.system\""},
    {LEGACY("(ios\nsystem\n."), MT_UNSUPPORTED, "opcode 0x69"},
    {LEGACY("\x93."), MT_UNSUPPORTED, "opcode 0x93"},
    {LEGACY("\x82\x01."), MT_UNSUPPORTED, "opcode 0x82"},
    {LEGACY("\x8a\xff."), MT_LIMIT, "an integer of 255 bytes"},
    {LEGACY("X\xff\xff\xff\x7f."), MT_FORMAT, "ends in the middle of a value"},
    {LEGACY("X\xff\xff\xff\xff."), MT_FORMAT, "ends in the middle of a value"},
    {LEGACY("}r\xff\xff\xff\xff."), MT_LIMIT, "memo 4294967295"},
    {LEGACY("h\x05."), MT_FORMAT, "nothing was remembered"},
    {LEGACY("u."), MT_FORMAT, "no mark"},
    {LEGACY("}(K\x01u."), MT_FORMAT, "a key without a value"},
    {LEGACY("]K\x01K\x02s."), MT_FORMAT, "expected a dict"},
    {LEGACY("R."), MT_FORMAT, "expected a name"},
    {LEGACY("b."), MT_FORMAT, "only dicts and tensors"},
    {LEGACY("Q."), MT_FORMAT, "nothing names the storage"},
    {LEGACY("(."), MT_FORMAT, "another number of values"},
    {LEGACY("K\x01K\x02."), MT_FORMAT, "another number of values"},
    {LEGACY("K\x01."), MT_FORMAT, "expected a dict"},
    {LEGACY("}X\x01\0\0\0aK\x01s."), MT_UNSUPPORTED, "\"a\" is an int, expected a tensor"},
    {LEGACY("}K\x01K\x01s."), MT_FORMAT, "expected tensors' names"},
    {LEGACY("ctorch\nFloatStorage\n)R."), MT_FORMAT, "a storage type cannot be called"},
    {MAGIC "\x80\x02M\xea\x03.", sizeof MAGIC "\x80\x02M\xea\x03." - 1, MT_UNSUPPORTED,
     "protocol 1002"},
    {HEAD "\x80\x02}.\x80\x02]K\x01"
          "a.",
     sizeof HEAD "\x80\x02}.\x80\x02]K\x01"
                 "a." -
         1,
     MT_FORMAT, "a storage's key is not a string"},
    {HEAD "\x80\x02}." NO_STORAGES "behind", sizeof HEAD "\x80\x02}." NO_STORAGES "behind" - 1,
     MT_FORMAT, "6 bytes behind the last storage"},
    {"not a checkpoint at all", 23, MT_FORMAT, "neither a zip archive nor"},
};

START_TEST(refuses_by_name)
{
    struct mt_image *image = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(
        mt_torch_read((const void *)hostile[_i].bytes, hostile[_i].length, "m.bin", &image, &err),
        hostile[_i].status);
    ck_assert_msg(strstr(err.message, hostile[_i].message) && strstr(err.message, "m.bin"), "%s",
                  err.message);
}
END_TEST

/* A tensor of one storage "0" of n numbers, of the given rank-1 shape and stride. */
static size_t one_tensor(char *out, unsigned char n, unsigned char offset, unsigned char shape,
                         unsigned char stride, unsigned char n_stored)
{
    char *at = out;
#define PUT(text) at = (char *)memcpy(at, text, sizeof text - 1) + sizeof text - 1
#define BYTE(byte) *at++ = (char)(byte)
    PUT(HEAD "\x80\x02}X\x01\0\0\0actorch._utils\n_rebuild_tensor_v2\n(");
    PUT("(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
        "0X\x03\0\0\0cpuK");
    BYTE(n);
    PUT("NtQK");
    BYTE(offset);
    PUT("K");
    BYTE(shape);
    PUT("\x85K");
    BYTE(stride);
    PUT("\x85\x89}tRs.");
    PUT("\x80\x02]X\x01\0\0\0"
        "0a.");
    BYTE(n_stored);
    for (int i = 1; i < 8; i++)
        BYTE(0);
    for (int i = 0; i < 4 * n_stored; i++)
        BYTE(i);
#undef PUT
#undef BYTE
    return (size_t)(at - out);
}

START_TEST(tensors_stay_inside_their_storage)
{
    static const struct {
        unsigned char n, offset, shape, stride, n_stored;
        const char *message; /* NULL: fine */
    } cases[] = {
        {6, 0, 6, 1, 6, NULL},
        {6, 1, 5, 1, 6, NULL},
        {6, 0, 3, 2, 6, NULL},
        {6, 5, 6, 0, 6, NULL},
        {6, 6, 0, 1, 6, NULL},
        {6, 7, 0, 1, 6, "reaches beyond its storage"},
        {6, 1, 6, 1, 6, "reaches beyond its storage"},
        {6, 0, 7, 1, 6, "reaches beyond its storage"},
        {6, 0, 2, 6, 6, "reaches beyond its storage"},
        {6, 0, 6, 1, 5, "has 5 elements, expected 6"},
        {6, 0, 6, 1, 7, "has 7 elements, expected 6"},
        {1, 0, 255, 0, 1, "more than twice as long as the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[2048];
        struct mt_image *image;
        struct mt_error err = {0};
        size_t length = one_tensor(bytes, cases[i].n, cases[i].offset, cases[i].shape,
                                   cases[i].stride, cases[i].n_stored);
        struct mt_safetensors *file = convert(bytes, length, &image, &err);
        if (cases[i].message)
            ck_assert_msg(!file && strstr(err.message, cases[i].message), "%zu: %s", i,
                          err.message);
        else
            ck_assert_msg(file && mt_safetensors_find(file, "a")->shape[0] == cases[i].shape,
                          "%zu: %s", i, err.message);
        mt_safetensors_close(file);
        mt_image_destroy(image);
    }
}
END_TEST

Suite *suite_torch(void)
{
    Suite *suite = suite_create("torch");
    TCase *tcase = tcase_create("torch");
    int n_samples = (int)(sizeof samples / sizeof *samples);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, reads_what_torch_wrote, 0, n_samples);
    tcase_add_loop_test(tcase, refuses_every_truncation, 0, n_samples);
    tcase_add_loop_test(tcase, survives_every_flipped_bit, 0, n_samples);
    tcase_add_loop_test(tcase, refuses_by_name, 0, (int)(sizeof hostile / sizeof *hostile));
    tcase_add_test(tcase, tensors_stay_inside_their_storage);
    suite_add_tcase(suite, tcase);
    return suite;
}
