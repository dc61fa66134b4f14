/*
 * Key/value cache: for each slot, layer and position the key and the value of all heads.
 *
 *   [slot][layer][key | value][position][D]
 *
 * The whole cache is address space from its creation on. A part is made writable before slots are
 * taken; only this part counts if the kernel refuses to promise more memory than it has
 * (vm.overcommit_memory=2). The kernel commits pages as they are first written, and the lowest free
 * slot is taken first, so that memory follows the load. mt_kvcache_trim returns the pages. A slot
 * of the self-attention cache belongs to one row (beam); a slot of the cross-attention cache to one
 * sentence, and all its beams share it.
 *
 * Beams that diverge share their past: a row's table tells for each position which slot holds it,
 * so that reordering beams moves no keys or values (struct mt_attend, slots).
 */
#ifndef MT_MODEL_KVCACHE_H
#define MT_MODEL_KVCACHE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_kvcache {
    unsigned char *bytes;
    size_t n_bytes;
    size_t n_slots, n_layers, max_positions, d_model;
    size_t element_bytes; /* 4: fp32, 2: binary16 */
    size_t region_stride; /* elements from keys to values, and on to the next layer's keys */
    size_t slot_stride;   /* elements */
    /* in descending order: the lowest free slot is at the end, and is taken first */
    uint16_t *free_slots;
    size_t n_free;
    uint32_t *n_written; /* [n_slots]: positions that were written since the last trim */
    size_t resident_bytes, page_bytes;
    size_t open_bytes; /* writable bytes, from the first slot on */
};

#define MT_KVCACHE_MAX_SLOTS 4096

/* n_open: number of slots that are always writable. MT_MEMORY, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_kvcache_init(struct mt_kvcache *cache, size_t n_slots,
                                             size_t n_layers, size_t max_positions, size_t d_model,
                                             size_t element_bytes, size_t n_open,
                                             struct mt_error *err);
void mt_kvcache_finish(struct mt_kvcache *cache);

/* Makes the next n slots writable; at least n have to be free. Returns false if the kernel promises
 * no more memory now. */
MT_MUST_CHECK bool mt_kvcache_open(struct mt_kvcache *cache, size_t n);

/* The slot that is taken must be writable. */
uint16_t mt_kvcache_take_slot(struct mt_kvcache *cache);
void mt_kvcache_release_slot(struct mt_kvcache *cache, uint16_t slot);

/* Notes that positions [0, n) of a slot are being written, which updates resident_bytes, an upper
 * estimate. */
void mt_kvcache_count(struct mt_kvcache *cache, uint16_t slot, size_t n);

/* Bytes of positions [0, n) of a slot, in all layers, as resident_bytes counts them. */
size_t mt_kvcache_slot_bytes(const struct mt_kvcache *cache, size_t n);

/* Returns the pages to the kernel. All slots must be free, and their contents are lost. */
void mt_kvcache_trim(struct mt_kvcache *cache);

/* Position 0 of a slot's keys or values in a layer; positions are d_model elements apart. */
void *mt_kvcache_keys(const struct mt_kvcache *cache, uint16_t slot, size_t layer);
void *mt_kvcache_values(const struct mt_kvcache *cache, uint16_t slot, size_t layer);

#endif
