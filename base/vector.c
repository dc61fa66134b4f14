#include "base/vector.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* Least room of an array with items. */
#define FIRST_BYTES 256

enum mt_status mt_vector_grow(void *array, size_t *capacity, size_t n, size_t item_bytes,
                              const char *what, struct mt_error *err)
{
    size_t larger = mt_size_max(n, FIRST_BYTES / item_bytes), bytes = SIZE_MAX;
    void *items; /* C does not allow writing a pointer to another type as one to void */
    memcpy(&items, array, sizeof items);
    if (*capacity <= SIZE_MAX / 2)
        larger = mt_size_max(larger, 2 * *capacity);
    items = mt_size_mul(larger, item_bytes, &bytes) ? realloc(items, bytes) : NULL;
    if (!items)
        return mt_fail_memory(err, bytes, what);
    memcpy(array, &items, sizeof items);
    *capacity = larger;
    return MT_OK;
}
