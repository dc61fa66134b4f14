#include "server/inspection/inspection_matrix.h"

#include <stdlib.h>

const float *mt_inspection_matrix_row(const struct mt_inspection_matrix *matrix, size_t row)
{
    if (matrix->tensor.rank == 0)
        return matrix->sentence->alignment + row * matrix->sentence->n_source;
    return mt_attention_tensor_row(&matrix->tensor, matrix->index, row);
}

double mt_inspection_matrix_largest(const struct mt_inspection_matrix *matrix)
{
    double most = 0;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const float *row = mt_inspection_matrix_row(matrix, r);
        for (size_t i = 0; i < matrix->n_columns; i++)
            if ((double)row[i] > most)
                most = (double)row[i];
    }
    return most;
}

/* Titles --------------------------------------------------------------------------------------- */

/* Appends "layer 1", "heads 0,3" or "heads 0-7". */
static void append_indices(struct mt_text *out, const char *name, const size_t *values, size_t n)
{
    bool is_run = n > 2;
    for (size_t i = 1; i < n; i++)
        is_run = is_run && values[i] == values[i - 1] + 1;
    mt_text_appendf(out, ", %s%s ", name, n > 1 ? "s" : "");
    if (is_run) {
        mt_text_appendf(out, "%zu-%zu", values[0], values[n - 1]);
        return;
    }
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(out, "%s%zu", i ? "," : "", values[i]);
}

static void describe_alignment(const struct mt_inspection *inspection, struct mt_text *out)
{
    const struct mt_alignment_choice *choice = &inspection->options.alignment;
    const struct mt_selection *selection = &inspection->alignment_selection;
    mt_text_append_string(out, "alignment: ");
    mt_text_append_string(out, choice->mode == MT_ALIGNMENT_MEAN ? "mean" : "maximum");
    append_indices(out, "layer", selection->layers, selection->n_layers);
    append_indices(out, "head", selection->heads, selection->n_heads);
    if (choice->shift == MT_SHIFT_INPUT)
        mt_text_append_string(out, ", shift input");
}

static bool keeps_layers(const struct mt_attention_tensor *tensor)
{
    return tensor->reduce == MT_REDUCE_NONE || tensor->reduce == MT_REDUCE_HEADS;
}

static bool keeps_heads(const struct mt_attention_tensor *tensor)
{
    return tensor->reduce == MT_REDUCE_NONE || tensor->reduce == MT_REDUCE_LAYERS;
}

void mt_inspection_matrix_describe(const struct mt_inspection_matrix *matrix, struct mt_text *out)
{
    const struct mt_attention_tensor *tensor = &matrix->tensor;
    const struct mt_selection *all = &tensor->selection;
    if (tensor->rank == 0) {
        describe_alignment(matrix->inspection, out);
        return;
    }
    size_t n_heads = keeps_heads(tensor) ? all->n_heads : 1;
    mt_text_append_string(out, tensor->name);
    if (keeps_layers(tensor))
        append_indices(out, "layer", &all->layers[matrix->index / n_heads], 1);
    else
        append_indices(out, "layer", all->layers, all->n_layers);
    if (keeps_heads(tensor))
        append_indices(out, "head", &all->heads[matrix->index % n_heads], 1);
    else
        append_indices(out, "head", all->heads, all->n_heads);
}

bool mt_inspection_matrix_head(const struct mt_inspection_matrix *matrix, size_t *layer,
                               size_t *head)
{
    const struct mt_selection *all = &matrix->tensor.selection;
    if (matrix->tensor.rank != 4)
        return false;
    *layer = all->layers[matrix->index / all->n_heads];
    *head = all->heads[matrix->index % all->n_heads];
    return true;
}

/* Listing -------------------------------------------------------------------------------------- */

static size_t count(struct mt_inspection_cursor at)
{
    size_t n = 0;
    for (; at.sentence < at.end_sentence; at.sentence++) {
        mt_inspection_cursor_enter(&at);
        n += at.n_tensors ? 0 : 1;
        for (size_t i = 0; i < at.n_tensors; i++)
            n += at.tensors[i].n_matrices;
    }
    return n;
}

static struct mt_inspection_matrix alignment_of(const struct mt_inspection_cursor *at)
{
    const struct mt_inspected_sentence *sentence = &at->inspection->sentences[at->sentence];
    return (struct mt_inspection_matrix){
        .inspection = at->inspection,
        .sentence = sentence,
        .n_rows = sentence->n_steps,
        .n_columns = sentence->n_source,
        .row_tokens = sentence->output_tokens,
        .column_tokens = sentence->source_tokens,
    };
}

static struct mt_inspection_matrix matrix_of(const struct mt_attention_tensor *tensor, size_t index)
{
    return (struct mt_inspection_matrix){
        .inspection = tensor->inspection,
        .sentence = tensor->sentence,
        .tensor = *tensor,
        .index = index,
        .n_rows = tensor->n_rows,
        .n_columns = tensor->n_columns,
        .row_tokens = mt_attention_tensor_rows(tensor),
        .column_tokens = mt_attention_tensor_columns(tensor),
    };
}

static void list(struct mt_inspection_cursor at, struct mt_inspection_matrix *out)
{
    for (; at.sentence < at.end_sentence; at.sentence++) {
        mt_inspection_cursor_enter(&at);
        if (!at.n_tensors)
            *out++ = alignment_of(&at);
        for (size_t i = 0; i < at.n_tensors; i++)
            for (size_t m = 0; m < at.tensors[i].n_matrices; m++)
                *out++ = matrix_of(&at.tensors[i], m);
    }
}

enum mt_status mt_inspection_matrices(const struct mt_inspection_cursor *cursor,
                                      struct mt_inspection_matrix **out, size_t *n,
                                      struct mt_error *err)
{
    *n = count(*cursor);
    if (*n > MT_MAX_MATRICES)
        return mt_fail(err, MT_LIMIT,
                       "%zu matrices to draw, at most %d: ask for fewer sentences, "
                       "layers or heads",
                       *n, MT_MAX_MATRICES);
    *out = calloc(*n + 1, sizeof **out);
    if (!*out)
        return mt_fail_memory(err, *n * sizeof **out, "matrices");
    list(*cursor, *out);
    return MT_OK;
}
