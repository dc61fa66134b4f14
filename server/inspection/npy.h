/*
 * Writes an npy file: a head, then one array of little-endian fp32, row-major. Source:
 * numpy.lib.format, version 1.0. Numbers of safetensors are written in the same way.
 */
#ifndef MT_SERVER_INSPECTION_NPY_H
#define MT_SERVER_INSPECTION_NPY_H

#include "base/text.h"

/* Appends n numbers of 4 bytes each, integers or fp32, little-endian. */
void mt_npy_append_numbers(struct mt_text *out, const void *numbers, size_t n);

/* Appends the head, before the numbers, to out, which is empty. */
void mt_npy_append_head(struct mt_text *out, const size_t *shape, size_t rank);

#endif
