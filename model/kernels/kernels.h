/*
 * The inner loops of the Transformer, as a table of functions that is chosen once for the CPU.
 *
 * Every kernel has a C reference (reference.c) and may have faster versions beside it;
 * tests/kernels compares them bit by bit and times them. To make that possible the order of every
 * sum is part of the contract (canonical.h): a result never depends on the instruction set, on the
 * batch or on the number of threads. The exception is OpenBLAS in fp32 (has_foreign_sums), whose
 * results depend on the processor.
 *
 * Thread-safety: kernels are pure functions of their arguments.
 */
#ifndef MT_MODEL_KERNELS_KERNELS_H
#define MT_MODEL_KERNELS_KERNELS_H

#include "base/status.h"
#include "model/kernels/activation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Attention of query positions to the same n key/value positions, for all heads (Vaswani et al.
 * 2017, section 3.2.1):
 *
 *   weights[h, t] = softmax_t(q[h] . k[t, h] / sqrt(d_k))
 *   out[h]        = sum_t weights[h, t] v[t, h]
 *
 * Position t is at keys + t * stride or, where beams share their past, at keys + slots[t] *
 * slot_stride + t * stride.
 */
struct mt_attend {
    const float *q; /* [n_queries][H, K], q_stride elements apart */
    size_t n_queries, q_stride;
    const void *keys; /* elements fp32 or binary16, according to the kernel */
    const void *values;
    size_t n;              /* positions attended to, >= 1 */
    size_t stride;         /* elements between positions, >= n_heads * d_k */
    const uint16_t *slots; /* [n], or NULL */
    size_t slot_stride;    /* elements between slots */
    size_t n_heads, d_k;
    float *weights; /* [n_queries, H, n], written */
    float *out;     /* [n_queries][H, K], out_stride elements apart, written */
    size_t out_stride;
};

/* Number of queries for which kernels read keys and values only once. */
#define MT_ATTEND_QUERIES 4

/* `stream` reads a multiple of this many bytes. */
#define MT_STREAM_BYTES 512

/* One of the most probable tokens of a row of logits. */
struct mt_scored_token {
    int32_t id;
    float logit;
};

/*
 * An int8 linear layer over rows that were quantised by `quantize`:
 *
 *   y[m, n] = act((sum_k a[m, k] w[n, k] - zero[m] * column_sums[n]) * (scale[m] * scales[n])
 *                 + bias[n])
 *
 * The sum is exact in int32; then there is one fused multiply-add. Weights are packed
 * [N/16][K/4][16][4]: blocks of 16 columns (output features); within a block four consecutive k of
 * column 0, of column 1, ..., then the next four k. For each step this is one register of
 * AVX512-VNNI, two of AVX2, or a part of an AMX tile. K is padded with zeros to a multiple of
 * MT_PACK_K.
 */
#define MT_PACK_COLUMNS 16
#define MT_PACK_K 64

struct mt_qgemm {
    const uint8_t *a; /* [n_rows, lda]; padding of each row up to k_padded is zero */
    size_t lda;
    const float *a_scale;  /* [n_rows] */
    const int32_t *a_zero; /* [n_rows], 0 to 255 */
    size_t n_rows;
    const int8_t *weights;      /* first block; 64-byte aligned, values -127 to 127 */
    const float *scales;        /* of the first block's columns */
    const int32_t *column_sums; /* of the packed weights: sum_k w[n, k] */
    const float *bias;          /* or NULL */
    size_t k_padded;
    size_t n_columns; /* columns to write; the last block may be partly beyond them */
    float *y;         /* [n_rows, ldy] */
    size_t ldy;
    bool has_activation;
    enum mt_activation activation;
};

/*
 * An fp32 linear layer, in the order of canonical.h:
 *
 *   y[m, n] = bias[n] + sum_k x[m, k] w[n, k]
 *
 * Weights are used where they are in the model's file, row by row: columns of the output are rows
 * of w.
 */
struct mt_linear_f32 {
    const float *x; /* [n_rows, ldx] */
    size_t ldx, n_rows;
    const float *w;    /* [n_columns, n_in] */
    const float *bias; /* [n_columns], or NULL: zeros */
    size_t n_in, n_columns;
    float *y; /* [n_rows, ldy], written */
    size_t ldy;
};

struct mt_kernels {
    const char *name; /* "c", "avx2", ... */

    /* linear_f32 does not add in the order of canonical.h, so that the last digits depend on this
     * table and this processor. */
    bool has_foreign_sums;

    /* The result of each query does not depend on the number of queries, not even in the last
     * bit. */
    void (*attend_f32)(const struct mt_attend *attend);
    void (*attend_f16)(const struct mt_attend *attend);

    /* Computes out = LayerNorm(x + y) * gamma + beta over n elements, eps inside the root; y may be
     * NULL, out may be x. beta NULL: out = (x + y) / sqrt(mean((x + y)^2) + eps) * gamma. */
    void (*add_norm)(const float *x, const float *y, const float *gamma, const float *beta,
                     float eps, size_t n, float *out);

    /* No number depends on how many rows or columns there are, not even in the last bit. */
    void (*linear_f32)(const struct mt_linear_f32 *linear);

    /* Computes x = act(x) for n elements. */
    void (*activate)(enum mt_activation activation, float *x, size_t n);

    /* Computes a step of a recurrent cell (hparams.h), element by element: f = 1 / (1 +
     * exp(-gate)), next = fmaf(f, previous - x, x), out = next above 0, otherwise 0. previous is
     * NULL at the first step: zeros. next may be previous, and out x. */
    void (*ssru)(const float *x, const float *gate, const float *previous, size_t n, float *next,
                 float *out);

    /* Computes out = table * scale + position, one row of embeddings; out may be table. */
    void (*embed)(const float *table, float scale, const float *position, size_t n, float *out);

    void (*narrow_f16)(const float *restrict x, size_t n, uint16_t *restrict out);

    /* Returns the largest of n numbers, and the sum of exp(x - max) over them; n at most
     * MT_SELECT_BLOCK (canonical.h). */
    void (*sum_exp)(const float *x, size_t n, float *max, float *sum);

    /* Merges n logits, of tokens first_id, first_id + 1, ..., into top[n_top], which is sorted by
     * falling logit, and equal ones by ascending id; unused entries at the end have a negative id.
     * Tokens already there have smaller ids. A logit of -infinity is never taken. */
    void (*merge_top)(const float *logits, size_t n, int32_t first_id, size_t n_top,
                      struct mt_scored_token *top);

    /* Quantises a row for int8: q = round(x / scale) + zero, 0 to 255, with the smallest scale that
     * covers all n numbers and 0; q is padded with zeros to n_padded. A row with a tiny range
     * becomes all zeros. So does one with a number that is not finite, but with a scale of NaN,
     * which appears in everything that is computed from it. */
    void (*quantize)(const float *x, size_t n, size_t n_padded, uint8_t *q, float *scale,
                     int32_t *zero);
    void (*qgemm)(const struct mt_qgemm *gemm);

    /* Measures the limit for few rows: reads n bytes, a multiple of MT_STREAM_BYTES and aligned to
     * 64, in the order in which qgemm reads weights. Returns a number that depends on all of
     * them. */
    uint64_t (*stream)(const uint8_t *bytes, size_t n);

    /* Measure the limits of qgemm and linear_f32: they execute the same instructions n times, on
     * registers only, and return the number of multiply-adds. NULL for kernels that are not
     * measured (plain C). */
    uint64_t (*int8_peak)(size_t n);
    uint64_t (*fp32_peak)(size_t n);
};

/* Returns the best table for this CPU, or the one of that name ("auto", "c", "avx2");
 * MT_UNSUPPORTED where the CPU or the build lacks it, MT_INVALID for an unknown name. */
MT_MUST_CHECK enum mt_status mt_kernels_find(const char *name, const struct mt_kernels **out,
                                             struct mt_error *err);

/* Ends the threads that some builds of OpenBLAS start when the program is loaded, one for each
 * processor. It has to be called before the program starts threads or drops rights, since those
 * threads would keep the rights. */
void mt_kernels_end_foreign_threads(void);

/* Returns all tables that this CPU can run, best first; n of them, of which "c" is the last.
 * "openblas" comes before that, so that "auto" chooses it only if there is no table for the CPU
 * itself. */
const struct mt_kernels *const *mt_kernels_available(size_t *n);

#endif
