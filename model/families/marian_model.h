/*
 * A Marian model's files, found and opened, and what its settings say of its architecture.
 *
 * Names of settings: marian-dev's src/common/config_parser.cpp; what they do: src/models/
 * transformer.h.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_MODEL_H
#define MT_MODEL_FAMILIES_MARIAN_MODEL_H

#include "model/families/foreign.h"
#include "model/families/marian_arrays.h"
#include "model/families/marian_settings.h"
#include "model/kernels/activation.h"

struct mt_marian_model {
    struct mt_marian_settings *decoder; /* decoder.yml, or what Firefox or HPLT has in its place */
    struct mt_marian_settings *model;   /* special:model.yml */
    struct mt_marian_arrays arrays;
    const struct mt_foreign_file *file;      /* the arrays' */
    const struct mt_foreign_file *vocabs[2]; /* source, target; often the same */
    const struct mt_foreign_file *shortlist; /* or NULL */
    char languages[2][12];                   /* source, target, if the names tell; else "" */
    bool is_hplt;                            /* without a decoder.yml */

    size_t d_model, d_ff_encoder, d_ff_decoder, n_heads;
    size_t n_encoder_layers, n_decoder_layers;
    size_t n_source_vocab, n_target_vocab;
    size_t n_positions; /* learned ones, or 0 */
    enum mt_activation activation;
    bool shared_embeddings; /* source and target use one table, Wemb */
    bool tied_output;       /* the output projection is the target's table */
    bool has_output_bias;
    bool normalize_before, normalize_embedding, final_norm;
    bool has_ssru; /* in the decoder, in the place of self-attention */
};

/* Opens the model that decoder.yml names, or the one that is there. *out is zeroed or finished where it fails. */
MT_MUST_CHECK enum mt_status mt_marian_model_open(const struct mt_foreign_files *files,
                                                  struct mt_marian_model *out,
                                                  struct mt_error *err);
/* Takes a zeroed one. */
void mt_marian_model_finish(struct mt_marian_model *model);

/* The name of the table of a side's embeddings: of the source, or of the target. */
const char *mt_marian_table_name(const struct mt_marian_model *model, bool is_target);

#endif
