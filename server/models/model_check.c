#include "server/models/model_check.h"

#include "model/model.h"
#include "server/inspection/inspection_request.h"
#include "server/inspection/inspection_translation.h"
#include "server/models/model_profile.h"

enum mt_status mt_model_defaults_check(const struct mt_model_defaults *defaults,
                                       const struct mt_model *model,
                                       struct mt_alignment_choice *out, struct mt_error *err)
{
    const struct mt_inspection_model shape = mt_inspection_describe_model(model, NULL, NULL, NULL);
    size_t max_positions = mt_model_hparams(model)->max_positions;
    struct mt_inspection_options options = {0};
    enum mt_status status = mt_alignment_parse(&defaults->alignment, &options.alignment, err);
    if (!status)
        status = mt_inspection_check(&shape, &options, err);
    if (!status && defaults->max_decoding_length > max_positions)
        status =
            mt_fail(err, MT_INVALID, "max_decoding_length is %zu, but the model has %zu positions",
                    defaults->max_decoding_length, max_positions);
    if (status)
        return mt_fail_in(err, status, MT_MODEL_DEFAULTS_FILE);
    *out = options.alignment;
    return MT_OK;
}

enum mt_status mt_model_files_check(const char *path, const char *name,
                                    const struct mt_model_options *options, struct mt_error *err)
{
    struct mt_model_options checking = *options;
    struct mt_alignment_choice alignment;
    struct mt_model_profile profile;
    struct mt_model *model = NULL;
    checking.checks_only = true;
    enum mt_status status = mt_model_profile_read(path, name, &profile, err);
    if (status)
        return status;
    status = mt_model_open(path, &checking, &model, err);
    if (!status)
        status = mt_model_defaults_check(&profile.defaults, model, &alignment, err);
    mt_model_close(model);
    mt_model_profile_finish(&profile);
    return status;
}
