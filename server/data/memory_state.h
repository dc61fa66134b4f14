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

/* Exact matches are found by the hash. Both functions treat all runs of blanks as the same. */
int64_t mt_memory_hash(const char *text);
bool mt_memory_is_same(const char *a, const char *b);

#endif
