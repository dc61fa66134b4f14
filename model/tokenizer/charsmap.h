/*
 * Charsmap: the table of a SentencePiece file for normalising text, which tells what characters are
 * replaced by (NFKC and more) before the text is cut into pieces.
 *
 * Format (precompiled_charsmap of normalizer_spec; sentencepiece's normalizer.cc and darts-clone):
 *
 *   u32 bytes of the trie | the trie: u32 units of a Darts double array | replacements
 *
 * all little-endian. A replacement is NUL-terminated UTF-8; the value of a key in the trie is the
 * offset of its replacement. libsentencepiece walks the trie and copies replacements without
 * checking any limit, so a file is first refused here unless every walk stays inside.
 */
#ifndef MT_MODEL_TOKENIZER_CHARSMAP_H
#define MT_MODEL_TOKENIZER_CHARSMAP_H

#include "base/arena.h"

#include <stdint.h>

/* The longest replacement (real files: 33 bytes), and the most keys that may be prefixes of one
 * another: libsentencepiece collects those of one position in an array of 32. */
#define MT_CHARSMAP_MAX_REPLACEMENT_BYTES 256
#define MT_CHARSMAP_MAX_NESTED_KEYS 32

/* A table that points into a file; {0} is the identity. Immutable. */
struct mt_charsmap {
    const unsigned char *units;
    size_t n_units;
    const char *replacements;
    size_t replacement_bytes;
};

/* Validates bytes[0, length), which *out then points into. length 0 is the identity. MT_FORMAT with
 * where ("source.spm: normalizer_spec") and the offset. */
MT_MUST_CHECK enum mt_status mt_charsmap_init(struct mt_charsmap *out, const char *bytes,
                                              size_t length, const char *where,
                                              struct mt_error *err);

/* Copies the bytes that the map points into to the arena, so that it no longer needs the file. */
MT_MUST_CHECK enum mt_status mt_charsmap_keep(struct mt_charsmap *map, struct mt_arena *arena,
                                              struct mt_error *err);

/* Does one step of the normaliser: finds the characters at the start of text[0, length), which must
 * be well-formed UTF-8 and not empty, that are replaced together. Returns their length in bytes (at
 * least 1); *out and *out_length get the replacement, borrowed from the map or from text. */
size_t mt_charsmap_next(const struct mt_charsmap *map, const char *text, size_t length,
                        const char **out, size_t *out_length);

#endif
