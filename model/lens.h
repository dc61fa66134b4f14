/*
 * Computes further facts from a finished sentence's trace with the model's own matrices: what each
 * layer would have predicted, and how much a head would add for each position.
 *
 * This is no part of a pass: the calling thread alone computes it, in memory of its own.
 *
 * Thread-safety: safe.
 */
#ifndef MT_MODEL_LENS_H
#define MT_MODEL_LENS_H

#include "base/status.h"
#include "model/trace.h"

#include <stddef.h>
#include <stdint.h>

struct mt_model;
struct mt_top_token;

/* A step that is examined, and its token. */
struct mt_lens_step {
    size_t step; /* a row of the decoder's states */
    int32_t id;  /* the token whose rank is wanted, which is the one that was written */
};

/* What a layer would have predicted. */
struct mt_lens_opinion {
    size_t rank;   /* of the token: 1 where no other has a larger logit */
    float logprob; /* log-softmax of the token over the whole vocabulary */
};

/*
 * Applies the output layer (after the decoder's last norm, if it has one) to the output of the
 * embedding and of each decoder layer: opinions and top are [n_steps, Ld + 1] and [n_steps, Ld + 1,
 * n_top], most probable first. Tokens that the model never writes are left out, and ids of
 * MT_NO_TOKEN fill up the rest. The last layer's opinion is the model's prediction, unless a
 * shortlist excluded tokens. The trace has MT_TRACE_DECODER_STATES. MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_lens_run(const struct mt_model *model, const struct mt_trace *trace,
                                         const struct mt_lens_step *steps, size_t n_steps,
                                         size_t n_top, struct mt_lens_opinion *opinions,
                                         struct mt_top_token *top, struct mt_error *err);

/* Computes norms [H, N] = |v_j W^O_h| (Kobayashi et al. 2020) for each head and each of N positions
 * of a layer: what a weight of 1 would add. The trace has the values of this layer. In int8 the
 * matrix is the quantised one. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_lens_value_norms(const struct mt_model *model,
                                                 const struct mt_trace *trace,
                                                 enum mt_trace_kind place, size_t layer,
                                                 float *norms, struct mt_error *err);

#endif
