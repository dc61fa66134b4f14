/* Feeds bytes to the reader of Marian's binary models. Items that it accepts lie inside the file,
 * share no byte, and are as long as their shapes say. */
#include "weights/marian_bin.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_item(const struct mt_marian_item *item, const uint8_t *begin, const uint8_t *end)
{
    size_t n = 1;
    for (size_t k = 0; k < item->rank; k++)
        n *= item->shape[k];
    assert(item->rank <= MT_MARIAN_BIN_MAX_RANK && n == item->n_elements);
    assert(item->n_bytes == n * mt_dtype_bytes(item->dtype));
    assert(item->data >= begin && item->n_bytes <= (size_t)(end - item->data));
    assert(!item->is_transposed || (item->rank == 2 && item->is_quantized));
    assert(!item->is_quantized || item->scale > 0.0f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_marian_bin *bin = NULL;
    struct mt_error err = {0};
    if (mt_marian_bin_open(data, size, "fuzz", &bin, &err)) {
        assert(!bin && err.message[0]);
        return 0;
    }
    const uint8_t *behind = data;
    for (size_t i = 0; i < mt_marian_bin_count(bin); i++) {
        const struct mt_marian_item *item = mt_marian_bin_at(bin, i);
        assert(item->data >= behind);
        check_item(item, data, data + size);
        behind = item->data + item->n_bytes;
        assert(mt_marian_bin_find(bin, item->name) == item);
    }
    mt_marian_bin_close(bin);
    return 0;
}
