#include "model/candidates.h"

#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/kernels/kernels.h"
#include "model/model_state.h"

#include <stdlib.h>
#include <string.h>

/* intgemm's matrices have a number of columns that is a multiple of this. */
#define MULTIPLE 8

/* A packed block consists of lines, each with a group of adjacent numbers for every column. */
#define GROUP_BYTES 4
#define LINE_BYTES ((size_t)MT_PACK_COLUMNS * GROUP_BYTES)

/* Marks those tokens of the target vocabulary that are candidates. */
struct marks {
    bool *is_candidate; /* [n_vocab] */
    size_t n_vocab, n;
};

static void mark(struct marks *marks, size_t id)
{
    if (id >= marks->n_vocab || marks->is_candidate[id])
        return;
    marks->is_candidate[id] = true;
    marks->n++;
}

static void mark_source(struct marks *marks, const struct mt_model *model, const int32_t *source,
                        size_t n_source)
{
    const struct mt_shortlist *list = &model->shortlist;
    for (size_t i = 0; i < n_source; i++) {
        size_t begin, end;
        if (model->hparams.shared_embeddings)
            mark(marks, (size_t)source[i]);
        mt_shortlist_range(list, (size_t)source[i], &begin, &end);
        for (; begin < end; begin++)
            mark(marks, mt_shortlist_id(list, begin));
    }
}

static void mark_all(struct marks *marks, const struct mt_model *model, const int32_t *source,
                     size_t n_source)
{
    size_t n_first = model->shortlist.n_first;
    for (size_t id = 0; id < n_first; id++)
        mark(marks, id);
    mark_source(marks, model, source, n_source);
    for (size_t id = n_first; id < marks->n_vocab && marks->n % MULTIPLE; id++)
        mark(marks, id);
    mark(marks, (size_t)model->hparams.eos_id);
}

static void mark_ids(struct marks *marks, const int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mark(marks, (size_t)ids[i]);
}

static enum mt_status begin_marks(const struct mt_model *model, struct marks *out,
                                  struct mt_error *err)
{
    *out = (struct marks){.n_vocab = model->hparams.n_target_vocab};
    out->is_candidate = calloc(out->n_vocab, sizeof *out->is_candidate);
    return out->is_candidate ? MT_OK : mt_fail_memory(err, out->n_vocab, "candidates");
}

/* Makes the list of candidates from the marks, and frees the marks. */
static enum mt_status take_marked(struct marks *marks, struct mt_arena *arena,
                                  struct mt_candidates *out, struct mt_error *err)
{
    void *ids = NULL;
    enum mt_status status =
        mt_arena_take(arena, marks->n, sizeof(int32_t), "candidates", &ids, err);
    if (!status) {
        *out = (struct mt_candidates){.ids = ids};
        for (size_t id = 0; id < marks->n_vocab; id++)
            if (marks->is_candidate[id])
                ((int32_t *)ids)[out->n++] = (int32_t)id;
    }
    free(marks->is_candidate);
    return status;
}

enum mt_status mt_candidates_make(const struct mt_model *model, const int32_t *source,
                                  size_t n_source, const int32_t *given, size_t n_given,
                                  struct mt_arena *arena, struct mt_candidates *out,
                                  struct mt_error *err)
{
    struct marks marks;
    enum mt_status status = begin_marks(model, &marks, err);
    if (status)
        return status;
    mark_all(&marks, model, source, n_source);
    mark_ids(&marks, given, n_given);
    return take_marked(&marks, arena, out, err);
}

enum mt_status mt_candidates_join(const struct mt_model *model, const struct mt_candidates *others,
                                  const int32_t *given, size_t n_given, struct mt_arena *arena,
                                  struct mt_candidates *out, struct mt_error *err)
{
    struct marks marks;
    enum mt_status status = begin_marks(model, &marks, err);
    if (status)
        return status;
    mark_ids(&marks, others->ids, others->n);
    mark_ids(&marks, given, n_given);
    return take_marked(&marks, arena, out, err);
}

/* --- Columns --- */

/* int8: weights, scales, column sums and biases, one after the other; fp32: rows, then biases. */
size_t mt_candidates_columns_bytes(size_t n, size_t d_model, bool is_int8)
{
    size_t width = is_int8 ? mt_size_round_up(d_model, MT_PACK_K) + 3 * sizeof(float)
                           : (d_model + 1) * sizeof(float);
    return mt_size_round_up(mt_size_round_up(n, MT_PACK_COLUMNS) * width, MT_ARENA_ALIGNMENT);
}

static const int8_t *find_column(const struct mt_model *model, size_t column, size_t *stride)
{
    const struct mt_linear *output = &model->weights.output;
    if (model->output_columns) {
        *stride = GROUP_BYTES;
        return model->output_columns + column * output->k_padded;
    }
    *stride = LINE_BYTES;
    return output->weights + column / MT_PACK_COLUMNS * MT_PACK_COLUMNS * output->k_padded +
           column % MT_PACK_COLUMNS * GROUP_BYTES;
}

/* A packed block has in each line a group for each of its columns. The last block is filled up with
 * the first column of all. */
static void pack_columns(const struct mt_model *model, const int32_t *ids, size_t n,
                         int8_t *weights)
{
    size_t n_groups = model->weights.output.k_padded / GROUP_BYTES, stride = 0;
    for (size_t first = 0; first < n; first += MT_PACK_COLUMNS) {
        const int8_t *columns[MT_PACK_COLUMNS];
        int8_t line[LINE_BYTES];
        for (size_t j = 0; j < MT_PACK_COLUMNS; j++)
            columns[j] = find_column(model, (size_t)ids[first + j < n ? first + j : 0], &stride);
        for (size_t group = 0; group < n_groups; group++, weights += sizeof line) {
            for (size_t j = 0; j < MT_PACK_COLUMNS; j++)
                memcpy(line + j * GROUP_BYTES, columns[j] + group * stride, GROUP_BYTES);
            memcpy(weights, line, sizeof line);
        }
    }
}

enum mt_status mt_candidates_lay_out(struct mt_model *model, struct mt_error *err)
{
    const struct mt_linear *output = &model->weights.output;
    if (!model->has_shortlist || output->n_parts)
        return MT_OK;
    void *memory;
    size_t stride, k = output->k_padded;
    enum mt_status status =
        mt_arena_take(model->arena, output->n_out, k, "the output layer's columns", &memory, err);
    for (size_t i = 0; i < output->n_out && !status; i++) {
        const int8_t *column = find_column(model, i, &stride);
        for (size_t at = 0; at < k; at += GROUP_BYTES, column += stride)
            memcpy((int8_t *)memory + i * k + at, column, GROUP_BYTES);
    }
    if (!status)
        model->output_columns = memory;
    return status;
}

static struct mt_linear columns_int8(const struct mt_model *model, const int32_t *ids, size_t n,
                                     void *memory)
{
    const struct mt_linear *output = &model->weights.output;
    size_t n_padded = mt_size_round_up(n, MT_PACK_COLUMNS);
    int8_t *weights = memory;
    float *scales = (void *)(weights + n_padded * output->k_padded);
    int32_t *sums = (void *)(scales + n_padded);
    float *bias = (void *)(sums + n_padded);
    pack_columns(model, ids, n, weights);
    for (size_t i = 0; i < n_padded; i++) {
        size_t column = (size_t)ids[i < n ? i : 0];
        scales[i] = i < n ? output->scales[column] : 0.0f;
        sums[i] = i < n ? output->column_sums[column] : 0;
        bias[i] = i < n ? output->bias[column] : 0.0f;
    }
    struct mt_linear columns = *output;
    columns.n_out = n;
    columns.weights = weights;
    columns.scales = scales;
    columns.column_sums = sums;
    columns.bias = bias;
    return columns;
}

static struct mt_linear columns_fp32(const struct mt_linear *output, const int32_t *ids, size_t n,
                                     void *memory)
{
    const struct mt_linear_part *from = &output->parts[0];
    float *weights = memory, *bias = weights + n * output->n_in;
    for (size_t i = 0; i < n; i++) {
        memcpy(weights + i * output->n_in, from->weight + (size_t)ids[i] * output->n_in,
               output->n_in * sizeof *weights);
        bias[i] = from->bias ? from->bias[ids[i]] : 0.0f;
    }
    struct mt_linear columns = *output;
    columns.n_out = n;
    columns.parts[0] = (struct mt_linear_part){.weight = weights, .bias = bias, .n_out = n};
    return columns;
}

struct mt_linear mt_candidates_columns(const struct mt_model *model, const int32_t *ids, size_t n,
                                       void *memory)
{
    const struct mt_linear *output = &model->weights.output;
    return output->n_parts ? columns_fp32(output, ids, n, memory)
                           : columns_int8(model, ids, n, memory);
}
