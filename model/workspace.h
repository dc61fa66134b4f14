/*
 * A batch's activations: what a pass writes between its operations. Shared by the encoder pass and
 * the decoder step, which never run at the same time.
 */
#ifndef MT_MODEL_WORKSPACE_H
#define MT_MODEL_WORKSPACE_H

#include "base/arena.h"
#include "model/hparams.h"

struct mt_workspace {
    size_t n_rows;  /* rows of x .. hidden: tokens of an encoder pass, or rows of a step */
    float *x;       /* [n_rows, D] the residual stream */
    float *normed;  /* [n_rows, D] a normalised copy of it (pre-norm) */
    float *y;       /* [n_rows, D] what a sublayer adds */
    float *qkv;     /* [n_rows, 3D] */
    float *context; /* [n_rows, D] what attention gathered */
    float *hidden;  /* [n_rows, F] */
    float *scores;  /* [n_members, scores_stride]: attention weights of one row at a time */
    size_t scores_stride;
    float *logits; /* [max_rows, V] */
};

MT_MUST_CHECK enum mt_status mt_workspace_init(struct mt_workspace *workspace,
                                               const struct mt_hparams *hparams, size_t max_rows,
                                               size_t encode_tokens, size_t max_attended,
                                               size_t n_members, struct mt_arena *arena,
                                               struct mt_error *err);

#endif
