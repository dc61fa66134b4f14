/*
 * How much each client has asked for lately, and whether that is too much.
 *
 * Every rate is a leaky bucket: a level that each request raises by its cost, and that sinks
 * steadily by the limit per period. A request whose cost does not fit any more is refused. So a
 * client that was quiet may use up a whole period's limit at once, and then goes on at the rate.
 *
 *   limit 20 per minute   level 0 -> 20 requests -> level 20: full -> 3 s later one more fits
 *
 * Clients are numbers, in a table of fixed size; when it is full, the client that has been quiet
 * for longest is forgotten. The caller passes the time.
 *
 * Thread-safety: safe, except create and destroy.
 */
#ifndef MT_SERVER_HTTP_LIMITER_H
#define MT_SERVER_HTTP_LIMITER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_limiter;

enum mt_rate {
    MT_RATE_MINUTE, /* requests; a batch counts once for each of its texts */
    MT_RATE_HOUR,
    MT_RATE_DAY,
    MT_RATE_CHARS,      /* characters per day */
    MT_RATE_VIOLATIONS, /* refusals because of the rates above, per hour */
    MT_N_RATES
};

/* What a client may do. */
struct mt_limits {
    int64_t rates[MT_N_RATES]; /* 0: no limit */
    int64_t max_text_chars, max_batch_texts;
};

struct mt_limiter_refusal {
    enum mt_rate rate;
    int64_t retry_seconds; /* until the request would fit; a whole period where it never fits */
};

/* Allocates all the memory it will ever use. max_clients: at least 1. */
MT_MUST_CHECK enum mt_status mt_limiter_create(size_t max_clients, struct mt_limiter **out,
                                               struct mt_error *err);
/* How much memory that is at most; entries are first touched when clients come. */
uint64_t mt_limiter_bytes(size_t max_clients);
/* limiter may be NULL. */
void mt_limiter_destroy(struct mt_limiter *limiter);

/* Adds the amounts to the client's levels or, where one does not fit its limit, none of them. */
bool mt_limiter_take(struct mt_limiter *limiter, uint64_t client, const struct mt_limits *limits,
                     const uint64_t amounts[MT_N_RATES], int64_t now_ns,
                     struct mt_limiter_refusal *refusal);

/* Takes an amount back that was counted, but for which nothing was done in the end. */
void mt_limiter_give_back(struct mt_limiter *limiter, uint64_t client, enum mt_rate rate,
                          uint64_t amount);

/* Returns the client's present level, rounded up. */
uint64_t mt_limiter_level(struct mt_limiter *limiter, uint64_t client,
                          const struct mt_limits *limits, enum mt_rate rate, int64_t now_ns);

/* Seconds until the client's ban ends, rounded up; 0 where it is not banned. */
int64_t mt_limiter_banned_seconds(struct mt_limiter *limiter, uint64_t client, int64_t now_ns);
/* Bans the client until end_ns, on the clock of now_ns. */
void mt_limiter_ban(struct mt_limiter *limiter, uint64_t client, int64_t end_ns);

#endif
