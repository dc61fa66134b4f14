#include "server/http/tag_names.h"

#include <string.h>

#include <cjson/cJSON.h>

#define MAX_NAME_BYTES 64

static bool is_name(const char *bytes, size_t length)
{
    bool begins_with_letter =
        length > 0 && ((*bytes | 0x20) >= 'a' && (*bytes | 0x20) <= 'z') && length < MAX_NAME_BYTES;
    return begins_with_letter &&
           strspn(bytes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") >=
               length;
}

/* Appends the names of a list, each with its NUL. */
static enum mt_status add_list(const char *field, const char *list, struct mt_tag_names *out,
                               struct mt_error *err)
{
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, " \t,");
        if (length == 0)
            break;
        if (!is_name(at, length))
            return mt_fail(err, MT_INVALID, "%s: \"%.*s\" is not the name of an element", field,
                           (int)(length < MAX_NAME_BYTES ? length : MAX_NAME_BYTES), at);
        if (out->n == MT_MAX_TAG_NAMES)
            return mt_fail(err, MT_LIMIT, "%s: more than %d names", field, MT_MAX_TAG_NAMES);
        mt_text_append(&out->bytes, at, length);
        mt_text_append(&out->bytes, "", 1);
        out->n++;
        at += length;
    }
    return mt_text_check(&out->bytes, "names of elements", err);
}

static enum mt_status add_value(const char *field, const struct cJSON *value,
                                struct mt_tag_names *out, struct mt_error *err)
{
    if (!cJSON_IsString(value))
        return mt_fail(err, MT_INVALID, "%s: expected an array of strings", field);
    return add_list(field, value->valuestring, out, err);
}

enum mt_status mt_tag_names_read(const struct mt_params *params, const char *field,
                                 struct mt_tag_names *out, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, field);
    enum mt_status status = MT_OK;
    if (cJSON_IsArray(value)) {
        for (value = value->child; value && !status; value = value->next)
            status = add_value(field, value, out, err);
    } else {
        for (; value && !status; value = mt_params_next(value))
            status = add_value(field, value, out, err);
    }
    const char *at = out->bytes.bytes;
    for (size_t i = 0; i < out->n && !status; i++, at += strlen(at) + 1)
        out->items[i] = at;
    return status;
}

void mt_tag_names_finish(struct mt_tag_names *names)
{
    mt_text_finish(&names->bytes);
    names->n = 0;
}
