#include "server/api/attention_fields.h"

#include "model/files/hparams.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

struct reader {
    const char *field;
    const struct mt_hparams *hparams;
    struct mt_token_ids *out; /* room for max_positions + 1 */
};

static enum mt_status add_id(const struct reader *reader, double id, struct mt_error *err)
{
    const struct mt_hparams *hparams = reader->hparams;
    struct mt_token_ids *out = reader->out;
    if (!(id >= 0 && id < (double)hparams->n_target_vocab) || id != (double)(int32_t)id)
        return mt_fail(err, MT_INVALID, "%s: found %g, expected token ids from 0 to %zu",
                       reader->field, id, hparams->n_target_vocab - 1);
    if (out->n >= hparams->max_positions)
        return mt_fail(err, MT_LIMIT, "%s: more than %zu, the most that the model takes",
                       reader->field, hparams->max_positions);
    out->ids[out->n++] = (int32_t)id;
    return MT_OK;
}

static enum mt_status wrong_ids(const struct reader *reader, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "%s: expected an array of token ids", reader->field);
}

static enum mt_status read_array(const struct reader *reader, const struct cJSON *array,
                                 struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (const struct cJSON *item = array->child; item && !status; item = item->next)
        status =
            cJSON_IsNumber(item) ? add_id(reader, item->valuedouble, err) : wrong_ids(reader, err);
    return status;
}

static enum mt_status read_list(const struct reader *reader, const char *text, struct mt_error *err)
{
    for (const char *at = text;; at++) {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at || (*end && *end != ','))
            return wrong_ids(reader, err);
        enum mt_status status = add_id(reader, (double)id, err);
        if (status)
            return status;
        at = end;
        if (!*at)
            return MT_OK;
    }
}

static enum mt_status check_end(const struct reader *reader, bool ends, struct mt_error *err)
{
    const struct mt_token_ids *out = reader->out;
    int32_t eos = reader->hparams->eos_id;
    for (size_t i = 0; i < out->n; i++)
        if (out->ids[i] == eos && !(ends && i + 1 == out->n))
            return mt_fail(err, MT_INVALID, "%s: the end (%d) is number %zu of %zu, %s",
                           reader->field, (int)eos, i + 1, out->n,
                           ends ? "expected it last" : "and nothing goes on behind it");
    bool has_end = out->n > 0 && out->ids[out->n - 1] == eos;
    return has_end || !ends ? MT_OK : add_id(reader, (double)eos, err);
}

static enum mt_status read_ids(const struct reader *reader, const struct cJSON *value, bool ends,
                               struct mt_error *err)
{
    enum mt_status status;
    if (cJSON_IsArray(value))
        status = read_array(reader, value, err);
    else if (cJSON_IsString(value))
        status = read_list(reader, value->valuestring, err);
    else
        status = wrong_ids(reader, err);
    return status ? status : check_end(reader, ends, err);
}

enum mt_status mt_token_ids_read(const struct mt_params *params, const char *field,
                                 const struct mt_hparams *hparams, bool ends,
                                 struct mt_token_ids *out, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, field);
    bool is_absent = !value || (cJSON_IsString(value) && !value->valuestring[0]) ||
                     (!ends && cJSON_IsArray(value) && !value->child);
    *out = (struct mt_token_ids){0};
    if (is_absent)
        return MT_OK;
    struct mt_token_ids ids = {.ids = calloc(hparams->max_positions + 1, sizeof *ids.ids)};
    const struct reader reader = {.field = field, .hparams = hparams, .out = &ids};
    if (!ids.ids)
        return mt_fail_memory(err, hparams->max_positions * sizeof *ids.ids, "token ids");
    enum mt_status status = read_ids(&reader, value, ends, err);
    if (status)
        mt_token_ids_finish(&ids);
    else
        *out = ids;
    return status;
}

void mt_token_ids_finish(struct mt_token_ids *ids)
{
    free(ids->ids);
    *ids = (struct mt_token_ids){0};
}
