/*
 * Image: a safetensors file that is made in memory, and then written at once.
 *
 * Add every tensor, allocate, fill, write. Each tensor begins at a multiple of 64 bytes if the
 * sizes allow it (those of a packed model are multiples of 64 bytes), so that vector code can use a
 * mapping in place.
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

/* Adds a pair to __metadata__, before mt_image_allocate. key and value are plain text. */
MT_MUST_CHECK enum mt_status mt_image_add_metadata(struct mt_image *image, const char *key,
                                                   const char *value, struct mt_error *err);

/* Adds a tensor behind the others, before mt_image_allocate. *index gets its number. */
MT_MUST_CHECK enum mt_status mt_image_add(struct mt_image *image, const char *name,
                                          enum mt_dtype dtype, size_t rank, const size_t *shape,
                                          size_t *index, struct mt_error *err);

/* Writes the header; the data start zeroed. */
MT_MUST_CHECK enum mt_status mt_image_allocate(struct mt_image *image, struct mt_error *err);

/* Returns where a tensor's numbers have to be written, little-endian as in every such file
 * (dtype.h). */
void *mt_image_data(struct mt_image *image, size_t index);

/* Returns the whole file, which is borrowed. */
const void *mt_image_bytes(const struct mt_image *image, size_t *length);

/* Writes the file under a temporary name in the same directory, syncs it and renames it to path, so
 * that nobody ever sees an incomplete file. */
MT_MUST_CHECK enum mt_status mt_image_write(const struct mt_image *image, const char *path,
                                            struct mt_error *err);

#endif
