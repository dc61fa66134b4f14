/*
 * exp, log and related functions, sine and cosine, and the error function, made only of +, -, *, /
 * and exact steps, so that every C library and every processor with IEEE 754 gives the same bits.
 * Everything that a translation or a printed probability depends on is computed with these instead
 * of libm, whose functions differ between releases and processors. (sqrt, fma, rint, ldexp and
 * frexp are exact everywhere.)
 *
 * Error bounds are relative to the true value; tests/unit/base/test_real.c checks them. NaN gives
 * NaN. Thread-safety: safe.
 */
#ifndef MT_BASE_REAL_H
#define MT_BASE_REAL_H

/* Error below 2e-15 of the value. Below -708 it is 0, above 709.7 infinite. */
double mt_real_exp(double x);

/* Error below 1e-15 of the value. -infinity at 0, NaN below. x must not be denormal. */
double mt_real_log(double x);

/* log(1 + x), error below 2e-15 of the value. -infinity at -1, NaN below. */
double mt_real_log1p(double x);

/* x to the power of y for x >= 0: error below (2e-15 + 2e-15 |y log(x)|) of the value; x itself
 * where y is 1, and 1 where y is 0. */
double mt_real_pow(double x, double y);

/* |x| at most 1e6: error below 2e-15, absolute. */
double mt_real_sin(double x);
double mt_real_cos(double x);

/* The error function, rounded once: error below 0.52 units in the last place. */
float mt_real_erf(float x);

#endif
