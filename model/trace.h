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
    /* What attention computes with (section 3.2); of the decoder's self-attention they
     * are left out where its weights are. */
    MT_TRACE_ENCODER_QUERIES = 1 << 6, /* [Le, H, S, K] */
    MT_TRACE_DECODER_QUERIES = 1 << 7, /* [Ld, H, T, K] */
    MT_TRACE_CROSS_QUERIES = 1 << 8,   /* [Ld, H, T, K] */
    MT_TRACE_ENCODER_KEYS = 1 << 9,    /* [Le, H, S, K]; keys and values are those that were read:
                                          of a cache that holds binary16, rounded */
    MT_TRACE_DECODER_KEYS = 1 << 10,   /* [Ld, H, T, K] */
    MT_TRACE_CROSS_KEYS = 1 << 11,     /* [Ld, H, S, K] */
    MT_TRACE_ENCODER_VALUES = 1 << 12, /* as the keys */
    MT_TRACE_DECODER_VALUES = 1 << 13,
    MT_TRACE_CROSS_VALUES = 1 << 14,
    MT_TRACE_ENCODER_OUTPUTS = 1 << 15, /* what each head gathered: as the queries; 0 of a head that
                                           is switched off */
    MT_TRACE_DECODER_OUTPUTS = 1 << 16,
    MT_TRACE_CROSS_OUTPUTS = 1 << 17,
    /* x before each sublayer and behind the last: P + 1 places in the place of heads, where P is 2 in
     * the encoder (attention, feed-forward) and 3 in the decoder (self-attention or cell, attention
     * to the source, feed-forward). */
    MT_TRACE_ENCODER_STREAM = 1 << 18, /* [Le, 3, S, D] */
    MT_TRACE_DECODER_STREAM = 1 << 19, /* [Ld, 4, T, D] */
    /* f(x), what each sublayer adds to it. */
    MT_TRACE_ENCODER_ADDED = 1 << 20, /* [Le, 2, S, D] */
    MT_TRACE_DECODER_ADDED = 1 << 21, /* [Ld, 3, T, D] */
    /* The feed-forward block's inner layer, behind its activation, and its factor where it is gated. */
    MT_TRACE_ENCODER_HIDDEN = 1 << 22, /* [Le, 1, S, F] */
    MT_TRACE_DECODER_HIDDEN = 1 << 23, /* [Ld, 1, T, F] */
};
#define MT_TRACE_KINDS 24

/* What is traced of a place: kind = place << quantity, where the place is MT_TRACE_ENCODER,
 * MT_TRACE_DECODER or, of weights, queries, keys, values and outputs, MT_TRACE_CROSS. */
enum mt_trace_quantity {
    MT_TRACED_WEIGHTS = 0,
    MT_TRACED_STATES = 3,
    MT_TRACED_QUERIES = 6,
    MT_TRACED_KEYS = 9,
    MT_TRACED_VALUES = 12,
    MT_TRACED_OUTPUTS = 15,
    MT_TRACED_STREAM = 18,
    MT_TRACED_ADDED = 20,
    MT_TRACED_HIDDEN = 22,
};

struct mt_trace;

/* Rows and columns of a kind's matrices, and how many there are. All 0 for a kind that was not
 * asked for. */
struct mt_trace_shape {
    size_t n_layers, n_heads, n_rows, n_columns;
};
struct mt_trace_shape mt_trace_shape(const struct mt_trace *trace, enum mt_trace_kind kind);

/* One row: n_columns numbers, borrowed from the sentence. */
const float *mt_trace_row(const struct mt_trace *trace, enum mt_trace_kind kind, size_t layer,
                          size_t head, size_t row);

#endif
