#include "model/families/marian_arrays.h"

#include <assert.h>
#include <string.h>

static_assert(MT_NPZ_MAX_RANK <= MT_MARIAN_BIN_MAX_RANK, "an array of one is one of the other");

bool mt_marian_is_bin(const struct mt_foreign_file *file)
{
    return file->mapping.length >= MT_MARIAN_BIN_MAGIC_BYTES &&
           memcmp(file->mapping.bytes, MT_MARIAN_BIN_MAGIC, MT_MARIAN_BIN_MAGIC_BYTES) == 0;
}

static bool is_npz(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npz") == 0;
}

enum mt_status mt_marian_arrays_open(const struct mt_foreign_file *file,
                                     struct mt_marian_arrays *out, struct mt_error *err)
{
    *out = (struct mt_marian_arrays){.path = file->path};
    return is_npz(file->name)
               ? mt_npz_open(file->mapping.bytes, file->mapping.length, file->path, &out->npz, err)
               : mt_marian_bin_open(file->mapping.bytes, file->mapping.length, file->path,
                                    &out->bin, err);
}

void mt_marian_arrays_close(struct mt_marian_arrays *arrays)
{
    mt_npz_close(arrays->npz);
    mt_marian_bin_close(arrays->bin);
    *arrays = (struct mt_marian_arrays){0};
}

size_t mt_marian_arrays_count(const struct mt_marian_arrays *arrays)
{
    return arrays->npz ? mt_npz_count(arrays->npz) : mt_marian_bin_count(arrays->bin);
}

const char *mt_marian_arrays_name(const struct mt_marian_arrays *arrays, size_t index)
{
    return arrays->npz ? mt_npz_at(arrays->npz, index)->name
                       : mt_marian_bin_at(arrays->bin, index)->name;
}

static struct mt_marian_array array_of_npz(const struct mt_npz_array *a)
{
    struct mt_marian_array array = {.is = {.name = a->name,
                                           .dtype = a->dtype,
                                           .rank = a->rank,
                                           .n_elements = a->n_elements,
                                           .data = a->data,
                                           .n_bytes = a->n_bytes},
                                    .in_npz = a};
    memcpy(array.is.shape, a->shape, sizeof a->shape);
    return array;
}

bool mt_marian_arrays_find(const struct mt_marian_arrays *arrays, const char *name,
                           struct mt_marian_array *out)
{
    const struct mt_npz_array *in_npz = arrays->npz ? mt_npz_find(arrays->npz, name) : NULL;
    const struct mt_marian_item *in_bin =
        arrays->bin ? mt_marian_bin_find(arrays->bin, name) : NULL;
    if (in_npz)
        *out = array_of_npz(in_npz);
    else if (in_bin)
        *out = (struct mt_marian_array){.is = *in_bin};
    return in_npz || in_bin;
}

enum mt_status mt_marian_array_check(const struct mt_marian_arrays *arrays,
                                     const struct mt_marian_array *array, struct mt_error *err)
{
    return array->in_npz ? mt_npz_check(arrays->npz, array->in_npz, err) : MT_OK;
}
