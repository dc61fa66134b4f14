/*
 * A Marian model's files, found and opened, and the architecture that its settings describe. Names
 * of settings: marian-dev's src/common/config_parser.cpp; their effect: src/models/transformer.h.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_MODEL_H
#define MT_MODEL_FAMILIES_MARIAN_MODEL_H

#include "model/families/foreign.h"
#include "model/families/marian_arrays.h"
#include "model/families/marian_settings.h"
#include "model/kernels/activation.h"

struct mt_marian_model {
    /* decoder.yml, or its equivalent for Firefox's or HPLT's models */
    struct mt_marian_settings *decoder;
    struct mt_marian_settings *model; /* special:model.yml */
    struct mt_marian_arrays arrays;
    const struct mt_foreign_file *file;      /* the file of the arrays */
    const struct mt_foreign_file *vocabs[2]; /* source, target; often the same */
    const struct mt_foreign_file *shortlist; /* or NULL */
    /* source, target, if the names tell them; otherwise "" */
    char languages[2][12];
    bool is_hplt; /* one of HPLT's, which has no decoder.yml */

    size_t d_model, d_ff_encoder, d_ff_decoder, n_heads;
    size_t n_encoder_layers, n_decoder_layers;
    size_t n_source_vocab, n_target_vocab;
    size_t n_positions; /* learned ones, or 0 */
    enum mt_activation activation;
    bool shared_embeddings; /* source and target use one table, Wemb */
    bool tied_output;       /* the output projection is the target's table */
    bool has_output_bias;
    bool normalize_before, normalize_embedding, final_norm;
    bool has_ssru; /* the decoder has it instead of self-attention */
};

/* Opens the model that decoder.yml names, or the only one. *out is zeroed or finished after a
 * failure. */
MT_MUST_CHECK enum mt_status mt_marian_model_open(const struct mt_foreign_files *files,
                                                  struct mt_marian_model *out,
                                                  struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_marian_model_finish(struct mt_marian_model *model);

/* Returns the name of the table of embeddings for the source or the target. */
const char *mt_marian_table_name(const struct mt_marian_model *model, bool is_target);

#endif
