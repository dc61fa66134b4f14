/* Reads the numbers of an inspection, tensor by tensor and row by row. */
#include "base/size.h"
#include "server/inspection/inspection_state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum mt_trace_quantity traced;
    bool is_map, is_looked_at;
} quantities[MT_N_QUANTITIES] = {
    [MT_QUANTITY_WEIGHTS] = {.name = "", .traced = MT_TRACED_WEIGHTS, .is_map = true},
    [MT_QUANTITY_QUERIES] = {.name = "queries", .traced = MT_TRACED_QUERIES},
    [MT_QUANTITY_KEYS] = {.name = "keys", .traced = MT_TRACED_KEYS, .is_looked_at = true},
    [MT_QUANTITY_SCORES] = {.name = "scores", .is_map = true},
    [MT_QUANTITY_VALUES] = {.name = "values", .traced = MT_TRACED_VALUES, .is_looked_at = true},
    [MT_QUANTITY_HEAD_OUTPUTS] = {.name = "head_outputs", .traced = MT_TRACED_OUTPUTS},
    [MT_QUANTITY_VALUE_WEIGHTED] = {.name = "value_weighted", .is_map = true},
    [MT_QUANTITY_STATES] = {.name = "states", .traced = MT_TRACED_STREAM},
    [MT_QUANTITY_SUBLAYERS] = {.name = "sublayers", .traced = MT_TRACED_ADDED},
    [MT_QUANTITY_RESIDUALS] = {.name = "residuals"},
    [MT_QUANTITY_HIDDEN] = {.name = "hidden", .traced = MT_TRACED_HIDDEN},
    [MT_QUANTITY_ROLLOUT] = {.name = "rollout", .is_map = true},
};

const char *mt_trace_kind_name(enum mt_trace_kind kind)
{
    return kind == MT_TRACE_ENCODER ? "encoder" : kind == MT_TRACE_DECODER ? "decoder" : "cross";
}

/* Returns 0, 1, 2 for encoder, decoder, cross. */
static size_t kind_index(enum mt_trace_kind kind)
{
    return kind == MT_TRACE_ENCODER ? 0 : kind == MT_TRACE_DECODER ? 1 : 2;
}

const char *mt_quantity_name(enum mt_quantity quantity)
{
    return quantities[quantity].name;
}

bool mt_quantity_is_map(enum mt_quantity quantity)
{
    return quantities[quantity].is_map;
}

bool mt_quantity_is_looked_at(enum mt_quantity quantity)
{
    return quantities[quantity].is_looked_at;
}

/* Listing tensors
 * ------------------------------------------------------------------------------- */

/* Whether the quantity is of the residual stream: states and the computations between them. */
static bool is_of_stream(enum mt_quantity quantity)
{
    return quantity >= MT_QUANTITY_STATES && quantity <= MT_QUANTITY_HIDDEN;
}

static bool has_tensor(const struct mt_inspection_options *options, enum mt_quantity quantity,
                       enum mt_trace_kind kind)
{
    unsigned kinds = options->kinds;
    if (quantity == MT_QUANTITY_WEIGHTS)
        return !options->skips_weights && kinds & kind;
    if (!(options->include & 1u << quantity))
        return false;
    if (quantity == MT_QUANTITY_ROLLOUT)
        return kind == MT_TRACE_CROSS;
    if (!is_of_stream(quantity))
        return kinds & kind;
    return kind == MT_TRACE_ENCODER
               ? kinds & kind
               : kind == MT_TRACE_DECODER && kinds & (MT_TRACE_DECODER | MT_TRACE_CROSS);
}

static bool keeps_layers(enum mt_reduce reduce)
{
    return reduce == MT_REDUCE_NONE || reduce == MT_REDUCE_HEADS;
}

static bool keeps_heads(enum mt_reduce reduce)
{
    return reduce == MT_REDUCE_NONE || reduce == MT_REDUCE_LAYERS;
}

/* Returns the number of positions in a layer's residual stream, which replace heads. */
static size_t n_places(enum mt_quantity quantity, enum mt_trace_kind kind)
{
    size_t n_sublayers = kind == MT_TRACE_ENCODER ? 2 : 3;
    return quantity == MT_QUANTITY_STATES   ? n_sublayers + 1
           : quantity == MT_QUANTITY_HIDDEN ? 1
                                            : n_sublayers;
}

static size_t n_columns_of(const struct mt_inspection_model *model, enum mt_quantity quantity,
                           enum mt_trace_kind kind, size_t n_tokens)
{
    bool is_encoder = kind == MT_TRACE_ENCODER;
    switch (quantity) {
    case MT_QUANTITY_QUERIES:
    case MT_QUANTITY_KEYS:
    case MT_QUANTITY_VALUES:
    case MT_QUANTITY_HEAD_OUTPUTS:
        return model->d_model / (is_encoder ? model->n_encoder_heads : model->n_decoder_heads);
    case MT_QUANTITY_STATES:
    case MT_QUANTITY_SUBLAYERS:
        return model->d_model;
    case MT_QUANTITY_RESIDUALS:
        return 3;
    case MT_QUANTITY_HIDDEN:
        return is_encoder ? model->d_ff_encoder : model->d_ff_decoder;
    default:
        return n_tokens;
    }
}

/* Describes a tensor as far as lengths and options determine it, with as many rows as steps may
 * choose at most. */
static struct mt_attention_tensor describe(const struct mt_inspection_model *model,
                                           const struct mt_inspection_options *options,
                                           enum mt_quantity quantity, enum mt_trace_kind kind,
                                           size_t n_source, size_t n_steps)
{
    size_t n_queries = kind == MT_TRACE_ENCODER ? n_source : n_steps;
    size_t n_tokens = kind == MT_TRACE_DECODER ? n_steps : n_source;
    struct mt_attention_tensor tensor = {
        .quantity = quantity,
        .kind = kind,
        .reduce = options->reduce,
        .n_rows = mt_quantity_is_looked_at(quantity) ? n_tokens : n_queries,
        .n_columns = n_columns_of(model, quantity, kind, n_tokens),
    };
    if (options->steps.n && !mt_quantity_is_looked_at(quantity))
        tensor.n_rows = mt_size_min(tensor.n_rows, options->steps.n);
    if (quantity == MT_QUANTITY_ROLLOUT)
        return tensor;
    enum mt_status status = mt_inspection_select(model, kind, &options->layers, &options->heads,
                                                 &tensor.selection, NULL);
    assert(!status && "options were not checked");
    (void)status;
    if (is_of_stream(quantity)) {
        tensor.selection.n_heads = n_places(quantity, kind);
        for (size_t i = 0; i < tensor.selection.n_heads; i++)
            tensor.selection.heads[i] = i;
    }
    return tensor;
}

/* Names the tensor, whose number of rows is now known, and sets its shape. */
static void shape_up(struct mt_attention_tensor *tensor)
{
    const char *quantity = mt_quantity_name(tensor->quantity);
    const char *kind = mt_trace_kind_name(tensor->kind);
    bool has_axes = tensor->quantity != MT_QUANTITY_ROLLOUT;
    snprintf(tensor->name, sizeof tensor->name, "%s%s%s", quantity,
             quantity[0] && has_axes ? "." : "", has_axes ? kind : "");
    tensor->rank = 0;
    tensor->n_matrices = 1;
    if (has_axes && keeps_layers(tensor->reduce))
        tensor->shape[tensor->rank++] = tensor->selection.n_layers;
    if (has_axes && keeps_heads(tensor->reduce) && tensor->quantity != MT_QUANTITY_HIDDEN)
        tensor->shape[tensor->rank++] = tensor->selection.n_heads;
    for (size_t i = 0; i < tensor->rank; i++)
        tensor->n_matrices *= tensor->shape[i];
    tensor->shape[tensor->rank++] = tensor->n_rows;
    tensor->shape[tensor->rank++] = tensor->n_columns;
}

uint64_t mt_inspection_count_values(const struct mt_inspection_model *model,
                                    const struct mt_inspection_options *options, size_t n_source,
                                    size_t n_steps)
{
    uint64_t n = (uint64_t)n_source * n_steps;
    for (enum mt_quantity quantity = 0; quantity < MT_N_QUANTITIES; quantity++)
        for (enum mt_trace_kind kind = MT_TRACE_ENCODER; kind <= MT_TRACE_CROSS; kind *= 2) {
            if (!has_tensor(options, quantity, kind))
                continue;
            struct mt_attention_tensor tensor =
                describe(model, options, quantity, kind, n_source, n_steps);
            shape_up(&tensor);
            n += (uint64_t)tensor.n_matrices * tensor.n_rows * tensor.n_columns;
        }
    size_t n_chosen = options->steps.n ? mt_size_min(options->steps.n, n_steps) : n_steps;
    if (options->has_lens)
        n += (uint64_t)n_chosen * (model->n_decoder_layers + 1) * model->n_vocabulary;
    return n;
}

size_t mt_inspection_choose_steps(const struct mt_index_list *steps, size_t n_rows,
                                  size_t out[MT_MAX_INDICES])
{
    size_t n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        int64_t value = steps->values[i], row = value < 0 ? value + (int64_t)n_rows : value;
        bool is_new = row >= 0 && row < (int64_t)n_rows;
        for (size_t j = 0; j < n && is_new; j++)
            is_new = out[j] != (size_t)row;
        if (is_new)
            out[n++] = (size_t)row;
    }
    return n;
}

static bool has_chosen_rows(const struct mt_attention_tensor *tensor)
{
    return tensor->inspection->options.steps.n && !mt_quantity_is_looked_at(tensor->quantity);
}

size_t mt_inspection_tensors(struct mt_inspection *inspection, size_t sentence,
                             struct mt_attention_tensor tensors[MT_MAX_TENSORS])
{
    const struct mt_inspected_sentence *from = &inspection->sentences[sentence];
    size_t n = 0;
    for (enum mt_quantity quantity = 0; quantity < MT_N_QUANTITIES; quantity++)
        for (enum mt_trace_kind kind = MT_TRACE_ENCODER; kind <= MT_TRACE_CROSS; kind *= 2) {
            if (!has_tensor(&inspection->options, quantity, kind))
                continue;
            struct mt_attention_tensor *tensor = &tensors[n++];
            *tensor = describe(&inspection->model, &inspection->options, quantity, kind,
                               from->n_source, from->n_steps);
            tensor->sentence = from;
            tensor->inspection = inspection;
            if (has_chosen_rows(tensor))
                tensor->n_rows =
                    kind == MT_TRACE_ENCODER ? from->n_chosen_source : from->n_chosen_steps;
            shape_up(tensor);
        }
    return n;
}

size_t mt_attention_tensor_index(const struct mt_attention_tensor *tensor, size_t row)
{
    if (!has_chosen_rows(tensor))
        return row;
    const struct mt_inspected_sentence *sentence = tensor->sentence;
    return tensor->kind == MT_TRACE_ENCODER ? sentence->chosen_source[row]
                                            : sentence->chosen_steps[row];
}

/* One row -------------------------------------------------------------------------------------- */

/* The layers and heads of which a matrix is the mean: all selected ones along an averaged axis, one
 * along the others. */
struct members {
    const size_t *layers, *heads;
    size_t n_layers, n_heads;
};

static struct members members_of(const struct mt_attention_tensor *tensor, size_t matrix)
{
    const struct mt_selection *all = &tensor->selection;
    struct members some = {all->layers, all->heads, all->n_layers, all->n_heads};
    size_t n_kept_heads = keeps_heads(tensor->reduce) ? all->n_heads : 1;
    if (keeps_layers(tensor->reduce)) {
        some.n_layers = 1;
        some.layers += matrix / n_kept_heads;
    }
    if (keeps_heads(tensor->reduce)) {
        some.n_heads = 1;
        some.heads += matrix % n_kept_heads;
    }
    return some;
}

static const float *traced(const struct mt_attention_tensor *tensor,
                           enum mt_trace_quantity quantity, struct members some, size_t row)
{
    const struct mt_attention *from = &tensor->sentence->attention;
    const enum mt_trace_kind kind = (enum mt_trace_kind)((unsigned)tensor->kind << quantity);
    return from->row(from->context, kind, some.layers[0], some.heads[0], row);
}

static const float *mean_weights(const struct mt_attention_tensor *tensor, struct members some,
                                 size_t row)
{
    const struct mt_attention *from = &tensor->sentence->attention;
    struct mt_inspection_memory *memory = tensor->inspection->memory;
    memset(memory->sums, 0, tensor->n_columns * sizeof *memory->sums);
    for (size_t l = 0; l < some.n_layers; l++) {
        for (size_t h = 0; h < some.n_heads; h++) {
            const float *weights =
                from->row(from->context, tensor->kind, some.layers[l], some.heads[h], row);
            for (size_t i = 0; i < tensor->n_columns; i++)
                memory->sums[i] += (double)weights[i];
        }
    }
    for (size_t i = 0; i < tensor->n_columns; i++)
        memory->row[i] = (float)(memory->sums[i] / (double)(some.n_layers * some.n_heads));
    return memory->row;
}

/* Computes the softmax's input again from query and keys, because the engine stores only its
 * output. */
static const float *scores(const struct mt_attention_tensor *tensor, struct members some,
                           size_t row)
{
    float *out = tensor->inspection->memory->row;
    const float *q = traced(tensor, MT_TRACED_QUERIES, some, row);
    size_t d_k = n_columns_of(&tensor->inspection->model, MT_QUANTITY_QUERIES, tensor->kind, 0);
    for (size_t i = 0; i < tensor->n_columns; i++) {
        bool is_masked = tensor->kind == MT_TRACE_DECODER && i > row;
        const float *k = is_masked ? NULL : traced(tensor, MT_TRACED_KEYS, some, i);
        double sum = 0;
        for (size_t j = 0; j < d_k && k; j++)
            sum += (double)q[j] * (double)k[j];
        out[i] = is_masked ? -INFINITY : (float)(sum / sqrt((double)d_k));
    }
    return out;
}

static const float *value_weighted(const struct mt_attention_tensor *tensor, struct members some,
                                   size_t row)
{
    const struct mt_inspection_model *model = &tensor->inspection->model;
    float *out = tensor->inspection->memory->row;
    const float *weights = traced(tensor, MT_TRACED_WEIGHTS, some, row);
    const float *norms = tensor->sentence->value_norms[kind_index(tensor->kind)];
    size_t n_heads =
        tensor->kind == MT_TRACE_ENCODER ? model->n_encoder_heads : model->n_decoder_heads;
    norms += (some.layers[0] * n_heads + some.heads[0]) * tensor->n_columns;
    for (size_t i = 0; i < tensor->n_columns; i++)
        out[i] = weights[i] * norms[i];
    return out;
}

/* Computes mean, deviation and length of the input of this sublayer's layer norm. */
static const float *residual(const struct mt_attention_tensor *tensor, struct members some,
                             size_t row)
{
    float *out = tensor->inspection->memory->row;
    const struct mt_inspection_model *model = &tensor->inspection->model;
    const float *x = traced(tensor, MT_TRACED_STREAM, some, row);
    const float *y = traced(tensor, MT_TRACED_ADDED, some, row);
    double n = (double)model->d_model, sum = 0, squares = 0, variance = 0;
    for (size_t i = 0; i < model->d_model; i++)
        sum += (double)x[i] + (model->normalizes_before ? 0 : (double)y[i]);
    for (size_t i = 0; i < model->d_model; i++) {
        double at = (double)x[i] + (model->normalizes_before ? 0 : (double)y[i]);
        squares += at * at;
        variance += (at - sum / n) * (at - sum / n) / n;
    }
    out[0] = (float)(sum / n);
    out[1] = (float)sqrt(variance);
    out[2] = (float)sqrt(squares);
    return out;
}

const float *mt_attention_tensor_row(const struct mt_attention_tensor *tensor, size_t matrix,
                                     size_t row)
{
    const struct mt_inspected_sentence *sentence = tensor->sentence;
    size_t index = mt_attention_tensor_index(tensor, row);
    if (tensor->quantity == MT_QUANTITY_ROLLOUT) /* it has no layers or heads */
        return sentence->rollout + index * sentence->n_source;
    struct members some = members_of(tensor, matrix);
    switch (tensor->quantity) {
    case MT_QUANTITY_WEIGHTS:
        return some.n_layers == 1 && some.n_heads == 1
                   ? traced(tensor, MT_TRACED_WEIGHTS, some, index)
                   : mean_weights(tensor, some, index);
    case MT_QUANTITY_SCORES:
        return scores(tensor, some, index);
    case MT_QUANTITY_VALUE_WEIGHTED:
        return value_weighted(tensor, some, index);
    case MT_QUANTITY_RESIDUALS:
        return residual(tensor, some, index);
    default:
        return traced(tensor, quantities[tensor->quantity].traced, some, index);
    }
}

const struct mt_inspected_token *mt_attention_tensor_rows(const struct mt_attention_tensor *tensor)
{
    const struct mt_inspected_sentence *sentence = tensor->sentence;
    if (tensor->kind == MT_TRACE_ENCODER)
        return sentence->source_tokens;
    if (tensor->kind == MT_TRACE_CROSS &&
        tensor->inspection->options.alignment.shift == MT_SHIFT_OUTPUT)
        return sentence->output_tokens;
    return sentence->input_tokens;
}

const struct mt_inspected_token *
mt_attention_tensor_columns(const struct mt_attention_tensor *tensor)
{
    return tensor->kind == MT_TRACE_DECODER ? tensor->sentence->input_tokens
                                            : tensor->sentence->source_tokens;
}
