/*
 * Files: read-only mappings of large ones, whole reads of small ones.
 */
#ifndef MT_BASE_FILE_H
#define MT_BASE_FILE_H

#include "base/status.h"

struct mt_mapping {
    const unsigned char *bytes; /* page-aligned; NULL for an empty file */
    size_t length;
};

/* Maps a regular file read-only. The mapping stays valid after the file is unlinked or replaced by
 * rename; weight files are never changed in place (weights/README.md). Thread-safety: the mapping
 * is immutable. */
MT_MUST_CHECK enum mt_status mt_mapping_open(const char *path, struct mt_mapping *out,
                                             struct mt_error *err);

/* Takes a zeroed or already closed mapping. */
void mt_mapping_close(struct mt_mapping *mapping);

/* The whole of a regular file of at most limit_bytes in *out: malloc'd, the caller frees it,
 * NUL-terminated behind *out_length. */
MT_MUST_CHECK enum mt_status mt_file_read(const char *path, size_t limit_bytes, char **out,
                                          size_t *out_length, struct mt_error *err);

/* Writes the file under a temporary name in the same directory, syncs it and renames it to path:
 * nobody ever sees half of it, and a failure leaves what was there. */
MT_MUST_CHECK enum mt_status mt_file_write(const char *path, const void *bytes, size_t length,
                                           struct mt_error *err);

/* Joins directory and name with one '/', malloc'd. */
MT_MUST_CHECK enum mt_status mt_path_join(const char *directory, const char *name, char **out,
                                          struct mt_error *err);

/* MT_OK if path names something that exists, MT_NOT_FOUND if not, without a message. */
enum mt_status mt_path_exists(const char *path);

#endif
