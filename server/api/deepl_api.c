#include "server/api/deepl_api.h"

#include "server/api/languages_api.h"
#include "server/api/translate_api.h"
#include "server/http/fields.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

#define NO_CHARACTER_LIMIT INT64_C(1000000000000)

/* ---- POST /v2/translate: DeepL's fields become ours ---- */

enum mt_status mt_deepl_refuse_value(const char *name, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "Value for '%s' not supported.", name);
}

enum mt_status mt_deepl_refuse_unsupported(const struct mt_params *params,
                                           const struct mt_fields *given, struct mt_error *err)
{
    static const char *const names[] = {"glossary_ids", "style_id", "custom_instructions"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct cJSON *value = mt_params_get(params, names[i]);
        bool is_empty = !value || (cJSON_IsString(value) && value->valuestring[0] == '\0') ||
                        (cJSON_IsArray(value) && !value->child);
        if (!is_empty)
            return mt_fail(err, MT_INVALID, "'%s' is not supported.", names[i]);
    }
    if (strcmp(given->formality, "more") == 0 || strcmp(given->formality, "less") == 0)
        return mt_fail(err, MT_INVALID, "'formality' is not supported for given 'target_lang'.");
    static const char *const formalities[] = {"", "default", "prefer_more", "prefer_less"};
    for (size_t i = 0; i < sizeof formalities / sizeof *formalities; i++)
        if (strcmp(given->formality, formalities[i]) == 0)
            return MT_OK;
    return mt_deepl_refuse_value("formality", err);
}

/* Makes blanks of line breaks, where these would end sentences. */
static void join_lines(char *text)
{
    for (; (text = strpbrk(text, "\r\n")); text++)
        *text = ' ';
}

static enum mt_status add_text(struct cJSON *q, const struct cJSON *text, bool joins_lines,
                               struct mt_error *err)
{
    if (!cJSON_IsString(text))
        return mt_fail(err, MT_INVALID, "Parameter 'text' must be an array of strings.");
    struct cJSON *copy = cJSON_CreateString(text->valuestring);
    if (!copy)
        return mt_fail_memory(err, strlen(text->valuestring), "a text");
    if (joins_lines)
        join_lines(copy->valuestring);
    cJSON_AddItemToArray(q, copy);
    return MT_OK;
}

static enum mt_status add_texts(const struct mt_params *params, struct cJSON *fields,
                                bool joins_lines, struct mt_error *err)
{
    const struct cJSON *text = mt_params_get(params, "text");
    enum mt_status status = MT_OK;
    if (!text || (cJSON_IsArray(text) && !text->child))
        return mt_fail(err, MT_INVALID, "Parameter 'text' not specified.");
    struct cJSON *q = cJSON_AddArrayToObject(fields, "q");
    if (!q)
        return mt_fail_memory(err, sizeof *q, "texts");
    if (cJSON_IsArray(text)) {
        for (text = text->child; text && !status; text = text->next)
            status = add_text(q, text, joins_lines, err);
        return status;
    }
    for (; text && !status; text = mt_params_next(text))
        status = add_text(q, text, joins_lines, err);
    return status;
}

static enum mt_status add_string(struct cJSON *fields, const char *name, const char *value,
                                 struct mt_error *err)
{
    return cJSON_AddStringToObject(fields, name, value)
               ? MT_OK
               : mt_fail_memory(err, strlen(value), "a field");
}

enum mt_status mt_deepl_read_languages(const struct mt_service *service,
                                       const struct mt_fields *given, const char **source,
                                       const char **target, struct mt_error *err)
{
    struct mt_language_pair pair;
    *source = given->source_lang;
    *target = given->target_lang;
    enum mt_status status = mt_languages_check_target(service, NULL, *target, &pair, err);
    if (status)
        return status == MT_INVALID ? mt_deepl_refuse_value("target_lang", err) : status;
    if ((*source)[0] == '\0')
        *source = "auto";
    else
        status = mt_languages_check(service, NULL, *source, *target, &pair, err);
    return status == MT_INVALID ? mt_deepl_refuse_value("source_lang", err) : status;
}

static enum mt_status add_languages(const struct mt_service *service, const struct mt_fields *given,
                                    struct cJSON *fields, struct mt_error *err)
{
    const char *source, *target;
    enum mt_status status = mt_deepl_read_languages(service, given, &source, &target, err);
    if (!status)
        status = add_string(fields, "source", source, err);
    return status ? status : add_string(fields, "target", target, err);
}

static enum mt_status add_splitting(const char *split, struct cJSON *fields, struct mt_error *err)
{
    if (strcmp(split, "0") == 0)
        return add_string(fields, "split_sentences", "off", err);
    if (split[0] != '\0' && strcmp(split, "1") != 0 && strcmp(split, "nonewlines") != 0)
        return mt_deepl_refuse_value("split_sentences", err);
    return add_string(fields, "split_sentences", "on", err);
}

/* Copies the fields unchanged, since /translate checks them. */
static enum mt_status copy_fields(const struct mt_params *params, const char *const *names,
                                  size_t n, struct cJSON *fields, struct mt_error *err)
{
    for (size_t i = 0; i < n; i++)
        for (const struct cJSON *value = mt_params_get(params, names[i]); value;
             value = mt_params_next(value)) {
            struct cJSON *copy = cJSON_Duplicate(value, true);
            if (!copy || !cJSON_AddItemToObject(fields, names[i], copy)) {
                cJSON_Delete(copy);
                return mt_fail_memory(err, sizeof *copy, "a field");
            }
            if (!params->is_text)
                break;
        }
    return MT_OK;
}

static enum mt_status add_tag_handling(const struct mt_params *params,
                                       const struct mt_fields *given, struct cJSON *fields,
                                       struct mt_error *err)
{
    static const char *const names[] = {"ignore_tags", "splitting_tags", "non_splitting_tags"};
    const char *handling = given->tag_handling;
    if (handling[0] == '\0')
        return MT_OK;
    if (strcmp(handling, "html") != 0 && strcmp(handling, "xml") != 0)
        return mt_deepl_refuse_value("tag_handling", err);
    enum mt_status status = copy_fields(params, names, sizeof names / sizeof *names, fields, err);
    if (!status && !cJSON_AddBoolToObject(fields, "outline_detection", given->outline_detection))
        status = mt_fail_memory(err, sizeof *fields, "a field");
    return status ? status : add_string(fields, "format", handling, err);
}

static enum mt_status add_fields(const struct mt_request *request, struct cJSON *fields,
                                 struct mt_error *err)
{
    const struct mt_params *params = &request->params;
    const struct mt_service *service = request->service;
    struct mt_fields given;
    enum mt_status status =
        mt_fields_read(params, MT_FIELDS_OF_DEEPL, service->settings, &given, err);
    if (!status)
        status = mt_deepl_refuse_unsupported(params, &given, err);
    if (!status)
        status = add_tag_handling(params, &given, fields, err);
    if (!status)
        status = add_splitting(given.split_sentences, fields, err);
    /* In HTML line breaks are blanks anyway. */
    if (!status)
        status = add_texts(params, fields,
                           strcmp(given.split_sentences, "nonewlines") == 0 &&
                               strcmp(given.tag_handling, "html") != 0,
                           err);
    if (!status)
        status = add_languages(service, &given, fields, err);
    if (!status && given.glossary_id[0] != '\0')
        status = add_string(fields, "glossary_id", given.glossary_id, err);
    if (!status && given.translation_memory_id[0] != '\0')
        status = add_string(fields, "translation_memory_id", given.translation_memory_id, err);
    if (!status && !cJSON_AddNumberToObject(fields, "translation_memory_threshold",
                                            (double)given.translation_memory_threshold))
        status = mt_fail_memory(err, sizeof *fields, "a field");
    if (!status &&
        !cJSON_AddBoolToObject(fields, "show_billed_characters", given.show_billed_characters))
        status = mt_fail_memory(err, sizeof *fields, "a field");
    return status;
}

static enum mt_status take_fields(struct mt_request *request, struct mt_error *err)
{
    struct cJSON *fields = cJSON_CreateObject();
    if (!fields)
        return mt_fail_memory(err, sizeof *fields, "fields");
    enum mt_status status = add_fields(request, fields, err);
    if (status) {
        cJSON_Delete(fields);
        return status;
    }
    mt_params_finish(&request->params);
    request->params.object = fields;
    return MT_OK;
}

static enum mt_status choose_model(struct mt_request *request, struct mt_served_model **out,
                                   struct mt_error *err)
{
    enum mt_status status = !request->state ? take_fields(request, err) : MT_OK;
    return status ? status : mt_translate_handler.choose(request, out, err);
}

static enum mt_status begin_translate(struct mt_request *request, struct mt_error *err)
{
    return mt_translate_handler.begin(request, err);
}

/* Writes a language code as "EN" for "en-US", or completely in capitals where the region counts. */
static void write_code(struct mt_json_writer *writer, const char *key, const char *code,
                       bool has_region)
{
    char capitals[MT_LANGUAGE_BYTES];
    size_t n = has_region ? strlen(code) : strcspn(code, "-");
    for (size_t i = 0; i < n; i++)
        capitals[i] = (char)toupper((unsigned char)code[i]);
    mt_json_member_bytes(writer, key, capitals, n);
}

static enum mt_status write_translation(struct mt_json_writer *writer,
                                        const struct mt_request *request, size_t index,
                                        bool shows_billed, struct mt_error *err)
{
    struct mt_translated text;
    struct mt_text translation = {0};
    enum mt_status status = mt_translate_take(request, index, &text, &translation, err);
    if (!status) {
        mt_json_begin_object(writer);
        write_code(writer, "detected_source_language", text.source_lang, false);
        mt_json_member_bytes(writer, "text", translation.bytes, translation.length);
        if (shows_billed)
            mt_json_member_count(writer, "billed_characters", text.n_chars);
        mt_json_end_object(writer);
    }
    mt_text_finish(&translation);
    return status;
}

static enum mt_status finish_translate(struct mt_request *request, struct mt_error *err)
{
    struct mt_json_writer writer;
    bool shows_billed = false;
    size_t n = mt_translate_n_texts(request);
    enum mt_status status =
        mt_params_bool(&request->params, "show_billed_characters", &shows_billed, NULL, err);
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "translations");
    for (size_t i = 0; i < n && !status; i++)
        status = write_translation(&writer, request, i, shows_billed, err);
    if (status)
        return status;
    mt_json_end_array(&writer);
    status = mt_translate_write_warnings(request, &writer, err);
    mt_json_end_object(&writer);
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

static void release_translate(struct mt_request *request)
{
    mt_translate_handler.release(request);
}

/* ---- GET /v2/languages ---- */

static void write_language(struct mt_json_writer *writer, const char *code, bool is_target)
{
    char name[MT_LANGUAGE_NAME_BYTES];
    mt_language_name(code, name);
    mt_json_begin_object(writer);
    write_code(writer, "language", code, is_target);
    mt_json_member(writer, "name", name);
    if (is_target)
        mt_json_member_bool(writer, "supports_formality", false);
    mt_json_end_object(writer);
}

/* DeepL's clients know these target languages only with regions. */
static void write_target(struct mt_json_writer *writer, const char *code)
{
    static const char *const variants[][2] = {
        {"en", "en-GB"}, {"en", "en-US"}, {"pt", "pt-BR"}, {"pt", "pt-PT"}};
    bool has_variants = false;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        if (strcmp(variants[i][0], code) != 0)
            continue;
        write_language(writer, variants[i][1], true);
        has_variants = true;
    }
    if (!has_variants)
        write_language(writer, code, true);
}

static enum mt_status finish_languages(struct mt_request *request, struct mt_error *err)
{
    struct mt_languages languages;
    struct mt_fields fields;
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_DEEPL_LANGUAGES,
                                           request->service->settings, &fields, err);
    if (status)
        return status;
    bool is_target = strcmp(fields.type, "target") == 0;
    if (fields.type[0] != '\0' && !is_target && strcmp(fields.type, "source") != 0)
        return mt_deepl_refuse_value("type", err);
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_array(&writer);
    mt_languages_list(request->service, is_target ? MT_LANGUAGES_TARGETS : MT_LANGUAGES_SOURCES,
                      &languages);
    for (size_t i = 0; i < languages.n; i++)
        if (is_target)
            write_target(&writer, languages.codes[i]);
        else
            write_language(&writer, languages.codes[i], false);
    mt_json_end_array(&writer);
    return mt_text_check(&request->reply.body, "the list of languages", err);
}

/* ---- GET and POST /v2/usage ---- */

static enum mt_status finish_usage(struct mt_request *request, struct mt_error *err)
{
    int64_t limit = request->access.limits.rates[MT_RATE_CHARS];
    uint64_t count = limit > 0 ? mt_request_used_chars(request) : 0;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_count(&writer, "character_count", count);
    mt_json_member_integer(&writer, "character_limit", limit > 0 ? limit : NO_CHARACTER_LIMIT);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the usage", err);
}

const struct mt_handler mt_deepl_translate_handler = {.choose = choose_model,
                                                      .begin = begin_translate,
                                                      .finish = finish_translate,
                                                      .release = release_translate};
const struct mt_handler mt_deepl_languages_handler = {.finish = finish_languages};
const struct mt_handler mt_deepl_usage_handler = {.finish = finish_usage};
