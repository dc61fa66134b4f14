/*
 * Where each weight of the Transformer is: views into the mapped file, or into widened copies.
 * Filled by bind.c.
 */
#ifndef MT_MODEL_WEIGHTS_H
#define MT_MODEL_WEIGHTS_H

#include "model/layers.h"

/* Multi-head attention: W^Q, W^K, W^V, W^O with biases. */
struct mt_self_attention {
    struct mt_linear qkv; /* [3D, D] */
    struct mt_linear out; /* [D, D] */
    struct mt_norm norm;
};

struct mt_cross_attention {
    struct mt_linear q;  /* [D, D] */
    struct mt_linear kv; /* [2D, D], applied to the encoder's output once per sentence */
    struct mt_linear out;
    struct mt_norm norm;
};

struct mt_feed_forward {
    struct mt_linear fc1; /* [F, D] */
    struct mt_linear fc2; /* [D, F] */
    struct mt_norm norm;
};

struct mt_encoder_layer {
    struct mt_self_attention self;
    struct mt_feed_forward ffn;
};

struct mt_decoder_layer {
    struct mt_self_attention self;
    struct mt_cross_attention cross;
    struct mt_feed_forward ffn;
};

struct mt_embedding {
    const float *table;      /* [V, D] fp32, or NULL: packed */
    struct mt_linear packed; /* int8: token n is output feature n of this */
    const float *positions;  /* [max_positions, D] */
    struct mt_norm norm;     /* where the model normalises embeddings */
};

struct mt_weights {
    struct mt_embedding source, target;
    struct mt_encoder_layer *encoder;          /* [Le] */
    struct mt_decoder_layer *decoder;          /* [Ld] */
    struct mt_norm encoder_norm, decoder_norm; /* behind the last layer, where the model has them */
    struct mt_linear output;                   /* [V, D], with final_logits_bias */
};

#endif
