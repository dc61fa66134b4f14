#include "weights/marian_bin.h"

#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 32
#define VERSION 1

#define INTGEMM8 0x4101

struct mt_marian_bin {
    struct mt_marian_item *items;
    const struct mt_marian_item **by_name; /* sorted */
    size_t n;
};

/* The part that was not read yet. */
struct reader {
    const unsigned char *at, *end;
    const char *path;
    struct mt_error *err;
};

static uint64_t u64_at(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (size_t i = 8; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static uint32_t u32_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static size_t n_left(const struct reader *r)
{
    return (size_t)(r->end - r->at);
}

/* Takes the next n bytes, or reports what they should have been. */
static enum mt_status take(struct reader *r, uint64_t n, const char *what, const char *name,
                           const unsigned char **out)
{
    *out = r->at;
    if (n > n_left(r))
        return mt_fail(r->err, MT_FORMAT, "%s: %s%s%s: expected %llu bytes, found %zu", r->path,
                       what, *name ? " of " : "", name, (unsigned long long)n, n_left(r));
    r->at += n;
    return MT_OK;
}

/* --- Names, types, shapes --- */

static enum mt_status read_name(struct reader *r, const unsigned char *header,
                                struct mt_marian_item *item)
{
    uint64_t n = u64_at(header);
    const unsigned char *name;
    if (n < 2 || n > MT_MARIAN_BIN_MAX_NAME_BYTES + 1)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: a name: expected 2 to %d bytes with its NUL, found %llu", r->path,
                       MT_MARIAN_BIN_MAX_NAME_BYTES + 1, (unsigned long long)n);
    enum mt_status status = take(r, n, "a name", "", &name);
    if (status)
        return status;
    const unsigned char *nul = memchr(name, 0, n);
    if (!nul || nul != name + n - 1)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: a name of %llu bytes: expected one NUL, at its end, found %s", r->path,
                       (unsigned long long)n, nul ? "one before" : "none");
    item->name = (const char *)name;
    return MT_OK;
}

static enum mt_status read_type(const struct reader *r, const unsigned char *header,
                                struct mt_marian_item *item)
{
    static const struct {
        uint64_t type;
        enum mt_dtype dtype;
    } types[] = {
        {0x101, MT_I8}, {0x104, MT_I32}, {0x402, MT_F16}, {0x404, MT_F32}, {INTGEMM8, MT_I8}};
    uint64_t type = u64_at(header + 8);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) {
            item->dtype = types[i].dtype;
            item->is_quantized = type == INTGEMM8;
            return MT_OK;
        }
    return mt_fail(r->err, MT_UNSUPPORTED,
                   "%s: item \"%s\": expected type 0x101 (int8), 0x104 (int32), 0x402 (f16), 0x404 "
                   "(f32) or 0x4101 (intgemm8), found 0x%llx%s",
                   r->path, item->name, (unsigned long long)type,
                   type == 0x4102 ? " (intgemm16)" : "");
}

static enum mt_status read_shape(struct reader *r, const unsigned char *header,
                                 struct mt_marian_item *item)
{
    uint64_t rank = u64_at(header + 16);
    const unsigned char *sizes;
    if (rank > MT_MARIAN_BIN_MAX_RANK)
        return mt_fail(r->err, MT_LIMIT,
                       "%s: item \"%s\": expected at most %d dimensions, found %llu", r->path,
                       item->name, MT_MARIAN_BIN_MAX_RANK, (unsigned long long)rank);
    enum mt_status status = take(r, 4 * rank, "dimensions", item->name, &sizes);
    if (status)
        return status;
    item->rank = rank;
    item->n_elements = 1;
    for (size_t i = 0; i < rank; i++) {
        int32_t size = (int32_t)u32_at(sizes + 4 * i);
        if (size < 0)
            return mt_fail(r->err, MT_FORMAT, "%s: item \"%s\": dimension %zu is %d", r->path,
                           item->name, i, size);
        item->shape[i] = (size_t)size;
        if (!mt_size_mul(item->n_elements, item->shape[i], &item->n_elements))
            return mt_fail(r->err, MT_LIMIT, "%s: item \"%s\" is too large", r->path, item->name);
    }
    return MT_OK;
}

/* --- Data --- */

static enum mt_status read_scale(const struct reader *r, struct mt_marian_item *item)
{
    uint32_t bits = u32_at(item->data + item->n_bytes);
    float multiplier;
    memcpy(&multiplier, &bits, sizeof multiplier);
    item->scale = 1.0f / multiplier;
    if (!(multiplier > 0.0f) || !isfinite(multiplier) || !isnormal(item->scale))
        return mt_fail(r->err, MT_FORMAT,
                       "%s: item \"%s\": expected a positive number behind its %zu, found %g",
                       r->path, item->name, item->n_elements, (double)multiplier);
    item->is_transposed = item->rank == 2 && !strstr(item->name, "Wemb");
    return MT_OK;
}

static enum mt_status read_data(struct reader *r, const unsigned char *header,
                                struct mt_marian_item *item)
{
    uint64_t found = u64_at(header + 24);
    size_t needed;
    bool fits = mt_size_mul(item->n_elements, mt_dtype_bytes(item->dtype), &item->n_bytes) &&
                mt_size_add(item->n_bytes, item->is_quantized ? sizeof(float) : 0, &needed);
    if (!fits || found < needed)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: item \"%s\": its %zu numbers need more than the %llu bytes that it has",
                       r->path, item->name, item->n_elements, (unsigned long long)found);
    enum mt_status status = take(r, found, "data", item->name, &item->data);
    return status || !item->is_quantized ? status : read_scale(r, item);
}

/* --- The file --- */

static enum mt_status read_begin(struct reader *r, uint64_t *n)
{
    const unsigned char *begin;
    enum mt_status status = take(r, 16, "a binary model of Marian's", "", &begin);
    if (status)
        return status;
    if (u64_at(begin) != VERSION)
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: a binary model of Marian's: expected version %d, found %llu", r->path,
                       VERSION, (unsigned long long)u64_at(begin));
    *n = u64_at(begin + 8);
    if (*n > MT_MARIAN_BIN_MAX_ITEMS)
        return mt_fail(r->err, MT_LIMIT, "%s: expected at most %d items, found %llu", r->path,
                       MT_MARIAN_BIN_MAX_ITEMS, (unsigned long long)*n);
    if (*n > n_left(r) / HEADER_BYTES) /* checked before memory for as many is allocated */
        return mt_fail(r->err, MT_FORMAT,
                       "%s: headers of %llu items: expected %llu bytes, found %zu", r->path,
                       (unsigned long long)*n, (unsigned long long)*n * HEADER_BYTES, n_left(r));
    return MT_OK;
}

static enum mt_status skip_padding(struct reader *r)
{
    const unsigned char *bytes;
    enum mt_status status = take(r, 8, "the length of the padding", "", &bytes);
    return status ? status : take(r, u64_at(bytes), "padding", "", &bytes);
}

static enum mt_status read_items(struct reader *r, struct mt_marian_bin *bin)
{
    const unsigned char *headers;
    enum mt_status status = take(r, HEADER_BYTES * (uint64_t)bin->n, "headers", "", &headers);
    for (size_t i = 0; i < bin->n && !status; i++)
        status = read_name(r, headers + HEADER_BYTES * i, &bin->items[i]);
    for (size_t i = 0; i < bin->n && !status; i++)
        status = read_type(r, headers + HEADER_BYTES * i, &bin->items[i]);
    for (size_t i = 0; i < bin->n && !status; i++)
        status = read_shape(r, headers + HEADER_BYTES * i, &bin->items[i]);
    if (!status)
        status = skip_padding(r);
    for (size_t i = 0; i < bin->n && !status; i++)
        status = read_data(r, headers + HEADER_BYTES * i, &bin->items[i]);
    if (!status && n_left(r))
        status = mt_fail(r->err, MT_FORMAT, "%s: expected its end, found %zu bytes more", r->path,
                         n_left(r));
    return status;
}

static int compare_names(const void *a, const void *b)
{
    const struct mt_marian_item *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static enum mt_status sort_names(const struct reader *r, struct mt_marian_bin *bin)
{
    for (size_t i = 0; i < bin->n; i++)
        bin->by_name[i] = &bin->items[i];
    qsort(bin->by_name, bin->n, sizeof *bin->by_name, compare_names);
    for (size_t i = 1; i < bin->n; i++)
        if (strcmp(bin->by_name[i - 1]->name, bin->by_name[i]->name) == 0)
            return mt_fail(r->err, MT_FORMAT, "%s: item \"%s\" is there twice", r->path,
                           bin->by_name[i]->name);
    return MT_OK;
}

enum mt_status mt_marian_bin_open(const unsigned char *bytes, size_t length, const char *path,
                                  struct mt_marian_bin **out, struct mt_error *err)
{
    const unsigned char *end = length ? bytes + length : bytes; /* NULL for an empty file */
    struct reader r = {.at = bytes, .end = end, .path = path, .err = err};
    uint64_t n = 0;
    enum mt_status status = read_begin(&r, &n);
    if (status)
        return status;
    struct mt_marian_bin *bin = calloc(1, sizeof *bin);
    if (!bin)
        return mt_fail_memory(err, sizeof *bin, path);
    bin->n = n;
    bin->items = calloc(n + 1, sizeof *bin->items);
    bin->by_name = calloc(n + 1, sizeof *bin->by_name);
    if (!bin->items || !bin->by_name)
        status = mt_fail_memory(err, (n + 1) * (sizeof *bin->items + sizeof *bin->by_name), path);
    if (!status)
        status = read_items(&r, bin);
    if (!status)
        status = sort_names(&r, bin);
    if (status)
        mt_marian_bin_close(bin);
    else
        *out = bin;
    return status;
}

void mt_marian_bin_close(struct mt_marian_bin *bin)
{
    if (!bin)
        return;
    free(bin->items);
    free(bin->by_name);
    free(bin);
}

size_t mt_marian_bin_count(const struct mt_marian_bin *bin)
{
    return bin->n;
}

const struct mt_marian_item *mt_marian_bin_at(const struct mt_marian_bin *bin, size_t index)
{
    return index < bin->n ? &bin->items[index] : NULL;
}

const struct mt_marian_item *mt_marian_bin_find(const struct mt_marian_bin *bin, const char *name)
{
    const struct mt_marian_item wanted = {.name = name}, *key = &wanted;
    const struct mt_marian_item **found =
        bsearch(&key, bin->by_name, bin->n, sizeof *bin->by_name, compare_names);
    return found ? *found : NULL;
}
