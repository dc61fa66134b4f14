#include "server/passages/alignment_trace.h"

#include "base/json.h"
#include "config/settings.h"
#include "server/passages/budget.h"
#include "server/inspection/inspection_request.h"
#include "server/inspection/inspection_translation.h"
#include "server/models/served_model.h"
#include "server/text/translation.h"
#include "server/inspection/word_links.h"

/* Has only those heads traced that the alignment is made of. */
static void keep_heads(struct mt_alignment_trace *trace)
{
    const struct mt_inspection_model description =
        mt_inspection_describe_model(trace->model->model, trace->model->label, NULL, NULL);
    struct mt_selection selection;
    struct mt_error err;
    struct mt_kept_heads *kept = &trace->options.kept_heads;
    enum mt_status status =
        mt_inspection_select_alignment(&description, &trace->options.alignment, &selection, &err);
    if (status || selection.n_layers * selection.n_heads > MT_MAX_ALIGNMENT_HEADS)
        return;
    kept->items = trace->heads;
    for (size_t l = 0; l < selection.n_layers; l++)
        for (size_t h = 0; h < selection.n_heads; h++)
            trace->heads[kept->n++] =
                (uint16_t)(selection.layers[l] * description.n_decoder_heads + selection.heads[h]);
}

void mt_alignment_trace_begin(struct mt_alignment_trace *trace, const struct mt_service *service,
                              const struct mt_loaded_model *model,
                              struct mt_translation_options *options)
{
    *trace = (struct mt_alignment_trace){
        .service = service, .model = model, .options.alignment = model->alignment};
    keep_heads(trace);
    mt_inspection_require(&trace->options, &options->decoding);
}

enum mt_status mt_alignment_trace_reserve(struct mt_alignment_trace *trace,
                                          const struct mt_translation *translation,
                                          struct mt_error *err)
{
    if (!translation)
        return MT_OK;
    const struct mt_service *service = trace->service;
    uint64_t limit = (uint64_t)service->settings->max_attention_values;
    uint64_t n =
        mt_inspection_estimate_traced(trace->model->model, translation, &trace->options, false);
    if (n > limit || trace->n_values > limit - n)
        return mt_fail(err, MT_LIMIT,
                       "alignment: about %llu numbers needed, %llu allowed; send fewer texts at a "
                       "time",
                       (unsigned long long)(trace->n_values + n), (unsigned long long)limit);
    if (!mt_budget_take(service->attention_budget, n))
        return mt_fail(err, MT_BUSY,
                       "alignment: other requests hold the memory that this one needs: try again "
                       "later");
    trace->n_values += n;
    return MT_OK;
}

enum mt_status mt_alignment_trace_reserve_sentence(void *context, size_t n_tokens,
                                                   bool *is_reserved, struct mt_error *err)
{
    struct mt_alignment_trace *trace = context;
    uint64_t limit = (uint64_t)trace->service->settings->max_attention_values;
    uint64_t n = mt_inspection_estimate_cross(trace->model->model, &trace->options, n_tokens);
    (void)err;
    *is_reserved = n <= limit && trace->n_values <= limit - n &&
                   mt_budget_take(trace->service->attention_budget, n);
    if (*is_reserved)
        trace->n_values += n;
    return MT_OK;
}

bool mt_alignment_trace_has_room(const struct mt_alignment_trace *trace)
{
    return trace->n_values <= (uint64_t)trace->service->settings->max_attention_values / 2;
}

static void write_links(struct mt_json_writer *writer, const struct mt_inspection *inspection,
                        const struct mt_word_links *links)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < links->n; i++) {
        mt_json_begin_object(writer);
        mt_span_write(writer, "source", inspection->source_text, &links->items[i].source);
        mt_span_write(writer, "target", inspection->target_text, &links->items[i].target);
        mt_json_key(writer, "score");
        mt_json_fixed(writer, (double)links->items[i].score, 4);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}

static enum mt_status inspect(const struct mt_alignment_trace *trace,
                              struct mt_translation *translation, struct mt_inspection **out,
                              struct mt_error *err)
{
    const struct mt_loaded_model *model = trace->model;
    const struct mt_inspection_model description =
        mt_inspection_describe_model(model->model, model->label, NULL, NULL);
    return mt_inspection_of_translation(model->model, translation, &description, &trace->options,
                                        false, out, err);
}

enum mt_status mt_alignment_trace_find(const struct mt_alignment_trace *trace,
                                       struct mt_translation *translation,
                                       struct mt_word_links *out, struct mt_error *err)
{
    struct mt_inspection *inspection;
    enum mt_status status = inspect(trace, translation, &inspection, err);
    if (status)
        return status;
    status = mt_word_links_find(inspection, out, err);
    mt_inspection_destroy(inspection);
    return status;
}

enum mt_status mt_alignment_trace_write(const struct mt_alignment_trace *trace,
                                        struct mt_translation *translation,
                                        struct mt_json_writer *writer, struct mt_error *err)
{
    struct mt_inspection *inspection;
    struct mt_word_links links = {0};
    if (!translation) { /* there may be no service either: nothing had to be translated */
        mt_json_begin_array(writer);
        mt_json_end_array(writer);
        return MT_OK;
    }
    enum mt_status status = inspect(trace, translation, &inspection, err);
    if (status)
        return status;
    status = mt_word_links_find(inspection, &links, err);
    if (!status)
        write_links(writer, inspection, &links);
    mt_word_links_finish(&links);
    mt_inspection_destroy(inspection);
    return status;
}

void mt_alignment_trace_finish(struct mt_alignment_trace *trace)
{
    if (trace->n_values)
        mt_budget_give_back(trace->service->attention_budget, trace->n_values);
    trace->n_values = 0;
}
