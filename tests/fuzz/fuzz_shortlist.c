/* Feeds bytes to the reader of lexical shortlists, as they are and with the checksum that they
 * ought to have. Of what it accepts every word's candidates are in the file and the vocabulary. */
#include "weights/shortlist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define N_SOURCE 4
#define N_TARGET 64
#define CHECKED_FROM 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_file(const uint8_t *data, size_t size)
{
    struct mt_shortlist list = {0};
    struct mt_error err = {0};
    if (mt_shortlist_read(data, size, "fuzz", N_SOURCE, N_TARGET, &list, &err)) {
        assert(!list.offsets && err.message[0]);
        return;
    }
    assert(list.n_first <= N_TARGET && list.n_words <= N_SOURCE);
    for (size_t word = 0; word < list.n_words; word++) {
        size_t begin, end;
        mt_shortlist_range(&list, word, &begin, &end);
        assert(begin <= end && end <= list.n_ids);
        for (; begin < end; begin++)
            assert(mt_shortlist_id(&list, begin) < N_TARGET);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_file(data, size);
    if (size < CHECKED_FROM)
        return 0;
    uint8_t *copy = malloc(size);
    assert(copy);
    memcpy(copy, data, size);
    uint64_t hash = 0, word;
    for (size_t i = CHECKED_FROM; i + 8 <= size; i += 8) {
        memcpy(&word, copy + i, 8);
        hash ^= word + 0x9e3779b9 + (hash << 6) + (hash >> 2);
    }
    memcpy(copy, MT_SHORTLIST_MAGIC, MT_SHORTLIST_MAGIC_BYTES);
    memcpy(copy + 8, &hash, 8);
    try_file(copy, size);
    free(copy);
    return 0;
}
