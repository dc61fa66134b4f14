#include "model/encoder.h"

#include "base/size.h"
#include "model/attention.h"
#include "model/model_state.h"
#include "model/sublayer.h"
#include "model/switches.h"
#include "model/trace_state.h"

/* One encoder pass: its arguments, and this member's share of the rows. */
struct pass {
    const struct mt_member *me;
    const struct mt_model *model;
    const struct mt_workspace *w;
    const struct mt_encoder_input *inputs;
    size_t n_inputs, n_rows;
    size_t begin, end; /* my rows */
    bool is_traced;    /* some of the sentences are */
};

/* Calls visit for each of my rows with its sentence and its position in that. */
typedef void visit_row(const struct pass *p, size_t row, const struct mt_encoder_input *input,
                       size_t position, size_t first_row, size_t layer);

static void for_my_rows(const struct pass *p, visit_row *visit, size_t layer)
{
    size_t first_row = 0;
    for (size_t i = 0; i < p->n_inputs && first_row < p->end; i++) {
        const struct mt_encoder_input *input = &p->inputs[i];
        for (size_t t = 0; t < input->n; t++)
            if (first_row + t >= p->begin && first_row + t < p->end)
                visit(p, first_row + t, input, t, first_row, layer);
        first_row += input->n;
    }
}

/* Returns the position of a token: its index, without the padding before it where that does not
 * count. */
static size_t position_of(const struct mt_hparams *h, const struct mt_encoder_input *input,
                          size_t index)
{
    size_t n_skipped = 0;
    for (size_t t = 0; t < index && h->positions_skip_padding; t++)
        n_skipped += input->ids[t] == h->pad_id;
    return index - n_skipped;
}

static void embed_row(const struct pass *p, size_t row, const struct mt_encoder_input *input,
                      size_t position, size_t first_row, size_t layer)
{
    (void)first_row;
    (void)layer;
    mt_embed_row(p->model, &p->model->weights.source, input->ids[position],
                 position_of(&p->model->hparams, input, position),
                 p->w->x.x + row * p->model->hparams.d_model);
}

/* Computes the attention of rows [begin, end), which all belong to one sentence that begins at
 * first_row. */
static void attend_rows(const struct pass *p, size_t begin, size_t end,
                        const struct mt_encoder_input *input, size_t first_row, size_t layer)
{
    const struct mt_hparams *h = &p->model->hparams;
    size_t d = h->d_model, stride = 3 * d;
    const float *sentence = p->w->qkv + first_row * stride;
    const struct mt_attention_heads heads = {.kind = MT_TRACE_ENCODER,
                                             .layer = layer,
                                             .n_heads = h->n_encoder_heads,
                                             .d_k = d / h->n_encoder_heads};
    struct mt_attention_rows rows = {
        .q_stride = stride,
        .out_stride = d,
        .keys = sentence + d,
        .values = sentence + 2 * d,
        .n = input->n,
        .stride = stride,
        .switches = mt_switches_of(input->switches, h, MT_TRACE_ENCODER, layer),
        .trace = input->trace};
    for (size_t row = begin; row < end; row += rows.n_rows) {
        rows.n_rows = mt_size_min(MT_ATTEND_QUERIES, end - row);
        rows.q = p->w->qkv + row * stride;
        rows.out = p->w->context.x + row * d;
        rows.trace_row = row - first_row;
        mt_attend_rows(p->model->kernels, &heads, &rows,
                       p->w->scores + p->me->index * p->w->scores_stride);
    }
    for (size_t row = begin; row < end && input->trace; row++)
        mt_trace_keys_and_values(input->trace, &heads, row - first_row,
                                 p->w->qkv + row * stride + d, p->w->qkv + row * stride + 2 * d);
}

static void attend(const struct pass *p, size_t layer)
{
    size_t first_row = 0;
    for (size_t i = 0; i < p->n_inputs; i++) {
        size_t behind = first_row + p->inputs[i].n;
        attend_rows(p, mt_size_max(first_row, p->begin), mt_size_min(behind, p->end), &p->inputs[i],
                    first_row, layer);
        first_row = behind;
    }
}

static void trace_state(const struct pass *p, size_t row, const struct mt_encoder_input *input,
                        size_t position, size_t first_row, size_t layer)
{
    (void)first_row;
    size_t d = p->model->hparams.d_model;
    mt_trace_write(input->trace, MT_TRACE_ENCODER_STATES, layer, 0, position, p->w->x.x + row * d,
                   d);
    if (layer)
        mt_trace_write(input->trace, MT_TRACE_ENCODER_STREAM, layer - 1, 2, position,
                       p->w->x.x + row * d, d);
}

/* A layer's output is also the last state of its residual stream. */
static void trace_states(const struct pass *p, size_t layer)
{
    if (p->is_traced)
        for_my_rows(p, trace_state, layer);
}

static void trace_attention(const struct pass *p, size_t row, const struct mt_encoder_input *input,
                            size_t position, size_t first_row, size_t layer)
{
    (void)first_row;
    size_t d = p->model->hparams.d_model;
    mt_trace_write(input->trace, MT_TRACE_ENCODER_STREAM, layer, 0, position, p->w->x.x + row * d,
                   d);
    mt_trace_write(input->trace, MT_TRACE_ENCODER_ADDED, layer, 0, position, p->w->y + row * d, d);
}

static void trace_feed_forward(const struct pass *p, size_t row,
                               const struct mt_encoder_input *input, size_t position,
                               size_t first_row, size_t layer)
{
    (void)first_row;
    size_t d = p->model->hparams.d_model, n_hidden = p->model->hparams.d_ff_encoder;
    mt_trace_write(input->trace, MT_TRACE_ENCODER_STREAM, layer, 1, position, p->w->x.x + row * d,
                   d);
    mt_trace_write(input->trace, MT_TRACE_ENCODER_ADDED, layer, 1, position, p->w->y + row * d, d);
    mt_trace_write(input->trace, MT_TRACE_ENCODER_HIDDEN, layer, 0, position,
                   p->w->hidden.x + row * n_hidden, n_hidden);
}

/* Traces the sublayer's result f(x), before it is added to x. */
static void trace_sublayer(const struct pass *p, size_t layer, size_t sublayer)
{
    if (p->is_traced)
        for_my_rows(p, sublayer ? trace_feed_forward : trace_attention, layer);
}

static void self_attention(const struct pass *p, const struct mt_self_attention *a, size_t layer)
{
    const struct mt_rows *x = mt_sublayer_input(p->me, p->model, &a->norm, p->w, p->n_rows);
    mt_linear_run(p->me, p->model->kernels, &a->qkv, x, p->n_rows, p->w->qkv);
    attend(p, layer);
    mt_rows_quantize(p->model->kernels, &p->w->context, p->begin, p->end);
    mt_member_barrier(p->me);
    mt_linear_run(p->me, p->model->kernels, &a->out, &p->w->context, p->n_rows, p->w->y);
    trace_sublayer(p, layer, 0);
    mt_sublayer_output(p->me, p->model, &a->norm, p->w, p->n_rows);
}

static void feed_forward(const struct pass *p, const struct mt_feed_forward *ffn, size_t layer)
{
    mt_feed_forward(p->me, p->model, ffn, p->w, p->n_rows);
    trace_sublayer(p, layer, 1);
    mt_sublayer_output(p->me, p->model, &ffn->norm, p->w, p->n_rows);
    trace_states(p, layer + 1);
}

static void trace_cross_row(const struct pass *p, const struct mt_encoder_input *input,
                            size_t position, const struct mt_kvcache *cross, size_t layer)
{
    const struct mt_hparams *h = &p->model->hparams;
    const struct mt_attention_heads heads = {.kind = MT_TRACE_CROSS,
                                             .layer = layer,
                                             .n_heads = h->n_decoder_heads,
                                             .d_k = h->d_model / h->n_decoder_heads,
                                             .is_f16 = cross->element_bytes == sizeof(uint16_t)};
    size_t offset = position * h->d_model * cross->element_bytes;
    const char *keys = mt_kvcache_keys(cross, input->cross_slot, layer);
    const char *values = mt_kvcache_values(cross, input->cross_slot, layer);
    mt_trace_keys_and_values(input->trace, &heads, position, keys + offset, values + offset);
}

static void write_cross_row(const struct pass *p, size_t row, const struct mt_encoder_input *input,
                            size_t position, const struct mt_kvcache *cross, size_t layer)
{
    size_t d = p->model->hparams.d_model;
    const float *kv = p->w->qkv + row * 2 * d;
    mt_cache_write(p->model->kernels, cross, mt_kvcache_keys(cross, input->cross_slot, layer),
                   position, kv);
    mt_cache_write(p->model->kernels, cross, mt_kvcache_values(cross, input->cross_slot, layer),
                   position, kv + d);
    if (input->trace)
        trace_cross_row(p, input, position, cross, layer);
}

/* Computes the keys and values of these sentences for each decoder layer, once for all steps and
 * beams. */
static void cross_keys_and_values(const struct pass *p, const struct mt_kvcache *cross)
{
    for (size_t layer = 0; layer < p->model->hparams.n_decoder_layers; layer++) {
        mt_linear_run(p->me, p->model->kernels, &p->model->weights.decoder[layer].cross.kv,
                      &p->w->x, p->n_rows, p->w->qkv);
        size_t row = 0;
        for (size_t i = 0; i < p->n_inputs; i++)
            for (size_t t = 0; t < p->inputs[i].n; t++, row++)
                if (row >= p->begin && row < p->end)
                    write_cross_row(p, row, &p->inputs[i], t, cross, layer);
        mt_member_barrier(p->me);
    }
}

void mt_encoder_run(const struct mt_member *me, const struct mt_model *model,
                    const struct mt_workspace *workspace, const struct mt_encoder_input *inputs,
                    size_t n_inputs, const struct mt_kvcache *cross)
{
    const struct mt_weights *weights = &model->weights;
    struct pass p = {
        .me = me, .model = model, .w = workspace, .inputs = inputs, .n_inputs = n_inputs};
    for (size_t i = 0; i < n_inputs; i++) {
        p.n_rows += inputs[i].n;
        p.is_traced |= inputs[i].trace != NULL;
    }
    mt_team_share(p.n_rows, 1, me->index, me->n_members, &p.begin, &p.end);

    for_my_rows(&p, embed_row, 0);
    mt_rows_quantize(model->kernels, &workspace->x, p.begin, p.end);
    mt_member_barrier(me);
    mt_norm_if_any(me, model, &weights->source.norm, workspace, p.n_rows);
    trace_states(&p, 0);
    for (size_t l = 0; l < model->hparams.n_encoder_layers; l++) {
        self_attention(&p, &weights->encoder[l].self, l);
        feed_forward(&p, &weights->encoder[l].ffn, l);
    }
    mt_norm_if_any(me, model, &weights->encoder_norm, workspace, p.n_rows);
    cross_keys_and_values(&p, cross);
}
