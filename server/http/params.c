#include "server/http/params.h"

#include "base/size.h"
#include "server/http/fields.h"
#include "server/http/multipart.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const struct mt_json_limits body_limits = {.max_depth = 16,
                                                  .max_values = MT_MAX_JSON_VALUES};

/* Most bytes of a number or boolean in a form. */
#define MAX_SCALAR_BYTES 64

void mt_params_finish(struct mt_params *params)
{
    cJSON_Delete(params->object);
    for (size_t i = 0; i < params->n_files; i++) {
        free(params->files[i].name);
        free(params->files[i].file_name);
        free(params->files[i].content_type);
    }
    free(params->files);
    *params = (struct mt_params){0};
}

enum mt_status mt_params_parse_json(struct mt_params *params, const char *bytes, size_t length,
                                    struct mt_error *err)
{
    struct cJSON *document;
    enum mt_status status =
        mt_json_parse(bytes, length, &body_limits, "request body", &document, err);
    if (status)
        return status;
    if (!cJSON_IsObject(document)) {
        cJSON_Delete(document);
        return mt_fail(err, MT_FORMAT, "Invalid JSON format");
    }
    params->object = document;
    params->is_text = false;
    return MT_OK;
}

/* Decodes '+' and %XX of from[0, length) to to, which has room for length + 1 bytes. */
static enum mt_status unescape(const char *from, size_t length, char *to, size_t *to_length,
                               struct mt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = from[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < length ? mt_hex_digit(from[i + 1]) : -1;
            int low = i + 2 < length ? mt_hex_digit(from[i + 2]) : -1;
            if (high < 0 || low < 0)
                return mt_fail(err, MT_FORMAT,
                               "malformed form: '%%' without two hexadecimal digits, byte %zu of "
                               "a field",
                               i);
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0')
            return mt_fail(err, MT_FORMAT, "malformed form: NUL byte in a field");
        to[n++] = c;
    }
    to[n] = '\0';
    *to_length = n;
    if (mt_utf8_valid_prefix(to, n) != n)
        return mt_fail(err, MT_FORMAT, "malformed form: a field is not UTF-8");
    return MT_OK;
}

/* CR LF and CR become LF, and one LF at the end is removed. */
static void normalise_line_ends(char *text)
{
    size_t n = 0;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from == '\r' && from[1] == '\n')
            continue;
        text[n++] = *from == '\r' ? '\n' : *from;
    }
    if (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
}

/* Adds a value behind those of the same name. value is modified. */
static enum mt_status add_value(struct cJSON *object, const char *name, char *value, bool is_form,
                                struct mt_error *err)
{
    if (is_form)
        normalise_line_ends(value);
    if (!cJSON_AddStringToObject(object, name, value))
        return mt_fail_memory(err, strlen(value), "form field");
    return MT_OK;
}

/* Adds one "name=value". scratch has room for length + 2 bytes. */
static enum mt_status add_field(struct cJSON *object, const char *field, size_t length,
                                bool is_form, char *scratch, struct mt_error *err)
{
    const char *equals = memchr(field, '=', length);
    size_t name_length = equals ? (size_t)(equals - field) : length;
    size_t n;
    enum mt_status status = unescape(field, name_length, scratch, &n, err);
    if (status)
        return status;
    char *value = scratch + n + 1;
    *value = '\0';
    if (equals)
        status = unescape(equals + 1, length - name_length - 1, value, &n, err);
    return status ? status : add_value(object, scratch, value, is_form, err);
}

static enum mt_status add_fields(struct cJSON *object, const char *bytes, size_t length,
                                 bool is_form, char *scratch, struct mt_error *err)
{
    const char *end = bytes + length;
    for (size_t n = 0; bytes < end; n++) {
        if (n == MT_MAX_FORM_FIELDS)
            return mt_fail(err, MT_LIMIT, "malformed form: more than %d fields",
                           MT_MAX_FORM_FIELDS);
        const char *stop = memchr(bytes, '&', (size_t)(end - bytes));
        if (!stop)
            stop = end;
        if (stop > bytes) {
            enum mt_status status =
                add_field(object, bytes, (size_t)(stop - bytes), is_form, scratch, err);
            if (status)
                return status;
        }
        bytes = stop + 1;
    }
    return MT_OK;
}

static enum mt_status refuse_repeated(const char *name, struct mt_error *err)
{
    size_t shown = mt_utf8_valid_prefix(name, mt_size_min(strlen(name), 80));
    return mt_fail(err, MT_FORMAT, "malformed form: field \"%.*s\" appears twice", (int)shown,
                   name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Checks the fields from first on (NULL: none) for names that may not repeat. */
static enum mt_status check_repeated(const struct cJSON *first, struct mt_error *err)
{
    size_t n = 0;
    for (const struct cJSON *item = first; item; item = item->next)
        n++;
    const char **names = malloc((n + 1) * sizeof *names);
    if (!names)
        return mt_fail_memory(err, n * sizeof *names, "names of fields");
    n = 0;
    for (; first; first = first->next)
        names[n++] = first->string;
    qsort(names, n, sizeof *names, compare_names);
    enum mt_status status = MT_OK;
    for (size_t i = 1; i < n && !status; i++)
        if (strcmp(names[i - 1], names[i]) == 0 && !mt_field_may_repeat(names[i]))
            status = refuse_repeated(names[i], err);
    free(names);
    return status;
}

/* The state while one encoding is read. */
struct reading {
    char *scratch;
    const struct cJSON *former; /* the last field that was there before, or NULL */
};

/* Prepares params for more fields, with a scratch of n_scratch bytes. */
static enum mt_status begin_text(struct mt_params *params, size_t n_scratch, struct reading *out,
                                 struct mt_error *err)
{
    if (!params->object)
        params->object = cJSON_CreateObject();
    params->is_text = true;
    const struct cJSON *first = params->object ? params->object->child : NULL;
    out->former = first ? first->prev : NULL; /* cJSON's first item points to the last */
    out->scratch = malloc(n_scratch);
    return !params->object || !out->scratch ? mt_fail_memory(err, n_scratch, "form") : MT_OK;
}

static enum mt_status end_text(struct mt_params *params, const struct reading *reading,
                               enum mt_status status, struct mt_error *err)
{
    free(reading->scratch);
    if (!status)
        status =
            check_repeated(reading->former ? reading->former->next : params->object->child, err);
    if (status)
        mt_params_finish(params);
    return status;
}

enum mt_status mt_params_parse_form(struct mt_params *params, const char *bytes, size_t length,
                                    bool is_form, struct mt_error *err)
{
    struct reading reading;
    enum mt_status status = begin_text(params, length + 2, &reading, err);
    if (!status)
        status = add_fields(params->object, bytes, length, is_form, reading.scratch, err);
    return end_text(params, &reading, status, err);
}

static enum mt_status add_text_part(struct mt_params *params, const struct mt_part *part,
                                    char *scratch, struct mt_error *err)
{
    if (memchr(part->bytes, '\0', part->length))
        return mt_fail(err, MT_FORMAT, "malformed form: NUL byte in field \"%.60s\"", part->name);
    if (mt_utf8_valid_prefix(part->bytes, part->length) != part->length)
        return mt_fail(err, MT_FORMAT, "malformed form: field \"%.60s\" is not UTF-8", part->name);
    memcpy(scratch, part->bytes, part->length);
    scratch[part->length] = '\0';
    return add_value(params->object, part->name, scratch, true, err);
}

static enum mt_status add_file(struct mt_params *params, const struct mt_part *part,
                               struct mt_error *err)
{
    if (mt_params_file(params, part->name))
        return refuse_repeated(part->name, err);
    if (params->n_files == MT_MAX_FORM_FILES)
        return mt_fail(err, MT_LIMIT, "malformed form: more than %d files", MT_MAX_FORM_FILES);
    if (!params->files)
        params->files = calloc(MT_MAX_FORM_FILES, sizeof params->files[0]);
    if (!params->files)
        return mt_fail_memory(err, MT_MAX_FORM_FILES * sizeof params->files[0], "files of a form");
    struct mt_params_file *file = &params->files[params->n_files++];
    *file = (struct mt_params_file){
        .name = strdup(part->name),
        .file_name = strdup(part->file_name),
        .content_type = strdup(part->content_type),
        .bytes = part->bytes,
        .length = part->length,
    };
    if (!file->name || !file->file_name || !file->content_type)
        return mt_fail_memory(err, sizeof *part, "names of a file");
    return MT_OK;
}

static enum mt_status add_parts(struct mt_params *params, struct mt_multipart *reader,
                                char *scratch, struct mt_error *err)
{
    struct mt_part part;
    bool found = true;
    for (size_t n = 0; found; n++) {
        enum mt_status status = mt_multipart_next(reader, &part, &found, err);
        if (!status && found && n == MT_MAX_FORM_FIELDS)
            status =
                mt_fail(err, MT_LIMIT, "malformed form: more than %d fields", MT_MAX_FORM_FIELDS);
        if (!status && found)
            status = part.is_file ? add_file(params, &part, err)
                                  : add_text_part(params, &part, scratch, err);
        if (status)
            return status;
    }
    return MT_OK;
}

enum mt_status mt_params_parse_multipart(struct mt_params *params, const char *content_type,
                                         const char *bytes, size_t length, struct mt_error *err)
{
    struct mt_multipart reader;
    struct reading reading;
    enum mt_status status = begin_text(params, length + 1, &reading, err);
    if (!status)
        status = mt_multipart_open(&reader, content_type, bytes, length, err);
    if (!status)
        status = add_parts(params, &reader, reading.scratch, err);
    return end_text(params, &reading, status, err);
}

const struct mt_params_file *mt_params_file(const struct mt_params *params, const char *name)
{
    for (size_t i = 0; i < params->n_files; i++)
        if (strcmp(params->files[i].name, name) == 0)
            return &params->files[i];
    return NULL;
}

const struct cJSON *mt_params_get(const struct mt_params *params, const char *name)
{
    if (!params->object)
        return NULL;
    const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(params->object, name);
    return !value || cJSON_IsNull(value) ? NULL : value;
}

const struct cJSON *mt_params_next(const struct cJSON *value)
{
    const struct cJSON *next = value->next;
    while (next && strcmp(next->string, value->string) != 0)
        next = next->next;
    return next;
}

/* Returns the text of a field in a textual encoding; NULL where it is absent or empty. */
static const char *field_text(const struct mt_params *params, const char *name)
{
    const struct cJSON *value = mt_params_get(params, name);
    if (!value || !value->valuestring || value->valuestring[0] == '\0')
        return NULL;
    return value->valuestring;
}

static enum mt_status tell(bool is_found, bool *found)
{
    if (found)
        *found = is_found;
    return MT_OK;
}

enum mt_status mt_params_string(const struct mt_params *params, const char *name, const char **out,
                                bool *found, struct mt_error *err)
{
    if (!params->object)
        return tell(false, found);
    return mt_json_get_string(params->object, name, out, found, err);
}

enum mt_status mt_params_bool(const struct mt_params *params, const char *name, bool *out,
                              bool *found, struct mt_error *err)
{
    if (!params->object)
        return tell(false, found);
    if (!params->is_text)
        return mt_json_get_bool(params->object, name, out, found, err);
    const char *text = field_text(params, name);
    if (!text)
        return tell(false, found);
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
        *out = true;
    else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
        *out = false;
    else
        return mt_fail(err, MT_INVALID, "%s is \"%.40s\", expected true or false", name, text);
    return tell(true, found);
}

bool mt_parse_number(const char *text, double *out)
{
    size_t length = strlen(text);
    if (length > MAX_SCALAR_BYTES || strspn(text, "+-.0123456789eE") != length)
        return false;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return false;
    char *end;
    double value = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

enum mt_status mt_params_integer(const struct mt_params *params, const char *name, int64_t low,
                                 int64_t high, int64_t *out, bool *found, struct mt_error *err)
{
    if (!params->object)
        return tell(false, found);
    if (!params->is_text)
        return mt_json_get_integer(params->object, name, low, high, out, found, err);
    const char *text = field_text(params, name);
    if (!text)
        return tell(false, found);
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_integer = strspn(text, "-0123456789") == strlen(text) && *end == '\0' && errno == 0;
    if (!is_integer || value < low || value > high)
        return mt_fail(err, MT_INVALID, "%s is \"%.40s\", expected an integer from %lld to %lld",
                       name, text, (long long)low, (long long)high);
    *out = value;
    return tell(true, found);
}

enum mt_status mt_params_number(const struct mt_params *params, const char *name, double low,
                                double high, double *out, bool *found, struct mt_error *err)
{
    if (!params->object)
        return tell(false, found);
    if (!params->is_text)
        return mt_json_get_number(params->object, name, low, high, out, found, err);
    const char *text = field_text(params, name);
    if (!text)
        return tell(false, found);
    double value;
    if (!mt_parse_number(text, &value) || value < low || value > high)
        return mt_fail(err, MT_INVALID, "%s is \"%.40s\", expected a number from %g to %g", name,
                       text, low, high);
    *out = value;
    return tell(true, found);
}
