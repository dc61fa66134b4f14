#include "server/pull/unpack.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define GZIP_WINDOW_BITS (16 + 15) /* 16 means that zlib reads gzip's header and trailer */

struct unpacking {
    const char *from, *to;
    int in, out;
    unsigned char packed[BLOCK_BYTES], unpacked[BLOCK_BYTES];
    int64_t limit_bytes;
    struct mt_digest digest; /* of the unpacked bytes */
};

const char *mt_packing_suffix(enum mt_packing packing)
{
    return packing == MT_PACKING_GZIP ? ".gz" : packing == MT_PACKING_ZSTD ? ".zst" : "";
}

/* *length 0 is the end of the file. */
static enum mt_status read_block(struct unpacking *unpacking, size_t *length, struct mt_error *err)
{
    ssize_t n;
    do
        n = read(unpacking->in, unpacking->packed, BLOCK_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return mt_fail_errno(err, unpacking->from, "read");
    *length = (size_t)n;
    return MT_OK;
}

static enum mt_status put(struct unpacking *unpacking, size_t length, struct mt_error *err)
{
    if ((int64_t)length > unpacking->limit_bytes - unpacking->digest.length)
        return mt_fail(err, MT_LIMIT,
                       "%s: it unpacks to more than the %lld bytes that are expected",
                       unpacking->from, (long long)unpacking->limit_bytes);
    mt_digest_add(&unpacking->digest, unpacking->unpacked, length);
    const unsigned char *at = unpacking->unpacked;
    while (length > 0) {
        ssize_t n = write(unpacking->out, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mt_fail_errno(err, unpacking->to, "write");
        at += n;
        length -= (size_t)n;
    }
    return MT_OK;
}

static enum mt_status fail_cut(const struct unpacking *unpacking, const char *form,
                               struct mt_error *err)
{
    return mt_fail(err, MT_FORMAT, "%s: it ends in the middle of its %s data", unpacking->from,
                   form);
}

/* Inflates the members in one block; *is_between: no member is open. */
static enum mt_status inflate_block(struct unpacking *unpacking, z_stream *stream, bool *is_between,
                                    struct mt_error *err)
{
    enum mt_status status = MT_OK;
    do {
        stream->next_out = unpacking->unpacked;
        stream->avail_out = (uInt)BLOCK_BYTES;
        int code = inflate(stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return mt_fail(err, code == Z_MEM_ERROR ? MT_MEMORY : MT_FORMAT,
                           "%s: no gzip data, or damaged: %s", unpacking->from,
                           stream->msg ? stream->msg : zError(code));
        status = put(unpacking, BLOCK_BYTES - stream->avail_out, err);
        if (code != Z_BUF_ERROR) /* there was nothing left to read */
            *is_between = code == Z_STREAM_END;
        if (code == Z_STREAM_END)
            inflateReset(stream);
    } while (!status && (stream->avail_in > 0 || stream->avail_out == 0));
    return status;
}

static enum mt_status unpack_gzip(struct unpacking *unpacking, struct mt_error *err)
{
    z_stream stream = {0};
    bool is_between = false;
    size_t length = 0;
    enum mt_status status;
    if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
        return mt_fail(err, MT_MEMORY, "no memory to unpack %s", unpacking->from);
    while (!(status = read_block(unpacking, &length, err)) && length > 0) {
        stream.next_in = unpacking->packed;
        stream.avail_in = (uInt)length;
        status = inflate_block(unpacking, &stream, &is_between, err);
        if (status)
            break;
    }
    inflateEnd(&stream);
    return status || is_between ? status : fail_cut(unpacking, "gzip", err);
}

static enum mt_status unpack_zstd(struct unpacking *unpacking, struct mt_error *err)
{
    size_t left = 1; /* 0: no frame is open */
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return mt_fail(err, MT_MEMORY, "no memory to unpack %s", unpacking->from);
    size_t length = 0;
    enum mt_status status;
    while (!(status = read_block(unpacking, &length, err)) && length > 0) {
        ZSTD_inBuffer in = {.src = unpacking->packed, .size = length};
        ZSTD_outBuffer out;
        do {
            out = (ZSTD_outBuffer){.dst = unpacking->unpacked, .size = BLOCK_BYTES};
            left = ZSTD_decompressStream(stream, &out, &in);
            status = ZSTD_isError(left)
                         ? mt_fail(err, MT_FORMAT, "%s: no Zstandard data, or damaged: %s",
                                   unpacking->from, ZSTD_getErrorName(left))
                         : put(unpacking, out.pos, err);
        } while (!status && (in.pos < in.size || out.pos == out.size));
        if (status)
            break;
    }
    ZSTD_freeDStream(stream);
    return status || left == 0 ? status : fail_cut(unpacking, "Zstandard", err);
}

static enum mt_status run(struct unpacking *unpacking, enum mt_packing packing,
                          struct mt_error *err)
{
    enum mt_status status = mt_digest_begin(&unpacking->digest, -1, err);
    if (status)
        return status;
    unpacking->in = open(unpacking->from, O_RDONLY | O_CLOEXEC);
    if (unpacking->in < 0)
        return mt_fail_errno(err, unpacking->from, "open");
    unpacking->out =
        open(unpacking->to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, MT_FILE_MODE);
    if (unpacking->out < 0) {
        status = mt_fail_errno(err, unpacking->to, "open");
    } else {
        status =
            packing == MT_PACKING_GZIP ? unpack_gzip(unpacking, err) : unpack_zstd(unpacking, err);
        close(unpacking->out);
        if (status)
            unlink(unpacking->to);
    }
    close(unpacking->in);
    return status;
}

enum mt_status mt_unpack(enum mt_packing packing, const char *from, const char *to,
                         int64_t limit_bytes, int64_t *size, char sha256[MT_SHA256_HEX_BYTES],
                         struct mt_error *err)
{
    struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    if (!unpacking)
        return mt_fail_memory(err, sizeof *unpacking, from);
    unpacking->from = from;
    unpacking->to = to;
    unpacking->limit_bytes = limit_bytes;
    enum mt_status status = run(unpacking, packing, err);
    if (!status) {
        *size = unpacking->digest.length;
        mt_digest_end(&unpacking->digest, sha256, NULL);
    }
    mt_digest_drop(&unpacking->digest);
    free(unpacking);
    return status;
}
