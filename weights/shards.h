/*
 * Weights in several safetensors files, with an index that says which tensor is where:
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

/* The files that an index names, each once, in the order in which it names them. */
struct mt_shard_list {
    size_t n;
    char (*names)[MT_SHARDS_MAX_NAME_BYTES + 1];
};
MT_MUST_CHECK enum mt_status mt_shards_list(const char *index_path, struct mt_shard_list *out,
                                            struct mt_error *err);
/* Lists the shards of an index in memory; path is for messages. */
MT_MUST_CHECK enum mt_status mt_shards_list_memory(const char *bytes, size_t length,
                                                   const char *path, struct mt_shard_list *out,
                                                   struct mt_error *err);
void mt_shard_list_finish(struct mt_shard_list *list);

/* Opens the files, which lie beside their index, as one. A name that leads to another directory, a
 * tensor that is not where the index says, or one that two files have, is MT_FORMAT; statuses
 * otherwise as of mt_safetensors_load. */
MT_MUST_CHECK enum mt_status mt_shards_open(const char *index_path, enum mt_load_mode mode,
                                            struct mt_safetensors **out, struct mt_error *err);

#endif
