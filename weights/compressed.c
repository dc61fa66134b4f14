#include "weights/compressed.h"

#include "base/size.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#define GZIP_WINDOW_BITS (16 + 15) /* 16: zlib reads gzip's head and tail */
#define FIRST_BYTES ((size_t)1 << 20)
/* Most bytes for one call, because zlib counts in 32 bits. */
#define MOST_AT_ONCE ((size_t)1 << 30)

/* The unpacked bytes are in a mapping, because the owner of a file in memory unmaps it. */
struct unpacked {
    const char *path;
    unsigned char *bytes;
    size_t n, capacity, limit;
    struct mt_error *err;
};

enum mt_compression mt_compression_of(const char *name, size_t *n_plain)
{
    static const struct {
        const char *ending;
        enum mt_compression compression;
    } endings[] = {{".gz", MT_GZIP}, {".zst", MT_ZSTANDARD}};
    size_t n = strlen(name);
    *n_plain = n;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n_ending = strlen(endings[i].ending);
        if (n > n_ending && strcmp(name + n - n_ending, endings[i].ending) == 0) {
            *n_plain = n - n_ending;
            return endings[i].compression;
        }
    }
    return MT_NOT_COMPRESSED;
}

/* Makes room for more, up to one byte beyond the limit. */
static enum mt_status grow(struct unpacked *u)
{
    if (u->n < u->capacity)
        return MT_OK;
    if (u->n > u->limit)
        return mt_fail(u->err, MT_LIMIT, "%s: it unpacks to more than the %zu bytes that are read",
                       u->path, u->limit);
    size_t capacity = mt_size_min(u->capacity ? 2 * u->capacity : FIRST_BYTES, u->limit + 1);
    void *grown =
        u->bytes ? mremap(u->bytes, u->capacity, capacity, MREMAP_MAYMOVE)
                 : mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED)
        return mt_fail(u->err, MT_LIMIT,
                       "%s: no memory for the %zu bytes and more that it unpacks to", u->path,
                       u->n);
    u->bytes = grown;
    u->capacity = capacity;
    return MT_OK;
}

static enum mt_status fail_cut(const struct unpacked *u, const char *form)
{
    return mt_fail(u->err, MT_FORMAT, "%s: it ends in the middle of its %s data", u->path, form);
}

/* Unpacks until the room is full, or the gzip member ends. */
static enum mt_status inflate_step(struct unpacked *u, z_stream *stream, int *code)
{
    enum mt_status status = grow(u);
    if (status)
        return status;
    size_t room = mt_size_min(u->capacity - u->n, MOST_AT_ONCE);
    stream->next_out = u->bytes + u->n;
    stream->avail_out = (uInt)room;
    *code = inflate(stream, Z_NO_FLUSH);
    u->n += room - stream->avail_out;
    if (*code == Z_OK || *code == Z_STREAM_END || *code == Z_BUF_ERROR)
        return MT_OK;
    return mt_fail(u->err, *code == Z_MEM_ERROR ? MT_MEMORY : MT_FORMAT,
                   "%s: no gzip data, or damaged: %s", u->path,
                   stream->msg ? stream->msg : zError(*code));
}

static enum mt_status unpack_gzip(struct unpacked *u, const unsigned char *bytes, size_t length)
{
    z_stream stream = {0};
    bool is_between = false; /* no member is open */
    size_t at = 0;
    enum mt_status status = MT_OK;
    if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
        return mt_fail_memory(u->err, sizeof stream, "inflate");
    while (!status && at < length) {
        int code = Z_OK;
        size_t n_in = mt_size_min(length - at, MOST_AT_ONCE);
        stream.next_in = (unsigned char *)(uintptr_t)(bytes + at);
        stream.avail_in = (uInt)n_in;
        status = inflate_step(u, &stream, &code);
        at += n_in - stream.avail_in;
        is_between = code == Z_STREAM_END;
        if (is_between)
            inflateReset(&stream);
    }
    /* All input is read, but zlib may still have output. */
    while (!status && !is_between) {
        int code = Z_OK;
        size_t before = u->n;
        stream.avail_in = 0;
        status = inflate_step(u, &stream, &code);
        is_between = code == Z_STREAM_END;
        if (!status && !is_between && u->n == before)
            break;
    }
    inflateEnd(&stream);
    return status || is_between ? status : fail_cut(u, "gzip");
}

static enum mt_status unpack_zstd(struct unpacked *u, const unsigned char *bytes, size_t length)
{
    ZSTD_inBuffer in = {.src = bytes, .size = length};
    size_t left = 1; /* 0: no frame is open */
    enum mt_status status = MT_OK;
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return mt_fail_memory(u->err, ZSTD_DStreamInSize(), "Zstandard");
    while (!status && (in.pos < in.size || left)) {
        status = grow(u);
        if (status)
            break;
        ZSTD_outBuffer out = {.dst = u->bytes, .size = u->capacity, .pos = u->n};
        size_t before = in.pos;
        left = ZSTD_decompressStream(stream, &out, &in);
        bool is_stuck = in.pos == before && out.pos == u->n;
        u->n = out.pos;
        if (ZSTD_isError(left))
            status = mt_fail(u->err, MT_FORMAT, "%s: no Zstandard data, or damaged: %s", u->path,
                             ZSTD_getErrorName(left));
        else if (is_stuck)
            break;
    }
    ZSTD_freeDStream(stream);
    return status || left == 0 ? status : fail_cut(u, "Zstandard");
}

enum mt_status mt_decompress(enum mt_compression compression, const unsigned char *bytes,
                             size_t length, const char *path, size_t limit_bytes,
                             struct mt_mapping *out, struct mt_error *err)
{
    struct unpacked u = {.path = path, .limit = limit_bytes, .err = err};
    enum mt_status status =
        compression == MT_GZIP ? unpack_gzip(&u, bytes, length) : unpack_zstd(&u, bytes, length);
    if (!status && u.n > u.limit)
        status = grow(&u); /* returns the error */
    if (status || u.n == 0) {
        if (u.bytes)
            munmap(u.bytes, u.capacity);
        *out = (struct mt_mapping){0};
        return status;
    }
    /* Unused pages at the end are returned. */
    void *shrunk = mremap(u.bytes, u.capacity, u.n, 0);
    *out = (struct mt_mapping){.bytes = shrunk == MAP_FAILED ? u.bytes : shrunk, .length = u.n};
    return MT_OK;
}
