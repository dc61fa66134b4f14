#include "server/models/model_alignment.h"

#include "server/inspection/inspection_translation.h"
#include "server/models/model_defaults.h"
#include "server/models/served_model.h"

enum mt_status mt_alignment_of_model(const struct mt_settings *settings,
                                     const struct mt_loaded_model *model,
                                     struct mt_alignment_choice *out, struct mt_error *err)
{
    const struct mt_inspection_model shape =
        mt_inspection_describe_model(model->model, NULL, NULL, NULL);
    const struct mt_model_defaults *own = model->defaults;
    struct mt_inspection_options common = {0};
    enum mt_status status = mt_alignment_of_settings(settings, &common.alignment, err);
    if (status)
        return status;
    *out = common.alignment;
    if (mt_inspection_check(&shape, &common, NULL))
        out->layers = out->heads = (struct mt_index_list){0};
    status = mt_index_list_parse("alignment_layers", own->alignment_layers, &out->layers, err);
    if (!status)
        status = mt_index_list_parse("alignment_heads", own->alignment_heads, &out->heads, err);
    if (!status)
        status = mt_alignment_mode_parse("alignment_mode", own->alignment_mode, &out->mode, err);
    return status ? status
                  : mt_alignment_shift_parse("alignment_shift", own->alignment_shift, &out->shift,
                                             err);
}
