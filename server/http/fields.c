#include "server/http/fields.h"

#include "base/nearest.h"
#include "config/settings.h"

#include <string.h>

#include <cjson/cJSON.h>

static void set_default(const struct mt_field *field, const struct mt_settings *settings, void *out)
{
    const void *setting = (const char *)settings + field->setting;
    switch (field->type) {
    case MT_FIELD_BOOLEAN:
        *(bool *)out = field->has_setting ? *(const bool *)setting : field->default_number != 0;
        break;
    case MT_FIELD_INTEGER:
        *(int64_t *)out = (int64_t)field->default_number;
        break;
    case MT_FIELD_NUMBER:
        *(double *)out = field->default_number;
        break;
    case MT_FIELD_STRING:
    case MT_FIELD_CHOICE:
        *(const char **)out = field->has_setting ? *(char *const *)setting : field->default_string;
        break;
    case MT_FIELD_OWN:
        break;
    }
}

static enum mt_status check_choice(const struct mt_field *field, const char *value,
                                   struct mt_error *err)
{
    struct mt_text expected = {0};
    for (size_t i = 0; field->choices[i]; i++) {
        const char *before = i == 0 ? "" : field->choices[i + 1] ? ", " : " or ";
        if (strcmp(field->choices[i], value) == 0) {
            mt_text_finish(&expected);
            return MT_OK;
        }
        mt_text_appendf(&expected, "%s\"%s\"", before, field->choices[i]);
    }
    enum mt_status status = mt_fail(err, MT_INVALID, "%s is \"%.40s\", expected %s", field->name,
                                    value, expected.status ? "another" : expected.bytes);
    mt_text_finish(&expected);
    return status;
}

static enum mt_status read_string(const struct mt_params *params, const struct mt_field *field,
                                  const char **out, struct mt_error *err)
{
    bool is_there;
    enum mt_status status = mt_params_string(params, field->name, out, &is_there, err);
    if (status || !is_there || field->type != MT_FIELD_CHOICE)
        return status;
    return check_choice(field, *out, err);
}

static enum mt_status read_field(const struct mt_params *params, const struct mt_field *field,
                                 void *out, struct mt_error *err)
{
    switch (field->type) {
    case MT_FIELD_BOOLEAN:
        return mt_params_bool(params, field->name, out, NULL, err);
    case MT_FIELD_INTEGER:
        return mt_params_integer(params, field->name, (int64_t)field->low, (int64_t)field->high,
                                 out, NULL, err);
    case MT_FIELD_NUMBER:
        return mt_params_number(params, field->name, field->low, field->high, out, NULL, err);
    case MT_FIELD_STRING:
    case MT_FIELD_CHOICE:
        return read_string(params, field, out, err);
    case MT_FIELD_OWN:
        break;
    }
    return MT_OK;
}

enum mt_status mt_fields_read(const struct mt_params *params, enum mt_fields_of route,
                              const struct mt_settings *settings, struct mt_fields *out,
                              struct mt_error *err)
{
    *out = (struct mt_fields){0};
    for (size_t i = 0; i < mt_n_field_rows; i++) {
        const struct mt_field *field = &mt_field_rows[i];
        void *value = (char *)out + field->offset;
        if (!(field->routes & route))
            continue;
        set_default(field, settings, value);
        enum mt_status status = read_field(params, field, value, err);
        if (status)
            return status;
    }
    return MT_OK;
}

static const struct mt_field *find(const char *name, unsigned routes, struct mt_nearest *nearest)
{
    mt_nearest_begin(nearest, name);
    for (size_t i = 0; i < mt_n_field_rows; i++) {
        if (!(mt_field_rows[i].routes & routes))
            continue;
        if (strcmp(mt_field_rows[i].name, name) == 0)
            return &mt_field_rows[i];
        mt_nearest_offer(nearest, mt_field_rows[i].name);
    }
    return NULL;
}

enum mt_status mt_fields_check_names(const struct cJSON *object, enum mt_fields_of route,
                                     const char *path, struct mt_error *err)
{
    struct mt_nearest nearest;
    for (const struct cJSON *item = object ? object->child : NULL; item; item = item->next)
        if (!find(item->string, route, &nearest))
            return mt_fail(err, MT_INVALID, "%.40s: %s has no such field%s%s%s", item->string, path,
                           nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
                           nearest.best ? "?" : "");
    return MT_OK;
}

const struct mt_field *mt_field_find(enum mt_fields_of route, const char *name)
{
    struct mt_nearest nearest;
    return find(name, route, &nearest);
}

bool mt_field_may_repeat(const char *name)
{
    for (size_t i = 0; i < mt_n_field_rows; i++)
        if (mt_field_rows[i].repeats && strcmp(mt_field_rows[i].name, name) == 0)
            return true;
    return false;
}
