/*
 * The matrices of an inspection one by one, for drawing: for each sentence every matrix of every
 * requested tensor, or otherwise the alignment.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_MATRIX_H
#define MT_SERVER_INSPECTION_INSPECTION_MATRIX_H

#include "server/inspection/inspection_formats.h"

/* Most matrices that are drawn together. */
#define MT_MAX_MATRICES 4096

struct mt_inspection_matrix {
    const struct mt_inspection *inspection;
    const struct mt_inspected_sentence *sentence;
    struct mt_attention_tensor tensor; /* rank 0: the alignment */
    size_t index;                      /* index among the tensor's matrices */
    size_t n_rows, n_columns;
    const struct mt_inspected_token *row_tokens, *column_tokens;
};

/* Lists the matrices of the cursor's sentences; malloc'd, the caller frees *out. MT_LIMIT above
 * MT_MAX_MATRICES. */
MT_MUST_CHECK enum mt_status mt_inspection_matrices(const struct mt_inspection_cursor *cursor,
                                                    struct mt_inspection_matrix **out, size_t *n,
                                                    struct mt_error *err);

/* Returns n_columns numbers, borrowed until the next call for the same inspection. */
const float *mt_inspection_matrix_row(const struct mt_inspection_matrix *matrix, size_t row);

double mt_inspection_matrix_largest(const struct mt_inspection_matrix *matrix);

/* Appends "cross, layer 1, heads 0-7", or "alignment: mean, layers 1,2, heads 0-7". */
void mt_inspection_matrix_describe(const struct mt_inspection_matrix *matrix, struct mt_text *out);

/* Returns the layer and head of a matrix of one head; false for the alignment and for means. */
bool mt_inspection_matrix_head(const struct mt_inspection_matrix *matrix, size_t *layer,
                               size_t *head);

#endif
