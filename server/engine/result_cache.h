/*
 * Results of sentences that were decoded before, kept in memory and found by the whole question
 * (model/results.h). A sentence that is asked again, of the same model and with the same options,
 * is filled with them instead of being decoded; its translation is the same to the byte. Where
 * there is no room, the results that have not been used for longest are dropped.
 *
 * Thread-safety: safe, except create and destroy.
 */
#ifndef MT_SERVER_ENGINE_RESULT_CACHE_H
#define MT_SERVER_ENGINE_RESULT_CACHE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_result_cache;
struct mt_sentence;

/* Uses at most max_bytes of memory, including its table. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_result_cache_create(size_t max_bytes, struct mt_result_cache **out,
                                                    struct mt_error *err);
/* Takes NULL. */
void mt_result_cache_destroy(struct mt_result_cache *cache);

/* Fills a new sentence where its results are known, and returns whether they are. cache may be
 * NULL. */
bool mt_result_cache_recall(struct mt_result_cache *cache, struct mt_sentence *sentence);

/* Keeps the results of a sentence that has been decoded, where there is memory for them. */
void mt_result_cache_keep(struct mt_result_cache *cache, const struct mt_sentence *sentence);

struct mt_result_cache_counts {
    uint64_t n_hits, n_misses; /* of sentences that can be kept */
    size_t n_sentences, n_bytes;
};
void mt_result_cache_count(struct mt_result_cache *cache, struct mt_result_cache_counts *out);

#endif
