#include "server/http/limiter.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* "No entry": the first entry is not used, so that zeroed memory is an empty table. */
#define NONE 0
/* Levels are sums of fractions, which have rounding errors; two numbers of whole requests differ by
 * far more than this. */
#define ROUNDING 1e-6

static const double period_seconds[MT_N_RATES] = {
    [MT_RATE_MINUTE] = 60,   [MT_RATE_HOUR] = 3600,       [MT_RATE_DAY] = 86400,
    [MT_RATE_CHARS] = 86400, [MT_RATE_VIOLATIONS] = 3600,
};

struct entry {
    uint64_t client;
    int64_t updated_ns, ban_end_ns;
    double levels[MT_N_RATES];
    uint32_t newer, older;   /* neighbours in the order of use */
    uint32_t next_in_bucket; /* in the bucket, or in the list of unused entries */
};

struct mt_limiter {
    pthread_mutex_t mutex; /* guards all members */
    struct entry *entries; /* [1, max_entries]; those beyond n_entries were never used */
    uint32_t n_entries, max_entries;
    uint32_t *buckets; /* [n_buckets], a power of two */
    uint32_t n_buckets;
    uint32_t newest, oldest;
};

enum mt_status mt_limiter_create(size_t max_clients, struct mt_limiter **out, struct mt_error *err)
{
    assert(max_clients > 0 && max_clients <= UINT32_MAX / 4);
    struct mt_limiter *limiter = calloc(1, sizeof *limiter);
    if (!limiter)
        return mt_fail_memory(err, sizeof *limiter, "rates");
    pthread_mutex_init(&limiter->mutex, NULL);
    limiter->max_entries = (uint32_t)max_clients;
    limiter->n_buckets = 16;
    while (limiter->n_buckets < max_clients)
        limiter->n_buckets *= 2;
    limiter->entries = calloc(max_clients + 1, sizeof limiter->entries[0]);
    limiter->buckets = calloc(limiter->n_buckets, sizeof limiter->buckets[0]);
    if (!limiter->entries || !limiter->buckets) {
        mt_limiter_destroy(limiter);
        return mt_fail_memory(err, max_clients * sizeof(struct entry), "rates");
    }
    *out = limiter;
    return MT_OK;
}

uint64_t mt_limiter_bytes(size_t max_clients)
{
    return (uint64_t)max_clients * (sizeof(struct entry) + 2 * sizeof(uint32_t));
}

void mt_limiter_destroy(struct mt_limiter *limiter)
{
    if (!limiter)
        return;
    free(limiter->entries);
    free(limiter->buckets);
    pthread_mutex_destroy(&limiter->mutex);
    free(limiter);
}

/* ---- the table ---- */

static uint32_t *bucket_of(struct mt_limiter *limiter, uint64_t client)
{
    /* Fibonacci hashing, because clients may be small numbers. */
    uint64_t hash = client * UINT64_C(0x9E3779B97F4A7C15);
    return &limiter->buckets[(hash >> 32) & (limiter->n_buckets - 1)];
}

static void unlink_use(struct mt_limiter *limiter, uint32_t index)
{
    struct entry *entry = &limiter->entries[index];
    if (entry->newer != NONE)
        limiter->entries[entry->newer].older = entry->older;
    else
        limiter->newest = entry->older;
    if (entry->older != NONE)
        limiter->entries[entry->older].newer = entry->newer;
    else
        limiter->oldest = entry->newer;
}

static void make_newest(struct mt_limiter *limiter, uint32_t index)
{
    struct entry *entry = &limiter->entries[index];
    entry->newer = NONE;
    entry->older = limiter->newest;
    if (limiter->newest != NONE)
        limiter->entries[limiter->newest].newer = index;
    else
        limiter->oldest = index;
    limiter->newest = index;
}

static void unlink_bucket(struct mt_limiter *limiter, uint32_t index)
{
    uint32_t *link = bucket_of(limiter, limiter->entries[index].client);
    while (*link != index)
        link = &limiter->entries[*link].next_in_bucket;
    *link = limiter->entries[index].next_in_bucket;
}

static struct entry *find(struct mt_limiter *limiter, uint64_t client)
{
    uint32_t index = *bucket_of(limiter, client);
    while (index != NONE && limiter->entries[index].client != client)
        index = limiter->entries[index].next_in_bucket;
    return index != NONE ? &limiter->entries[index] : NULL;
}

/* Takes an entry for a client that has none. */
static uint32_t take_place(struct mt_limiter *limiter)
{
    if (limiter->n_entries < limiter->max_entries)
        return ++limiter->n_entries;
    uint32_t index = limiter->oldest;
    unlink_use(limiter, index);
    unlink_bucket(limiter, index);
    return index;
}

static struct entry *find_or_add(struct mt_limiter *limiter, uint64_t client, int64_t now_ns)
{
    struct entry *entry = find(limiter, client);
    if (entry) {
        uint32_t index = (uint32_t)(entry - limiter->entries);
        unlink_use(limiter, index);
        make_newest(limiter, index);
        return entry;
    }
    uint32_t index = take_place(limiter);
    uint32_t *bucket = bucket_of(limiter, client);
    limiter->entries[index] = (struct entry){
        .client = client,
        .updated_ns = now_ns,
        .next_in_bucket = *bucket,
    };
    *bucket = index;
    make_newest(limiter, index);
    return &limiter->entries[index];
}

/* ---- levels ---- */

static double rate_of(const struct mt_limits *limits, size_t i)
{
    return (double)limits->rates[i] / period_seconds[i];
}

static void sink(struct entry *entry, const struct mt_limits *limits, int64_t now_ns)
{
    double seconds = (double)(now_ns - entry->updated_ns) * 1e-9;
    if (seconds <= 0)
        return;
    for (size_t i = 0; i < MT_N_RATES; i++) {
        bool is_limited = limits->rates[i] > 0;
        double sunk = is_limited ? entry->levels[i] - seconds * rate_of(limits, i) : 0;
        entry->levels[i] = fmax(sunk, 0);
    }
    entry->updated_ns = now_ns;
}

static bool fits(const struct entry *entry, const struct mt_limits *limits,
                 const uint64_t amounts[MT_N_RATES], struct mt_limiter_refusal *refusal)
{
    for (size_t i = 0; i < MT_N_RATES; i++) {
        double limit = (double)limits->rates[i];
        double excess = entry->levels[i] + (double)amounts[i] - limit;
        if (limits->rates[i] <= 0 || amounts[i] == 0 || excess <= ROUNDING)
            continue;
        double seconds = ceil(excess / rate_of(limits, i) - ROUNDING);
        *refusal = (struct mt_limiter_refusal){
            .rate = (enum mt_rate)i,
            .retry_seconds = (int64_t)fmax(1, fmin(seconds, period_seconds[i])),
        };
        return false;
    }
    return true;
}

bool mt_limiter_take(struct mt_limiter *limiter, uint64_t client, const struct mt_limits *limits,
                     const uint64_t amounts[MT_N_RATES], int64_t now_ns,
                     struct mt_limiter_refusal *refusal)
{
    pthread_mutex_lock(&limiter->mutex);
    struct entry *entry = find_or_add(limiter, client, now_ns);
    sink(entry, limits, now_ns);
    bool does_fit = fits(entry, limits, amounts, refusal);
    for (size_t i = 0; i < MT_N_RATES && does_fit; i++)
        if (limits->rates[i] > 0)
            entry->levels[i] += (double)amounts[i];
    pthread_mutex_unlock(&limiter->mutex);
    return does_fit;
}

void mt_limiter_give_back(struct mt_limiter *limiter, uint64_t client, enum mt_rate rate,
                          uint64_t amount)
{
    pthread_mutex_lock(&limiter->mutex);
    struct entry *entry = find(limiter, client);
    if (entry)
        entry->levels[rate] = fmax(entry->levels[rate] - (double)amount, 0);
    pthread_mutex_unlock(&limiter->mutex);
}

uint64_t mt_limiter_level(struct mt_limiter *limiter, uint64_t client,
                          const struct mt_limits *limits, enum mt_rate rate, int64_t now_ns)
{
    uint64_t level = 0;
    pthread_mutex_lock(&limiter->mutex);
    struct entry *entry = find(limiter, client);
    if (entry) {
        sink(entry, limits, now_ns);
        level = (uint64_t)ceil(entry->levels[rate] - ROUNDING);
    }
    pthread_mutex_unlock(&limiter->mutex);
    return level;
}

int64_t mt_limiter_banned_seconds(struct mt_limiter *limiter, uint64_t client, int64_t now_ns)
{
    int64_t left_ns = 0;
    pthread_mutex_lock(&limiter->mutex);
    const struct entry *entry = find(limiter, client);
    if (entry && entry->ban_end_ns > now_ns)
        left_ns = entry->ban_end_ns - now_ns;
    pthread_mutex_unlock(&limiter->mutex);
    return (left_ns + 999999999) / 1000000000;
}

void mt_limiter_ban(struct mt_limiter *limiter, uint64_t client, int64_t end_ns)
{
    pthread_mutex_lock(&limiter->mutex);
    find_or_add(limiter, client, 0)->ban_end_ns = end_ns;
    pthread_mutex_unlock(&limiter->mutex);
}
