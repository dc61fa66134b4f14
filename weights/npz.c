#include "weights/npz.h"

#include "base/ascii.h"
#include "base/size.h"
#include "weights/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".npy"
#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6

struct mt_npz {
    struct mt_zip *zip;
    const char *path;
    struct mt_npz_array *arrays;
    char *names; /* of all arrays, NUL-terminated */
    size_t n;
};

/* --- An array's header: a Python dict, of which only these forms exist --- */

struct header {
    const char *at, *end;
    const char *path, *name; /* for messages */
    struct mt_error *err;
    char descr[32];
    bool has_descr, has_order, has_shape, is_fortran;
    size_t rank, shape[MT_NPZ_MAX_RANK];
};

static enum mt_status fail(const struct header *h, const char *expected)
{
    return mt_fail(h->err, MT_FORMAT, "%s: array \"%s\": expected %s in its header", h->path,
                   h->name, expected);
}

static void skip_blanks(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

static bool take(struct header *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

static bool take_word(struct header *h, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(h);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

/* A string without escapes: no name or type needs one. */
static bool take_string(struct header *h, char *out, size_t capacity)
{
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    char quote = *h->at++;
    size_t n = 0;
    while (h->at < h->end && *h->at != quote && *h->at != '\\' && n + 1 < capacity)
        out[n++] = *h->at++;
    out[n] = '\0';
    return take(h, quote);
}

static bool take_size(struct header *h, size_t *out)
{
    skip_blanks(h);
    const char *begin = h->at;
    size_t value = 0;
    while (h->at < h->end && mt_ascii_is_digit(*h->at)) {
        size_t digit = (size_t)(*h->at++ - '0');
        if (!mt_size_mul(value, 10, &value) || !mt_size_add(value, digit, &value))
            return false;
    }
    *out = value;
    return h->at > begin;
}

/* Reads () or (3,) or (3, 4) or (3, 4, ). */
static enum mt_status read_shape(struct header *h)
{
    if (!take(h, '('))
        return fail(h, "a tuple 'shape'");
    while (!take(h, ')')) {
        if (h->rank == MT_NPZ_MAX_RANK)
            return mt_fail(h->err, MT_LIMIT, "%s: array \"%s\": expected at most %d dimensions",
                           h->path, h->name, MT_NPZ_MAX_RANK);
        if (!take_size(h, &h->shape[h->rank++]))
            return fail(h, "whole numbers in 'shape'");
        if (!take(h, ',')) {
            if (!take(h, ')') || h->rank == 1) /* (3) is no tuple */
                return fail(h, "a tuple 'shape'");
            return MT_OK;
        }
    }
    return MT_OK;
}

static enum mt_status read_pair(struct header *h)
{
    char key[32];
    if (!take_string(h, key, sizeof key) || !take(h, ':'))
        return fail(h, "'descr', 'fortran_order' and 'shape'");
    if (!strcmp(key, "descr") && !h->has_descr) {
        h->has_descr = true;
        return take_string(h, h->descr, sizeof h->descr) ? MT_OK : fail(h, "a simple 'descr'");
    }
    if (!strcmp(key, "fortran_order") && !h->has_order) {
        h->has_order = true;
        h->is_fortran = take_word(h, "True");
        return h->is_fortran || take_word(h, "False") ? MT_OK : fail(h, "True or False");
    }
    if (!strcmp(key, "shape") && !h->has_shape) {
        h->has_shape = true;
        return read_shape(h);
    }
    return fail(h, "'descr', 'fortran_order' and 'shape', each once");
}

static enum mt_status read_dict(struct header *h)
{
    if (!take(h, '{'))
        return fail(h, "a dict");
    while (!take(h, '}')) {
        enum mt_status status = read_pair(h);
        if (status)
            return status;
        if (!take(h, ',')) {
            if (!take(h, '}'))
                return fail(h, "',' or '}'");
            break;
        }
    }
    skip_blanks(h);
    if (h->at != h->end || !h->has_descr || !h->has_order || !h->has_shape)
        return fail(h, "'descr', 'fortran_order' and 'shape', and nothing else");
    return MT_OK;
}

/* --- Arrays --- */

static enum mt_status read_dtype(const struct header *h, enum mt_dtype *out)
{
    static const struct {
        const char *descr;
        enum mt_dtype dtype;
    } types[] = {{"<f4", MT_F32}, {"<f2", MT_F16}, {"|i1", MT_I8}, {"<i1", MT_I8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(h->descr, types[i].descr)) {
            *out = types[i].dtype;
            return MT_OK;
        }
    return mt_fail(h->err, MT_UNSUPPORTED,
                   "%s: array \"%s\": expected type <f4, <f2 or |i1, found \"%s\"", h->path,
                   h->name, h->descr);
}

/* Finds the dict, and where the numbers begin. */
static enum mt_status find_header(struct header *h, const struct mt_zip_entry *entry,
                                  size_t *data_offset)
{
    const unsigned char *b = entry->bytes;
    if (entry->length < MAGIC_BYTES + 4 || memcmp(b, MAGIC, MAGIC_BYTES) != 0)
        return fail(h, "\"\\x93NUMPY\"");
    unsigned major = b[MAGIC_BYTES], minor = b[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return mt_fail(h->err, MT_UNSUPPORTED,
                       "%s: array \"%s\": expected version 1.0, 2.0 or 3.0, found %u.%u", h->path,
                       h->name, major, minor);
    size_t start = MAGIC_BYTES + (major == 1 ? 4 : 6);
    if (entry->length < start)
        return fail(h, "a length");
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (major > 1)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > MT_NPZ_MAX_HEADER_BYTES)
        return mt_fail(h->err, MT_LIMIT,
                       "%s: array \"%s\": expected a header of at most %d bytes, found %zu",
                       h->path, h->name, MT_NPZ_MAX_HEADER_BYTES, length);
    if (length > entry->length - start)
        return fail(h, "as many bytes as it says");
    h->at = (const char *)b + start;
    h->end = h->at + length;
    *data_offset = start + length;
    return MT_OK;
}

static enum mt_status read_array(const char *path, const struct mt_zip_entry *entry,
                                 struct mt_npz_array *array, struct mt_error *err)
{
    struct header h = {.path = path, .name = array->name, .err = err};
    size_t offset = 0, n_bytes;
    enum mt_status status = find_header(&h, entry, &offset);
    if (!status)
        status = read_dict(&h);
    if (!status)
        status = read_dtype(&h, &array->dtype);
    if (status)
        return status;
    if (h.is_fortran)
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: array \"%s\" is in Fortran's order, expected rows one after the other",
                       path, array->name);
    array->n_elements = 1;
    for (size_t i = 0; i < h.rank; i++) {
        array->shape[i] = h.shape[i];
        if (!mt_size_mul(array->n_elements, h.shape[i], &array->n_elements))
            return mt_fail(err, MT_LIMIT, "%s: array \"%s\" is too large", path, array->name);
    }
    if (!mt_size_mul(array->n_elements, mt_dtype_bytes(array->dtype), &n_bytes) ||
        n_bytes != entry->length - offset)
        return mt_fail(err, MT_FORMAT,
                       "%s: array \"%s\": its shape needs another number of bytes than the %zu "
                       "that are there",
                       path, array->name, entry->length - offset);
    array->rank = h.rank;
    array->data = entry->bytes + offset;
    array->n_bytes = n_bytes;
    array->entry = entry;
    return MT_OK;
}

static enum mt_status read_arrays(struct mt_npz *npz, struct mt_error *err)
{
    size_t n = mt_zip_count(npz->zip), n_name_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_name_bytes += strlen(mt_zip_at(npz->zip, i)->name) + 1;
    npz->arrays = calloc(n + 1, sizeof *npz->arrays);
    npz->names = malloc(n_name_bytes + 1);
    if (!npz->arrays || !npz->names)
        return mt_fail_memory(err, n * sizeof *npz->arrays + n_name_bytes, npz->path);
    char *name = npz->names;
    for (size_t i = 0; i < n; i++) {
        const struct mt_zip_entry *entry = mt_zip_at(npz->zip, i);
        size_t length = strlen(entry->name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->name + length - suffix, SUFFIX) != 0)
            return mt_fail(err, MT_FORMAT,
                           "%s: expected names that end in " SUFFIX ", found \"%s\"", npz->path,
                           entry->name);
        memcpy(name, entry->name, length - suffix);
        name[length - suffix] = '\0';
        npz->arrays[i].name = name;
        name += length - suffix + 1;
        enum mt_status status = read_array(npz->path, entry, &npz->arrays[npz->n++], err);
        if (status)
            return status;
    }
    return MT_OK;
}

enum mt_status mt_npz_open(const unsigned char *bytes, size_t length, const char *path,
                           struct mt_npz **out, struct mt_error *err)
{
    struct mt_npz *npz = calloc(1, sizeof *npz);
    if (!npz)
        return mt_fail_memory(err, sizeof *npz, path);
    npz->path = path;
    enum mt_status status = mt_zip_open(bytes, length, path, &npz->zip, err);
    if (!status)
        status = read_arrays(npz, err);
    if (status) {
        mt_npz_close(npz);
        return status;
    }
    *out = npz;
    return MT_OK;
}

void mt_npz_close(struct mt_npz *npz)
{
    if (!npz)
        return;
    mt_zip_close(npz->zip);
    free(npz->arrays);
    free(npz->names);
    free(npz);
}

size_t mt_npz_count(const struct mt_npz *npz)
{
    return npz->n;
}

const struct mt_npz_array *mt_npz_at(const struct mt_npz *npz, size_t index)
{
    return index < npz->n ? &npz->arrays[index] : NULL;
}

const struct mt_npz_array *mt_npz_find(const struct mt_npz *npz, const char *name)
{
    for (size_t i = 0; i < npz->n; i++)
        if (!strcmp(npz->arrays[i].name, name))
            return &npz->arrays[i];
    return NULL;
}

enum mt_status mt_npz_check(const struct mt_npz *npz, const struct mt_npz_array *array,
                            struct mt_error *err)
{
    return mt_zip_check(npz->zip, array->entry, err);
}
