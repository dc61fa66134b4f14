/*
 * Who may ask, and how much: API keys, rates, bans. The one place that refuses a request for who
 * sent it.
 *
 * A request belongs to the key that it brings, or, where it brings none, to the address that it
 * comes from (client.h). A key may be the field "api_key" of the body or of the query string, or
 * stand behind "Bearer" or "DeepL-Auth-Key" in the Authorization header; "" and null are none.
 *
 * Refusals, all with LibreTranslate's texts:
 *
 *   403 Invalid API key                      the key is not in api_keys_file
 *   403 Please contact the server ...        there is none, and key_required is set
 *   403 Too many request limits violations   banned: max_limit_violations
 *   429 Slowdown: 20 per 1 minute            over a rate, with Retry-After
 *
 * Where no api_keys_file is set, keys are not looked at.
 *
 * Thread-safety: safe on distinct requests; the meters take care of themselves.
 */
#ifndef MT_SERVER_REQUESTS_ACCESS_H
#define MT_SERVER_REQUESTS_ACCESS_H

#include "server/http/limiter.h"
#include "server/service/meters.h"
#include "server/service/metrics.h"
#include "server/http/router.h"

struct mt_key;
struct mt_keys;
struct mt_params;
struct mt_settings;

/* How long a ban lasts. */
#define MT_BAN_SECONDS 3600

struct mt_access_question {
    enum mt_access_kind kind; /* open, keyed or metered */
    enum mt_dialect dialect;  /* the texts are LibreTranslate's "q" or DeepL's "text" */
    const struct mt_settings *settings;
    const struct mt_keys *keys; /* NULL: none are in use */
    struct mt_meters *meters;
    const struct mt_params *params;
    const char *query;         /* of the request target, undecoded; "" */
    const char *authorization; /* the header, or NULL */
    uint64_t address;          /* who the client is where there is no key */
    int64_t now_ns;
};

/* The result of the check. After a refusal rejection is set and, for 429, retry_seconds. */
struct mt_access {
    const struct mt_key *key; /* NULL: none */
    uint64_t client;          /* the key's owner, or the address: each has a fair share */
    struct mt_limits limits;  /* the key's own, and the settings' where it has none */
    uint64_t n_chars;         /* how many were counted against chars_per_day */
    enum mt_rejection rejection;
    int64_t retry_seconds;
    bool is_over_quota; /* the characters allowed per day are used up */
};

/* MT_FORBIDDEN and MT_THROTTLED are the refusals; *out is set in any case. */
MT_MUST_CHECK enum mt_status mt_access_check(const struct mt_access_question *question,
                                             struct mt_access *out, struct mt_error *err);

/* Gives back characters that were counted, but not translated in the end. */
void mt_access_give_back(struct mt_access *access, struct mt_meters *meters);

/* Counts characters that stand outside the field that is counted, such as those of a file.
 * MT_THROTTLED, with *access set to a refusal, where they are too many. */
MT_MUST_CHECK enum mt_status mt_access_take_chars(struct mt_access *access,
                                                  struct mt_meters *meters, uint64_t n_chars,
                                                  int64_t now_ns, struct mt_error *err);

/* How many characters of limits.rates[MT_RATE_CHARS] have been used; 0 where there is no such
 * limit. */
uint64_t mt_access_used_chars(const struct mt_access *access, struct mt_meters *meters,
                              int64_t now_ns);

#endif
