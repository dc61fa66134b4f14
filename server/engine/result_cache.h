/*
 * Sentences that were decoded before: their results, kept in memory and found by the whole question
 * (model/results.h). A sentence that is asked again, with the same options and of the same model, is
 * filled with them in the place of being decoded; its translation is the same to the byte. What has
 * not been asked for longest goes when there is no room.
 *
 * Thread-safety: safe, but for create and destroy.
 */
#ifndef MT_SERVER_ENGINE_RESULT_CACHE_H
#define MT_SERVER_ENGINE_RESULT_CACHE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_result_cache;
struct mt_sentence;

/* Takes max_bytes of memory at most, its table too. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_result_cache_create(size_t max_bytes, struct mt_result_cache **out,
                                                    struct mt_error *err);
/* Takes NULL. */
void mt_result_cache_destroy(struct mt_result_cache *cache);

/* Fills a new sentence, if what it asks is known. cache NULL: it is not. */
bool mt_result_cache_recall(struct mt_result_cache *cache, struct mt_sentence *sentence);

/* Keeps what became of a sentence that has been decoded; without memory, nothing. */
void mt_result_cache_keep(struct mt_result_cache *cache, const struct mt_sentence *sentence);

struct mt_result_cache_counts {
    uint64_t n_hits, n_misses; /* of sentences that can be kept */
    size_t n_sentences, n_bytes;
};
void mt_result_cache_count(struct mt_result_cache *cache, struct mt_result_cache_counts *out);

#endif
