/*
 * Reads the Transformer in a model.bin of CTranslate2 (weights/ctranslate2.h), and makes tensors
 * with MarianMT's names: fused projections are cut into their parts, integers divided by their
 * scales. A variable without a known meaning is refused by name, because the model would compute
 * something else.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_MODEL_FAMILIES_CTRANSLATE2_MODEL_H
#define MT_MODEL_FAMILIES_CTRANSLATE2_MODEL_H

#include "model/kernels/activation.h"
#include "weights/ctranslate2.h"
#include "weights/image.h"

struct mt_ctranslate2_model {
    const struct mt_ctranslate2 *file;
    size_t d_model, d_ff_encoder, d_ff_decoder;
    size_t n_encoder_layers, n_decoder_layers;
    size_t n_encoder_heads, n_decoder_heads;
    size_t n_source_vocab, n_target_vocab; /* rows of the tables */
    size_t n_positions;                    /* for a source or target */
    /* there are tables of positions; otherwise they are computed like OpenNMT-tf's */
    bool has_positions;
    enum mt_activation activation;
    bool normalize_before, normalize_embedding, final_norm, scale_embedding;
    bool has_rms_norms, is_gated; /* mt_norm_kind, mt_feed_forward_kind (hparams.h) */
    bool shared_embeddings, tied_output;
    bool start_from_zero_embedding;
    /* Set for files before version 6, whose config.json does not have them. */
    bool source_bos, source_eos, target_bos;
};

/* file must outlive *out. MT_UNSUPPORTED (another kind of model), MT_FORMAT,
 * MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_ctranslate2_model_read(const struct mt_ctranslate2 *file,
                                                       struct mt_ctranslate2_model *out,
                                                       struct mt_error *err);

/* Makes the tensors, in the file's types, with int8 and int16 as F32. The caller owns *out. */
MT_MUST_CHECK enum mt_status mt_ctranslate2_model_weights(const struct mt_ctranslate2_model *model,
                                                          struct mt_image **out,
                                                          struct mt_error *err);

#endif
