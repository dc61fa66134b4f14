#include "server/api/warnings.h"

#include "config/settings.h"
#include "server/service/metrics.h"
#include "server/passages/passage.h"

#include <string.h>

struct mt_quality_options mt_quality_options_of(const struct mt_settings *settings)
{
    return (struct mt_quality_options){.max_repeats = (size_t)settings->max_repeats,
                                       .max_length_ratio = settings->max_length_ratio,
                                       .min_probability = settings->min_probability};
}

void mt_warnings_init(struct mt_warnings *warnings, const struct mt_quality_options *options,
                      struct mt_metrics *metrics)
{
    *warnings = (struct mt_warnings){.options = *options, .metrics = metrics};
    mt_json_writer_init(&warnings->writer, &warnings->list);
}

/* The sentence that warnings are added for. */
struct place {
    struct mt_warnings *warnings;
    size_t text;
    const char *model; /* NULL: it is not named */
};

/* Writes an array of strings, which numbers has one after the other, each with a NUL. */
static void write_numbers(struct mt_json_writer *writer, const char *key,
                          const struct mt_text *numbers)
{
    mt_json_member_array(writer, key);
    for (size_t at = 0; at < numbers->length; at += strlen(numbers->bytes + at) + 1)
        mt_json_string_z(writer, numbers->bytes + at);
    mt_json_end_array(writer);
}

static void write_one(void *context, const struct mt_finding *finding)
{
    const struct place *place = context;
    struct mt_warnings *warnings = place->warnings;
    struct mt_json_writer *writer = &warnings->writer;
    bool has_numbers = finding->kind == MT_WARNING_NUMBERS;
    if (warnings->metrics)
        mt_metrics_warn(warnings->metrics, finding->kind);
    if (warnings->n == MT_MAX_WARNINGS)
        return;
    if (warnings->n++ == 0)
        mt_json_begin_array(writer);
    mt_json_begin_object(writer);
    if (has_numbers)
        write_numbers(writer, "added", &finding->added);
    mt_json_member(writer, "kind", mt_warning_name(finding->kind));
    if (has_numbers)
        write_numbers(writer, "missing", &finding->missing);
    if (place->model)
        mt_json_member(writer, "model", place->model);
    if (has_numbers && finding->repaired.length > 0)
        write_numbers(writer, "repaired", &finding->repaired);
    mt_json_member_count(writer, "sentence", finding->sentence);
    if (place->text != MT_NO_TEXT)
        mt_json_member_count(writer, "text", place->text);
    mt_json_end_object(writer);
}

enum mt_status mt_warnings_add(struct mt_warnings *warnings, size_t text, const char *model,
                               struct mt_passage *passage, struct mt_error *err)
{
    struct place place = {.warnings = warnings, .text = text, .model = model};
    return mt_passage_find_warnings(passage, &warnings->options, write_one, &place, err);
}

void mt_warnings_write(struct mt_warnings *warnings, struct mt_json_writer *writer)
{
    if (warnings->list.length == 0)
        return;
    mt_json_end_array(&warnings->writer);
    mt_json_key(writer, "warnings");
    mt_json_raw(writer, warnings->list.bytes, warnings->list.length);
}

void mt_warnings_finish(struct mt_warnings *warnings)
{
    mt_text_finish(&warnings->list);
}
