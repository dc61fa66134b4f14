/*
 * Charsmap: the table of a SentencePiece file that says how text is normalised: which characters
 * become which others (NFKC and more) before it is cut into pieces.
 *
 * Format (precompiled_charsmap of normalizer_spec; sentencepiece's normalizer.cc and darts-clone):
 *
 *   u32 bytes of the trie | the trie: u32 units of a Darts double array | replacements
 *
 * all little-endian. A replacement is NUL-terminated UTF-8; the value of a key in the trie is the
 * offset of its replacement. libsentencepiece walks the trie and copies replacements without
 * looking at any limit, so a file is refused here first unless every walk stays inside.
 */
#ifndef MT_MODEL_TOKENIZER_CHARSMAP_H
#define MT_MODEL_TOKENIZER_CHARSMAP_H

#include "base/arena.h"

#include <stdint.h>

/* The longest replacement (real files: 33 bytes), and the most keys that may be prefixes of one
 * another: libsentencepiece collects those of one position in an array of 32. */
#define MT_CHARSMAP_MAX_REPLACEMENT_BYTES 256
#define MT_CHARSMAP_MAX_NESTED_KEYS 32

/* A view of a table; {0} is the identity. Immutable. */
struct mt_charsmap {
    const unsigned char *units;
    size_t n_units;
    const char *replacements;
    size_t replacement_bytes;
};

/* Validates bytes[0, length) and makes *out a view of them. length 0 is the identity. MT_FORMAT
 * with where ("source.spm: normalizer_spec") and the offset. */
MT_MUST_CHECK enum mt_status mt_charsmap_init(struct mt_charsmap *out, const char *bytes,
                                              size_t length, const char *where,
                                              struct mt_error *err);

/* Copies what the map views into the arena and makes it a view of that. */
MT_MUST_CHECK enum mt_status mt_charsmap_keep(struct mt_charsmap *map, struct mt_arena *arena,
                                              struct mt_error *err);

/* One step of the normaliser: the characters at the start of text[0, length), which must be
 * well-formed UTF-8 and not empty, that are replaced together. Returns how many bytes they take
 * (at least 1); *out and *out_length are what they become, borrowed from the map or from text. */
size_t mt_charsmap_next(const struct mt_charsmap *map, const char *text, size_t length,
                        const char **out, size_t *out_length);

#endif
