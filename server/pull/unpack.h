/*
 * Unpacks files that are stored compressed at their origin: gzip (RFC 1952) and Zstandard (RFC
 * 8878).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_PULL_UNPACK_H
#define MT_SERVER_PULL_UNPACK_H

#include "server/pull/digest.h"

enum mt_packing {
    MT_PACKING_NONE = 0,
    MT_PACKING_GZIP,
    MT_PACKING_ZSTD,
};

/* Returns ".gz", ".zst", or "". */
const char *mt_packing_suffix(enum mt_packing packing);

/* Unpacks the file `from` into the file `to`, which is replaced, and returns size and SHA-256 of
 * the result. MT_FORMAT: the file is not packed, or truncated; MT_LIMIT: the result has more than
 * limit_bytes; MT_IO. After a failure `to` is deleted. */
MT_MUST_CHECK enum mt_status mt_unpack(enum mt_packing packing, const char *from, const char *to,
                                       int64_t limit_bytes, int64_t *size,
                                       char sha256[MT_SHA256_HEX_BYTES], struct mt_error *err);

#endif
