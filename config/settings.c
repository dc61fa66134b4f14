#include "config/settings.h"

#include "base/json.h"
#include "config/table.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ATTENTIOND_"

/* Most bytes of a wrong value that a message quotes. */
#define QUOTED_BYTES 60

extern char **environ;

static void *field(struct mt_settings *settings, const struct mt_setting *setting)
{
    return (char *)settings + setting->offset;
}

static bool is_text(const struct mt_setting *setting)
{
    return setting->type == MT_SETTING_STRING || setting->type == MT_SETTING_CHOICE;
}

static enum mt_status store_string(struct mt_settings *settings, const struct mt_setting *setting,
                                   const char *value, struct mt_error *err)
{
    char **slot = field(settings, setting);
    char *copy = strdup(value);
    if (!copy)
        return mt_fail_memory(err, strlen(value) + 1, setting->key);
    free(*slot);
    *slot = copy;
    return MT_OK;
}

static void store_number(struct mt_settings *settings, const struct mt_setting *setting,
                         double value)
{
    void *slot = field(settings, setting);
    if (setting->type == MT_SETTING_INTEGER)
        *(int64_t *)slot = (int64_t)value;
    else if (setting->type == MT_SETTING_NUMBER)
        *(double *)slot = value;
    else
        *(bool *)slot = value != 0;
}

enum mt_status mt_settings_init(struct mt_settings *settings, struct mt_error *err)
{
    *settings = (struct mt_settings){0};
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        if (!is_text(setting)) {
            store_number(settings, setting, setting->default_number);
            continue;
        }
        enum mt_status status = store_string(settings, setting, setting->default_string, err);
        if (status) {
            mt_settings_finish(settings);
            return status;
        }
    }
    return MT_OK;
}

void mt_settings_finish(struct mt_settings *settings)
{
    for (size_t i = 0; i < mt_setting_count(); i++)
        if (is_text(mt_setting_at(i)))
            free(*(char **)field(settings, mt_setting_at(i)));
    *settings = (struct mt_settings){0};
}

static enum mt_status carry_over(struct mt_settings *fresh, const struct mt_settings *running,
                                 const struct mt_setting *setting, bool *is_different,
                                 struct mt_error *err)
{
    const void *from = (const char *)running + setting->offset;
    void *to = field(fresh, setting);
    if (is_text(setting)) {
        const char *text = *(char *const *)from;
        *is_different = strcmp(*(char **)to, text) != 0;
        return *is_different ? store_string(fresh, setting, text, err) : MT_OK;
    }
    size_t n_bytes = setting->type == MT_SETTING_INTEGER  ? sizeof(int64_t)
                     : setting->type == MT_SETTING_NUMBER ? sizeof(double)
                                                          : sizeof(bool);
    *is_different = memcmp(to, from, n_bytes) != 0;
    memcpy(to, from, n_bytes);
    return MT_OK;
}

enum mt_status mt_settings_keep_fixed(struct mt_settings *fresh, const struct mt_settings *running,
                                      struct mt_text *differing, struct mt_error *err)
{
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        bool is_different = false;
        if (!setting->is_fixed)
            continue;
        enum mt_status status = carry_over(fresh, running, setting, &is_different, err);
        if (status)
            return status;
        if (is_different)
            mt_text_appendf(differing, "%s%s", differing->length > 0 ? ", " : "", setting->key);
    }
    return mt_text_check(differing, "the settings that differ", err);
}

/* Appends a JSON value in the form for messages. */
static void append_value(const cJSON *value, struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    if (cJSON_IsArray(value))
        mt_text_append_string(out, "an array");
    else if (cJSON_IsObject(value))
        mt_text_append_string(out, "an object");
    else if (cJSON_IsNumber(value))
        mt_json_number(&writer, value->valuedouble, MT_SETTING_DIGITS);
    else if (cJSON_IsBool(value))
        mt_json_bool(&writer, cJSON_IsTrue(value));
    else if (cJSON_IsNull(value))
        mt_json_null(&writer);
    else if (cJSON_IsString(value)) {
        size_t length = strlen(value->valuestring);
        bool is_long = length > QUOTED_BYTES;
        mt_json_string(&writer, value->valuestring, is_long ? QUOTED_BYTES : length);
        mt_text_append_string(out, is_long ? "..." : "");
    }
}

static enum mt_status refuse(const struct mt_setting *setting, const cJSON *value,
                             const char *origin, struct mt_error *err)
{
    struct mt_text seen = {0}, expected = {0};
    if (setting->is_secret)
        mt_text_append_string(&seen, "not shown");
    else
        append_value(value, &seen);
    mt_setting_append_expectation(setting, &expected);
    enum mt_status status = mt_text_check(&seen, origin, err);
    if (!status)
        status = mt_text_check(&expected, origin, err);
    if (!status)
        status =
            mt_fail(err, MT_INVALID, "%s is %s; expected %s", origin, seen.bytes, expected.bytes);
    mt_text_finish(&seen);
    mt_text_finish(&expected);
    return status;
}

static bool fits_number(const struct mt_setting *setting, const cJSON *value)
{
    double number = value->valuedouble;
    return cJSON_IsNumber(value) && number >= setting->low && number <= setting->high &&
           (setting->type == MT_SETTING_NUMBER || floor(number) == number);
}

static bool fits_text(const struct mt_setting *setting, const cJSON *value)
{
    if (!cJSON_IsString(value))
        return false;
    if (setting->type == MT_SETTING_STRING) {
        double length = (double)strlen(value->valuestring);
        return length >= setting->low && length <= setting->high;
    }
    for (size_t i = 0; setting->choices[i]; i++)
        if (!strcmp(setting->choices[i], value->valuestring))
            return true;
    return false;
}

/* All sources of settings end here. origin begins the message: "--port", "FILE: \"port\"". */
static enum mt_status set_from_json(struct mt_settings *settings, const struct mt_setting *setting,
                                    const cJSON *value, const char *origin, struct mt_error *err)
{
    if (is_text(setting))
        return fits_text(setting, value) ? store_string(settings, setting, value->valuestring, err)
                                         : refuse(setting, value, origin, err);
    if (setting->type == MT_SETTING_BOOLEAN ? !cJSON_IsBool(value) : !fits_number(setting, value))
        return refuse(setting, value, origin, err);
    bool is_boolean = setting->type == MT_SETTING_BOOLEAN;
    store_number(settings, setting, is_boolean ? cJSON_IsTrue(value) : value->valuedouble);
    return MT_OK;
}

static enum mt_status refuse_key(const char *key, const char *origin, struct mt_error *err)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, key);
    for (size_t i = 0; i < mt_setting_count(); i++)
        mt_nearest_offer(&nearest, mt_setting_at(i)->key);
    int quoted = strlen(key) > QUOTED_BYTES ? QUOTED_BYTES : (int)strlen(key);
    if (nearest.best)
        return mt_fail(err, MT_INVALID, "%s: there is no setting \"%.*s\"; did you mean \"%s\"?",
                       origin, quoted, key, nearest.best);
    return mt_fail(err, MT_INVALID, "%s: there is no setting \"%.*s\"", origin, quoted, key);
}

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words))
        words++;
    return *words;
}

bool mt_settings_read_switch(const char *text, bool *is_on)
{
    static const char *const on[] = {"on", "true", "yes", "1", NULL};
    static const char *const off[] = {"off", "false", "no", "0", NULL};
    *is_on = is_one_of(text, on);
    return *is_on || is_one_of(text, off);
}

/* Whether the setting's choices include on and off, so that their synonyms are accepted, too. */
static bool is_switch(const struct mt_setting *setting)
{
    return setting->type == MT_SETTING_CHOICE && is_one_of("on", setting->choices) &&
           is_one_of("off", setting->choices);
}

/*
 * Text has the same meaning as in the file, so numbers go through the JSON parser. This keeps one
 * grammar, and avoids strtod, which uses the locale's decimal point.
 */
static cJSON *value_of_text(const struct mt_setting *setting, const char *text)
{
    cJSON *value = NULL;
    bool is_on, is_word = mt_settings_read_switch(text, &is_on);
    if (setting->type == MT_SETTING_BOOLEAN && is_word)
        return cJSON_CreateBool(is_on);
    if (is_switch(setting) && is_word)
        return cJSON_CreateString(is_on ? "on" : "off");
    enum mt_status status = MT_FORMAT;
    if (!is_text(setting))
        status = mt_json_parse(text, strlen(text), NULL, "value", &value, NULL);
    return status && status != MT_MEMORY ? cJSON_CreateString(text) : value;
}

enum mt_status mt_settings_set(struct mt_settings *settings, const char *key, const char *value,
                               const char *origin, struct mt_error *err)
{
    const struct mt_setting *setting = mt_setting_find(key);
    if (!setting)
        return refuse_key(key, origin, err);
    cJSON *json = value_of_text(setting, value);
    if (!json)
        return mt_fail_memory(err, strlen(value) + 1, origin);
    enum mt_status status = set_from_json(settings, setting, json, origin, err);
    cJSON_Delete(json);
    return status;
}

static enum mt_status read_member(struct mt_settings *settings, const cJSON *member,
                                  const char *path, struct mt_error *err)
{
    if (!strncmp(member->string, "//", 2) || cJSON_IsNull(member))
        return MT_OK;
    const struct mt_setting *setting = mt_setting_find(member->string);
    if (!setting)
        return refuse_key(member->string, path, err);
    struct mt_text origin = {0};
    mt_text_appendf(&origin, "%s: \"%s\"", path, setting->key);
    enum mt_status status = mt_text_check(&origin, path, err);
    if (!status)
        status = set_from_json(settings, setting, member, origin.bytes, err);
    mt_text_finish(&origin);
    return status;
}

enum mt_status mt_settings_read_file(struct mt_settings *settings, const char *path,
                                     struct mt_error *err)
{
    cJSON *document;
    enum mt_status status =
        mt_json_read_file(path, MT_SETTINGS_MAX_FILE_BYTES, NULL, &document, err);
    if (status)
        return status;
    if (!cJSON_IsObject(document))
        status = mt_fail(err, MT_INVALID, "%s: expected an object of settings", path);
    const cJSON *member = document->child;
    for (; member && !status; member = member->next)
        status = read_member(settings, member, path, err);
    cJSON_Delete(document);
    return status;
}

/* Kubernetes tells every container of nearby services: for one named attentiond it sets
 * ATTENTIOND_SERVICE_HOST, ATTENTIOND_PORT=tcp://... and ATTENTIOND_PORT_5000_TCP_ADDR, for
 * attentiond-canary the same with ATTENTIOND_CANARY_; Docker's links do the same. These variables
 * are not settings. */
static bool is_service_link(const char *name, const char *value)
{
    size_t length = strlen(name);
    bool ends_in_port = length >= strlen("PORT") && !strcmp(name + length - strlen("PORT"), "PORT");
    return strstr(name, "SERVICE_HOST") || strstr(name, "SERVICE_PORT") || strstr(name, "PORT_") ||
           (ends_in_port && strstr(value, "://"));
}

/* name is like "ATTENTIOND_PORT". */
static enum mt_status read_variable(struct mt_settings *settings, const char *name,
                                    const char *value, struct mt_error *err)
{
    const char *rest = name + strlen(PREFIX);
    if (!strcmp(rest, "CONFIG") || is_service_link(rest, value))
        return MT_OK;
    char key[MT_SETTING_MAX_KEY_BYTES] = {0};
    for (size_t i = 0; rest[i] && i + 1 < sizeof key; i++)
        key[i] = (char)tolower((unsigned char)rest[i]);
    return mt_settings_set(settings, key, value, name, err);
}

enum mt_status mt_settings_read_environment(struct mt_settings *settings, struct mt_error *err)
{
    for (char **variable = environ; variable && *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        if (!equals || strncmp(*variable, PREFIX, strlen(PREFIX)))
            continue;
        char *name = strndup(*variable, (size_t)(equals - *variable));
        if (!name)
            return mt_fail_memory(err, (size_t)(equals - *variable) + 1, "environment");
        enum mt_status status = read_variable(settings, name, equals + 1, err);
        free(name);
        if (status)
            return status;
    }
    return MT_OK;
}
