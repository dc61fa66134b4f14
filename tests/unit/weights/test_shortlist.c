#include "weights/shortlist.h"

#include <check.h>
#include <string.h>

#define N_WORDS 3
#define N_TARGET 100

/* Three source words with two, no and four candidates. */
static const uint32_t ids[] = {7, 60, 5, 61, 62, 99};
static const uint64_t offsets[N_WORDS + 1] = {0, 2, 2, 6};

static struct {
    uint64_t magic, checksum, n_first, n_best, n_offsets, n_ids, offsets[N_WORDS + 1];
    uint32_t ids[6];
} file;

/* As boost combines hashes. */
static uint64_t hash_of(const uint64_t *words, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash = hash ^ (words[i] + 0x9e3779b9u + hash * 64 + hash / 4);
    return hash;
}

static void sign(void)
{
    uint64_t words[sizeof file / 8];
    memcpy(words, &file, sizeof file);
    file.checksum = hash_of(words + 2, sizeof file / 8 - 2);
}

static void make(void)
{
    file.magic = 0xF11A48D5013417F5;
    file.n_first = 4;
    file.n_best = 50;
    file.n_offsets = N_WORDS + 1;
    file.n_ids = 6;
    memcpy(file.offsets, offsets, sizeof offsets);
    memcpy(file.ids, ids, sizeof ids);
    sign();
}

static enum mt_status read_file(size_t length, struct mt_shortlist *list, struct mt_error *err)
{
    return mt_shortlist_read((const unsigned char *)&file, length, "lex.bin", N_WORDS, N_TARGET,
                             list, err);
}

static void expect(enum mt_status expected, const char *message)
{
    struct mt_shortlist list;
    struct mt_error err = {0};
    ck_assert_int_eq(read_file(sizeof file, &list, &err), expected);
    ck_assert_msg(strstr(err.message, message), "%s", err.message);
    ck_assert_msg(strncmp(err.message, "lex.bin: ", 9) == 0, "%s", err.message);
}

START_TEST(gives_what_each_word_may_become)
{
    struct mt_shortlist list;
    struct mt_error err = {0};
    ck_assert_msg(!read_file(sizeof file, &list, &err), "%s", err.message);
    ck_assert_uint_eq(list.n_first, 4);
    ck_assert_uint_eq(list.n_words, N_WORDS);
    for (size_t word = 0; word < N_WORDS; word++) {
        size_t begin, end;
        mt_shortlist_range(&list, word, &begin, &end);
        ck_assert_uint_eq(begin, offsets[word]);
        ck_assert_uint_eq(end, offsets[word + 1]);
    }
    size_t begin = 1, end = 2;
    mt_shortlist_range(&list, N_WORDS, &begin, &end);
    ck_assert_uint_eq(begin, end);
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(mt_shortlist_id(&list, i), ids[i]);
}
END_TEST

START_TEST(refuses_what_does_not_fit)
{
    file.ids[2] = N_TARGET;
    expect(MT_FORMAT, "checksum: expected ");
    sign();
    expect(MT_INVALID, "target id 2: expected one below 100, found 100");
    make();
    file.offsets[1] = 3;
    sign();
    expect(MT_FORMAT, "offset 2: expected 3 to 6");
    make();
    file.offsets[3] = 5;
    sign();
    expect(MT_FORMAT, "offset 3: expected 2 to 6, and the last to be that, found 5");
    make();
    file.n_offsets = 0;
    sign();
    expect(MT_FORMAT, "expected another number of bytes");
    file.n_offsets = UINT64_MAX / 8 + 2; /* times 8 it is 8 */
    sign();
    expect(MT_FORMAT, "expected another number of bytes");
    make();
    struct mt_shortlist list;
    struct mt_error err;
    ck_assert_int_eq(mt_shortlist_read((const unsigned char *)&file, sizeof file, "lex.bin", 2,
                                       N_TARGET, &list, &err),
                     MT_INVALID);
    ck_assert_str_eq(
        err.message,
        "lex.bin: expected at most 2 source words, found 3: it is another model's shortlist");
}
END_TEST

START_TEST(no_bit_may_change_and_no_byte_be_missing)
{
    struct mt_shortlist list;
    struct mt_error err;
    for (size_t bit = 0; bit < 8 * sizeof file; bit++) {
        ((unsigned char *)&file)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        ck_assert_msg(read_file(sizeof file, &list, &err) != MT_OK, "bit %zu", bit);
        ((unsigned char *)&file)[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t length = 0; length < sizeof file; length++)
        ck_assert_msg(read_file(length, &list, &err) != MT_OK, "cut to %zu", length);
}
END_TEST

Suite *suite_shortlist(void)
{
    Suite *suite = suite_create("shortlist");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, make, NULL);
    tcase_add_test(tcase, gives_what_each_word_may_become);
    tcase_add_test(tcase, refuses_what_does_not_fit);
    tcase_add_test(tcase, no_bit_may_change_and_no_byte_be_missing);
    suite_add_tcase(suite, tcase);
    return suite;
}
