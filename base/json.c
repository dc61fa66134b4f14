#include "base/json.h"

#include "base/file.h"
#include "base/size.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest integer up to which a double represents every integer. */
#define MAX_EXACT_INTEGER 9007199254740991.0

/* Most bytes of a string that an error message quotes. */
#define QUOTED_BYTES 80

enum mt_status mt_json_parse(const char *bytes, size_t length, const struct mt_json_limits *limits,
                             const char *what, struct cJSON **out, struct mt_error *err)
{
    enum mt_status status = mt_json_check(bytes, length, limits, what, err);
    if (status)
        return status;
    const char *end; /* with an end pointer cJSON does not write its global error pointer */
    size_t mark = mt_utf8_mark_length(bytes, length);
    cJSON *tree = cJSON_ParseWithLengthOpts(bytes + mark, length - mark, &end, 0);
    if (!tree) /* the check accepts less than cJSON, so that only memory can be missing */
        return mt_fail(err, MT_MEMORY, "out of memory while parsing %s (%zu bytes)", what, length);
    *out = tree;
    return MT_OK;
}

enum mt_status mt_json_read_file(const char *path, size_t limit_bytes,
                                 const struct mt_json_limits *limits, struct cJSON **out,
                                 struct mt_error *err)
{
    char *bytes;
    size_t length;
    enum mt_status status = mt_file_read(path, limit_bytes, &bytes, &length, err);
    if (status)
        return status;
    status = mt_json_parse(bytes, length, limits, path, out, err);
    free(bytes);
    return status;
}

/* Returns the member, or NULL if it is absent or null. */
static const cJSON *get_member(const cJSON *object, const char *key, bool *found)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    bool is_there = member && !cJSON_IsNull(member);
    if (found)
        *found = is_there;
    return is_there ? member : NULL;
}

static enum mt_status fail_member(struct mt_error *err, const cJSON *member, const char *key,
                                  const char *expectation)
{
    char number[MT_JSON_NUMBER_BYTES];
    if (cJSON_IsString(member)) {
        const char *text = member->valuestring;
        size_t length = strlen(text), shown = mt_size_min(length, QUOTED_BYTES);
        return mt_fail(err, MT_INVALID, "%s: expected %s, found the string \"%.*s%s\"", key,
                       expectation, (int)mt_utf8_valid_prefix(text, shown), text,
                       shown < length ? "..." : "");
    }
    const char *found = cJSON_IsArray(member)    ? "an array"
                        : cJSON_IsObject(member) ? "an object"
                        : cJSON_IsTrue(member)   ? "true"
                        : cJSON_IsFalse(member)  ? "false"
                                                 : number;
    if (found == number)
        mt_json_format_number(member->valuedouble, 17, number);
    return mt_fail(err, MT_INVALID, "%s: expected %s, found %s", key, expectation, found);
}

enum mt_status mt_json_get_string(const struct cJSON *object, const char *key, const char **out,
                                  bool *found, struct mt_error *err)
{
    const cJSON *member = get_member(object, key, found);
    if (!member)
        return MT_OK;
    if (!cJSON_IsString(member))
        return fail_member(err, member, key, "a string");
    *out = member->valuestring;
    return MT_OK;
}

enum mt_status mt_json_get_bool(const struct cJSON *object, const char *key, bool *out, bool *found,
                                struct mt_error *err)
{
    const cJSON *member = get_member(object, key, found);
    if (!member)
        return MT_OK;
    if (!cJSON_IsBool(member))
        return fail_member(err, member, key, "true or false");
    *out = cJSON_IsTrue(member);
    return MT_OK;
}

enum mt_status mt_json_get_integer(const struct cJSON *object, const char *key, int64_t low,
                                   int64_t high, int64_t *out, bool *found, struct mt_error *err)
{
    const cJSON *member = get_member(object, key, found);
    if (!member)
        return MT_OK;
    double value = member->valuedouble;
    bool is_exact =
        cJSON_IsNumber(member) && value == trunc(value) && fabs(value) <= MAX_EXACT_INTEGER;
    if (!is_exact || (int64_t)value < low || (int64_t)value > high) {
        char expectation[80];
        snprintf(expectation, sizeof expectation, "an integer from %lld to %lld", (long long)low,
                 (long long)high);
        return fail_member(err, member, key, expectation);
    }
    *out = (int64_t)value;
    return MT_OK;
}

enum mt_status mt_json_get_number(const struct cJSON *object, const char *key, double low,
                                  double high, double *out, bool *found, struct mt_error *err)
{
    const cJSON *member = get_member(object, key, found);
    if (!member)
        return MT_OK;
    double value = member->valuedouble;
    if (!cJSON_IsNumber(member) || !(value >= low && value <= high)) {
        char low_text[MT_JSON_NUMBER_BYTES], high_text[MT_JSON_NUMBER_BYTES];
        mt_json_format_number(low, 6, low_text);
        mt_json_format_number(high, 6, high_text);
        char expectation[2 * MT_JSON_NUMBER_BYTES + 32];
        snprintf(expectation, sizeof expectation, "a number from %s to %s", low_text, high_text);
        return fail_member(err, member, key, expectation);
    }
    *out = value;
    return MT_OK;
}
