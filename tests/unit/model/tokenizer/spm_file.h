/*
 * Builds small SentencePiece files for tests, byte by byte, so that they can also be wrong.
 */
#ifndef MT_TESTS_SPM_FILE_H
#define MT_TESTS_SPM_FILE_H

#include "base/text.h"

#include <check.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum spm_type { SPM_NORMAL = 1, SPM_UNK, SPM_CONTROL, SPM_USER_DEFINED, SPM_UNUSED, SPM_BYTE };

struct spm_entry {
    const char *text;
    enum spm_type type;
    float score;
};

/* --- Protocol buffers --- */

static inline void put_varint(struct mt_text *out, uint64_t value)
{
    do {
        char byte = (char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        mt_text_append(out, &byte, 1);
        value >>= 7;
    } while (value);
}

static inline void put_number(struct mt_text *out, uint64_t field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static inline void put_bytes(struct mt_text *out, uint64_t field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    mt_text_append(out, bytes, length);
}

static inline void put_float(struct mt_text *out, uint64_t field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole32(bits);
    put_varint(out, field << 3 | 5);
    mt_text_append(out, (const char *)&bits, sizeof bits);
}

static inline void put_message(struct mt_text *out, uint64_t field, struct mt_text *message)
{
    put_bytes(out, field, message->bytes ? message->bytes : "", message->length);
    mt_text_finish(message);
}

/* --- ModelProto --- */

static inline void put_piece(struct mt_text *out, const char *text, size_t length,
                             enum spm_type type, float score)
{
    struct mt_text piece = {0};
    put_bytes(&piece, 1, text, length);
    put_float(&piece, 2, score);
    put_number(&piece, 3, type);
    put_message(out, 1, &piece);
}

static inline void put_trainer(struct mt_text *out, uint64_t model_type, bool byte_fallback)
{
    struct mt_text trainer = {0};
    put_number(&trainer, 3, model_type);
    put_number(&trainer, 35, byte_fallback);
    put_message(out, 2, &trainer);
}

static inline void put_normalizer(struct mt_text *out, const struct mt_text *charsmap)
{
    struct mt_text normalizer = {0};
    put_bytes(&normalizer, 1, "test", 4);
    if (charsmap)
        put_bytes(&normalizer, 2, charsmap->bytes, charsmap->length);
    put_message(out, 3, &normalizer);
}

static inline void put_pieces(struct mt_text *out, const struct spm_entry *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_piece(out, pieces[i].text, strlen(pieces[i].text), pieces[i].type, pieces[i].score);
}

/* "<0x00>" to "<0xFF>", which byte fallback needs. */
static inline void put_byte_pieces(struct mt_text *out)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", byte);
        put_piece(out, text, 6, SPM_BYTE, 0);
    }
}

/* --- Charsmap: a double array with a block of 256 units for the children of each node. Unit 0 is
 * the root; its block must not be the first, or it would be its own child over NUL. --- */

struct rule {
    const char *from, *to;
};

#define MAP_BLOCKS 256

struct map_builder {
    uint32_t units[MAP_BLOCKS * 256];
    struct mt_text replacements;
    uint32_t n_blocks;
};

static inline void map_init(struct map_builder *map)
{
    memset(map, 0, sizeof *map);
    map->n_blocks = 2;
    for (size_t i = 0; i < MAP_BLOCKS * 256; i++)
        map->units[i] = 0x80000000u; /* matches no byte */
    map->units[0] = 256u << 10;
}

static inline uint32_t map_base(const struct map_builder *map, uint32_t i)
{
    return i ^ (map->units[i] >> 10);
}

static inline void map_add(struct map_builder *map, const char *from, const char *to)
{
    uint32_t i = 0;
    for (; *from; from++) {
        uint32_t child = map_base(map, i) ^ (unsigned char)*from;
        if (map->units[child] == 0x80000000u) {
            ck_assert_uint_lt(map->n_blocks, MAP_BLOCKS);
            uint32_t base = 256 * map->n_blocks++;
            map->units[child] = (child ^ base) << 10 | (unsigned char)*from;
        }
        i = child;
    }
    map->units[i] |= 0x100;
    map->units[map_base(map, i)] = 0x80000000u | (uint32_t)map->replacements.length;
    mt_text_append(&map->replacements, to, strlen(to) + 1);
}

static inline void map_write(struct map_builder *map, struct mt_text *out)
{
    uint32_t n_units = map->n_blocks * 256, n_bytes = htole32(4 * n_units);
    mt_text_append(out, (const char *)&n_bytes, 4);
    for (uint32_t i = 0; i < n_units; i++) {
        uint32_t unit = htole32(map->units[i]);
        mt_text_append(out, (const char *)&unit, 4);
    }
    mt_text_append(out, map->replacements.bytes, map->replacements.length);
    mt_text_finish(&map->replacements);
}

static inline struct mt_text map_of(const struct rule *rules, size_t n)
{
    struct map_builder *map = malloc(sizeof *map);
    struct mt_text out = {0};
    map_init(map);
    for (size_t i = 0; i < n; i++)
        map_add(map, rules[i].from, rules[i].to);
    map_write(map, &out);
    free(map);
    return out;
}

#endif
