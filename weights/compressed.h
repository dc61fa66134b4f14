/*
 * Unpacks files that are compressed as a whole, gzip (RFC 1952) and Zstandard (RFC 8878), into
 * memory. If a file has several members or frames, all are unpacked, one behind the other.
 * Checksums are compared if the format has them.
 *
 * Nothing is trusted: a truncated or damaged file, and one that gets too large, are errors.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_WEIGHTS_COMPRESSED_H
#define MT_WEIGHTS_COMPRESSED_H

#include "base/file.h"

enum mt_compression { MT_NOT_COMPRESSED, MT_GZIP, MT_ZSTANDARD };

/* Tells the compression by the name's ending, ".gz" or ".zst"; *n_plain gets the length of the name
 * without it. */
enum mt_compression mt_compression_of(const char *name, size_t *n_plain);

/* The caller closes *out with mt_mapping_close. path is for messages. MT_FORMAT, MT_LIMIT (the
 * result has more than limit_bytes, or there is no memory for it), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_decompress(enum mt_compression compression,
                                           const unsigned char *bytes, size_t length,
                                           const char *path, size_t limit_bytes,
                                           struct mt_mapping *out, struct mt_error *err);

#endif
