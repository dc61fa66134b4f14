/*
 * Hyper-parameters of an encoder-decoder Transformer, read from config.json and
 * generation_config.json of a MarianMT directory. Defaults for absent keys are those of Hugging
 * Face's configuration_marian.py; a key that would ask for something we do not implement is refused
 * by name.
 */
#ifndef MT_MODEL_HPARAMS_H
#define MT_MODEL_HPARAMS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum mt_activation { MT_RELU, MT_SILU, MT_GELU };

/* Where the sines and cosines of a position go. Vaswani et al. 2017, section 3.5, interleaves them;
 * MarianMT and fairseq put all sines before all cosines. */
enum mt_position_layout { MT_POSITIONS_CONCATENATED, MT_POSITIONS_INTERLEAVED };

/* When beam search ends once it has n_beams hypotheses: at once; when the best live beam scores no
 * better now; or when it could score no better at its longest. */
enum mt_early_stopping { MT_STOP_HEURISTIC, MT_STOP_AT_ONCE, MT_STOP_NEVER_EARLY };

#define MT_MAX_SUPPRESSED 8
#define MT_MAX_BEAMS 16
#define MT_NO_TOKEN (-1)

struct mt_hparams {
    size_t d_model;
    size_t n_encoder_layers, n_decoder_layers;
    size_t n_encoder_heads, n_decoder_heads;
    size_t d_ff_encoder, d_ff_decoder;
    size_t n_source_vocab, n_target_vocab;
    size_t max_positions; /* longest source and target, special tokens included */
    enum mt_activation activation;
    enum mt_position_layout position_layout;
    bool normalize_before;    /* pre-norm */
    bool normalize_embedding; /* a layer norm behind the embeddings */
    bool final_norm;          /* a layer norm behind the last layer */
    bool learned_positions;   /* the file must hold the tables of positions */
    bool scale_embedding;     /* multiply embeddings by sqrt(d_model) */
    bool shared_embeddings;   /* source and target use one table */
    bool tied_output;         /* the output projection is the target embedding */

    int32_t eos_id, pad_id, start_id;
    int32_t forced_eos_id;                 /* forced at the last position, or MT_NO_TOKEN */
    int32_t suppressed[MT_MAX_SUPPRESSED]; /* bad_words_ids of one token each: never generated */
    size_t n_suppressed;

    /* Generation defaults of the model. */
    size_t max_length; /* of a target: start + generated + eos */
    size_t n_beams;
    float length_penalty;
    enum mt_early_stopping early_stopping;
    bool renormalize_logits; /* probabilities sum to 1 without the suppressed tokens */
};

/* Reads directory/config.json and, where it exists, directory/generation_config.json. */
MT_MUST_CHECK enum mt_status mt_hparams_read(const char *directory, struct mt_hparams *out,
                                             struct mt_error *err);

#endif
