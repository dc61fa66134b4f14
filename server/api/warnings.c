#include "server/api/warnings.h"

#include "server/service/metrics.h"
#include "server/passages/passage.h"

void mt_warnings_init(struct mt_warnings *warnings, const struct mt_guard_options *options,
                      struct mt_metrics *metrics)
{
    *warnings = (struct mt_warnings){.options = *options, .metrics = metrics};
    mt_json_writer_init(&warnings->writer, &warnings->list);
}

static void write_one(struct mt_warnings *warnings, size_t text, size_t sentence, const char *model,
                      enum mt_warning kind)
{
    struct mt_json_writer *writer = &warnings->writer;
    if (warnings->list.length == 0)
        mt_json_begin_array(writer);
    mt_json_begin_object(writer);
    mt_json_key(writer, "kind");
    mt_json_string_z(writer, mt_warning_name(kind));
    if (model) {
        mt_json_key(writer, "model");
        mt_json_string_z(writer, model);
    }
    mt_json_key(writer, "sentence");
    mt_json_integer(writer, (int64_t)sentence);
    mt_json_key(writer, "text");
    mt_json_integer(writer, (int64_t)text);
    mt_json_end_object(writer);
    mt_metrics_warn(warnings->metrics, kind);
}

void mt_warnings_add(struct mt_warnings *warnings, size_t text, const char *model,
                     const struct mt_passage *passage)
{
    const struct mt_translation *translation;
    size_t position = 0, n_before = 0;
    while ((translation = mt_passage_next(passage, &position))) {
        size_t n = mt_translation_n_sentences(translation);
        for (size_t k = 0; k < n; k++) {
            unsigned found = mt_guard_check(translation, k, &warnings->options);
            for (unsigned kind = 0; kind < MT_N_WARNINGS; kind++)
                if (found & 1u << kind)
                    write_one(warnings, text, n_before + k, model, (enum mt_warning)kind);
        }
        n_before += n;
    }
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
