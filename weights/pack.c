#include "weights/pack.h"

#include "base/size.h"

#include <math.h>

#define COLUMNS 16
#define K_GROUP 4
#define K_MULTIPLE 64

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

void mt_pack_columns(const float *w, size_t n_out, size_t n_in, size_t first_column, int8_t *packed,
                     float *scales, int32_t *column_sums)
{
    size_t padded_k = mt_pack_padded_k(n_in);
    for (size_t i = 0; i < n_out; i++) {
        const float *row = w + i * n_in;
        size_t n = first_column + i;
        float amax = 0.0f;
        for (size_t k = 0; k < n_in; k++)
            amax = fmaxf(amax, fabsf(row[k]));
        float scale = amax > 0.0f ? amax / 127.0f : 1.0f;
        int32_t sum = 0;
        for (size_t k = 0; k < n_in; k++) {
            int32_t q = (int32_t)rintf(row[k] / scale);
            q = q < -127 ? -127 : q > 127 ? 127 : q;
            packed[offset_of(padded_k, n, k)] = (int8_t)q;
            sum += q;
        }
        scales[n] = scale;
        column_sums[n] = sum;
    }
}

int8_t mt_pack_at(const int8_t *packed, size_t n_in, size_t n, size_t k)
{
    return packed[offset_of(mt_pack_padded_k(n_in), n, k)];
}
