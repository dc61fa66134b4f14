/*
 * The inside of translation memories, shared by translation_memory.c (which writes and lists them)
 * and memory_find.c (which searches them).
 */
#ifndef MT_SERVER_DATA_MEMORY_STATE_H
#define MT_SERVER_DATA_MEMORY_STATE_H

#include "server/data/translation_memory.h"

struct mt_memories {
    struct mt_database *database;
    struct mt_memory_limits limits;
};

/* Exact matches are found by this hash. All runs of blanks count as one blank. */
int64_t mt_memory_hash(const char *text);

#endif
