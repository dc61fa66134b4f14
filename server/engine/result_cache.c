#include "server/engine/result_cache.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/text.h"
#include "model/results.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the cache for each bucket of the table, because a sentence takes at least this many. */
#define BYTES_A_BUCKET 512

/* The overhead of an allocation. */
#define MALLOC_BYTES 16

/* Longer results are not kept: this is a base model's attention to forty words, and longer
 * sentences are seldom asked twice. */
#define MAX_ENTRY_BYTES ((size_t)512 << 10)

struct entry {
    struct entry *next, *previous; /* neighbours in the order of use */
    struct entry *behind;          /* the next one of the same bucket */
    uint64_t hash;
    size_t n_question, n_results;
    char bytes[];
};

struct entry_list {
    struct entry *first, *last;
};

struct mt_result_cache {
    pthread_mutex_t mutex;
    size_t max_bytes;          /* of all entries together */
    struct entry_list entries; /* the most recently used first */
    struct entry **buckets;
    size_t n_buckets; /* a power of two */
    struct mt_result_cache_counts counts;
};

enum mt_status mt_result_cache_create(size_t max_bytes, struct mt_result_cache **out,
                                      struct mt_error *err)
{
    struct mt_result_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return mt_fail_memory(err, sizeof *cache, "a cache");
    cache->n_buckets = 1;
    while (cache->n_buckets < max_bytes / BYTES_A_BUCKET / 2)
        cache->n_buckets *= 2;
    size_t table_bytes = cache->n_buckets * sizeof *cache->buckets;
    cache->buckets = calloc(cache->n_buckets, sizeof *cache->buckets);
    if (!cache->buckets) {
        free(cache);
        return mt_fail_memory(err, table_bytes, "a cache");
    }
    cache->max_bytes = max_bytes > table_bytes ? max_bytes - table_bytes : 0;
    pthread_mutex_init(&cache->mutex, NULL);
    *out = cache;
    return MT_OK;
}

void mt_result_cache_destroy(struct mt_result_cache *cache)
{
    if (!cache)
        return;
    for (struct entry *entry = cache->entries.first, *next; entry; entry = next) {
        next = entry->next;
        free(entry);
    }
    free(cache->buckets);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

static uint64_t hash_of(const struct mt_text *question)
{
    return mt_hash(MT_HASH_BEGIN, question->bytes, question->length);
}

/* ---- with the mutex held ---- */

/* Returns the pointer to the entry or, where there is none, the one that would point to it. */
static struct entry **find(struct mt_result_cache *cache, uint64_t hash,
                           const struct mt_text *question)
{
    struct entry **at = &cache->buckets[hash & (cache->n_buckets - 1)];
    for (; *at; at = &(*at)->behind) {
        const struct entry *entry = *at;
        if (entry->hash == hash && entry->n_question == question->length &&
            memcmp(entry->bytes, question->bytes, question->length) == 0)
            break;
    }
    return at;
}

static size_t bytes_of(const struct entry *entry)
{
    return MALLOC_BYTES + sizeof *entry + entry->n_question + entry->n_results;
}

static void forget(struct mt_result_cache *cache, struct entry *entry)
{
    struct entry **at = &cache->buckets[entry->hash & (cache->n_buckets - 1)];
    while (*at != entry)
        at = &(*at)->behind;
    *at = entry->behind;
    MT_LIST_REMOVE(&cache->entries, entry);
    cache->counts.n_bytes -= bytes_of(entry);
    cache->counts.n_sentences--;
    free(entry);
}

static void put(struct mt_result_cache *cache, struct entry *entry, struct entry **bucket)
{
    entry->behind = NULL;
    *bucket = entry;
    MT_LIST_PREPEND(&cache->entries, entry);
    cache->counts.n_bytes += bytes_of(entry);
    cache->counts.n_sentences++;
    while (cache->counts.n_bytes > cache->max_bytes)
        forget(cache, cache->entries.last);
}

/* ---- from outside ---- */

bool mt_result_cache_recall(struct mt_result_cache *cache, struct mt_sentence *sentence)
{
    struct mt_text question = {0};
    if (!cache || !mt_sentence_can_be_copied(sentence))
        return false;
    mt_sentence_write_question(sentence, &question);
    uint64_t hash = question.status ? 0 : hash_of(&question);
    pthread_mutex_lock(&cache->mutex);
    struct entry *entry = question.status ? NULL : *find(cache, hash, &question);
    if (entry) {
        MT_LIST_REMOVE(&cache->entries, entry);
        MT_LIST_PREPEND(&cache->entries, entry);
        mt_sentence_read_results(sentence, entry->bytes + entry->n_question, entry->n_results);
        cache->counts.n_hits++;
    } else {
        cache->counts.n_misses++;
    }
    pthread_mutex_unlock(&cache->mutex);
    mt_text_finish(&question);
    return entry != NULL;
}

/* The entry holds the question, and the results behind it. */
static struct entry *make_entry(const struct mt_sentence *sentence, struct mt_text *text)
{
    mt_sentence_write_question(sentence, text);
    size_t n_question = text->length;
    mt_sentence_write_results(sentence, text);
    bool is_kept = !text->status && text->length <= MAX_ENTRY_BYTES;
    struct entry *entry = is_kept ? malloc(sizeof *entry + text->length) : NULL;
    if (!entry)
        return NULL;
    entry->n_question = n_question;
    entry->n_results = text->length - n_question;
    memcpy(entry->bytes, text->bytes, text->length);
    text->length = n_question;
    entry->hash = hash_of(text);
    return entry;
}

void mt_result_cache_keep(struct mt_result_cache *cache, const struct mt_sentence *sentence)
{
    struct mt_text text = {0};
    if (!cache || !mt_sentence_can_be_copied(sentence))
        return;
    struct entry *entry = make_entry(sentence, &text);
    if (entry) {
        pthread_mutex_lock(&cache->mutex);
        struct entry **bucket = find(cache, entry->hash, &text);
        bool is_new = !*bucket && bytes_of(entry) <= cache->max_bytes;
        if (is_new)
            put(cache, entry, bucket);
        pthread_mutex_unlock(&cache->mutex);
        if (!is_new)
            free(entry);
    }
    mt_text_finish(&text);
}

void mt_result_cache_count(struct mt_result_cache *cache, struct mt_result_cache_counts *out)
{
    *out = (struct mt_result_cache_counts){0};
    if (!cache)
        return;
    pthread_mutex_lock(&cache->mutex);
    *out = cache->counts;
    pthread_mutex_unlock(&cache->mutex);
}
