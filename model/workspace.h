/*
 * A batch's activations, which the operations of a pass write. The encoder pass and the decoder
 * step share them, because they never run at the same time.
 */
#ifndef MT_MODEL_WORKSPACE_H
#define MT_MODEL_WORKSPACE_H

#include "model/files/hparams.h"
#include "model/layers.h"

/* The sum of exponentials over one block of a row's logits. */
struct mt_block_sum {
    float max, sum; /* sum of exp(logit - max) over one block of the vocabulary */
};

struct mt_workspace {
    size_t n_rows;          /* rows of x .. hidden: tokens of an encoder pass, or rows of a step */
    struct mt_rows x;       /* [n_rows, D] the residual stream */
    struct mt_rows normed;  /* [n_rows, D] a normalised copy of it (pre-norm), or rows gathered for
                               the output */
    struct mt_rows context; /* [n_rows, D] output of attention */
    struct mt_rows hidden;  /* [n_rows, F] */
    float *factor;          /* [n_rows, F], for gated feed-forward blocks, otherwise NULL */
    float *y;               /* [n_rows, D] what a sublayer adds to x */
    float *qkv;             /* [n_rows, 3D] */

    /* For each member. */
    float *scores; /* [n_members, scores_stride] attention weights of a few rows at a time */
    size_t scores_stride;
    float *logits; /* [n_members, max_rows, MT_SELECT_BLOCK]: one block of the vocabulary */
    struct mt_scored_token *top; /* [n_members, max_rows, top_stride] */
    size_t top_stride;
    uint32_t *order;        /* [n_members, max_rows]: rows that need an output */
    unsigned char *columns; /* [n_members, columns_stride]: columns of candidates (candidates.h) */
    size_t columns_stride;

    struct mt_block_sum *block_sums; /* [max_rows, n_blocks] */
    size_t n_blocks;                 /* blocks of the vocabulary */
    size_t max_rows;
};

struct mt_workspace_shape {
    const struct mt_hparams *hparams;
    bool is_int8;        /* rows carry their quantised form */
    bool has_candidates; /* rows may have candidates */
    size_t max_rows, encode_tokens, max_attended, n_members;
};

/* Lays the workspace out in memory, which is borrowed, aligned like an arena's, and at least
 * *n_bytes long. It need not be zeroed. NULL: only computes *n_bytes. MT_LIMIT on overflow. */
MT_MUST_CHECK enum mt_status mt_workspace_lay_out(struct mt_workspace *workspace,
                                                  const struct mt_workspace_shape *shape,
                                                  void *memory, size_t *n_bytes,
                                                  struct mt_error *err);

/* Returns the workspace for a member that takes the rows from first_row on through a pass alone. */
struct mt_workspace mt_workspace_part(const struct mt_workspace *workspace, size_t member,
                                      size_t first_row);

#endif
