/*
 * Writes one number per line, with the tokens that it connects (RFC 4180, but lines end in LF):
 *
 *   kind,layer,head,step,input,output,position,source,weight
 *   cross,1,6,0,</s>,\u2581Wir,0,\u2581We,0.0213
 *
 * input is the token that the step read, and output the one it wrote; position and source are the
 * token that it attended to. In the encoder a step is a source token, without an output. If the
 * columns are not tokens, then they are numbered, and the last column has the quantity's name:
 * kind,layer,head,step,input,output,dimension,queries. For the alignment, for rollout, and along
 * averaged axes, layer and head are empty.
 */
#include "base/json.h"
#include "server/inspection/inspection_formats.h"

#include <math.h>
#include <string.h>

struct csv_stream {
    struct mt_inspection_cursor at;
    const struct mt_attention_tensor *tensor; /* NULL: the alignment */
    bool has_head_gone;
};

static void append_field(struct mt_text *out, const char *text)
{
    mt_text_append(out, "\"", 1);
    for (; *text; text++)
        mt_text_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    mt_text_append(out, "\"", 1);
}

static void append_piece(struct mt_text *out, const struct mt_inspected_token *tokens, size_t index)
{
    mt_text_append(out, ",", 1);
    if (tokens)
        append_field(out, tokens[index].piece);
}

static void append_number(struct mt_text *out, double number, int decimals)
{
    struct mt_json_writer writer; /* writes numbers independently of the locale */
    mt_text_append(out, ",", 1);
    mt_json_writer_init(&writer, out);
    if (isfinite(number)) /* masked ones are left empty */
        mt_json_fixed(&writer, number, decimals);
}

static void append_head(const struct csv_stream *stream, struct mt_text *out)
{
    const struct mt_attention_tensor *tensor = stream->tensor;
    bool is_map = !tensor || mt_quantity_is_map(tensor->quantity);
    bool is_looked_at = tensor && mt_quantity_is_looked_at(tensor->quantity);
    const char *name = !tensor || tensor->quantity == MT_QUANTITY_WEIGHTS
                           ? "weight"
                           : mt_quantity_name(tensor->quantity);
    mt_text_appendf(out, "kind,layer,head,%s,%s,%s\n",
                    is_looked_at ? "position,source" : "step,input,output",
                    is_map ? "position,source" : "dimension", name);
}

/* Appends the names of a row's tokens. */
static void append_row_names(const struct mt_attention_tensor *tensor,
                             const struct mt_inspected_sentence *sentence, size_t index,
                             struct mt_text *out)
{
    bool is_encoder = tensor && tensor->kind == MT_TRACE_ENCODER;
    bool is_looked_at = tensor && mt_quantity_is_looked_at(tensor->quantity);
    mt_text_appendf(out, ",%zu", index);
    if (is_looked_at) {
        append_piece(out, mt_attention_tensor_columns(tensor), index);
        return;
    }
    append_piece(out, is_encoder ? sentence->source_tokens : sentence->input_tokens, index);
    append_piece(out, is_encoder ? NULL : sentence->output_tokens, index);
}

/* Appends the layer and head of a matrix. */
static void append_place(const struct mt_attention_tensor *tensor, size_t matrix,
                         struct mt_text *out)
{
    const struct mt_selection *selection = &tensor->selection;
    bool has_axes = tensor->quantity != MT_QUANTITY_ROLLOUT;
    bool has_heads = has_axes && tensor->quantity != MT_QUANTITY_HIDDEN &&
                     (tensor->reduce == MT_REDUCE_NONE || tensor->reduce == MT_REDUCE_LAYERS);
    bool has_layers =
        has_axes && (tensor->reduce == MT_REDUCE_NONE || tensor->reduce == MT_REDUCE_HEADS);
    size_t n_heads = has_heads ? selection->n_heads : 1;
    mt_text_append_string(out, has_axes ? mt_trace_kind_name(tensor->kind) : tensor->name);
    mt_text_append(out, ",", 1);
    if (has_layers)
        mt_text_appendf(out, "%zu", selection->layers[matrix / n_heads]);
    mt_text_append(out, ",", 1);
    if (has_heads)
        mt_text_appendf(out, "%zu", selection->heads[matrix % n_heads]);
}

static void append_lines(const struct csv_stream *stream, struct mt_text *out)
{
    const struct mt_inspection_cursor *at = &stream->at;
    const struct mt_attention_tensor *tensor = stream->tensor;
    const struct mt_inspected_sentence *sentence = &at->inspection->sentences[at->sentence];
    size_t index = tensor ? mt_attention_tensor_index(tensor, at->row) : at->row;
    size_t n_columns = tensor ? tensor->n_columns : sentence->n_source;
    const float *row = tensor ? mt_attention_tensor_row(tensor, at->matrix, at->row)
                              : sentence->alignment + index * n_columns;
    bool is_map = !tensor || mt_quantity_is_map(tensor->quantity);
    const struct mt_inspected_token *columns =
        tensor ? mt_attention_tensor_columns(tensor) : sentence->source_tokens;
    for (size_t i = 0; i < n_columns; i++) {
        if (tensor)
            append_place(tensor, at->matrix, out);
        else
            mt_text_append_string(out, "alignment,,");
        append_row_names(tensor, sentence, index, out);
        mt_text_appendf(out, ",%zu", i);
        if (is_map)
            append_piece(out, columns, i);
        append_number(out, (double)row[i], at->inspection->options.decimals);
        mt_text_append(out, "\n", 1);
    }
}

static bool csv_next(void *state, struct mt_text *out)
{
    struct csv_stream *stream = state;
    struct mt_inspection_cursor *at = &stream->at;
    if (!stream->has_head_gone) {
        append_head(stream, out);
        stream->has_head_gone = true;
        return true;
    }
    size_t n_steps = at->inspection->sentences[at->sentence].n_steps;
    if (stream->tensor ? at->tensor == at->n_tensors : at->row == n_steps)
        return false;
    append_lines(stream, out);
    if (stream->tensor)
        mt_inspection_cursor_next_row(at);
    else
        at->row++;
    return true;
}

enum mt_status mt_inspection_csv_stream(const struct mt_inspection_cursor *cursor,
                                        struct mt_stream **out, struct mt_error *err)
{
    struct csv_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    enum mt_status status = mt_inspection_only_tensor(&stream->at, "csv", &stream->tensor, err);
    if (status) {
        mt_inspection_state_destroy(stream);
        return status;
    }
    return mt_inspection_state_stream(stream, csv_next, out, err);
}
