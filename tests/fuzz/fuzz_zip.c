/* Feeds bytes to the reader of zip archives whose entries may be deflated, and unpacks them. */
#include "tests/fuzz/archive.h"
#include "weights/zip.h"

#include <assert.h>
#include <stdlib.h>

#define MOST_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return archive_mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_zip *zip = NULL;
    struct mt_error err = {0};
    if (mt_zip_open_deflated(data, size, "fuzz", &zip, &err)) {
        assert(!zip && err.message[0]);
        return 0;
    }
    size_t packed = 0;
    for (size_t i = 0; i < mt_zip_count(zip); i++) {
        const struct mt_zip_entry *entry = mt_zip_at(zip, i);
        assert(mt_zip_find(zip, entry->name) == entry);
        assert(entry->is_deflated || entry->length == entry->unpacked_length);
        packed += entry->length;
        if (entry->unpacked_length > MOST_BYTES)
            continue;
        void *out = malloc(entry->unpacked_length ? entry->unpacked_length : 1);
        if (mt_zip_unpack(zip, entry, out, &err))
            assert(err.message[0]);
        free(out);
    }
    assert(packed <= size);
    mt_zip_close(zip);
    return 0;
}
