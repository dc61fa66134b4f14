#include "model/tokenizer/vocab.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/size.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Most steps of a search. A real file needs about 20, and a file that is made to collide must not
 * cost n squared. */
#define MAX_PROBES 500

/*
 * Pieces are in `bytes`, NUL-terminated, in the order of the file; an entry has the position. by_id
 * finds the entry of an id, slots (open addressing, a power of two, at most half full) that of a
 * piece. Both contain entry number + 1, and 0 for none.
 */
struct entry {
    uint32_t offset;
    uint16_t length;
    int32_t id;
};

struct mt_vocab {
    struct entry *entries;
    size_t n_entries, capacity;
    char *bytes;
    size_t n_bytes;
    uint32_t *slots;
    size_t n_slots;
    uint32_t *by_id;
    size_t n_ids;
};

void mt_vocab_close(struct mt_vocab *vocab)
{
    if (!vocab)
        return;
    free(vocab->entries);
    free(vocab->bytes);
    free(vocab->slots);
    free(vocab->by_id);
    free(vocab);
}

/* Returns the slot where the search for a piece begins. */
static size_t home_slot(const struct mt_vocab *vocab, const char *piece, size_t length)
{
    uint64_t hash = mt_hash(MT_HASH_BEGIN, piece, length);
    return (size_t)(hash ^ hash >> 32) & (vocab->n_slots - 1);
}

/* Returns the slot of the piece, or the empty one where it belongs. */
static size_t find_slot(const struct mt_vocab *vocab, const char *piece, size_t length)
{
    size_t mask = vocab->n_slots - 1;
    for (size_t slot = home_slot(vocab, piece, length);; slot = (slot + 1) & mask) {
        if (!vocab->slots[slot])
            return slot;
        const struct entry *entry = &vocab->entries[vocab->slots[slot] - 1];
        if (entry->length == length && !memcmp(vocab->bytes + entry->offset, piece, length))
            return slot;
    }
}

/* Appends the piece to vocab->bytes, which has room for it: unescaped it is never longer than in
 * the file, and its NUL replaces a quotation mark. */
static enum mt_status read_piece(struct mt_json_reader *reader, struct mt_vocab *vocab,
                                 struct entry *entry, const char *what, struct mt_error *err)
{
    struct mt_json_span key = mt_json_reader_string(reader);
    char *piece = vocab->bytes + vocab->n_bytes;
    size_t length = mt_json_span_unescape(key, piece);
    piece[length] = '\0';
    if (length > MT_VOCAB_MAX_PIECE_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: a piece has %zu bytes, expected at most %d: \"%s\"",
                       what, length, MT_VOCAB_MAX_PIECE_BYTES, piece);
    *entry = (struct entry){.offset = (uint32_t)vocab->n_bytes, .length = (uint16_t)length};
    vocab->n_bytes += length + 1;
    return MT_OK;
}

static enum mt_status read_id(struct mt_json_reader *reader, const char *piece, int32_t *out,
                              const char *what, struct mt_error *err)
{
    struct mt_json_reader before = *reader;
    uint64_t id;
    if (mt_json_reader_u64(reader, &id) && id <= MT_VOCAB_MAX_ID) {
        *out = (int32_t)id;
        return MT_OK;
    }
    struct mt_json_span seen = mt_json_reader_excerpt(&before);
    return mt_fail(err, MT_FORMAT, "%s: \"%s\" is %.*s, expected a whole number from 0 to %d", what,
                   piece, (int)seen.length, seen.bytes, MT_VOCAB_MAX_ID);
}

static enum mt_status add_entry(struct mt_vocab *vocab, const struct entry *entry, const char *what,
                                struct mt_error *err)
{
    if (vocab->n_entries == MT_VOCAB_MAX_PIECES)
        return mt_fail(err, MT_LIMIT, "%s: more than %zu pieces", what, MT_VOCAB_MAX_PIECES);
    if (MT_ROOM(&vocab->entries, &vocab->capacity, vocab->n_entries + 1, what, err))
        return MT_MEMORY;
    vocab->entries[vocab->n_entries++] = *entry;
    vocab->n_ids = mt_size_max(vocab->n_ids, (size_t)entry->id + 1);
    return MT_OK;
}

static enum mt_status read_entries(struct mt_vocab *vocab, struct mt_json_reader *reader,
                                   const char *what, struct mt_error *err)
{
    if (mt_json_reader_peek(reader) != '{')
        return mt_fail(err, MT_FORMAT, "%s: expected an object {\"piece\": id, ...}", what);
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        struct entry entry;
        enum mt_status status = read_piece(reader, vocab, &entry, what, err);
        if (!status)
            status = read_id(reader, vocab->bytes + entry.offset, &entry.id, what, err);
        if (!status)
            status = add_entry(vocab, &entry, what, err);
        if (status)
            return status;
    }
    return MT_OK;
}

static enum mt_status index_entries(struct mt_vocab *vocab, const char *what, struct mt_error *err)
{
    vocab->n_slots = 16;
    while (vocab->n_slots < 2 * vocab->n_entries)
        vocab->n_slots *= 2;
    vocab->slots = calloc(vocab->n_slots, sizeof *vocab->slots);
    vocab->by_id = calloc(vocab->n_ids + 1, sizeof *vocab->by_id);
    if (!vocab->slots || !vocab->by_id)
        return mt_fail_memory(err, (vocab->n_slots + vocab->n_ids) * sizeof *vocab->slots, what);
    for (size_t i = 0; i < vocab->n_entries; i++) {
        const struct entry *entry = &vocab->entries[i];
        const char *piece = vocab->bytes + entry->offset;
        /* it is empty, because keys are unique */
        size_t slot = find_slot(vocab, piece, entry->length);
        const char *other = mt_vocab_piece(vocab, entry->id);
        if (other)
            return mt_fail(err, MT_FORMAT, "%s: \"%s\" and \"%s\" both have id %d", what, other,
                           piece, (int)entry->id);
        size_t probes = (slot - home_slot(vocab, piece, entry->length)) & (vocab->n_slots - 1);
        if (probes > MAX_PROBES)
            return mt_fail(err, MT_FORMAT, "%s: \"%s\" and %d more pieces collide", what, piece,
                           MAX_PROBES);
        vocab->slots[slot] = (uint32_t)i + 1;
        vocab->by_id[entry->id] = (uint32_t)i + 1;
    }
    return MT_OK;
}

enum mt_status mt_vocab_parse(const char *bytes, size_t length, const char *what,
                              struct mt_vocab **out, struct mt_error *err)
{
    static const struct mt_json_limits limits = {.max_depth = 4,
                                                 .max_values = 2 * MT_VOCAB_MAX_PIECES + 2};
    if (length > MT_VOCAB_MAX_FILE_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", what, length,
                       MT_VOCAB_MAX_FILE_BYTES);
    enum mt_status status = mt_json_check(bytes, length, &limits, what, err);
    if (status)
        return status;
    struct mt_vocab *vocab = calloc(1, sizeof *vocab);
    if (!vocab)
        return mt_fail_memory(err, sizeof *vocab, what);
    struct mt_json_reader reader;
    mt_json_reader_init(&reader, bytes, length);
    vocab->bytes = malloc(length + 1);
    if (!vocab->bytes)
        status = mt_fail_memory(err, length + 1, what);
    if (!status)
        status = read_entries(vocab, &reader, what, err);
    if (!status)
        status = index_entries(vocab, what, err);
    if (status) {
        mt_vocab_close(vocab);
        return status;
    }
    *out = vocab;
    return MT_OK;
}

int32_t mt_vocab_id(const struct mt_vocab *vocab, const char *piece, size_t length)
{
    uint32_t found = vocab->slots[find_slot(vocab, piece, length)];
    return found ? vocab->entries[found - 1].id : MT_NO_TOKEN;
}

const char *mt_vocab_piece(const struct mt_vocab *vocab, int32_t id)
{
    if (id < 0 || (size_t)id >= vocab->n_ids || !vocab->by_id[id])
        return NULL;
    return vocab->bytes + vocab->entries[vocab->by_id[id] - 1].offset;
}

size_t mt_vocab_size(const struct mt_vocab *vocab)
{
    return vocab->n_ids;
}
