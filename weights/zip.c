#include "weights/zip.h"

#include "base/arena.h"
#include "base/size.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LOCAL_SIGNATURE 0x04034b50u
#define CENTRAL_SIGNATURE 0x02014b50u
#define END_SIGNATURE 0x06054b50u
#define END64_SIGNATURE 0x06064b50u
#define LOCATOR64_SIGNATURE 0x07064b50u

#define LOCAL_BYTES 30
#define CENTRAL_BYTES 46
#define END_BYTES 22
#define LOCATOR64_BYTES 20
#define END64_BYTES 56
#define MAX_COMMENT_BYTES 65535

#define FLAG_ENCRYPTED 1u
#define FLAG_SIZES_BEHIND 8u /* the local header's sizes are 0 */
#define EXTRA_ZIP64 1u

#define METHOD_STORED 0u
#define METHOD_DEFLATED 8u
/* Deflate cannot compress better than by this factor. */
#define MOST_BYTES_PER_BYTE 1032

struct mt_zip {
    struct mt_arena *arena;
    const unsigned char *bytes;
    size_t length;
    const char *path;
    bool may_be_deflated;
    struct mt_zip_entry *entries;
    const struct mt_zip_entry **by_name;
    size_t n_entries;
};

/* The position of the directory, and the sizes in the end record. */
struct directory {
    uint64_t begin, length, n_entries;
};

/* One entry of the directory, before it is verified. */
struct claim {
    const unsigned char *name;
    size_t name_bytes;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed_bytes, bytes, offset;
};

static unsigned get16(const unsigned char *at)
{
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const unsigned char *at)
{
    return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static uint64_t get64(const unsigned char *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

bool mt_zip_is(const unsigned char *bytes, size_t length)
{
    return length >= 4 && (get32(bytes) == LOCAL_SIGNATURE || get32(bytes) == END_SIGNATURE);
}

static enum mt_status fail(const struct mt_zip *zip, struct mt_error *err, const char *what)
{
    return mt_fail(err, MT_FORMAT, "%s: not a sound zip archive: %s", zip->path, what);
}

/* Finds the end record, which is the last one whose comment reaches exactly to the end of the
 * file. */
static const unsigned char *find_end(const struct mt_zip *zip)
{
    if (zip->length < END_BYTES)
        return NULL;
    size_t most = mt_size_min(zip->length - END_BYTES, MAX_COMMENT_BYTES);
    for (size_t comment = 0; comment <= most; comment++) {
        const unsigned char *end = zip->bytes + zip->length - END_BYTES - comment;
        if (get32(end) == END_SIGNATURE && get16(end + 20) == comment)
            return end;
    }
    return NULL;
}

/* Zip64 has the real numbers in a separate record, to which a locator before the end record
 * points. */
static enum mt_status read_end64(const struct mt_zip *zip, const unsigned char *end,
                                 struct directory *out, struct mt_error *err)
{
    size_t at = (size_t)(end - zip->bytes);
    if (at < LOCATOR64_BYTES || get32(end - LOCATOR64_BYTES) != LOCATOR64_SIGNATURE)
        return MT_OK;
    uint64_t offset = get64(end - LOCATOR64_BYTES + 8);
    if (at - LOCATOR64_BYTES < END64_BYTES || offset > at - LOCATOR64_BYTES - END64_BYTES ||
        get32(zip->bytes + offset) != END64_SIGNATURE)
        return fail(zip, err, "the zip64 end record is not where its locator says");
    const unsigned char *record = zip->bytes + offset;
    if (get32(record + 16) != 0 || get32(record + 20) != 0)
        return mt_fail(err, MT_UNSUPPORTED, "%s: a zip archive of several disks", zip->path);
    *out = (struct directory){
        .begin = get64(record + 48), .length = get64(record + 40), .n_entries = get64(record + 32)};
    return MT_OK;
}

static enum mt_status find_directory(const struct mt_zip *zip, struct directory *out,
                                     struct mt_error *err)
{
    const unsigned char *end = find_end(zip);
    if (!end)
        return fail(zip, err, "there is no end record; the file may be cut short");
    if (get16(end + 4) != 0 || get16(end + 6) != 0)
        return mt_fail(err, MT_UNSUPPORTED, "%s: a zip archive of several disks", zip->path);
    *out = (struct directory){
        .begin = get32(end + 16), .length = get32(end + 12), .n_entries = get16(end + 10)};
    enum mt_status status = read_end64(zip, end, out, err);
    if (status)
        return status;
    size_t limit = (size_t)(end - zip->bytes);
    if (out->begin > limit || out->length > limit - out->begin)
        return fail(zip, err, "the directory does not fit into the file");
    if (out->n_entries > MT_ZIP_MAX_ENTRIES)
        return mt_fail(err, MT_LIMIT, "%s: %llu entries, expected at most %d", zip->path,
                       (unsigned long long)out->n_entries, MT_ZIP_MAX_ENTRIES);
    return MT_OK;
}

/* Sizes and offset that need more than 32 bits are in an extra field, in this order, each only if
 * the record has all bits set instead of it. */
static bool read_extra64(const unsigned char *extra, size_t length, struct claim *claim)
{
    uint64_t *const wide[] = {&claim->bytes, &claim->packed_bytes, &claim->offset};
    for (size_t at = 0; at + 4 <= length;) {
        size_t size = get16(extra + at + 2);
        if (size > length - at - 4)
            return false;
        const unsigned char *field = extra + at + 4;
        at += 4 + size;
        if (get16(field - 4) != EXTRA_ZIP64)
            continue;
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (size < 8)
                return false;
            *wide[i] = get64(field);
            field += 8;
            size -= 8;
        }
        return true;
    }
    return claim->bytes != UINT32_MAX && claim->packed_bytes != UINT32_MAX &&
           claim->offset != UINT32_MAX;
}

/* Reads the record at *at and moves behind it. */
static enum mt_status read_claim(const struct mt_zip *zip, size_t *at, size_t end,
                                 struct claim *out, struct mt_error *err)
{
    const unsigned char *record = zip->bytes + *at;
    if (end - *at < CENTRAL_BYTES || get32(record) != CENTRAL_SIGNATURE)
        return fail(zip, err, "the directory has fewer entries than it says");
    size_t name_bytes = get16(record + 28), extra_bytes = get16(record + 30);
    size_t n = CENTRAL_BYTES + name_bytes + extra_bytes + get16(record + 32);
    if (n > end - *at)
        return fail(zip, err, "an entry reaches beyond the directory");
    *out = (struct claim){.name = record + CENTRAL_BYTES,
                          .name_bytes = name_bytes,
                          .flags = get16(record + 8),
                          .method = get16(record + 10),
                          .crc = get32(record + 16),
                          .packed_bytes = get32(record + 20),
                          .bytes = get32(record + 24),
                          .offset = get32(record + 42)};
    if (!read_extra64(record + CENTRAL_BYTES + name_bytes, extra_bytes, out))
        return fail(zip, err, "an entry's extra fields are broken");
    if (get16(record + 34) != 0)
        return mt_fail(err, MT_UNSUPPORTED, "%s: a zip archive of several disks", zip->path);
    *at += n;
    return MT_OK;
}

static enum mt_status keep_name(struct mt_zip *zip, const struct claim *claim,
                                struct mt_zip_entry *entry, struct mt_error *err)
{
    if (claim->name_bytes == 0 || claim->name_bytes > MT_ZIP_MAX_NAME_BYTES ||
        memchr(claim->name, '\0', claim->name_bytes))
        return fail(zip, err, "an entry's name is empty, longer than 512 bytes, or holds a NUL");
    if (mt_utf8_valid_prefix((const char *)claim->name, claim->name_bytes) != claim->name_bytes)
        return fail(zip, err, "an entry's name is not UTF-8");
    return mt_arena_copy_string(zip->arena, (const char *)claim->name, claim->name_bytes,
                                &entry->name, err);
}

/* Reads the entry's own header, which repeats the directory's values and determines where the bytes
 * begin. */
static enum mt_status find_bytes(const struct mt_zip *zip, const struct claim *claim,
                                 size_t directory, struct mt_zip_entry *entry, struct mt_error *err)
{
    if (directory < LOCAL_BYTES || claim->offset > directory - LOCAL_BYTES)
        return fail(zip, err, "an entry lies outside the archive");
    const unsigned char *local = zip->bytes + claim->offset;
    if (get32(local) != LOCAL_SIGNATURE)
        return fail(zip, err, "an entry is not where the directory says");
    size_t name_bytes = get16(local + 26), header = LOCAL_BYTES + name_bytes + get16(local + 28);
    size_t left = directory - (size_t)claim->offset;
    if (header > left || claim->packed_bytes > left - header)
        return fail(zip, err, "an entry reaches beyond the archive");
    if (name_bytes != claim->name_bytes || memcmp(local + LOCAL_BYTES, claim->name, name_bytes))
        return fail(zip, err, "an entry has another name than in the directory");
    if (get16(local + 8) != claim->method)
        return fail(zip, err, "an entry has another method than in the directory");
    uint32_t packed = get32(local + 18), bytes = get32(local + 22);
    bool says_nothing = get16(local + 6) & FLAG_SIZES_BEHIND || bytes == UINT32_MAX;
    if (!says_nothing && (bytes != claim->bytes || packed != claim->packed_bytes))
        return fail(zip, err, "an entry has another size than in the directory");
    entry->bytes = local + header;
    entry->length = (size_t)claim->packed_bytes;
    entry->unpacked_length = (size_t)claim->bytes;
    entry->is_deflated = claim->method == METHOD_DEFLATED;
    entry->crc = claim->crc;
    return MT_OK;
}

static enum mt_status read_entry(struct mt_zip *zip, const struct claim *claim, size_t directory,
                                 struct mt_zip_entry *entry, struct mt_error *err)
{
    enum mt_status status = keep_name(zip, claim, entry, err);
    if (status)
        return status;
    if (claim->flags & FLAG_ENCRYPTED)
        return mt_fail(err, MT_UNSUPPORTED, "%s: \"%s\" is encrypted", zip->path, entry->name);
    bool is_deflated = claim->method == METHOD_DEFLATED && zip->may_be_deflated;
    if (claim->method != METHOD_STORED && !is_deflated)
        return mt_fail(
            err, MT_UNSUPPORTED, "%s: \"%s\" is compressed (method %u), expected it to be stored%s",
            zip->path, entry->name, claim->method, zip->may_be_deflated ? " or deflated" : "");
    if (!is_deflated && claim->packed_bytes != claim->bytes)
        return fail(zip, err, "a stored entry has two sizes");
    if (is_deflated && claim->bytes / MOST_BYTES_PER_BYTE > claim->packed_bytes)
        return fail(zip, err, "an entry says that it is longer than it can be");
    return find_bytes(zip, claim, directory, entry, err);
}

static int compare_bytes(const void *left, const void *right)
{
    const struct mt_zip_entry *a = left, *b = right;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int compare_names(const void *left, const void *right)
{
    const struct mt_zip_entry *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* Checks that entries do not overlap, and that names are unique. Every entry has a header before
 * its bytes, so that their order is that of the headers. */
static enum mt_status check_entries(struct mt_zip *zip, struct mt_error *err)
{
    if (zip->n_entries)
        qsort(zip->entries, zip->n_entries, sizeof *zip->entries, compare_bytes);
    for (size_t i = 0; i < zip->n_entries; i++)
        zip->by_name[i] = &zip->entries[i];
    if (zip->n_entries)
        qsort(zip->by_name, zip->n_entries, sizeof *zip->by_name, compare_names);
    for (size_t i = 1; i < zip->n_entries; i++) {
        const struct mt_zip_entry *before = &zip->entries[i - 1], *entry = &zip->entries[i];
        size_t header = LOCAL_BYTES + strlen(entry->name);
        if ((size_t)(entry->bytes - before->bytes) < before->length + header)
            return mt_fail(err, MT_FORMAT, "%s: entries \"%s\" and \"%s\" overlap", zip->path,
                           before->name, entry->name);
        if (!strcmp(zip->by_name[i - 1]->name, zip->by_name[i]->name))
            return mt_fail(err, MT_FORMAT, "%s: two entries \"%s\"", zip->path,
                           zip->by_name[i]->name);
    }
    return MT_OK;
}

static enum mt_status read_directory(struct mt_zip *zip, struct mt_error *err)
{
    struct directory directory = {0};
    void *entries = NULL, *by_name = NULL;
    enum mt_status status = find_directory(zip, &directory, err);
    if (status)
        return status;
    size_t n = (size_t)directory.n_entries, at = (size_t)directory.begin;
    if (n > directory.length / CENTRAL_BYTES)
        return fail(zip, err, "the directory has fewer entries than it says");
    status = mt_arena_take(zip->arena, n, sizeof *zip->entries, "entries", &entries, err);
    if (!status)
        status = mt_arena_take(zip->arena, n, sizeof *zip->by_name, "entries", &by_name, err);
    if (status)
        return status;
    zip->entries = entries;
    zip->by_name = by_name;
    size_t end = at + (size_t)directory.length;
    for (; zip->n_entries < n && !status; zip->n_entries += !status) {
        struct claim claim = {0};
        status = read_claim(zip, &at, end, &claim, err);
        if (!status)
            status = read_entry(zip, &claim, (size_t)directory.begin, &zip->entries[zip->n_entries],
                                err);
    }
    return status ? status : check_entries(zip, err);
}

static enum mt_status open_archive(const unsigned char *bytes, size_t length, const char *path,
                                   bool may_be_deflated, struct mt_zip **out, struct mt_error *err)
{
    struct mt_arena *arena = NULL;
    void *memory = NULL;
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (status)
        return status;
    status = mt_arena_take(arena, 1, sizeof(struct mt_zip), "zip archive", &memory, err);
    if (status) {
        mt_arena_destroy(arena);
        return status;
    }
    struct mt_zip *zip = memory;
    *zip = (struct mt_zip){.arena = arena,
                           .bytes = bytes,
                           .length = length,
                           .path = path,
                           .may_be_deflated = may_be_deflated};
    status = read_directory(zip, err);
    if (status)
        mt_zip_close(zip);
    else
        *out = zip;
    return status;
}

enum mt_status mt_zip_open(const unsigned char *bytes, size_t length, const char *path,
                           struct mt_zip **out, struct mt_error *err)
{
    return open_archive(bytes, length, path, false, out, err);
}

enum mt_status mt_zip_open_deflated(const unsigned char *bytes, size_t length, const char *path,
                                    struct mt_zip **out, struct mt_error *err)
{
    return open_archive(bytes, length, path, true, out, err);
}

void mt_zip_close(struct mt_zip *zip)
{
    if (zip)
        mt_arena_destroy(zip->arena);
}

size_t mt_zip_count(const struct mt_zip *zip)
{
    return zip->n_entries;
}

const struct mt_zip_entry *mt_zip_at(const struct mt_zip *zip, size_t index)
{
    return index < zip->n_entries ? &zip->entries[index] : NULL;
}

const struct mt_zip_entry *mt_zip_find(const struct mt_zip *zip, const char *name)
{
    size_t low = 0, high = zip->n_entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, zip->by_name[middle]->name);
        if (order == 0)
            return zip->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static enum mt_status check_sum(const struct mt_zip *zip, const struct mt_zip_entry *entry,
                                const void *bytes, size_t length, struct mt_error *err)
{
    uLong crc = crc32_z(crc32_z(0, NULL, 0), bytes, length);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    crc = entry->crc; /* otherwise no fuzzer would ever get past the checksum */
#endif
    if (crc != entry->crc)
        return mt_fail(err, MT_FORMAT,
                       "%s: \"%s\" is damaged: its checksum is %08lx, expected %08x", zip->path,
                       entry->name, crc, (unsigned)entry->crc);
    return MT_OK;
}

enum mt_status mt_zip_check(const struct mt_zip *zip, const struct mt_zip_entry *entry,
                            struct mt_error *err)
{
    return check_sum(zip, entry, entry->bytes, entry->length, err);
}

/* zlib counts in 32 bits, so input and output are passed in parts. */
static int inflate_all(z_stream *stream, const struct mt_zip_entry *entry, unsigned char *out)
{
    const size_t most = (size_t)1 << 30;
    size_t taken = 0, given = 0;
    int code = Z_OK;
    while (code == Z_OK) {
        size_t in_piece = mt_size_min(entry->length - taken, most);
        size_t out_piece = mt_size_min(entry->unpacked_length - given, most);
        unsigned char none;
        stream->next_in = (z_const Bytef *)(entry->bytes + taken);
        stream->avail_in = (uInt)in_piece;
        stream->next_out = out_piece ? out + given : &none;
        stream->avail_out = (uInt)out_piece;
        code = inflate(stream, Z_NO_FLUSH);
        taken += in_piece - stream->avail_in;
        given += out_piece - stream->avail_out;
    }
    bool is_exact = taken == entry->length && given == entry->unpacked_length;
    return code == Z_STREAM_END && !is_exact ? Z_DATA_ERROR : code;
}

enum mt_status mt_zip_unpack(const struct mt_zip *zip, const struct mt_zip_entry *entry, void *out,
                             struct mt_error *err)
{
    if (!entry->is_deflated) {
        if (entry->length)
            memcpy(out, entry->bytes, entry->length);
        return check_sum(zip, entry, out, entry->length, err);
    }
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return mt_fail_memory(err, sizeof stream, "inflate");
    int code = inflate_all(&stream, entry, out);
    inflateEnd(&stream);
    if (code == Z_MEM_ERROR)
        return mt_fail_memory(err, sizeof stream, "inflate");
    if (code != Z_STREAM_END)
        return mt_fail(err, MT_FORMAT,
                       "%s: \"%s\" is damaged: it does not unpack to the %zu bytes that it says",
                       zip->path, entry->name, entry->unpacked_length);
    return check_sum(zip, entry, out, entry->unpacked_length, err);
}
