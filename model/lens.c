#include "model/lens.h"

#include "base/arena.h"
#include "base/real.h"
#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/layers.h"
#include "model/model_state.h"
#include "model/sentence.h"

#include <math.h>
#include <string.h>

/* Number of rows that are multiplied by a matrix together. */
#define CHUNK 64

static enum mt_status take(struct mt_arena *arena, size_t n, size_t bytes, void *out,
                           struct mt_error *err)
{
    void *memory;
    enum mt_status status = mt_arena_take(arena, n, bytes, "numbers of a trace", &memory, err);
    if (!status)
        memcpy(out, &memory, sizeof memory);
    return status;
}

/* Allocates CHUNK rows that a linear layer of this model can read. */
static enum mt_status take_rows(const struct mt_model *model, struct mt_arena *arena,
                                struct mt_rows *rows, struct mt_error *err)
{
    *rows = (struct mt_rows){.width = model->hparams.d_model};
    rows->padded = mt_size_round_up(rows->width, MT_PACK_K);
    enum mt_status status = take(arena, CHUNK * rows->width, sizeof *rows->x, &rows->x, err);
    if (status || model->precision != MT_INT8)
        return status;
    status = take(arena, CHUNK * rows->padded, 1, &rows->q, err);
    if (!status)
        status = take(arena, CHUNK, sizeof *rows->scale, &rows->scale, err);
    return status ? status : take(arena, CHUNK, sizeof *rows->zero, &rows->zero, err);
}

/* Opinions ------------------------------------------------------------------------------------- */

/* A state, and what has been computed from its logits so far. */
struct state {
    int32_t id;
    float logit; /* of id */
    size_t n_above;
    double max, sum; /* of exp(logit - max) */
    struct mt_scored_token top[MT_MAX_TOP];
};

struct lens {
    const struct mt_model *model;
    struct mt_arena *arena;
    struct mt_rows rows;
    float *logits; /* [CHUNK, MT_SELECT_BLOCK] */
    struct state *states;
    size_t n, n_top; /* states in this chunk */
};

static void read_state(struct lens *lens, const struct mt_trace *trace, size_t layer,
                       const struct mt_lens_step *step)
{
    const struct mt_norm *norm = &lens->model->weights.decoder_norm;
    const float *from = mt_trace_row(trace, MT_TRACE_DECODER_STATES, layer, 0, step->step);
    size_t d = lens->rows.width;
    float *x = lens->rows.x + lens->n * d;
    if (norm->gamma)
        lens->model->kernels->add_norm(from, NULL, norm->gamma, norm->beta, norm->eps, d, x);
    else
        memcpy(x, from, d * sizeof *x);
    struct state *state = &lens->states[lens->n++];
    *state = (struct state){.id = step->id, .max = -INFINITY};
    for (size_t i = 0; i < MT_MAX_TOP; i++)
        state->top[i].id = MT_NO_TOKEN;
}

/* Computes the logits of all states for a block of the vocabulary. Returns the number of its
 * tokens. */
static size_t compute_block(struct lens *lens, size_t first)
{
    size_t n_vocab = lens->model->hparams.n_target_vocab;
    size_t n = mt_size_min(MT_SELECT_BLOCK, n_vocab - first);
    mt_linear_columns(lens->model->kernels, &lens->model->weights.output, &lens->rows, lens->n,
                      first, first + n, lens->logits, MT_SELECT_BLOCK);
    return n;
}

static void add_to_sum(struct state *state, double max, double sum)
{
    if (!(max > -INFINITY))
        return;
    double larger = max > state->max ? max : state->max;
    state->sum = state->sum * mt_real_exp(state->max - larger) + sum * mt_real_exp(max - larger);
    state->max = larger;
}

static void suppress(const struct mt_hparams *h, float *logits, size_t first, size_t n)
{
    for (size_t i = 0; i < h->n_suppressed; i++) {
        size_t at = (size_t)h->suppressed[i] - first;
        if (at < n)
            logits[at] = -INFINITY;
    }
}

/* Follows the projection (project.c): tokens that the model never writes count for the sum unless
 * renormalize_logits excludes them. */
static void look_at_block(const struct lens *lens, struct state *state, float *logits, size_t first,
                          size_t n)
{
    const struct mt_hparams *h = &lens->model->hparams;
    float max, sum;
    if (h->renormalize_logits)
        suppress(h, logits, first, n);
    lens->model->kernels->sum_exp(logits, n, &max, &sum);
    add_to_sum(state, (double)max, (double)sum);
    suppress(h, logits, first, n);
    for (size_t i = 0; i < n; i++)
        state->n_above += logits[i] > state->logit;
    lens->model->kernels->merge_top(logits, n, (int32_t)first, lens->n_top, state->top);
}

/* Computes the token's own logit first, because its rank is the number of larger ones. */
static void compute_own_logit(const struct lens *lens, size_t index)
{
    float logits[MT_PACK_COLUMNS];
    const struct mt_rows row = mt_rows_from(lens->rows, index);
    struct state *state = &lens->states[index];
    size_t id = (size_t)state->id, first = id / MT_PACK_COLUMNS * MT_PACK_COLUMNS;
    mt_linear_columns(lens->model->kernels, &lens->model->weights.output, &row, 1, first,
                      mt_size_min(first + MT_PACK_COLUMNS, lens->model->hparams.n_target_vocab),
                      logits, MT_PACK_COLUMNS);
    state->logit = logits[id - first];
}

static void look_at_states(struct lens *lens)
{
    size_t n_vocab = lens->model->hparams.n_target_vocab, n;
    mt_rows_quantize(lens->model->kernels, &lens->rows, 0, lens->n);
    for (size_t i = 0; i < lens->n; i++)
        compute_own_logit(lens, i);
    for (size_t first = 0; first < n_vocab; first += n) {
        n = compute_block(lens, first);
        for (size_t i = 0; i < lens->n; i++)
            look_at_block(lens, &lens->states[i], lens->logits + i * MT_SELECT_BLOCK, first, n);
    }
}

static void write_states(const struct lens *lens, struct mt_lens_opinion *opinions,
                         struct mt_top_token *top)
{
    for (size_t i = 0; i < lens->n; i++) {
        const struct state *state = &lens->states[i];
        double sum = state->max + mt_real_log(state->sum);
        opinions[i] = (struct mt_lens_opinion){.rank = state->n_above + 1,
                                               .logprob = (float)((double)state->logit - sum)};
        for (size_t j = 0; j < lens->n_top; j++)
            top[i * lens->n_top + j] = (struct mt_top_token){
                .id = state->top[j].id, .logprob = (float)((double)state->top[j].logit - sum)};
    }
}

static enum mt_status run(struct lens *lens, const struct mt_trace *trace,
                          const struct mt_lens_step *steps, size_t n_steps,
                          struct mt_lens_opinion *opinions, struct mt_top_token *top,
                          struct mt_error *err)
{
    size_t n_layers = lens->model->hparams.n_decoder_layers + 1, n = n_steps * n_layers;
    enum mt_status status = take_rows(lens->model, lens->arena, &lens->rows, err);
    if (!status)
        status = take(lens->arena, CHUNK * MT_SELECT_BLOCK, sizeof(float), &lens->logits, err);
    if (!status)
        status = take(lens->arena, CHUNK, sizeof *lens->states, &lens->states, err);
    for (size_t from = 0; from < n && !status; from += lens->n) {
        size_t end = mt_size_min(from + CHUNK, n);
        lens->n = 0;
        for (size_t i = from; i < end; i++)
            read_state(lens, trace, i % n_layers, &steps[i / n_layers]);
        look_at_states(lens);
        write_states(lens, opinions + from, top + from * lens->n_top);
    }
    return status;
}

enum mt_status mt_lens_run(const struct mt_model *model, const struct mt_trace *trace,
                           const struct mt_lens_step *steps, size_t n_steps, size_t n_top,
                           struct mt_lens_opinion *opinions, struct mt_top_token *top,
                           struct mt_error *err)
{
    struct lens lens = {.model = model, .n_top = n_top};
    enum mt_status status = mt_arena_create(0, &lens.arena, err);
    if (status)
        return status;
    status = run(&lens, trace, steps, n_steps, opinions, top, err);
    mt_arena_destroy(lens.arena);
    return status;
}

/* Values --------------------------------------------------------------------------------------- */

static const struct mt_linear *output_of(const struct mt_model *model, enum mt_trace_kind place,
                                         size_t layer)
{
    const struct mt_weights *weights = &model->weights;
    return place == MT_TRACE_ENCODER   ? &weights->encoder[layer].self.out
           : place == MT_TRACE_DECODER ? &weights->decoder[layer].self.out
                                       : &weights->decoder[layer].cross.out;
}

/* The bias is left out, because it belongs to no head. */
static float norm_of(const struct mt_linear *linear, const float *y)
{
    const float *bias = linear->n_parts ? linear->parts[0].bias : linear->bias;
    double sum = 0;
    for (size_t i = 0; i < linear->n_out; i++) {
        double x = (double)y[i] - (bias ? (double)bias[i] : 0.0);
        sum += x * x;
    }
    return (float)sqrt(sum);
}

/* Computes one head of some positions, with rows in which everything except its part is 0. */
static void value_norms(const struct mt_model *model, const struct mt_linear *linear,
                        const struct mt_rows *rows, float *y, size_t n, float *norms)
{
    mt_rows_quantize(model->kernels, rows, 0, n);
    mt_linear_columns(model->kernels, linear, rows, n, 0, linear->n_out, y, linear->n_out);
    for (size_t i = 0; i < n; i++)
        norms[i] = norm_of(linear, y + i * linear->n_out);
}

enum mt_status mt_lens_value_norms(const struct mt_model *model, const struct mt_trace *trace,
                                   enum mt_trace_kind place, size_t layer, float *norms,
                                   struct mt_error *err)
{
    const enum mt_trace_kind kind = (enum mt_trace_kind)((unsigned)place << MT_TRACED_VALUES);
    const struct mt_trace_shape shape = mt_trace_shape(trace, kind);
    const struct mt_linear *linear = output_of(model, place, layer);
    struct mt_arena *arena;
    struct mt_rows rows;
    float *y;
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (status)
        return status;
    status = take_rows(model, arena, &rows, err);
    if (!status)
        status = take(arena, CHUNK * linear->n_out, sizeof *y, &y, err);
    for (size_t h = 0; h < shape.n_heads && !status; h++)
        for (size_t from = 0, n; from < shape.n_rows; from += n) {
            n = mt_size_min(CHUNK, shape.n_rows - from);
            memset(rows.x, 0, n * rows.width * sizeof *rows.x);
            for (size_t i = 0; i < n; i++)
                memcpy(rows.x + i * rows.width + h * shape.n_columns,
                       mt_trace_row(trace, kind, layer, h, from + i),
                       shape.n_columns * sizeof *rows.x);
            value_norms(model, linear, &rows, y, n, norms + h * shape.n_rows + from);
        }
    mt_arena_destroy(arena);
    return status;
}
