/*
 * Binding: each weight's field, tensor name and shape in one table, for MarianMT files.
 */
#ifndef MT_MODEL_BIND_H
#define MT_MODEL_BIND_H

#include "base/arena.h"
#include "model/weights.h"
#include "weights/safetensors.h"

/* Finds every tensor that hparams call for, checks its shape and fills *out. F32 tensors are used
 * in place where they are aligned; everything else is widened into the arena, which must outlive
 * the weights, as must the file. Errors name tensor, expected and found shape. Tensors that no
 * field takes are ignored, except norms that the configuration does not mention (MT_UNSUPPORTED)
 * and layers beyond its number (MT_FORMAT): they would change the result. */
MT_MUST_CHECK enum mt_status mt_bind_marian(const struct mt_safetensors *file,
                                            const struct mt_hparams *hparams,
                                            struct mt_arena *arena, struct mt_weights *out,
                                            struct mt_error *err);

#endif
