#include "model/workspace.h"

#include "base/size.h"
#include "model/kernels/canonical.h"
#include "model/sentence.h"

/* Members write their scores often: keep them on cache lines of their own. */
#define LINE_FLOATS 16

/* Candidates of beam search, or runners-up that a request asked for. */
#define TOP_STRIDE (2 * MT_MAX_BEAMS + 1 > MT_MAX_TOP ? 2 * MT_MAX_BEAMS + 1 : MT_MAX_TOP)

struct block {
    void **out;
    size_t rows, columns, element_bytes;
};

static enum mt_status take(struct mt_arena *arena, const struct block *blocks, size_t n,
                           struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++) {
        size_t count;
        if (!mt_size_mul(blocks[i].rows, blocks[i].columns, &count))
            return mt_fail(err, MT_LIMIT, "activations: %zu rows of %zu overflow", blocks[i].rows,
                           blocks[i].columns);
        status =
            mt_arena_take(arena, count, blocks[i].element_bytes, "activations", blocks[i].out, err);
    }
    return status;
}

static enum mt_status init_rows(struct mt_rows *rows, size_t n_rows, size_t width, bool is_int8,
                                struct mt_arena *arena, struct mt_error *err)
{
    void *x, *q, *scale, *zero;
    *rows = (struct mt_rows){.width = width, .padded = mt_size_round_up(width, MT_PACK_K)};
    const struct block blocks[] = {
        {&x, n_rows, width, sizeof(float)},
        {&q, n_rows, rows->padded, 1},
        {&scale, n_rows, 1, sizeof(float)},
        {&zero, n_rows, 1, sizeof(int32_t)},
    };
    enum mt_status status = take(arena, blocks, is_int8 ? 4 : 1, err);
    if (status)
        return status;
    rows->x = x;
    rows->q = is_int8 ? q : NULL;
    rows->scale = is_int8 ? scale : NULL;
    rows->zero = is_int8 ? zero : NULL;
    return MT_OK;
}

enum mt_status mt_workspace_init(struct mt_workspace *w, const struct mt_hparams *h, bool is_int8,
                                 size_t max_rows, size_t encode_tokens, size_t max_attended,
                                 size_t n_members, struct mt_arena *arena, struct mt_error *err)
{
    size_t n_heads = mt_size_max(h->n_encoder_heads, h->n_decoder_heads), d = h->d_model;
    w->n_rows = mt_size_max(max_rows, encode_tokens);
    w->max_rows = max_rows;
    w->scores_stride = mt_size_round_up(MT_ATTEND_QUERIES * n_heads * max_attended, LINE_FLOATS);
    w->top_stride = TOP_STRIDE;
    w->n_blocks = (h->n_target_vocab + MT_SELECT_BLOCK - 1) / MT_SELECT_BLOCK;
    const struct {
        struct mt_rows *rows;
        size_t width;
    } rows[] = {{&w->x, d},
                {&w->normed, d},
                {&w->context, d},
                {&w->hidden, mt_size_max(h->d_ff_encoder, h->d_ff_decoder)}};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++)
        status = init_rows(rows[i].rows, w->n_rows, rows[i].width, is_int8, arena, err);
    void *y, *qkv, *scores, *logits, *top, *sums;
    const struct block blocks[] = {
        {&y, w->n_rows, d, sizeof(float)},
        {&qkv, w->n_rows, 3 * d, sizeof(float)},
        {&scores, n_members, w->scores_stride, sizeof(float)},
        {&logits, n_members * max_rows, MT_SELECT_BLOCK, sizeof(float)},
        {&top, n_members * max_rows, w->top_stride, sizeof(struct mt_scored_token)},
        {&sums, max_rows, w->n_blocks, sizeof(struct mt_block_sum)},
    };
    if (!status)
        status = take(arena, blocks, sizeof blocks / sizeof *blocks, err);
    if (status)
        return status;
    w->y = y;
    w->qkv = qkv;
    w->scores = scores;
    w->logits = logits;
    w->top = top;
    w->block_sums = sums;
    return MT_OK;
}
