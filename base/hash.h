/*
 * FNV-1a, 64 bits, for tables and for comparing data. It does not resist deliberate collisions.
 * Thread-safety: safe.
 */
#ifndef MT_BASE_HASH_H
#define MT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Continues a hash with these bytes; MT_HASH_BEGIN is the hash of nothing. */
static inline uint64_t mt_hash(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
