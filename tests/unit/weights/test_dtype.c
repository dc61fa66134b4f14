#include "weights/dtype.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* binary16 by its definition: (-1)^s * 2^(e - 15) * (1 + f / 1024), subnormals without the 1. */
static float reference_f16(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double fraction = (half & 1023) / 1024.0;
    double magnitude = exponent == 31  ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                       : exponent == 0 ? ldexp(fraction, -14)
                                       : ldexp(1 + fraction, exponent - 15);
    return (float)(half & 0x8000 ? -magnitude : magnitude);
}

static bool is_nan_half(uint16_t half)
{
    return (half & 0x7FFF) > 0x7C00;
}

START_TEST(every_half_widens_to_its_value)
{
    for (uint32_t i = 0; i <= 0xFFFF; i++) {
        float value = mt_f16_to_f32((uint16_t)i), expected = reference_f16((uint16_t)i);
        bool is_same = isnan(expected) ? isnan(value) && bits_of(value) >> 31 == i >> 15
                                       : bits_of(value) == bits_of(expected);
        if (!is_same)
            ck_abort_msg("0x%04x: %a, expected %a", i, (double)value, (double)expected);
    }
}
END_TEST

START_TEST(every_half_survives_the_round_trip)
{
    for (uint32_t i = 0; i <= 0xFFFF; i++) {
        uint16_t half = (uint16_t)i, back = mt_f32_to_f16(mt_f16_to_f32(half));
        uint16_t expected = is_nan_half(half) ? half | 0x200 : half; /* a NaN becomes quiet */
        if (back != expected)
            ck_abort_msg("0x%04x came back as 0x%04x", half, back);
    }
}
END_TEST

/* Between two neighbouring halves: below, at and above the middle, with either sign. */
START_TEST(narrowing_rounds_to_nearest_even)
{
    for (uint32_t i = 0; i < 0x7BFF; i++) {
        double low = (double)reference_f16((uint16_t)i);
        double high = (double)reference_f16((uint16_t)(i + 1));
        float middle = (float)((low + high) / 2); /* exact in fp32 */
        uint32_t even = i & 1 ? i + 1 : i;
        float below = nextafterf(middle, -1), above = nextafterf(middle, 1e9f);
        bool is_right = mt_f32_to_f16(middle) == even && mt_f32_to_f16(below) == i &&
                        mt_f32_to_f16(above) == i + 1 &&
                        mt_f32_to_f16(-middle) == (even | 0x8000) &&
                        mt_f32_to_f16(-below) == (i | 0x8000);
        if (!is_right)
            ck_abort_msg("around %a", (double)middle);
    }
}
END_TEST

static const struct {
    float value;
    uint16_t expected;
} edges[] = {
    {0.0f, 0x0000},
    {-0.0f, 0x8000},
    {1.0f, 0x3C00},
    {-2.0f, 0xC000},
    {65504.0f, 0x7BFF},   /* the largest half */
    {65519.996f, 0x7BFF}, /* below the middle to 65536 */
    {65520.0f, 0x7C00},   /* the middle: to even, which is infinity */
    {65536.0f, 0x7C00},
    {3e38f, 0x7C00},
    {INFINITY, 0x7C00},
    {-INFINITY, 0xFC00},
    {0x1p-14f, 0x0400},     /* the smallest normal */
    {0x1.ff8p-15f, 0x03FF}, /* the largest subnormal */
    {0x1.ffcp-15f, 0x0400}, /* rounds up into the normals */
    {0x1p-24f, 0x0001},     /* the smallest subnormal */
    {0x1p-25f, 0x0000},     /* its half: to even */
    {0x1.000002p-25f, 0x0001},
    {0x1p-26f, 0x0000},
    {0x1p-149f, 0x0000}, /* an fp32 subnormal */
};

START_TEST(narrowing_at_the_edges)
{
    uint16_t half = mt_f32_to_f16(edges[_i].value);
    ck_assert_msg(half == edges[_i].expected, "%a: 0x%04x, expected 0x%04x",
                  (double)edges[_i].value, half, edges[_i].expected);
}
END_TEST

START_TEST(nan_stays_nan)
{
    static const uint32_t nans[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        uint16_t half = mt_f32_to_f16(float_of(nans[i]));
        ck_assert(is_nan_half(half));
        ck_assert_uint_eq(half >> 15, nans[i] >> 31);
    }
}
END_TEST

/* All halves at once: the vector instructions must agree with the portable conversion in every
 * bit, at every alignment and for every length of the remainder. */
START_TEST(whole_arrays_of_halves_widen_like_single_ones)
{
    enum { N = 65536 };
    unsigned char *in = malloc(2 * N + 16);
    float *out = malloc((N + 1) * sizeof *out);
    ck_assert(in && out);
    for (size_t shift = 0; shift < 4; shift++) {
        for (uint32_t i = 0; i < N; i++) {
            uint16_t half = (uint16_t)i;
            memcpy(in + shift + 2 * i, &half, 2);
        }
        mt_widen_f32(MT_F16, in + shift, N, out);
        for (uint32_t i = 0; i < N; i++)
            if (bits_of(out[i]) != bits_of(mt_f16_to_f32((uint16_t)i)))
                ck_abort_msg("0x%04x: %a", i, (double)out[i]);
    }
    for (size_t n = 0; n < 40; n++) {
        out[n] = -7;
        mt_widen_f32(MT_F16, in + 3, n, out);
        ck_assert(out[n] == -7.0f);
        for (size_t i = 0; i < n; i++)
            ck_assert(out[i] == mt_f16_to_f32((uint16_t)i));
    }
    free(in);
    free(out);
}
END_TEST

START_TEST(bf16_is_the_upper_half_of_fp32)
{
    enum { N = 65536 };
    unsigned char *in = malloc(2 * N + 1);
    float *out = malloc(N * sizeof *out);
    ck_assert(in && out);
    for (uint32_t i = 0; i < N; i++) {
        uint16_t upper = (uint16_t)i;
        memcpy(in + 1 + 2 * i, &upper, 2);
    }
    mt_widen_f32(MT_BF16, in + 1, N, out);
    for (uint32_t i = 0; i < N; i++)
        if (bits_of(out[i]) != i << 16)
            ck_abort_msg("0x%04x: %a", i, (double)out[i]);
    free(in);
    free(out);
}
END_TEST

START_TEST(f32_is_copied_from_any_alignment)
{
    static const float values[] = {0, -0.0f, 1.5f, -3e38f, 0x1p-149f};
    unsigned char in[sizeof values + 3];
    float out[5];
    for (size_t shift = 0; shift < 4; shift++) {
        memcpy(in + shift, values, sizeof values);
        mt_widen_f32(MT_F32, in + shift, 5, out);
        ck_assert_mem_eq(out, values, sizeof values);
    }
    mt_widen_f32(MT_F32, NULL, 0, out);
}
END_TEST

START_TEST(names_and_sizes_are_those_of_safetensors)
{
    static const struct {
        enum mt_dtype dtype;
        const char *name;
        size_t bytes;
    } known[] = {
        {MT_F32, "F32", 4},   {MT_F16, "F16", 2}, {MT_BF16, "BF16", 2}, {MT_F64, "F64", 8},
        {MT_I8, "I8", 1},     {MT_U8, "U8", 1},   {MT_I16, "I16", 2},   {MT_U16, "U16", 2},
        {MT_I32, "I32", 4},   {MT_U32, "U32", 4}, {MT_I64, "I64", 8},   {MT_U64, "U64", 8},
        {MT_BOOL, "BOOL", 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_str_eq(mt_dtype_name(known[i].dtype), known[i].name);
        ck_assert_uint_eq(mt_dtype_bytes(known[i].dtype), known[i].bytes);
    }
}
END_TEST

/* Bits of the greatest number, of the smallest negative one, and of what is none. */
static const struct not_finite {
    enum mt_dtype dtype;
    uint32_t greatest, smallest, wrong[4];
} not_finite[] = {
    {MT_F32, 0x7F7FFFFF, 0x80000001, {0x7F800000, 0xFF800000, 0x7F800001, 0xFFFFFFFF}},
    {MT_F16, 0x7BFF, 0x8001, {0x7C00, 0xFC00, 0x7C01, 0xFFFF}},
    {MT_BF16, 0x7F7F, 0x8001, {0x7F80, 0xFF80, 0x7F81, 0xFFFF}},
};

START_TEST(the_first_number_that_is_none_is_found)
{
    enum { N = 10000 };
    static unsigned char bytes[N * sizeof(uint32_t) + 1];
    unsigned char *numbers = bytes + 1; /* at any alignment */
    const struct not_finite *row = &not_finite[_i];
    size_t size = mt_dtype_bytes(row->dtype);
    ck_assert_uint_eq(mt_find_not_finite(row->dtype, numbers, 0), 0);
    for (size_t i = 0; i < N; i++)
        memcpy(numbers + i * size, i % 2 ? &row->greatest : &row->smallest, size);
    ck_assert_uint_eq(mt_find_not_finite(row->dtype, numbers, N), N);
    for (size_t at = 0; at < N; at += 101) {
        uint32_t before = 0;
        memcpy(&before, numbers + at * size, size);
        memcpy(numbers + at * size, &row->wrong[at % 4], size);
        ck_assert_uint_eq(mt_find_not_finite(row->dtype, numbers, N), at);
        ck_assert_uint_eq(mt_find_not_finite(row->dtype, numbers, at), at);
        ck_assert_uint_eq(mt_find_not_finite(row->dtype, numbers + at * size, N - at), 0);
        memcpy(numbers + at * size, &before, size);
    }
}
END_TEST

Suite *suite_dtype(void)
{
    Suite *suite = suite_create("dtype");
    TCase *tcase = tcase_create("conversions");
    tcase_add_test(tcase, every_half_widens_to_its_value);
    tcase_add_test(tcase, every_half_survives_the_round_trip);
    tcase_add_test(tcase, narrowing_rounds_to_nearest_even);
    tcase_add_loop_test(tcase, narrowing_at_the_edges, 0, sizeof edges / sizeof *edges);
    tcase_add_test(tcase, nan_stays_nan);
    tcase_add_test(tcase, whole_arrays_of_halves_widen_like_single_ones);
    tcase_add_test(tcase, bf16_is_the_upper_half_of_fp32);
    tcase_add_test(tcase, f32_is_copied_from_any_alignment);
    tcase_add_test(tcase, names_and_sizes_are_those_of_safetensors);
    tcase_add_loop_test(tcase, the_first_number_that_is_none_is_found, 0,
                        sizeof not_finite / sizeof *not_finite);
    suite_add_tcase(suite, tcase);
    return suite;
}
