#include "model/tokenizer/tokenizer_config.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <string.h>

/* A token is written as "</s>" or, by newer versions, as {"content": "</s>", ...}. */
static enum mt_status read_token(const cJSON *root, const char *key, struct mt_arena *arena,
                                 const char **out, struct mt_error *err)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(root, key);
    const char *text = NULL;
    enum mt_status status = cJSON_IsObject(object)
                                ? mt_json_get_string(object, "content", &text, NULL, err)
                                : mt_json_get_string(root, key, &text, NULL, err);
    if (status || !text)
        return status;
    if (!*text)
        return mt_fail(err, MT_INVALID, "%s is \"\", expected a token", key);
    return mt_arena_copy_string(arena, text, strlen(text), out, err);
}

static enum mt_status read_lang(const cJSON *root, const char *key, struct mt_arena *arena,
                                const char **out, struct mt_error *err)
{
    const char *text = NULL;
    enum mt_status status = mt_json_get_string(root, key, &text, NULL, err);
    if (status || !text)
        return status;
    return mt_arena_copy_string(arena, text, strlen(text), out, err);
}

/* Our keys, for other families. */
static enum mt_status read_own_keys(const cJSON *root, struct mt_arena *arena,
                                    struct mt_tokenizer_config *config, struct mt_error *err)
{
    enum mt_status status = read_token(root, "source_bos_token", arena, &config->source_bos, err);
    if (!status)
        status = read_token(root, "target_prefix_token", arena, &config->target_prefix, err);
    if (!status)
        status = mt_json_get_bool(root, "add_source_eos", &config->add_source_eos, NULL, err);
    return status;
}

static enum mt_status read_keys(const cJSON *root, struct mt_arena *arena,
                                struct mt_tokenizer_config *config, struct mt_error *err)
{
    enum mt_status status;
    const cJSON *class = cJSON_GetObjectItemCaseSensitive(root, "tokenizer_class");
    bool separate = false, found = false;
    if ((status = read_token(root, "eos_token", arena, &config->eos, err)) ||
        (status = read_token(root, "unk_token", arena, &config->unk, err)) ||
        (status = read_token(root, "pad_token", arena, &config->pad, err)) ||
        (status = read_lang(root, "source_lang", arena, &config->source_lang, err)) ||
        (status = read_lang(root, "target_lang", arena, &config->target_lang, err)) ||
        (status = mt_json_get_bool(root, "clean_up_tokenization_spaces", &config->clean_up, NULL,
                                   err)) ||
        (status = mt_json_get_bool(root, "separate_vocabs", &separate, &found, err)))
        return status;
    if (found)
        config->separate_vocabs = separate ? MT_SWITCH_ON : MT_SWITCH_OFF;
    if (cJSON_IsString(class) && strcmp(class->valuestring, MT_OWN_TOKENIZER_CLASS) == 0)
        return read_own_keys(root, arena, config, err);
    return MT_OK;
}

static enum mt_status parse(const char *bytes, size_t length, const char *path,
                            struct mt_arena *arena, struct mt_tokenizer_config *config,
                            struct mt_error *err)
{
    static const struct mt_json_limits limits = {.max_values = MT_TOKENIZER_CONFIG_MAX_VALUES};
    cJSON *root = NULL;
    enum mt_status status = mt_json_parse(bytes, length, &limits, path, &root, err);
    if (!status && !cJSON_IsObject(root))
        status = mt_fail(err, MT_FORMAT, "%s: expected an object", path);
    if (!status && (status = read_keys(root, arena, config, err)))
        status = mt_fail_in(err, status, path);
    cJSON_Delete(root);
    return status;
}

enum mt_status mt_tokenizer_config_parse(const char *bytes, size_t length, const char *path,
                                         struct mt_arena *arena, struct mt_tokenizer_config *out,
                                         struct mt_error *err)
{
    struct mt_tokenizer_config config = {
        .eos = "</s>", .unk = "<unk>", .pad = "<pad>", .add_source_eos = true};
    enum mt_status status = bytes ? parse(bytes, length, path, arena, &config, err) : MT_OK;
    if (!status)
        *out = config;
    return status;
}

enum mt_status mt_tokenizer_config_copy(const struct mt_tokenizer_config *config,
                                        struct mt_arena *arena, struct mt_tokenizer_config *out,
                                        struct mt_error *err)
{
    struct mt_tokenizer_config copy = *config;
    const char **const strings[] = {
        &copy.eos,         &copy.unk,        &copy.pad,           &copy.source_lang,
        &copy.target_lang, &copy.source_bos, &copy.target_prefix,
    };
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof strings / sizeof *strings && !status; i++)
        if (*strings[i])
            status = mt_arena_copy_string(arena, *strings[i], strlen(*strings[i]), strings[i], err);
    if (!status)
        *out = copy;
    return status;
}
