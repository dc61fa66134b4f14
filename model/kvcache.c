#include "model/kvcache.h"

#include "base/size.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Regions with a size that is a power of two would all use the same cache sets, so each has this
 * many additional elements. */
#define REGION_PADDING 544

static bool sizes(const struct mt_kvcache *c, size_t *region, size_t *slot, size_t *bytes)
{
    return mt_size_mul(c->max_positions, c->d_model, region) &&
           mt_size_add(*region, REGION_PADDING, region) &&
           mt_size_mul(*region, 2 * c->n_layers, slot) && mt_size_mul(*slot, c->n_slots, bytes) &&
           mt_size_mul(*bytes, c->element_bytes, bytes);
}

enum mt_status mt_kvcache_init(struct mt_kvcache *cache, size_t n_slots, size_t n_layers,
                               size_t max_positions, size_t d_model, size_t element_bytes,
                               size_t n_open, struct mt_error *err)
{
    assert(n_slots <= MT_KVCACHE_MAX_SLOTS && n_open <= n_slots);
    struct mt_kvcache c = {.n_slots = n_slots,
                           .n_layers = n_layers,
                           .max_positions = max_positions,
                           .d_model = d_model,
                           .element_bytes = element_bytes,
                           .page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
    if (!sizes(&c, &c.region_stride, &c.slot_stride, &c.n_bytes))
        return mt_fail(err, MT_LIMIT,
                       "key/value cache: %zu slots of %zu positions overflow the address space",
                       n_slots, max_positions);
    c.free_slots = calloc(n_slots, sizeof *c.free_slots);
    c.n_written = calloc(n_slots, sizeof *c.n_written);
    if (!c.free_slots || !c.n_written) {
        mt_kvcache_finish(&c);
        return mt_fail_memory(err, n_slots * (sizeof *c.free_slots + sizeof *c.n_written),
                              "key/value cache");
    }
    void *bytes =
        mmap(NULL, c.n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) {
        enum mt_status status =
            mt_fail_memory(err, c.n_bytes, "key/value cache (fewer batch rows need less)");
        mt_kvcache_finish(&c);
        return status;
    }
    c.bytes = bytes;
    /* Sentences use the first pages of each region. Huge pages would commit several whole regions
     * for that, ten times as much memory. The call may fail on kernels without huge pages. */
    (void)madvise(bytes, c.n_bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < n_slots; i++)
        c.free_slots[i] = (uint16_t)(n_slots - 1 - i); /* the lowest at the end, where take looks */
    c.n_free = n_slots;
    if (!mt_kvcache_open(&c, n_open)) {
        size_t n_open_bytes = n_open * c.slot_stride * element_bytes;
        mt_kvcache_finish(&c);
        return mt_fail_memory(err, n_open_bytes, "key/value cache");
    }
    *cache = c;
    return MT_OK;
}

void mt_kvcache_finish(struct mt_kvcache *cache)
{
    if (cache->bytes)
        munmap(cache->bytes, cache->n_bytes);
    free(cache->free_slots);
    free(cache->n_written);
    *cache = (struct mt_kvcache){0};
}

bool mt_kvcache_open(struct mt_kvcache *cache, size_t n)
{
    assert(n <= cache->n_free);
    if (!n)
        return true;
    size_t last = cache->free_slots[cache->n_free - n];
    size_t end =
        mt_size_round_up((last + 1) * cache->slot_stride * cache->element_bytes, cache->page_bytes);
    if (end <= cache->open_bytes)
        return true;
    if (mprotect(cache->bytes + cache->open_bytes, end - cache->open_bytes, PROT_READ | PROT_WRITE))
        return false;
    cache->open_bytes = end;
    return true;
}

uint16_t mt_kvcache_take_slot(struct mt_kvcache *cache)
{
    assert(cache->n_free > 0);
    return cache->free_slots[--cache->n_free];
}

/* Inserting keeps the list sorted: this moves at most max_rows numbers of two bytes, once per
 * finished row. */
void mt_kvcache_release_slot(struct mt_kvcache *cache, uint16_t slot)
{
    assert(cache->n_free < cache->n_slots && slot < cache->n_slots);
    size_t at = cache->n_free++;
    while (at > 0 && cache->free_slots[at - 1] < slot) {
        cache->free_slots[at] = cache->free_slots[at - 1];
        at--;
    }
    cache->free_slots[at] = slot;
}

/* Counts the pages of a region's first n positions, wherever it begins. */
size_t mt_kvcache_slot_bytes(const struct mt_kvcache *cache, size_t n)
{
    size_t n_bytes = n * cache->d_model * cache->element_bytes;
    if (!n)
        return 0;
    return 2 * cache->n_layers *
           (mt_size_round_up(n_bytes - 1, cache->page_bytes) + cache->page_bytes);
}

void mt_kvcache_count(struct mt_kvcache *cache, uint16_t slot, size_t n)
{
    size_t n_before = cache->n_written[slot];
    if (n <= n_before)
        return;
    cache->n_written[slot] = (uint32_t)n;
    cache->resident_bytes +=
        mt_kvcache_slot_bytes(cache, n) - mt_kvcache_slot_bytes(cache, n_before);
}

void mt_kvcache_trim(struct mt_kvcache *cache)
{
    assert(cache->n_free == cache->n_slots);
    if (!cache->resident_bytes)
        return;
    (void)madvise(cache->bytes, cache->n_bytes, MADV_DONTNEED);
    memset(cache->n_written, 0, cache->n_slots * sizeof *cache->n_written);
    cache->resident_bytes = 0;
}

static void *region(const struct mt_kvcache *cache, uint16_t slot, size_t layer, size_t which)
{
    size_t element = (size_t)slot * cache->slot_stride + (2 * layer + which) * cache->region_stride;
    return cache->bytes + element * cache->element_bytes;
}

void *mt_kvcache_keys(const struct mt_kvcache *cache, uint16_t slot, size_t layer)
{
    return region(cache, slot, layer, 0);
}

void *mt_kvcache_values(const struct mt_kvcache *cache, uint16_t slot, size_t layer)
{
    return region(cache, slot, layer, 1);
}
