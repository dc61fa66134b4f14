#include "server/service/keys.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "config/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Keys are padded with zeros, so that all comparisons are of one length. */
struct slot {
    char bytes[MT_MAX_KEY_BYTES];
    size_t line;
    struct mt_key key;
};

struct mt_keys {
    bool is_public;
    size_t n, capacity;
    struct slot *slots;
};

/* The position in the file, for messages. */
struct place {
    const char *path;
    size_t line;
};

static const struct {
    const char *name;
    size_t offset;
    int64_t low;
} options[] = {
    {"requests_per_minute", offsetof(struct mt_limits, rates[MT_RATE_MINUTE]), 0},
    {"requests_per_hour", offsetof(struct mt_limits, rates[MT_RATE_HOUR]), 0},
    {"requests_per_day", offsetof(struct mt_limits, rates[MT_RATE_DAY]), 0},
    {"chars_per_day", offsetof(struct mt_limits, rates[MT_RATE_CHARS]), 0},
    {"max_text_chars", offsetof(struct mt_limits, max_text_chars), 1},
    {"max_batch_texts", offsetof(struct mt_limits, max_batch_texts), 1},
};
#define MAX_OPTION_VALUE INT64_C(1000000000000)

/* ---- comparing ---- */

static void pad(const char *key, char out[MT_MAX_KEY_BYTES])
{
    memset(out, 0, MT_MAX_KEY_BYTES);
    memcpy(out, key, strnlen(key, MT_MAX_KEY_BYTES));
}

/* Compares without a branch that depends on the bytes. */
static unsigned difference(const char *a, const char *b, size_t length)
{
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++)
        bits |= (unsigned)((unsigned char)a[i] ^ (unsigned char)b[i]);
    return bits;
}

bool mt_secret_equals(const char *secret, const char *b)
{
    size_t length = strlen(secret);
    unsigned bits = strlen(b) != length;
    for (size_t i = 0; b[i] != '\0'; i++)
        bits |=
            (unsigned)((unsigned char)secret[length > 0 ? i % length : 0] ^ (unsigned char)b[i]);
    return bits == 0;
}

const struct mt_key *mt_keys_find(const struct mt_keys *keys, const char *key)
{
    char padded[MT_MAX_KEY_BYTES];
    size_t length = strnlen(key, MT_MAX_KEY_BYTES + 1);
    if (length < MT_MIN_KEY_BYTES || length > MT_MAX_KEY_BYTES)
        return NULL;
    pad(key, padded);
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < keys->n; i++) {
        size_t is_equal = difference(keys->slots[i].bytes, padded, sizeof padded) == 0;
        found ^= (found ^ i) & (0 - is_equal);
    }
    explicit_bzero(padded, sizeof padded);
    return found != SIZE_MAX ? &keys->slots[found].key : NULL;
}

/* ---- reading ---- */

static enum mt_status refuse(const struct place *place, struct mt_error *err, const char *what)
{
    return mt_fail(err, MT_INVALID, "%s: line %zu: %s", place->path, place->line, what);
}

/* Ids need no secret, since they are never shown, and clients cannot choose keys. */
static uint64_t id_of(const char *bytes)
{
    uint64_t value = mt_hash(MT_HASH_BEGIN, bytes, MT_MAX_KEY_BYTES);
    return value != 0 ? value : 1;
}

static enum mt_status check_key(const char *key, const struct place *place, struct mt_error *err)
{
    size_t length = strlen(key);
    if (length < MT_MIN_KEY_BYTES || length > MT_MAX_KEY_BYTES)
        return mt_fail(err, MT_INVALID, "%s: line %zu: a key of %zu characters, expected %d to %d",
                       place->path, place->line, length, MT_MIN_KEY_BYTES, MT_MAX_KEY_BYTES);
    for (size_t i = 0; i < length; i++)
        if (key[i] <= ' ' || key[i] > '~' || key[i] == '#')
            return refuse(place, err, "the key has a '#', or what is not printable ASCII");
    return MT_OK;
}

/* Accepts only digits, without a sign. */
static bool parse_count(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0' || errno != 0)
        return false;
    *out = value;
    return true;
}

static enum mt_status set_name(struct mt_key *key, const char *name, const struct place *place,
                               struct mt_error *err)
{
    size_t length = strlen(name);
    if (length == 0 || length > MT_MAX_KEY_NAME_BYTES)
        return mt_fail(err, MT_INVALID, "%s: line %zu: a name of %zu characters, expected 1 to %d",
                       place->path, place->line, length, MT_MAX_KEY_NAME_BYTES);
    memcpy(key->name, name, length + 1);
    return MT_OK;
}

/* word is "name=value". An unknown option may be a part of a key, so that the message does not show
 * it. */
static enum mt_status set_option(struct mt_key *key, char *word, const struct place *place,
                                 struct mt_error *err)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return refuse(place, err, "expected name=value behind the key");
    *equals = '\0';
    if (strcmp(word, "name") == 0)
        return set_name(key, equals + 1, place, err);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        int64_t value;
        if (strcmp(word, options[i].name) != 0)
            continue;
        if (!parse_count(equals + 1, &value) || value < options[i].low || value > MAX_OPTION_VALUE)
            return mt_fail(err, MT_INVALID,
                           "%s: line %zu: %s is \"%.20s\", expected an integer from %lld to %lld",
                           place->path, place->line, word, equals + 1, (long long)options[i].low,
                           (long long)MAX_OPTION_VALUE);
        memcpy((char *)&key->limits + options[i].offset, &value, sizeof value);
        return MT_OK;
    }
    return refuse(place, err,
                  "unknown option; there are name, requests_per_minute, requests_per_hour, "
                  "requests_per_day, chars_per_day, max_text_chars and max_batch_texts");
}

static enum mt_status add_slot(struct mt_keys *keys, const struct place *place,
                               struct mt_error *err)
{
    if (keys->n == MT_MAX_KEYS)
        return mt_fail(err, MT_LIMIT, "%s: line %zu: more than %d keys", place->path, place->line,
                       MT_MAX_KEYS);
    if (keys->n == keys->capacity) {
        size_t capacity = keys->capacity > 0 ? 2 * keys->capacity : 16;
        /* realloc is not used, because it would leave keys behind in freed memory. */
        struct slot *larger = calloc(capacity, sizeof larger[0]);
        if (!larger)
            return mt_fail_memory(err, capacity * sizeof larger[0], "keys");
        if (keys->n > 0) {
            memcpy(larger, keys->slots, keys->n * sizeof larger[0]);
            explicit_bzero(keys->slots, keys->n * sizeof larger[0]);
        }
        free(keys->slots);
        keys->slots = larger;
        keys->capacity = capacity;
    }
    keys->n++;
    return MT_OK;
}

/* '#' within a word is not a comment, so that a key is never cut without a message. */
static void cut_comment(char *line)
{
    for (char *at = line; (at = strchr(at, '#')); at++)
        if (at == line || at[-1] == ' ' || at[-1] == '\t') {
            *at = '\0';
            return;
        }
}

static enum mt_status read_line(struct mt_keys *keys, char *line, const struct place *place,
                                struct mt_error *err)
{
    char *rest = line;
    cut_comment(line);
    const char *key = strtok_r(line, " \t\r", &rest);
    if (!key)
        return MT_OK;
    enum mt_status status = check_key(key, place, err);
    if (!status)
        status = add_slot(keys, place, err);
    if (status)
        return status;
    struct slot *slot = &keys->slots[keys->n - 1];
    pad(key, slot->bytes);
    slot->line = place->line;
    slot->key.id = id_of(slot->bytes);
    slot->key.limits.max_text_chars = slot->key.limits.max_batch_texts = -1;
    for (size_t i = 0; i < MT_N_RATES; i++)
        slot->key.limits.rates[i] = -1;
    for (char *word; !status && (word = strtok_r(NULL, " \t\r", &rest));)
        status = set_option(&slot->key, word, place, err);
    return status;
}

static int compare(const void *a, const void *b)
{
    const struct slot *const *x = a, *const *y = b;
    return memcmp((*x)->bytes, (*y)->bytes, MT_MAX_KEY_BYTES);
}

static enum mt_status refuse_twins(const struct mt_keys *keys, const char *path,
                                   struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct slot **sorted = malloc((keys->n + 1) * sizeof sorted[0]);
    if (!sorted)
        return mt_fail_memory(err, keys->n * sizeof sorted[0], "keys");
    for (size_t i = 0; i < keys->n; i++)
        sorted[i] = &keys->slots[i];
    qsort(sorted, keys->n, sizeof sorted[0], compare);
    for (size_t i = 1; i < keys->n && !status; i++)
        if (compare(&sorted[i - 1], &sorted[i]) == 0)
            status = mt_fail(err, MT_INVALID, "%s: lines %zu and %zu: the same key", path,
                             sorted[i - 1]->line, sorted[i]->line);
    free(sorted);
    return status;
}

static enum mt_status read_lines(struct mt_keys *keys, const char *path, char *bytes, size_t length,
                                 struct mt_error *err)
{
    struct place place = {.path = path, .line = 1};
    if (memchr(bytes, '\0', length))
        return mt_fail(err, MT_INVALID, "%s: NUL byte: not a text file", path);
    for (char *line = bytes; line; place.line++) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        enum mt_status status = read_line(keys, line, &place, err);
        if (status)
            return status;
        line = end;
    }
    return refuse_twins(keys, path, err);
}

enum mt_status mt_keys_parse(char *bytes, size_t length, const char *path, struct mt_keys **out,
                             struct mt_error *err)
{
    struct mt_keys *keys = calloc(1, sizeof *keys);
    if (!keys)
        return mt_fail_memory(err, sizeof *keys, "keys");
    enum mt_status status = read_lines(keys, path, bytes, length, err);
    if (status) {
        mt_keys_destroy(keys);
        return status;
    }
    *out = keys;
    return MT_OK;
}

enum mt_status mt_keys_read(const char *path, struct mt_keys **out, struct mt_error *err)
{
    char *bytes;
    size_t length;
    struct stat st = {0};
    enum mt_status status = mt_file_read(path, MT_MAX_KEYS_FILE_BYTES, &bytes, &length, err);
    if (status)
        return status;
    status = mt_keys_parse(bytes, length, path, out, err);
    explicit_bzero(bytes, length);
    free(bytes);
    if (!status)
        (*out)->is_public = stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0;
    return status;
}

void mt_keys_destroy(struct mt_keys *keys)
{
    if (!keys)
        return;
    if (keys->slots)
        explicit_bzero(keys->slots, keys->capacity * sizeof keys->slots[0]);
    free(keys->slots);
    free(keys);
}

size_t mt_keys_count(const struct mt_keys *keys)
{
    return keys->n;
}

bool mt_keys_file_is_public(const struct mt_keys *keys)
{
    return keys->is_public;
}

enum mt_status mt_keys_open(const struct mt_settings *settings, struct mt_keys **out,
                            struct mt_error *err)
{
    *out = NULL;
    if (settings->api_keys_file[0] == '\0' && settings->key_required)
        return mt_fail(err, MT_INVALID,
                       "key_required is true, but there are no keys: api_keys_file is empty");
    if (settings->api_keys_file[0] == '\0')
        return MT_OK;
    enum mt_status status = mt_keys_read(settings->api_keys_file, out, err);
    return status ? mt_fail_in(err, status, "api_keys_file") : MT_OK;
}

void mt_key_owner(const struct mt_key *key, char out[MT_KEY_OWNER_BYTES])
{
    out[0] = '\0';
    if (key && key->name[0] != '\0')
        snprintf(out, MT_KEY_OWNER_BYTES, "name:%s", key->name);
    else if (key)
        snprintf(out, MT_KEY_OWNER_BYTES, "key:%016" PRIx64, key->id);
}
