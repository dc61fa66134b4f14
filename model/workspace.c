#include "model/workspace.h"

#include "base/arena.h"
#include "base/size.h"
#include "model/candidates.h"
#include "model/kernels/canonical.h"
#include "model/sentence.h"

/* Members often write their scores, so each has cache lines of its own. */
#define LINE_FLOATS 16

/* Room for the candidates of beam search, or for the runners-up that a request asked for. */
#define TOP_STRIDE (2 * MT_MAX_BEAMS + 1 > MT_MAX_TOP ? 2 * MT_MAX_BEAMS + 1 : MT_MAX_TOP)

/* The position of the next piece. Without memory only its offset is counted. */
struct cursor {
    unsigned char *memory;
    size_t n_bytes;
};

struct block {
    void **out;
    size_t rows, columns, element_bytes;
};

static enum mt_status place(struct cursor *cursor, const struct block *blocks, size_t n,
                            struct mt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct block *block = &blocks[i];
        size_t n_bytes, end;
        if (!mt_size_mul(block->rows, block->columns, &n_bytes) ||
            !mt_size_mul(n_bytes, block->element_bytes, &n_bytes) ||
            !mt_size_add(cursor->n_bytes, n_bytes, &end) ||
            !mt_size_add(end, MT_ARENA_ALIGNMENT, &end))
            return mt_fail(err, MT_LIMIT, "activations: %zu rows of %zu overflow", block->rows,
                           block->columns);
        *block->out = cursor->memory ? cursor->memory + cursor->n_bytes : NULL;
        cursor->n_bytes = mt_size_round_up(cursor->n_bytes + n_bytes, MT_ARENA_ALIGNMENT);
    }
    return MT_OK;
}

static enum mt_status place_rows(struct cursor *cursor, struct mt_rows *rows, size_t n_rows,
                                 size_t width, bool is_int8, struct mt_error *err)
{
    void *x = NULL, *q = NULL, *scale = NULL, *zero = NULL;
    *rows = (struct mt_rows){.width = width, .padded = mt_size_round_up(width, MT_PACK_K)};
    const struct block blocks[] = {
        {&x, n_rows, width, sizeof(float)},
        {&q, n_rows, rows->padded, 1},
        {&scale, n_rows, 1, sizeof(float)},
        {&zero, n_rows, 1, sizeof(int32_t)},
    };
    enum mt_status status = place(cursor, blocks, is_int8 ? 4 : 1, err);
    if (status)
        return status;
    rows->x = x;
    rows->q = q;
    rows->scale = scale;
    rows->zero = zero;
    return MT_OK;
}

enum mt_status mt_workspace_lay_out(struct mt_workspace *w, const struct mt_workspace_shape *shape,
                                    void *memory, size_t *n_bytes, struct mt_error *err)
{
    const struct mt_hparams *h = shape->hparams;
    size_t n_heads = mt_size_max(h->n_encoder_heads, h->n_decoder_heads), d = h->d_model;
    size_t max_rows = shape->max_rows, n_members = shape->n_members;
    struct cursor cursor = {.memory = memory};
    w->n_rows = mt_size_max(max_rows, shape->encode_tokens);
    w->max_rows = max_rows;
    w->scores_stride =
        mt_size_round_up(MT_ATTEND_QUERIES * n_heads * shape->max_attended, LINE_FLOATS);
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
        status = place_rows(&cursor, rows[i].rows, w->n_rows, rows[i].width, shape->is_int8, err);
    if (shape->has_candidates)
        w->columns_stride = mt_candidates_columns_bytes(MT_SELECT_BLOCK, d, shape->is_int8);
    bool is_gated = h->feed_forward_kind == MT_FEED_FORWARD_GATED;
    void *y = NULL, *qkv = NULL, *scores = NULL, *logits = NULL, *top = NULL, *sums = NULL,
         *order = NULL, *columns = NULL, *factor = NULL;
    const struct block blocks[] = {
        {&y, w->n_rows, d, sizeof(float)},
        {&qkv, w->n_rows, 3 * d, sizeof(float)},
        {&scores, n_members, w->scores_stride, sizeof(float)},
        {&logits, n_members * max_rows, MT_SELECT_BLOCK, sizeof(float)},
        {&top, n_members * max_rows, w->top_stride, sizeof(struct mt_scored_token)},
        {&sums, max_rows, w->n_blocks, sizeof(struct mt_block_sum)},
        {&order, n_members, max_rows, sizeof *w->order},
        {&columns, n_members, w->columns_stride, 1},
        {&factor, is_gated ? w->n_rows : 0, w->hidden.width, sizeof(float)},
    };
    if (!status)
        status = place(&cursor, blocks, sizeof blocks / sizeof *blocks, err);
    if (status)
        return status;
    w->y = y;
    w->qkv = qkv;
    w->scores = scores;
    w->logits = logits;
    w->top = top;
    w->block_sums = sums;
    w->order = order;
    w->columns = columns;
    w->factor = is_gated ? factor : NULL;
    *n_bytes = cursor.n_bytes;
    return MT_OK;
}

struct mt_workspace mt_workspace_part(const struct mt_workspace *workspace, size_t member,
                                      size_t first_row)
{
    struct mt_workspace w = *workspace;
    w.n_rows -= first_row;
    w.x = mt_rows_from(w.x, first_row);
    w.normed = mt_rows_from(w.normed, first_row);
    w.context = mt_rows_from(w.context, first_row);
    if (w.factor)
        w.factor += first_row * w.hidden.width;
    w.hidden = mt_rows_from(w.hidden, first_row);
    w.y += first_row * w.x.width;
    w.qkv += first_row * 3 * w.x.width;
    w.scores += member * w.scores_stride;
    w.logits += member * w.max_rows * MT_SELECT_BLOCK;
    w.top += member * w.max_rows * w.top_stride;
    w.order += member * w.max_rows;
    w.columns += member * w.columns_stride;
    /* An encoder pass has more rows than max_rows, but needs no sums. */
    w.block_sums += mt_size_min(first_row, w.max_rows) * w.n_blocks;
    return w;
}
