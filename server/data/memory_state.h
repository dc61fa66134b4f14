/*
 * The inside of translation memories, shared by translation_memory.c (which writes and lists them) and
 * memory_find.c (which looks texts up).
 */
#ifndef MT_SERVER_DATA_MEMORY_STATE_H
#define MT_SERVER_DATA_MEMORY_STATE_H

#include "base/hash.h"
#include "server/data/translation_memory.h"

#include <string.h>

struct mt_memories {
    struct mt_database *database;
    struct mt_memory_limits limits;
};

/* By which exact matches are found. */
static inline int64_t mt_memory_hash(const char *text)
{
    return (int64_t)mt_hash(MT_HASH_BEGIN, text, strlen(text));
}

#endif
