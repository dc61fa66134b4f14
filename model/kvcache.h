/*
 * Key/value cache: for each slot, layer and position the key and the value of all heads.
 *
 *   [slot][layer][key | value][position][D]
 *
 * The whole cache is address space from its creation on. What may be written of it, and so counts
 * where the kernel promises no more memory than it has (vm.overcommit_memory=2), is opened before
 * slots are taken; the kernel commits pages as they are first written; and slots are handed out
 * lowest first, so both follow the load. mt_kvcache_trim gives the pages back. A slot of the
 * self-attention cache belongs to one row (beam); a slot of the cross-attention cache to one
 * sentence, and all its beams share it.
 *
 * Beams that part share their past: a row's table says for each position which slot holds it, so
 * that reordering beams moves no keys or values (struct mt_attend, slots).
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
    uint16_t *free_slots; /* ascending order is restored on release: the lowest free slot is taken
                             first */
    size_t n_free;
    uint32_t *n_written; /* [n_slots]: positions that were written since the last trim */
    size_t resident_bytes, page_bytes;
    size_t open_bytes; /* may be written: from the first slot on */
};

#define MT_KVCACHE_MAX_SLOTS 4096

/* n_open: of the slots, so many are open for ever. MT_MEMORY, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_kvcache_init(struct mt_kvcache *cache, size_t n_slots,
                                             size_t n_layers, size_t max_positions, size_t d_model,
                                             size_t element_bytes, size_t n_open,
                                             struct mt_error *err);
void mt_kvcache_finish(struct mt_kvcache *cache);

/* Makes the n slots that are taken next writable, of at least n that are free. False: the kernel
 * promises no more memory now. */
MT_MUST_CHECK bool mt_kvcache_open(struct mt_kvcache *cache, size_t n);

/* The slot must be open. */
uint16_t mt_kvcache_take_slot(struct mt_kvcache *cache);
void mt_kvcache_release_slot(struct mt_kvcache *cache, uint16_t slot);

/* Says that positions [0, n) of a slot are being written: what keeps resident_bytes, an upper
 * estimate, up to date. */
void mt_kvcache_count(struct mt_kvcache *cache, uint16_t slot, size_t n);

/* What positions [0, n) of a slot take, in all layers, as resident_bytes counts them. */
size_t mt_kvcache_slot_bytes(const struct mt_kvcache *cache, size_t n);

/* Gives the pages back to the kernel. What was in the slots is lost; all must be free. */
void mt_kvcache_trim(struct mt_kvcache *cache);

/* Position 0 of a slot's keys or values in a layer; positions are d_model elements apart. */
void *mt_kvcache_keys(const struct mt_kvcache *cache, uint16_t slot, size_t layer);
void *mt_kvcache_values(const struct mt_kvcache *cache, uint16_t slot, size_t layer);

#endif
