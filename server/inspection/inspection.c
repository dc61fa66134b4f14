#include "server/inspection/inspection.h"

#include "base/arena.h"
#include "base/size.h"
#include "server/inspection/alignment.h"
#include "server/inspection/inspection_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DECIMALS 4

#define N_KINDS 3
static const enum mt_trace_kind all_kinds[N_KINDS] = {MT_TRACE_ENCODER, MT_TRACE_DECODER,
                                                      MT_TRACE_CROSS};

/* Options for the model
 * ------------------------------------------------------------------------- */

static size_t n_layers_of(const struct mt_inspection_model *model, enum mt_trace_kind kind)
{
    return kind == MT_TRACE_ENCODER ? model->n_encoder_layers : model->n_decoder_layers;
}

static size_t n_heads_of(const struct mt_inspection_model *model, enum mt_trace_kind kind)
{
    return kind == MT_TRACE_ENCODER ? model->n_encoder_heads : model->n_decoder_heads;
}

static bool contains(const size_t *values, size_t n, size_t value)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] == value)
            return true;
    return false;
}

/* Makes indices of the requested numbers: negative ones count from the end, and duplicates are left
 * out. what is "layer" or "head". */
static enum mt_status resolve(const struct mt_index_list *list, size_t n_there, const char *what,
                              enum mt_trace_kind kind, size_t *out, size_t *n_out,
                              struct mt_error *err)
{
    size_t n = list->n ? list->n : n_there;
    if (n > MT_MAX_INDICES)
        return mt_fail(err, MT_LIMIT, "the model has %zu %ss; at most %d can be inspected", n, what,
                       MT_MAX_INDICES);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t value = list->n ? list->values[i] : (int64_t)i;
        int64_t index = value < 0 ? value + (int64_t)n_there : value;
        if (index < 0 || index >= (int64_t)n_there)
            return mt_fail(err, MT_INVALID,
                           "%s %d: %s attention has %zu %ss, expected 0 to %zu (or -%zu to -1)",
                           what, (int)value, mt_trace_kind_name(kind), n_there, what, n_there - 1,
                           n_there);
        if (!contains(out, *n_out, (size_t)index))
            out[(*n_out)++] = (size_t)index;
    }
    return MT_OK;
}

enum mt_status mt_inspection_select(const struct mt_inspection_model *model,
                                    enum mt_trace_kind kind, const struct mt_index_list *layers,
                                    const struct mt_index_list *heads, struct mt_selection *out,
                                    struct mt_error *err)
{
    enum mt_status status =
        resolve(layers, n_layers_of(model, kind), "layer", kind, out->layers, &out->n_layers, err);
    if (status)
        return status;
    return resolve(heads, n_heads_of(model, kind), "head", kind, out->heads, &out->n_heads, err);
}

enum mt_status mt_inspection_select_alignment(const struct mt_inspection_model *model,
                                              const struct mt_alignment_choice *choice,
                                              struct mt_selection *out, struct mt_error *err)
{
    struct mt_index_list layers = choice->layers, heads = choice->heads;
    if (!layers.n && !heads.n && model->has_cell)
        mt_alignment_guided(&layers, &heads);
    if (!layers.n)
        mt_alignment_default_layers(model->n_decoder_layers, &layers);
    enum mt_status status = mt_inspection_select(model, MT_TRACE_CROSS, &layers, &heads, out, err);
    return status ? mt_fail_in(err, status, "alignment") : MT_OK;
}

static enum mt_status check_include(const struct mt_inspection_model *model,
                                    const struct mt_inspection_options *options,
                                    struct mt_error *err)
{
    if (options->include && options->reduce != MT_REDUCE_NONE)
        return mt_fail(err, MT_INVALID,
                       "reduce: what include names is not averaged, expected none");
    if (!options->kinds && options->include & ~(1u << MT_QUANTITY_ROLLOUT))
        return mt_fail(err, MT_INVALID,
                       "include: it is of kinds, and there are none: expected cross, encoder or "
                       "decoder in kinds");
    if (model->has_cell && options->include & 1u << MT_QUANTITY_ROLLOUT)
        return mt_fail(err, MT_INVALID,
                       "include: rollout follows every attention, but " MT_NO_DECODER_ATTENTION);
    return MT_OK;
}

enum mt_status mt_inspection_check(const struct mt_inspection_model *model,
                                   const struct mt_inspection_options *options,
                                   struct mt_error *err)
{
    struct mt_selection selection;
    enum mt_status included = check_include(model, options, err);
    if (included)
        return included;
    if (model->has_cell && options->kinds & MT_TRACE_DECODER)
        return mt_fail(err, MT_INVALID,
                       "kinds: " MT_NO_DECODER_ATTENTION ": expected encoder or cross");
    for (size_t i = 0; i < N_KINDS; i++) {
        if (!(options->kinds & all_kinds[i]))
            continue;
        enum mt_status status = mt_inspection_select(model, all_kinds[i], &options->layers,
                                                     &options->heads, &selection, err);
        if (status)
            return status;
    }
    return mt_inspection_select_alignment(model, &options->alignment, &selection, err);
}

/* Creating
 * --------------------------------------------------------------------------------------- */

static struct mt_trace_shape shape_of(const void *context, enum mt_trace_kind kind)
{
    return mt_trace_shape(context, kind);
}

static const float *row_of(const void *context, enum mt_trace_kind kind, size_t layer, size_t head,
                           size_t row)
{
    return mt_trace_row(context, kind, layer, head, row);
}

struct mt_attention mt_attention_of_trace(const struct mt_trace *trace)
{
    return (struct mt_attention){.shape = shape_of, .row = row_of, .context = trace};
}

static enum mt_status check_shape(const struct mt_inspection_input *input,
                                  const struct mt_inspection_part *part, enum mt_trace_kind kind,
                                  struct mt_error *err)
{
    struct mt_trace_shape found = part->attention.shape(part->attention.context, kind);
    struct mt_trace_shape expected = {
        .n_layers = n_layers_of(&input->model, kind),
        .n_heads = n_heads_of(&input->model, kind),
        .n_rows = kind == MT_TRACE_ENCODER ? part->n_source : part->n_output,
        .n_columns = kind == MT_TRACE_DECODER ? part->n_output : part->n_source,
    };
    if (found.n_layers == expected.n_layers && found.n_heads == expected.n_heads &&
        found.n_rows == expected.n_rows && found.n_columns == expected.n_columns)
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "%s attention was traced as [%zu, %zu, %zu, %zu], expected [%zu, %zu, %zu, %zu]",
                   mt_trace_kind_name(kind), found.n_layers, found.n_heads, found.n_rows,
                   found.n_columns, expected.n_layers, expected.n_heads, expected.n_rows,
                   expected.n_columns);
}

enum mt_status mt_inspection_check_values(const struct mt_inspection_options *options,
                                          uint64_t n_values, struct mt_error *err)
{
    if (!options->max_values || n_values <= options->max_values)
        return MT_OK;
    return mt_fail(err, MT_LIMIT,
                   "attention: %llu numbers needed, %llu allowed; ask for fewer layers, heads or "
                   "kinds, for some of the steps, or reduce them",
                   (unsigned long long)n_values, (unsigned long long)options->max_values);
}

static enum mt_status check_parts(const struct mt_inspection_input *input,
                                  const struct mt_inspection_options *options, uint64_t *n_values,
                                  struct mt_error *err)
{
    *n_values = 0;
    for (size_t i = 0; i < input->n_parts; i++) {
        const struct mt_inspection_part *part = &input->parts[i];
        for (size_t k = 0; k < N_KINDS; k++) {
            if (!((options->kinds | MT_TRACE_CROSS) & all_kinds[k]))
                continue;
            enum mt_status status = check_shape(input, part, all_kinds[k], err);
            if (status)
                return status;
        }
        *n_values +=
            mt_inspection_count_values(&input->model, options, part->n_source, part->n_output);
    }
    return mt_inspection_check_values(options, *n_values, err);
}

/* A position in a text, in all three units. */
struct place {
    const char *text;
    size_t length, byte, character, utf16;
};

/* Tokens usually follow each other, so that walking from the last position takes time in proportion
 * to the text. */
static void walk(struct place *place, size_t to)
{
    to = mt_size_min(to, place->length);
    size_t low = mt_size_min(to, place->byte), high = mt_size_max(to, place->byte);
    size_t characters = mt_utf8_count(place->text + low, high - low);
    size_t utf16 = mt_utf8_count_utf16(place->text + low, high - low);
    bool forwards = to == high;
    place->character = forwards ? place->character + characters : place->character - characters;
    place->utf16 = forwards ? place->utf16 + utf16 : place->utf16 - utf16;
    place->byte = to;
}

static struct mt_offsets measure(struct place *place, size_t begin, size_t end)
{
    struct mt_offsets at;
    walk(place, begin);
    at.begin = place->byte;
    at.begin_char = place->character;
    at.begin_utf16 = place->utf16;
    walk(place, mt_size_max(begin, end));
    at.end = place->byte;
    at.end_char = place->character;
    at.end_utf16 = place->utf16;
    return at;
}

struct maker {
    struct mt_inspection *inspection;
    const struct mt_inspection_input *input;
    struct mt_arena *arena;
    struct place source, target;
    enum mt_status status; /* the first failure, after which nothing more is allocated */
    struct mt_error *err;
};

/* Allocates memory, and returns NULL on failure. */
static void *take(struct maker *maker, size_t count, size_t bytes, const char *what)
{
    void *out = NULL;
    if (!maker->status)
        maker->status = mt_arena_take(maker->arena, count, bytes, what, &out, maker->err);
    return out;
}

static const char *copy_string(struct maker *maker, const char *bytes, size_t length)
{
    const char *out = "";
    if (!maker->status)
        maker->status = mt_arena_copy_string(maker->arena, bytes, length, &out, maker->err);
    return out;
}

static const char *copy_string_z(struct maker *maker, const char *string)
{
    return string ? copy_string(maker, string, strlen(string)) : "";
}

static void copy_token(struct maker *maker, const struct mt_token *token,
                       struct mt_inspected_token *out)
{
    out->id = token->id;
    out->special = token->special;
    out->unknown = token->unknown;
    out->piece = copy_string_z(maker, token->piece);
}

/* begin is the sentence's position in the text. Returns NULL on failure. */
static struct mt_inspected_token *copy_tokens(struct maker *maker, struct place *place,
                                              size_t begin, const struct mt_token *tokens, size_t n)
{
    struct mt_inspected_token *out = take(maker, n, sizeof *out, "inspected tokens");
    for (size_t i = 0; i < n && !maker->status; i++) {
        copy_token(maker, &tokens[i], &out[i]);
        out[i].has_place = true;
        out[i].at = measure(place, begin + tokens[i].begin, begin + tokens[i].end);
    }
    return out;
}

/* The decoder read the start token, and then what it wrote except the last token. */
static void make_input_tokens(struct maker *maker, const struct mt_token *start,
                              struct mt_inspected_sentence *sentence)
{
    sentence->input_tokens =
        take(maker, sentence->n_steps, sizeof *sentence->input_tokens, "inspected tokens");
    if (maker->status || !sentence->n_steps)
        return;
    copy_token(maker, start, &sentence->input_tokens[0]);
    for (size_t t = 1; t < sentence->n_steps; t++)
        sentence->input_tokens[t] = sentence->output_tokens[t - 1];
}

static void copy_logprobs(const float *logprobs, struct mt_inspected_sentence *sentence)
{
    for (size_t t = 0; t < sentence->n_steps; t++) {
        sentence->output_tokens[t].has_logprob = true;
        sentence->output_tokens[t].logprob = logprobs[t];
    }
}

static void copy_candidates(struct maker *maker, const struct mt_top_token *from, size_t n,
                            struct mt_inspected_candidate *to)
{
    for (size_t i = 0; i < n && !maker->status; i++) {
        to[i].id = from[i].id;
        to[i].logprob = from[i].logprob;
        to[i].piece =
            copy_string_z(maker, maker->input->target_piece(maker->input->context, from[i].id));
    }
}

static void copy_top(struct maker *maker, const struct mt_inspection_part *part,
                     struct mt_inspected_sentence *sentence)
{
    size_t n_top = maker->inspection->options.n_top;
    sentence->top =
        take(maker, part->n_output * n_top, sizeof *sentence->top, "most probable tokens");
    for (size_t t = 0; t < part->n_output && !maker->status; t++)
        copy_candidates(maker, part->top[t], n_top, sentence->top + t * n_top);
}

static void copy_entropy(struct maker *maker, const float *entropy,
                         struct mt_inspected_sentence *sentence)
{
    sentence->entropy = take(maker, sentence->n_steps, sizeof *sentence->entropy, "entropies");
    if (!maker->status && sentence->n_steps)
        memcpy(sentence->entropy, entropy, sentence->n_steps * sizeof *entropy);
}

static void copy_search_step(struct maker *maker, const struct mt_search_candidate *from, size_t n,
                             struct mt_inspected_step *step)
{
    step->n = n;
    step->continuations = take(maker, n, sizeof *step->continuations, "a search step");
    for (size_t i = 0; i < n && !maker->status; i++) {
        step->continuations[i].is = from[i];
        step->continuations[i].piece =
            copy_string_z(maker, maker->input->target_piece(maker->input->context, from[i].token));
    }
}

static void copy_search(struct maker *maker, const struct mt_inspection_part *part,
                        struct mt_inspected_sentence *sentence)
{
    sentence->n_search_steps = part->n_search_steps;
    sentence->search = take(maker, part->n_search_steps, sizeof *sentence->search, "search steps");
    for (size_t step = 0; step < part->n_search_steps && !maker->status; step++) {
        size_t n;
        const struct mt_search_candidate *from = part->search(part->search_context, step, &n);
        copy_search_step(maker, from, n, &sentence->search[step]);
    }
}

static void copy_alternatives(struct maker *maker, const struct mt_inspection_part *part,
                              struct mt_inspected_sentence *sentence)
{
    size_t n = part->n_alternatives;
    sentence->n_alternatives = n;
    sentence->alternatives = take(maker, n, sizeof *sentence->alternatives, "alternatives");
    for (size_t i = 0; i < n && !maker->status; i++) {
        sentence->alternatives[i].text = copy_string_z(maker, part->alternatives[i].text);
        sentence->alternatives[i].score = part->alternatives[i].score;
    }
}

static void choose_rows(struct maker *maker, struct mt_inspected_sentence *sentence)
{
    const struct mt_index_list *steps = &maker->inspection->options.steps;
    if (!steps->n)
        return;
    sentence->chosen_steps =
        take(maker, MT_MAX_INDICES, sizeof *sentence->chosen_steps, "chosen steps");
    sentence->chosen_source =
        take(maker, MT_MAX_INDICES, sizeof *sentence->chosen_source, "chosen rows");
    if (maker->status)
        return;
    sentence->n_chosen_steps =
        mt_inspection_choose_steps(steps, sentence->n_steps, sentence->chosen_steps);
    sentence->n_chosen_source =
        mt_inspection_choose_steps(steps, sentence->n_source, sentence->chosen_source);
}

static void copy_opinions(struct maker *maker, const struct mt_inspection_part *part,
                          struct mt_inspected_sentence *sentence)
{
    const struct mt_inspection *inspection = maker->inspection;
    size_t n_steps = inspection->options.steps.n ? sentence->n_chosen_steps : sentence->n_steps;
    size_t n = n_steps * (inspection->model.n_decoder_layers + 1);
    size_t n_top = inspection->options.n_lens;
    sentence->opinions = take(maker, n, sizeof *sentence->opinions, "opinions of layers");
    for (size_t i = 0; i < n && !maker->status; i++) {
        struct mt_inspected_opinion *opinion = &sentence->opinions[i];
        opinion->is = part->opinions[i];
        opinion->top = take(maker, n_top, sizeof *opinion->top, "opinions of layers");
        copy_candidates(maker, part->opinion_top + i * n_top, n_top, opinion->top);
    }
}

static void copy_value_norms(struct maker *maker, const struct mt_inspection_part *part,
                             struct mt_inspected_sentence *sentence)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        size_t n_columns = all_kinds[i] == MT_TRACE_DECODER ? part->n_output : part->n_source;
        size_t n = n_layers_of(&maker->inspection->model, all_kinds[i]) *
                   n_heads_of(&maker->inspection->model, all_kinds[i]) * n_columns;
        if (!part->value_norms[i])
            continue;
        float *norms = take(maker, n, sizeof *norms, "lengths of values");
        if (!maker->status)
            memcpy(norms, part->value_norms[i], n * sizeof *norms);
        sentence->value_norms[i] = norms;
    }
}

static void roll_out(struct maker *maker, struct mt_inspected_sentence *sentence)
{
    size_t s = sentence->n_source, t = sentence->n_steps;
    sentence->rollout = take(maker, t * s, sizeof *sentence->rollout, "rollout");
    double *work = take(maker, mt_rollout_work_size(t, s), sizeof *work, "rollout");
    if (!maker->status)
        mt_rollout_run(&maker->inspection->model, &sentence->attention, t, s, work,
                       sentence->rollout);
}

static void align(struct maker *maker, struct mt_inspected_sentence *sentence)
{
    struct mt_inspection *inspection = maker->inspection;
    sentence->alignment = take(maker, sentence->n_steps * sentence->n_source,
                               sizeof *sentence->alignment, "an alignment matrix");
    sentence->links = take(maker, sentence->n_steps, sizeof *sentence->links, "alignment links");
    if (maker->status)
        return;
    mt_alignment_matrix(&sentence->attention, &inspection->alignment_selection,
                        inspection->options.alignment.mode, inspection->options.alignment.shift,
                        sentence->n_steps, sentence->n_source, inspection->memory->sums,
                        sentence->alignment);
    sentence->n_links = mt_alignment_links(sentence, sentence->links);
}

static void fill_sentence(struct maker *maker, const struct mt_inspection_part *part,
                          struct mt_inspected_sentence *sentence)
{
    sentence->attention = part->attention;
    sentence->score = part->score;
    sentence->has_eos = part->has_eos;
    sentence->was_cut = part->was_cut;
    sentence->n_source = part->n_source;
    sentence->n_steps = part->n_output;
    sentence->source = measure(&maker->source, part->source_begin, part->source_end);
    sentence->target = measure(&maker->target, part->target_begin, part->target_end);
    sentence->source_tokens =
        copy_tokens(maker, &maker->source, part->source_begin, part->source_tokens, part->n_source);
    sentence->output_tokens =
        copy_tokens(maker, &maker->target, part->target_begin, part->output_tokens, part->n_output);
    make_input_tokens(maker, &part->start, sentence);
    if (part->logprobs && !maker->status)
        copy_logprobs(part->logprobs, sentence);
    if (part->top && maker->inspection->options.n_top)
        copy_top(maker, part, sentence);
    if (part->entropy)
        copy_entropy(maker, part->entropy, sentence);
    if (part->search && maker->inspection->options.search)
        copy_search(maker, part, sentence);
    copy_alternatives(maker, part, sentence);
    choose_rows(maker, sentence);
    if (part->opinions)
        copy_opinions(maker, part, sentence);
    copy_value_norms(maker, part, sentence);
    if (maker->inspection->options.include & 1u << MT_QUANTITY_ROLLOUT)
        roll_out(maker, sentence);
    align(maker, sentence);
}

static void copy_model(struct maker *maker)
{
    const struct mt_inspection_model *from = &maker->input->model;
    struct mt_inspection_model *to = &maker->inspection->model;
    *to = *from;
    to->id = copy_string_z(maker, from->id);
    to->source_lang = copy_string_z(maker, from->source_lang);
    to->target_lang = copy_string_z(maker, from->target_lang);
}

static void copy_switches(struct maker *maker)
{
    struct mt_inspection_options *options = &maker->inspection->options;
    struct mt_head *heads = take(maker, options->n_switched_off, sizeof *heads, "switches");
    if (!maker->status && options->n_switched_off)
        memcpy(heads, options->switched_off, options->n_switched_off * sizeof *heads);
    options->switched_off = heads;
}

static void copy_texts(struct maker *maker)
{
    const struct mt_inspection_input *input = maker->input;
    struct mt_inspection *inspection = maker->inspection;
    inspection->source_length = input->source_length;
    inspection->target_length = input->target_length;
    inspection->source_text = copy_string(maker, input->source_text, input->source_length);
    inspection->target_text = copy_string(maker, input->target_text, input->target_length);
    maker->source = (struct place){.text = input->source_text, .length = input->source_length};
    maker->target = (struct place){.text = input->target_text, .length = input->target_length};
}

static size_t longest_row(const struct mt_inspection_input *input)
{
    size_t n = 3; /* residuals have three numbers */
    for (size_t i = 0; i < input->n_parts; i++)
        n = mt_size_max(n, mt_size_max(input->parts[i].n_source, input->parts[i].n_output));
    return n;
}

static enum mt_status fill(struct maker *maker)
{
    const struct mt_inspection_input *input = maker->input;
    struct mt_inspection *inspection = maker->inspection;
    struct mt_inspection_memory *memory = inspection->memory;
    size_t n_row = longest_row(input);
    memory->sums = take(maker, n_row, sizeof *memory->sums, "sums of a row");
    memory->row = take(maker, n_row, sizeof *memory->row, "a row");
    inspection->sentences =
        take(maker, input->n_parts, sizeof *inspection->sentences, "inspected sentences");
    copy_model(maker);
    copy_switches(maker);
    copy_texts(maker);
    for (size_t i = 0; i < input->n_parts && !maker->status; i++)
        fill_sentence(maker, &input->parts[i], &inspection->sentences[i]);
    inspection->n_sentences = input->n_parts;
    return maker->status;
}

/* The struct is allocated in its own arena. */
static enum mt_status create_empty(struct mt_inspection **out, struct mt_error *err)
{
    struct mt_arena *arena;
    void *inspection = NULL, *memory = NULL;
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (status)
        return status;
    status = mt_arena_take(arena, 1, sizeof **out, "an inspection", &inspection, err);
    if (!status)
        status = mt_arena_take(arena, 1, sizeof(struct mt_inspection_memory), "an inspection",
                               &memory, err);
    if (status) {
        mt_arena_destroy(arena);
        return status;
    }
    *out = inspection;
    (*out)->memory = memory;
    (*out)->memory->arena = arena;
    return MT_OK;
}

enum mt_status mt_inspection_create(const struct mt_inspection_input *input,
                                    const struct mt_inspection_options *options,
                                    struct mt_inspection **out, struct mt_error *err)
{
    uint64_t n_values;
    struct mt_inspection *inspection;
    enum mt_status status = mt_inspection_check(&input->model, options, err);
    if (!status)
        status = check_parts(input, options, &n_values, err);
    if (!status)
        status = create_empty(&inspection, err);
    if (status)
        return status;

    inspection->options = *options;
    if (!options->decimals)
        inspection->options.decimals = DEFAULT_DECIMALS;
    inspection->n_values = n_values;
    inspection->is_forced = input->is_forced;
    struct maker maker = {
        .inspection = inspection, .input = input, .arena = inspection->memory->arena, .err = err};
    status = mt_inspection_select_alignment(&input->model, &options->alignment,
                                            &inspection->alignment_selection, err);
    if (!status)
        status = fill(&maker);
    if (status) {
        mt_inspection_destroy(inspection);
        return status;
    }
    *out = inspection;
    return MT_OK;
}

void mt_inspection_destroy(struct mt_inspection *inspection)
{
    if (!inspection)
        return;
    struct mt_inspection_memory *memory = inspection->memory;
    if (memory->destroy_owner)
        memory->destroy_owner(memory->owner);
    mt_arena_destroy(memory->arena);
}

void mt_inspection_keep(struct mt_inspection *inspection, void *owner, void (*destroy)(void *))
{
    inspection->memory->owner = owner;
    inspection->memory->destroy_owner = destroy;
}
