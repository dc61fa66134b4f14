/*
 * Weights in several safetensors files, with an index that tells which tensor is in which file:
 *
 *   {"metadata": {...}, "weight_map": {"model.shared.weight": "model-00001-of-00002.safetensors"}}
 *
 * Format: model.safetensors.index.json as Hugging Face's save_pretrained writes it.
 */
#ifndef MT_WEIGHTS_SHARDS_H
#define MT_WEIGHTS_SHARDS_H

#include "weights/safetensors.h"

#define MT_SHARDS_MAX_FILES 256
#define MT_SHARDS_MAX_INDEX_BYTES ((size_t)16 << 20)
#define MT_SHARDS_MAX_NAME_BYTES 255

/* The files in an index, in its order, without duplicates. */
struct mt_shard_list {
    size_t n;
    char (*names)[MT_SHARDS_MAX_NAME_BYTES + 1];
};
MT_MUST_CHECK enum mt_status mt_shards_list(const char *index_path, struct mt_shard_list *out,
                                            struct mt_error *err);
/* Lists the files of an index in memory; path is for messages. */
MT_MUST_CHECK enum mt_status mt_shards_list_memory(const char *bytes, size_t length,
                                                   const char *path, struct mt_shard_list *out,
                                                   struct mt_error *err);
void mt_shard_list_finish(struct mt_shard_list *list);

/* Opens the files, which are beside their index, as one. MT_FORMAT: a name leads to another
 * directory, or a tensor is not where the index says, or is in two files; other statuses are those
 * of mt_safetensors_load. */
MT_MUST_CHECK enum mt_status mt_shards_open(const char *index_path, enum mt_load_mode mode,
                                            struct mt_safetensors **out, struct mt_error *err);

#endif
