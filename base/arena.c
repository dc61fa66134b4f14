#include "base/arena.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* Small pieces share chunks of CHUNK_BYTES; a larger piece gets a chunk of its own. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* A fuzzer makes an arena for every input, and should find accesses outside of a piece: memory that
 * is not allocated, and a gap behind each piece, are poisoned. */
#include <sanitizer/asan_interface.h>
#define CHUNK_BYTES ((size_t)4 * 1024)
#define GAP_BYTES ((size_t)MT_ARENA_ALIGNMENT)
#else
/* glibc tidies all its free memory when a block of 64 KiB or more is freed. */
#define CHUNK_BYTES ((size_t)32 * 1024)
#define GAP_BYTES ((size_t)0)
#define ASAN_POISON_MEMORY_REGION(at, n_bytes) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(at, n_bytes) ((void)0)
#endif

struct chunk {
    struct chunk *next;
    unsigned char *base; /* aligned start of the usable part */
    size_t used, capacity;
    bool is_zero; /* behind what is used */
};

struct mt_arena {
    struct chunk *chunks; /* the first one is filled next */
    size_t limit_bytes;   /* 0: none */
    size_t taken_bytes;
};

enum mt_status mt_arena_create(size_t limit_bytes, struct mt_arena **out, struct mt_error *err)
{
    struct mt_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return mt_fail_memory(err, sizeof *arena, "arena");
    arena->limit_bytes = limit_bytes;
    *out = arena;
    return MT_OK;
}

void mt_arena_destroy(struct mt_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

/* A large piece comes from calloc: the kernel's pages are zero, and are not touched here. Of a chunk
 * that is shared only what is taken is zeroed. */
static struct chunk *chunk_create(size_t capacity, bool is_zero)
{
    size_t bytes;
    if (!mt_size_add(sizeof(struct chunk) + MT_ARENA_ALIGNMENT, capacity, &bytes))
        return NULL;
    struct chunk *chunk = is_zero ? calloc(1, bytes) : malloc(bytes);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->used = 0;
    chunk->is_zero = is_zero;
    uintptr_t start = (uintptr_t)(chunk + 1);
    chunk->base = (unsigned char *)mt_size_round_up(start, MT_ARENA_ALIGNMENT);
    chunk->capacity = capacity;
    ASAN_POISON_MEMORY_REGION(chunk->base, capacity);
    return chunk;
}

/* A chunk for a single large piece is put behind the first, so that the first one, which has room
 * left, is still filled next. */
static void chunk_link(struct mt_arena *arena, struct chunk *chunk, bool becomes_current)
{
    if (becomes_current || !arena->chunks) {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    } else {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    }
}

enum mt_status mt_arena_take(struct mt_arena *arena, size_t count, size_t element_bytes,
                             const char *what, void **out, struct mt_error *err)
{
    size_t wanted, total;
    if (!mt_size_mul(count, element_bytes, &wanted) ||
        !mt_size_add(wanted, MT_ARENA_ALIGNMENT, &total) ||
        !mt_size_add(arena->taken_bytes, total, &total))
        return mt_fail(err, MT_LIMIT, "%s: %zu elements of %zu bytes overflow the address space",
                       what, count, element_bytes);
    size_t bytes = mt_size_round_up(wanted ? wanted : 1, MT_ARENA_ALIGNMENT);
    if (arena->limit_bytes && arena->taken_bytes + bytes > arena->limit_bytes)
        return mt_fail(err, MT_LIMIT,
                       "%s needs %zu bytes, but only %zu of the limit of %zu are left", what, bytes,
                       arena->limit_bytes - arena->taken_bytes, arena->limit_bytes);
    struct chunk *chunk = arena->chunks;
    if (!chunk || chunk->capacity - chunk->used < bytes + GAP_BYTES) {
        bool own_chunk = bytes > CHUNK_BYTES / 4;
        chunk = chunk_create(own_chunk ? bytes + GAP_BYTES : CHUNK_BYTES, own_chunk);
        if (!chunk)
            return mt_fail_memory(err, bytes, what);
        chunk_link(arena, chunk, !own_chunk);
    }
    *out = chunk->base + chunk->used;
    ASAN_UNPOISON_MEMORY_REGION(*out, wanted);
    if (!chunk->is_zero)
        memset(*out, 0, wanted);
    chunk->used += bytes + GAP_BYTES;
    arena->taken_bytes += bytes;
    return MT_OK;
}

enum mt_status mt_arena_copy_string(struct mt_arena *arena, const char *bytes, size_t length,
                                    const char **out, struct mt_error *err)
{
    size_t with_nul;
    if (!mt_size_add(length, 1, &with_nul))
        return mt_fail(err, MT_LIMIT, "a string of %zu bytes overflows the address space", length);
    void *copy;
    enum mt_status status = mt_arena_take(arena, with_nul, 1, "string", &copy, err);
    if (status)
        return status;
    if (length)
        memcpy(copy, bytes, length);
    *out = copy;
    return MT_OK;
}

size_t mt_arena_bytes(const struct mt_arena *arena)
{
    return arena->taken_bytes;
}
