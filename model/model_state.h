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
    uint64_t serial; /* unique among all models of this process */
    struct mt_hparams hparams;
    struct mt_weights weights;
    const struct mt_kernels *kernels;
    enum mt_precision precision;
    bool has_shortlist;
    struct mt_shortlist shortlist; /* points into shortlist_file */
    struct mt_document shortlist_file;
    const int8_t *output_columns; /* [n_out, k_padded] (candidates.h); NULL: only packed */
    struct mt_target_vocabulary *target_vocabularies; /* allocated in the arena */
    size_t n_target_vocabularies;
    /* weights are unchanged in the file (MT_BIND_STORED), and cannot be used for computing */
    bool is_unpacked;
    bool is_copied; /* the file's bytes were copied into memory (MT_LOAD_COPY) */
    struct mt_tokenizer *tokenizer;
    struct mt_safetensors *file;
    struct mt_arena *arena;        /* widened weights, layer tables, positions */
    struct mt_image *image;        /* the packed form, unless it is in a file */
    struct mt_pack_writer *writer; /* then it owns the image; NULL: there is none */
    char note[512];
};

#endif
