/*
 * The packed int8 form of a model: one safetensors file with I8 weights in the kernels' layout, F32
 * scales, biases and norms, I32 column sums, and the tables of positions. It is mapped and used in
 * place, so that big-endian machines have files of their own, with a version that says so.
 *
 * A linear layer NAME has the tensors NAME.weight I8 [N/16, K/4, 16, 4], NAME.scale F32 [N],
 * NAME.sum I32 [N], NAME.bias F32 [N], with N padded to 16 and K to 64. Query, key and value are
 * one linear, and so are the two of a recurrent cell, and the cross-attention keys and values of
 * all decoder layers. A tied embedding is stored once.
 *
 * __metadata__ has format "attentiond-packed", version, the identity of the file that it was made
 * from, and the settings that determined its content, because with others it would be another
 * model.
 */
#ifndef MT_MODEL_FILES_PACKED_H
#define MT_MODEL_FILES_PACKED_H

#include "base/arena.h"
#include "model/files/source.h"
#include "model/files/hparams.h"
#include "model/files/weights.h"
#include "weights/image.h"
#include "weights/safetensors.h"

#define MT_PACKED_FORMAT "attentiond-packed"
#define MT_PACKED_VERSION (MT_IS_LITTLE_ENDIAN ? "3" : "3, big-endian")

/* Called after each tensor with the part of the work that is done. */
typedef void mt_packed_progress(void *context, size_t n_done, size_t n_total);

/* Whether a model of this shape can be packed. MT_UNSUPPORTED if d_model is not a multiple of 16,
 * or a layer reads more than 32,768 numbers (int32 sums could overflow). */
MT_MUST_CHECK enum mt_status mt_packed_check_shape(const struct mt_hparams *hparams,
                                                   struct mt_error *err);

/* Quantises and packs weights that are bound MT_BIND_STORED. MT_UNSUPPORTED as for
 * mt_packed_check_shape. The caller owns *out. */
MT_MUST_CHECK enum mt_status mt_packed_make(const struct mt_hparams *hparams,
                                            const struct mt_weights *weights,
                                            const struct mt_source_identity *source,
                                            mt_packed_progress *progress, void *progress_context,
                                            struct mt_image **out, struct mt_error *err);

/* Fills weights with pointers into the file. Layer tables come from the arena; file and arena must
 * outlive the weights. Every name, dtype and shape is checked against hparams. */
MT_MUST_CHECK enum mt_status mt_packed_bind(const struct mt_safetensors *file,
                                            const struct mt_hparams *hparams,
                                            struct mt_arena *arena, struct mt_weights *out,
                                            struct mt_error *err);

/* Whether the file is a packed form of this version, for these hparams, and was made from source
 * (NULL: from any). */
MT_MUST_CHECK enum mt_status mt_packed_check_identity(const struct mt_safetensors *file,
                                                      const struct mt_hparams *hparams,
                                                      const struct mt_source_identity *source,
                                                      struct mt_error *err);

#endif
