/*
 * Growable arrays. An array consists of a pointer to its items, their number, and the number that
 * there is room for, as members of any struct; {0} is empty, and free releases it.
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

/* Makes room for n items altogether. array and capacity point to the pointer to the items and to
 * the number that there is room for; capacity and n are evaluated more than once. Each growth at
 * least doubles the capacity, so that adding items one by one takes linear time. New items are not
 * initialised. MT_MEMORY, with `what` in the message in err, which may be NULL; then nothing has
 * changed. */
#define MT_ROOM(array, capacity, n, what, err) \
    ((n) <= *(capacity)                        \
         ? MT_OK                               \
         : mt_vector_grow((array), (capacity), (n), sizeof **(array), (what), (err)))

/* Used by MT_ROOM. array: the address of a pointer to items of any type. */
MT_MUST_CHECK enum mt_status mt_vector_grow(void *array, size_t *capacity, size_t n,
                                            size_t item_bytes, const char *what,
                                            struct mt_error *err);

#endif
