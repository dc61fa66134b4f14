#include "model/sublayer.h"

#include "model/model_state.h"

#include <math.h>

void mt_embed_row(const struct mt_model *model, const struct mt_embedding *embedding, int32_t id,
                  size_t position, float *out)
{
    size_t d = model->hparams.d_model;
    float scale = model->hparams.scale_embedding ? sqrtf((float)d) : 1.0f;
    model->kernels->embed(embedding->table + (size_t)id * d, scale,
                          embedding->positions + position * d, d, out);
}

const float *mt_sublayer_input(const struct mt_member *me, const struct mt_model *model,
                               const struct mt_norm *norm, const struct mt_workspace *w,
                               size_t n_rows)
{
    if (!model->hparams.normalize_before)
        return w->x;
    mt_add_norm_run(me, model->kernels, norm, w->x, NULL, n_rows, model->hparams.d_model,
                    w->normed);
    return w->normed;
}

void mt_sublayer_output(const struct mt_member *me, const struct mt_model *model,
                        const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows)
{
    size_t d = model->hparams.d_model;
    if (model->hparams.normalize_before)
        mt_add_run(me, w->x, w->y, n_rows, d);
    else
        mt_add_norm_run(me, model->kernels, norm, w->x, w->y, n_rows, d, w->x);
}

void mt_feed_forward(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_feed_forward *ffn, const struct mt_workspace *w, size_t n_rows)
{
    const float *x = mt_sublayer_input(me, model, &ffn->norm, w, n_rows);
    mt_linear_run(me, &ffn->fc1, x, n_rows, w->hidden);
    mt_activate_run(me, model->kernels, model->hparams.activation, w->hidden, n_rows,
                    ffn->fc1.n_out);
    mt_linear_run(me, &ffn->fc2, w->hidden, n_rows, w->y);
    mt_sublayer_output(me, model, &ffn->norm, w, n_rows);
}

void mt_norm_if_any(const struct mt_member *me, const struct mt_model *model,
                    const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows)
{
    if (norm->gamma)
        mt_add_norm_run(me, model->kernels, norm, w->x, NULL, n_rows, model->hparams.d_model, w->x);
}
