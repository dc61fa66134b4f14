/*
 * Computes the digests that registries publish, while bytes arrive: SHA-256, and git's name of a
 * blob, which is the SHA-1 of "blob SIZE", a NUL and the bytes.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_DIGEST_H
#define MT_SERVER_PULL_DIGEST_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MT_SHA256_HEX_BYTES 65 /* with the NUL */
#define MT_SHA1_HEX_BYTES 41

/* Has to be {0} until begin. */
struct mt_digest {
    void *sha256, *git_blob;
    int64_t length;   /* bytes so far */
    int64_t git_size; /* size of the blob; -1: its name is not computed */
};

/* git_size is the size of the whole file, if git's name is needed, otherwise -1. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_digest_begin(struct mt_digest *digest, int64_t git_size,
                                             struct mt_error *err);
void mt_digest_add(struct mt_digest *digest, const void *bytes, size_t length);

/* Adds the whole file of a descriptor, regardless of its position. path is for the message.
 * MT_IO. */
MT_MUST_CHECK enum mt_status mt_digest_add_file(struct mt_digest *digest, int fd, const char *path,
                                                struct mt_error *err);

/* Writes lowercase hexadecimal. git_blob may be NULL; it is "" if it was not computed. Leaves
 * {0}. */
void mt_digest_end(struct mt_digest *digest, char sha256[MT_SHA256_HEX_BYTES],
                   char git_blob[MT_SHA1_HEX_BYTES]);

/* Frees the digest without a result. {0} is allowed. */
void mt_digest_drop(struct mt_digest *digest);

#endif
