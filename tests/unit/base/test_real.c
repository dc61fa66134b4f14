/* The bounds that real.h promises, against the C library's functions of wider numbers, and bits that
 * are the same on every machine that runs this. */
#include "base/real.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define N_SAMPLES 50000

static double spread(double low, double high, int i)
{
    return low + (high - low) * (double)i / (double)N_SAMPLES;
}

/* A longer double of the C library decides, where it has one. */
static const struct {
    const char *name;
    double (*ours)(double);
    long double (*true_value)(long double);
    double low, high;
    double bound; /* of the error, of the value or, where is_absolute, by itself */
    int is_absolute;
} functions[] = {
    {"exp", mt_real_exp, expl, -707.0, 709.0, 2e-15, 0},
    {"exp", mt_real_exp, expl, -1.0, 1.0, 2e-15, 0},
    {"log", mt_real_log, logl, 1e-300, 1e-3, 1e-15, 0},
    {"log", mt_real_log, logl, 0.01, 2.0, 1e-15, 0},
    {"log", mt_real_log, logl, 2.0, 1e9, 1e-15, 0},
    {"log1p", mt_real_log1p, log1pl, -0.9999999, 3.0, 2e-15, 0},
    {"log1p", mt_real_log1p, log1pl, -1e-9, 1e-9, 2e-15, 0},
    {"sin", mt_real_sin, sinl, -2000.0, 2000.0, 2e-15, 1},
    {"sin", mt_real_sin, sinl, -4.0, 4.0, 2e-15, 1},
    {"cos", mt_real_cos, cosl, -2000.0, 2000.0, 2e-15, 1},
    {"cos", mt_real_cos, cosl, 9e5, 1e6, 2e-15, 1},
};

START_TEST(keeps_its_bound)
{
    double worst = 0;
    for (int i = 0; i <= N_SAMPLES; i++) {
        double x = spread(functions[_i].low, functions[_i].high, i);
        long double expected = functions[_i].true_value((long double)x);
        long double error = fabsl((long double)functions[_i].ours(x) - expected);
        if (!functions[_i].is_absolute && expected != 0)
            error /= fabsl(expected);
        worst = fmax(worst, (double)error);
    }
    ck_assert_msg(worst <= functions[_i].bound, "%s from %g to %g: error %g, promised %g",
                  functions[_i].name, functions[_i].low, functions[_i].high, worst,
                  functions[_i].bound);
}
END_TEST

START_TEST(keeps_the_bound_of_powers)
{
    static const double exponents[] = {-1.5, 0.2, 0.6, 1.4, 2.0};
    for (size_t j = 0; j < sizeof exponents / sizeof *exponents; j++)
        for (int n = 1; n <= 2000; n++) {
            long double expected = powl(n, (long double)exponents[j]);
            double bound = 2e-15 + 2e-15 * fabs(exponents[j] * log(n));
            double got = mt_real_pow(n, exponents[j]);
            ck_assert_double_le((double)(fabsl((long double)got - expected) / expected), bound);
        }
}
END_TEST

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* One float in 2053 of those below 4.5, and a unit in the last place is a float's beside the value. */
START_TEST(keeps_the_bound_of_the_error_function)
{
    double worst = 0;
    for (uint32_t bits = 0x00800000; bits < 0x40900000; bits += 2053) {
        float x = float_of(bits);
        double expected = erf((double)x);
        double unit = (double)(nextafterf((float)expected, 2.0f) - (float)expected);
        worst = fmax(worst, fabs((double)mt_real_erf(x) - expected) / unit);
        ck_assert(mt_real_erf(-x) == -mt_real_erf(x));
    }
    ck_assert_double_lt(worst, 0.52);
}
END_TEST

START_TEST(knows_the_ends)
{
    ck_assert(mt_real_exp(-INFINITY) == 0 && isinf(mt_real_exp(INFINITY)));
    ck_assert(mt_real_exp(0) == 1 && isnan(mt_real_exp((double)NAN)));
    ck_assert(isinf(mt_real_log(0)) && mt_real_log(0) < 0 && isnan(mt_real_log(-1)));
    ck_assert(isinf(mt_real_log(INFINITY)) && isnan(mt_real_log((double)NAN)));
    ck_assert(mt_real_log(1) == 0 && isinf(mt_real_log1p(-1)) && mt_real_log1p(0) == 0);
    ck_assert(isnan(mt_real_log1p(-2)) && isnan(mt_real_log1p((double)NAN)));
    ck_assert(mt_real_pow(7, 0) == 1 && mt_real_pow(7, 1) == 7 && mt_real_pow(0, 2) == 0);
    ck_assert(isinf(mt_real_pow(0, -1)));
    ck_assert(mt_real_sin(0) == 0 && mt_real_cos(0) == 1 && isnan(mt_real_sin(INFINITY)));
    ck_assert(mt_real_erf(0) == 0 && signbit(mt_real_erf(-0.0f)));
    ck_assert(mt_real_erf(INFINITY) == 1 && mt_real_erf(-INFINITY) == -1);
    ck_assert(isnan(mt_real_erf(NAN)) && mt_real_erf(FLT_MIN) > 0);
}
END_TEST

/* Found on x86-64 with glibc 2.36; whoever finds another number has other bits. */
START_TEST(has_the_same_bits_everywhere)
{
    uint64_t hash = 1;
    for (int i = 0; i < 20000; i++) {
        double x = spread(0, 700, 10 * i);
        float small = (float)x / 150.0f, error = mt_real_erf(small);
        const double values[] = {mt_real_exp(-x), mt_real_log(x),      mt_real_log1p(x / 1000),
                                 mt_real_sin(x),  mt_real_pow(x, 0.6), mt_real_cos(x)};
        uint64_t bits[7] = {0};
        memcpy(bits, values, sizeof values);
        uint32_t error_bits;
        memcpy(&error_bits, &error, sizeof error);
        bits[6] = error_bits;
        for (size_t j = 0; j < 7; j++) /* by value: the order of bytes is the machine's */
            hash = (hash ^ bits[j]) * 0x100000001b3u;
    }
    ck_assert_msg(hash == 0x3a8ee2f3ed002696, "the bits' hash is 0x%llx", (unsigned long long)hash);
}
END_TEST

Suite *suite_real(void)
{
    Suite *suite = suite_create("real");
    TCase *tcase = tcase_create("functions");
    tcase_add_loop_test(tcase, keeps_its_bound, 0, sizeof functions / sizeof *functions);
    tcase_add_test(tcase, keeps_the_bound_of_powers);
    tcase_add_test(tcase, keeps_the_bound_of_the_error_function);
    tcase_add_test(tcase, knows_the_ends);
    tcase_add_test(tcase, has_the_same_bits_everywhere);
    suite_add_tcase(suite, tcase);
    return suite;
}
