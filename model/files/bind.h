/*
 * Binding: finds the tensor for each of the model's weights, by a table of names and shapes, in
 * MarianMT files.
 */
#ifndef MT_MODEL_FILES_BIND_H
#define MT_MODEL_FILES_BIND_H

#include "base/arena.h"
#include "model/files/hparams.h"
#include "model/files/weights.h"
#include "weights/safetensors.h"

/* What a file contains, and what the model uses of it. */
#define MT_BIND_MAX_NAMED 4
struct mt_bind_report {
    size_t n_tensors, n_bytes; /* in the file */
    bool has_f32, has_f16, has_bf16, has_i8, has_other;
    size_t n_unused; /* tensors that the model does not use; the first few with their names */
    char unused[MT_BIND_MAX_NAMED][MT_SAFETENSORS_MAX_NAME_BYTES + 1];
    bool no_output_bias;     /* zeros are used */
    bool computed_positions; /* they were not in the file */
};

/* A matrix of I8 numbers NAME has its scale in the F32 tensor NAME_scale, which has one number. */
#define MT_BIND_SCALE_SUFFIX "_scale"

enum mt_bind_form {
    MT_BIND_FP32, /* everything as fp32, for computing */
    /* matrices as in the file, for packing or checking: parts of linears have .stored instead of
     * .weight, and each embedding a .packed linear with such a part instead of a .table. Vectors
     * and positions are fp32. */
    MT_BIND_STORED,
};

/* Finds every tensor that hparams require, checks its shape and numbers and fills *out. Matrices
 * may be F32, F16, BF16, or I8 from -127 to 127 with a scale; everything else the first three.
 * Aligned F32 tensors are used in place; others that have to be fp32 are widened into the arena.
 * Arena and file must outlive the weights. Errors name the tensor, and the expected and found
 * shape. Unused tensors are ignored, except norms that the configuration does not mention
 * (MT_UNSUPPORTED) and layers beyond its number (MT_FORMAT), because they would change the result.
 * report may be NULL. */
MT_MUST_CHECK enum mt_status mt_bind_marian(const struct mt_safetensors *file,
                                            const struct mt_hparams *hparams,
                                            enum mt_bind_form form, struct mt_arena *arena,
                                            struct mt_weights *out, struct mt_bind_report *report,
                                            struct mt_error *err);

#endif
