/* The archives are numpy's own: tests/tools/make_marian_corpus.py. */
#include "base/file.h"
#include "weights/npz.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *bytes;
static size_t length;

static void read_archive(const char *name)
{
    char path[1024];
    struct mt_error err;
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/npz/%s", root ? root : ".", name);
    ck_assert_msg(mt_file_read(path, 1 << 20, &bytes, &length, &err) == MT_OK, "%s", err.message);
}

static const unsigned char *as_bytes(void)
{
    return (const unsigned char *)bytes;
}

START_TEST(gives_the_arrays_that_numpy_wrote)
{
    struct mt_npz *npz;
    struct mt_error err = {0};
    read_archive("stored.npz");
    ck_assert_msg(mt_npz_open(as_bytes(), length, "stored.npz", &npz, &err) == MT_OK, "%s",
                  err.message);
    ck_assert_uint_eq(mt_npz_count(npz), 5);
    ck_assert_ptr_null(mt_npz_at(npz, 5));
    ck_assert_ptr_null(mt_npz_find(npz, "Wemb.npy"));

    const struct mt_npz_array *table = mt_npz_find(npz, "Wemb");
    ck_assert_ptr_nonnull(table);
    ck_assert_int_eq(table->dtype, MT_F32);
    ck_assert_uint_eq(table->rank, 2);
    ck_assert_uint_eq(table->shape[0], 3);
    ck_assert_uint_eq(table->shape[1], 4);
    for (size_t i = 0; i < 12; i++) {
        float number;
        memcpy(&number, table->data + 4 * i, sizeof number);
        ck_assert_float_eq(number, (float)i);
    }
    ck_assert_int_eq(mt_npz_check(npz, table, &err), MT_OK);

    ck_assert_int_eq(mt_npz_find(npz, "half")->dtype, MT_F16);
    ck_assert_uint_eq(mt_npz_find(npz, "scalar")->rank, 0);
    ck_assert_uint_eq(mt_npz_find(npz, "scalar")->n_elements, 1);
    ck_assert_uint_eq(mt_npz_find(npz, "empty")->n_bytes, 0);
    ck_assert_int_eq(mt_npz_find(npz, "special:model.yml")->dtype, MT_I8);
    ck_assert_uint_eq(mt_npz_find(npz, "special:model.yml")->n_bytes, 256);
    mt_npz_close(npz);
    free(bytes);
}
END_TEST

static const struct {
    const char *name, *message;
} refused[] = {
    {"compressed.npz", "compress"},
    {"fortran.npz", "\"a\" is in Fortran's order"},
};

START_TEST(refuses_by_name)
{
    struct mt_npz *npz = NULL;
    struct mt_error err = {0};
    read_archive(refused[_i].name);
    ck_assert_int_eq(mt_npz_open(as_bytes(), length, refused[_i].name, &npz, &err), MT_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, refused[_i].message), "%s", err.message);
    ck_assert_ptr_null(npz);
    free(bytes);
}
END_TEST

/* Whatever becomes of a byte, arrays stay inside the archive, or nothing is given. */
START_TEST(no_damage_leads_outside)
{
    struct mt_error err;
    size_t n_refused = 0;
    read_archive("stored.npz");
    for (size_t bit = 0; bit < 8 * length; bit++) {
        struct mt_npz *npz;
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (mt_npz_open(as_bytes(), length, "damaged", &npz, &err)) {
            n_refused++;
        } else {
            for (size_t i = 0; i < mt_npz_count(npz); i++) {
                const struct mt_npz_array *a = mt_npz_at(npz, i);
                ck_assert(a->data >= as_bytes() && a->n_bytes <= length &&
                          a->data + a->n_bytes <= as_bytes() + length);
            }
            mt_npz_close(npz);
        }
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < length; cut++) {
        struct mt_npz *npz;
        ck_assert_msg(mt_npz_open(as_bytes(), cut, "cut", &npz, &err) != MT_OK, "cut to %zu", cut);
    }
    ck_assert_uint_gt(n_refused, length);
    free(bytes);
}
END_TEST

Suite *suite_npz(void)
{
    Suite *suite = suite_create("npz");
    TCase *tcase = tcase_create("archives");
    tcase_add_test(tcase, gives_the_arrays_that_numpy_wrote);
    tcase_add_loop_test(tcase, refuses_by_name, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(tcase, no_damage_leads_outside);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite;
}
