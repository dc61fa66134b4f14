/*
 * Doubly linked lists whose links are members of the items, so that inserting allocates nothing and
 * removing needs no search. A list is any struct with a first and a last, an item any struct with a
 * next and a previous. They are typed, and loops are ordinary ones.
 *
 *   struct jobs {
 *       struct job *first, *last;      {0} is empty
 *   };
 *   struct job {
 *       ...
 *       struct job *next, *previous;
 *   };
 *   for (struct job *job = jobs->first; job; job = job->next)
 *
 * An item is in one list at a time, unless it has further links for another list: the macros that
 * end in _BY take the links' names.
 *
 * They are macros, because in C a function cannot serve all types. Arguments are evaluated once.
 * Thread-safety: none of their own.
 */
#ifndef MT_BASE_LIST_H
#define MT_BASE_LIST_H

#include <stddef.h>

/* Inserts item behind another one in the list or, if that is NULL, at the beginning. */
#define MT_LIST_INSERT(list, item, behind) MT_LIST_INSERT_BY(list, item, behind, next, previous)

#define MT_LIST_PREPEND(list, item) MT_LIST_INSERT(list, item, NULL)
#define MT_LIST_APPEND(list, item) MT_LIST_INSERT(list, item, list_->last)

/* Removes item from the list that it is in, and sets its links to NULL. */
#define MT_LIST_REMOVE(list, item) MT_LIST_REMOVE_BY(list, item, next, previous)

#define MT_LIST_INSERT_BY(list, item, behind, next, previous)           \
    do {                                                                \
        __typeof__(list) list_ = (list);                                \
        __typeof__(list_->first) item_ = (item), behind_ = (behind);    \
        item_->previous = behind_;                                      \
        item_->next = behind_ ? behind_->next : list_->first;           \
        *(behind_ ? &behind_->next : &list_->first) = item_;            \
        *(item_->next ? &item_->next->previous : &list_->last) = item_; \
    } while (0)

#define MT_LIST_REMOVE_BY(list, item, next, previous)                              \
    do {                                                                           \
        __typeof__(list) list_ = (list);                                           \
        __typeof__(list_->first) item_ = (item);                                   \
        *(item_->previous ? &item_->previous->next : &list_->first) = item_->next; \
        *(item_->next ? &item_->next->previous : &list_->last) = item_->previous;  \
        item_->next = item_->previous = NULL;                                      \
    } while (0)

#endif
