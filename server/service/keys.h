/*
 * API keys from a file: one per line, with the options of its owner. Blank lines are ignored, and
 * comments, which begin with a '#' at the beginning of a word.
 *
 *   # key                               options, in any order
 *   3f0c9a34-77aa-4f0e-a3c1-8f6f5b7f8a10
 *   8c2d51e0b6f94a1d                    name=alice requests_per_minute=120 chars_per_day=1000000
 *
 * A key is 8 to 128 printable ASCII characters without blanks and '#'. Options:
 *
 *   name                  up to 64 characters, for the file's author; never shown to clients
 *   requests_per_minute, requests_per_hour, requests_per_day, chars_per_day, max_text_chars,
 *   max_batch_texts       as the settings of these names, but only for this key; 0: no limit
 *
 * Missing options have the settings' values, but are counted for the key instead of the address.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_SERVER_SERVICE_KEYS_H
#define MT_SERVER_SERVICE_KEYS_H

#include "server/http/limiter.h"

struct mt_settings;
struct mt_keys;

#define MT_MAX_KEYS 10000
#define MT_MIN_KEY_BYTES 8
#define MT_MAX_KEY_BYTES 128
#define MT_MAX_KEY_NAME_BYTES 64
#define MT_MAX_KEYS_FILE_BYTES ((size_t)4 << 20)

struct mt_key {
    uint64_t id; /* equal for the same key in any file, and reveals nothing about it */
    char name[MT_MAX_KEY_NAME_BYTES + 1];
    struct mt_limits limits; /* -1: the value of the settings */
};

/* MT_NOT_FOUND and MT_IO where the file cannot be read, MT_LIMIT where it is too large, MT_INVALID
 * with the line for any fault in it. No message contains a key. */
MT_MUST_CHECK enum mt_status mt_keys_read(const char *path, struct mt_keys **out,
                                          struct mt_error *err);
/* Reads keys from memory instead of a file. The memory is changed; bytes[length] is NUL. path is
 * for messages. MT_INVALID as for mt_keys_read. */
MT_MUST_CHECK enum mt_status mt_keys_parse(char *bytes, size_t length, const char *path,
                                           struct mt_keys **out, struct mt_error *err);
/* NULL is allowed. The keys are erased from memory. */
void mt_keys_destroy(struct mt_keys *keys);

size_t mt_keys_count(const struct mt_keys *keys);

/* Whether users other than the file's owner could read it. */
bool mt_keys_file_is_public(const struct mt_keys *keys);

/* Returns NULL where there is no such key. The time this takes depends only on the number of
 * keys. */
const struct mt_key *mt_keys_find(const struct mt_keys *keys, const char *key);

/* Writes the owner of what a client stores: "name:" or "key:" and the key's value for that, so that
 * keys of the same name share it; "" without a key. */
#define MT_KEY_OWNER_BYTES (MT_MAX_KEY_NAME_BYTES + 8)
void mt_key_owner(const struct mt_key *key, char out[MT_KEY_OWNER_BYTES]);

/* Compares in a time that depends only on the length of b. */
bool mt_secret_equals(const char *secret, const char *b);

/* Reads settings->api_keys_file; NULL where it is empty. Errors of mt_keys_read, and MT_INVALID for
 * key_required without a file. */
MT_MUST_CHECK enum mt_status mt_keys_open(const struct mt_settings *settings, struct mt_keys **out,
                                          struct mt_error *err);

#endif
