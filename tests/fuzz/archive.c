#include "tests/fuzz/archive.h"

#include "weights/zip.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_BYTES 30
#define CENTRAL_BYTES 46
#define END_BYTES 22
#define METHOD_DEFLATED 8
#define MAX_PARTS 64
#define MAX_NAME_BYTES 100

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static void put(uint8_t **at, size_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(*at)++ = (uint8_t)(value >> (8 * i));
}

static void put_bytes(uint8_t **at, const void *bytes, size_t length)
{
    if (length)
        memcpy(*at, bytes, length);
    *at += length;
}

size_t archive_length(const struct archive_part *parts, size_t n)
{
    size_t length = END_BYTES;
    for (size_t i = 0; i < n; i++)
        length += LOCAL_BYTES + CENTRAL_BYTES + 2 * strlen(parts[i].name) + parts[i].length;
    return length;
}

/* What the local header and the directory have in common: from the version to the name's length. */
static void put_facts(uint8_t **at, const struct archive_part *part)
{
    put(at, 20, 2); /* version */
    put(at, 0, 2);  /* flags */
    put(at, part->method, 2);
    put(at, 0, 4); /* time, date */
    put(at, 0, 4); /* checksum */
    put(at, part->length, 4);
    put(at, part->unpacked_length, 4);
    put(at, strlen(part->name), 2);
}

void archive_write(const struct archive_part *parts, size_t n, uint8_t *out)
{
    uint8_t *at = out;
    for (size_t i = 0; i < n; i++) {
        put(&at, 0x04034b50, 4);
        put_facts(&at, &parts[i]);
        put(&at, 0, 2); /* extra */
        put_bytes(&at, parts[i].name, strlen(parts[i].name));
        put_bytes(&at, parts[i].bytes, parts[i].length);
    }
    size_t directory = (size_t)(at - out), offset = 0;
    for (size_t i = 0; i < n; i++) {
        put(&at, 0x02014b50, 4);
        put(&at, 20, 2); /* version made by */
        put_facts(&at, &parts[i]);
        put(&at, 0, 8); /* extra, comment, disk, attributes */
        put(&at, 0, 4);
        put(&at, offset, 4);
        put_bytes(&at, parts[i].name, strlen(parts[i].name));
        offset += LOCAL_BYTES + strlen(parts[i].name) + parts[i].length;
    }
    size_t length = (size_t)(at - out) - directory;
    put(&at, 0x06054b50, 4);
    put(&at, 0, 4); /* disks */
    put(&at, n, 2);
    put(&at, n, 2);
    put(&at, length, 4);
    put(&at, directory, 4);
    put(&at, 0, 2); /* comment */
}

/* The archive with one entry changed; NULL where that is no use. The caller frees it. */
static uint8_t *rebuild(const struct mt_zip *zip, unsigned seed, size_t max_size, size_t *length)
{
    struct archive_part parts[MAX_PARTS];
    char name[MAX_NAME_BYTES + 1];
    size_t n = mt_zip_count(zip);
    for (size_t i = 0; i < n; i++) {
        const struct mt_zip_entry *entry = mt_zip_at(zip, i);
        parts[i] =
            (struct archive_part){entry->name, entry->bytes, entry->length, entry->unpacked_length,
                                  entry->is_deflated ? METHOD_DEFLATED : 0};
    }
    struct archive_part *part = &parts[seed / 8 % n];
    uint8_t *bytes = malloc(max_size), *out = NULL;
    if (!bytes || part->length > max_size || strlen(part->name) > MAX_NAME_BYTES) {
        free(bytes);
        return NULL;
    }
    if (seed % 8 == 0) {
        size_t n_name = strlen(part->name);
        memcpy(name, part->name, n_name);
        name[LLVMFuzzerMutate((uint8_t *)name, n_name, MAX_NAME_BYTES)] = '\0';
        part->name = name;
    } else {
        memcpy(bytes, part->bytes, part->length);
        part->bytes = bytes;
        part->length = archive_mutate(bytes, part->length, max_size, seed / 8 / MAX_PARTS);
        if (!part->method)
            part->unpacked_length = part->length;
    }
    *length = archive_length(parts, n);
    if (*length <= max_size && (out = malloc(*length)))
        archive_write(parts, n, out);
    free(bytes);
    return out;
}

size_t archive_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct mt_zip *zip = NULL;
    struct mt_error err;
    uint8_t *made = NULL;
    size_t length = 0;
    if (seed % 2 || !mt_zip_is(data, size) || mt_zip_open_deflated(data, size, "fuzz", &zip, &err))
        return LLVMFuzzerMutate(data, size, max_size);
    size_t n = mt_zip_count(zip);
    if (n > 0 && n <= MAX_PARTS)
        made = rebuild(zip, seed / 2, max_size, &length);
    mt_zip_close(zip);
    if (!made)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(data, made, length);
    free(made);
    return length;
}
