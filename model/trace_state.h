/*
 * The inside of a trace: one block of numbers for each kind, allocated for the longest target and
 * filled row by row.
 */
#ifndef MT_MODEL_TRACE_STATE_H
#define MT_MODEL_TRACE_STATE_H

#include "base/arena.h"
#include "model/files/hparams.h"
#include "model/trace.h"

struct mt_trace_block {
    /* [row_capacity, n_matrices, column_capacity], NULL if not asked for. The row is the first
     * index, so that the memory after the last row, which is most of it for short targets, is never
     * touched. */
    float *numbers;
    size_t row_capacity, column_capacity;
    /* [n_layers * n_heads]: which of the matrices a head has, or MT_NOT_KEPT; NULL: its own */
    const uint16_t *matrices;
    size_t n_matrices;
    struct mt_trace_shape shape;
};

#define MT_NOT_KEPT UINT16_MAX

struct mt_trace {
    unsigned kinds; /* kinds that were asked for and exist */
    struct mt_trace_block blocks[MT_TRACE_KINDS];
};

/* Makes a trace of these kinds (enum mt_trace_kind, or'ed), with the heads of *kept alone, which is
 * copied. Its memory is the arena's; pages are committed as rows are written. */
MT_MUST_CHECK enum mt_status mt_trace_init(struct mt_trace *trace, const struct mt_hparams *hparams,
                                           unsigned kinds, const struct mt_kept_heads *kept,
                                           size_t n_source, size_t max_target,
                                           struct mt_arena *arena, struct mt_error *err);

/* Sets the final length of the target, which is the number of rows of the decoder's kinds. */
void mt_trace_set_target_length(struct mt_trace *trace, size_t n_target);

/* Copies n numbers into a row, zeroing the rest of it. Does nothing for a kind that was not asked
 * for, a head that is not kept, or for trace NULL. Different rows may be written at the same time.
 * */
void mt_trace_write(struct mt_trace *trace, enum mt_trace_kind kind, size_t layer, size_t head,
                    size_t row, const float *numbers, size_t n);

/* Returns where a row of n_columns numbers has to be written; those of the next head follow it.
 * NULL for a kind that was not asked for, or for trace NULL. */
float *mt_trace_at(struct mt_trace *trace, enum mt_trace_kind kind, size_t layer, size_t head,
                   size_t row);

/* Writes n numbers of a row from column first on, without changing the others. */
void mt_trace_write_part(struct mt_trace *trace, enum mt_trace_kind kind, size_t row, size_t first,
                         const float *numbers, size_t n);

/* Fills a row of the only matrix of a kind with one number. */
void mt_trace_fill(struct mt_trace *trace, enum mt_trace_kind kind, size_t row, float number);

#endif
