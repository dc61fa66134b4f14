/*
 * The weights of the Transformer: pointers into the mapped file, or into widened copies. bind.c
 * fills them in.
 */
#ifndef MT_MODEL_FILES_WEIGHTS_H
#define MT_MODEL_FILES_WEIGHTS_H

#include "model/kernels/activation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_tensor;

/*
 * y = act(x W^T + b). In fp32, several matrices with the same input (query, key, value) are parts
 * of one linear, and are used where they are in the file; their outputs are adjacent. In int8 they
 * have been packed into one.
 */
struct mt_linear_part {
    const float *weight;            /* [n_out, n_in] */
    const struct mt_tensor *stored; /* the same in the file, for packing (bind.h) */
    float stored_scale;             /* for stored I8 numbers: value = number * scale */
    const float *bias;              /* [n_out], or NULL */
    size_t n_out;
};

#define MT_LINEAR_MAX_PARTS 3
struct mt_linear {
    size_t n_in, n_out;
    size_t n_parts; /* 0: int8 */
    struct mt_linear_part parts[MT_LINEAR_MAX_PARTS];

    /* int8: struct mt_qgemm */
    const int8_t *weights;
    const float *scales;
    const int32_t *column_sums;
    const float *bias;
    size_t k_padded;

    bool has_activation;
    enum mt_activation activation;
};

struct mt_norm {
    const float *gamma; /* [D]; NULL if the model has no such norm */
    const float *beta;  /* [D]; NULL: an RMS norm */
    float eps;
};

/* Multi-head attention: W^Q, W^K, W^V, W^O with biases. */
struct mt_self_attention {
    struct mt_linear qkv; /* [3D, D] */
    struct mt_linear out; /* [D, D] */
    struct mt_norm norm;
};

/* A recurrent cell (enum mt_decoder_cell). */
struct mt_cell {
    struct mt_linear gates; /* [2D, D]: W x, without bias, and W_f x + b_f */
    struct mt_norm norm;
};

struct mt_cross_attention {
    struct mt_linear q;  /* [D, D] */
    struct mt_linear kv; /* [2D, D], applied to the encoder's output once per sentence */
    struct mt_linear out;
    struct mt_norm norm;
};

struct mt_feed_forward {
    struct mt_linear fc1;    /* [F, D] */
    struct mt_linear factor; /* [F, D], of a gated block: fc1's output is multiplied by it */
    struct mt_linear fc2;    /* [D, F] */
    struct mt_norm norm;
};

struct mt_encoder_layer {
    struct mt_self_attention self;
    struct mt_feed_forward ffn;
};

struct mt_decoder_layer {
    struct mt_self_attention self; /* if the decoder has self-attention */
    struct mt_cell cell;           /* if the decoder has a recurrent cell */
    struct mt_cross_attention cross;
    struct mt_feed_forward ffn;
};

struct mt_embedding {
    const float *table;      /* [V, D] fp32, or NULL: packed */
    struct mt_linear packed; /* int8: token n is output feature n of this */
    const float *positions;  /* [max_positions, D] */
    struct mt_norm norm;     /* if the model normalises embeddings */
};

struct mt_weights {
    struct mt_embedding source, target;
    struct mt_encoder_layer *encoder;          /* [Le] */
    struct mt_decoder_layer *decoder;          /* [Ld] */
    struct mt_norm encoder_norm, decoder_norm; /* after the last layer, if the model has them */
    struct mt_linear output;                   /* [V, D], with final_logits_bias */
};

#endif
