#include "weights/shortlist.h"

#include "base/size.h"

#include <string.h>

#define HEADER_BYTES 48
#define CHECKED_FROM 16 /* behind magic and checksum */

static uint64_t u64_at(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (size_t i = 8; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static uint64_t checksum(const unsigned char *bytes, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i + 8 <= length; i += 8)
        hash ^= u64_at(bytes + i) + 0x9e3779b9 + (hash << 6) + (hash >> 2);
    return hash;
}

/* Whether header, offsets and ids are as long as the file. */
static bool fills(uint64_t n_offsets, uint64_t n_ids, size_t length)
{
    size_t n_offset_bytes, n_id_bytes, n_bytes;
    return mt_size_mul(n_offsets, 8, &n_offset_bytes) && mt_size_mul(n_ids, 4, &n_id_bytes) &&
           mt_size_add(n_offset_bytes, n_id_bytes, &n_bytes) &&
           mt_size_add(n_bytes, HEADER_BYTES, &n_bytes) && n_bytes == length;
}

static enum mt_status check_header(const unsigned char *bytes, size_t length, const char *path,
                                   struct mt_error *err)
{
    if (length < HEADER_BYTES || memcmp(bytes, MT_SHORTLIST_MAGIC, MT_SHORTLIST_MAGIC_BYTES) != 0)
        return mt_fail(err, MT_FORMAT,
                       "%s: expected a binary shortlist, found %zu bytes that do not begin as one",
                       path, length);
    uint64_t n_offsets = u64_at(bytes + 32), n_ids = u64_at(bytes + 40);
    if (!n_offsets || !fills(n_offsets, n_ids, length))
        return mt_fail(err, MT_FORMAT,
                       "%s: a shortlist of %llu offsets and %llu ids: expected another number of "
                       "bytes than the %zu that are there",
                       path, (unsigned long long)n_offsets, (unsigned long long)n_ids, length);
    uint64_t found = checksum(bytes + CHECKED_FROM, length - CHECKED_FROM);
    if (found != u64_at(bytes + 8))
        return mt_fail(err, MT_FORMAT, "%s: checksum: expected %016llx, found %016llx", path,
                       (unsigned long long)u64_at(bytes + 8), (unsigned long long)found);
    return MT_OK;
}

static enum mt_status check_numbers(const struct mt_shortlist *list, const char *path,
                                    size_t n_target, struct mt_error *err)
{
    uint64_t before = 0;
    for (size_t i = 0; i <= list->n_words; i++) {
        uint64_t offset = u64_at(list->offsets + 8 * i);
        bool is_last = i == list->n_words;
        if (offset < before || offset > list->n_ids || (is_last && offset != list->n_ids))
            return mt_fail(err, MT_FORMAT,
                           "%s: offset %zu: expected %llu to %zu, and the last to be that, found "
                           "%llu",
                           path, i, (unsigned long long)before, list->n_ids,
                           (unsigned long long)offset);
        before = offset;
    }
    for (size_t i = 0; i < list->n_ids; i++)
        if (mt_shortlist_id(list, i) >= n_target)
            return mt_fail(err, MT_INVALID,
                           "%s: target id %zu: expected one below %zu, found %u: it is another "
                           "model's shortlist",
                           path, i, n_target, mt_shortlist_id(list, i));
    return MT_OK;
}

enum mt_status mt_shortlist_read(const unsigned char *bytes, size_t length, const char *path,
                                 size_t n_source, size_t n_target, struct mt_shortlist *out,
                                 struct mt_error *err)
{
    enum mt_status status = check_header(bytes, length, path, err);
    if (status)
        return status;
    uint64_t n_first = u64_at(bytes + 16);
    struct mt_shortlist list = {.offsets = bytes + HEADER_BYTES,
                                .n_first = n_first < n_target ? n_first : n_target,
                                .n_words = u64_at(bytes + 32) - 1,
                                .n_ids = u64_at(bytes + 40)};
    list.ids = list.offsets + 8 * (list.n_words + 1);
    if (list.n_words > n_source)
        return mt_fail(err, MT_INVALID,
                       "%s: expected at most %zu source words, found %zu: it is another model's "
                       "shortlist",
                       path, n_source, list.n_words);
    status = check_numbers(&list, path, n_target, err);
    if (!status)
        *out = list;
    return status;
}

void mt_shortlist_range(const struct mt_shortlist *list, size_t word, size_t *begin, size_t *end)
{
    *begin = *end = 0;
    if (word >= list->n_words)
        return;
    *begin = u64_at(list->offsets + 8 * word);
    *end = u64_at(list->offsets + 8 * (word + 1));
}

uint32_t mt_shortlist_id(const struct mt_shortlist *list, size_t index)
{
    const unsigned char *id = list->ids + 4 * index;
    return (uint32_t)id[0] | (uint32_t)id[1] << 8 | (uint32_t)id[2] << 16 | (uint32_t)id[3] << 24;
}
