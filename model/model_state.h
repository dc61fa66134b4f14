/*
 * The inside of a model. Immutable once open.
 */
#ifndef MT_MODEL_MODEL_STATE_H
#define MT_MODEL_MODEL_STATE_H

#include "model/model.h"
#include "model/target_vocabularies.h"
#include "model/files/source.h"
#include "model/files/weights.h"
#include "weights/shortlist.h"

struct mt_arena;
struct mt_image;
struct mt_pack_writer;
struct mt_safetensors;

struct mt_model {
    uint64_t serial; /* no other model of this process has had it */
    struct mt_hparams hparams;
    struct mt_weights weights;
    const struct mt_kernels *kernels;
    enum mt_precision precision;
    bool has_shortlist;
    struct mt_shortlist shortlist; /* a view of */
    struct mt_document shortlist_file;
    const int8_t *output_columns; /* [n_out, k_padded] (candidates.h); NULL: only packed */
    struct mt_target_vocabulary *target_vocabularies; /* in the arena */
    size_t n_target_vocabularies;
    bool is_unpacked; /* weights are where the file has them (MT_BIND_STORED): nothing computes */
    bool is_copied;   /* the file's bytes are in memory of ours (MT_LOAD_COPY) */
    struct mt_tokenizer *tokenizer;
    struct mt_safetensors *file;
    struct mt_arena *arena;        /* widened weights, layer tables, positions */
    struct mt_image *image;        /* the packed form, where it is not in a file */
    struct mt_pack_writer *writer; /* the image is its own then; NULL: there is none */
    char note[512];
};

#endif
