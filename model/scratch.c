#include "model/scratch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct mt_scratch {
    void *bytes;
    size_t n_bytes;
    atomic_size_t n_holders;
};

enum mt_status mt_scratch_create(size_t n_bytes, struct mt_scratch **out, struct mt_error *err)
{
    struct mt_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return mt_fail_memory(err, sizeof *scratch, "activations");
    void *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) {
        free(scratch);
        return mt_fail_memory(err, n_bytes, "activations");
    }
    scratch->bytes = bytes;
    scratch->n_bytes = n_bytes;
    atomic_init(&scratch->n_holders, 1);
    *out = scratch;
    return MT_OK;
}

struct mt_scratch *mt_scratch_hold(struct mt_scratch *scratch)
{
    atomic_fetch_add(&scratch->n_holders, 1);
    return scratch;
}

void mt_scratch_let_go(struct mt_scratch *scratch)
{
    if (!scratch || atomic_fetch_sub(&scratch->n_holders, 1) > 1)
        return;
    munmap(scratch->bytes, scratch->n_bytes);
    free(scratch);
}

void *mt_scratch_bytes(const struct mt_scratch *scratch)
{
    return scratch->bytes;
}

size_t mt_scratch_n_bytes(const struct mt_scratch *scratch)
{
    return scratch->n_bytes;
}
