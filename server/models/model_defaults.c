#include "server/models/model_defaults.h"

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/size.h"
#include "config/settings.h"
#include "model/files/hparams.h"
#include "server/store/origin.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* Largest values in attentiond.json. The first three are the limits of the settings, too. */
#define MAX_LENGTH_PENALTY 10
#define MAX_DECODING_LENGTH 100000
#define MAX_LENGTH_FACTOR 1000
#define MAX_QUALITY 1e6
#define MAX_LANGUAGES 1024
#define MAX_NAME_BYTES 63

static const char *const keys[] = {
    "source_lang",     "target_lang",         "aliases",           "beam_size",
    "length_penalty",  "max_decoding_length", "max_length_factor", "alignment_layers",
    "alignment_heads", "alignment_mode",      "alignment_shift",   "preload",
    "quality",
};

static enum mt_status check_keys(const cJSON *root, struct mt_error *err)
{
    for (const cJSON *member = root->child; member; member = member->next) {
        struct mt_nearest nearest;
        bool is_known = strncmp(member->string, "//", 2) == 0;
        mt_nearest_begin(&nearest, member->string);
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            is_known |= strcmp(member->string, keys[i]) == 0;
            mt_nearest_offer(&nearest, keys[i]);
        }
        if (!is_known && nearest.best)
            return mt_fail(err, MT_INVALID, "\"%.48s\" is no member: did you mean \"%s\"?",
                           member->string, nearest.best);
        if (!is_known)
            return mt_fail(err, MT_INVALID, "\"%.48s\" is no member", member->string);
    }
    return MT_OK;
}

/* ---- names: a string, or an array of strings ---- */

struct names {
    const char *key, *expected;
    /* Writes the normalised name; false where it is not valid. */
    bool (*read)(const char *text, char out[MAX_NAME_BYTES + 1]);
    size_t max;
};

static bool read_language(const char *text, char out[MAX_NAME_BYTES + 1])
{
    return mt_language_normalise(text, out);
}

/* Accepts names that suit URLs and labels of metrics. */
static bool read_alias(const char *text, char out[MAX_NAME_BYTES + 1])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    size_t length = strlen(text);
    if (length == 0 || length > MAX_NAME_BYTES || strspn(text, plain) != length || text[0] == '.')
        return false;
    memcpy(out, text, length + 1);
    return true;
}

static enum mt_status add_name(const struct names *names, const cJSON *value,
                               struct mt_arena *arena, const char **out, struct mt_error *err)
{
    char name[MAX_NAME_BYTES + 1];
    if (!cJSON_IsString(value))
        return mt_fail(err, MT_INVALID, "%s: expected %s, or several in an array", names->key,
                       names->expected);
    if (!names->read(value->valuestring, name))
        return mt_fail(err, MT_INVALID, "%s: found \"%.60s\", expected %s", names->key,
                       value->valuestring, names->expected);
    return mt_arena_copy_string(arena, name, strlen(name), out, err);
}

static enum mt_status read_names(const cJSON *root, const struct names *names,
                                 struct mt_arena *arena, const char *const **out, size_t *out_n,
                                 struct mt_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(root, names->key);
    void *list;
    if (!value || cJSON_IsNull(value))
        return MT_OK;
    const cJSON *first = cJSON_IsArray(value) ? value->child : value;
    size_t n = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 1;
    if (n > names->max)
        return mt_fail(err, MT_LIMIT, "%s: found %zu, expected at most %zu", names->key, n,
                       names->max);
    enum mt_status status = mt_arena_take(arena, n, sizeof **out, "names", &list, err);
    for (size_t i = 0; i < n && !status; i++, first = first->next)
        status = add_name(names, first, arena, &((const char **)list)[i], err);
    if (!status) {
        *out = list;
        *out_n = n;
    }
    return status;
}

/* ---- numbers ---- */

static enum mt_status read_size(const cJSON *root, const char *key, int64_t high, size_t *out,
                                struct mt_error *err)
{
    int64_t value = 0;
    enum mt_status status = mt_json_get_integer(root, key, 1, high, &value, NULL, err);
    if (!status)
        *out = (size_t)value;
    return status;
}

/* Reads "0,1", or [0, 1], which becomes "0,1". */
static enum mt_status read_indices(const cJSON *root, const char *key, struct mt_arena *arena,
                                   const char **out, struct mt_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(root, key);
    struct mt_text text = {0};
    if (!value || cJSON_IsNull(value))
        return MT_OK;
    if (cJSON_IsString(value))
        return mt_arena_copy_string(arena, value->valuestring, strlen(value->valuestring), out,
                                    err);
    if (!cJSON_IsArray(value))
        return mt_fail(err, MT_INVALID, "%s: expected numbers, as in [0, 1] or \"0,1\"", key);
    enum mt_status status = MT_OK;
    for (const cJSON *item = value->child; item && !status; item = item->next) {
        int number = cJSON_IsNumber(item) ? item->valueint : 0;
        if (!cJSON_IsNumber(item) || (double)number != item->valuedouble)
            status = mt_fail(err, MT_INVALID, "%s: expected whole numbers", key);
        mt_text_appendf(&text, "%s%d", item == value->child ? "" : ",", number);
    }
    if (!status)
        status = mt_text_check(&text, key, err);
    if (!status)
        status = mt_arena_copy_string(arena, text.bytes ? text.bytes : "", text.length, out, err);
    mt_text_finish(&text);
    return status;
}

/* Reads a word. Its meaning depends on the model's shape and is checked later (model_check.h). */
static enum mt_status read_word(const cJSON *root, const char *key, struct mt_arena *arena,
                                const char **out, struct mt_error *err)
{
    const char *word = NULL;
    enum mt_status status = mt_json_get_string(root, key, &word, NULL, err);
    return status || !word ? status : mt_arena_copy_string(arena, word, strlen(word), out, err);
}

/* ---- all of it ---- */

static enum mt_status read_members(const cJSON *root, struct mt_arena *arena,
                                   struct mt_model_defaults *out, struct mt_error *err)
{
    static const char code[] = "a language code";
    const struct names source = {"source_lang", code, read_language, MAX_LANGUAGES};
    const struct names target = {"target_lang", code, read_language, MAX_LANGUAGES};
    const struct names aliases = {"aliases", "a name of letters, digits, '-', '.' and '_'",
                                  read_alias, MT_MODEL_MAX_ALIASES};
    enum mt_status status;
    if ((status = check_keys(root, err)) ||
        (status =
             read_names(root, &source, arena, &out->source_langs, &out->n_source_langs, err)) ||
        (status =
             read_names(root, &target, arena, &out->target_langs, &out->n_target_langs, err)) ||
        (status = read_names(root, &aliases, arena, &out->aliases, &out->n_aliases, err)) ||
        (status = read_size(root, "beam_size", MT_MAX_BEAMS, &out->beam_size, err)) ||
        (status = mt_json_get_number(root, "length_penalty", 0, MAX_LENGTH_PENALTY,
                                     &out->length_penalty, NULL, err)) ||
        (status = read_size(root, "max_decoding_length", MAX_DECODING_LENGTH,
                            &out->max_decoding_length, err)) ||
        (status = mt_json_get_number(root, "max_length_factor", 0, MAX_LENGTH_FACTOR,
                                     &out->max_length_factor, NULL, err)) ||
        (status = read_indices(root, "alignment_layers", arena, &out->alignment.layers, err)) ||
        (status = read_indices(root, "alignment_heads", arena, &out->alignment.heads, err)) ||
        (status = read_word(root, "alignment_mode", arena, &out->alignment.mode, err)) ||
        (status = read_word(root, "alignment_shift", arena, &out->alignment.shift, err)) ||
        (status = mt_json_get_bool(root, "preload", &out->preload, NULL, err)))
        return status;
    return mt_json_get_number(root, "quality", -MAX_QUALITY, MAX_QUALITY, &out->quality,
                              &out->says_quality, err);
}

/* ---- files that came with the model ---- */

static const char *const operators[] = {"aliases", "preload", "quality"};
enum { N_OPERATORS = sizeof operators / sizeof operators[0] };

/* Resets what the author of a model may not decide. */
static enum mt_status leave_out(const cJSON *root, struct mt_arena *arena,
                                struct mt_model_defaults *defaults, struct mt_error *err)
{
    struct mt_text list = {0};
    for (size_t i = 0; i < N_OPERATORS; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(root, operators[i]);
        if (value && !cJSON_IsNull(value))
            mt_text_appendf(&list, "%s%s", list.length > 0 ? ", " : "", operators[i]);
    }
    defaults->aliases = NULL;
    defaults->n_aliases = 0;
    defaults->preload = defaults->says_quality = false;
    defaults->quality = 0;
    enum mt_status status = mt_text_check(&list, MT_MODEL_DEFAULTS_FILE, err);
    if (!status && list.length > 0)
        status = mt_arena_copy_string(arena, list.bytes, list.length, &defaults->left_out, err);
    mt_text_finish(&list);
    return status;
}

enum mt_status mt_model_defaults_strip(const char *directory, struct mt_error *err)
{
    cJSON *root = NULL;
    char *path, *text = NULL;
    enum mt_status status = mt_path_join(directory, MT_MODEL_DEFAULTS_FILE, &path, err);
    if (status)
        return status;
    status = mt_json_read_file(path, MT_MODEL_DEFAULTS_MAX_BYTES, NULL, &root, err);
    for (size_t i = 0; i < N_OPERATORS && !status; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(root, operators[i]);
    if (!status && !(text = cJSON_Print(root)))
        status = mt_fail_memory(err, MT_MODEL_DEFAULTS_MAX_BYTES, path);
    if (!status)
        status = mt_file_write(path, text, strlen(text), err);
    cJSON_Delete(root);
    cJSON_free(text);
    free(path);
    return status;
}

size_t mt_model_defaults_beam_size(const struct mt_model_defaults *defaults,
                                   const struct mt_settings *settings)
{
    size_t own = defaults->beam_size, ours = (size_t)settings->beam_size;
    if (own == 0)
        return ours;
    if (defaults->is_brought && ours > 0)
        own = mt_size_min(own, ours);
    return mt_size_min(own, (size_t)settings->max_beam_size);
}

size_t mt_model_defaults_max_length(const struct mt_model_defaults *defaults,
                                    const struct mt_settings *settings)
{
    size_t own = defaults->max_decoding_length, ours = (size_t)settings->max_decoding_length;
    if (own == 0 || (defaults->is_brought && ours > 0 && ours < own))
        return ours;
    return own;
}

double mt_model_defaults_length_factor(const struct mt_model_defaults *defaults,
                                       const struct mt_settings *settings)
{
    double own = defaults->max_length_factor, ours = settings->max_length_factor;
    bool is_wider = own == 0 || own > ours; /* 0: no limit */
    return defaults->is_brought && own >= 0 && ours > 0 && is_wider ? ours : own;
}

/* ---- the file ---- */

enum mt_status mt_model_defaults_read(const char *directory, struct mt_arena *arena,
                                      struct mt_model_defaults *out, struct mt_error *err)
{
    struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    cJSON *root = NULL;
    char *path;
    enum mt_status status = mt_path_join(directory, MT_MODEL_DEFAULTS_FILE, &path, err);
    if (status)
        return status;
    if (mt_path_exists(path) == MT_OK) {
        status = mt_json_read_file(path, MT_MODEL_DEFAULTS_MAX_BYTES, NULL, &root, err);
        if (!status && !cJSON_IsObject(root))
            status = mt_fail(err, MT_FORMAT, "%s: expected an object", path);
        else if (!status && (status = read_members(root, arena, &defaults, err)))
            status = mt_fail_in(err, status, path);
        if (!status)
            status = mt_origin_brought(directory, MT_MODEL_DEFAULTS_FILE,
                                       MT_MODEL_DEFAULTS_MAX_BYTES, &defaults.is_brought, err);
        if (!status && defaults.is_brought)
            status = leave_out(root, arena, &defaults, err);
        cJSON_Delete(root);
    }
    free(path);
    if (!status)
        *out = defaults;
    return status;
}
