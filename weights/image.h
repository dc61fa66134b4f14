/*
 * Image: a safetensors file being made in memory, then written at once.
 *
 * Plan every tensor, allocate, fill, write. Each tensor starts at a multiple of 64 bytes when its
 * sizes allow it (the planner's tensors are multiples of 64 bytes long), so that a mapping can be
 * used in place by vector code.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_WEIGHTS_IMAGE_H
#define MT_WEIGHTS_IMAGE_H

#include "base/status.h"
#include "weights/dtype.h"

struct mt_image;

MT_MUST_CHECK enum mt_status mt_image_create(struct mt_image **out, struct mt_error *err);
void mt_image_destroy(struct mt_image *image);

/* A pair of __metadata__. Before mt_image_allocate. key and value are plain text. */
MT_MUST_CHECK enum mt_status mt_image_add_metadata(struct mt_image *image, const char *key,
                                                   const char *value, struct mt_error *err);

/* The next tensor, behind the others. *index is its number. Before mt_image_allocate. */
MT_MUST_CHECK enum mt_status mt_image_add(struct mt_image *image, const char *name,
                                          enum mt_dtype dtype, size_t rank, const size_t *shape,
                                          size_t *index, struct mt_error *err);

/* Writes the header; the data start zeroed. */
MT_MUST_CHECK enum mt_status mt_image_allocate(struct mt_image *image, struct mt_error *err);

/* Where to fill in a tensor's numbers, little-endian as in every such file (dtype.h). */
void *mt_image_data(struct mt_image *image, size_t index);

/* The whole file, borrowed. */
const void *mt_image_bytes(const struct mt_image *image, size_t *length);

/* Writes the file under a temporary name in the same directory, syncs it and renames it to path:
 * nobody ever sees half of it. */
MT_MUST_CHECK enum mt_status mt_image_write(const struct mt_image *image, const char *path,
                                            struct mt_error *err);

#endif
