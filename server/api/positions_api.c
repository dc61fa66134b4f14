#include "server/api/positions_api.h"

#include "config/settings.h"
#include "model/model.h"
#include "server/api/languages_api.h"
#include "server/http/fields.h"
#include "server/inspection/positions.h"

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    if (request->model)
        return MT_OK;
    enum mt_status status = mt_languages_read_model(request, out, err);
    if (!status && !*out)
        *out = mt_catalog_default(request->service->catalog);
    return status || *out ? status : mt_languages_fail_empty(err);
}

static enum mt_status check_size(const struct mt_service *service,
                                 const struct mt_positions_request *positions, struct mt_error *err)
{
    uint64_t n = (uint64_t)positions->n_rows * positions->d_model;
    uint64_t limit = (uint64_t)service->settings->max_attention_values;
    if (n <= limit)
        return MT_OK;
    return mt_fail(err, MT_LIMIT, "positions: %llu numbers needed, %llu allowed",
                   (unsigned long long)n, (unsigned long long)limit);
}

static enum mt_status read_request(const struct mt_request *request,
                                   struct mt_positions_request *positions, struct mt_error *err)
{
    const struct mt_loaded_model *model = request->model;
    const struct mt_hparams *hparams = mt_model_hparams(model->model);
    struct mt_fields fields;
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_POSITIONS,
                                           request->service->settings, &fields, err);
    *positions = (struct mt_positions_request){.model_id = model->label,
                                               .scheme = {.layout = hparams->position_layout,
                                                          .formula = hparams->position_formula,
                                                          .first = hparams->first_position},
                                               .n_rows = (size_t)fields.n,
                                               .d_model = hparams->d_model};
    if (!status)
        status = mt_position_layout_parse(fields.layout, &positions->scheme.layout, err);
    if (!status && fields.format[0])
        status = mt_inspection_format_parse(fields.format, &positions->format, err);
    if (!status && hparams->learned_positions && !fields.layout[0])
        status = mt_fail(err, MT_UNSUPPORTED,
                         "the model's positions are learned, not computed; ask for a layout to see "
                         "the computed ones");
    return status ? status : check_size(request->service, positions, err);
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct mt_positions_request positions;
    enum mt_status status = read_request(request, &positions, err);
    if (!status)
        status = mt_positions_render(&positions, &request->reply.stream, err);
    if (status)
        return status;
    const struct mt_inspection_format_info *info = mt_inspection_format_info(positions.format);
    request->reply.content_type = info->content_type;
    request->reply.no_compression = info->is_compressed;
    return MT_OK;
}

const struct mt_handler mt_positions_handler = {.choose = choose, .finish = finish};
