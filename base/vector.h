/*
 * Arrays that grow. An array is a pointer to its items, how many there are, and how many have room, in
 * whatever struct they belong to; {0} is empty, and free releases it.
 *
 *   if (MT_ROOM(&list->items, &list->capacity, list->n + 1, "names", err))
 *       return MT_MEMORY;
 *   list->items[list->n++] = item;
 *
 * Thread-safety: none of their own.
 */
#ifndef MT_BASE_VECTOR_H
#define MT_BASE_VECTOR_H

#include "base/status.h"

/* Makes room for n items in all. array and capacity are where the pointer to the items and the number
 * that have room are kept; capacity and n are evaluated more than once. Each growth at least doubles
 * that number, so that adding items one by one takes time in proportion to how many they are. What is
 * new is not initialised. MT_MEMORY, with what the room was for in err, which may be NULL; then nothing
 * has changed. */
#define MT_ROOM(array, capacity, n, what, err) \
    ((n) <= *(capacity)                        \
         ? MT_OK                               \
         : mt_vector_grow((array), (capacity), (n), sizeof **(array), (what), (err)))

/* For MT_ROOM. array: the address of a pointer to items, of whatever type. */
MT_MUST_CHECK enum mt_status mt_vector_grow(void *array, size_t *capacity, size_t n,
                                            size_t item_bytes, const char *what,
                                            struct mt_error *err);

#endif
