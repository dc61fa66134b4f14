#include "server/requests/access.h"

#include "config/settings.h"
#include "server/service/keys.h"
#include "server/http/params.h"

#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

static struct mt_limiter *limiter_of(const struct mt_access *access, struct mt_meters *meters)
{
    return access->key ? meters->keys : meters->addresses;
}

/* ---- the key ---- */

/* The key behind "Bearer " or "DeepL-Auth-Key "; NULL: the header holds something else. */
static const char *key_of_header(const char *authorization)
{
    static const char *const schemes[] = {"Bearer", "DeepL-Auth-Key"};
    for (size_t i = 0; authorization && i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(authorization, schemes[i], length) != 0 || authorization[length] != ' ')
            continue;
        const char *key = authorization + length;
        key += strspn(key, " ");
        return *key != '\0' ? key : NULL;
    }
    return NULL;
}

/* A key that is not a string matches no key of ours. */
static const char *key_of_params(const struct mt_params *params)
{
    const struct cJSON *value = mt_params_get(params, "api_key");
    if (!value)
        return NULL;
    if (!cJSON_IsString(value))
        return "?";
    return value->valuestring[0] != '\0' ? value->valuestring : NULL;
}

/* Returns false where the request brings a key that is none of ours. */
static bool find_key(const struct mt_access_question *question, const struct mt_key **out)
{
    struct mt_params query = {0};
    *out = NULL;
    if (!question->keys)
        return true;
    const char *key = key_of_params(question->params);
    if (!key && strstr(question->query, "api_key")) {
        enum mt_status status =
            mt_params_parse_form(&query, question->query, strlen(question->query), false, NULL);
        /* The query string cannot be read, so it names no key of ours. */
        key = status == MT_FORMAT ? "?" : key_of_params(&query);
    }
    if (!key)
        key = key_of_header(question->authorization);
    if (key)
        *out = mt_keys_find(question->keys, key);
    mt_params_finish(&query);
    return !key || *out;
}

/* ---- limits ---- */

static void set_limit(int64_t *limit, int64_t value)
{
    if (value >= 0)
        *limit = value;
}

static void find_limits(const struct mt_access_question *question, const struct mt_key *key,
                        struct mt_limits *out)
{
    const struct mt_settings *settings = question->settings;
    *out = (struct mt_limits){
        .rates = {[MT_RATE_MINUTE] = settings->requests_per_minute,
                  [MT_RATE_HOUR] = settings->requests_per_hour,
                  [MT_RATE_DAY] = settings->requests_per_day,
                  [MT_RATE_CHARS] = settings->chars_per_day,
                  [MT_RATE_VIOLATIONS] = settings->max_limit_violations},
        .max_text_chars = settings->max_text_chars,
        .max_batch_texts = settings->max_batch_texts,
    };
    if (!key)
        return;
    for (size_t i = 0; i < MT_N_RATES; i++)
        set_limit(&out->rates[i], key->limits.rates[i]);
    set_limit(&out->max_text_chars, key->limits.max_text_chars);
    set_limit(&out->max_batch_texts, key->limits.max_batch_texts);
}

static uint64_t count_chars(const struct cJSON *text)
{
    if (!cJSON_IsString(text))
        return 0;
    return mt_utf8_count(text->valuestring, strlen(text->valuestring));
}

/* Counts only the field that is translated: "q" is LibreTranslate's name for the texts, "text" is
 * DeepL's, and a form may repeat either. */
static void count_texts(const struct mt_params *params, bool is_deepl, bool counts_chars,
                        uint64_t amounts[MT_N_RATES])
{
    const struct cJSON *texts = mt_params_get(params, is_deepl ? "text" : "q");
    uint64_t n_texts = 1, n_chars = 0;
    if (cJSON_IsArray(texts)) {
        n_texts = 0;
        for (const struct cJSON *text = texts->child; text; text = text->next, n_texts++)
            n_chars += counts_chars ? count_chars(text) : 0;
    } else if (texts && is_deepl) {
        n_texts = 0;
        for (; texts; texts = mt_params_next(texts), n_texts++)
            n_chars += counts_chars ? count_chars(texts) : 0;
    } else if (counts_chars) {
        n_chars = count_chars(texts);
    }
    uint64_t n_requests = n_texts > 0 ? n_texts : 1;
    amounts[MT_RATE_MINUTE] = amounts[MT_RATE_HOUR] = amounts[MT_RATE_DAY] = n_requests;
    amounts[MT_RATE_CHARS] = n_chars;
}

/* ---- refusing ---- */

static enum mt_status forbid(struct mt_access *access, enum mt_rejection rejection,
                             const char *message, struct mt_error *err)
{
    access->rejection = rejection;
    return mt_fail(err, MT_FORBIDDEN, "%s", message);
}

static enum mt_status throttle(struct mt_access *access, const struct mt_limiter_refusal *refusal,
                               struct mt_error *err)
{
    static const char *const names[MT_N_RATES] = {
        [MT_RATE_MINUTE] = "per 1 minute",
        [MT_RATE_HOUR] = "per 1 hour",
        [MT_RATE_DAY] = "per 1 day",
        [MT_RATE_CHARS] = "characters per 1 day",
        [MT_RATE_VIOLATIONS] = "violations per 1 hour",
    };
    access->rejection = MT_REJECTED_RATE;
    access->retry_seconds = refusal->retry_seconds;
    access->is_over_quota = refusal->rate == MT_RATE_CHARS;
    return mt_fail(err, MT_THROTTLED, "Slowdown: %lld %s",
                   (long long)access->limits.rates[refusal->rate], names[refusal->rate]);
}

/* Counts one violation more. A client over the limit of violations is banned. */
static void count_violation(const struct mt_access *access, struct mt_limiter *limiter,
                            int64_t now_ns)
{
    const uint64_t amounts[MT_N_RATES] = {[MT_RATE_VIOLATIONS] = 1};
    struct mt_limiter_refusal refusal;
    if (!mt_limiter_take(limiter, access->client, &access->limits, amounts, now_ns, &refusal))
        mt_limiter_ban(limiter, access->client, now_ns + INT64_C(1000000000) * MT_BAN_SECONDS);
}

static enum mt_status take(struct mt_access *access, struct mt_limiter *limiter,
                           const uint64_t amounts[MT_N_RATES], int64_t now_ns, struct mt_error *err)
{
    struct mt_limiter_refusal refusal;
    if (!mt_limiter_take(limiter, access->client, &access->limits, amounts, now_ns, &refusal)) {
        count_violation(access, limiter, now_ns);
        return throttle(access, &refusal, err);
    }
    access->n_chars += amounts[MT_RATE_CHARS];
    return MT_OK;
}

enum mt_status mt_access_check(const struct mt_access_question *question, struct mt_access *out,
                               struct mt_error *err)
{
    bool is_metered = question->kind == MT_ACCESS_METERED;
    bool is_known;
    *out = (struct mt_access){.client = question->address};
    is_known = find_key(question, &out->key);
    if (out->key)
        out->client = out->key->id;
    find_limits(question, out->key, &out->limits);
    if (question->kind == MT_ACCESS_OPEN)
        return MT_OK;

    struct mt_limiter *limiter = limiter_of(out, question->meters);
    if (mt_limiter_banned_seconds(limiter, out->client, question->now_ns) > 0)
        return forbid(out, MT_REJECTED_BANNED, "Too many request limits violations", err);
    uint64_t amounts[MT_N_RATES] = {[MT_RATE_MINUTE] = 1, [MT_RATE_HOUR] = 1, [MT_RATE_DAY] = 1};
    if (!is_known) { /* Whoever tries out keys has the same rates as everybody. */
        enum mt_status status = take(out, limiter, amounts, question->now_ns, err);
        if (status)
            return status;
        count_violation(out, limiter, question->now_ns);
        return forbid(out, MT_REJECTED_KEY, "Invalid API key", err);
    }
    if (!out->key && question->settings->key_required)
        return forbid(out, MT_REJECTED_KEY, "Please contact the server operator to get an API key",
                      err);
    if (!is_metered)
        return MT_OK;
    count_texts(question->params, question->dialect == MT_DEEPL,
                out->limits.rates[MT_RATE_CHARS] > 0, amounts);
    return take(out, limiter, amounts, question->now_ns, err);
}

void mt_access_give_back(struct mt_access *access, struct mt_meters *meters)
{
    if (access->n_chars > 0)
        mt_limiter_give_back(limiter_of(access, meters), access->client, MT_RATE_CHARS,
                             access->n_chars);
    access->n_chars = 0;
}

enum mt_status mt_access_take_chars(struct mt_access *access, struct mt_meters *meters,
                                    uint64_t n_chars, int64_t now_ns, struct mt_error *err)
{
    const uint64_t amounts[MT_N_RATES] = {[MT_RATE_CHARS] = n_chars};
    return take(access, limiter_of(access, meters), amounts, now_ns, err);
}

uint64_t mt_access_used_chars(const struct mt_access *access, struct mt_meters *meters,
                              int64_t now_ns)
{
    return mt_limiter_level(limiter_of(access, meters), access->client, &access->limits,
                            MT_RATE_CHARS, now_ns);
}
