#include "model/workspace.h"

#include "base/size.h"

/* Members write their scores often: keep them on cache lines of their own. */
#define LINE_FLOATS 16

enum mt_status mt_workspace_init(struct mt_workspace *w, const struct mt_hparams *h,
                                 size_t max_rows, size_t encode_tokens, size_t max_attended,
                                 size_t n_members, struct mt_arena *arena, struct mt_error *err)
{
    size_t n_rows = mt_size_max(max_rows, encode_tokens), d = h->d_model;
    size_t n_heads = mt_size_max(h->n_encoder_heads, h->n_decoder_heads);
    w->n_rows = n_rows;
    w->scores_stride = mt_size_round_up(n_heads * max_attended, LINE_FLOATS);
    const struct {
        float **out;
        size_t rows, columns;
    } blocks[] = {
        {&w->x, n_rows, d},
        {&w->normed, n_rows, d},
        {&w->y, n_rows, d},
        {&w->qkv, n_rows, 3 * d},
        {&w->context, n_rows, d},
        {&w->hidden, n_rows, mt_size_max(h->d_ff_encoder, h->d_ff_decoder)},
        {&w->scores, n_members, w->scores_stride},
        {&w->logits, max_rows, h->n_target_vocab},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        void *numbers;
        enum mt_status status = mt_arena_take(arena, blocks[i].rows * blocks[i].columns,
                                              sizeof(float), "activations", &numbers, err);
        if (status)
            return status;
        *blocks[i].out = numbers;
    }
    return MT_OK;
}
