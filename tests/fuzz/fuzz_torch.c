/* Feeds bytes to the reader of checkpoints, zip archives and all. What it makes of them must be a
 * safetensors file, at most twice as long. */
#include "tests/fuzz/archive.h"
#include "weights/safetensors.h"
#include "weights/torch.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return archive_mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_image *image = NULL;
    struct mt_safetensors *file = NULL;
    struct mt_error err = {0};
    if (mt_torch_read(data, size, "fuzz", &image, &err)) {
        assert(!image && err.message[0]);
        return 0;
    }
    size_t length, n_numbers = 0;
    const void *bytes = mt_image_bytes(image, &length);
    if (mt_safetensors_open_memory(bytes, length, "fuzz", &file, &err) == MT_OK) {
        for (size_t i = 0; i < mt_safetensors_count(file); i++)
            n_numbers += mt_safetensors_at(file, i)->n_bytes;
        assert(n_numbers <= 2 * size);
        mt_safetensors_close(file);
    } else {
        assert(err.message[0]); /* a name with a control character, say */
    }
    mt_image_destroy(image);
    return 0;
}
