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

static enum mt_status read_rule(const cJSON *root, enum mt_language_rule *out, struct mt_error *err)
{
    static const char *const names[] = {"", "source_and_target", "source_behind_and_target",
                                        "target"};
    const char *text = "";
    enum mt_status status = mt_json_get_string(root, "language_tokens", &text, NULL, err);
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum mt_language_rule)i;
            return MT_OK;
        }
    return status ? status
                  : mt_fail(err, MT_INVALID,
                            "language_tokens: expected \"source_and_target\", "
                            "\"source_behind_and_target\" or \"target\", found \"%s\"",
                            text);
}

static enum mt_status copy_text(struct mt_arena *arena, const char *text, const char **out,
                                struct mt_error *err)
{
    size_t length = text ? strlen(text) : 0;
    if (length == 0 || length >= MT_LANGUAGE_TOKEN_BYTES)
        return mt_fail(err, MT_INVALID,
                       "languages, special_tokens: expected 1 to %d bytes, found %zu",
                       MT_LANGUAGE_TOKEN_BYTES - 1, length);
    return mt_arena_copy_string(arena, text, length, out, err);
}

static enum mt_status read_languages(const cJSON *root, struct mt_arena *arena,
                                     struct mt_tokenizer_config *config, struct mt_error *err)
{
    const cJSON *item, *object = cJSON_GetObjectItemCaseSensitive(root, "languages");
    int n = cJSON_GetArraySize(object);
    if (!object)
        return MT_OK;
    if (!cJSON_IsObject(object) || n > MT_TOKENIZER_MAX_LANGUAGES)
        return mt_fail(err, MT_INVALID, "languages: expected an object of at most %d members",
                       MT_TOKENIZER_MAX_LANGUAGES);
    void *memory;
    enum mt_status status =
        mt_arena_take(arena, (size_t)n + 1, sizeof *config->languages, "languages", &memory, err);
    struct mt_tokenizer_language *list = memory;
    config->languages = list;
    cJSON_ArrayForEach(item, object)
    {
        struct mt_tokenizer_language *language = &list[config->n_languages];
        if (!status)
            status = copy_text(arena, item->string, &language->code, err);
        if (!status)
            status = copy_text(arena, cJSON_GetStringValue(item), &language->token, err);
        if (status)
            break;
        config->n_languages++;
    }
    return status;
}

static enum mt_status read_specials(const cJSON *root, struct mt_arena *arena,
                                    struct mt_tokenizer_config *config, struct mt_error *err)
{
    const cJSON *item, *array = cJSON_GetObjectItemCaseSensitive(root, "special_tokens");
    int n = cJSON_GetArraySize(array);
    if (!array)
        return MT_OK;
    if (!cJSON_IsArray(array) || n > MT_TOKENIZER_MAX_SPECIALS)
        return mt_fail(err, MT_INVALID, "special_tokens: expected an array of at most %d",
                       MT_TOKENIZER_MAX_SPECIALS);
    void *memory;
    enum mt_status status = mt_arena_take(arena, (size_t)n + 1, sizeof *config->specials,
                                          "special tokens", &memory, err);
    const char **list = memory;
    config->specials = list;
    cJSON_ArrayForEach(item, array)
    {
        if (!status)
            status = copy_text(arena, cJSON_GetStringValue(item), &list[config->n_specials], err);
        if (status)
            break;
        config->n_specials++;
    }
    return status;
}

/* Reads our own members, for other families. */
static enum mt_status read_own_keys(const cJSON *root, struct mt_arena *arena,
                                    struct mt_tokenizer_config *config, struct mt_error *err)
{
    enum mt_status status = read_token(root, "source_bos_token", arena, &config->source_bos, err);
    if (!status)
        status = read_token(root, "target_prefix_token", arena, &config->target_prefix, err);
    if (!status)
        status = mt_json_get_bool(root, "add_source_eos", &config->add_source_eos, NULL, err);
    if (!status)
        status = read_rule(root, &config->language_rule, err);
    if (!status)
        status = read_languages(root, arena, config, err);
    if (!status)
        status = read_specials(root, arena, config, err);
    if (!status && (config->language_rule != MT_LANGUAGES_UNSAID) != (config->n_languages > 0))
        status =
            mt_fail(err, MT_INVALID, "language_tokens and languages: expected both or neither");
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

static enum mt_status copy_lists(const struct mt_tokenizer_config *config, struct mt_arena *arena,
                                 struct mt_tokenizer_config *copy, struct mt_error *err)
{
    void *languages, *specials;
    enum mt_status status = mt_arena_take(arena, config->n_languages + 1, sizeof *config->languages,
                                          "languages", &languages, err);
    if (!status)
        status = mt_arena_take(arena, config->n_specials + 1, sizeof *config->specials,
                               "special tokens", &specials, err);
    if (status)
        return status;
    struct mt_tokenizer_language *language = languages;
    const char **special = specials;
    for (size_t i = 0; i < config->n_languages && !status; i++) {
        status = copy_text(arena, config->languages[i].code, &language[i].code, err);
        if (!status)
            status = copy_text(arena, config->languages[i].token, &language[i].token, err);
    }
    for (size_t i = 0; i < config->n_specials && !status; i++)
        status = copy_text(arena, config->specials[i], &special[i], err);
    copy->languages = language;
    copy->specials = special;
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
        status = copy_lists(config, arena, &copy, err);
    if (!status)
        *out = copy;
    return status;
}
