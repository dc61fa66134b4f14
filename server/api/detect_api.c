#include "server/api/detect_api.h"

#include "server/api/languages_api.h"

#include <string.h>

#include <cjson/cJSON.h>

void mt_detection_write(struct mt_json_writer *writer, const struct mt_detection *detection)
{
    mt_json_begin_object(writer);
    mt_json_key(writer, "confidence");
    mt_json_float(writer, detection->confidence, 4);
    mt_json_member(writer, "language", detection->language);
    mt_json_end_object(writer);
}

static enum mt_status read_text(const struct mt_request *request, const char **out,
                                struct mt_error *err)
{
    *out = "";
    enum mt_status status = mt_params_string(&request->params, "q", out, NULL, err);
    if (status)
        return status;
    if (!**out)
        return mt_fail(err, MT_INVALID, "Invalid request: missing q parameter");
    size_t n_chars = mt_utf8_count(*out, strlen(*out));
    int64_t limit = request->access.limits.max_text_chars;
    if (n_chars > (size_t)limit)
        return mt_fail(err, MT_INVALID, "Invalid request: request (%zu) exceeds text limit (%lld)",
                       n_chars, (long long)limit);
    return MT_OK;
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    const char *text;
    struct mt_detect_languages languages;
    struct mt_detection detection;
    mt_languages_to_detect(request->service, NULL, NULL, &languages);
    enum mt_status status = read_text(request, &text, err);
    if (!status)
        status = mt_detect(text, strlen(text), false, &languages, &detection, err);
    if (status)
        return status;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_array(&writer);
    mt_detection_write(&writer, &detection);
    mt_json_end_array(&writer);
    return mt_text_check(&request->reply.body, "the detected language", err);
}

const struct mt_handler mt_detect_handler = {.finish = finish};
