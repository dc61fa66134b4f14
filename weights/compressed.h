/*
 * Files that are compressed as a whole: gzip (RFC 1952) and Zstandard (RFC 8878), unpacked into
 * memory. Of several members or frames all are unpacked, one behind the other. Checksums are
 * compared where the format has them.
 *
 * Nothing is believed: what is cut, damaged, or unpacks to more than it may is an error.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_WEIGHTS_COMPRESSED_H
#define MT_WEIGHTS_COMPRESSED_H

#include "base/file.h"

enum mt_compression { MT_NOT_COMPRESSED, MT_GZIP, MT_ZSTANDARD };

/* By the name's ending, ".gz" or ".zst"; *n_plain is the length of the name without it. */
enum mt_compression mt_compression_of(const char *name, size_t *n_plain);

/* *out is the caller's: mt_mapping_close it. path is for messages. MT_FORMAT, MT_LIMIT (more than
 * limit_bytes come out, or there is no memory for them), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_decompress(enum mt_compression compression,
                                           const unsigned char *bytes, size_t length,
                                           const char *path, size_t limit_bytes,
                                           struct mt_mapping *out, struct mt_error *err);

#endif
