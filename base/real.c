#include "base/real.h"

#include <math.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ln 2 and pi / 2 in parts; a first part times a number of 21 bits is exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define HALF_PI_HIGH 0x1.921fb544p+0
#define HALF_PI_MIDDLE 0x1.0b4611a6p-34
#define HALF_PI_LOW 0x1.3198a2e037073p-69
#define TWO_OVER_PI 0x1.45f306dc9c883p-1

/* sum_i c[i] x^i */
static double polynomial(const double *c, size_t n, double x)
{
    double sum = c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        sum = sum * x + c[i];
    return sum;
}

double mt_real_exp(double x)
{
    if (x < -708.0)
        return 0.0;
    if (x > 709.7)
        return INFINITY;
    if (x != x)
        return x;
    double n = rint(x * 0x1.71547652b82fep+0), r = (x - n * LN2_HIGH) - n * LN2_LOW;
    double sum = 1.0; /* the Taylor series: r^14 / 14! is below 5e-18 */
    for (int i = 13; i > 0; i--)
        sum = 1.0 + sum * r / (double)i;
    return ldexp(sum, (int)n);
}

/* 2 artanh(f) = log((1 + f) / (1 - f)), |f| below 0.172: the first term left out is below 1e-19. */
static double twice_artanh(double f)
{
    double z = f * f, sum = 0.0;
    for (int i = 23; i > 1; i -= 2)
        sum = (sum + 1.0 / (double)i) * z;
    return 2.0 * f + 2.0 * f * sum;
}

double mt_real_log(double x)
{
    if (!(x > 0.0) || isinf(x))
        return x == 0.0 ? -INFINITY : x < 0.0 ? (double)NAN : x;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) { /* the root of 1/2: m is about 1, above or below */
        m *= 2.0;
        exponent--;
    }
    double e = (double)exponent, rest = twice_artanh((m - 1.0) / (m + 1.0));
    return e * LN2_HIGH + (e * LN2_LOW + rest);
}

double mt_real_log1p(double x)
{
    if (x > -0.25 && x < 0.25)
        return twice_artanh(x / (2.0 + x));
    return mt_real_log(1.0 + x);
}

double mt_real_pow(double x, double y)
{
    if (y == 0.0)
        return 1.0;
    return y == 1.0 ? x : mt_real_exp(y * mt_real_log(x));
}

/* The Taylor series of sine and cosine for |x| up to pi / 4. */
static double short_sin(double x)
{
    double z = x * x, sum = 1.0;
    for (int i = 18; i > 0; i -= 2)
        sum = 1.0 - sum * z / (double)(i * (i + 1));
    return x * sum;
}

static double short_cos(double x)
{
    double z = x * x, sum = 1.0;
    for (int i = 18; i > 0; i -= 2)
        sum = 1.0 - sum * z / (double)(i * (i - 1));
    return sum;
}

/* sin(x + quarters * pi / 2) */
static double sin_of(double x, unsigned quarters)
{
    if (!(x >= -1e6 && x <= 1e6))
        return (double)NAN;
    double n = rint(x * TWO_OVER_PI);
    double r = ((x - n * HALF_PI_HIGH) - n * HALF_PI_MIDDLE) - n * HALF_PI_LOW;
    quarters += (unsigned)(int)n;
    double value = quarters & 1 ? short_cos(r) : short_sin(r);
    return quarters & 2 ? -value : value;
}

double mt_real_sin(double x)
{
    return sin_of(x, 0);
}

double mt_real_cos(double x)
{
    return sin_of(x, 1);
}

/* Fitted at Chebyshev's points: erf(x) / x as a polynomial of x^2 up to 1, error 4e-11 of it; from
 * there to 4 the logarithm of 1 - erf(x), error 7e-10 of erf(x). Beyond 4 a float is 1. */
float mt_real_erf(float x)
{
    static const double near_zero[] = {1.1283791670623611,     -0.37612638475990556,
                                       0.11283782622050732,    -0.026865438309819585,
                                       0.0052210534104828836,  -0.0008484396519146208,
                                       0.00011268253654450090, -9.6735900930705938e-06};
    static const double tail[] = {0.0003032129748473, -1.130166675537,     -0.6319370936058,
                                  -0.109978245199,    0.02636471741045,    -0.004740222360687,
                                  0.0005927695423633, -4.559062303616e-05, 1.614061635416e-06};
    double v = fabs((double)x);
    if (v <= 1.0)
        return (float)((double)x * polynomial(near_zero, COUNT(near_zero), v * v));
    if (v != v)
        return x;
    double value = v < 4.0 ? 1.0 - mt_real_exp(polynomial(tail, COUNT(tail), v)) : 1.0;
    return (float)(x < 0.0f ? -value : value);
}
