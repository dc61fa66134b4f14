#include "model/positions.h"

#include <math.h>

void mt_positions_fill(enum mt_position_layout layout, size_t n, size_t d_model, float *table)
{
    size_t half = d_model / 2;
    for (size_t pos = 0; pos < n; pos++) {
        float *row = table + pos * d_model;
        for (size_t i = 0; i < half; i++) {
            double angle = (double)pos / pow(10000.0, 2.0 * (double)i / (double)d_model);
            bool interleaved = layout == MT_POSITIONS_INTERLEAVED;
            row[interleaved ? 2 * i : i] = (float)sin(angle);
            row[interleaved ? 2 * i + 1 : half + i] = (float)cos(angle);
        }
    }
}
