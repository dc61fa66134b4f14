/*
 * Files that are packed where they come from: gzip (RFC 1952) and Zstandard (RFC 8878).
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

/* ".gz", ".zst", or "". */
const char *mt_packing_suffix(enum mt_packing packing);

/* Unpacks the file from into the file to, which is replaced, and gives size and SHA-256 of what came
 * out. MT_FORMAT: it is no such file, or cut; MT_LIMIT: more than limit_bytes come out; MT_IO. On
 * failure to is deleted. */
MT_MUST_CHECK enum mt_status mt_unpack(enum mt_packing packing, const char *from, const char *to,
                                       int64_t limit_bytes, int64_t *size,
                                       char sha256[MT_SHA256_HEX_BYTES], struct mt_error *err);

#endif
