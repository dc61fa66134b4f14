/*
 * Sinusoidal positions (Vaswani et al. 2017, section 3.5): PE(pos, 2i) = sin(pos / 10000^(2i/D)),
 * PE(pos, 2i+1) = cos of the same; or, in the concatenated layout, all sines first; or by another
 * formula (enum mt_position_formula).
 */
#ifndef MT_MODEL_FILES_POSITIONS_H
#define MT_MODEL_FILES_POSITIONS_H

#include "model/files/hparams.h"

struct mt_position_scheme {
    enum mt_position_layout layout;
    enum mt_position_formula formula;
    size_t first; /* the pos of row 0 */
};

/* Fills table [n, d_model]. The numbers are computed in double and rounded once, like the
 * reference's. d_model is even. */
void mt_positions_fill(const struct mt_position_scheme *scheme, size_t n, size_t d_model,
                       float *table);

#endif
