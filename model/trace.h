/*
 * Numbers that were computed inside the model for one sentence, above all its attention: the
 * weights softmax(q k^T / sqrt(d_k)) of every layer and head.
 *
 * Row t of a decoder matrix belongs to step t: the decoder consumed input token t (start, then the
 * output so far) and predicted output token t. Rows sum to 1; decoder self-attention is 0 for
 * positions after its row.
 */
#ifndef MT_MODEL_TRACE_H
#define MT_MODEL_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum mt_trace_kind {
    MT_TRACE_ENCODER = 1, /* encoder self-attention [Le, H, S, S] */
    /* decoder self-attention [Ld, H, T, T]; ignored if the decoder has a recurrent cell instead */
    MT_TRACE_DECODER = 2,
    MT_TRACE_CROSS = 4, /* decoder attention to the source [Ld, H, T, S] */
    MT_TRACE_ENCODER_STATES =
        8, /* input of each layer, and output of the last one [Le + 1, 1, S, D] */
    MT_TRACE_DECODER_STATES = 16, /* the same for the decoder [Ld + 1, 1, T, D] */
    /* before softmax [1, 1, T, V]; -infinity for tokens that a shortlist excludes */
    MT_TRACE_LOGITS = 32,
    /* The operands of attention (section 3.2). Those of the decoder's self-attention are ignored if
     * its weights are. */
    MT_TRACE_ENCODER_QUERIES = 1 << 6, /* [Le, H, S, K] */
    MT_TRACE_DECODER_QUERIES = 1 << 7, /* [Ld, H, T, K] */
    MT_TRACE_CROSS_QUERIES = 1 << 8,   /* [Ld, H, T, K] */
    /* [Le, H, S, K]; keys and values as they were read, so from a binary16 cache they are
     * rounded */
    MT_TRACE_ENCODER_KEYS = 1 << 9,
    MT_TRACE_DECODER_KEYS = 1 << 10,   /* [Ld, H, T, K] */
    MT_TRACE_CROSS_KEYS = 1 << 11,     /* [Ld, H, S, K] */
    MT_TRACE_ENCODER_VALUES = 1 << 12, /* shapes as for the keys */
    MT_TRACE_DECODER_VALUES = 1 << 13,
    MT_TRACE_CROSS_VALUES = 1 << 14,
    /* the output of each head, with shapes as for the queries; 0 for a head that is switched off */
    MT_TRACE_ENCODER_OUTPUTS = 1 << 15,
    MT_TRACE_DECODER_OUTPUTS = 1 << 16,
    MT_TRACE_CROSS_OUTPUTS = 1 << 17,
    /* x before each sublayer and after the last: P + 1 positions instead of heads, where P is 2 in
     * the encoder (attention, feed-forward) and 3 in the decoder (self-attention or cell, attention
     * to the source, feed-forward). */
    MT_TRACE_ENCODER_STREAM = 1 << 18, /* [Le, 3, S, D] */
    MT_TRACE_DECODER_STREAM = 1 << 19, /* [Ld, 4, T, D] */
    /* f(x), which each sublayer adds to x. */
    MT_TRACE_ENCODER_ADDED = 1 << 20, /* [Le, 2, S, D] */
    MT_TRACE_DECODER_ADDED = 1 << 21, /* [Ld, 3, T, D] */
    /* The feed-forward block's hidden layer, after its activation, and after the multiplication if
     * it is gated. */
    MT_TRACE_ENCODER_HIDDEN = 1 << 22, /* [Le, 1, S, F] */
    MT_TRACE_DECODER_HIDDEN = 1 << 23, /* [Ld, 1, T, F] */
};
#define MT_TRACE_KINDS 24

/* A kind is place << quantity, where the place is MT_TRACE_ENCODER, MT_TRACE_DECODER or, for
 * weights, queries, keys, values and outputs, MT_TRACE_CROSS. */
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

/* The heads of MT_TRACE_CROSS that are kept, each once, as layer * H + head. n 0: all. An alignment
 * needs a few of them, and those of all layers take ten to forty times the memory. */
struct mt_kept_heads {
    const uint16_t *items;
    size_t n;
};

struct mt_trace;

/* Number of matrices, and their rows and columns. All are 0 for a kind that was not asked for. */
struct mt_trace_shape {
    size_t n_layers, n_heads, n_rows, n_columns;
};
struct mt_trace_shape mt_trace_shape(const struct mt_trace *trace, enum mt_trace_kind kind);

/* Returns one row: n_columns numbers, borrowed from the sentence. The head has to be kept. */
const float *mt_trace_row(const struct mt_trace *trace, enum mt_trace_kind kind, size_t layer,
                          size_t head, size_t row);

#endif
