#include "server/api/decoding_params.h"

#include "config/settings.h"
#include "model/model.h"
#include "server/models/served_model.h"

#include <string.h>

size_t mt_decoding_beam_size(const struct mt_service *service, const struct mt_loaded_model *model,
                             size_t asked)
{
    return asked > 0 ? asked : mt_model_defaults_beam_size(model->defaults, service->settings);
}

float mt_decoding_length_factor(const struct mt_settings *settings, const struct mt_model *model)
{
    bool is_said = mt_model_hparams(model)->max_length_factor > 0.0f;
    return is_said ? 0.0f : (float)settings->max_length_factor;
}

bool mt_decoding_skips_shortlist(const struct mt_settings *settings)
{
    return strcmp(settings->shortlist, "off") == 0;
}

bool mt_decoding_skips_target_vocabulary(const struct mt_settings *settings)
{
    return strcmp(settings->target_vocabulary, "off") == 0;
}

enum mt_status mt_decoding_params_read(const struct mt_request *request,
                                       const struct mt_fields *fields,
                                       struct mt_sentence_options *decoding, struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    const struct mt_model *model = request->model->model;
    const struct mt_model_defaults *own = request->model->defaults;
    const double factor = mt_model_defaults_length_factor(own, settings);
    int64_t longest = (int64_t)mt_model_hparams(model)->max_positions;
    int64_t minimum = 0, maximum = (int64_t)mt_model_defaults_max_length(own, settings);
    double penalty = own->length_penalty >= 0 ? own->length_penalty : settings->length_penalty;
    bool has_minimum = false, has_maximum = false;
    if (maximum > longest) /* the setting is for models of any size, so it is limited */
        maximum = longest;
    if (fields->length_penalty >= 0)
        penalty = fields->length_penalty;
    enum mt_status status = mt_params_integer(&request->params, "min_decoding_length", 0, longest,
                                              &minimum, &has_minimum, err);
    if (!status)
        status = mt_params_integer(&request->params, "max_decoding_length", 1, longest, &maximum,
                                   &has_maximum, err);
    decoding->has_length_penalty = penalty >= 0;
    decoding->length_penalty = penalty >= 0 ? (float)penalty : 0;
    decoding->min_decoding_length = (size_t)minimum;
    decoding->max_decoding_length = (size_t)maximum;
    decoding->max_length_factor =
        factor >= 0 ? (float)factor : mt_decoding_length_factor(settings, model);
    if (has_minimum || has_maximum)
        decoding->max_length_factor = 0;
    decoding->skips_shortlist = strcmp(fields->shortlist, "off") == 0;
    decoding->skips_target_vocabulary = strcmp(fields->target_vocabulary, "off") == 0;
    return status;
}
