/* Feeds bytes to the pickle reader. What it reads must be whole:
 * every tensor inside its storage. */
#include "weights/pickle.h"

#include <assert.h>
#include <string.h>

static void look_at(const struct mt_pickle_value *value)
{
    if (value->kind == MT_PICKLE_STRING)
        assert(value->string.bytes[value->string.length] == '\0');
    if (value->kind != MT_PICKLE_TENSOR)
        return;
    const struct mt_pickle_tensor *tensor = &value->tensor;
    assert(tensor->rank <= MT_PICKLE_MAX_RANK && tensor->offset >= 0);
    int64_t last = tensor->offset;
    for (size_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == 0)
            return;
        last += (tensor->shape[i] - 1) * tensor->strides[i];
    }
    assert(last < tensor->storage->n_elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_arena *arena;
    struct mt_pickle_value *value = NULL;
    struct mt_error err = {0};
    size_t n_read = 0;
    if (mt_arena_create((size_t)1 << 28, &arena, &err))
        return 0;
    if (mt_pickle_read(data, size, "fuzz", arena, &value, &n_read, &err)) {
        assert(err.message[0]);
    } else {
        assert(n_read <= size);
        look_at(value);
        bool is_sequence = value->kind == MT_PICKLE_TUPLE || value->kind == MT_PICKLE_LIST ||
                           value->kind == MT_PICKLE_DICT;
        for (size_t i = 0; is_sequence && i < value->sequence.n; i++)
            look_at(value->sequence.items[i]);
        if (value->kind == MT_PICKLE_DICT)
            mt_pickle_get(value, "plain");
    }
    mt_arena_destroy(arena);
    return 0;
}
