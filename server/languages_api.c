#include "server/languages_api.h"

#include <string.h>

/* A side whose language the model does not say takes any. */
static bool is_served(const char *asked, const char *offered)
{
    return offered[0] == '\0' || mt_language_matches(asked, offered);
}

static enum mt_status read_code(const struct mt_service *service, const char *code,
                                char out[MT_LANGUAGE_BYTES], struct mt_error *err)
{
    enum mt_status status = mt_language_parse(code, out, err);
    if (status == MT_MEMORY)
        return status;
    bool is_known = status == MT_OK &&
                    (is_served(out, service->source_lang) || is_served(out, service->target_lang));
    if (!is_known)
        return mt_fail(err, MT_INVALID, "%.60s is not supported", code);
    return MT_OK;
}

static enum mt_status refuse_pair(const struct mt_language_pair *pair, struct mt_error *err)
{
    char source[MT_LANGUAGE_NAME_BYTES], target[MT_LANGUAGE_NAME_BYTES];
    mt_language_name(pair->source, source);
    mt_language_name(pair->target, target);
    return mt_fail(err, MT_INVALID, "%s (%s) is not available as a target language from %s (%s)",
                   target, pair->target, source, pair->source);
}

enum mt_status mt_languages_check(const struct mt_service *service, const char *source,
                                  const char *target, struct mt_language_pair *out,
                                  struct mt_error *err)
{
    enum mt_status status = read_code(service, source, out->source, err);
    if (status == MT_OK)
        status = read_code(service, target, out->target, err);
    if (status != MT_OK)
        return status;
    out->is_identity = strcmp(out->source, out->target) == 0;
    if (out->is_identity)
        return MT_OK;
    if (!is_served(out->source, service->source_lang) ||
        !is_served(out->target, service->target_lang))
        return refuse_pair(out, err);
    return MT_OK;
}

enum mt_status mt_languages_check_target(const struct mt_service *service, const char *target,
                                         struct mt_language_pair *out, struct mt_error *err)
{
    *out = (struct mt_language_pair){0};
    return read_code(service, target, out->target, err);
}

void mt_languages_to_detect(const struct mt_service *service, const char *target,
                            struct mt_detect_languages *out)
{
    const char *from = service->source_lang, *to = service->target_lang;
    *out = (struct mt_detect_languages){0};
    if (!from[0] || !to[0]) /* any */
        return;
    out->codes[out->n++] = from;
    if ((!target || is_served(target, to)) && strcmp(from, to) != 0)
        out->codes[out->n++] = to;
}

/* targets in order; every language is its own target too. */
static void write_language(struct mt_json_writer *writer, const char *code, const char *other)
{
    char name[MT_LANGUAGE_NAME_BYTES];
    mt_language_name(code, name);
    bool is_first = other[0] == '\0' || strcmp(code, other) < 0;
    mt_json_begin_object(writer);
    mt_json_key(writer, "code");
    mt_json_string_z(writer, code);
    mt_json_key(writer, "name");
    mt_json_string_z(writer, name);
    mt_json_key(writer, "targets");
    mt_json_begin_array(writer);
    if (is_first)
        mt_json_string_z(writer, code);
    if (other[0] != '\0')
        mt_json_string_z(writer, other);
    if (!is_first)
        mt_json_string_z(writer, code);
    mt_json_end_array(writer);
    mt_json_end_object(writer);
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_array(&writer);
    if (service->source_lang[0] != '\0')
        write_language(&writer, service->source_lang, service->target_lang);
    if (service->target_lang[0] != '\0' && strcmp(service->source_lang, service->target_lang) != 0)
        write_language(&writer, service->target_lang, "");
    mt_json_end_array(&writer);
    return mt_text_check(&request->reply.body, "the list of languages", err);
}

const struct mt_handler mt_languages_handler = {.finish = finish};
