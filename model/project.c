#include "model/project.h"

#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/model_state.h"
#include "model/trace_state.h"

#include <math.h>
#include <string.h>

struct projection {
    const struct mt_member *me;
    const struct mt_model *model;
    const struct mt_workspace *w;
    const struct mt_decoder_row *rows;
    size_t n_rows, n_outputs;
};

/* The next row from *m on that wants an output; rows and outputs are in the same order. */
static const struct mt_decoder_row *next_output(const struct projection *p, size_t *m)
{
    while (!p->rows[*m].output)
        (*m)++;
    return &p->rows[(*m)++];
}

static struct mt_scored_token *top_of(const struct projection *p, size_t member, size_t output)
{
    return p->w->top + (member * p->w->max_rows + output) * p->w->top_stride;
}

static void clear_top(const struct projection *p)
{
    for (size_t i = 0; i < p->n_outputs; i++) {
        struct mt_scored_token *top = top_of(p, p->me->index, i);
        for (size_t j = 0; j < p->w->top_stride; j++)
            top[j] = (struct mt_scored_token){.id = MT_NO_TOKEN};
    }
}

/* Rows that want an output, together: the projection is the largest matrix of all. */
static void gather(struct projection *p)
{
    size_t d = p->w->x.width, begin, end, m = 0;
    for (size_t i = 0; i < p->n_rows; i++)
        p->n_outputs += p->rows[i].output != NULL;
    mt_member_rows(p->me, p->n_outputs, &begin, &end);
    for (size_t i = 0; i < end; i++) {
        const struct mt_decoder_row *row = next_output(p, &m);
        if (i >= begin)
            memcpy(p->w->normed.x + i * d, p->w->x.x + (size_t)(row - p->rows) * d,
                   d * sizeof(float));
    }
    mt_rows_quantize(p->model->kernels, &p->w->normed, begin, end);
    clear_top(p);
    mt_member_barrier(p->me);
}

static void suppress(const struct mt_hparams *h, float *logits, size_t first, size_t n)
{
    for (size_t i = 0; i < h->n_suppressed; i++) {
        size_t id = (size_t)h->suppressed[i];
        if (id >= first && id < first + n)
            logits[id - first] = -INFINITY;
    }
}

/* A block of one row: what was asked about single tokens, the sum for the softmax, the best. */
static void look_at_block(const struct projection *p, const struct mt_decoder_row *row,
                          size_t output, size_t block, float *logits, size_t n)
{
    const struct mt_hparams *h = &p->model->hparams;
    const struct mt_kernels *kernels = p->model->kernels;
    struct mt_row_output *out = row->output;
    size_t first = block * MT_SELECT_BLOCK, eos = (size_t)h->eos_id,
           target = (size_t)out->target_id;
    if (eos >= first && eos < first + n)
        out->eos_logit = logits[eos - first];
    if (out->target_id != MT_NO_TOKEN && target >= first && target < first + n)
        out->target_logit = logits[target - first];
    mt_trace_write_part(row->trace, MT_TRACE_LOGITS, row->position, first, logits, n);
    struct mt_block_sum *sum = &p->w->block_sums[output * p->w->n_blocks + block];
    if (h->renormalize_logits)
        suppress(h, logits, first, n);
    if (out->wants_sum)
        kernels->sum_exp(logits, n, &sum->max, &sum->sum);
    if (!h->renormalize_logits)
        suppress(h, logits, first, n);
    kernels->merge_top(logits, n, (int32_t)first, out->n_top, top_of(p, p->me->index, output));
}

static void look_at_my_blocks(const struct projection *p)
{
    size_t begin, end, n_vocab = p->model->hparams.n_target_vocab;
    float *logits = p->w->logits + p->me->index * p->w->max_rows * MT_SELECT_BLOCK;
    mt_team_share(p->w->n_blocks, 1, p->me->index, p->me->n_members, &begin, &end);
    for (size_t block = begin; block < end; block++) {
        size_t first = block * MT_SELECT_BLOCK, n = mt_size_min(MT_SELECT_BLOCK, n_vocab - first),
               m = 0;
        mt_linear_columns(p->model->kernels, &p->model->weights.output, &p->w->normed, p->n_outputs,
                          first, first + n, logits, MT_SELECT_BLOCK);
        for (size_t i = 0; i < p->n_outputs; i++)
            look_at_block(p, next_output(p, &m), i, block, logits + i * MT_SELECT_BLOCK, n);
    }
    mt_member_barrier(p->me);
}

/* In the order of the blocks, whoever computed them: the sum must not depend on the number of
 * members. */
static float log_sum_exp(const struct mt_block_sum *sums, size_t n)
{
    float max = -INFINITY, total = 0.0f;
    for (size_t i = 0; i < n; i++)
        max = sums[i].max > max ? sums[i].max : max;
    for (size_t i = 0; i < n; i++)
        total = fmaf(sums[i].sum, mt_exp(sums[i].max - max), total);
    return max + (float)log((double)total);
}

/* Members hold the best of their own blocks; the first member's have the smallest ids, so that of
 * equals the earlier one is taken. */
static void merge_members(const struct projection *p, size_t output, struct mt_row_output *out)
{
    size_t at[MT_TEAM_MAX_THREADS] = {0};
    for (size_t j = 0; j < out->n_top; j++) {
        const struct mt_scored_token *best = NULL;
        size_t best_member = 0;
        for (size_t member = 0; member < p->me->n_members; member++) {
            const struct mt_scored_token *head =
                at[member] < out->n_top ? &top_of(p, member, output)[at[member]] : NULL;
            if (head && head->id != MT_NO_TOKEN && (!best || head->logit > best->logit)) {
                best = head;
                best_member = member;
            }
        }
        out->top[j] = best ? *best : (struct mt_scored_token){.id = MT_NO_TOKEN};
        at[best_member] += best != NULL;
    }
}

static void settle_my_rows(const struct projection *p)
{
    size_t begin, end, m = 0;
    mt_member_rows(p->me, p->n_outputs, &begin, &end);
    for (size_t i = 0; i < end; i++) {
        const struct mt_decoder_row *row = next_output(p, &m);
        if (i < begin)
            continue;
        row->output->log_sum_exp =
            row->output->wants_sum
                ? log_sum_exp(p->w->block_sums + i * p->w->n_blocks, p->w->n_blocks)
                : 0.0f;
        merge_members(p, i, row->output);
    }
    mt_member_barrier(p->me);
}

void mt_project(const struct mt_member *me, const struct mt_model *model,
                const struct mt_workspace *workspace, const struct mt_decoder_row *rows,
                size_t n_rows)
{
    struct projection p = {
        .me = me, .model = model, .w = workspace, .rows = rows, .n_rows = n_rows};
    gather(&p);
    look_at_my_blocks(&p);
    settle_my_rows(&p);
}
