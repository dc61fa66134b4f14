/*
 * Binding: each weight's field, tensor name and shape in one table, for MarianMT files.
 */
#ifndef MT_MODEL_FILES_BIND_H
#define MT_MODEL_FILES_BIND_H

#include "base/arena.h"
#include "model/files/hparams.h"
#include "model/files/weights.h"
#include "weights/safetensors.h"

/* What a file holds, and what the model takes of it. */
#define MT_BIND_MAX_NAMED 4
struct mt_bind_report {
    size_t n_tensors, n_bytes; /* in the file */
    bool has_f32, has_f16, has_bf16, has_i8, has_other;
    size_t n_unused; /* tensors that no field takes; the first few by name */
    char unused[MT_BIND_MAX_NAMED][MT_SAFETENSORS_MAX_NAME_BYTES + 1];
    bool no_output_bias;     /* zeros are taken */
    bool computed_positions; /* they are not in the file */
};

/* What the scale of a matrix of I8 numbers, an F32 tensor of one number, is called: NAME_scale. */
#define MT_BIND_SCALE_SUFFIX "_scale"

enum mt_bind_form {
    MT_BIND_FP32,   /* all of them to compute with */
    MT_BIND_STORED, /* matrices as the file has them, to be packed or only looked for: linears'
                       parts have .stored instead of .weight, and each embedding a .packed linear
                       with such a part instead of a .table. Vectors and positions are fp32. */
};

/* Matrices may be F32, F16, BF16, or I8 from -127 to 127 with a scale; everything else the first three.
 *
 * Finds every tensor that hparams call for, checks its shape and numbers and fills *out. F32
 * tensors are used in place where they are aligned; what is to be fp32 and is not is widened into
 * the arena, which must outlive the weights, as must the file. Errors name tensor, expected and
 * found shape. Tensors that no field takes are ignored, except norms that the configuration does
 * not mention (MT_UNSUPPORTED) and layers beyond its number (MT_FORMAT): they would change the
 * result. report may be NULL. */
MT_MUST_CHECK enum mt_status mt_bind_marian(const struct mt_safetensors *file,
                                            const struct mt_hparams *hparams,
                                            enum mt_bind_form form, struct mt_arena *arena,
                                            struct mt_weights *out, struct mt_bind_report *report,
                                            struct mt_error *err);

#endif
