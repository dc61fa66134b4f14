/*
 * Where a model directory's weights are, in the order in which they are looked for:
 *
 *   model.safetensors              used in place
 *   model.safetensors.index.json   several files, used in place
 *   pytorch_model.bin              copied into memory, by a process that can do nothing else
 */
#ifndef MT_MODEL_SOURCE_H
#define MT_MODEL_SOURCE_H

#include "weights/safetensors.h"

/* Opens the weights of a directory, in whatever form they lie there. MT_NOT_FOUND names the forms
 * that were looked for; other statuses as of mt_safetensors_load, mt_shards_open and
 * mt_torch_read. */
MT_MUST_CHECK enum mt_status mt_source_open(const char *directory, enum mt_load_mode mode,
                                            struct mt_safetensors **out, struct mt_error *err);

/* Which files these are, without reading them. Files of the same size, time of change and inode are
 * taken for the same. */
struct mt_source_identity {
    char text[128];
};
MT_MUST_CHECK enum mt_status
mt_source_identity_of(const char *directory, struct mt_source_identity *out, struct mt_error *err);

#endif
