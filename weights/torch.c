#include "weights/torch.h"

#include "base/size.h"
#include "base/text.h"
#include "weights/pickle.h"
#include "weights/zip.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pickle of torch.save's magic number, with which the old container begins. */
static const unsigned char legacy_magic[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                             0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
#define LEGACY_PROTOCOL 1001

/* A storage, whose numbers are in the file. */
struct storage {
    const char *key;
    const unsigned char *bytes;
    size_t length;
};

struct named {
    const char *name;
    const struct mt_pickle_tensor *tensor;
    const unsigned char *numbers; /* those of its storage */
    size_t index;                 /* in the image */
};

struct reader {
    const unsigned char *bytes;
    size_t length;
    const char *path;
    struct mt_error *err;
    struct mt_arena *arena;
    struct mt_zip *zip; /* NULL: the old container */
    char prefix[MT_ZIP_MAX_NAME_BYTES + 1];
    struct storage *storages; /* those that were found and are valid */
    size_t n_storages;
    struct named *tensors;
    size_t n_tensors;
};

static enum mt_status fail(const struct reader *r, const char *why)
{
    return mt_fail(r->err, MT_FORMAT, "%s: not a PyTorch checkpoint: %s", r->path, why);
}

/* Allocates memory for the storages that will be found. */
static enum mt_status take_storages(struct reader *r, size_t most)
{
    void *memory = NULL;
    enum mt_status status =
        mt_arena_take(r->arena, most, sizeof *r->storages, "storages", &memory, r->err);
    r->storages = memory;
    return status;
}

/* --- The zip archive --- */

/* Finds the folder that everything is in, which is the archive's name. */
static enum mt_status find_prefix(struct reader *r)
{
    for (size_t i = 0; i < mt_zip_count(r->zip); i++) {
        const char *name = mt_zip_at(r->zip, i)->name, *slash = strchr(name, '/');
        if (!slash || strcmp(slash, "/data.pkl") != 0)
            continue;
        memcpy(r->prefix, name, (size_t)(slash - name));
        r->prefix[slash - name] = '\0';
        return MT_OK;
    }
    return fail(r, "the archive has no data.pkl");
}

/* Returns the entry prefix/name, or NULL. */
static const struct mt_zip_entry *find_entry(const struct reader *r, const char *folder,
                                             const char *name)
{
    char full[2 * MT_ZIP_MAX_NAME_BYTES];
    int n = snprintf(full, sizeof full, "%s/%s%s", r->prefix, folder, name);
    return n > 0 && (size_t)n < sizeof full ? mt_zip_find(r->zip, full) : NULL;
}

static enum mt_status read_zip(struct reader *r, struct mt_pickle_value **out)
{
    enum mt_status status = mt_zip_open(r->bytes, r->length, r->path, &r->zip, r->err);
    if (!status)
        status = find_prefix(r);
    if (status)
        return status;
    const struct mt_zip_entry *order = find_entry(r, "", "byteorder");
    if (order && (order->length != 6 || memcmp(order->bytes, "little", 6) != 0))
        return mt_fail(r->err, MT_UNSUPPORTED, "%s: its byte order is \"%.*s\", expected little",
                       r->path, (int)mt_size_min(order->length, 20), (const char *)order->bytes);
    if (find_entry(r, "", "constants.pkl"))
        return mt_fail(r->err, MT_UNSUPPORTED,
                       "%s: a TorchScript program, expected a checkpoint of weights", r->path);
    const struct mt_zip_entry *pickle = find_entry(r, "", "data.pkl");
    size_t n_read;
    status = mt_zip_check(r->zip, pickle, r->err);
    if (!status)
        status =
            mt_pickle_read(pickle->bytes, pickle->length, r->path, r->arena, out, &n_read, r->err);
    return status;
}

/* --- The old container ---
 *
 * It has pickles one behind the other: magic number, protocol, a dict that describes the machine,
 * the object, the list of its storages' keys. Then there are for each key the number of elements,
 * and these. */

static enum mt_status read_next(struct reader *r, size_t *at, enum mt_pickle_kind kind,
                                struct mt_pickle_value **out)
{
    size_t n_read = 0;
    enum mt_status status =
        mt_pickle_read(r->bytes + *at, r->length - *at, r->path, r->arena, out, &n_read, r->err);
    if (status)
        return status;
    *at += n_read;
    if ((*out)->kind != kind)
        return mt_fail(r->err, MT_FORMAT, "%s: expected %s before byte %zu, found %s", r->path,
                       mt_pickle_kind_name(kind), *at, mt_pickle_kind_name((*out)->kind));
    return MT_OK;
}

/* The dtype of a storage is known only from its tensors, so a storage that no tensor uses has an
 * unknown length; no checkpoint has one. */
static const struct mt_pickle_storage *storage_of(const struct mt_pickle_value *dict,
                                                  const char *key)
{
    for (size_t i = 1; i < dict->sequence.n; i += 2) {
        const struct mt_pickle_value *value = dict->sequence.items[i];
        if (value->kind == MT_PICKLE_TENSOR && !strcmp(value->tensor.storage->key, key))
            return value->tensor.storage;
    }
    return NULL;
}

static enum mt_status place_storage(struct reader *r, const struct mt_pickle_value *dict,
                                    const struct mt_pickle_value *key, size_t *at)
{
    if (key->kind != MT_PICKLE_STRING)
        return fail(r, "a storage's key is not a string");
    const struct mt_pickle_storage *storage = storage_of(dict, key->string.bytes);
    if (!storage)
        return mt_fail(r->err, MT_FORMAT, "%s: no tensor uses storage \"%.80s\"", r->path,
                       key->string.bytes);
    uint64_t n_elements;
    size_t bytes;
    if (r->length - *at < sizeof n_elements)
        return fail(r, "it ends in the middle of a storage");
    memcpy(&n_elements, r->bytes + *at, sizeof n_elements);
    n_elements = le64toh(n_elements);
    *at += sizeof n_elements;
    if (n_elements != (uint64_t)storage->n_elements)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: storage \"%.80s\" has %" PRIu64 " elements, expected %" PRId64, r->path,
                       storage->key, n_elements, storage->n_elements);
    if (!mt_size_mul((size_t)n_elements, mt_dtype_bytes(storage->dtype), &bytes) ||
        bytes > r->length - *at)
        return fail(r, "it ends in the middle of a storage");
    r->storages[r->n_storages++] =
        (struct storage){.key = storage->key, .bytes = r->bytes + *at, .length = bytes};
    *at += bytes;
    return MT_OK;
}

static enum mt_status read_legacy(struct reader *r, struct mt_pickle_value **out)
{
    struct mt_pickle_value *value = NULL, *keys = NULL;
    size_t at = sizeof legacy_magic;
    enum mt_status status = read_next(r, &at, MT_PICKLE_INTEGER, &value);
    if (!status && value->integer != LEGACY_PROTOCOL)
        status = mt_fail(r->err, MT_UNSUPPORTED, "%s: protocol %" PRId64 ", expected %d", r->path,
                         value->integer, LEGACY_PROTOCOL);
    if (!status)
        status = read_next(r, &at, MT_PICKLE_DICT, &value);
    if (status)
        return status;
    const struct mt_pickle_value *is_little = mt_pickle_get(value, "little_endian");
    if (!is_little || is_little->kind != MT_PICKLE_BOOL || !is_little->integer)
        return mt_fail(r->err, MT_UNSUPPORTED, "%s: not from a little-endian machine", r->path);
    status = read_next(r, &at, MT_PICKLE_DICT, out);
    if (!status)
        status = read_next(r, &at, MT_PICKLE_LIST, &keys);
    if (status)
        return status;
    if (keys->sequence.n > MT_TORCH_MAX_TENSORS)
        return mt_fail(r->err, MT_LIMIT, "%s: %zu storages, expected at most %d", r->path,
                       keys->sequence.n, MT_TORCH_MAX_TENSORS);
    status = take_storages(r, keys->sequence.n);
    for (size_t i = 0; i < keys->sequence.n && !status; i++)
        status = place_storage(r, *out, keys->sequence.items[i], &at);
    if (!status && at != r->length)
        status = mt_fail(r->err, MT_FORMAT, "%s: %zu bytes behind the last storage", r->path,
                         r->length - at);
    return status;
}

/* --- Tensors --- */

static enum mt_status find_storage(struct reader *r, const struct mt_pickle_storage *storage,
                                   struct storage *out)
{
    for (size_t i = 0; i < r->n_storages; i++)
        if (!strcmp(r->storages[i].key, storage->key)) {
            *out = r->storages[i];
            return MT_OK;
        }
    const struct mt_zip_entry *entry = r->zip ? find_entry(r, "data/", storage->key) : NULL;
    if (!entry)
        return mt_fail(r->err, MT_FORMAT, "%s: expected storage \"%.80s\", found none", r->path,
                       storage->key);
    enum mt_status status = mt_zip_check(r->zip, entry, r->err);
    if (status)
        return status;
    *out = (struct storage){.key = storage->key, .bytes = entry->bytes, .length = entry->length};
    r->storages[r->n_storages++] = *out;
    return MT_OK;
}

static bool is_same_view(const struct mt_pickle_tensor *a, const struct mt_pickle_tensor *b)
{
    bool same =
        !strcmp(a->storage->key, b->storage->key) && a->offset == b->offset && a->rank == b->rank;
    for (size_t i = 0; i < a->rank && same; i++)
        same = a->shape[i] == b->shape[i] && a->strides[i] == b->strides[i];
    return same;
}

static const struct named *find_same(const struct reader *r, const struct mt_pickle_tensor *tensor)
{
    for (size_t i = 0; i < r->n_tensors; i++)
        if (is_same_view(r->tensors[i].tensor, tensor))
            return &r->tensors[i];
    return NULL;
}

static enum mt_status check_name(const struct reader *r, const struct mt_pickle_value *key)
{
    if (key->kind != MT_PICKLE_STRING)
        return mt_fail(r->err, MT_FORMAT, "%s: expected tensors' names, found %s", r->path,
                       mt_pickle_kind_name(key->kind));
    const char *name = key->string.bytes;
    size_t length = key->string.length;
    bool is_text = length > 0 && length <= MT_ZIP_MAX_NAME_BYTES &&
                   mt_utf8_valid_prefix(name, length) == length;
    for (size_t i = 0; i < length && is_text; i++)
        is_text = (unsigned char)name[i] >= ' ';
    if (!is_text)
        return fail(r, "a tensor's name is empty, longer than 512 bytes, or not text");
    for (size_t i = 0; i < r->n_tensors; i++)
        if (!strcmp(r->tensors[i].name, name))
            return mt_fail(r->err, MT_FORMAT, "%s: two tensors \"%s\"", r->path, name);
    return MT_OK;
}

static enum mt_status add_tensor(struct reader *r, const struct mt_pickle_value *key,
                                 const struct mt_pickle_value *value)
{
    enum mt_status status = check_name(r, key);
    if (status)
        return status;
    if (value->kind != MT_PICKLE_TENSOR)
        return mt_fail(r->err, MT_UNSUPPORTED, "%s: \"%s\" is %s, expected a tensor", r->path,
                       key->string.bytes, mt_pickle_kind_name(value->kind));
    const struct mt_pickle_tensor *tensor = &value->tensor;
    if (find_same(r, tensor))
        return MT_OK;
    struct storage storage = {0};
    size_t expected;
    status = find_storage(r, tensor->storage, &storage);
    if (status)
        return status;
    if (!mt_size_mul((size_t)tensor->storage->n_elements, mt_dtype_bytes(tensor->storage->dtype),
                     &expected) ||
        expected != storage.length)
        return mt_fail(r->err, MT_FORMAT,
                       "%s: storage \"%.80s\" has %zu bytes, expected %" PRId64 " numbers of %s",
                       r->path, storage.key, storage.length, tensor->storage->n_elements,
                       mt_dtype_name(tensor->storage->dtype));
    r->tensors[r->n_tensors++] =
        (struct named){.name = key->string.bytes, .tensor = tensor, .numbers = storage.bytes};
    return MT_OK;
}

static enum mt_status add_tensors(struct reader *r, const struct mt_pickle_value *dict)
{
    if (dict->kind != MT_PICKLE_DICT)
        return mt_fail(r->err, MT_UNSUPPORTED, "%s: expected a dict of tensors, found %s", r->path,
                       mt_pickle_kind_name(dict->kind));
    size_t n = dict->sequence.n / 2;
    if (n > MT_TORCH_MAX_TENSORS)
        return mt_fail(r->err, MT_LIMIT, "%s: %zu tensors, expected at most %d", r->path, n,
                       MT_TORCH_MAX_TENSORS);
    void *memory = NULL;
    enum mt_status status =
        mt_arena_take(r->arena, n, sizeof *r->tensors, "tensors", &memory, r->err);
    r->tensors = memory;
    if (!status && r->zip) /* otherwise they are known already */
        status = take_storages(r, n);
    for (size_t i = 0; i < n && !status; i++)
        status = add_tensor(r, dict->sequence.items[2 * i], dict->sequence.items[2 * i + 1]);
    return status;
}

/* --- The result --- */

static enum mt_status plan(struct reader *r, struct mt_image *image)
{
    /* There may be many views of one storage, and strides of 0 make large tensors of little data,
     * so the total size is limited. */
    size_t total = 0, most = r->length <= SIZE_MAX / 2 ? 2 * r->length : SIZE_MAX;
    for (size_t i = 0; i < r->n_tensors; i++) {
        const struct mt_pickle_tensor *tensor = r->tensors[i].tensor;
        size_t shape[MT_PICKLE_MAX_RANK], bytes = mt_dtype_bytes(tensor->storage->dtype);
        bool fits = true;
        for (size_t d = 0; d < tensor->rank; d++) {
            shape[d] = (size_t)tensor->shape[d];
            fits = fits && mt_size_mul(bytes, shape[d], &bytes);
        }
        if (!fits || !mt_size_add(total, bytes, &total) || total > most)
            return mt_fail(r->err, MT_LIMIT,
                           "%s: its tensors are more than twice as long as the file (%zu bytes)",
                           r->path, r->length);
        enum mt_status status = mt_image_add(image, r->tensors[i].name, tensor->storage->dtype,
                                             tensor->rank, shape, &r->tensors[i].index, r->err);
        if (status)
            return status;
    }
    return mt_image_allocate(image, r->err);
}

/* Copies the tensor's numbers in the order of its indexes; returns the position behind the last one
 * written. */
static unsigned char *copy_numbers(const struct mt_pickle_tensor *tensor, size_t dimension,
                                   const unsigned char *from, unsigned char *to)
{
    size_t bytes = mt_dtype_bytes(tensor->storage->dtype);
    if (dimension == tensor->rank) {
        memcpy(to, from, bytes);
        return to + bytes;
    }
    size_t n = (size_t)tensor->shape[dimension], stride = (size_t)tensor->strides[dimension];
    if (dimension + 1 == tensor->rank && stride == 1) {
        memcpy(to, from, n * bytes);
        return to + n * bytes;
    }
    for (size_t i = 0; i < n; i++)
        to = copy_numbers(tensor, dimension + 1, from + i * stride * bytes, to);
    return to;
}

static bool is_empty(const struct mt_pickle_tensor *tensor)
{
    bool empty = false;
    for (size_t i = 0; i < tensor->rank; i++)
        empty = empty || tensor->shape[i] == 0;
    return empty;
}

static enum mt_status make_image(struct reader *r, struct mt_image **out)
{
    struct mt_image *image = NULL;
    enum mt_status status = mt_image_create(&image, r->err);
    if (!status)
        status = plan(r, image);
    if (status) {
        mt_image_destroy(image);
        return status;
    }
    for (size_t i = 0; i < r->n_tensors; i++) {
        const struct mt_pickle_tensor *tensor = r->tensors[i].tensor;
        size_t offset = (size_t)tensor->offset * mt_dtype_bytes(tensor->storage->dtype);
        if (!is_empty(tensor))
            copy_numbers(tensor, 0, r->tensors[i].numbers + offset,
                         mt_image_data(image, r->tensors[i].index));
    }
    *out = image;
    return MT_OK;
}

enum mt_status mt_torch_read(const unsigned char *bytes, size_t length, const char *path,
                             struct mt_image **out, struct mt_error *err)
{
    struct reader r = {.bytes = bytes, .length = length, .path = path, .err = err};
    struct mt_pickle_value *dict = NULL;
    enum mt_status status = mt_arena_create(0, &r.arena, err);
    if (status)
        return status;
    if (mt_zip_is(bytes, length))
        status = read_zip(&r, &dict);
    else if (length > sizeof legacy_magic && !memcmp(bytes, legacy_magic, sizeof legacy_magic))
        status = read_legacy(&r, &dict);
    else
        status = fail(&r, "it is neither a zip archive nor begins with torch.save's magic number");
    if (!status)
        status = add_tensors(&r, dict);
    if (!status)
        status = make_image(&r, out);
    mt_zip_close(r.zip);
    mt_arena_destroy(r.arena);
    return status;
}
