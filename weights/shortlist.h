/*
 * Marian's binary lexical shortlists (lex.50.50.ende.s2t.bin): for each source word the target
 * words that it is likely to become.
 *
 *   six u64: magic 0xF11A48D5013417F5 | checksum | n_first | n_best | words + 1 | ids |
 *   u64 offsets [words + 1] | u32 ids, those of a word ascending
 *
 * All numbers are little-endian. The checksum covers the whole u64 words from n_first to the end:
 * for each word w, hash ^= w + 0x9e3779b9 + (hash << 6) + (hash >> 2), from 0.
 *
 * The file is in memory, and a shortlist points into it. Nothing is trusted: sizes have to add up
 * to the file, the checksum has to be right, offsets must not decrease, and ids have to be in the
 * vocabulary.
 *
 * Format: marian-dev's src/data/shortlist.cpp, src/common/hash.h. Thread-safety: immutable.
 */
#ifndef MT_WEIGHTS_SHORTLIST_H
#define MT_WEIGHTS_SHORTLIST_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_SHORTLIST_MAGIC "\xF5\x17\x34\x01\xD5\x48\x1A\xF1"
#define MT_SHORTLIST_MAGIC_BYTES 8
#define MT_SHORTLIST_MAX_FILE_BYTES ((size_t)256 << 20)

struct mt_shortlist {
    const unsigned char *offsets, *ids;
    size_t n_first; /* target words that are always candidates: those with the lowest ids */
    size_t n_words; /* source words */
    size_t n_ids;
};

/* bytes belong to the caller, and must outlive the shortlist. path is for messages. n_source and
 * n_target are the sizes of the model's vocabularies: there may be fewer words than source ids, as
 * in some of Firefox's, but not more, and target ids are below n_target. MT_FORMAT (malformed),
 * MT_INVALID (it belongs to another model). */
MT_MUST_CHECK enum mt_status mt_shortlist_read(const unsigned char *bytes, size_t length,
                                               const char *path, size_t n_source, size_t n_target,
                                               struct mt_shortlist *out, struct mt_error *err);

/* The candidates of a source word are ids [*begin, *end); a word that is not in the list has
 * none. */
void mt_shortlist_range(const struct mt_shortlist *list, size_t word, size_t *begin, size_t *end);
uint32_t mt_shortlist_id(const struct mt_shortlist *list, size_t index);

#endif
