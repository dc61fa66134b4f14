#include "server/inspection/inspection_request.h"

#include "config/settings.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define MAX_INDEX 1000

/* Words --------------------------------------------------------------------------------------- */

/* Finds the index of text among words, which end with NULL. */
static enum mt_status find_word(const char *name, const char *text, size_t length,
                                const char *const *words, size_t *out, struct mt_error *err)
{
    struct mt_text expected = {0};
    for (size_t i = 0; words[i]; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) {
            mt_text_finish(&expected);
            *out = i;
            return MT_OK;
        }
        mt_text_appendf(&expected, "%s%s", i ? ", " : "", words[i]);
    }
    enum mt_status status =
        mt_fail(err, MT_INVALID, "%s: found \"%.*s\", expected one of %s", name,
                length > 40 ? 40 : (int)length, text, expected.length ? expected.bytes : "");
    mt_text_finish(&expected);
    return status;
}

static bool is_absent(const char *text)
{
    return !text || !text[0];
}

static enum mt_status find_optional(const char *name, const char *text, const char *const *words,
                                    size_t *out, struct mt_error *err)
{
    return is_absent(text) ? MT_OK : find_word(name, text, strlen(text), words, out, err);
}

enum mt_status mt_reduce_parse(const char *name, const char *text, enum mt_reduce *out,
                               struct mt_error *err)
{
    static const char *const words[] = {"none", "heads", "layers", "all", NULL};
    size_t found = (size_t)*out;
    enum mt_status status = find_optional(name, text, words, &found, err);
    *out = (enum mt_reduce)found;
    return status;
}

static enum mt_status parse_mode(const char *name, const char *text, enum mt_alignment_mode *out,
                                 struct mt_error *err)
{
    static const char *const words[] = {"mean", "max", NULL};
    size_t found = (size_t)*out;
    enum mt_status status = find_optional(name, text, words, &found, err);
    *out = (enum mt_alignment_mode)found;
    return status;
}

static enum mt_status parse_shift(const char *name, const char *text, enum mt_alignment_shift *out,
                                  struct mt_error *err)
{
    static const char *const words[] = {"output", "input", NULL};
    size_t found = (size_t)*out;
    enum mt_status status = find_optional(name, text, words, &found, err);
    *out = (enum mt_alignment_shift)found;
    return status;
}

static enum mt_status add_quantity(const char *text, size_t length, unsigned *include,
                                   struct mt_error *err)
{
    const char *words[MT_N_QUANTITIES] = {NULL}; /* without weights, and NULL at the end */
    size_t found;
    for (size_t i = 0; i + 1 < MT_N_QUANTITIES; i++)
        words[i] = mt_quantity_name((enum mt_quantity)(i + 1));
    enum mt_status status = find_word("include", text, length, words, &found, err);
    if (!status)
        *include |= 1u << (found + 1);
    return status;
}

static enum mt_status add_kind(const char *name, const char *text, size_t length, unsigned *kinds,
                               struct mt_error *err)
{
    static const char *const words[] = {"cross", "encoder", "decoder", NULL};
    static const unsigned values[] = {MT_TRACE_CROSS, MT_TRACE_ENCODER, MT_TRACE_DECODER};
    size_t found;
    enum mt_status status = find_word(name, text, length, words, &found, err);
    if (!status)
        *kinds |= values[found];
    return status;
}

enum mt_status mt_trace_kinds_parse(const char *name, const char *text, unsigned *out,
                                    struct mt_error *err)
{
    if (is_absent(text))
        return MT_OK;
    unsigned kinds = 0;
    for (;; text++) {
        size_t length = strcspn(text, ",");
        enum mt_status status = add_kind(name, text, length, &kinds, err);
        if (status)
            return status;
        text += length;
        if (!*text)
            break;
    }
    *out = kinds;
    return MT_OK;
}

static enum mt_status add_index(const char *name, double value, struct mt_index_list *list,
                                struct mt_error *err)
{
    if (!(value >= -MAX_INDEX && value <= MAX_INDEX) || value != (double)(int)value)
        return mt_fail(err, MT_INVALID,
                       "%s: found %g, expected whole numbers from 0, or from -1 "
                       "backwards",
                       name, value);
    if (list->n == MT_MAX_INDICES)
        return mt_fail(err, MT_LIMIT, "%s: at most %d numbers", name, MT_MAX_INDICES);
    list->values[list->n++] = (int)value;
    return MT_OK;
}

enum mt_status mt_index_list_parse(const char *name, const char *text, struct mt_index_list *out,
                                   struct mt_error *err)
{
    struct mt_index_list list = {0};
    if (is_absent(text))
        return MT_OK;
    for (const char *at = text;; at++) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || (*end && *end != ','))
            return mt_fail(err, MT_INVALID, "%s: found \"%.40s\", expected numbers like 0,2,-1",
                           name, text);
        enum mt_status status = add_index(name, (double)value, &list, err);
        if (status)
            return status;
        at = end;
        if (!*at)
            break;
    }
    *out = list;
    return MT_OK;
}

enum mt_status mt_alignment_parse(const struct mt_alignment_words *words,
                                  struct mt_alignment_choice *out, struct mt_error *err)
{
    enum mt_status status =
        mt_index_list_parse("alignment_layers", words->layers, &out->layers, err);
    if (!status)
        status = mt_index_list_parse("alignment_heads", words->heads, &out->heads, err);
    if (!status)
        status = parse_mode("alignment_mode", words->mode, &out->mode, err);
    return status ? status : parse_shift("alignment_shift", words->shift, &out->shift, err);
}

/* Fields -------------------------------------------------------------------------------------- */

static enum mt_status read_indices(const struct mt_params *params, const char *name,
                                   struct mt_index_list *out, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, name);
    struct mt_index_list list = {0};
    if (!value)
        return MT_OK;
    if (cJSON_IsString(value))
        return mt_index_list_parse(name, value->valuestring, out, err);
    if (!cJSON_IsArray(value) && !cJSON_IsNumber(value))
        return mt_fail(err, MT_INVALID, "%s: expected an array of numbers", name);
    const struct cJSON *item = cJSON_IsArray(value) ? value->child : value;
    for (; item; item = cJSON_IsArray(value) ? item->next : NULL) {
        if (!cJSON_IsNumber(item))
            return mt_fail(err, MT_INVALID, "%s: expected an array of numbers", name);
        enum mt_status status = add_index(name, item->valuedouble, &list, err);
        if (status)
            return status;
    }
    *out = list;
    return MT_OK;
}

/* *named: the request names kinds, or says that it wants none. */
static enum mt_status read_kinds(const struct mt_params *params, unsigned *kinds, bool *named,
                                 struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, "kinds");
    *named = value != NULL;
    if (!value)
        return MT_OK;
    if (cJSON_IsString(value))
        return mt_trace_kinds_parse("kinds", value->valuestring, kinds, err);
    if (!cJSON_IsArray(value))
        return mt_fail(err, MT_INVALID,
                       "kinds: expected an array of \"cross\", \"encoder\" and \"decoder\"");
    for (const struct cJSON *item = value->child; item; item = item->next) {
        if (!cJSON_IsString(item))
            return mt_fail(err, MT_INVALID, "kinds: expected an array of strings");
        enum mt_status status =
            add_kind("kinds", item->valuestring, strlen(item->valuestring), kinds, err);
        if (status)
            return status;
    }
    return MT_OK;
}

static enum mt_status read_include(const struct mt_params *params, unsigned *include,
                                   struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, "include");
    enum mt_status status = MT_OK;
    if (cJSON_IsString(value)) {
        const char *text = value->valuestring;
        while (*text && !status) {
            size_t length = strcspn(text, ",");
            status = add_quantity(text, length, include, err);
            text += length + (text[length] == ',');
        }
        return status;
    }
    if (value && !cJSON_IsArray(value))
        return mt_fail(err, MT_INVALID, "include: expected an array of names like \"queries\"");
    for (const struct cJSON *item = value ? value->child : NULL; item && !status; item = item->next)
        status = cJSON_IsString(item)
                     ? add_quantity(item->valuestring, strlen(item->valuestring), include, err)
                     : mt_fail(err, MT_INVALID, "include: expected an array of strings");
    return status;
}

struct choice_names {
    const char *layers, *heads, *mode, *shift;
};

static enum mt_status read_choice(const struct mt_params *params, const struct choice_names *names,
                                  struct mt_alignment_choice *choice, struct mt_error *err)
{
    const char *mode = NULL, *shift = NULL;
    enum mt_status status = read_indices(params, names->layers, &choice->layers, err);
    if (!status)
        status = read_indices(params, names->heads, &choice->heads, err);
    if (!status)
        status = mt_params_string(params, names->mode, &mode, NULL, err);
    if (!status)
        status = parse_mode(names->mode, mode, &choice->mode, err);
    if (!status)
        status = mt_params_string(params, names->shift, &shift, NULL, err);
    if (!status)
        status = parse_shift(names->shift, shift, &choice->shift, err);
    return status;
}

static enum mt_status read_alignment(const struct mt_params *params,
                                     struct mt_alignment_choice *choice, struct mt_error *err)
{
    static const struct choice_names flat = {"alignment_layers", "alignment_heads",
                                             "alignment_mode", "alignment_shift"};
    static const struct choice_names nested = {"layers", "heads", "mode", "shift"};
    const struct cJSON *value = mt_params_get(params, "alignment");
    enum mt_status status = read_choice(params, &flat, choice, err);
    if (status || !value)
        return status;
    if (!cJSON_IsObject(value))
        return mt_fail(err, MT_INVALID,
                       "alignment: expected an object with layers, heads, mode and shift");
    const struct mt_params inner = {.object = (struct cJSON *)value};
    status = mt_fields_check_names(value, MT_FIELDS_OF_ALIGNMENT, "/attention", err);
    if (!status)
        status = read_choice(&inner, &nested, choice, err);
    return status ? mt_fail_in(err, status, "alignment") : MT_OK;
}

void mt_inspection_default_kinds(struct mt_inspection_options *options)
{
    if (options->layers.n || options->heads.n || options->include ||
        options->reduce != MT_REDUCE_NONE)
        options->kinds = MT_TRACE_CROSS;
}

enum mt_status mt_inspection_request_read(const struct mt_params *params,
                                          const struct mt_fields *fields,
                                          struct mt_inspection_request *request,
                                          struct mt_error *err)
{
    struct mt_inspection_options *options = &request->options;
    bool has_kinds;
    *options = (struct mt_inspection_options){
        .alignment = options->alignment,
        .max_values = options->max_values,
        .decimals = (int)fields->precision,
        .n_top = (size_t)fields->next_tokens,
        .has_lens = fields->logit_lens >= 0,
        .n_lens = fields->logit_lens >= 0 ? (size_t)fields->logit_lens : 0,
        .search = fields->search,
    };
    request->sentence = fields->sentence < 0 ? MT_ALL_SENTENCES : (size_t)fields->sentence;
    request->format = MT_FORMAT_JSON;
    enum mt_status status = MT_OK;
    if (!is_absent(fields->format))
        status = mt_inspection_format_parse(fields->format, &request->format, err);
    if (!status)
        status = read_kinds(params, &options->kinds, &has_kinds, err);
    if (!status)
        status = read_indices(params, "layers", &options->layers, err);
    if (!status)
        status = read_indices(params, "heads", &options->heads, err);
    if (!status)
        status = read_include(params, &options->include, err);
    if (!status)
        status = read_indices(params, "steps", &options->steps, err);
    if (!status)
        status = mt_reduce_parse("reduce", fields->reduce, &options->reduce, err);
    if (!status)
        status = read_alignment(params, &options->alignment, err);
    if (!status && !has_kinds)
        mt_inspection_default_kinds(options);
    return status;
}
