/*
 * Hyper-parameters of an encoder-decoder Transformer, read from config.json and
 * generation_config.json of a MarianMT directory, or what a reader of another family gives in their
 * place (foreign.h). Defaults for absent keys are those of Hugging Face's configuration_marian.py;
 * a key that would ask for something we do not implement is refused by name.
 *
 * Keys of config.json that are ours, for what other families do in another way. They are read where
 * model_type is MT_OWN_MODEL_TYPE (foreign.h), as readers of other families write it, and so
 * directories that were imported. Where it is "marian" they say nothing, as in transformers:
 * exporters write some of them whatever the model is.
 *
 *   layer_norm_eps              1e-5
 *   normalize_before            false
 *   normalize_embedding         false
 *   add_final_layer_norm        false
 *   static_position_embeddings  true
 *   position_layout             concatenated | interleaved
 *   position_formula            paper | tensor2tensor
 *   first_position              0 | 1 | 2
 *   positions_skip_padding      false
 *   start_from_zero_embedding   false
 *   decoder_cell                attention | ssru
 *   norm                        layer | rms
 *   feed_forward                plain | gated
 *   search                      generate | marian | ctranslate2
 *   word_penalty                0        marian
 *   max_length_factor           0: none  marian
 */
#ifndef MT_MODEL_FILES_HPARAMS_H
#define MT_MODEL_FILES_HPARAMS_H

#include "base/status.h"
#include "model/kernels/activation.h"
#include "model/tokenizer/vocab.h"

#include <stdbool.h>
#include <stdint.h>

/* The order of a position's sines and cosines. Vaswani et al. 2017, section 3.5, interleaves them;
 * MarianMT and fairseq put all sines before all cosines. */
enum mt_position_layout { MT_POSITIONS_CONCATENATED, MT_POSITIONS_INTERLEAVED };

/* The wavelengths of the D/2 sines and cosines: 2 pi 10000^(2i/D), as in the paper and MarianMT; or
 * 2 pi 10000^(i/(D/2-1)), so that the last one is 2 pi 10000, as in Tensor2Tensor, Marian and
 * OpenNMT-tf. */
enum mt_position_formula { MT_POSITIONS_PAPER, MT_POSITIONS_TENSOR2TENSOR };

/* How a decoder layer represents the target so far: by attention to all of its positions, or by the
 * state of a recurrent cell, the simpler simple recurrent unit (Kim et al. 2019, "From Research to
 * Production and Back: Ludicrously Fast Neural Machine Translation", section 3.1):
 *
 *   f = sigmoid(W_f x + b_f)    c' = f * c + (1 - f) * W x    SSRU(x) = relu(c')
 *
 * elementwise, where c is the previous state, which is zero at first. */
enum mt_decoder_cell { MT_CELL_ATTENTION, MT_CELL_SSRU };

/* The formula of norms: LayerNorm(x) = (x - mean) / sqrt(variance + eps) * gamma + beta, or
 * RMSNorm(x) = x / sqrt(mean(x^2) + eps) * gamma (Zhang and Sennrich 2019, "Root Mean Square Layer
 * Normalization"). */
enum mt_norm_kind { MT_NORM_LAYER, MT_NORM_RMS };

/* The inner part of a feed-forward block: act(x W1), or act(x W1) * (x V), element by element
 * (Shazeer 2020, "GLU Variants Improve Transformer"). */
enum mt_feed_forward_kind { MT_FEED_FORWARD_PLAIN, MT_FEED_FORWARD_GATED };

/* The rules for searching and scoring hypotheses: those of Hugging Face's generate, Marian or
 * CTranslate2 (search.h). */
enum mt_search_rules { MT_SEARCH_GENERATE, MT_SEARCH_MARIAN, MT_SEARCH_CTRANSLATE2 };

/* When beam search ends once it has n_beams hypotheses: at once; when the best live beam does not
 * score better now; or when it could not score better even at its longest. */
enum mt_early_stopping { MT_STOP_HEURISTIC, MT_STOP_AT_ONCE, MT_STOP_NEVER_EARLY };

#define MT_MAX_SUPPRESSED 8
#define MT_MAX_BEAMS 16

struct mt_hparams {
    size_t d_model;
    size_t n_encoder_layers, n_decoder_layers;
    size_t n_encoder_heads, n_decoder_heads;
    size_t d_ff_encoder, d_ff_decoder;
    size_t n_source_vocab, n_target_vocab;
    size_t max_positions; /* longest source and target, including special tokens */
    enum mt_activation activation;
    enum mt_decoder_cell decoder_cell;
    enum mt_norm_kind norm_kind;
    enum mt_feed_forward_kind feed_forward_kind;
    enum mt_position_layout position_layout;
    enum mt_position_formula position_formula;
    /* position of the first token, in the formula or in the learned table: 0 to 2 */
    size_t first_position;
    float norm_eps;           /* of the norms */
    bool zero_start;          /* the start token's embedding is zero, regardless of its row */
    bool normalize_before;    /* pre-norm */
    bool normalize_embedding; /* a layer norm after the embeddings */
    bool final_norm;          /* a layer norm after the last layer */
    bool learned_positions;   /* the file must hold the tables of positions */
    bool scale_embedding;     /* multiply embeddings by sqrt(d_model) */
    bool shared_embeddings;   /* source and target use one table */
    bool tied_output;         /* the output projection is the target embedding */

    /* The padding token has no position in a text, and later tokens of a source are counted without
     * it, as in M2M100. */
    bool positions_skip_padding;

    int32_t eos_id, pad_id, start_id;
    int32_t forced_bos_id;                 /* first token of every target, or MT_NO_TOKEN */
    int32_t forced_eos_id;                 /* forced at the last position, or MT_NO_TOKEN */
    int32_t suppressed[MT_MAX_SUPPRESSED]; /* bad_words_ids of one token each: never generated */
    size_t n_suppressed;

    /* Generation defaults of the model. */
    size_t max_length; /* of a target: start + generated + eos */
    size_t n_beams;
    float length_penalty;
    enum mt_early_stopping early_stopping;
    enum mt_search_rules search_rules;
    float word_penalty; /* subtracted from a hypothesis's sum for each of its tokens */
    /* of a target, as a multiple of the source's tokens; 0: no such limit */
    float max_length_factor;
    bool renormalize_logits; /* probabilities sum to 1 without the suppressed tokens */
};

/* Reads the source's config.json and, if it exists, generation_config.json. */
struct mt_source;
MT_MUST_CHECK enum mt_status mt_hparams_read(const struct mt_source *source, struct mt_hparams *out,
                                             struct mt_error *err);

#endif
