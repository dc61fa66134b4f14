/* Feeds bytes to the reader of .npz archives. Arrays that it accepts lie inside the archive, share
 * no byte, and are as long as their shapes say. */
#include "tests/fuzz/archive.h"
#include "weights/npz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return archive_mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_npz *npz = NULL;
    struct mt_error err = {0};
    if (mt_npz_open(data, size, "fuzz", &npz, &err)) {
        assert(!npz && err.message[0]);
        return 0;
    }
    size_t total = 0;
    for (size_t i = 0; i < mt_npz_count(npz); i++) {
        const struct mt_npz_array *array = mt_npz_at(npz, i);
        size_t n = 1;
        for (size_t k = 0; k < array->rank; k++)
            n *= array->shape[k];
        assert(array->rank <= MT_NPZ_MAX_RANK && n == array->n_elements);
        assert(array->n_bytes == n * mt_dtype_bytes(array->dtype));
        assert(array->data >= data && array->data + array->n_bytes <= data + size);
        assert(mt_npz_find(npz, array->name));
        total += array->n_bytes;
        enum mt_status status = mt_npz_check(npz, array, &err);
        assert(status == MT_OK || status == MT_FORMAT);
    }
    assert(total <= size);
    mt_npz_close(npz);
    return 0;
}
