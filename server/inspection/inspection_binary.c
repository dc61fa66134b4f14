/* Formats of binary numbers, which are little-endian: safetensors and npy. */
#include "base/json.h"
#include "base/size.h"
#include "server/inspection/inspection_formats.h"
#include "server/inspection/npy.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* The tensors of a safetensors file that are written before or after the attention. */
enum content {
    ALIGNMENT,
    ATTENTION,
    STEPS,
    SOURCE_IDS,
    INPUT_IDS,
    OUTPUT_IDS,
    LOGPROBS,
    N_CONTENTS
};

struct binary_stream {
    struct mt_inspection_cursor at;
    struct mt_text header; /* is written first */
    bool has_header_gone, has_ended;
    enum content content;
    size_t row; /* row of the alignment */
};

static void binary_destroy(void *state)
{
    struct binary_stream *stream = state;
    mt_text_finish(&stream->header);
    mt_inspection_state_destroy(stream);
}

static void append_ids(struct mt_text *out, const struct mt_inspected_token *tokens, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mt_npy_append_numbers(out, &tokens[i].id, 1);
}

static void append_steps(struct mt_text *out, const struct mt_inspected_sentence *sentence)
{
    for (size_t i = 0; i < sentence->n_chosen_steps; i++) {
        int32_t step = (int32_t)sentence->chosen_steps[i];
        mt_npy_append_numbers(out, &step, 1);
    }
}

static void append_logprobs(struct mt_text *out, const struct mt_inspected_token *tokens, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mt_npy_append_numbers(out, &tokens[i].logprob, 1);
}

/* Appends one row; false after the last. */
static bool append_alignment_row(struct binary_stream *stream,
                                 const struct mt_inspected_sentence *sentence, struct mt_text *out)
{
    mt_npy_append_numbers(out, sentence->alignment + stream->row * sentence->n_source,
                          sentence->n_source);
    return ++stream->row < sentence->n_steps;
}

static bool append_attention_row(struct binary_stream *stream, struct mt_text *out)
{
    struct mt_inspection_cursor *at = &stream->at;
    if (at->tensor == at->n_tensors)
        return false;
    const struct mt_attention_tensor *tensor = &at->tensors[at->tensor];
    mt_npy_append_numbers(out, mt_attention_tensor_row(tensor, at->matrix, at->row),
                          tensor->n_columns);
    return mt_inspection_cursor_next_row(at) || at->tensor < at->n_tensors;
}

/* Appends the next part of a content; false if that was the last one. */
static bool append_content(struct binary_stream *stream, struct mt_text *out)
{
    const struct mt_inspected_sentence *sentence =
        &stream->at.inspection->sentences[stream->at.sentence];
    switch (stream->content) {
    case ALIGNMENT:
        return append_alignment_row(stream, sentence, out);
    case ATTENTION:
        return append_attention_row(stream, out);
    case STEPS:
        append_steps(out, sentence);
        return false;
    case SOURCE_IDS:
        append_ids(out, sentence->source_tokens, sentence->n_source);
        return false;
    case INPUT_IDS:
        append_ids(out, sentence->input_tokens, sentence->n_steps);
        return false;
    case OUTPUT_IDS:
        append_ids(out, sentence->output_tokens, sentence->n_steps);
        return false;
    default:
        append_logprobs(out, sentence->output_tokens, sentence->n_steps);
        return false;
    }
}

/* safetensors ---------------------------------------------------------------------------------- */

struct header {
    struct mt_json_writer writer;
    uint64_t offset; /* where the next tensor's data begin */
};

static void write_tensor(struct header *header, size_t sentence, const char *name,
                         const char *dtype, const size_t *shape, size_t rank)
{
    char key[64];
    uint64_t n = 4; /* F32 and I32 */
    snprintf(key, sizeof key, "sentences.%zu.%.31s", sentence, name);
    mt_json_member_object(&header->writer, key);
    mt_json_member(&header->writer, "dtype", dtype);
    mt_json_member_array(&header->writer, "shape");
    for (size_t i = 0; i < rank; i++) {
        mt_json_integer(&header->writer, (int64_t)shape[i]);
        n *= shape[i];
    }
    mt_json_end_array(&header->writer);
    mt_json_member_array(&header->writer, "data_offsets");
    mt_json_integer(&header->writer, (int64_t)header->offset);
    header->offset += n;
    mt_json_integer(&header->writer, (int64_t)header->offset);
    mt_json_end_array(&header->writer);
    mt_json_end_object(&header->writer);
}

static void write_sentence_tensors(struct header *header, struct mt_inspection *inspection,
                                   size_t index)
{
    const struct mt_inspected_sentence *sentence = &inspection->sentences[index];
    struct mt_attention_tensor tensors[MT_MAX_TENSORS];
    size_t n_tensors = mt_inspection_tensors(inspection, index, tensors);
    size_t matrix[] = {sentence->n_steps, sentence->n_source};
    write_tensor(header, index, "alignment", "F32", matrix, 2);
    for (size_t i = 0; i < n_tensors; i++)
        write_tensor(header, index, tensors[i].name, "F32", tensors[i].shape, tensors[i].rank);
    if (sentence->chosen_steps)
        write_tensor(header, index, "steps", "I32", &sentence->n_chosen_steps, 1);
    write_tensor(header, index, "source_ids", "I32", &sentence->n_source, 1);
    write_tensor(header, index, "decoder_input_ids", "I32", &sentence->n_steps, 1);
    write_tensor(header, index, "output_ids", "I32", &sentence->n_steps, 1);
    write_tensor(header, index, "logprobs", "F32", &sentence->n_steps, 1);
}

/* The values of __metadata__ are strings, so a list of pieces is JSON in a string. */
static void write_pieces(struct header *header, size_t sentence, const char *name,
                         const struct mt_inspected_token *tokens, size_t n)
{
    char key[64];
    struct mt_text list = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &list);
    mt_json_begin_array(&writer);
    for (size_t i = 0; i < n; i++)
        mt_json_string_z(&writer, tokens[i].piece);
    mt_json_end_array(&writer);
    snprintf(key, sizeof key, "sentences.%zu.%s", sentence, name);
    mt_json_member_bytes(&header->writer, key, list.length ? list.bytes : "", list.length);
    if (list.status)
        header->writer.out->status = list.status;
    mt_text_finish(&list);
}

static void write_string(struct header *header, const char *key, const char *bytes, size_t length)
{
    mt_json_member_bytes(&header->writer, key, bytes, length);
}

static void write_indices(struct mt_text *out, const char *name, const size_t *values, size_t n)
{
    mt_text_append_string(out, name);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(out, "%s%zu", i ? "," : " ", values[i]);
}

/* Writes "layers 1,2; heads 0,1,2,3; mode mean; shift output". */
static void write_alignment_method(struct header *header, const struct mt_inspection *inspection)
{
    struct mt_text method = {0};
    const struct mt_selection *selection = &inspection->alignment_selection;
    const struct mt_alignment_choice *choice = &inspection->options.alignment;
    write_indices(&method, "layers", selection->layers, selection->n_layers);
    write_indices(&method, "; heads", selection->heads, selection->n_heads);
    mt_text_appendf(&method, "; mode %s; shift %s",
                    choice->mode == MT_ALIGNMENT_MEAN ? "mean" : "max",
                    choice->shift == MT_SHIFT_OUTPUT ? "output" : "input");
    write_string(header, "alignment", method.length ? method.bytes : "", method.length);
    if (method.status)
        header->writer.out->status = method.status;
    mt_text_finish(&method);
}

static void write_metadata(struct header *header, const struct mt_inspection_cursor *at)
{
    const struct mt_inspection *inspection = at->inspection;
    mt_json_member_object(&header->writer, "__metadata__");
    write_string(header, "model", inspection->model.id, strlen(inspection->model.id));
    write_string(header, "source_text", inspection->source_text, inspection->source_length);
    write_string(header, "target_text", inspection->target_text, inspection->target_length);
    write_alignment_method(header, inspection);
    for (size_t i = at->sentence; i < at->end_sentence; i++) {
        const struct mt_inspected_sentence *sentence = &inspection->sentences[i];
        write_pieces(header, i, "source_tokens", sentence->source_tokens, sentence->n_source);
        write_pieces(header, i, "decoder_input_tokens", sentence->input_tokens, sentence->n_steps);
        write_pieces(header, i, "output_tokens", sentence->output_tokens, sentence->n_steps);
    }
    mt_json_end_object(&header->writer);
}

/* Writes the length in 8 bytes, then JSON, padded with blanks so that the data begin at a multiple
 * of 8. */
static uint64_t write_safetensors_header(struct mt_text *out, const struct mt_inspection_cursor *at)
{
    static const char blanks[] = "        ";
    struct header header = {0};
    mt_text_append(out, blanks, 8);
    mt_json_writer_init(&header.writer, out);
    mt_json_begin_object(&header.writer);
    write_metadata(&header, at);
    for (size_t i = at->sentence; i < at->end_sentence; i++)
        write_sentence_tensors(&header, at->inspection, i);
    mt_json_end_object(&header.writer);
    mt_text_append(out, blanks, mt_size_round_up(out->length, 8) - out->length);
    uint64_t length = htole64(out->length - 8);
    if (!out->status)
        memcpy(out->bytes, &length, sizeof length);
    return header.offset;
}

static bool safetensors_next(void *state, struct mt_text *out)
{
    struct binary_stream *stream = state;
    if (!stream->has_header_gone) {
        mt_text_append(out, stream->header.bytes, stream->header.length);
        mt_text_finish(&stream->header);
        stream->has_header_gone = true;
        if (stream->at.sentence < stream->at.end_sentence)
            mt_inspection_cursor_enter(&stream->at);
        return true;
    }
    if (stream->at.sentence == stream->at.end_sentence)
        return false;
    if (append_content(stream, out))
        return true;
    stream->row = 0;
    if (++stream->content < N_CONTENTS)
        return true;
    stream->content = ALIGNMENT;
    if (++stream->at.sentence < stream->at.end_sentence)
        mt_inspection_cursor_enter(&stream->at);
    return true;
}

enum mt_status mt_inspection_safetensors_stream(const struct mt_inspection_cursor *cursor,
                                                struct mt_stream **out, struct mt_error *err)
{
    struct binary_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    uint64_t n_data = write_safetensors_header(&stream->header, &stream->at);
    enum mt_status status = mt_text_check(&stream->header, "a safetensors header", err);
    if (status) {
        binary_destroy(stream);
        return status;
    }
    struct mt_stream_source source = {
        .next = safetensors_next, .destroy = binary_destroy, .state = stream};
    return mt_stream_create(source, stream->header.length + n_data, out, err);
}

/* npy ------------------------------------------------------------------------------------------ */

static bool npy_next(void *state, struct mt_text *out)
{
    struct binary_stream *stream = state;
    if (!stream->has_header_gone) {
        mt_text_append(out, stream->header.bytes, stream->header.length);
        stream->has_header_gone = true;
        return true;
    }
    if (stream->has_ended)
        return false;
    stream->has_ended = !append_content(stream, out);
    return true;
}

enum mt_status mt_inspection_npy_stream(const struct mt_inspection_cursor *cursor,
                                        struct mt_stream **out, struct mt_error *err)
{
    struct binary_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    const struct mt_attention_tensor *array;
    enum mt_status status = mt_inspection_only_tensor(&stream->at, "npy", &array, err);
    if (status) {
        binary_destroy(stream);
        return status;
    }
    const struct mt_inspected_sentence *sentence =
        &stream->at.inspection->sentences[stream->at.sentence];
    struct mt_attention_tensor alignment = {.rank = 2,
                                            .shape = {sentence->n_steps, sentence->n_source}};
    stream->content = array ? ATTENTION : ALIGNMENT;
    array = array ? array : &alignment;
    mt_npy_append_head(&stream->header, array->shape, array->rank);
    uint64_t n_bytes = sizeof(float);
    for (size_t i = 0; i < array->rank; i++)
        n_bytes *= array->shape[i];
    status = mt_text_check(&stream->header, "an npy header", err);
    if (status) {
        binary_destroy(stream);
        return status;
    }
    struct mt_stream_source source = {.next = npy_next, .destroy = binary_destroy, .state = stream};
    return mt_stream_create(source, stream->header.length + n_bytes, out, err);
}
