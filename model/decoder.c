#include "model/decoder.h"

#include "model/attention.h"
#include "model/model_state.h"
#include "model/project.h"
#include "model/sublayer.h"
#include "model/switches.h"
#include "model/trace_state.h"

/* Members write adjacent states at the same time, so each has cache lines of its own. */
#define LINE_FLOATS 16

#define N_SUBLAYERS 3

/* One step: its arguments, and this member's share of the rows. */
struct step {
    const struct mt_member *me;
    const struct mt_model *model;
    const struct mt_workspace *w;
    const struct mt_decoder_row *rows;
    size_t n_rows;
    const struct mt_kvcache *self, *cross;
    size_t begin, end; /* my rows */
    bool is_traced;    /* some of them are */
};

static void embed(const struct step *s)
{
    size_t d = s->model->hparams.d_model;
    for (size_t m = s->begin; m < s->end; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        bool is_zero = row->position == 0 && s->model->hparams.zero_start;
        mt_embed_row(s->model, &s->model->weights.target, is_zero ? MT_NO_TOKEN : row->token,
                     row->position, s->w->x.x + m * d);
    }
    mt_rows_quantize(s->model->kernels, &s->w->x, s->begin, s->end);
    mt_member_barrier(s->me);
}

/* A layer's output is also the last state of its residual stream. */
static void trace_states(const struct step *s, size_t layer)
{
    size_t d = s->model->hparams.d_model;
    for (size_t m = s->begin; m < s->end && s->is_traced; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        const float *x = s->w->x.x + m * d;
        mt_trace_write(row->trace, MT_TRACE_DECODER_STATES, layer, 0, row->position, x, d);
        if (layer)
            mt_trace_write(row->trace, MT_TRACE_DECODER_STREAM, layer - 1, N_SUBLAYERS,
                           row->position, x, d);
    }
}

/* Traces f(x) before it is added to x. */
static void trace_sublayer(const struct step *s, size_t layer, size_t sublayer)
{
    size_t d = s->model->hparams.d_model, n_hidden = s->model->hparams.d_ff_decoder;
    for (size_t m = s->begin; m < s->end && s->is_traced; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        mt_trace_write(row->trace, MT_TRACE_DECODER_STREAM, layer, sublayer, row->position,
                       s->w->x.x + m * d, d);
        mt_trace_write(row->trace, MT_TRACE_DECODER_ADDED, layer, sublayer, row->position,
                       s->w->y + m * d, d);
        if (sublayer + 1 == N_SUBLAYERS)
            mt_trace_write(row->trace, MT_TRACE_DECODER_HIDDEN, layer, 0, row->position,
                           s->w->hidden.x + m * n_hidden, n_hidden);
    }
}

static struct mt_attention_heads heads_of(const struct step *s, enum mt_trace_kind kind,
                                          size_t layer)
{
    size_t n_heads = s->model->hparams.n_decoder_heads;
    return (struct mt_attention_heads){.kind = kind,
                                       .layer = layer,
                                       .n_heads = n_heads,
                                       .d_k = s->model->hparams.d_model / n_heads,
                                       .is_f16 = s->cross->element_bytes == sizeof(uint16_t)};
}

/* Every row's key and value have to be in the cache before any row attends, because rows of one
 * prefix see each other. */
static void cache_keys_and_values(const struct step *s, size_t layer)
{
    size_t d = s->model->hparams.d_model;
    for (size_t m = s->begin; m < s->end; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        const float *k = s->w->qkv + m * 3 * d + d;
        mt_cache_write(s->model->kernels, s->self, mt_kvcache_keys(s->self, row->slot, layer),
                       row->position, k);
        mt_cache_write(s->model->kernels, s->self, mt_kvcache_values(s->self, row->slot, layer),
                       row->position, k + d);
    }
    mt_member_barrier(s->me);
}

/* Prefetches n positions of a cache region into the second-level cache, without waiting. */
static void fetch(const struct mt_kvcache *cache, const void *region, size_t first, size_t n)
{
    size_t position_bytes = cache->d_model * cache->element_bytes;
    const char *begin = (const char *)region + first * position_bytes;
    for (size_t i = 0; i < n * position_bytes; i += 64)
        __builtin_prefetch(begin + i, 0, 2);
}

/* Prefetches the keys that row m will attend to, which weights and other sentences have displaced
 * from the caches since the last step. It is called one row ahead, and for a member's first row
 * before the layer that computes its query. The kernels prefetch the values while they read the
 * keys. */
static void fetch_target(const struct step *s, size_t m, size_t layer)
{
    if (m >= s->end)
        return;
    for (size_t t = 0; t < s->rows[m].position; t++)
        fetch(s->self, mt_kvcache_keys(s->self, s->rows[m].slots[t], layer), t, 1);
}

static void fetch_source(const struct step *s, size_t m, size_t layer)
{
    if (m >= s->end)
        return;
    const struct mt_decoder_row *row = &s->rows[m];
    fetch(s->cross, mt_kvcache_keys(s->cross, row->cross_slot, layer), 0, row->n_source);
}

/* Prefetches the memory where my rows' keys and values will be written, before the layer that
 * computes them, because stores to uncached memory wait for each other. */
static void fetch_written(const struct step *s, size_t layer)
{
    size_t n_bytes = s->self->d_model * s->self->element_bytes;
    for (size_t m = s->begin; m < s->end; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        size_t offset = row->position * n_bytes;
        const char *key = (const char *)mt_kvcache_keys(s->self, row->slot, layer) + offset;
        const char *value = (const char *)mt_kvcache_values(s->self, row->slot, layer) + offset;
        for (size_t i = 0; i < n_bytes; i += 64) {
            __builtin_prefetch(key + i, 1, 2);
            __builtin_prefetch(value + i, 1, 2);
        }
    }
}

static const uint8_t *switches_of(const struct step *s, const struct mt_decoder_row *row,
                                  const struct mt_attention_heads *heads)
{
    return mt_switches_of(row->switches, &s->model->hparams, heads->kind, heads->layer);
}

/* Traces only the row's own key and value, since earlier rows have traced those of the other
 * positions. */
static void trace_position(const struct step *s, const struct mt_decoder_row *row,
                           const struct mt_attention_heads *heads)
{
    size_t offset = row->position * s->self->d_model * s->self->element_bytes;
    const char *keys = mt_kvcache_keys(s->self, row->slot, heads->layer);
    const char *values = mt_kvcache_values(s->self, row->slot, heads->layer);
    mt_trace_keys_and_values(row->trace, heads, row->position, keys + offset, values + offset);
}

static void attend_to_target(const struct step *s, size_t layer)
{
    size_t d = s->model->hparams.d_model;
    const struct mt_attention_heads heads = heads_of(s, MT_TRACE_DECODER, layer);
    for (size_t m = s->begin; m < s->end; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        const struct mt_attention_rows attention = {.n_rows = 1,
                                                    .q = s->w->qkv + m * 3 * d,
                                                    .out = s->w->context.x + m * d,
                                                    .keys = mt_kvcache_keys(s->self, 0, layer),
                                                    .values = mt_kvcache_values(s->self, 0, layer),
                                                    .n = row->position + 1,
                                                    .stride = d,
                                                    .slots = row->slots,
                                                    .slot_stride = s->self->slot_stride,
                                                    .switches = switches_of(s, row, &heads),
                                                    .trace = row->trace,
                                                    .trace_row = row->position};
        fetch_target(s, m + 1, layer);
        mt_attend_rows(s->model->kernels, &heads, &attention,
                       s->w->scores + s->me->index * s->w->scores_stride);
        if (row->trace)
            trace_position(s, row, &heads);
    }
    mt_rows_quantize(s->model->kernels, &s->w->context, s->begin, s->end);
    mt_member_barrier(s->me);
}

static void self_attention(const struct step *s, const struct mt_self_attention *a, size_t layer)
{
    const struct mt_rows *x = mt_sublayer_input(s->me, s->model, &a->norm, s->w, s->n_rows);
    fetch_target(s, s->begin, layer);
    fetch_written(s, layer);
    mt_linear_run(s->me, s->model->kernels, &a->qkv, x, s->n_rows, s->w->qkv);
    cache_keys_and_values(s, layer);
    attend_to_target(s, layer);
    mt_linear_run(s->me, s->model->kernels, &a->out, &s->w->context, s->n_rows, s->w->y);
    trace_sublayer(s, layer, 0);
    mt_sublayer_output(s->me, s->model, &a->norm, s->w, s->n_rows);
}

/* Returns the state after a position, in the slot that holds it. */
static float *state_of(const struct step *s, uint16_t slot, size_t position, size_t layer)
{
    return position % 2 ? mt_kvcache_values(s->self, slot, layer)
                        : mt_kvcache_keys(s->self, slot, layer);
}

/* The work is divided by columns, because rows of one hypothesis depend on each other. */
static void recur(const struct step *s, size_t layer)
{
    size_t d = s->model->hparams.d_model, begin, end;
    mt_team_share(d, LINE_FLOATS, s->me->index, s->me->n_members, &begin, &end);
    for (size_t m = 0; m < s->n_rows && begin < end; m++) {
        const struct mt_decoder_row *row = &s->rows[m];
        const float *gates = s->w->qkv + m * 2 * d + begin;
        size_t t = row->position;
        const float *previous = t ? state_of(s, row->slots[t - 1], t - 1, layer) + begin : NULL;
        s->model->kernels->ssru(gates, gates + d, previous, end - begin,
                                state_of(s, row->slot, t, layer) + begin, s->w->y + m * d + begin);
    }
    mt_member_barrier(s->me);
}

static void recurrent_cell(const struct step *s, const struct mt_cell *cell, size_t layer)
{
    const struct mt_rows *x = mt_sublayer_input(s->me, s->model, &cell->norm, s->w, s->n_rows);
    mt_linear_run(s->me, s->model->kernels, &cell->gates, x, s->n_rows, s->w->qkv);
    recur(s, layer);
    trace_sublayer(s, layer, 0);
    mt_sublayer_output(s->me, s->model, &cell->norm, s->w, s->n_rows);
}

/* Counts the rows from m on that have the same source: beams of one sentence, or positions of a
 * given target. */
static size_t n_rows_of_source(const struct step *s, size_t m)
{
    size_t n = 1;
    while (n < MT_ATTEND_QUERIES && m + n < s->end &&
           s->rows[m + n].cross_slot == s->rows[m].cross_slot)
        n++;
    return n;
}

static void attend_to_source(const struct step *s, size_t layer)
{
    size_t d = s->model->hparams.d_model;
    const struct mt_attention_heads heads = heads_of(s, MT_TRACE_CROSS, layer);
    for (size_t m = s->begin, n; m < s->end; m += n) {
        const struct mt_decoder_row *row = &s->rows[m];
        n = n_rows_of_source(s, m);
        fetch_source(s, m + n, layer);
        const struct mt_attention_rows attention = {
            .n_rows = n,
            .q = s->w->qkv + m * d,
            .q_stride = d,
            .out_stride = d,
            .out = s->w->context.x + m * d,
            .keys = mt_kvcache_keys(s->cross, row->cross_slot, layer),
            .values = mt_kvcache_values(s->cross, row->cross_slot, layer),
            .n = row->n_source,
            .stride = d,
            .switches = switches_of(s, row, &heads),
            .trace = row->trace,
            .trace_row = row->position};
        mt_attend_rows(s->model->kernels, &heads, &attention,
                       s->w->scores + s->me->index * s->w->scores_stride);
    }
    mt_rows_quantize(s->model->kernels, &s->w->context, s->begin, s->end);
    mt_member_barrier(s->me);
}

static void cross_attention(const struct step *s, const struct mt_cross_attention *a, size_t layer)
{
    const struct mt_rows *x = mt_sublayer_input(s->me, s->model, &a->norm, s->w, s->n_rows);
    fetch_source(s, s->begin, layer);
    mt_linear_run(s->me, s->model->kernels, &a->q, x, s->n_rows, s->w->qkv);
    attend_to_source(s, layer);
    mt_linear_run(s->me, s->model->kernels, &a->out, &s->w->context, s->n_rows, s->w->y);
    trace_sublayer(s, layer, 1);
    mt_sublayer_output(s->me, s->model, &a->norm, s->w, s->n_rows);
}

static void feed_forward(const struct step *s, const struct mt_feed_forward *ffn, size_t layer)
{
    mt_feed_forward(s->me, s->model, ffn, s->w, s->n_rows);
    trace_sublayer(s, layer, 2);
    mt_sublayer_output(s->me, s->model, &ffn->norm, s->w, s->n_rows);
    trace_states(s, layer + 1);
}

size_t mt_decoder_cache_positions(const struct mt_hparams *hparams, size_t n)
{
    return hparams->decoder_cell == MT_CELL_SSRU && n ? 1 : n;
}

size_t mt_decoder_cache_element_bytes(const struct mt_hparams *hparams, size_t element_bytes)
{
    return hparams->decoder_cell == MT_CELL_SSRU ? sizeof(float) : element_bytes;
}

void mt_decoder_step(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_workspace *workspace, const struct mt_decoder_row *rows,
                     size_t n_rows, const struct mt_kvcache *self, const struct mt_kvcache *cross)
{
    const struct mt_weights *weights = &model->weights;
    struct step s = {.me = me,
                     .model = model,
                     .w = workspace,
                     .rows = rows,
                     .n_rows = n_rows,
                     .self = self,
                     .cross = cross};
    mt_team_share(n_rows, 1, me->index, me->n_members, &s.begin, &s.end);

    for (size_t m = s.begin; m < s.end; m++)
        s.is_traced |= rows[m].trace != NULL;
    embed(&s);
    mt_norm_if_any(me, model, &weights->target.norm, workspace, n_rows);
    trace_states(&s, 0);
    for (size_t l = 0; l < model->hparams.n_decoder_layers; l++) {
        if (model->hparams.decoder_cell == MT_CELL_SSRU)
            recurrent_cell(&s, &weights->decoder[l].cell, l);
        else
            self_attention(&s, &weights->decoder[l].self, l);
        cross_attention(&s, &weights->decoder[l].cross, l);
        feed_forward(&s, &weights->decoder[l].ffn, l);
    }
    mt_norm_if_any(me, model, &weights->decoder_norm, workspace, n_rows);
    mt_project(me, model, workspace, rows, n_rows);
}
