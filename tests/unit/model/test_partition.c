#include "model/files/hparams.h"
#include "model/partition.h"

#include <check.h>
#include <stdlib.h>

#define MAX_SENTENCES 512
#define MAX_MEMBERS 16

/* What a member needs at least, and what the largest part may be of an even one: see partition.c. */
#define MIN_ROWS 8
#define MAX_SHARE 1.25

static struct mt_part_begin begins[MAX_MEMBERS + 1];

static bool divide_even(size_t n_sentences, size_t rows_of_each, size_t n_members)
{
    size_t n_rows[MAX_SENTENCES];
    ck_assert_uint_le(n_sentences, MAX_SENTENCES);
    for (size_t i = 0; i < n_sentences; i++)
        n_rows[i] = rows_of_each;
    return mt_partition_by_sentence(n_rows, n_sentences, n_members, 8, begins);
}

static const struct mt_hparams small = {
    .d_model = 256, .d_ff_decoder = 1024, .n_decoder_layers = 3, .n_target_vocab = 8001};
static const struct mt_hparams base = {
    .d_model = 512, .d_ff_decoder = 2048, .n_decoder_layers = 6, .n_target_vocab = 54688};

START_TEST(who_reads_much_needs_many_rows)
{
    ck_assert_uint_eq(mt_partition_rows_apart(&small, 8000), 5);
    ck_assert_uint_eq(mt_partition_rows_apart(&base, 54688), 8);
    struct mt_hparams odd = small;
    odd.n_decoder_layers = 1;
    odd.d_model = odd.d_ff_decoder = 8;
    ck_assert_uint_eq(mt_partition_rows_apart(&odd, 100), MT_MIN_ROWS_APART);
}
END_TEST

START_TEST(sentences_are_shared_evenly)
{
    ck_assert(divide_even(16, 4, 2));
    ck_assert_uint_eq(begins[0].sentence, 0);
    ck_assert_uint_eq(begins[0].row, 0);
    ck_assert_uint_eq(begins[1].sentence, 8);
    ck_assert_uint_eq(begins[1].row, 32);
    ck_assert_uint_eq(begins[2].sentence, 16);
    ck_assert_uint_eq(begins[2].row, 64);
}
END_TEST

START_TEST(few_rows_and_uneven_shares_stay_together)
{
    ck_assert(!divide_even(0, 0, 2));
    ck_assert(!divide_even(16, 4, 1));
    ck_assert(!divide_even(15, 1, 2));
    ck_assert(divide_even(16, 1, 2));
    ck_assert_msg(!divide_even(3, 8, 2), "two of three sentences are a third more than half");
    ck_assert_msg(!divide_even(1, 64, 2), "a sentence stays whole");
    const size_t long_and_short[] = {60, 4};
    ck_assert(!mt_partition_by_sentence(long_and_short, 2, 2, 8, begins));
}
END_TEST

/* Whatever is divided, no sentence is left out or split, and no part is too large. */
START_TEST(parts_cover_all_sentences)
{
    size_t n_rows[64], n_apart = 0;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)rand() % 64, n_members = 2 + (size_t)rand() % (MAX_MEMBERS - 1),
               total = 0, row = 0, sentence = 0;
        for (size_t i = 0; i < n; i++)
            total += n_rows[i] = (size_t)rand() % 9;
        if (!mt_partition_by_sentence(n_rows, n, n_members, 8, begins))
            continue;
        n_apart++;
        ck_assert_uint_ge(total, MIN_ROWS * n_members);
        ck_assert_uint_eq(begins[0].sentence, 0);
        ck_assert_uint_eq(begins[n_members].sentence, n);
        ck_assert_uint_eq(begins[n_members].row, total);
        for (size_t member = 0; member < n_members; member++) {
            ck_assert_uint_eq(begins[member].row, row);
            ck_assert_uint_ge(begins[member + 1].sentence, begins[member].sentence);
            while (sentence < begins[member + 1].sentence)
                row += n_rows[sentence++];
            ck_assert((double)((row - begins[member].row) * n_members) <=
                      MAX_SHARE * (double)total);
        }
        ck_assert_uint_eq(row, total);
    }
    ck_assert_uint_gt(n_apart, 1000);
}
END_TEST

Suite *suite_partition(void)
{
    Suite *suite = suite_create("partition");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, who_reads_much_needs_many_rows);
    tcase_add_test(tcase, sentences_are_shared_evenly);
    tcase_add_test(tcase, few_rows_and_uneven_shares_stay_together);
    tcase_add_test(tcase, parts_cover_all_sentences);
    suite_add_tcase(suite, tcase);
    return suite;
}
