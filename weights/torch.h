/*
 * PyTorch checkpoints (pytorch_model.bin): a dict of names and tensors, as torch.save writes it,
 * in a zip archive or, before PyTorch 1.6, in a container of its own.
 *
 * Nothing is executed (pickle.h), nothing is believed: each storage must be as long as its numbers
 * need, each tensor must lie inside its storage, and strides are followed. Formats: torch's
 * serialization.py and inline_container.cc.
 *
 * Thread-safety: the function is safe.
 */
#ifndef MT_WEIGHTS_TORCH_H
#define MT_WEIGHTS_TORCH_H

#include "weights/image.h"

/* The most tensors of a checkpoint. */
#define MT_TORCH_MAX_TENSORS 16384

/* Reads the file in bytes and makes a safetensors file of it in memory, in the order of the dict.
 * Of tensors that are the same view of the same storage (tied weights) the first one alone is kept.
 * *out is the caller's. MT_FORMAT, MT_UNSUPPORTED, MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_torch_read(const unsigned char *bytes, size_t length,
                                           const char *path, struct mt_image **out,
                                           struct mt_error *err);

#endif
