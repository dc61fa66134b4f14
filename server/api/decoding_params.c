#include "server/api/decoding_params.h"

#include "base/size.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/models/served_model.h"

#include <string.h>

size_t mt_decoding_beam_size(const struct mt_service *service, const struct mt_loaded_model *model,
                             size_t asked)
{
    return asked > 0 ? asked : mt_model_defaults_beam_size(model->defaults, service->settings);
}

struct mt_sentence_options mt_decoding_defaults(const struct mt_settings *settings,
                                                const struct mt_model *model,
                                                const struct mt_model_defaults *own)
{
    double penalty = own->length_penalty >= 0 ? own->length_penalty : settings->length_penalty;
    double factor = mt_model_defaults_length_factor(own, settings);
    if (factor < 0) {
        bool model_has_one = mt_model_hparams(model)->max_length_factor > 0.0f;
        factor = model_has_one ? 0 : settings->max_length_factor;
    }
    /* The setting is for models of any size, so a model's positions limit it. */
    size_t longest = mt_model_hparams(model)->max_positions;
    return (struct mt_sentence_options){
        .beam_size = mt_model_defaults_beam_size(own, settings),
        .has_length_penalty = penalty >= 0,
        .length_penalty = penalty >= 0 ? (float)penalty : 0,
        .max_decoding_length = mt_size_min(mt_model_defaults_max_length(own, settings), longest),
        .max_length_factor = (float)factor,
        .skips_shortlist = strcmp(settings->shortlist, "off") == 0,
        .skips_target_vocabulary = strcmp(settings->target_vocabulary, "off") == 0,
    };
}

enum mt_status mt_decoding_params_read(const struct mt_request *request,
                                       const struct mt_fields *fields,
                                       struct mt_sentence_options *decoding, struct mt_error *err)
{
    const struct mt_sentence_options defaults = mt_decoding_defaults(
        request->service->settings, request->model->model, request->model->defaults);
    int64_t longest = (int64_t)mt_model_hparams(request->model->model)->max_positions;
    int64_t minimum = 0, maximum = (int64_t)defaults.max_decoding_length;
    bool has_minimum = false, has_maximum = false;
    enum mt_status status = mt_params_integer(&request->params, "min_decoding_length", 0, longest,
                                              &minimum, &has_minimum, err);
    if (!status)
        status = mt_params_integer(&request->params, "max_decoding_length", 1, longest, &maximum,
                                   &has_maximum, err);
    bool has_penalty = fields->length_penalty >= 0;
    decoding->has_length_penalty = has_penalty || defaults.has_length_penalty;
    decoding->length_penalty =
        has_penalty ? (float)fields->length_penalty : defaults.length_penalty;
    decoding->min_decoding_length = (size_t)minimum;
    decoding->max_decoding_length = (size_t)maximum;
    decoding->max_length_factor = has_minimum || has_maximum ? 0 : defaults.max_length_factor;
    decoding->skips_shortlist = strcmp(fields->shortlist, "off") == 0;
    decoding->skips_target_vocabulary = strcmp(fields->target_vocabulary, "off") == 0;
    return status;
}
