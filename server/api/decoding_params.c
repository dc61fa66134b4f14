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

/* A field that is "on" or "off", or else as the setting of its name. */
static enum mt_status read_switch(const struct mt_params *params, const char *name,
                                  const char *setting, bool *is_off, struct mt_error *err)
{
    const char *asked = setting;
    enum mt_status status = mt_params_string(params, name, &asked, NULL, err);
    if (status)
        return status;
    *is_off = strcmp(asked, "off") == 0;
    return *is_off || strcmp(asked, "on") == 0
               ? MT_OK
               : mt_fail(err, MT_INVALID, "%s is \"%.40s\", expected \"on\" or \"off\"", name,
                         asked);
}

enum mt_status mt_decoding_params_lengths(const struct mt_service *service,
                                          const struct mt_loaded_model *model,
                                          const struct mt_params *params,
                                          struct mt_sentence_options *decoding,
                                          struct mt_error *err)
{
    const struct mt_model_defaults *own = model->defaults;
    const double factor = mt_model_defaults_length_factor(own, service->settings);
    int64_t longest = (int64_t)mt_model_hparams(model->model)->max_positions;
    int64_t minimum = 0, maximum = (int64_t)mt_model_defaults_max_length(own, service->settings);
    double penalty = service->settings->length_penalty;
    bool has_minimum = false, has_maximum = false;
    if (maximum > longest) /* the setting is for models of any size */
        maximum = longest;
    if (own->length_penalty >= 0)
        penalty = own->length_penalty;
    enum mt_status status = mt_params_number(params, "length_penalty", 0, 10, &penalty, NULL, err);
    if (!status)
        status = mt_params_integer(params, "min_decoding_length", 0, longest, &minimum,
                                   &has_minimum, err);
    if (!status)
        status = mt_params_integer(params, "max_decoding_length", 1, longest, &maximum,
                                   &has_maximum, err);
    decoding->has_length_penalty = penalty >= 0;
    decoding->length_penalty = penalty >= 0 ? (float)penalty : 0;
    decoding->min_decoding_length = (size_t)minimum;
    decoding->max_decoding_length = (size_t)maximum;
    decoding->max_length_factor =
        factor >= 0 ? (float)factor : mt_decoding_length_factor(service->settings, model->model);
    if (has_minimum || has_maximum)
        decoding->max_length_factor = 0;
    if (!status)
        status = read_switch(params, "shortlist", service->settings->shortlist,
                             &decoding->skips_shortlist, err);
    return status ? status
                  : read_switch(params, "target_vocabulary", service->settings->target_vocabulary,
                                &decoding->skips_target_vocabulary, err);
}

enum mt_status mt_decoding_params_split(const struct mt_service *service,
                                        const struct mt_params *params, enum mt_split *out,
                                        struct mt_error *err)
{
    const char *asked = service->settings->split_sentences;
    enum mt_status status = mt_params_string(params, "split_sentences", &asked, NULL, err);
    if (status || mt_split_parse(asked, out))
        return status;
    return mt_fail(err, MT_INVALID,
                   "split_sentences is \"%.40s\", expected \"on\", \"off\" or \"newlines\"", asked);
}
