#include "model/project.h"

#include "base/real.h"
#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/model_state.h"
#include "model/trace_state.h"

#include <math.h>
#include <string.h>

/* Outputs are numbered: those of rows whose next token may be any come first. In the rest, rows
 * with the same candidates, which belong to one sentence or to one target language, follow one
 * another. */
struct projection {
    const struct mt_member *me;
    const struct mt_model *model;
    const struct mt_workspace *w;
    const struct mt_decoder_row *rows;
    size_t n_rows, n_outputs, n_any;
    uint32_t *order; /* [n_outputs]: the row of each output */
};

/* A part of a row's possible tokens, whose logits are processed together. */
struct part {
    size_t index;       /* number of the part in the row */
    size_t first, n;    /* ids of tokens, or indexes of candidates */
    const int32_t *ids; /* [n] ids of candidates; NULL: first, first + 1, ... */
};

/* Outputs with the same candidates. */
struct group {
    size_t first, n;
    const struct mt_candidates *candidates;
};

static const struct mt_decoder_row *row_of(const struct projection *p, size_t output)
{
    return &p->rows[p->order[output]];
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

/* Whether no earlier row that wants an output has the same candidates. */
static bool is_first_of_its_kind(const struct projection *p, size_t row)
{
    for (size_t i = row; i-- > 0;)
        if (p->rows[i].output && p->rows[i].candidates == p->rows[row].candidates)
            return false;
    return true;
}

static void number_outputs(struct projection *p)
{
    p->order = p->w->order + p->me->index * p->w->max_rows;
    for (size_t m = 0; m < p->n_rows; m++)
        if (p->rows[m].output && !p->rows[m].candidates)
            p->order[p->n_any++] = (uint32_t)m;
    p->n_outputs = p->n_any;
    for (size_t m = 0; m < p->n_rows; m++)
        if (p->rows[m].output && p->rows[m].candidates && is_first_of_its_kind(p, m))
            for (size_t i = m; i < p->n_rows; i++)
                if (p->rows[i].output && p->rows[i].candidates == p->rows[m].candidates)
                    p->order[p->n_outputs++] = (uint32_t)i;
}

/* Gathers the rows that want an output, because the projection has the largest matrix of all. */
static void gather(struct projection *p)
{
    size_t d = p->w->x.width, begin, end;
    number_outputs(p);
    mt_member_rows(p->me, p->n_outputs, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const struct mt_decoder_row *row = row_of(p, i);
        memcpy(p->w->normed.x + i * d, p->w->x.x + p->order[i] * d, d * sizeof(float));
        if (row->candidates)
            mt_trace_fill(row->trace, MT_TRACE_LOGITS, row->position, -INFINITY);
    }
    mt_rows_quantize(p->model->kernels, &p->w->normed, begin, end);
    clear_top(p);
    mt_member_barrier(p->me);
}

/* Returns the index of a token's logit in a part; n: it is not there. */
static size_t find_token(const struct part *part, int32_t id)
{
    if (!part->ids) {
        size_t at = (size_t)id - part->first;
        return at < part->n ? at : part->n;
    }
    size_t low = 0, high = part->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (part->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < part->n && part->ids[low] == id ? low : part->n;
}

static void suppress(const struct mt_hparams *h, const struct part *part, float *logits)
{
    for (size_t i = 0; i < h->n_suppressed; i++) {
        size_t at = find_token(part, h->suppressed[i]);
        if (at < part->n)
            logits[at] = -INFINITY;
    }
}

static void trace_logits(const struct mt_decoder_row *row, const struct part *part,
                         const float *logits)
{
    if (!part->ids)
        mt_trace_write_part(row->trace, MT_TRACE_LOGITS, row->position, part->first, logits,
                            part->n);
    for (size_t i = 0; part->ids && i < part->n; i++)
        mt_trace_write_part(row->trace, MT_TRACE_LOGITS, row->position, (size_t)part->ids[i],
                            &logits[i], 1);
}

/* Whether a logit belongs to the best ones; last is the worst of these. */
static bool exceeds(float logit, const struct mt_scored_token *last)
{
    return last->id < 0 || logit > last->logit;
}

/* Processes a part of one row's logits: those of single tokens that were asked for, the sum for the
 * softmax, and the best ones. */
static void look_at_part(const struct projection *p, size_t output, const struct part *part,
                         float *logits)
{
    const struct mt_hparams *h = &p->model->hparams;
    const struct mt_kernels *kernels = p->model->kernels;
    const struct mt_decoder_row *row = row_of(p, output);
    struct mt_row_output *out = row->output;
    size_t eos = find_token(part, h->eos_id), target = part->n;
    if (out->target_id != MT_NO_TOKEN)
        target = find_token(part, out->target_id);
    if (eos < part->n)
        out->eos_logit = logits[eos];
    if (target < part->n)
        out->target_logit = logits[target];
    trace_logits(row, part, logits);
    struct mt_block_sum *sum = &p->w->block_sums[output * p->w->n_blocks + part->index];
    if (h->renormalize_logits)
        suppress(h, part, logits);
    struct mt_scored_token *top = top_of(p, p->me->index, output);
    if (out->wants_sum)
        kernels->sum_exp(logits, part->n, &sum->max, &sum->sum);
    if (out->wants_sum && out->n_top && !exceeds(sum->max, &top[out->n_top - 1]))
        return;
    if (!h->renormalize_logits)
        suppress(h, part, logits);
    kernels->merge_top(logits, part->n, (int32_t)part->first, out->n_top, top);
}

static float *my_logits(const struct projection *p)
{
    return p->w->logits + p->me->index * p->w->max_rows * MT_SELECT_BLOCK;
}

/* Processes the logits of rows whose next token may be any. */
static void look_at_my_blocks(const struct projection *p)
{
    size_t begin, end, n_vocab = p->model->hparams.n_target_vocab;
    float *logits = my_logits(p);
    mt_team_share(p->w->n_blocks, 1, p->me->index, p->me->n_members, &begin, &end);
    for (size_t block = begin; block < end && p->n_any; block++) {
        size_t first = block * MT_SELECT_BLOCK;
        const struct part part = {
            .index = block, .first = first, .n = mt_size_min(MT_SELECT_BLOCK, n_vocab - first)};
        mt_linear_columns(p->model->kernels, &p->model->weights.output, &p->w->normed, p->n_any,
                          first, first + part.n, logits, MT_SELECT_BLOCK);
        for (size_t i = 0; i < p->n_any; i++)
            look_at_part(p, i, &part, logits + i * MT_SELECT_BLOCK);
    }
}

static size_t n_parts_of(const struct mt_candidates *candidates)
{
    return (candidates->n + MT_SELECT_BLOCK - 1) / MT_SELECT_BLOCK;
}

/* Moves to the next group with the same candidates; begins with {.first = n_any}. */
static bool next_group(const struct projection *p, struct group *group)
{
    group->first += group->n;
    group->n = 0;
    if (group->first >= p->n_outputs)
        return false;
    group->candidates = row_of(p, group->first)->candidates;
    while (group->first + group->n < p->n_outputs &&
           row_of(p, group->first + group->n)->candidates == group->candidates)
        group->n++;
    return true;
}

static void look_at_candidates(const struct projection *p, const struct group *group, size_t index)
{
    size_t first = index * MT_SELECT_BLOCK;
    const struct part part = {.index = index,
                              .first = first,
                              .n = mt_size_min(MT_SELECT_BLOCK, group->candidates->n - first),
                              .ids = group->candidates->ids + first};
    float *logits = my_logits(p);
    const struct mt_rows rows = mt_rows_from(p->w->normed, group->first);
    const struct mt_linear *kept = row_of(p, group->first)->columns;
    struct mt_linear gathered;
    if (!kept)
        gathered = mt_candidates_columns(p->model, part.ids, part.n,
                                         p->w->columns + p->me->index * p->w->columns_stride);
    size_t begin = kept ? first : 0;
    mt_linear_columns(p->model->kernels, kept ? kept : &gathered, &rows, group->n, begin,
                      begin + part.n, logits, MT_SELECT_BLOCK);
    for (size_t i = 0; i < group->n; i++)
        look_at_part(p, group->first + i, &part, logits + i * MT_SELECT_BLOCK);
}

/* Processes the logits of rows with candidates. Each member takes as many parts as the others, in
 * order. */
static void look_at_my_candidates(const struct projection *p)
{
    size_t n_parts = 0, begin, end, at = 0;
    for (struct group g = {.first = p->n_any}; next_group(p, &g);)
        n_parts += n_parts_of(g.candidates);
    mt_team_share(n_parts, 1, p->me->index, p->me->n_members, &begin, &end);
    for (struct group g = {.first = p->n_any}; at < end && next_group(p, &g);)
        for (size_t i = 0; i < n_parts_of(g.candidates); i++, at++)
            if (at >= begin && at < end)
                look_at_candidates(p, &g, i);
}

/* Adds in the order of the blocks, whichever member computed them, because the sum must not depend
 * on the number of members. */
static float log_sum_exp(const struct mt_block_sum *sums, size_t n)
{
    float max = -INFINITY, total = 0.0f;
    for (size_t i = 0; i < n; i++)
        max = sums[i].max > max ? sums[i].max : max;
    for (size_t i = 0; i < n; i++)
        total = fmaf(sums[i].sum, mt_exp(sums[i].max - max), total);
    return max + (float)mt_real_log((double)total);
}

/* Merges the best tokens of all members' blocks. The first member has the smallest ids, so that of
 * equal logits the smaller id wins. */
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

/* Replaces the indexes of candidates by their ids. */
static void name_candidates(const struct mt_candidates *candidates, struct mt_row_output *out)
{
    for (size_t j = 0; j < out->n_top; j++)
        if (out->top[j].id != MT_NO_TOKEN)
            out->top[j].id = candidates->ids[out->top[j].id];
}

static void finish_my_rows(const struct projection *p)
{
    size_t begin, end;
    mt_member_rows(p->me, p->n_outputs, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const struct mt_decoder_row *row = row_of(p, i);
        size_t n_parts = row->candidates ? n_parts_of(row->candidates) : p->w->n_blocks;
        row->output->log_sum_exp = row->output->wants_sum
                                       ? log_sum_exp(p->w->block_sums + i * p->w->n_blocks, n_parts)
                                       : 0.0f;
        merge_members(p, i, row->output);
        if (row->candidates)
            name_candidates(row->candidates, row->output);
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
    look_at_my_candidates(&p);
    mt_member_barrier(me);
    finish_my_rows(&p);
}
