/* Feeds bytes to the unpackers of gzip and Zstandard, with a small limit: what comes out is within it,
 * and can be read. */
#include "weights/compressed.h"

#include <assert.h>
#include <stdint.h>

#define LIMIT ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_form(enum mt_compression compression, const uint8_t *data, size_t size)
{
    struct mt_mapping out = {0};
    struct mt_error err = {0};
    if (mt_decompress(compression, data, size, "fuzz", LIMIT, &out, &err)) {
        assert(!out.bytes && err.message[0]);
        return;
    }
    assert(out.length <= LIMIT && !out.bytes == !out.length);
    unsigned sum = 0;
    for (size_t i = 0; i < out.length; i++)
        sum += out.bytes[i];
    assert(sum <= LIMIT * 255);
    mt_mapping_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_form(MT_GZIP, data, size);
    try_form(MT_ZSTANDARD, data, size);
    return 0;
}
