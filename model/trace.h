/*
 * What happened inside, for one sentence. Above all what attention looked at: the weights softmax(q
 * k^T / sqrt(d_k)) of every layer and head, for one sentence.
 *
 * Row t of a decoder matrix belongs to step t: the decoder consumed input token t (start, then the
 * output so far) and predicted output token t. Rows sum to 1; decoder self-attention is 0 for
 * positions after its row.
 */
#ifndef MT_MODEL_TRACE_H
#define MT_MODEL_TRACE_H

#include <stddef.h>

enum mt_trace_kind {
    MT_TRACE_ENCODER = 1, /* encoder self-attention [Le, H, S, S] */
    MT_TRACE_DECODER = 2, /* decoder self-attention [Ld, H, T, T]; not where the decoder has a
                             recurrent cell in its place: then as if it were not asked for */
    MT_TRACE_CROSS = 4,   /* decoder attention to the source [Ld, H, T, S] */
    MT_TRACE_ENCODER_STATES =
        8, /* what enters each layer, and what leaves the last [Le + 1, 1, S, D] */
    MT_TRACE_DECODER_STATES = 16, /* likewise [Ld + 1, 1, T, D] */
    MT_TRACE_LOGITS = 32,         /* before softmax [1, 1, T, V]; -infinity of what a shortlist
                                     leaves out */
};
#define MT_TRACE_KINDS 6

struct mt_trace;

/* Rows and columns of a kind's matrices, and how many there are. All 0 for a kind that was not
 * asked for. */
struct mt_trace_shape {
    size_t n_layers, n_heads, n_rows, n_columns;
};
struct mt_trace_shape mt_trace_shape(const struct mt_trace *trace, enum mt_trace_kind kind);

/* The weights of one row: n_columns numbers, borrowed from the sentence. */
const float *mt_trace_row(const struct mt_trace *trace, enum mt_trace_kind kind, size_t layer,
                          size_t head, size_t row);

#endif
