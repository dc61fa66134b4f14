#include "weights/pack.h"

#include "base/size.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COLUMNS 16
#define K_GROUP 4
#define K_MULTIPLE 64
#define CHUNK K_MULTIPLE /* numbers of a column that are quantised at once */

size_t mt_pack_padded_k(size_t n_in)
{
    return mt_size_round_up(n_in, K_MULTIPLE);
}

size_t mt_pack_padded_n(size_t n_out)
{
    return mt_size_round_up(n_out, COLUMNS);
}

static size_t offset_of(size_t padded_k, size_t n, size_t k)
{
    size_t block = n / COLUMNS * COLUMNS * padded_k;
    return block + k / K_GROUP * (COLUMNS * K_GROUP) + n % COLUMNS * K_GROUP + k % K_GROUP;
}

/* n <= CHUNK. The maxima are independent, so that a compiler can use vectors. */
static void raise_to_magnitudes(float largest[CHUNK], const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float magnitude = fabsf(x[i]);
        largest[i] = magnitude > largest[i] ? magnitude : largest[i];
    }
}

static float largest_magnitude(const float *row, size_t n)
{
    float largest[CHUNK] = {0}, result = 0;
    size_t k = 0;
    for (; n - k >= CHUNK; k += CHUNK)
        raise_to_magnitudes(largest, row + k, CHUNK);
    raise_to_magnitudes(largest, row + k, n - k);
    for (size_t i = 0; i < CHUNK; i++)
        result = largest[i] > result ? largest[i] : result;
    return result;
}

/* Rounds to the nearest integer, ties to even, for |x| < 2^22: the sum has no room for a fraction,
 * and its low bits are the integer. rintf would be a function call for each number in builds
 * without SSE4.1. */
static int32_t round_to_even(float x)
{
    const float no_fraction = 0x1.8p23f;
    float sum = x + no_fraction;
    int32_t bits, offset;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&offset, &no_fraction, sizeof offset);
    return bits - offset;
}

/* Returns the sum of what it wrote. */
static int32_t quantize(const float *x, size_t n, float scale, int8_t *out)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        /* at most 127 in magnitude, since the scale was chosen so */
        int32_t q = round_to_even(x[i] / scale);
        out[i] = (int8_t)q;
        sum += q;
    }
    return sum;
}

void mt_pack_columns(const float *w, size_t n_out, size_t n_in, size_t first_column, int8_t *packed,
                     float *scales, int32_t *column_sums)
{
    size_t padded_k = mt_pack_padded_k(n_in);
    for (size_t i = 0; i < n_out; i++) {
        const float *row = w + i * n_in;
        size_t n = first_column + i;
        float amax = largest_magnitude(row, n_in);
        float scale = amax / 127.0f;
        if (scale < FLT_MIN) /* it is denormal, and not precise enough to divide by */
            scale = 1.0f;
        int32_t sum = 0;
        for (size_t k = 0; k < n_in; k += CHUNK) {
            int8_t chunk[CHUNK] = {0};
            /* a constant number of iterations, so that the compiler can unroll */
            if (n_in - k >= CHUNK)
                sum += quantize(row + k, CHUNK, scale, chunk);
            else
                sum += quantize(row + k, n_in - k, scale, chunk);
            for (size_t j = 0; j < CHUNK; j += K_GROUP)
                memcpy(packed + offset_of(padded_k, n, k + j), chunk + j, K_GROUP);
        }
        scales[n] = scale;
        column_sums[n] = sum;
    }
}

void mt_pack_int8_columns(const int8_t *w, float scale, size_t n_out, size_t n_in,
                          size_t first_column, int8_t *packed, float *scales, int32_t *column_sums)
{
    size_t padded_k = mt_pack_padded_k(n_in);
    for (size_t i = 0; i < n_out; i++) {
        size_t n = first_column + i;
        const int8_t *row = w + i * n_in;
        int32_t sum = 0;
        for (size_t k = 0; k < n_in; k++)
            sum += row[k];
        for (size_t k = 0; k < n_in; k += K_GROUP)
            memcpy(packed + offset_of(padded_k, n, k), row + k, mt_size_min(K_GROUP, n_in - k));
        scales[n] = scale;
        column_sums[n] = sum;
    }
}

int8_t mt_pack_at(const int8_t *packed, size_t n_in, size_t n, size_t k)
{
    return packed[offset_of(mt_pack_padded_k(n_in), n, k)];
}
