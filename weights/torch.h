/*
 * PyTorch checkpoints (pytorch_model.bin): a dict of names and tensors that torch.save writes into
 * a zip archive or, before PyTorch 1.6, into a container of its own.
 *
 * Nothing is executed (pickle.h), and nothing is trusted: each storage must be as long as its
 * numbers need, each tensor must be inside its storage, and strides are followed. Formats: torch's
 * serialization.py and inline_container.cc.
 *
 * Thread-safety: the function is safe.
 */
#ifndef MT_WEIGHTS_TORCH_H
#define MT_WEIGHTS_TORCH_H

#include "weights/image.h"

/* Most tensors of a checkpoint. */
#define MT_TORCH_MAX_TENSORS 16384

/* Reads the file in bytes and makes a safetensors file of it in memory, in the order of the dict.
 * If several tensors are the same view of the same storage (tied weights), only the first one is
 * kept. The caller owns *out. MT_FORMAT, MT_UNSUPPORTED, MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_torch_read(const unsigned char *bytes, size_t length,
                                           const char *path, struct mt_image **out,
                                           struct mt_error *err);

#endif
