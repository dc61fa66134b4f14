/*
 * inseq's saved form: json-tricks objects ("__instance_type__" and "attributes") whose arrays are
 * base64 ("__ndarray__": "b64:..."). Arrays are [attended, attending, layer, head], which is the
 * transpose of everything else here:
 *
 *   source_attributions      [S, T, L, H]  cross[l][h][t][s]
 *   target_attributions      [T, T, L, H]  decoder[l][h][t][j + 1]: inseq's target does not include
 *                                          the start token; NaN for what a step could not see
 *   encoder_self_attentions  [S, S, L, H]  encoder[l][h][q][k] at [k, q]
 *
 * Source: inseq/data/attribution.py and inseq/utils/serialization.py of inseq 0.6.
 */
#include "base/json.h"
#include "base/real.h"
#include "server/inspection/inspection_formats.h"

#include <math.h>
#include <string.h>

/* Base64 without line breaks. Bytes come in any number; up to two are stored until there are
 * three. */
struct base64 {
    unsigned char waiting[3];
    size_t n_waiting;
};

static void append_quad(struct mt_text *out, const unsigned char bytes[3], size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    char quad[4] = {letters[bits >> 18], letters[bits >> 12 & 63], letters[bits >> 6 & 63],
                    letters[bits & 63]};
    for (size_t i = n + 1; i < 4; i++)
        quad[i] = '=';
    mt_text_append(out, quad, 4);
}

static void base64_append(struct base64 *base64, const void *bytes, size_t n, struct mt_text *out)
{
    for (size_t i = 0; i < n; i++) {
        base64->waiting[base64->n_waiting++] = ((const unsigned char *)bytes)[i];
        if (base64->n_waiting < 3)
            continue;
        append_quad(out, base64->waiting, 3);
        base64->n_waiting = 0;
    }
}

static void base64_end(struct base64 *base64, struct mt_text *out)
{
    if (base64->n_waiting == 0)
        return;
    memset(base64->waiting + base64->n_waiting, 0, 3 - base64->n_waiting);
    append_quad(out, base64->waiting, base64->n_waiting);
    base64->n_waiting = 0;
}

enum stage { HEAD, TOKENS, SOURCE, TARGET, ENCODER, SCORES, TAIL, END };

struct inseq_stream {
    struct mt_inspection_cursor at;
    struct mt_json_writer writer;
    struct base64 base64;
    enum stage stage;
    size_t attended; /* the first axis of the array being written */
};

static void begin_instance(struct mt_json_writer *writer, const char *module, const char *name)
{
    mt_json_begin_object(writer);
    mt_json_member_array(writer, "__instance_type__");
    mt_json_string_z(writer, module);
    mt_json_string_z(writer, name);
    mt_json_end_array(writer);
    mt_json_member_object(writer, "attributes");
}

static void end_instance(struct mt_json_writer *writer)
{
    mt_json_end_object(writer);
    mt_json_end_object(writer);
}

static void write_tokens(struct mt_json_writer *writer, const char *key,
                         const struct mt_inspected_token *tokens, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++) {
        begin_instance(writer, "inseq.utils.typing", "TokenWithId");
        mt_json_member(writer, "token", tokens[i].piece);
        mt_json_member_integer(writer, "id", tokens[i].id);
        end_instance(writer);
    }
    mt_json_end_array(writer);
}

/* The string is opened without the JSON writer, because its content comes in many parts and needs
 * no escapes. */
static void begin_array(struct mt_json_writer *writer, const char *key, const size_t *shape,
                        size_t rank)
{
    mt_json_member_object(writer, key);
    mt_json_member(writer, "dtype", "float32");
    mt_json_member_array(writer, "shape");
    for (size_t i = 0; i < rank; i++)
        mt_json_integer(writer, (int64_t)shape[i]);
    mt_json_end_array(writer);
    mt_json_member_bool(writer, "Corder", true);
    mt_json_key(writer, "__ndarray__");
    writer->after_key = false;
    mt_text_append_string(writer->out, "\"b64:");
}

static void end_array(struct inseq_stream *stream)
{
    base64_end(&stream->base64, stream->writer.out);
    mt_text_append_string(stream->writer.out, "\"");
    mt_json_end_object(&stream->writer);
}

static void append_float(struct inseq_stream *stream, float value)
{
    base64_append(&stream->base64, &value, sizeof value, stream->writer.out);
}

/* Writes array[attended][attending][l][h] = tensor[l][h][attending][attended + shift], with NaN
 * where a step could not see (shift 1: the decoder). */
static void write_slab(struct inseq_stream *stream, const struct mt_attention_tensor *tensor,
                       size_t shift)
{
    size_t column = stream->attended + shift;
    for (size_t row = 0; row < tensor->n_rows; row++) {
        bool is_seen = column < tensor->n_columns && (shift == 0 || column <= row);
        for (size_t m = 0; m < tensor->n_matrices; m++)
            append_float(stream, is_seen ? mt_attention_tensor_row(tensor, m, row)[column] : NAN);
    }
}

static const struct mt_attention_tensor *find(const struct inseq_stream *stream,
                                              enum mt_trace_kind kind)
{
    for (size_t i = 0; i < stream->at.n_tensors; i++)
        if (stream->at.tensors[i].kind == kind)
            return &stream->at.tensors[i];
    return NULL;
}

/* Writes one slab of the array per call, and returns the next stage after the last. A kind that was
 * not requested is null. */
static enum stage write_kind(struct inseq_stream *stream, const char *key, enum mt_trace_kind kind,
                             size_t shift, enum stage next)
{
    const struct mt_attention_tensor *tensor = find(stream, kind);
    if (!tensor) {
        mt_json_key(&stream->writer, key);
        mt_json_null(&stream->writer);
        return next;
    }
    if (stream->attended == 0) {
        size_t shape[] = {tensor->n_columns, tensor->n_rows, tensor->shape[0], tensor->shape[1]};
        begin_array(&stream->writer, key, shape, 4);
    }
    write_slab(stream, tensor, shift);
    if (++stream->attended < tensor->n_columns)
        return stream->stage;
    stream->attended = 0;
    end_array(stream);
    return next;
}

static void write_texts(struct mt_json_writer *writer, const char *key, const char *text,
                        const struct mt_inspected_sentence *sentences, size_t begin, size_t end,
                        bool is_source)
{
    mt_json_member_array(writer, key);
    for (size_t i = begin; i < end; i++) {
        const struct mt_offsets *at = is_source ? &sentences[i].source : &sentences[i].target;
        mt_json_string(writer, text + at->begin, at->end - at->begin);
    }
    mt_json_end_array(writer);
}

static void write_head(struct inseq_stream *stream)
{
    struct mt_json_writer *writer = &stream->writer;
    const struct mt_inspection *inspection = stream->at.inspection;
    begin_instance(writer, "inseq.data.attribution", "FeatureAttributionOutput");
    mt_json_member_object(writer, "info");
    mt_json_member(writer, "attribution_method", "attention");
    mt_json_member_bool(writer, "constrained_decoding", inspection->is_forced);
    mt_json_member(writer, "model_name", inspection->model.id);
    write_texts(writer, "input_texts", inspection->source_text, inspection->sentences,
                stream->at.sentence, stream->at.end_sentence, true);
    write_texts(writer, "generated_texts", inspection->target_text, inspection->sentences,
                stream->at.sentence, stream->at.end_sentence, false);
    mt_json_end_object(writer);
    mt_json_key(writer, "step_attributions");
    mt_json_null(writer);
    mt_json_member_array(writer, "sequence_attributions");
}

static enum stage tokens_stage(struct inseq_stream *stream,
                               const struct mt_inspected_sentence *sentence)
{
    struct mt_json_writer *writer = &stream->writer;
    mt_inspection_cursor_enter(&stream->at);
    begin_instance(writer, "inseq.data.attribution",
                   "MultiDimensionalFeatureAttributionSequenceOutput");
    write_tokens(writer, "source", sentence->source_tokens, sentence->n_source);
    write_tokens(writer, "target", sentence->output_tokens, sentence->n_steps);
    mt_json_member_integer(writer, "attr_pos_start", 0);
    mt_json_member_count(writer, "attr_pos_end", sentence->n_steps);
    return SOURCE;
}

static enum stage target_stage(struct inseq_stream *stream)
{
    enum stage next = write_kind(stream, "target_attributions", MT_TRACE_DECODER, 1, ENCODER);
    if (next == ENCODER) {
        mt_json_member_object(&stream->writer, "sequence_scores");
        if (!find(stream, MT_TRACE_ENCODER))
            next = SCORES;
    }
    return next;
}

/* Closes the sequence, and moves to the next sentence. */
static enum stage scores_stage(struct inseq_stream *stream,
                               const struct mt_inspected_sentence *sentence)
{
    mt_json_end_object(&stream->writer);
    mt_json_member_object(&stream->writer, "step_scores");
    begin_array(&stream->writer, "probability", &sentence->n_steps, 1);
    for (size_t t = 0; t < sentence->n_steps; t++)
        append_float(stream, (float)mt_real_exp((double)sentence->output_tokens[t].logprob));
    end_array(stream);
    mt_json_end_object(&stream->writer);
    end_instance(&stream->writer);
    return ++stream->at.sentence < stream->at.end_sentence ? TOKENS : TAIL;
}

static enum stage advance(struct inseq_stream *stream)
{
    const struct mt_inspected_sentence *sentence =
        &stream->at.inspection->sentences[stream->at.sentence];
    switch (stream->stage) {
    case HEAD:
        write_head(stream);
        return stream->at.sentence < stream->at.end_sentence ? TOKENS : TAIL;
    case TOKENS:
        return tokens_stage(stream, sentence);
    case SOURCE:
        return write_kind(stream, "source_attributions", MT_TRACE_CROSS, 0, TARGET);
    case TARGET:
        return target_stage(stream);
    case ENCODER:
        return write_kind(stream, "encoder_self_attentions", MT_TRACE_ENCODER, 0, SCORES);
    case SCORES:
        return scores_stage(stream, sentence);
    default:
        mt_json_end_array(&stream->writer);
        end_instance(&stream->writer);
        return END;
    }
}

static bool inseq_next(void *state, struct mt_text *out)
{
    struct inseq_stream *stream = state;
    if (stream->stage == END)
        return false;
    stream->writer.out = out;
    stream->stage = advance(stream);
    if (stream->stage == END)
        mt_text_append(out, "\n", 1);
    return true;
}

enum mt_status mt_inspection_inseq_stream(const struct mt_inspection_cursor *cursor,
                                          struct mt_stream **out, struct mt_error *err)
{
    struct inseq_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    mt_json_writer_init(&stream->writer, NULL);
    return mt_inspection_state_stream(stream, inseq_next, out, err);
}
