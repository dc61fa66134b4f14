/*
 * Arena: memory for one aggregate, taken piece by piece and released at once.
 *
 * Pieces are zeroed and aligned to 64 bytes (a cache line, and the widest vector register). Chunks
 * are mapped lazily by the operating system, so a generous arena costs only the pages that are
 * touched.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_ARENA_H
#define MT_BASE_ARENA_H

#include "base/status.h"

#define MT_ARENA_ALIGNMENT 64

struct mt_arena;

/* limit_bytes: the most that all pieces together may take; 0 means no limit. */
MT_MUST_CHECK enum mt_status mt_arena_create(size_t limit_bytes, struct mt_arena **out,
                                             struct mt_error *err);

/* Takes NULL. Everything taken from the arena is gone. */
void mt_arena_destroy(struct mt_arena *arena);

/* count elements of element_bytes each, zeroed, in **out; count 0 gives a valid pointer to nothing.
 * what names the piece in the error message. MT_MEMORY, or MT_LIMIT over the arena's limit or on
 * overflow. */
MT_MUST_CHECK enum mt_status mt_arena_take(struct mt_arena *arena, size_t count,
                                           size_t element_bytes, const char *what, void **out,
                                           struct mt_error *err);

/* A NUL-terminated copy of bytes[0, length). */
MT_MUST_CHECK enum mt_status mt_arena_copy_string(struct mt_arena *arena, const char *bytes,
                                                  size_t length, const char **out,
                                                  struct mt_error *err);

/* Bytes taken so far, padding included. */
size_t mt_arena_bytes(const struct mt_arena *arena);

#endif
