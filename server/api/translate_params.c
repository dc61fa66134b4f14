#include "server/api/translate_params.h"

#include "config/settings.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"
#include "server/api/decoding_params.h"
#include "server/models/served_model.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* The value is a number, or a string with one; clients send both. */
static enum mt_status read_alternatives(const struct mt_params *fields, int64_t limit, size_t *out,
                                        bool *found, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(fields, "alternatives");
    double number = 0;
    *found = value != NULL;
    if (cJSON_IsNumber(value))
        number = value->valuedouble;
    else if (cJSON_IsString(value) && value->valuestring[0] == '\0')
        *found = false;
    else if (value && (!cJSON_IsString(value) || !mt_parse_number(value->valuestring, &number)))
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter is not a number");
    if (number < 0)
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter must be >= 0");
    if (number > (double)limit)
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter must be <= %lld",
                       (long long)limit);
    *out = (size_t)number;
    return MT_OK;
}

/* num_hypotheses also counts the best translation. */
enum mt_status mt_translate_params_read_beam(struct mt_translate_params *params,
                                             const struct mt_request *request, struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    const struct mt_params *fields = &request->params;
    int64_t beam_size = 0, n_hypotheses = 1;
    bool has_alternatives, has_hypotheses, has_beam;
    enum mt_status status = read_alternatives(fields, settings->max_alternatives,
                                              &params->n_alternatives, &has_alternatives, err);
    if (!status)
        status = mt_params_integer(fields, "num_hypotheses", 1, settings->max_alternatives + 1,
                                   &n_hypotheses, &has_hypotheses, err);
    if (!status)
        status = mt_params_integer(fields, "beam_size", 1, settings->max_beam_size, &beam_size,
                                   &has_beam, err);
    if (status)
        return status;
    if (has_hypotheses && has_alternatives && (size_t)n_hypotheses != params->n_alternatives + 1)
        return mt_fail(err, MT_INVALID,
                       "num_hypotheses is %lld and alternatives is %zu: give one of them",
                       (long long)n_hypotheses, params->n_alternatives);
    if (has_hypotheses)
        params->n_alternatives = (size_t)n_hypotheses - 1;
    params->beam_size = (size_t)beam_size;
    if (has_beam && params->beam_size < params->n_alternatives + 1)
        return mt_fail(err, MT_INVALID,
                       "beam_size is %lld, expected at least %zu for %zu "
                       "alternatives",
                       (long long)beam_size, params->n_alternatives + 1, params->n_alternatives);
    return MT_OK;
}

static enum mt_status find_format(struct mt_translate_params *params, struct mt_error *err)
{
    static const struct {
        const char *name;
        mt_coded_reader *read;
    } formats[] = {
        {"", mt_read_plain}, {"text", mt_read_plain}, {"html", mt_read_html}, {"xml", mt_read_xml}};
    const char *format = params->fields.format;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !params->read; i++)
        if (strcmp(format, formats[i].name) == 0)
            params->read = formats[i].read;
    params->has_tags = params->read != mt_read_plain;
    return params->read ? MT_OK : mt_fail(err, MT_INVALID, "%.60s format is not supported", format);
}

/* is_array: the field q is an array. */
static enum mt_status join_fields(struct mt_translate_params *params, bool is_array,
                                  struct mt_error *err)
{
    struct mt_fields *fields = &params->fields;
    bool has_prefix = fields->target_prefix[0] != '\0';
    if (has_prefix && is_array)
        return mt_fail(err, MT_INVALID, "target_prefix is for a single text, but q is an array");
    /* always succeeds, since the field's table has all names */
    (void)mt_split_parse(fields->split_sentences, &params->split);
    if (has_prefix)
        params->split = MT_SPLIT_OFF;
    if (fields->stream)
        params->publish =
            strcmp(fields->stream_mode, "token") == 0 ? MT_PUBLISH_TOKENS : MT_PUBLISH_END;
    /* Clients that request an alignment, or give the first words, want the model's unchanged
     * output. Streamed text cannot be corrected later. */
    if (fields->alignment || has_prefix || fields->stream)
        fields->post_edit = fields->repair_numbers = false;
    return MT_OK;
}

/* Refuses combinations of fields. Some apply to a text as a whole and not to pieces of a page, and
 * an alignment shows the model's own output, which has no terms. */
static enum mt_status check_together(const struct mt_translate_params *params, struct mt_error *err)
{
    const struct mt_fields *fields = &params->fields;
    bool has_terms = params->glossary.terms || fields->glossary_id[0] != '\0';
    if (has_terms && fields->alignment)
        return mt_fail(err, MT_INVALID,
                       "alignment cannot be had together with glossary or do_not_translate");
    const char *field = fields->alignment          ? "alignment"
                        : fields->return_sentences ? "return_sentences"
                        : fields->target_prefix[0] ? "target_prefix"
                                                   : NULL;
    if (params->has_tags && field)
        return mt_fail(err, MT_INVALID, "%s is for format text, but format is %s", field,
                       params->read == mt_read_html ? "html" : "xml");
    return MT_OK;
}

enum mt_status mt_translate_params_read(struct mt_translate_params *params,
                                        const struct mt_request *request, bool is_array,
                                        struct mt_error *err)
{
    const struct mt_params *fields = &request->params;
    const struct mt_settings *settings = request->service->settings;
    enum mt_status status =
        mt_fields_read(fields, MT_FIELDS_OF_TRANSLATE, settings, &params->fields, err);
    if (!status)
        status = find_format(params, err);
    if (!status)
        status = join_fields(params, is_array, err);
    if (!status)
        status =
            mt_glossary_read(fields, (size_t)settings->max_glossary_terms, &params->glossary, err);
    if (!status)
        status = mt_tag_names_read(fields, "ignore_tags", &params->ignored_tags, err);
    if (!status)
        status = mt_tag_names_read(fields, "splitting_tags", &params->splitting_tags, err);
    if (!status)
        status = mt_tag_names_read(fields, "non_splitting_tags", &params->non_splitting_tags, err);
    return status ? status : check_together(params, err);
}

enum mt_status mt_translate_params_read_text(const struct mt_translate_params *params,
                                             const struct mt_request *request, const char *bytes,
                                             size_t length, struct mt_coded *out,
                                             struct mt_error *err)
{
    const struct mt_coded_options options = {
        .max_tags = (size_t)request->service->settings->max_html_tags,
        .ignored_tags = params->ignored_tags.items,
        .n_ignored_tags = params->ignored_tags.n,
        .splitting_tags = params->splitting_tags.items,
        .n_splitting_tags = params->splitting_tags.n,
        .non_splitting_tags = params->non_splitting_tags.items,
        .n_non_splitting_tags = params->non_splitting_tags.n,
        .ignores_outline = !params->fields.outline_detection,
    };
    return params->read(bytes, length, &options, out, err);
}

void mt_translate_params_finish(struct mt_translate_params *params)
{
    mt_glossary_finish(&params->glossary);
    mt_tag_names_finish(&params->ignored_tags);
    mt_tag_names_finish(&params->splitting_tags);
    mt_tag_names_finish(&params->non_splitting_tags);
}

/* ---- for one model ---- */

/* Tokenizes the beginning of the translation as target tokens. */
static enum mt_status tokenize_prefix(struct mt_translate_decoding *decoding,
                                      const struct mt_model *model, const char *prefix,
                                      struct mt_error *err)
{
    struct mt_token_list list = {0};
    enum mt_status status = mt_tokenize(mt_model_tokenizer(model), prefix, strlen(prefix),
                                        MT_TOKENIZE_TARGET, &list, err);
    if (status)
        return status;
    size_t n = list.n - 1; /* without the end of sentence */
    decoding->prefix_ids = calloc(n + 1, sizeof decoding->prefix_ids[0]);
    for (size_t i = 0; i < n && decoding->prefix_ids; i++)
        decoding->prefix_ids[i] = list.tokens[i].id;
    mt_token_list_finish(&list);
    if (!decoding->prefix_ids)
        return mt_fail_memory(err, (n + 1) * sizeof decoding->prefix_ids[0], "target prefix");
    decoding->options.decoding.target_prefix = decoding->prefix_ids;
    decoding->options.decoding.n_target_prefix = n;
    return MT_OK;
}

enum mt_status mt_translate_decoding_init(struct mt_translate_decoding *decoding,
                                          const struct mt_translate_params *params,
                                          const struct mt_request *request, bool is_last,
                                          struct mt_error *err)
{
    const struct mt_loaded_model *model = request->model;
    struct mt_sentence_options *options = &decoding->options.decoding;
    decoding->options.splitter = request->service->splitter;
    decoding->options.split = params->split;
    /* Line feeds are HTML's line breaks, and are kept only between sentences. */
    if (params->read == mt_read_html && params->split == MT_SPLIT_OFF)
        decoding->options.split = MT_SPLIT_NEWLINES;
    decoding->options.eases_source = params->fields.post_edit;
    options->beam_size = mt_decoding_beam_size(request->service, model, params->beam_size);
    options->num_hypotheses = 1;
    options->skip_scores = !params->fields.return_scores || !is_last;
    enum mt_status status = mt_decoding_params_read(request, &params->fields, options, err);
    if (status || !is_last)
        return status;
    if (options->beam_size == 0)
        options->beam_size = mt_model_hparams(model->model)->n_beams;
    /* Hypotheses of different tokens often have the same text, so all of them are searched for the
     * requested number of different texts, and the beam is at least as wide as that. */
    if (options->beam_size < params->n_alternatives + 1)
        options->beam_size = params->n_alternatives + 1;
    if (params->n_alternatives > 0)
        options->num_hypotheses = options->beam_size;
    options->publish = params->publish;
    if (!params->fields.target_prefix[0])
        return MT_OK;
    return tokenize_prefix(decoding, model->model, params->fields.target_prefix, err);
}

void mt_translate_decoding_finish(struct mt_translate_decoding *decoding)
{
    free(decoding->prefix_ids);
    *decoding = (struct mt_translate_decoding){0};
}
