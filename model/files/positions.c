#include "model/files/positions.h"

#include "base/real.h"

/* The exponent of 10000 for the ith pair. Where there is only one pair, it is both the first and
 * the last of the progression. */
static double exponent(enum mt_position_formula formula, size_t i, size_t d_model)
{
    if (formula == MT_POSITIONS_PAPER)
        return 2.0 * (double)i / (double)d_model;
    return d_model > 2 ? (double)i / ((double)d_model / 2.0 - 1.0) : 0.0;
}

void mt_positions_fill(const struct mt_position_scheme *scheme, size_t n, size_t d_model,
                       float *table)
{
    size_t half = d_model / 2;
    bool interleaved = scheme->layout == MT_POSITIONS_INTERLEAVED;
    for (size_t pos = 0; pos < n; pos++) {
        float *row = table + pos * d_model;
        for (size_t i = 0; i < half; i++) {
            double angle = (double)(pos + scheme->first) /
                           mt_real_pow(10000.0, exponent(scheme->formula, i, d_model));
            row[interleaved ? 2 * i : i] = (float)mt_real_sin(angle);
            row[interleaved ? 2 * i + 1 : half + i] = (float)mt_real_cos(angle);
        }
    }
}
