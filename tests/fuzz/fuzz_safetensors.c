/*
 * Feeds bytes to the safetensors reader. What it opens must be consistent: tensors inside the file,
 * without holes and overlaps, each found by its name, every byte readable.
 */
#include "weights/safetensors.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static unsigned sum; /* keeps the reads below from being optimised away */

static void look_at(const struct mt_safetensors *file, const struct mt_tensor *tensor)
{
    size_t n_elements = 1;
    assert(strlen(tensor->name) <= MT_SAFETENSORS_MAX_NAME_BYTES);
    assert(tensor->rank <= MT_SAFETENSORS_MAX_RANK);
    for (size_t i = 0; i < tensor->rank; i++)
        assert(!__builtin_mul_overflow(n_elements, tensor->shape[i], &n_elements));
    assert(tensor->n_elements == n_elements);
    assert(tensor->n_bytes == n_elements * mt_dtype_bytes(tensor->dtype));
    assert(mt_safetensors_find(file, tensor->name) == tensor);
    for (size_t i = 0; i < tensor->n_bytes; i++)
        sum += ((const unsigned char *)tensor->data)[i];
    sum += mt_tensor_is_aligned(tensor);
    if (tensor->dtype == MT_F16 || tensor->dtype == MT_BF16 || tensor->dtype == MT_F32) {
        float *wide = malloc(n_elements * sizeof *wide + 1);
        assert(wide);
        mt_widen_f32(tensor->dtype, tensor->data, n_elements, wide);
        free(wide);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_safetensors *file = NULL;
    struct mt_error err = {0};
    if (mt_safetensors_open_memory(data, size, "fuzz", &file, &err)) {
        assert(!file && err.message[0]);
        return 0;
    }
    const unsigned char *next = NULL;
    for (size_t i = 0; i < mt_safetensors_count(file); i++) {
        const struct mt_tensor *tensor = mt_safetensors_at(file, i);
        assert(!next || tensor->data == next);
        next = (const unsigned char *)tensor->data + tensor->n_bytes;
        look_at(file, tensor);
    }
    assert(!next || next == data + size);
    const char *value = mt_safetensors_metadata(file, "format");
    sum += value ? (unsigned)strlen(value) : 0;
    mt_safetensors_close(file);
    return 0;
}
