#include "model/scratch.h"

#include "model/batch.h"
#include "tests/fuzz/tiny_model.h"

#include <check.h>

static struct mt_scratch *shared;

static struct mt_batch *make(size_t max_rows)
{
    struct mt_error err = {0};
    struct mt_batch *batch;
    const struct mt_batch_options options = {.max_rows = max_rows, .scratch = &shared};
    ck_assert_msg(!mt_batch_create(tiny_model(MT_INT8), &options, &batch, &err), "%s", err.message);
    return batch;
}

START_TEST(batches_share_what_is_large_enough)
{
    struct mt_batch *first = make(8);
    struct mt_scratch *scratch = shared;
    ck_assert_ptr_nonnull(scratch);
    struct mt_batch *same = make(8), *smaller = make(2);
    ck_assert_ptr_eq(shared, scratch);
    mt_batch_destroy(first);
    mt_batch_destroy(same);
    mt_batch_destroy(smaller);
    mt_scratch_let_go(shared);
}
END_TEST

START_TEST(one_that_needs_more_leaves_the_others_theirs)
{
    struct mt_batch *first = make(8);
    struct mt_scratch *scratch = mt_scratch_hold(shared);
    struct mt_batch *larger = make(2000);
    ck_assert_ptr_ne(shared, scratch);
    ck_assert_uint_gt(mt_scratch_n_bytes(shared), mt_scratch_n_bytes(scratch));
    struct mt_scratch *last = shared;
    struct mt_batch *small = make(8);
    ck_assert_ptr_eq(shared, last);
    mt_batch_destroy(first);
    *(char *)mt_scratch_bytes(scratch) = 1; /* still there: it is held here */
    mt_scratch_let_go(scratch);
    mt_batch_destroy(larger);
    mt_scratch_let_go(shared);
    mt_batch_destroy(small);
}
END_TEST

START_TEST(a_batch_may_have_its_own)
{
    struct mt_batch *batch;
    ck_assert_int_eq(mt_batch_create(tiny_model(MT_INT8), NULL, &batch, NULL), MT_OK);
    mt_batch_destroy(batch);
    mt_scratch_let_go(NULL);
}
END_TEST

Suite *suite_scratch(void)
{
    Suite *suite = suite_create("scratch");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, batches_share_what_is_large_enough);
    tcase_add_test(tcase, one_that_needs_more_leaves_the_others_theirs);
    tcase_add_test(tcase, a_batch_may_have_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}
