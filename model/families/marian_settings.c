#include "model/families/marian_settings.h"

#include "base/ascii.h"
#include "base/vector.h"
#include "base/yaml_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct setting {
    char key[MT_MARIAN_MAX_SETTING_BYTES + 1];
    char text[MT_MARIAN_MAX_SETTING_BYTES + 1];
    size_t index;
};

struct mt_marian_settings {
    char *what;
    struct setting *list;
    size_t n, capacity;
};

static enum mt_status make_room(struct mt_marian_settings *s, struct mt_error *err)
{
    return MT_ROOM(&s->list, &s->capacity, s->n + 1, s->what, err);
}

static enum mt_status keep(void *context, const struct mt_yaml_value *value, struct mt_error *err)
{
    struct mt_marian_settings *s = context;
    size_t index = value->index == MT_YAML_SCALAR ? 0 : value->index;
    if (s->n == MT_MARIAN_MAX_SETTINGS)
        return mt_fail(err, MT_LIMIT, "%s: more than %d settings", s->what, MT_MARIAN_MAX_SETTINGS);
    if (value->key_length > MT_MARIAN_MAX_SETTING_BYTES ||
        value->length > MT_MARIAN_MAX_SETTING_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: %.40s: more than %d bytes", s->what, value->key,
                       MT_MARIAN_MAX_SETTING_BYTES);
    if (mt_marian_text(s, value->key, index))
        return mt_fail(err, MT_FORMAT, "%s: %.40s occurs twice", s->what, value->key);
    enum mt_status status = make_room(s, err);
    if (status)
        return status;
    struct setting *setting = &s->list[s->n++];
    memcpy(setting->key, value->key, value->key_length + 1);
    memcpy(setting->text, value->value, value->length + 1);
    setting->index = index;
    return MT_OK;
}

enum mt_status mt_marian_settings_read(const char *bytes, size_t length, const char *what,
                                       struct mt_marian_settings **out, struct mt_error *err)
{
    struct mt_marian_settings *s = calloc(1, sizeof *s);
    if (!s)
        return mt_fail_memory(err, sizeof *s, what);
    s->what = strdup(what);
    enum mt_status status = s->what ? mt_yaml_read(bytes, length, what, keep, s, err)
                                    : mt_fail_memory(err, strlen(what) + 1, what);
    if (status) {
        mt_marian_settings_free(s);
        return status;
    }
    *out = s;
    return MT_OK;
}

void mt_marian_settings_free(struct mt_marian_settings *settings)
{
    if (!settings)
        return;
    free(settings->what);
    free(settings->list);
    free(settings);
}

const char *mt_marian_text(const struct mt_marian_settings *settings, const char *key, size_t index)
{
    for (size_t i = 0; i < settings->n; i++)
        if (settings->list[i].index == index && !strcmp(settings->list[i].key, key))
            return settings->list[i].text;
    return NULL;
}

static enum mt_status fail(const struct mt_marian_settings *s, const char *key,
                           const char *expected, const char *found, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "%s: %s: expected %s, found \"%.60s\"", s->what, key, expected,
                   found);
}

enum mt_status mt_marian_size(const struct mt_marian_settings *settings, const char *key,
                              size_t index, size_t *out, struct mt_error *err)
{
    const char *text = mt_marian_text(settings, key, index);
    if (!text)
        return MT_OK;
    size_t n_digits = strspn(text, "0123456789");
    if (!n_digits || text[n_digits] || n_digits > 9)
        return fail(settings, key, "a whole number below a thousand million", text, err);
    *out = (size_t)strtoul(text, NULL, 10);
    return MT_OK;
}

/* strtod is not used, because it reads the locale's decimal point. The form is digits, a point,
 * digits, an exponent. */
enum mt_status mt_marian_number(const struct mt_marian_settings *settings, const char *key,
                                double *out, struct mt_error *err)
{
    const char *text = mt_marian_text(settings, key, 0), *at = text;
    if (!text)
        return MT_OK;
    bool is_negative = *at == '-';
    at += is_negative;
    double value = 0.0;
    int n_digits = 0, exponent = 0;
    for (; mt_ascii_is_digit(*at) && n_digits < 15; at++, n_digits++)
        value = value * 10.0 + (*at - '0');
    if (*at == '.')
        for (at++; mt_ascii_is_digit(*at) && n_digits < 15; at++, n_digits++, exponent--)
            value = value * 10.0 + (*at - '0');
    while (exponent < 0 && mt_ascii_is_digit(*at))
        at++; /* a double cannot represent more */
    if (n_digits && (*at == 'e' || *at == 'E')) {
        char *end;
        errno = 0;
        long more = strtol(at + 1, &end, 10);
        if (end == at + 1 || errno || more < -99 || more > 99)
            return fail(settings, key, "a number", text, err);
        exponent += (int)more;
        at = end;
    }
    if (!n_digits || *at)
        return fail(settings, key, "a number", text, err);
    /* Dividing by a power of ten rounds correctly for the short numbers that people write. */
    value = exponent < 0 ? value / pow(10.0, -exponent) : value * pow(10.0, exponent);
    *out = is_negative ? -value : value;
    return MT_OK;
}

enum mt_status mt_marian_bool(const struct mt_marian_settings *settings, const char *key, bool *out,
                              struct mt_error *err)
{
    const char *text = mt_marian_text(settings, key, 0);
    if (!text)
        return MT_OK;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return fail(settings, key, "true or false", text, err);
    *out = *text == 't';
    return MT_OK;
}

const char *mt_marian_key(const struct mt_marian_settings *settings, size_t index)
{
    return index < settings->n ? settings->list[index].key : NULL;
}
