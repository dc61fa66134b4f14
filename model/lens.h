/*
 * What a trace tells when the model's own matrices are used on it once more, after the sentence has
 * ended: opinions of the layers, and how much a head would add for each position.
 *
 * Nothing here is part of a pass: the calling thread alone computes it, in memory of its own.
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

/* Which steps are looked at, and for which token. */
struct mt_lens_step {
    size_t step; /* a row of the decoder's states */
    int32_t id;  /* the token whose place is wanted: the one that was written */
};

/* What a layer would have written. */
struct mt_lens_opinion {
    size_t rank;   /* of the token: 1 where no other has a larger logit */
    float logprob; /* log-softmax of the token over the whole vocabulary */
};

/*
 * The output layer (behind the decoder's last norm, where it has one) on what left the embedding
 * and each decoder layer: opinions and top are [n_steps, Ld + 1] and [n_steps, Ld + 1, n_top], most
 * probable first; those that the model never writes are not among them, and an id of MT_NO_TOKEN
 * fills it up. The last layer's is what the model thought, unless a shortlist left tokens out. The
 * trace has MT_TRACE_DECODER_STATES. MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_lens_run(const struct mt_model *model, const struct mt_trace *trace,
                                         const struct mt_lens_step *steps, size_t n_steps,
                                         size_t n_top, struct mt_lens_opinion *opinions,
                                         struct mt_top_token *top, struct mt_error *err);

/* norms [H, N] = |v_j W^O_h| (Kobayashi et al. 2020) of each head and each position of a layer: what
 * a weight of 1 would add. The trace has the place's values; N of them. In int8 the matrix is the
 * engine's own. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_lens_value_norms(const struct mt_model *model,
                                                 const struct mt_trace *trace,
                                                 enum mt_trace_kind place, size_t layer,
                                                 float *norms, struct mt_error *err);

#endif
