#include "base/json.h"
#include "server/inspection/inspection_formats.h"
#include "server/inspection/switch_names.h"

#include <math.h>

/* Brackets nest as the axes do: the bracket of axis a opens before the first row of every block of
 * block(a) matrices, and closes behind the last. */
static size_t block(const struct mt_attention_tensor *tensor, size_t axis)
{
    size_t n = 1;
    for (size_t a = axis; a + 2 < tensor->rank; a++)
        n *= tensor->shape[a];
    return n;
}

/* Masked values, which are -infinity, become null. */
static void write_row(struct mt_json_writer *writer, const struct mt_attention_tensor *tensor,
                      const float *numbers, int decimals)
{
    static const char *const names[] = {"mean", "deviation", "norm"};
    bool is_named = tensor->quantity == MT_QUANTITY_RESIDUALS;
    if (is_named)
        mt_json_begin_object(writer);
    else
        mt_json_begin_array(writer);
    for (size_t i = 0; i < tensor->n_columns; i++) {
        if (is_named)
            mt_json_key(writer, names[i]);
        mt_json_fixed(writer, (double)numbers[i], decimals);
    }
    if (is_named)
        mt_json_end_object(writer);
    else
        mt_json_end_array(writer);
}

void mt_json_tensor_row(struct mt_json_writer *writer, const struct mt_attention_tensor *tensor,
                        size_t matrix, size_t row, int decimals)
{
    size_t n_brackets = tensor->rank - 1;
    for (size_t a = 0; a < n_brackets && row == 0; a++)
        if (matrix % block(tensor, a) == 0)
            mt_json_begin_array(writer);
    write_row(writer, tensor, mt_attention_tensor_row(tensor, matrix, row), decimals);
    for (size_t a = 0; a < n_brackets && row + 1 == tensor->n_rows; a++)
        if ((matrix + 1) % block(tensor, a) == 0)
            mt_json_end_array(writer);
}

enum stage { HEAD, TOKENS, ALIGNMENT, LINKS, TOP, LENS, SEARCH, TENSORS, SENTENCE_END, TAIL, END };

struct json_stream {
    struct mt_inspection_cursor at;
    struct mt_json_writer writer;
    enum stage stage;
    size_t step; /* for alignment, top and search */
};

void mt_json_indices(struct mt_json_writer *writer, const char *key, const size_t *values, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++)
        mt_json_integer(writer, (int64_t)values[i]);
    mt_json_end_array(writer);
}

/* Writes them as members of an object: "begin", "end", ... */
static void write_offsets(struct mt_json_writer *writer, const struct mt_offsets *at)
{
    mt_json_member_count(writer, "begin", at->begin);
    mt_json_member_count(writer, "end", at->end);
    mt_json_member_count(writer, "begin_char", at->begin_char);
    mt_json_member_count(writer, "end_char", at->end_char);
    mt_json_member_count(writer, "begin_utf16", at->begin_utf16);
    mt_json_member_count(writer, "end_utf16", at->end_utf16);
}

void mt_span_write(struct mt_json_writer *writer, const char *key, const char *text,
                   const struct mt_offsets *at)
{
    mt_json_member_object(writer, key);
    mt_json_member_bytes(writer, "text", text + at->begin, at->end - at->begin);
    write_offsets(writer, at);
    mt_json_end_object(writer);
}

static void write_token(struct mt_json_writer *writer, const struct mt_inspected_token *token)
{
    mt_json_begin_object(writer);
    mt_json_member(writer, "piece", token->piece);
    mt_json_member_integer(writer, "id", token->id);
    if (token->has_place)
        write_offsets(writer, &token->at);
    mt_json_member_bool(writer, "special", token->special);
    if (token->unknown)
        mt_json_member_bool(writer, "unknown", true);
    if (token->has_logprob)
        mt_json_member_number(writer, "logprob", (double)token->logprob, 6);
    mt_json_end_object(writer);
}

static void write_tokens(struct mt_json_writer *writer, const char *key,
                         const struct mt_inspected_token *tokens, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++)
        write_token(writer, &tokens[i]);
    mt_json_end_array(writer);
}

static void write_model(struct mt_json_writer *writer, const struct mt_inspection_model *model)
{
    mt_json_member_object(writer, "model");
    mt_json_member(writer, "id", model->id);
    mt_json_member_count(writer, "layers_enc", model->n_encoder_layers);
    mt_json_member_count(writer, "layers_dec", model->n_decoder_layers);
    mt_json_member_count(writer, "heads_enc", model->n_encoder_heads);
    mt_json_member_count(writer, "heads", model->n_decoder_heads);
    mt_json_member_count(writer, "d_model", model->d_model);
    if (model->has_cell)
        mt_json_member(writer, "no_decoder_attention", MT_NO_DECODER_ATTENTION);
    if (model->normalizes_before)
        mt_json_member_bool(writer, "normalize_before", true);
    if (model->normalizes_embedding)
        mt_json_member_bool(writer, "normalize_embedding", true);
    mt_json_end_object(writer);
}

/* Writes the layers and heads of each tensor's numbers. */
static void write_selection(struct mt_json_writer *writer, struct mt_inspection *inspection)
{
    static const char *const reduced[] = {
        [MT_REDUCE_NONE] = "none",
        [MT_REDUCE_HEADS] = "heads",
        [MT_REDUCE_LAYERS] = "layers",
        [MT_REDUCE_ALL] = "all",
    };
    struct mt_attention_tensor tensors[MT_MAX_TENSORS];
    if (!inspection->n_sentences || !inspection->options.kinds)
        return;
    size_t n = mt_inspection_tensors(inspection, 0, tensors);
    mt_json_member_object(writer, "tensors");
    for (size_t i = 0; i < n && tensors[i].quantity == MT_QUANTITY_WEIGHTS; i++) {
        const struct mt_selection *selection = &tensors[i].selection;
        mt_json_member_object(writer, tensors[i].name);
        mt_json_indices(writer, "layers", selection->layers, selection->n_layers);
        mt_json_indices(writer, "heads", selection->heads, selection->n_heads);
        mt_json_member(writer, "reduce", reduced[inspection->options.reduce]);
        mt_json_end_object(writer);
    }
    mt_json_end_object(writer);
}

static void write_switches(struct mt_json_writer *writer, const struct mt_inspection *inspection)
{
    const struct mt_inspection_options *options = &inspection->options;
    if (!options->n_switched_off)
        return;
    mt_json_member_array(writer, "switched_off");
    for (size_t i = 0; i < options->n_switched_off; i++) {
        char name[MT_SWITCH_NAME_BYTES];
        mt_switch_name(&options->switched_off[i], name);
        mt_json_string_z(writer, name);
    }
    mt_json_end_array(writer);
}

static void write_head(struct json_stream *stream)
{
    struct mt_json_writer *writer = &stream->writer;
    struct mt_inspection *inspection = stream->at.inspection;
    mt_json_begin_object(writer);
    write_model(writer, &inspection->model);
    mt_json_member(writer, "source", inspection->model.source_lang);
    mt_json_member(writer, "target", inspection->model.target_lang);
    mt_json_member_bytes(writer, "source_text", inspection->source_text, inspection->source_length);
    mt_json_member_bytes(writer, "target_text", inspection->target_text, inspection->target_length);
    mt_json_member_bool(writer, "forced", inspection->is_forced);
    write_switches(writer, inspection);
    write_selection(writer, inspection);
    mt_json_member_array(writer, "sentences");
}

static void write_sentence_head(struct json_stream *stream,
                                const struct mt_inspected_sentence *sentence)
{
    struct mt_json_writer *writer = &stream->writer;
    const struct mt_inspection *inspection = stream->at.inspection;
    mt_json_begin_object(writer);
    mt_span_write(writer, "source", inspection->source_text, &sentence->source);
    mt_span_write(writer, "target", inspection->target_text, &sentence->target);
    mt_json_member_number(writer, "score", (double)sentence->score, 6);
    mt_json_member_bool(writer, "truncated", !sentence->has_eos);
    mt_json_member_bool(writer, "cut", sentence->was_cut);
    write_tokens(writer, "source_tokens", sentence->source_tokens, sentence->n_source);
    write_tokens(writer, "decoder_input_tokens", sentence->input_tokens, sentence->n_steps);
    write_tokens(writer, "output_tokens", sentence->output_tokens, sentence->n_steps);
    if (sentence->chosen_steps)
        mt_json_indices(writer, "steps", sentence->chosen_steps, sentence->n_chosen_steps);
}

static void write_alignment_head(struct json_stream *stream)
{
    struct mt_json_writer *writer = &stream->writer;
    const struct mt_inspection *inspection = stream->at.inspection;
    const struct mt_alignment_choice *choice = &inspection->options.alignment;
    const struct mt_selection *selection = &inspection->alignment_selection;
    mt_json_member_object(writer, "alignment");
    mt_json_indices(writer, "layers", selection->layers, selection->n_layers);
    mt_json_indices(writer, "heads", selection->heads, selection->n_heads);
    mt_json_member(writer, "mode", choice->mode == MT_ALIGNMENT_MEAN ? "mean" : "max");
    mt_json_member(writer, "shift", choice->shift == MT_SHIFT_OUTPUT ? "output" : "input");
    mt_json_member_array(writer, "matrix");
}

static void write_alignment_row(struct json_stream *stream,
                                const struct mt_inspected_sentence *sentence)
{
    struct mt_json_writer *writer = &stream->writer;
    const float *row = sentence->alignment + stream->step * sentence->n_source;
    mt_json_begin_array(writer);
    for (size_t s = 0; s < sentence->n_source; s++)
        mt_json_fixed(writer, (double)row[s], stream->at.inspection->options.decimals);
    mt_json_end_array(writer);
}

static void write_links(struct json_stream *stream, const struct mt_inspected_sentence *sentence)
{
    struct mt_text hard = {0};
    for (size_t i = 0; i < sentence->n_links; i++)
        mt_text_appendf(&hard, "%s%zu-%zu", i ? " " : "", sentence->links[i].source,
                        sentence->links[i].target);
    mt_json_end_array(&stream->writer);
    mt_json_member_bytes(&stream->writer, "hard", hard.length ? hard.bytes : "", hard.length);
    mt_json_end_object(&stream->writer);
    if (hard.status)
        stream->writer.out->status = hard.status;
    mt_text_finish(&hard);
}

static void write_candidates(struct mt_json_writer *writer,
                             const struct mt_inspected_candidate *candidates, size_t n)
{
    mt_json_member_array(writer, "top");
    for (size_t i = 0; i < n; i++) {
        mt_json_begin_object(writer);
        mt_json_member(writer, "piece", candidates[i].piece);
        mt_json_member_integer(writer, "id", candidates[i].id);
        mt_json_member_number(writer, "logprob", (double)candidates[i].logprob, 6);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}

/* Counts the steps that are written: the chosen ones, or all. */
static size_t n_written_steps(const struct mt_inspected_sentence *sentence)
{
    return sentence->chosen_steps ? sentence->n_chosen_steps : sentence->n_steps;
}

static void write_top_step(struct json_stream *stream, const struct mt_inspected_sentence *sentence)
{
    struct mt_json_writer *writer = &stream->writer;
    size_t n_top = stream->at.inspection->options.n_top;
    size_t step = sentence->chosen_steps ? sentence->chosen_steps[stream->step] : stream->step;
    mt_json_begin_object(writer);
    if (sentence->entropy)
        mt_json_member_number(writer, "entropy", (double)sentence->entropy[step], 6);
    write_candidates(writer, sentence->top + step * n_top, n_top);
    mt_json_end_object(writer);
}

/* Writes the opinions after the embedding and after each layer. */
static void write_lens_step(struct json_stream *stream,
                            const struct mt_inspected_sentence *sentence)
{
    struct mt_json_writer *writer = &stream->writer;
    const struct mt_inspection *inspection = stream->at.inspection;
    size_t n_layers = inspection->model.n_decoder_layers + 1;
    mt_json_begin_array(writer);
    for (size_t l = 0; l < n_layers; l++) {
        const struct mt_inspected_opinion *opinion =
            &sentence->opinions[stream->step * n_layers + l];
        mt_json_begin_object(writer);
        write_candidates(writer, opinion->top, inspection->options.n_lens);
        mt_json_member_count(writer, "rank", opinion->is.rank);
        mt_json_member_number(writer, "logprob", (double)opinion->is.logprob, 6);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}

static void write_search_step(struct mt_json_writer *writer, const struct mt_inspected_step *step)
{
    static const char *const fates[] = {
        [MT_SEARCH_KEPT] = "kept",
        [MT_SEARCH_FINISHED] = "finished",
        [MT_SEARCH_DROPPED] = "dropped",
    };
    mt_json_begin_array(writer);
    for (size_t i = 0; i < step->n; i++) {
        const struct mt_search_candidate *is = &step->continuations[i].is;
        mt_json_begin_object(writer);
        mt_json_member_integer(writer, "beam", is->beam);
        mt_json_member(writer, "piece", step->continuations[i].piece);
        mt_json_member_integer(writer, "id", is->token);
        mt_json_member_number(writer, "logprob", (double)is->logprob, 6);
        mt_json_member_number(writer, "sum", (double)is->sum, 6);
        mt_json_member(writer, "fate", fates[is->fate]);
        if (is->fate == MT_SEARCH_KEPT)
            mt_json_member_integer(writer, "next", is->next);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}

static void write_alternatives(struct mt_json_writer *writer,
                               const struct mt_inspected_sentence *sentence)
{
    mt_json_member_array(writer, "alternatives");
    for (size_t i = 0; i < sentence->n_alternatives; i++) {
        mt_json_begin_object(writer);
        mt_json_member(writer, "text", sentence->alternatives[i].text);
        mt_json_member_number(writer, "score", (double)sentence->alternatives[i].score, 6);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}

static enum stage tokens_stage(struct json_stream *stream,
                               const struct mt_inspected_sentence *sentence)
{
    mt_inspection_cursor_enter(&stream->at);
    write_sentence_head(stream, sentence);
    if (stream->at.inspection->options.n_alternatives)
        write_alternatives(&stream->writer, sentence);
    write_alignment_head(stream);
    stream->step = 0;
    return sentence->n_steps ? ALIGNMENT : LINKS;
}

static enum stage alignment_stage(struct json_stream *stream,
                                  const struct mt_inspected_sentence *sentence)
{
    write_alignment_row(stream, sentence);
    return ++stream->step < sentence->n_steps ? ALIGNMENT : LINKS;
}

static enum stage behind_search(const struct json_stream *stream)
{
    return stream->at.n_tensors && stream->at.tensors[0].n_rows ? TENSORS : SENTENCE_END;
}

static enum stage behind_lens(struct json_stream *stream,
                              const struct mt_inspected_sentence *sentence)
{
    if (!sentence->search)
        return behind_search(stream);
    stream->step = 0;
    mt_json_member_array(&stream->writer, "search");
    return SEARCH;
}

static enum stage behind_top(struct json_stream *stream,
                             const struct mt_inspected_sentence *sentence)
{
    if (!sentence->opinions || !n_written_steps(sentence))
        return behind_lens(stream, sentence);
    stream->step = 0;
    mt_json_member_array(&stream->writer, "logit_lens");
    return LENS;
}

static enum stage lens_stage(struct json_stream *stream,
                             const struct mt_inspected_sentence *sentence)
{
    write_lens_step(stream, sentence);
    if (++stream->step < n_written_steps(sentence))
        return LENS;
    mt_json_end_array(&stream->writer);
    return behind_lens(stream, sentence);
}

static enum stage search_stage(struct json_stream *stream,
                               const struct mt_inspected_sentence *sentence)
{
    if (stream->step < sentence->n_search_steps) {
        write_search_step(&stream->writer, &sentence->search[stream->step++]);
        return SEARCH;
    }
    mt_json_end_array(&stream->writer);
    return behind_search(stream);
}

static enum stage links_stage(struct json_stream *stream,
                              const struct mt_inspected_sentence *sentence)
{
    write_links(stream, sentence);
    stream->step = 0;
    if (!sentence->top || !n_written_steps(sentence))
        return behind_top(stream, sentence);
    mt_json_member_array(&stream->writer, "next_tokens");
    return TOP;
}

static enum stage top_stage(struct json_stream *stream,
                            const struct mt_inspected_sentence *sentence)
{
    write_top_step(stream, sentence);
    if (++stream->step < n_written_steps(sentence))
        return TOP;
    mt_json_end_array(&stream->writer);
    return behind_top(stream, sentence);
}

/* Weights are members of the sentence, named after their kinds; other quantities have an object of
 * their own. */
static bool has_group(const struct mt_attention_tensor *tensor)
{
    return tensor->quantity != MT_QUANTITY_WEIGHTS && tensor->quantity != MT_QUANTITY_ROLLOUT;
}

static void begin_tensor(struct mt_json_writer *writer, const struct mt_attention_tensor *tensor,
                         const struct mt_attention_tensor *before)
{
    if (!has_group(tensor)) {
        mt_json_key(writer, tensor->name);
        return;
    }
    if (!before || before->quantity != tensor->quantity)
        mt_json_member_object(writer, mt_quantity_name(tensor->quantity));
    mt_json_key(writer, mt_trace_kind_name(tensor->kind));
}

static enum stage tensors_stage(struct json_stream *stream)
{
    struct mt_inspection_cursor *at = &stream->at;
    const struct mt_attention_tensor *tensor = &at->tensors[at->tensor];
    if (at->matrix == 0 && at->row == 0)
        begin_tensor(&stream->writer, tensor, tensor == at->tensors ? NULL : tensor - 1);
    mt_json_tensor_row(&stream->writer, tensor, at->matrix, at->row,
                       at->inspection->options.decimals);
    if (mt_inspection_cursor_next_row(at))
        return TENSORS;
    bool is_last = at->tensor == at->n_tensors;
    if (has_group(tensor) && (is_last || tensor[1].quantity != tensor->quantity))
        mt_json_end_object(&stream->writer);
    return is_last ? SENTENCE_END : TENSORS;
}

static enum stage sentence_end_stage(struct json_stream *stream)
{
    mt_json_end_object(&stream->writer);
    return ++stream->at.sentence < stream->at.end_sentence ? TOKENS : TAIL;
}

static enum stage advance(struct json_stream *stream)
{
    const struct mt_inspected_sentence *sentence =
        &stream->at.inspection->sentences[stream->at.sentence];
    switch (stream->stage) {
    case HEAD:
        write_head(stream);
        return stream->at.sentence < stream->at.end_sentence ? TOKENS : TAIL;
    case TOKENS:
        return tokens_stage(stream, sentence);
    case ALIGNMENT:
        return alignment_stage(stream, sentence);
    case LINKS:
        return links_stage(stream, sentence);
    case TOP:
        return top_stage(stream, sentence);
    case LENS:
        return lens_stage(stream, sentence);
    case SEARCH:
        return search_stage(stream, sentence);
    case TENSORS:
        return tensors_stage(stream);
    case SENTENCE_END:
        return sentence_end_stage(stream);
    default:
        mt_json_end_array(&stream->writer);
        mt_json_end_object(&stream->writer);
        return END;
    }
}

static bool json_next(void *state, struct mt_text *out)
{
    struct json_stream *stream = state;
    if (stream->stage == END)
        return false;
    stream->writer.out = out;
    stream->stage = advance(stream);
    if (stream->stage == END)
        mt_text_append(out, "\n", 1);
    return true;
}

enum mt_status mt_inspection_json_stream(const struct mt_inspection_cursor *cursor,
                                         struct mt_stream **out, struct mt_error *err)
{
    struct json_stream *stream = mt_inspection_state_create(cursor, sizeof *stream, err);
    if (!stream)
        return MT_MEMORY;
    mt_json_writer_init(&stream->writer, NULL);
    return mt_inspection_state_stream(stream, json_next, out, err);
}
