#include "model/sublayer.h"

#include "base/size.h"
#include "model/model_state.h"

#include <math.h>
#include <string.h>

/* In a packed table a token's row is scattered: four numbers of every group of 64 belong to it. */
static void unpack_row(const struct mt_linear *packed, int32_t id, float *out)
{
    size_t column = (size_t)id;
    const int8_t *block =
        packed->weights + column / MT_PACK_COLUMNS * MT_PACK_COLUMNS * packed->k_padded;
    const int8_t *q = block + column % MT_PACK_COLUMNS * 4;
    float scale = packed->scales[column];
    for (size_t k = 0; k < packed->n_in; k++)
        out[k] = (float)q[k / 4 * (MT_PACK_COLUMNS * 4) + k % 4] * scale;
}

void mt_embed_row(const struct mt_model *model, const struct mt_embedding *embedding, int32_t id,
                  size_t position, float *out)
{
    size_t d = model->hparams.d_model;
    if (id == MT_NO_TOKEN) {
        memcpy(out, embedding->positions + position * d, d * sizeof *out);
        return;
    }
    float scale = model->hparams.scale_embedding ? sqrtf((float)d) : 1.0f;
    const float *row = embedding->table ? embedding->table + (size_t)id * d : out;
    if (!embedding->table)
        unpack_row(&embedding->packed, id, out);
    if (model->hparams.positions_skip_padding && id == model->hparams.pad_id) {
        for (size_t i = 0; i < d; i++)
            out[i] = row[i] * scale;
        return;
    }
    model->kernels->embed(row, scale, embedding->positions + position * d, d, out);
}

const struct mt_rows *mt_sublayer_input(const struct mt_member *me, const struct mt_model *model,
                                        const struct mt_norm *norm, const struct mt_workspace *w,
                                        size_t n_rows)
{
    if (!model->hparams.normalize_before)
        return &w->x;
    mt_add_norm_run(me, model->kernels, norm, w->x.x, NULL, n_rows, &w->normed);
    return &w->normed;
}

void mt_sublayer_output(const struct mt_member *me, const struct mt_model *model,
                        const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows)
{
    if (model->hparams.normalize_before)
        mt_add_run(me, w->x.x, w->y, n_rows, w->x.width);
    else
        mt_add_norm_run(me, model->kernels, norm, w->x.x, w->y, n_rows, &w->x);
}

void mt_feed_forward(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_feed_forward *ffn, const struct mt_workspace *w, size_t n_rows)
{
    const struct mt_rows *x = mt_sublayer_input(me, model, &ffn->norm, w, n_rows);
    /* Encoder and decoder may differ in d_ff, so hidden is as wide as the larger one. */
    struct mt_rows hidden = w->hidden;
    hidden.width = ffn->fc1.n_out;
    hidden.padded = mt_size_round_up(hidden.width, MT_PACK_K);
    mt_linear_run(me, model->kernels, &ffn->fc1, x, n_rows, hidden.x);
    if (ffn->factor.n_out) {
        mt_linear_run(me, model->kernels, &ffn->factor, x, n_rows, w->factor);
        mt_multiply_run(me, model->kernels, &hidden, w->factor, n_rows);
    } else {
        mt_rows_quantize_run(me, model->kernels, &hidden, n_rows);
    }
    mt_linear_run(me, model->kernels, &ffn->fc2, &hidden, n_rows, w->y);
}

void mt_norm_if_any(const struct mt_member *me, const struct mt_model *model,
                    const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows)
{
    if (norm->gamma)
        mt_add_norm_run(me, model->kernels, norm, w->x.x, NULL, n_rows, &w->x);
}
