#include "weights/pickle.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A pickle of opcodes that may hold NUL. */
#define PICKLE(text) (const unsigned char *)text, sizeof text - 1

struct reading {
    struct mt_arena *arena;
    struct mt_pickle_value *value;
    size_t n_read;
    enum mt_status status;
    struct mt_error err;
};

/* From memory of exactly that size, so that the address sanitizer sees a read behind the end. */
static struct reading start_reading(const unsigned char *bytes, size_t length)
{
    struct reading r = {0};
    unsigned char *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    ck_assert_int_eq(mt_arena_create(0, &r.arena, &r.err), MT_OK);
    r.status = mt_pickle_read(copy, length, "m.bin", r.arena, &r.value, &r.n_read, &r.err);
    free(copy);
    return r;
}

static void check_refused(const unsigned char *bytes, size_t length, enum mt_status status,
                          const char *message)
{
    struct reading r = start_reading(bytes, length);
    ck_assert_msg(r.status == status && strstr(r.err.message, message) &&
                      strstr(r.err.message, "m.bin"),
                  "%d: %s, expected %s", (int)r.status, r.err.message, message);
    mt_arena_destroy(r.arena);
}

START_TEST(integers_have_their_sign)
{
    static const struct {
        const unsigned char *bytes;
        size_t length;
        int64_t expected;
    } cases[] = {
        {PICKLE("K\xff."), 255},
        {PICKLE("M\xfe\xff."), 65534},
        {PICKLE("J\xfe\xff\xff\xff."), -2},
        {PICKLE("\x8a\x00."), 0},
        {PICKLE("\x8a\x01\x7f."), 127},
        {PICKLE("\x8a\x01\xff."), -1},
        {PICKLE("\x8a\x02\xff\x00."), 255},
        {PICKLE("\x8a\x03\x00\x00\x80."), -8388608},
        {PICKLE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."), INT64_MIN},
        {PICKLE("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = start_reading(cases[i].bytes, cases[i].length);
        ck_assert_msg(!r.status, "%zu: %s", i, r.err.message);
        ck_assert_int_eq(r.value->kind, MT_PICKLE_INTEGER);
        ck_assert_int_eq(r.value->integer, cases[i].expected);
        ck_assert_uint_eq(r.n_read, cases[i].length);
        mt_arena_destroy(r.arena);
    }
}
END_TEST

START_TEST(floats_are_big_endian)
{
    struct reading r = start_reading(PICKLE("G\xbf\xf8\x00\x00\x00\x00\x00\x00.behind"));
    ck_assert_msg(!r.status, "%s", r.err.message);
    ck_assert_int_eq(r.value->kind, MT_PICKLE_FLOAT);
    ck_assert(r.value->number == -1.5);
    ck_assert_uint_eq(r.n_read, 10);
    mt_arena_destroy(r.arena);
}
END_TEST

#define STORAGE                                \
    "(U\x07storagectorch\nFloatStorage\nU\x01" \
    "0U\x03"                                   \
    "cpuK\x06tQ"
/* 2 x 3 of six floats. */
#define TENSOR_ARGUMENTS "(" STORAGE "K\x00K\x02K\x03\x86K\x03K\x01\x86\x89}t"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
#define TENSOR REBUILD TENSOR_ARGUMENTS "R"

START_TEST(tensors_stand_behind_every_name_for_them)
{
    static const struct {
        const unsigned char *bytes;
        size_t length;
    } cases[] = {
        {PICKLE(TENSOR ".")},
        {PICKLE("ctorch._utils\n_rebuild_parameter\n" TENSOR "\x88}\x87R.")},
        {PICKLE("ctorch.nn.parameter\nParameter\n" TENSOR "\x85\x81.")},
        {PICKLE("ctorch._tensor\n_rebuild_from_type_v2\n(" REBUILD
                "ctorch.nn.parameter\nParameter\n" TENSOR_ARGUMENTS "}tR.")},
        {PICKLE(REBUILD "(" STORAGE "K\x00"
                        "ctorch\nSize\nK\x02K\x03\x86\x85RK\x03K\x01\x86\x89}tR.")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = start_reading(cases[i].bytes, cases[i].length);
        ck_assert_msg(!r.status, "%zu: %s", i, r.err.message);
        ck_assert_int_eq(r.value->kind, MT_PICKLE_TENSOR);
        const struct mt_pickle_tensor *tensor = &r.value->tensor;
        ck_assert_uint_eq(tensor->rank, 2);
        ck_assert_int_eq(tensor->shape[0], 2);
        ck_assert_int_eq(tensor->shape[1], 3);
        ck_assert_int_eq(tensor->strides[0], 3);
        ck_assert_int_eq(tensor->storage->n_elements, 6);
        ck_assert_str_eq(tensor->storage->key, "0");
        mt_arena_destroy(r.arena);
    }
}
END_TEST

START_TEST(refuses_what_makes_no_value)
{
    static const struct {
        const unsigned char *bytes;
        size_t length;
        enum mt_status status;
        const char *message;
    } cases[] = {
        {PICKLE("\x80\x03N."), MT_UNSUPPORTED, "pickle protocol 3, expected 2"},
        {PICKLE("q\x00."), MT_FORMAT, "nothing to remember"},
        {PICKLE("(q\x00."), MT_FORMAT, "nothing to remember"},
        {PICKLE("K\x01\x86."), MT_FORMAT, "the stack has too few values"},
        {PICKLE("(\x85."), MT_FORMAT, "the stack has too few values"},
        {PICKLE("ccollections\nOrderedDict\nK\x01\x85R."), MT_FORMAT, "expected to begin empty"},
        {PICKLE("ctorch\nSize\nK\x01\x85R."), MT_FORMAT, "a Size is expected to be made"},
        {PICKLE("ctorch\nSize\n)R."), MT_FORMAT, "a Size is expected to be made"},
        {PICKLE("ctorch.nn.parameter\nParameter\nK\x01\x85\x81."), MT_FORMAT,
         "a Parameter is expected to be made"},
        {PICKLE("ctorch._tensor\n_rebuild_from_type_v2\n("
                "ctorch\nSize\nctorch\nSize\n)}tR."),
         MT_FORMAT, "expected a tensor to be made of this type"},
        {PICKLE("ctorch._tensor\n_rebuild_from_type_v2\n)R."), MT_FORMAT,
         "expected a tensor to be made of this type"},
        {PICKLE(REBUILD ")R."), MT_FORMAT, "expected (storage, offset, shape, strides"},
        {PICKLE(REBUILD "(" STORAGE "K\x00K\x02\x85)tR."), MT_FORMAT, "shape and strides"},
        {PICKLE(REBUILD "(" STORAGE "K\x00K\x02\x85N\x85tR."), MT_FORMAT, "shape and strides"},
        {PICKLE(REBUILD "(" STORAGE "J\xff\xff\xff\xffK\x02\x85K\x01\x85tR."), MT_FORMAT,
         "beyond its storage"},
        {PICKLE(REBUILD "(" STORAGE "K\x00J\xff\xff\xff\xff\x85K\x01\x85tR."), MT_FORMAT,
         "beyond its storage"},
        {PICKLE(REBUILD "(" STORAGE "K\x00(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t)tR."),
         MT_LIMIT, "a tensor of 9 dimensions, expected at most 8"},
        {PICKLE("ctorch\n"), MT_FORMAT, "a name is cut short"},
        {PICKLE("N"), MT_FORMAT, "ends in the middle of a value"},
        {PICKLE(""), MT_FORMAT, "ends in the middle of a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i].bytes, cases[i].length, cases[i].status, cases[i].message);
}
END_TEST

/* Whatever is cut off, the reader notices. */
START_TEST(refuses_every_truncation)
{
    static const unsigned char pickle[] =
        "\x80\x02]q\x00(K\x01M\x01\x02J\x01\x02\x03\x04\x8a\x02\xff\x00G\xbf\xf8\x00\x00\x00\x00"
        "\x00\x00X\x01\x00\x00\x00xU\x01y\x88\x89Nr\x10\x00\x00\x00j\x10\x00\x00\x00h\x00" TENSOR
        "e.";
    struct reading whole = start_reading(pickle, sizeof pickle - 1);
    ck_assert_msg(!whole.status, "%s", whole.err.message);
    ck_assert_uint_eq(whole.value->sequence.n, 13);
    mt_arena_destroy(whole.arena);
    for (size_t length = 0; length < sizeof pickle - 1; length++)
        check_refused(pickle, length, MT_FORMAT, "m.bin");
}
END_TEST

START_TEST(everything_that_grows_has_a_limit)
{
    static unsigned char many[MT_PICKLE_MAX_BYTES + 16];
    memset(many, '(', MT_PICKLE_MAX_STACK + 1);
    check_refused(many, MT_PICKLE_MAX_STACK + 1, MT_LIMIT, "more than 65536 values on the stack");

    /* A list that is filled again and again, so that the stack stays small. */
    many[0] = ']';
    for (size_t i = 1; i + 1 < sizeof many; i += 2)
        memcpy(many + i, "Na", 2);
    check_refused(many, sizeof many, MT_LIMIT, "more than 1048576 values");

    memset(many, 0, sizeof many);
    memcpy(many, "X\xff\xff\xff\x00", 5);
    check_refused(many, sizeof many, MT_LIMIT, "a pickle of more than 8388608 bytes");
}
END_TEST

START_TEST(dicts_are_searched_by_their_keys)
{
    struct reading r = start_reading(PICKLE("}(K\x01U\x01zU\x01xK\x07u."));
    ck_assert_msg(!r.status, "%s", r.err.message);
    ck_assert_int_eq(mt_pickle_get(r.value, "x")->integer, 7);
    ck_assert_ptr_null(mt_pickle_get(r.value, "z"));
    ck_assert_ptr_null(mt_pickle_get(mt_pickle_get(r.value, "x"), "x"));
    ck_assert_str_eq(mt_pickle_kind_name(r.value->kind), "a dict");
    mt_arena_destroy(r.arena);
}
END_TEST

Suite *suite_pickle(void)
{
    Suite *suite = suite_create("pickle");
    TCase *tcase = tcase_create("pickle");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, integers_have_their_sign);
    tcase_add_test(tcase, floats_are_big_endian);
    tcase_add_test(tcase, tensors_stand_behind_every_name_for_them);
    tcase_add_test(tcase, refuses_what_makes_no_value);
    tcase_add_test(tcase, refuses_every_truncation);
    tcase_add_test(tcase, everything_that_grows_has_a_limit);
    tcase_add_test(tcase, dicts_are_searched_by_their_keys);
    suite_add_tcase(suite, tcase);
    return suite;
}
