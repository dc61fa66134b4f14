/*
 * Doubly linked lists whose links are the items' own, so that putting an item in allocates nothing
 * and taking it out takes no search. A list is any struct with a first and a last, an item any with
 * a next and a previous; they are typed, and a loop is a plain one.
 *
 *   struct jobs {
 *       struct job *first, *last;      {0} is empty
 *   };
 *   struct job {
 *       ...
 *       struct job *next, *previous;
 *   };
 *
 *   for (struct job *job = jobs->first; job; job = job->next)
 *
 * An item is in one list at a time, unless it has other links for another: the forms that end in
 * _BY take their names.
 *
 * These are macros because C has no other way to write them once for all types. Arguments are
 * evaluated once. Thread-safety: none of their own.
 */
#ifndef MT_BASE_LIST_H
#define MT_BASE_LIST_H

#include <stddef.h>

/* Puts item behind another one that is in the list, or, where that is NULL, at the beginning. */
#define MT_LIST_INSERT(list, item, behind) MT_LIST_INSERT_BY(list, item, behind, next, previous)

#define MT_LIST_PREPEND(list, item) MT_LIST_INSERT(list, item, NULL)
#define MT_LIST_APPEND(list, item) MT_LIST_INSERT(list, item, list_->last)

/* Takes item out of the list that it is in, and sets its links to NULL. */
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
