/*
 * Arena: memory for one aggregate, allocated piece by piece and freed at once.
 *
 * Pieces are zeroed and aligned to 64 bytes (a cache line, and the widest vector register). The
 * operating system maps chunks lazily, so that a large arena costs only the pages that are touched.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_ARENA_H
#define MT_BASE_ARENA_H

#include "base/status.h"

#define MT_ARENA_ALIGNMENT 64

struct mt_arena;

/* limit_bytes: most bytes of all pieces together; 0: no limit. */
MT_MUST_CHECK enum mt_status mt_arena_create(size_t limit_bytes, struct mt_arena **out,
                                             struct mt_error *err);

/* NULL is allowed. Everything in the arena is freed. */
void mt_arena_destroy(struct mt_arena *arena);

/* Allocates count elements of element_bytes each, zeroed, in **out; count 0 gives a valid pointer
 * to nothing. what names the piece in the error message. MT_MEMORY, or MT_LIMIT over the arena's
 * limit or on overflow. */
MT_MUST_CHECK enum mt_status mt_arena_take(struct mt_arena *arena, size_t count,
                                           size_t element_bytes, const char *what, void **out,
                                           struct mt_error *err);

/* Makes a NUL-terminated copy of bytes[0, length). */
MT_MUST_CHECK enum mt_status mt_arena_copy_string(struct mt_arena *arena, const char *bytes,
                                                  size_t length, const char **out,
                                                  struct mt_error *err);

/* Returns the bytes allocated so far, including padding. */
size_t mt_arena_bytes(const struct mt_arena *arena);

#endif
