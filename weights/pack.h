/*
 * Quantises weights to int8 and packs them for the kernels (model/kernels/kernels.h, struct
 * mt_qgemm).
 *
 * Each output feature (column) n has a scale of its own, amax / 127; its weights become round(w /
 * scale), -127 to 127. The layout is [N/16][K/4][16][4], K padded with zeros to a multiple of 64,
 * and the same for AMX tiles, AVX512-VNNI, AVX2 and plain C.
 */
#ifndef MT_WEIGHTS_PACK_H
#define MT_WEIGHTS_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Return the padded number of inputs, and of columns. */
size_t mt_pack_padded_k(size_t n_in);
size_t mt_pack_padded_n(size_t n_out);

/* Packs w [n_out, n_in] as columns [first_column, first_column + n_out) of a packed matrix that is
 * zeroed before. scales and column_sums (of the quantised weights) are the matrix's, indexed by
 * column. w is finite. A row whose scale would be below FLT_MIN (so that it is practically zero)
 * gets scale 1 and becomes zeros. */
void mt_pack_columns(const float *w, size_t n_out, size_t n_in, size_t first_column, int8_t *packed,
                     float *scales, int32_t *column_sums);

/* Packs weights that already are int8, -127 to 127, all with the same scale. Nothing is rounded,
 * and every column gets that scale. */
void mt_pack_int8_columns(const int8_t *w, float scale, size_t n_out, size_t n_in,
                          size_t first_column, int8_t *packed, float *scales, int32_t *column_sums);

/* Returns the packed weight of column n, row k. */
int8_t mt_pack_at(const int8_t *packed, size_t n_in, size_t n, size_t k);

#endif
