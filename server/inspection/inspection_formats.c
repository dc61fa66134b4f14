#include "server/inspection/inspection_formats.h"

#include "base/json.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

#define ALL_KINDS (MT_TRACE_ENCODER | MT_TRACE_DECODER | MT_TRACE_CROSS)

static const struct mt_inspection_format_info formats[MT_N_INSPECTION_FORMATS] = {
    [MT_FORMAT_JSON] = {.name = "json",
                        .extension = ".json",
                        .content_type = "application/json",
                        .holds_numbers = true},
    [MT_FORMAT_BERTVIZ] = {.name = "bertviz",
                           .extension = ".bertviz.json",
                           .content_type = "application/json",
                           .holds_one_sentence = true,
                           .needs_heads = true,
                           .default_kinds = ALL_KINDS},
    [MT_FORMAT_INSEQ] = {.name = "inseq",
                         .extension = ".inseq.json",
                         .content_type = "application/json",
                         .needs_heads = true,
                         .default_kinds = ALL_KINDS},
    [MT_FORMAT_PHARAOH] = {.name = "pharaoh",
                           .extension = ".pharaoh",
                           .content_type = "text/plain; charset=utf-8"},
    [MT_FORMAT_SOFT] = {.name = "soft",
                        .extension = ".soft",
                        .content_type = "text/plain; charset=utf-8"},
    [MT_FORMAT_SAFETENSORS] = {.name = "safetensors",
                               .extension = ".safetensors",
                               .content_type = "application/octet-stream",
                               .holds_numbers = true},
    [MT_FORMAT_NPY] = {.name = "npy",
                       .extension = ".npy",
                       .content_type = "application/octet-stream",
                       .holds_one_sentence = true,
                       .holds_numbers = true,
                       .holds_one_array = true},
    [MT_FORMAT_CSV] = {.name = "csv",
                       .extension = ".csv",
                       .content_type = "text/csv; charset=utf-8",
                       .holds_one_sentence = true,
                       .holds_numbers = true,
                       .holds_one_array = true},
    [MT_FORMAT_SVG] = {.name = "svg", .extension = ".svg", .content_type = "image/svg+xml"},
    [MT_FORMAT_PNG] = {.name = "png",
                       .extension = ".png",
                       .content_type = "image/png",
                       .is_compressed = true},
};

static mt_inspection_stream bertviz_stream, pharaoh_stream, soft_stream;

static mt_inspection_stream *const streams[MT_N_INSPECTION_FORMATS] = {
    [MT_FORMAT_JSON] = mt_inspection_json_stream,
    [MT_FORMAT_BERTVIZ] = bertviz_stream,
    [MT_FORMAT_INSEQ] = mt_inspection_inseq_stream,
    [MT_FORMAT_PHARAOH] = pharaoh_stream,
    [MT_FORMAT_SOFT] = soft_stream,
    [MT_FORMAT_SAFETENSORS] = mt_inspection_safetensors_stream,
    [MT_FORMAT_NPY] = mt_inspection_npy_stream,
    [MT_FORMAT_CSV] = mt_inspection_csv_stream,
    [MT_FORMAT_SVG] = mt_inspection_svg_stream,
    [MT_FORMAT_PNG] = mt_inspection_png_stream,
};

const struct mt_inspection_format_info *mt_inspection_format_info(enum mt_inspection_format format)
{
    return &formats[format];
}

enum mt_status mt_inspection_format_parse(const char *name, enum mt_inspection_format *out,
                                          struct mt_error *err)
{
    for (size_t i = 0; i < MT_N_INSPECTION_FORMATS; i++) {
        if (strcmp(formats[i].name, name) != 0)
            continue;
        *out = (enum mt_inspection_format)i;
        return MT_OK;
    }
    return mt_fail(err, MT_INVALID,
                   "format: found \"%.40s\", expected json, bertviz, inseq, pharaoh, soft, "
                   "safetensors, npy, csv, svg or png",
                   name);
}

/* bertviz has one list of layers for all kinds, so only layers that all kinds have can be shown. */
static void keep_common_layers(const struct mt_inspection_model *model,
                               struct mt_inspection_options *options)
{
    bool has_encoder = options->kinds & MT_TRACE_ENCODER;
    bool has_decoder = options->kinds & (MT_TRACE_DECODER | MT_TRACE_CROSS);
    size_t n = mt_size_min(model->n_encoder_layers, model->n_decoder_layers);
    if (options->layers.n || !has_encoder || !has_decoder || n > MT_MAX_INDICES)
        return;
    options->layers.n = n;
    for (size_t i = 0; i < n; i++)
        options->layers.values[i] = (int)i;
}

enum mt_status mt_inspection_format_prepare(enum mt_inspection_format format,
                                            const struct mt_inspection_model *model,
                                            struct mt_inspection_options *options,
                                            struct mt_error *err)
{
    const struct mt_inspection_format_info *info = &formats[format];
    if (!options->kinds)
        options->kinds = info->default_kinds & ~(model->has_cell ? MT_TRACE_DECODER : 0u);
    if (info->needs_heads && options->reduce != MT_REDUCE_NONE)
        return mt_fail(err, MT_INVALID,
                       "reduce: format %s holds every layer and head, expected none", info->name);
    const char *field = options->include ? "include" : options->steps.n ? "steps" : "logit_lens";
    if ((options->include || options->steps.n || options->has_lens) && !info->holds_numbers)
        return mt_fail(err, MT_INVALID,
                       "%s: format %s shows weights alone, and all of them: expected json, "
                       "safetensors, npy or csv",
                       field, info->name);
    if (options->has_lens && format != MT_FORMAT_JSON)
        return mt_fail(err, MT_INVALID, "logit_lens: format %s does not hold it, expected json",
                       info->name);
    options->skips_weights = info->holds_one_array && options->include;
    if (format == MT_FORMAT_BERTVIZ)
        keep_common_layers(model, options);
    return MT_OK;
}

static enum mt_status check_sentence(const struct mt_inspection *inspection,
                                     enum mt_inspection_format format, size_t sentence,
                                     struct mt_error *err)
{
    if (sentence != MT_ALL_SENTENCES && sentence >= inspection->n_sentences)
        return mt_fail(err, MT_INVALID, "sentence: found %zu, but the text has %zu sentences",
                       sentence, inspection->n_sentences);
    if (sentence != MT_ALL_SENTENCES || !formats[format].holds_one_sentence)
        return MT_OK;
    if (inspection->n_sentences == 0)
        return mt_fail(err, MT_INVALID, "format %s needs a sentence, and the text is blank",
                       formats[format].name);
    if (inspection->n_sentences > 1)
        return mt_fail(err, MT_INVALID,
                       "format %s holds one sentence, and the text has %zu: choose one with "
                       "sentence, from 0, or set split_sentences to off",
                       formats[format].name, inspection->n_sentences);
    return MT_OK;
}

static enum mt_status check_rows(const struct mt_inspection *inspection, size_t sentence,
                                 size_t n_rows, const char *what, struct mt_error *err)
{
    const struct mt_index_list *steps = &inspection->options.steps;
    for (size_t i = 0; i < steps->n; i++)
        if (steps->values[i] >= (int64_t)n_rows || steps->values[i] < -(int64_t)n_rows)
            return mt_fail(err, MT_INVALID,
                           "steps: found %d, but sentence %zu has %zu %s, expected 0 to %zu (or "
                           "-%zu to -1)",
                           steps->values[i], sentence, n_rows, what, n_rows - 1, n_rows);
    return MT_OK;
}

static enum mt_status check_steps(const struct mt_inspection_cursor *cursor, struct mt_error *err)
{
    const struct mt_inspection *inspection = cursor->inspection;
    enum mt_status status = MT_OK;
    for (size_t i = cursor->sentence; i < cursor->end_sentence && !status; i++) {
        const struct mt_inspected_sentence *sentence = &inspection->sentences[i];
        bool has_source_rows = inspection->options.kinds & MT_TRACE_ENCODER;
        bool has_steps = inspection->options.kinds != MT_TRACE_ENCODER;
        if (has_steps)
            status = check_rows(inspection, i, sentence->n_steps, "steps", err);
        if (!status && has_source_rows)
            status = check_rows(inspection, i, sentence->n_source, "source tokens", err);
    }
    return status;
}

enum mt_status mt_inspection_render(struct mt_inspection *inspection,
                                    enum mt_inspection_format format, size_t sentence,
                                    struct mt_stream **out, struct mt_error *err)
{
    enum mt_status status = check_sentence(inspection, format, sentence, err);
    if (status) {
        mt_inspection_destroy(inspection);
        return status;
    }
    bool all = sentence == MT_ALL_SENTENCES;
    struct mt_inspection_cursor cursor = {
        .inspection = inspection,
        .sentence = all ? 0 : sentence,
        .end_sentence = all ? inspection->n_sentences : sentence + 1,
    };
    status = check_steps(&cursor, err);
    if (status) {
        mt_inspection_destroy(inspection);
        return status;
    }
    return streams[format](&cursor, out, err);
}

/* Walking -------------------------------------------------------------------------------------- */

void mt_inspection_cursor_enter(struct mt_inspection_cursor *cursor)
{
    cursor->n_tensors =
        mt_inspection_tensors(cursor->inspection, cursor->sentence, cursor->tensors);
    cursor->tensor = cursor->matrix = cursor->row = 0;
}

bool mt_inspection_cursor_next_row(struct mt_inspection_cursor *cursor)
{
    const struct mt_attention_tensor *tensor = &cursor->tensors[cursor->tensor];
    if (++cursor->row < tensor->n_rows)
        return true;
    cursor->row = 0;
    if (++cursor->matrix < tensor->n_matrices)
        return true;
    cursor->matrix = 0;
    cursor->tensor++;
    return false;
}

enum mt_status mt_inspection_only_tensor(struct mt_inspection_cursor *cursor, const char *format,
                                         const struct mt_attention_tensor **out,
                                         struct mt_error *err)
{
    mt_inspection_cursor_enter(cursor);
    if (cursor->n_tensors > 1)
        return mt_fail(
            err, MT_INVALID,
            "kinds: format %s holds one array, and %zu were asked for: expected one kind, "
            "and at most one name in include",
            format, cursor->n_tensors);
    *out = cursor->n_tensors ? &cursor->tensors[0] : NULL;
    return MT_OK;
}

void *mt_inspection_state_create(const struct mt_inspection_cursor *cursor, size_t n_bytes,
                                 struct mt_error *err)
{
    struct mt_inspection_cursor *state = calloc(1, n_bytes);
    if (!state) {
        mt_inspection_destroy(cursor->inspection);
        (void)mt_fail_memory(err, n_bytes, "a reply");
        return NULL;
    }
    *state = *cursor;
    return state;
}

void mt_inspection_state_destroy(void *state)
{
    struct mt_inspection_cursor *cursor = state;
    mt_inspection_destroy(cursor->inspection);
    free(cursor);
}

enum mt_status mt_inspection_state_stream(void *state, bool (*next)(void *, struct mt_text *),
                                          struct mt_stream **out, struct mt_error *err)
{
    struct mt_stream_source source = {
        .next = next, .destroy = mt_inspection_state_destroy, .state = state};
    return mt_stream_create(source, MT_STREAM_UNKNOWN, out, err);
}

/* Pharaoh and soft ----------------------------------------------------------------------------- */

static bool pharaoh_next(void *state, struct mt_text *out)
{
    struct mt_inspection_cursor *at = state;
    if (at->sentence == at->end_sentence)
        return false;
    const struct mt_inspected_sentence *sentence = &at->inspection->sentences[at->sentence++];
    for (size_t i = 0; i < sentence->n_links; i++)
        mt_text_appendf(out, "%s%zu-%zu", i ? " " : "", sentence->links[i].source,
                        sentence->links[i].target);
    mt_text_append(out, "\n", 1);
    return true;
}

static enum mt_status pharaoh_stream(const struct mt_inspection_cursor *cursor,
                                     struct mt_stream **out, struct mt_error *err)
{
    void *state = mt_inspection_state_create(cursor, sizeof *cursor, err);
    return state ? mt_inspection_state_stream(state, pharaoh_next, out, err) : MT_MEMORY;
}

/* Marian prints with C++'s default of 6 significant digits. */
#define SOFT_DIGITS 6

/* Appends one output token: its group of weights, after a separator. */
static bool soft_next(void *state, struct mt_text *out)
{
    struct mt_inspection_cursor *at = state;
    if (at->sentence == at->end_sentence)
        return false;
    const struct mt_inspected_sentence *sentence = &at->inspection->sentences[at->sentence];
    const float *row = sentence->alignment + at->row * sentence->n_source;
    if (at->row > 0)
        mt_text_append(out, " ", 1);
    for (size_t s = 0; s < sentence->n_source && sentence->n_steps; s++) {
        char number[MT_JSON_NUMBER_BYTES];
        if (s > 0)
            mt_text_append(out, ",", 1);
        mt_text_append(out, number, mt_json_format_number((double)row[s], SOFT_DIGITS, number));
    }
    if (++at->row >= sentence->n_steps) {
        mt_text_append(out, "\n", 1);
        at->row = 0;
        at->sentence++;
    }
    return true;
}

static enum mt_status soft_stream(const struct mt_inspection_cursor *cursor, struct mt_stream **out,
                                  struct mt_error *err)
{
    void *state = mt_inspection_state_create(cursor, sizeof *cursor, err);
    return state ? mt_inspection_state_stream(state, soft_next, out, err) : MT_MEMORY;
}

/* bertviz -------------------------------------------------------------------------------------- */

/*
 * {"attention": [{"name": "Cross", "attn": [layer][head][left][right], "left_text", "right_text"}],
 * "default_filter": "0", "root_div_id", "include_layers", ...}: this replaces PYTHON_PARAMS in
 * head_view.js and model_view.js of bertviz 1.4.
 */
enum bertviz_stage { BERTVIZ_HEAD, BERTVIZ_ROWS, BERTVIZ_TAIL, BERTVIZ_END };

struct bertviz_stream {
    struct mt_inspection_cursor at;
    struct mt_json_writer writer;
    enum bertviz_stage stage;
};

static void write_pieces(struct mt_json_writer *writer, const char *key,
                         const struct mt_inspected_token *tokens, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++)
        mt_json_string_z(writer, tokens[i].piece);
    mt_json_end_array(writer);
}

static void begin_bertviz_tensor(struct mt_json_writer *writer,
                                 const struct mt_attention_tensor *tensor)
{
    static const char *const names[] = {
        [MT_TRACE_ENCODER] = "Encoder", [MT_TRACE_DECODER] = "Decoder", [MT_TRACE_CROSS] = "Cross"};
    mt_json_begin_object(writer);
    mt_json_member(writer, "name", names[tensor->kind]);
    write_pieces(writer, "left_text", mt_attention_tensor_rows(tensor), tensor->n_rows);
    write_pieces(writer, "right_text", mt_attention_tensor_columns(tensor), tensor->n_columns);
    mt_json_key(writer, "attn");
}

/* Writes the parameters of both viewers into one object, since each ignores the other's. */
static void write_bertviz_tail(struct bertviz_stream *stream)
{
    struct mt_json_writer *writer = &stream->writer;
    const struct mt_attention_tensor *first = &stream->at.tensors[0];
    const struct mt_selection *selection = &first->selection;
    mt_json_end_array(writer);
    mt_json_member(writer, "default_filter", "0");
    mt_json_member(writer, "root_div_id", "bertviz-attentiond");
    mt_json_key(writer, "layer");
    mt_json_null(writer);
    mt_json_key(writer, "heads");
    mt_json_null(writer);
    mt_json_indices(writer, "include_layers", selection->layers, selection->n_layers);
    mt_json_indices(writer, "include_heads", selection->heads, selection->n_heads);
    mt_json_member_count(writer, "total_heads", stream->at.inspection->model.n_decoder_heads);
    mt_json_member(writer, "display_mode", "light");
    mt_json_end_object(writer);
}

static bool bertviz_row(struct bertviz_stream *stream)
{
    struct mt_inspection_cursor *at = &stream->at;
    const struct mt_attention_tensor *tensor = &at->tensors[at->tensor];
    if (at->matrix == 0 && at->row == 0)
        begin_bertviz_tensor(&stream->writer, tensor);
    mt_json_tensor_row(&stream->writer, tensor, at->matrix, at->row,
                       at->inspection->options.decimals);
    if (mt_inspection_cursor_next_row(at))
        return true;
    mt_json_end_object(&stream->writer);
    return at->tensor < at->n_tensors;
}

static bool bertviz_next(void *state, struct mt_text *out)
{
    struct bertviz_stream *stream = state;
    stream->writer.out = out;
    switch (stream->stage) {
    case BERTVIZ_HEAD:
        mt_inspection_cursor_enter(&stream->at);
        mt_json_begin_object(&stream->writer);
        mt_json_member_array(&stream->writer, "attention");
        stream->stage = BERTVIZ_ROWS;
        return true;
    case BERTVIZ_ROWS:
        stream->stage = bertviz_row(stream) ? BERTVIZ_ROWS : BERTVIZ_TAIL;
        return true;
    case BERTVIZ_TAIL:
        write_bertviz_tail(stream);
        mt_text_append(out, "\n", 1);
        stream->stage = BERTVIZ_END;
        return true;
    default:
        return false;
    }
}

static enum mt_status bertviz_stream(const struct mt_inspection_cursor *cursor,
                                     struct mt_stream **out, struct mt_error *err)
{
    struct bertviz_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    mt_json_writer_init(&stream->writer, NULL);
    return mt_inspection_state_stream(stream, bertviz_next, out, err);
}
