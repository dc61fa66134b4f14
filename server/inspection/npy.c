#include "server/inspection/npy.h"

#include <endian.h>
#include <string.h>

void mt_npy_append_numbers(struct mt_text *out, const void *numbers, size_t n)
{
    if (htole32(1) == 1) {
        mt_text_append(out, numbers, n * sizeof(uint32_t));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)numbers + i * sizeof bits, sizeof bits);
        bits = htole32(bits);
        mt_text_append(out, (const char *)&bits, sizeof bits);
    }
}

/* Writes magic, version, the length of the rest in 2 bytes, and a Python dictionary, padded with
 * blanks so that the numbers begin at a multiple of 64. */
void mt_npy_append_head(struct mt_text *out, const size_t *shape, size_t rank)
{
    mt_text_append(out, "\x93NUMPY\x01\x00\x00\x00", 10);
    mt_text_append_string(out, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < rank; i++)
        mt_text_appendf(out, "%s%zu", i ? ", " : "", shape[i]);
    mt_text_append_string(out, rank == 1 ? ",), }" : "), }");
    while (!out->status && (out->length + 1) % 64 != 0)
        mt_text_append(out, " ", 1);
    mt_text_append(out, "\n", 1);
    if (out->status)
        return;
    uint16_t length = htole16((uint16_t)(out->length - 10));
    memcpy(out->bytes + 8, &length, sizeof length);
}
