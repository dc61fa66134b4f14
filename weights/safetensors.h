/*
 * safetensors files: named tensors, mapped and borrowed.
 *
 *   u64 little-endian N | N bytes of JSON | buffer
 *   {"name": {"dtype": "F16", "shape": [8001, 256], "data_offsets": [begin, end]}, ...,
 *    "__metadata__": {"k": "v"}}
 *
 * Nothing in the file is trusted: the header is bounded before anything is allocated, every offset
 * is checked against the file, tensors may neither overlap nor leave holes, and the last one ends
 * where the file ends. Each broken rule has its own message. Format: the safetensors crate's
 * tensor.rs.
 *
 * Thread-safety: a file is immutable after open.
 */
#ifndef MT_WEIGHTS_SAFETENSORS_H
#define MT_WEIGHTS_SAFETENSORS_H

#include "base/file.h"
#include "weights/dtype.h"

#include <stdbool.h>

#define MT_SAFETENSORS_MAX_RANK 8
#define MT_SAFETENSORS_MAX_TENSORS 65536
#define MT_SAFETENSORS_MAX_HEADER_BYTES 100000000
#define MT_SAFETENSORS_MAX_NAME_BYTES 512

struct mt_tensor {
    const char *name; /* borrowed from the file */
    enum mt_dtype dtype;
    size_t rank;
    size_t shape[MT_SAFETENSORS_MAX_RANK];
    size_t n_elements;
    const void *data; /* borrowed from the mapping; row-major; may be unaligned (see
                         mt_tensor_is_aligned) */
    size_t n_bytes;
};

struct mt_safetensors;

/* Maps the file and checks its structure. MT_NOT_FOUND, MT_IO, MT_FORMAT (malformed), MT_LIMIT,
 * MT_UNSUPPORTED (an unknown dtype). */
MT_MUST_CHECK enum mt_status mt_safetensors_open(const char *path, struct mt_safetensors **out,
                                                 struct mt_error *err);

/* Opens the file as mt_safetensors_open does, but loads it in this mode. */
MT_MUST_CHECK enum mt_status mt_safetensors_load(const char *path, enum mt_load_mode mode,
                                                 struct mt_safetensors **out, struct mt_error *err);

/* Whether the file is unchanged since it was opened: see mt_mapping_check. */
MT_MUST_CHECK enum mt_status mt_safetensors_check_mapping(const struct mt_safetensors *file,
                                                          struct mt_error *err);

/* Opens bytes, which the caller keeps alive and unchanged. path is for messages. */
MT_MUST_CHECK enum mt_status mt_safetensors_open_memory(const void *bytes, size_t length,
                                                        const char *path,
                                                        struct mt_safetensors **out,
                                                        struct mt_error *err);

/* Opens a mapping, which the file owns if this succeeds. */
MT_MUST_CHECK enum mt_status mt_safetensors_adopt(const struct mt_mapping *mapping,
                                                  const char *path, struct mt_safetensors **out,
                                                  struct mt_error *err);

/* Joins several files into one that has the tensors of all and owns the files, even if this fails.
 * path is for messages. MT_FORMAT for a tensor that two of them have. The result has no
 * metadata. */
MT_MUST_CHECK enum mt_status mt_safetensors_join(struct mt_safetensors *const *parts,
                                                 size_t n_parts, const char *path,
                                                 struct mt_safetensors **out, struct mt_error *err);

/* NULL is allowed. Pointers into the file become invalid. */
void mt_safetensors_close(struct mt_safetensors *file);

const char *mt_safetensors_path(const struct mt_safetensors *file);
size_t mt_safetensors_bytes(const struct mt_safetensors *file);

/* Tensors in the order of their data; the last function returns NULL if there is none of that
 * name. */
size_t mt_safetensors_count(const struct mt_safetensors *file);
const struct mt_tensor *mt_safetensors_at(const struct mt_safetensors *file, size_t index);
const struct mt_tensor *mt_safetensors_find(const struct mt_safetensors *file, const char *name);

/* Returns a value of __metadata__, or NULL. */
const char *mt_safetensors_metadata(const struct mt_safetensors *file, const char *key);

/* Whether data may be read in place as an array of its type. */
bool mt_tensor_is_aligned(const struct mt_tensor *tensor);

#endif
