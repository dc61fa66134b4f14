/*
 * Sinusoidal positions (Vaswani et al. 2017, section 3.5): PE(pos, 2i) = sin(pos / 10000^(2i/D)),
 * PE(pos, 2i+1) = cos of the same; or, in the concatenated layout, all sines first.
 */
#ifndef MT_MODEL_POSITIONS_H
#define MT_MODEL_POSITIONS_H

#include "model/hparams.h"

/* Fills table [n, d_model]. Computed in double and rounded once, as the reference does. d_model is
 * even. */
void mt_positions_fill(enum mt_position_layout layout, size_t n, size_t d_model, float *table);

#endif
