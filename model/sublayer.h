/*
 * What surrounds every sublayer: the embedding before the first one, residual and norm, and the
 * feed-forward block.
 *
 *   post-norm (the paper):  x = LN(x + f(x))          pre-norm:  x = x + f(LN(x))
 *
 * All functions work on workspace->x, the residual stream, and end in a barrier.
 */
#ifndef MT_MODEL_SUBLAYER_H
#define MT_MODEL_SUBLAYER_H

#include "model/files/weights.h"
#include "model/workspace.h"

struct mt_model;

/* Computes out [D] = table[id] * sqrt(D) (if the model scales) + positions[position]; for
 * MT_NO_TOKEN only the position, and for padding without a position only the token. The caller has
 * to wait at a barrier. */
void mt_embed_row(const struct mt_model *model, const struct mt_embedding *embedding, int32_t id,
                  size_t position, float *out);

/* Returns the input of f: x itself, or LN(x) for pre-norm. */
const struct mt_rows *mt_sublayer_input(const struct mt_member *me, const struct mt_model *model,
                                        const struct mt_norm *norm, const struct mt_workspace *w,
                                        size_t n_rows);

/* Adds workspace->y, the result of f, to x, and normalises for post-norm. */
void mt_sublayer_output(const struct mt_member *me, const struct mt_model *model,
                        const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows);

/* Computes f of the feed-forward sublayer into workspace->y: act(x W1 + b1) W2 + b2 (section 3.3),
 * or the gated form (enum mt_feed_forward_kind). Its hidden layer stays in workspace->hidden, rows
 * of d_ff. */
void mt_feed_forward(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_feed_forward *ffn, const struct mt_workspace *w,
                     size_t n_rows);

/* Computes x = LN(x), if the model has this norm. */
void mt_norm_if_any(const struct mt_member *me, const struct mt_model *model,
                    const struct mt_norm *norm, const struct mt_workspace *w, size_t n_rows);

#endif
