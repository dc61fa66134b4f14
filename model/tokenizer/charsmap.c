#include "model/tokenizer/charsmap.h"

#include "base/size.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * A unit of the double array. Unit i, reached by a byte, leads to base(i) = i ^ offset(i): its
 * child for byte c is unit base ^ c, if that one has the label c; and if a key ends at i, unit base
 * itself has the key's value.
 *
 *   bit  31: this unit is a value        30..10: offset (times 256 if bit 9 is set)
 *   bit   8: a key ends here              7..0: label
 */
#define UNIT_IS_VALUE 0x80000000u
#define UNIT_LABEL (UNIT_IS_VALUE | 0xFFu) /* never equal to a byte if the unit is a value */

static uint32_t unit_at(const unsigned char *units, size_t i)
{
    const unsigned char *p = units + 4 * i;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t base_of(size_t i, uint32_t unit)
{
    return i ^ ((size_t)(unit >> 10) << ((unit & 0x200u) >> 6));
}

static bool ends_key(uint32_t unit)
{
    return (unit >> 8) & 1u;
}

/* --- Validation: visits every reachable unit once. --- */

#define NONE UINT32_MAX

struct check {
    struct mt_charsmap map;
    const char *where;
    struct mt_error *err;
    uint32_t *first_child; /* by base: the first unit that is a child of it, or NONE */
    uint32_t *next_child;  /* by unit: the next child of the same base */
    uint32_t *path;        /* the units from the root to the current one */
    uint32_t *resume;      /* by unit on the path: its next child to visit */
    uint8_t *state;        /* by unit: UNSEEN, ON_PATH or DONE */
    uint8_t *nested; /* by unit: most keys that end on a path down from it, including itself */
};

enum { UNSEEN, ON_PATH, DONE };

static void check_finish(struct check *check)
{
    free(check->first_child);
    free(check->state);
}

/* Allocates two blocks: four arrays of uint32_t, two of uint8_t. A unit's label gives its parent's
 * base, so that children are found without trying 256 bytes for each. */
static enum mt_status check_init(struct check *check)
{
    size_t n = check->map.n_units;
    check->first_child = malloc(4 * n * sizeof(uint32_t));
    check->state = calloc(2 * n, 1);
    if (!check->first_child || !check->state)
        return mt_fail_memory(check->err, 4 * n * sizeof(uint32_t) + 2 * n, check->where);
    check->next_child = check->first_child + n;
    check->path = check->next_child + n;
    check->resume = check->path + n;
    check->nested = check->state + n;
    memset(check->first_child, 0xFF, n * sizeof(uint32_t));
    for (size_t i = n; i-- > 0;) {
        uint32_t label = unit_at(check->map.units, i) & UNIT_LABEL;
        size_t base = i ^ label;
        if ((label & UNIT_IS_VALUE) || base >= n)
            continue;
        check->next_child[i] = check->first_child[base];
        check->first_child[base] = (uint32_t)i;
    }
    return MT_OK;
}

static enum mt_status check_value(struct check *check, size_t unit, size_t base)
{
    size_t value = unit_at(check->map.units, base) & ~UNIT_IS_VALUE;
    if (value >= check->map.replacement_bytes)
        return mt_fail(check->err, MT_FORMAT,
                       "%s: charsmap unit %zu: replacement at %zu, expected less than %zu",
                       check->where, unit, value, check->map.replacement_bytes);
    if (((unsigned char)check->map.replacements[value] & 0xC0u) == 0x80u)
        return mt_fail(check->err, MT_FORMAT,
                       "%s: charsmap unit %zu: replacement at %zu starts inside a character",
                       check->where, unit, value);
    return MT_OK;
}

/* Any byte of a text may be tried as the next label, so all 256 units of base's block have to
 * exist. */
static enum mt_status enter(struct check *check, size_t depth, uint32_t i)
{
    uint32_t unit = unit_at(check->map.units, i);
    size_t base = base_of(i, unit);
    if ((base | 0xFFu) >= check->map.n_units)
        return mt_fail(check->err, MT_FORMAT,
                       "%s: charsmap unit %u leads to unit %zu, expected less than %zu",
                       check->where, i, base | 0xFFu, check->map.n_units);
    bool is_key = depth && ends_key(unit);
    check->path[depth] = i;
    check->resume[i] = check->first_child[base];
    check->state[i] = ON_PATH;
    check->nested[i] = is_key;
    return is_key ? check_value(check, i, base) : MT_OK;
}

static enum mt_status leave(struct check *check, size_t depth)
{
    uint32_t i = check->path[depth];
    check->state[i] = DONE;
    if (check->nested[i] > MT_CHARSMAP_MAX_NESTED_KEYS)
        return mt_fail(check->err, MT_FORMAT,
                       "%s: charsmap unit %u: more than %d keys are prefixes of one another",
                       check->where, i, MT_CHARSMAP_MAX_NESTED_KEYS);
    return MT_OK;
}

/* Adds the result of child to the unit above it on the path. */
static void count_nested(struct check *check, uint32_t parent, uint32_t child)
{
    bool is_key = ends_key(unit_at(check->map.units, parent)) && parent != check->path[0];
    uint8_t sum = (uint8_t)(check->nested[child] + is_key);
    if (sum > check->nested[parent])
        check->nested[parent] = sum;
}

/* Visits depth-first from the root. Units are shared (the array is a graph), so each is visited
 * once; one that is met again while it is on the path closes a cycle, which is refused. */
static enum mt_status check_units(struct check *check)
{
    enum mt_status status = enter(check, 0, 0);
    size_t depth = 0;
    while (!status) {
        uint32_t i = check->path[depth];
        uint32_t child = check->resume[i];
        if (child == NONE) {
            status = leave(check, depth);
            if (status || depth == 0)
                break;
            depth--;
            count_nested(check, check->path[depth], i);
            continue;
        }
        check->resume[i] = check->next_child[child];
        if (check->state[child] == UNSEEN)
            status = enter(check, ++depth, child);
        else if (check->state[child] == DONE)
            count_nested(check, i, child);
        else
            status = mt_fail(check->err, MT_FORMAT, "%s: charsmap unit %u leads back to itself",
                             check->where, child);
    }
    return status;
}

static enum mt_status check_replacements(const struct mt_charsmap *map, const char *where,
                                         struct mt_error *err)
{
    const char *text = map->replacements;
    size_t length = map->replacement_bytes;
    if (length == 0 || text[length - 1] != '\0')
        return mt_fail(err, MT_FORMAT,
                       "%s: charsmap: expected %zu bytes of replacements to end in NUL", where,
                       length);
    size_t valid = mt_utf8_valid_prefix(text, length);
    if (valid < length)
        return mt_fail(err, MT_FORMAT, "%s: charsmap: replacements are not UTF-8 at byte %zu",
                       where, valid);
    for (size_t at = 0; at < length;) {
        size_t n = strlen(text + at);
        if (n > MT_CHARSMAP_MAX_REPLACEMENT_BYTES)
            return mt_fail(err, MT_FORMAT,
                           "%s: charsmap: replacement at %zu has %zu bytes, expected at most %d",
                           where, at, n, MT_CHARSMAP_MAX_REPLACEMENT_BYTES);
        at += n + 1;
    }
    return MT_OK;
}

enum mt_status mt_charsmap_init(struct mt_charsmap *out, const char *bytes, size_t length,
                                const char *where, struct mt_error *err)
{
    if (length == 0) {
        *out = (struct mt_charsmap){0};
        return MT_OK;
    }
    const unsigned char *p = (const unsigned char *)bytes;
    size_t trie_bytes = length < 4 ? 0 : unit_at(p, 0);
    if (trie_bytes == 0 || trie_bytes % 4 || trie_bytes > length - 4 || trie_bytes / 4 >= NONE)
        return mt_fail(err, MT_FORMAT,
                       "%s: charsmap of %zu bytes has a trie of %zu, expected a multiple of 4 that "
                       "fits",
                       where, length, trie_bytes);
    struct check check = {
        .map = {.units = p + 4,
                .n_units = trie_bytes / 4,
                .replacements = bytes + 4 + trie_bytes,
                .replacement_bytes = length - 4 - trie_bytes},
        .where = where,
        .err = err,
    };
    enum mt_status status = check_replacements(&check.map, where, err);
    if (!status)
        status = check_init(&check);
    if (!status)
        status = check_units(&check);
    if (!status)
        *out = check.map;
    check_finish(&check);
    return status;
}

enum mt_status mt_charsmap_keep(struct mt_charsmap *map, struct mt_arena *arena,
                                struct mt_error *err)
{
    const char *units, *replacements;
    if (!map->n_units)
        return MT_OK;
    enum mt_status status =
        mt_arena_copy_string(arena, (const char *)map->units, 4 * map->n_units, &units, err);
    if (!status)
        status = mt_arena_copy_string(arena, map->replacements, map->replacement_bytes,
                                      &replacements, err);
    if (status)
        return status;
    map->units = (const unsigned char *)units;
    map->replacements = replacements;
    return MT_OK;
}

size_t mt_charsmap_next(const struct mt_charsmap *map, const char *text, size_t length,
                        const char **out, size_t *out_length)
{
    size_t taken = 0, value = 0;
    size_t base = map->n_units ? base_of(0, unit_at(map->units, 0)) : 0;
    for (size_t i = 0; map->n_units && i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        size_t at = base ^ byte;
        uint32_t unit = unit_at(map->units, at);
        if ((unit & UNIT_LABEL) != byte)
            break;
        base = base_of(at, unit);
        if (ends_key(unit)) {
            taken = i + 1;
            value = unit_at(map->units, base) & ~UNIT_IS_VALUE;
        }
    }
    if (taken) {
        *out = map->replacements + value;
        *out_length = strlen(*out);
        return taken;
    }
    taken = mt_size_min(mt_utf8_length((unsigned char)text[0]), length);
    *out = text;
    *out_length = taken;
    return taken;
}
