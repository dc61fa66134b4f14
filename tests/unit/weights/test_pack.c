#include "weights/pack.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 200, N_OUT = 21, FIRST_COLUMN = 14, N_COLUMNS = FIRST_COLUMN + N_OUT };

static const size_t widths[] = {1, 3, 4, 63, 64, 65, 128, 199, MAX_IN};

static float weights[N_OUT * MAX_IN];
static float scales[N_COLUMNS];
static int32_t sums[N_COLUMNS];

/* [-1, 1), of any power of two. */
static float random_weight(void)
{
    return ldexpf((float)(rand() % 65536 - 32768) / 32768.0f, -(rand() % 12));
}

static int8_t *pack(size_t n_in)
{
    size_t size = mt_pack_padded_k(n_in) * mt_pack_padded_n(N_COLUMNS);
    int8_t *packed = calloc(size, 1);
    ck_assert_ptr_nonnull(packed);
    mt_pack_columns(weights, N_OUT, n_in, FIRST_COLUMN, packed, scales, sums);
    return packed;
}

/* The header's formula, a number at a time. */
static int quantized(float w, float scale)
{
    return (int)nearbyintf(w / scale);
}

START_TEST(every_weight_is_the_nearest_multiple_of_its_columns_scale)
{
    size_t n_in = widths[_i];
    for (size_t i = 0; i < N_OUT * n_in; i++)
        weights[i] = random_weight();
    int8_t *packed = pack(n_in);
    for (size_t i = 0; i < N_OUT; i++) {
        const float *row = weights + i * n_in;
        float amax = 0;
        int sum = 0;
        for (size_t k = 0; k < n_in; k++)
            amax = fmaxf(amax, fabsf(row[k]));
        ck_assert_float_eq(scales[FIRST_COLUMN + i], amax > 0 ? amax / 127 : 1);
        for (size_t k = 0; k < n_in; k++) {
            int q = quantized(row[k], scales[FIRST_COLUMN + i]);
            ck_assert_int_eq(mt_pack_at(packed, n_in, FIRST_COLUMN + i, k), q);
            sum += q;
        }
        ck_assert_int_eq(sums[FIRST_COLUMN + i], sum);
    }
    free(packed);
}
END_TEST

START_TEST(what_is_no_weight_stays_zero)
{
    size_t n_in = widths[_i];
    for (size_t i = 0; i < N_OUT * n_in; i++)
        weights[i] = 1;
    int8_t *packed = pack(n_in);
    for (size_t n = 0; n < mt_pack_padded_n(N_COLUMNS); n++)
        for (size_t k = 0; k < mt_pack_padded_k(n_in); k++) {
            bool is_weight = n >= FIRST_COLUMN && n < N_COLUMNS && k < n_in;
            ck_assert_int_eq(mt_pack_at(packed, n_in, n, k), is_weight ? 127 : 0);
        }
    free(packed);
}
END_TEST

START_TEST(halves_go_to_the_even_number)
{
    const float halves[] = {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, -126.5f};
    const int expected[] = {127, 0, 2, 2, 0, -2, 126, -126};
    memcpy(weights, halves, sizeof halves);
    memset(weights + 8, 0, (N_OUT - 1) * 8 * sizeof *weights);
    int8_t *packed = pack(8);
    for (size_t k = 0; k < 8; k++)
        ck_assert_int_eq(mt_pack_at(packed, 8, FIRST_COLUMN, k), expected[k]);
    free(packed);
}
END_TEST

/* Numbers whose scale would be no normal number: dividing by it could give anything. */
START_TEST(next_to_nothing_is_nothing)
{
    for (size_t i = 0; i < N_OUT; i++)
        weights[i] = i == 1 ? 127 * FLT_MIN : ldexpf(1, -149 + (int)i);
    int8_t *packed = pack(1);
    for (size_t i = 0; i < N_OUT; i++) {
        ck_assert_int_eq(mt_pack_at(packed, 1, FIRST_COLUMN + i, 0), i == 1 ? 127 : 0);
        ck_assert_float_eq(scales[FIRST_COLUMN + i], i == 1 ? FLT_MIN : 1);
    }
    free(packed);
}
END_TEST

/* Whatever the columns' own largest are: bytes go where they belong, and the scale is theirs. */
START_TEST(int8_is_packed_as_it_is)
{
    enum { N_IN = 67, N = 5, FIRST = 3, N_PADDED = 16 };
    int8_t numbers[N * N_IN], packed[N_PADDED * 128] = {0};
    float of[N_PADDED] = {0};
    int32_t totals[N_PADDED] = {0};
    for (size_t i = 0; i < sizeof numbers; i++)
        numbers[i] = (int8_t)((int)(i * 31 % 255) - 127);
    ck_assert_uint_eq(mt_pack_padded_k(N_IN), 128);
    mt_pack_int8_columns(numbers, 0.25f, N, N_IN, FIRST, packed, of, totals);
    for (size_t n = 0; n < N_PADDED; n++) {
        bool is_there = n >= FIRST && n < FIRST + N;
        int32_t sum = 0;
        for (size_t k = 0; k < 128; k++) {
            int expected = is_there && k < N_IN ? numbers[(n - FIRST) * N_IN + k] : 0;
            ck_assert_int_eq(mt_pack_at(packed, N_IN, n, k), expected);
            sum += expected;
        }
        ck_assert_int_eq(totals[n], sum);
        ck_assert_float_eq(of[n], is_there ? 0.25f : 0.0f);
    }
}
END_TEST

Suite *suite_pack(void)
{
    Suite *suite = suite_create("pack");
    TCase *tcase = tcase_create("columns");
    int n_widths = (int)(sizeof widths / sizeof *widths);
    tcase_add_loop_test(tcase, every_weight_is_the_nearest_multiple_of_its_columns_scale, 0,
                        n_widths);
    tcase_add_loop_test(tcase, what_is_no_weight_stays_zero, 0, n_widths);
    tcase_add_test(tcase, halves_go_to_the_even_number);
    tcase_add_test(tcase, next_to_nothing_is_nothing);
    tcase_add_test(tcase, int8_is_packed_as_it_is);
    suite_add_tcase(suite, tcase);
    return suite;
}
