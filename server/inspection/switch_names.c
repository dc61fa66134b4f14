#include "server/inspection/switch_names.h"

#include "base/ascii.h"
#include "server/http/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

void mt_switch_name(const struct mt_head *head, char out[MT_SWITCH_NAME_BYTES])
{
    const char *kind = mt_trace_kind_name(head->place);
    if (head->head == MT_ALL_HEADS)
        snprintf(out, MT_SWITCH_NAME_BYTES, "%s.%zu", kind, head->layer);
    else
        snprintf(out, MT_SWITCH_NAME_BYTES, "%s.%zu.%zu", kind, head->layer, head->head);
}

struct reader {
    const char *field;
    const struct mt_inspection_model *model;
    struct mt_head *heads;
    size_t n;
};

/* Reads a whole number of at most three digits, and moves *text behind it. */
static bool read_number(const char **text, const char *end, size_t *out)
{
    const char *begin = *text;
    size_t value = 0;
    while (*text < end && mt_ascii_is_digit(**text) && *text - begin < 3)
        value = value * 10 + (size_t)(*(*text)++ - '0');
    *out = value;
    return *text > begin;
}

static bool parse(const char *text, size_t length, struct mt_head *out)
{
    static const enum mt_trace_kind kinds[] = {MT_TRACE_ENCODER, MT_TRACE_DECODER, MT_TRACE_CROSS};
    const char *end = text + length;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = mt_trace_kind_name(kinds[i]), *at = text + strlen(name);
        if (length <= strlen(name) || strncmp(text, name, strlen(name)) != 0 || *at++ != '.')
            continue;
        *out = (struct mt_head){.place = kinds[i], .head = MT_ALL_HEADS};
        if (!read_number(&at, end, &out->layer))
            return false;
        return at == end || (*at++ == '.' && read_number(&at, end, &out->head) && at == end);
    }
    return false;
}

static enum mt_status check(const struct reader *reader, const struct mt_head *head,
                            const char *text, int length, struct mt_error *err)
{
    const struct mt_inspection_model *model = reader->model;
    bool is_encoder = head->place == MT_TRACE_ENCODER;
    size_t n_layers = is_encoder ? model->n_encoder_layers : model->n_decoder_layers;
    size_t n_heads = is_encoder ? model->n_encoder_heads : model->n_decoder_heads;
    if (head->place == MT_TRACE_DECODER && model->has_cell)
        return mt_fail(err, MT_INVALID, "%s: found \"%.*s\", but " MT_NO_DECODER_ATTENTION,
                       reader->field, length, text);
    if (head->layer < n_layers && (head->head == MT_ALL_HEADS || head->head < n_heads))
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "%s: found \"%.*s\", but %s attention has %zu layers of %zu heads, each counted "
                   "from 0",
                   reader->field, length, text, mt_trace_kind_name(head->place), n_layers, n_heads);
}

static bool is_there(const struct reader *reader, const struct mt_head *head)
{
    for (size_t i = 0; i < reader->n; i++) {
        const struct mt_head *other = &reader->heads[i];
        if (other->place == head->place && other->layer == head->layer && other->head == head->head)
            return true;
    }
    return false;
}

static enum mt_status add(struct reader *reader, const char *text, size_t length,
                          struct mt_error *err)
{
    struct mt_head head;
    int n_shown = length > 40 ? 40 : (int)length;
    if (!parse(text, length, &head))
        return mt_fail(err, MT_INVALID,
                       "%s: found \"%.*s\", expected a head like \"cross.1.6\" or a layer like "
                       "\"encoder.0\", of encoder, decoder or cross",
                       reader->field, n_shown, text);
    enum mt_status status = check(reader, &head, text, n_shown, err);
    if (!status && !is_there(reader, &head))
        reader->heads[reader->n++] = head;
    return status;
}

static enum mt_status add_list(struct reader *reader, const char *text, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (; !status; text++) {
        size_t length = strcspn(text, ",");
        status = add(reader, text, length, err);
        text += length;
        if (!*text)
            break;
    }
    return status;
}

static enum mt_status add_value(struct reader *reader, const struct cJSON *value,
                                struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (cJSON_IsString(value))
        return add_list(reader, value->valuestring, err);
    if (!cJSON_IsArray(value))
        return mt_fail(err, MT_INVALID, "%s: expected an array of names like \"cross.1.6\"",
                       reader->field);
    for (const struct cJSON *item = value->child; item && !status; item = item->next)
        status = cJSON_IsString(item)
                     ? add(reader, item->valuestring, strlen(item->valuestring), err)
                     : mt_fail(err, MT_INVALID, "%s: expected an array of strings", reader->field);
    return status;
}

enum mt_status mt_switches_read(const struct mt_params *params, const char *field,
                                const struct mt_inspection_model *model, struct mt_head **out,
                                size_t *n, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, field);
    bool is_absent = !value || (cJSON_IsString(value) && !value->valuestring[0]) ||
                     (cJSON_IsArray(value) && !value->child);
    *out = NULL;
    *n = 0;
    if (is_absent)
        return MT_OK;
    /* There are at most as many names as heads and layers. */
    size_t n_names = model->n_encoder_layers * (model->n_encoder_heads + 1) +
                     2 * model->n_decoder_layers * (model->n_decoder_heads + 1);
    struct reader reader = {.field = field, .model = model};
    reader.heads = calloc(n_names, sizeof *reader.heads);
    if (!reader.heads)
        return mt_fail_memory(err, n_names * sizeof *reader.heads, "switches");
    enum mt_status status = add_value(&reader, value, err);
    if (status) {
        free(reader.heads);
        return status;
    }
    *out = reader.heads;
    *n = reader.n;
    return MT_OK;
}
