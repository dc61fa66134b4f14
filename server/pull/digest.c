#include "server/pull/digest.h"

#include "base/file.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHA1_BYTES 20
#define SHA256_BYTES 32
#define READ_BYTES (256 << 10)

enum mt_status mt_digest_begin(struct mt_digest *digest, int64_t git_size, struct mt_error *err)
{
    gnutls_hash_hd_t sha256, git_blob = NULL;
    if (gnutls_hash_init(&sha256, GNUTLS_DIG_SHA256) < 0)
        return mt_fail(err, MT_MEMORY, "no memory for a SHA-256");
    if (git_size >= 0) {
        if (gnutls_hash_init(&git_blob, GNUTLS_DIG_SHA1) < 0) {
            gnutls_hash_deinit(sha256, NULL);
            return mt_fail(err, MT_MEMORY, "no memory for a SHA-1");
        }
        char head[32];
        int length = snprintf(head, sizeof head, "blob %lld", (long long)git_size);
        gnutls_hash(git_blob, head, (size_t)length + 1);
    }
    *digest = (struct mt_digest){.sha256 = sha256, .git_blob = git_blob, .git_size = git_size};
    return MT_OK;
}

void mt_digest_add(struct mt_digest *digest, const void *bytes, size_t length)
{
    gnutls_hash(digest->sha256, bytes, length);
    if (digest->git_blob)
        gnutls_hash(digest->git_blob, bytes, length);
    digest->length += (int64_t)length;
}

enum mt_status mt_digest_add_file(struct mt_digest *digest, int fd, const char *path,
                                  struct mt_error *err)
{
    char *bytes = malloc(READ_BYTES);
    if (!bytes)
        return mt_fail_memory(err, READ_BYTES, path);
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, bytes, READ_BYTES, at)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) {
            mt_digest_add(digest, bytes, (size_t)n);
            at += n;
        }
    free(bytes);
    return n < 0 ? mt_fail_errno(err, path, "read") : MT_OK;
}

static void print_hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void mt_digest_end(struct mt_digest *digest, char sha256[MT_SHA256_HEX_BYTES],
                   char git_blob[MT_SHA1_HEX_BYTES])
{
    unsigned char sum[SHA256_BYTES];
    gnutls_hash_deinit(digest->sha256, sum);
    print_hex(sum, SHA256_BYTES, sha256);
    if (git_blob)
        git_blob[0] = '\0';
    if (digest->git_blob)
        gnutls_hash_deinit(digest->git_blob, sum);
    if (digest->git_blob && git_blob)
        print_hex(sum, SHA1_BYTES, git_blob);
    *digest = (struct mt_digest){0};
}

void mt_digest_drop(struct mt_digest *digest)
{
    if (digest->sha256)
        gnutls_hash_deinit(digest->sha256, NULL);
    if (digest->git_blob)
        gnutls_hash_deinit(digest->git_blob, NULL);
    *digest = (struct mt_digest){0};
}
