/*
 * The head of an npy file: one array of little-endian fp32, row-major. Source: numpy.lib.format,
 * version 1.0.
 */
#ifndef MT_SERVER_INSPECTION_NPY_H
#define MT_SERVER_INSPECTION_NPY_H

#include "base/text.h"

/* Appends the head; the numbers follow it. out is empty before. */
void mt_npy_append_head(struct mt_text *out, const size_t *shape, size_t rank);

#endif
