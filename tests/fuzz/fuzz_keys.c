/*
 * Feeds files of API keys to their reader. A file that is accepted has keys that are found again
 * under the limits that a line may state; no message holds what may be a piece of a key.
 */
#include "server/service/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_keys(const struct mt_keys *keys, const char *bytes, size_t length)
{
    char word[MT_MAX_KEY_BYTES + 2];
    size_t n_words = 0;
    assert(mt_keys_count(keys) <= MT_MAX_KEYS);
    for (size_t i = 0; i < length && n_words < 64; n_words++) {
        size_t n = 0;
        while (i < length && strchr(" \t\r\n", bytes[i]))
            i++;
        for (; i < length && !strchr(" \t\r\n", bytes[i]); i++)
            if (n < sizeof word - 1)
                word[n++] = bytes[i];
        word[n] = '\0';
        const struct mt_key *key = mt_keys_find(keys, word);
        if (!key)
            continue;
        assert(n >= MT_MIN_KEY_BYTES && n <= MT_MAX_KEY_BYTES && key->id != 0);
        assert(strlen(key->name) <= MT_MAX_KEY_NAME_BYTES);
        assert(key->limits.max_text_chars == -1 || key->limits.max_text_chars > 0);
        for (size_t rate = 0; rate < MT_N_RATES; rate++)
            assert(key->limits.rates[rate] >= -1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_keys *keys;
    struct mt_error err;
    char *bytes = malloc(size + 1);
    assert(bytes);
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    enum mt_status status = mt_keys_parse(bytes, size, "fuzz", &keys, &err);
    free(bytes);
    if (status) {
        assert(status == MT_INVALID || status == MT_LIMIT);
        assert(strlen(err.message) > 0);
        return 0;
    }
    check_keys(keys, (const char *)data, size);
    mt_keys_destroy(keys);
    return 0;
}
