/*
 * The inner loops of the Transformer, as a table of functions that is chosen once for the CPU.
 *
 * Every kernel has a C reference (reference.c) and may have faster versions beside it;
 * tests/kernels compares them bit by bit and times them. To make that possible the order of every
 * sum is part of the contract (canonical.h): a result never depends on the instruction set, on the
 * batch or on the number of threads. Linear layers in fp32 are OpenBLAS's and the one exception.
 *
 * Thread-safety: kernels are pure functions of their arguments.
 */
#ifndef MT_MODEL_KERNELS_KERNELS_H
#define MT_MODEL_KERNELS_KERNELS_H

#include "base/status.h"
#include "model/hparams.h"

/*
 * Attention of one query position over n key/value positions, all heads (Vaswani et al. 2017,
 * section 3.2.1):
 *
 *   weights[h, t] = softmax_t(q[h] . k[t, h] / sqrt(d_k))        out[h] = sum_t weights[h, t] v[t,
 * h]
 *
 * Position t lies at keys + t * stride, or, where beams share their past, at keys + slots[t] *
 * slot_stride + t * stride.
 */
struct mt_attend {
    const float *q;   /* [H, K] */
    const void *keys; /* elements fp32 or binary16, according to the kernel */
    const void *values;
    size_t n;              /* positions attended to, >= 1 */
    size_t stride;         /* elements between positions, >= n_heads * d_k */
    const uint16_t *slots; /* [n], or NULL */
    size_t slot_stride;    /* elements between slots */
    size_t n_heads, d_k;
    float *weights; /* [H, n], written */
    float *out;     /* [H, K], written */
};

/* The most probable tokens of one row of logits. */
struct mt_scored_token {
    int32_t id;
    float logit;
};

struct mt_select {
    const float *logits; /* [V] */
    size_t n_vocab;
    const int32_t *suppressed; /* never among the top; ascending */
    size_t n_suppressed;
    bool normalize_over_allowed; /* leave the suppressed ones out of sum_exp, too */
    size_t n_top;
    struct mt_scored_token
        *top; /* [n_top], by falling logit, then by rising id; id -1 where the vocabulary ran out */
    float max_logit; /* out: of all that sum_exp is taken over */
    float sum_exp;   /* out: sum of exp(logit - max_logit) */
};

struct mt_kernels {
    const char *name; /* "c", "avx2", ... */

    void (*attend_f32)(const struct mt_attend *attend);
    void (*attend_f16)(const struct mt_attend *attend);

    /* out = LayerNorm(x + y) * gamma + beta over n elements, eps inside the root; y may be NULL,
     * out may be x. */
    void (*add_norm)(const float *x, const float *y, const float *gamma, const float *beta,
                     float eps, size_t n, float *out);

    /* x = act(x), n elements. */
    void (*activate)(enum mt_activation activation, float *x, size_t n);

    /* out = table * scale + position: one row of embeddings. */
    void (*embed)(const float *restrict table, float scale, const float *restrict position,
                  size_t n, float *restrict out);

    void (*narrow_f16)(const float *restrict x, size_t n, uint16_t *restrict out);

    void (*select)(struct mt_select *select);
};

/* The best table for this CPU, or the one that name asks for ("auto", "c", "avx2"); MT_UNSUPPORTED
 * where the CPU lacks it, MT_INVALID for an unknown name. */
MT_MUST_CHECK enum mt_status mt_kernels_find(const char *name, const struct mt_kernels **out,
                                             struct mt_error *err);

/* All tables that this CPU can run, best first; n of them. */
const struct mt_kernels *const *mt_kernels_available(size_t *n);

/* y[M, n_out] (rows ldy apart) = x[M, n_in] (rows ldx apart) w^T + bias, w [n_out, n_in], by
 * OpenBLAS in the calling thread. bias may be NULL. */
void mt_linear_f32(const float *x, size_t ldx, size_t n_rows, const float *w, const float *bias,
                   size_t n_in, size_t n_out, float *y, size_t ldy);

#endif
