#include "weights/safetensors.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/size.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BYTES 8

/* Deepest nesting: the header, an entry, its shape; the rest is for unknown fields. */
#define MAX_DEPTH 8

/* A tensor of the highest rank has 18 values, including its name and keys. */
#define MAX_VALUES ((size_t)MT_SAFETENSORS_MAX_TENSORS * 24)

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "offsets are 64 bits wide");

struct pair {
    const char *key, *value;
};

/*
 * Everything but the mapping lives in one arena:
 *
 *   tensors   in the order of their data
 *   by_name   the same, in the order of strcmp
 *   strings   names and metadata, one NUL-terminated text after the other
 */
struct mt_safetensors {
    struct mt_arena *arena;
    struct mt_mapping mapping; /* empty if the caller keeps the bytes */
    const char *path;
    size_t n_bytes;
    const unsigned char *buffer; /* the bytes behind the header */
    size_t buffer_bytes;
    struct mt_tensor *tensors;
    const struct mt_tensor **by_name;
    size_t n_tensors;
    struct pair *metadata;
    size_t n_metadata;
    char *strings_end;             /* where the next string is stored */
    struct mt_safetensors **parts; /* the files that it was joined from, which it owns */
    size_t n_parts;
};

/* An entry of the header, while it is read. */
struct entry {
    struct mt_tensor tensor;
    bool has_dtype, has_shape, has_offsets;
    uint64_t begin, end;
};

/* Step 1: the length of the header. */

static enum mt_status find_header(const unsigned char *bytes, size_t length, const char *path,
                                  size_t *out, struct mt_error *err)
{
    if (length < PREFIX_BYTES)
        return mt_fail(err, MT_FORMAT, "%s: %zu bytes, expected at least %d for the header length",
                       path, length, PREFIX_BYTES);
    uint64_t header_bytes = 0;
    for (int i = PREFIX_BYTES - 1; i >= 0; i--)
        header_bytes = header_bytes << 8 | bytes[i];
    if (header_bytes > MT_SAFETENSORS_MAX_HEADER_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: a header of %llu bytes, expected at most %d", path,
                       (unsigned long long)header_bytes, MT_SAFETENSORS_MAX_HEADER_BYTES);
    if (header_bytes > length - PREFIX_BYTES)
        return mt_fail(
            err, MT_FORMAT,
            "%s: a header of %llu bytes does not fit into the %zu bytes behind its length", path,
            (unsigned long long)header_bytes, length - PREFIX_BYTES);
    *out = (size_t)header_bytes;
    return MT_OK;
}

static enum mt_status check_header(const char *header, size_t length, const char *path,
                                   struct mt_error *err)
{
    static const struct mt_json_limits limits = {MAX_DEPTH, MAX_VALUES};
    enum mt_status status = mt_json_check(header, length, &limits, "header", err);
    if (status)
        return mt_fail_in(err, status, path);
    struct mt_json_reader reader;
    mt_json_reader_init(&reader, header, length);
    char first = mt_json_reader_peek(&reader);
    if (first != '{')
        return mt_fail(err, MT_FORMAT, "%s: header: expected an object, found '%c'", path, first);
    return MT_OK;
}

/* Step 2: memory, which is counted before it is allocated. */

struct sizes {
    size_t n_tensors, n_metadata, string_bytes;
};

/* Unescaping never makes a text longer. */
static void count_string(struct sizes *sizes, struct mt_json_span text)
{
    sizes->string_bytes += text.length + 1;
}

static enum mt_status count_metadata(struct mt_json_reader *reader, const char *path,
                                     struct sizes *sizes, struct mt_error *err)
{
    if (mt_json_reader_peek(reader) != '{')
        return mt_fail(err, MT_FORMAT, "%s: __metadata__: expected an object of strings", path);
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        struct mt_json_span key = mt_json_reader_string(reader);
        if (mt_json_reader_peek(reader) != '"') {
            struct mt_json_span found = mt_json_reader_excerpt(reader);
            return mt_fail(
                err, MT_FORMAT, "%s: __metadata__: \"%.*s\": expected a string, found %.*s", path,
                (int)mt_size_min(key.length, INT_MAX), key.bytes, (int)found.length, found.bytes);
        }
        count_string(sizes, key);
        count_string(sizes, mt_json_reader_string(reader));
        sizes->n_metadata++;
    }
    return MT_OK;
}

static enum mt_status count_entries(struct mt_json_reader reader, const char *path,
                                    struct sizes *sizes, struct mt_error *err)
{
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span name = mt_json_reader_string(&reader);
        if (mt_json_span_equals(name, "__metadata__")) {
            enum mt_status status = count_metadata(&reader, path, sizes, err);
            if (status)
                return status;
            continue;
        }
        if (++sizes->n_tensors > MT_SAFETENSORS_MAX_TENSORS)
            return mt_fail(err, MT_LIMIT, "%s: more than %d tensors", path,
                           MT_SAFETENSORS_MAX_TENSORS);
        count_string(sizes, name);
        mt_json_reader_skip(&reader);
    }
    return MT_OK;
}

static enum mt_status take_memory(struct mt_safetensors *file, const struct sizes *sizes,
                                  struct mt_error *err)
{
    void *tensors, *by_name, *metadata, *strings;
    enum mt_status status = mt_arena_take(file->arena, sizes->n_tensors, sizeof *file->tensors,
                                          "tensor table", &tensors, err);
    if (!status)
        status = mt_arena_take(file->arena, sizes->n_tensors, sizeof *file->by_name, "tensor index",
                               &by_name, err);
    if (!status)
        status = mt_arena_take(file->arena, sizes->n_metadata, sizeof *file->metadata, "metadata",
                               &metadata, err);
    if (!status)
        status = mt_arena_take(file->arena, sizes->string_bytes, 1, "tensor names", &strings, err);
    if (status)
        return status;
    file->tensors = tensors;
    file->by_name = by_name;
    file->metadata = metadata;
    file->strings_end = strings;
    return MT_OK;
}

/* Step 3: the entries. */

static const char *keep_string(struct mt_safetensors *file, struct mt_json_span text,
                               size_t *out_length)
{
    char *copy = file->strings_end;
    *out_length = mt_json_span_unescape(text, copy);
    file->strings_end += *out_length + 1; /* the arena is zeroed: the NUL is there */
    return copy;
}

static enum mt_status read_name(struct mt_safetensors *file, struct mt_json_span text,
                                const char **out, struct mt_error *err)
{
    size_t length;
    const char *name = keep_string(file, text, &length);
    if (length > MT_SAFETENSORS_MAX_NAME_BYTES)
        return mt_fail(err, MT_LIMIT,
                       "%s: a tensor name of %zu bytes, expected at most %d: %.*s...", file->path,
                       length, MT_SAFETENSORS_MAX_NAME_BYTES, (int)mt_utf8_valid_prefix(name, 40),
                       name);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20)
            return mt_fail(err, MT_FORMAT, "%s: tensor name with control character 0x%02x: %.*s...",
                           file->path, (unsigned)name[i], (int)i, name);
    *out = name;
    return MT_OK;
}

/* Reports a value of a type that the format does not allow. */
static enum mt_status fail_value(const struct mt_safetensors *file, const char *name,
                                 const char *field, const char *expectation,
                                 struct mt_json_reader *reader, struct mt_error *err)
{
    struct mt_json_span found = mt_json_reader_excerpt(reader);
    return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\": %s: expected %s, found %.*s", file->path,
                   name, field, expectation, (int)found.length, found.bytes);
}

static enum mt_status read_dtype(const struct mt_safetensors *file, struct mt_json_reader *reader,
                                 struct entry *entry, struct mt_error *err)
{
    static const char *const unsupported[] = {
        "F4",      "F6_E2M3", "F6_E3M2",     "F8_E5M2",     "F8_E4M3",
        "F8_E8M0", "C64",     "F8_E4M3FNUZ", "F8_E5M2FNUZ",
    };
    const char *name = entry->tensor.name;
    if (mt_json_reader_peek(reader) != '"')
        return fail_value(file, name, "dtype", "a string", reader, err);
    struct mt_json_span shown = mt_json_reader_excerpt(reader);
    struct mt_json_span text = mt_json_reader_string(reader);
    for (int i = MT_F32; i <= MT_BOOL; i++)
        if (mt_json_span_equals(text, mt_dtype_name((enum mt_dtype)i))) {
            entry->tensor.dtype = (enum mt_dtype)i;
            entry->has_dtype = true;
            return MT_OK;
        }
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        if (mt_json_span_equals(text, unsupported[i]))
            return mt_fail(err, MT_UNSUPPORTED, "%s: tensor \"%s\": dtype %s is not implemented",
                           file->path, name, unsupported[i]);
    return mt_fail(err, MT_UNSUPPORTED, "%s: tensor \"%s\": unknown dtype %.*s", file->path, name,
                   (int)shown.length, shown.bytes);
}

static enum mt_status read_shape(const struct mt_safetensors *file, struct mt_json_reader *reader,
                                 struct entry *entry, struct mt_error *err)
{
    struct mt_tensor *tensor = &entry->tensor;
    if (mt_json_reader_peek(reader) != '[')
        return fail_value(file, tensor->name, "shape", "an array of integers", reader, err);
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        uint64_t dimension;
        if (tensor->rank == MT_SAFETENSORS_MAX_RANK)
            return mt_fail(err, MT_LIMIT, "%s: tensor \"%s\": more than %d dimensions", file->path,
                           tensor->name, MT_SAFETENSORS_MAX_RANK);
        if (!mt_json_reader_u64(reader, &dimension))
            return fail_value(file, tensor->name, "shape", "an integer from 0 to 2^64 - 1", reader,
                              err);
        tensor->shape[tensor->rank++] = dimension;
    }
    entry->has_shape = true;
    return MT_OK;
}

static enum mt_status read_offsets(const struct mt_safetensors *file, struct mt_json_reader *reader,
                                   struct entry *entry, struct mt_error *err)
{
    const char *name = entry->tensor.name;
    uint64_t offsets[2];
    size_t n = 0;
    struct mt_json_reader whole = *reader;
    if (mt_json_reader_peek(reader) != '[')
        return fail_value(file, name, "data_offsets", "[begin, end]", reader, err);
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        if (n == 2)
            return fail_value(file, name, "data_offsets", "[begin, end]", &whole, err);
        if (!mt_json_reader_u64(reader, &offsets[n++]))
            return fail_value(file, name, "data_offsets", "an integer from 0 to 2^64 - 1", reader,
                              err);
    }
    if (n != 2)
        return fail_value(file, name, "data_offsets", "[begin, end]", &whole, err);
    entry->begin = offsets[0];
    entry->end = offsets[1];
    entry->has_offsets = true;
    return MT_OK;
}

/* Unknown fields are ignored, as by the reference reader. */
static enum mt_status read_fields(const struct mt_safetensors *file, struct mt_json_reader *reader,
                                  struct entry *entry, struct mt_error *err)
{
    if (mt_json_reader_peek(reader) != '{')
        return fail_value(file, entry->tensor.name, "entry", "an object", reader, err);
    enum mt_status status = MT_OK;
    mt_json_reader_enter(reader);
    while (!status && mt_json_reader_next(reader)) {
        struct mt_json_span key = mt_json_reader_string(reader);
        if (mt_json_span_equals(key, "dtype"))
            status = read_dtype(file, reader, entry, err);
        else if (mt_json_span_equals(key, "shape"))
            status = read_shape(file, reader, entry, err);
        else if (mt_json_span_equals(key, "data_offsets"))
            status = read_offsets(file, reader, entry, err);
        else
            mt_json_reader_skip(reader);
    }
    if (status)
        return status;
    const char *missing = !entry->has_dtype     ? "dtype"
                          : !entry->has_shape   ? "shape"
                          : !entry->has_offsets ? "data_offsets"
                                                : NULL;
    if (missing)
        return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\": %s is missing", file->path,
                       entry->tensor.name, missing);
    return MT_OK;
}

/* Checks a single entry: its data are inside the buffer and have the size of its shape. */
static enum mt_status place_tensor(const struct mt_safetensors *file, struct entry *entry,
                                   struct mt_error *err)
{
    struct mt_tensor *tensor = &entry->tensor;
    unsigned long long begin = entry->begin, end = entry->end;
    if (begin > end)
        return mt_fail(err, MT_FORMAT,
                       "%s: tensor \"%s\": data begin at %llu, behind their end at %llu",
                       file->path, tensor->name, begin, end);
    if (end > file->buffer_bytes)
        return mt_fail(err, MT_FORMAT,
                       "%s: tensor \"%s\": data end at %llu, but the file has %zu bytes behind its "
                       "header: it is cut short",
                       file->path, tensor->name, end, file->buffer_bytes);
    size_t n_elements = 1, n_bytes;
    for (size_t i = 0; i < tensor->rank; i++)
        if (!mt_size_mul(n_elements, tensor->shape[i], &n_elements))
            return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\": the number of elements overflows",
                           file->path, tensor->name);
    if (!mt_size_mul(n_elements, mt_dtype_bytes(tensor->dtype), &n_bytes))
        return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\": %zu elements of %s overflow", file->path,
                       tensor->name, n_elements, mt_dtype_name(tensor->dtype));
    if (end - begin != n_bytes)
        return mt_fail(err, MT_FORMAT,
                       "%s: tensor \"%s\": %zu elements of %s take %zu bytes, found %llu",
                       file->path, tensor->name, n_elements, mt_dtype_name(tensor->dtype), n_bytes,
                       end - begin);
    tensor->n_elements = n_elements;
    tensor->n_bytes = n_bytes;
    tensor->data = file->buffer + begin;
    return MT_OK;
}

static void read_metadata(struct mt_safetensors *file, struct mt_json_reader *reader)
{
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        size_t length;
        struct pair *pair = &file->metadata[file->n_metadata++];
        pair->key = keep_string(file, mt_json_reader_string(reader), &length);
        pair->value = keep_string(file, mt_json_reader_string(reader), &length);
    }
}

static enum mt_status read_entries(struct mt_safetensors *file, struct mt_json_reader reader,
                                   struct mt_error *err)
{
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span name = mt_json_reader_string(&reader);
        if (mt_json_span_equals(name, "__metadata__")) {
            read_metadata(file, &reader);
            continue;
        }
        struct entry entry = {0};
        enum mt_status status = read_name(file, name, &entry.tensor.name, err);
        if (!status)
            status = read_fields(file, &reader, &entry, err);
        if (!status)
            status = place_tensor(file, &entry, err);
        if (status)
            return status;
        file->tensors[file->n_tensors++] = entry.tensor;
    }
    return MT_OK;
}

/* Step 4: all tensors together. */

/* Sorts in the order of the data. Empty tensors come before the one that begins at the same place;
 * several empty ones are in the order of the header, in which their names were stored. */
static int compare_data(const void *left, const void *right)
{
    const struct mt_tensor *a = left, *b = right;
    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    if (a->n_bytes != b->n_bytes)
        return a->n_bytes < b->n_bytes ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static int compare_names(const void *left, const void *right)
{
    const struct mt_tensor *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* Checks that the data follow each other without holes and overlaps, from the first byte to the
 * last. */
static enum mt_status check_layout(const struct mt_safetensors *file, struct mt_error *err)
{
    size_t expected = 0;
    const char *before = "the header";
    for (size_t i = 0; i < file->n_tensors; i++) {
        const struct mt_tensor *tensor = &file->tensors[i];
        size_t begin = (size_t)((const unsigned char *)tensor->data - file->buffer);
        if (begin != expected)
            return mt_fail(err, MT_FORMAT,
                           "%s: tensor \"%s\" begins at %zu, expected %zu: %s %s%s%s", file->path,
                           tensor->name, begin, expected,
                           begin < expected ? "it overlaps" : "there is a hole behind",
                           i ? "\"" : "", before, i ? "\"" : "");
        expected = begin + tensor->n_bytes;
        before = tensor->name;
    }
    if (expected != file->buffer_bytes)
        return mt_fail(err, MT_FORMAT, "%s: %zu bytes behind the header, expected %zu", file->path,
                       file->buffer_bytes, expected);
    return MT_OK;
}

static void index_names(struct mt_safetensors *file)
{
    for (size_t i = 0; i < file->n_tensors; i++)
        file->by_name[i] = &file->tensors[i];
    if (file->n_tensors)
        qsort(file->by_name, file->n_tensors, sizeof *file->by_name, compare_names);
}

static enum mt_status read_header(struct mt_safetensors *file, const char *header, size_t length,
                                  struct mt_error *err)
{
    struct mt_json_reader reader;
    struct sizes sizes = {0};
    mt_json_reader_init(&reader, header, length);
    enum mt_status status = check_header(header, length, file->path, err);
    if (!status)
        status = count_entries(reader, file->path, &sizes, err);
    if (!status)
        status = take_memory(file, &sizes, err);
    return status ? status : read_entries(file, reader, err);
}

static enum mt_status read_file(struct mt_safetensors *file, const unsigned char *bytes,
                                size_t length, struct mt_error *err)
{
    size_t header_bytes = 0;
    enum mt_status status = find_header(bytes, length, file->path, &header_bytes, err);
    if (status)
        return status;
    file->n_bytes = length;
    file->buffer = bytes + PREFIX_BYTES + header_bytes;
    file->buffer_bytes = length - PREFIX_BYTES - header_bytes;

    /* The header is copied, because it is read several times, and the file may be truncated or
     * written to meanwhile: what is read has to be what was checked. */
    char *header = malloc(header_bytes);
    if (!header)
        return mt_fail_memory(err, header_bytes, "safetensors header");
    memcpy(header, bytes + PREFIX_BYTES, header_bytes);
    status = read_header(file, header, header_bytes, err);
    free(header);
    if (status)
        return status;
    qsort(file->tensors, file->n_tensors, sizeof *file->tensors, compare_data);
    status = check_layout(file, err);
    if (status)
        return status;
    index_names(file);
    return MT_OK;
}

/* Makes an open file without content. */
static enum mt_status create(const char *path, struct mt_safetensors **out, struct mt_error *err)
{
    struct mt_arena *arena;
    void *file;
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (status)
        return status;
    status = mt_arena_take(arena, 1, sizeof **out, "safetensors file", &file, err);
    if (!status) {
        *out = file;
        (*out)->arena = arena;
        status = mt_arena_copy_string(arena, path, strlen(path), &(*out)->path, err);
    }
    if (status)
        mt_arena_destroy(arena);
    return status;
}

enum mt_status mt_safetensors_open_memory(const void *bytes, size_t length, const char *path,
                                          struct mt_safetensors **out, struct mt_error *err)
{
    struct mt_safetensors *file;
    enum mt_status status = create(path, &file, err);
    if (status)
        return status;
    status = read_file(file, bytes, length, err);
    if (status) {
        mt_safetensors_close(file);
        return status;
    }
    *out = file;
    return MT_OK;
}

enum mt_status mt_safetensors_open(const char *path, struct mt_safetensors **out,
                                   struct mt_error *err)
{
    return mt_safetensors_load(path, MT_LOAD_MMAP, out, err);
}

enum mt_status mt_safetensors_adopt(const struct mt_mapping *mapping, const char *path,
                                    struct mt_safetensors **out, struct mt_error *err)
{
    enum mt_status status =
        mt_safetensors_open_memory(mapping->bytes, mapping->length, path, out, err);
    if (!status)
        (*out)->mapping = *mapping;
    return status;
}

enum mt_status mt_safetensors_load(const char *path, enum mt_load_mode mode,
                                   struct mt_safetensors **out, struct mt_error *err)
{
    struct mt_mapping mapping;
    enum mt_status status = mt_mapping_open(path, mode, &mapping, err);
    if (status)
        return status;
    status = mt_safetensors_adopt(&mapping, path, out, err);
    if (status)
        mt_mapping_close(&mapping);
    return status;
}

/* Collects copies of the parts' entries; their names and numbers stay where they are. */
static enum mt_status collect(struct mt_safetensors *file, struct mt_error *err)
{
    size_t n = 0;
    for (size_t p = 0; p < file->n_parts; p++)
        n += file->parts[p]->n_tensors;
    if (n > MT_SAFETENSORS_MAX_TENSORS)
        return mt_fail(err, MT_LIMIT, "%s: %zu tensors, expected at most %d", file->path, n,
                       MT_SAFETENSORS_MAX_TENSORS);
    void *tensors, *by_name;
    enum mt_status status =
        mt_arena_take(file->arena, n, sizeof *file->tensors, "tensors", &tensors, err);
    if (!status)
        status = mt_arena_take(file->arena, n, sizeof *file->by_name, "names", &by_name, err);
    if (status)
        return status;
    file->tensors = tensors;
    file->by_name = by_name;
    for (size_t p = 0; p < file->n_parts; p++)
        for (size_t i = 0; i < file->parts[p]->n_tensors; i++)
            file->tensors[file->n_tensors++] = file->parts[p]->tensors[i];
    index_names(file);
    for (size_t i = 1; i < n; i++)
        if (compare_names(&file->by_name[i - 1], &file->by_name[i]) == 0)
            return mt_fail(err, MT_FORMAT, "%s: tensor \"%s\" is in more than one file", file->path,
                           file->by_name[i]->name);
    return MT_OK;
}

enum mt_status mt_safetensors_join(struct mt_safetensors *const *parts, size_t n_parts,
                                   const char *path, struct mt_safetensors **out,
                                   struct mt_error *err)
{
    struct mt_safetensors *file = NULL;
    void *list;
    enum mt_status status = create(path, &file, err);
    if (!status)
        status = mt_arena_take(file->arena, n_parts, sizeof *parts, "files", &list, err);
    if (status) {
        mt_safetensors_close(file);
        for (size_t p = 0; p < n_parts; p++)
            mt_safetensors_close(parts[p]);
        return status;
    }
    file->parts = list;
    for (size_t p = 0; p < n_parts; p++) {
        file->parts[file->n_parts++] = parts[p];
        file->n_bytes += parts[p]->n_bytes;
    }
    status = collect(file, err);
    if (status)
        mt_safetensors_close(file);
    else
        *out = file;
    return status;
}

enum mt_status mt_safetensors_check_mapping(const struct mt_safetensors *file, struct mt_error *err)
{
    enum mt_status status = mt_mapping_check(&file->mapping, err);
    for (size_t p = 0; p < file->n_parts && !status; p++)
        status = mt_safetensors_check_mapping(file->parts[p], err);
    return status;
}

void mt_safetensors_close(struct mt_safetensors *file)
{
    if (!file)
        return;
    for (size_t p = 0; p < file->n_parts; p++)
        mt_safetensors_close(file->parts[p]);
    mt_mapping_close(&file->mapping);
    mt_arena_destroy(file->arena);
}

const char *mt_safetensors_path(const struct mt_safetensors *file)
{
    return file->path;
}

size_t mt_safetensors_bytes(const struct mt_safetensors *file)
{
    return file->n_bytes;
}

size_t mt_safetensors_count(const struct mt_safetensors *file)
{
    return file->n_tensors;
}

const struct mt_tensor *mt_safetensors_at(const struct mt_safetensors *file, size_t index)
{
    return index < file->n_tensors ? &file->tensors[index] : NULL;
}

const struct mt_tensor *mt_safetensors_find(const struct mt_safetensors *file, const char *name)
{
    size_t low = 0, high = file->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, file->by_name[middle]->name);
        if (order == 0)
            return file->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *mt_safetensors_metadata(const struct mt_safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return file->metadata[i].value;
    return NULL;
}

bool mt_tensor_is_aligned(const struct mt_tensor *tensor)
{
    return (uintptr_t)tensor->data % mt_dtype_bytes(tensor->dtype) == 0;
}
