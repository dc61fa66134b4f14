/*
 * A batch's activations: what a pass writes between its operations. Shared by the encoder pass and
 * the decoder step, which never run at the same time.
 */
#ifndef MT_MODEL_WORKSPACE_H
#define MT_MODEL_WORKSPACE_H

#include "model/files/hparams.h"
#include "model/layers.h"

/* The best tokens and the sum of exponentials of one row of logits, as far as they have been looked
 * at. */
struct mt_block_sum {
    float max, sum; /* sum of exp(logit - max) over one block of the vocabulary */
};

struct mt_workspace {
    size_t n_rows;          /* rows of x .. hidden: tokens of an encoder pass, or rows of a step */
    struct mt_rows x;       /* [n_rows, D] the residual stream */
    struct mt_rows normed;  /* [n_rows, D] a normalised copy of it (pre-norm), or rows gathered for
                               the output */
    struct mt_rows context; /* [n_rows, D] what attention gathered */
    struct mt_rows hidden;  /* [n_rows, F] */
    float *factor;          /* [n_rows, F], of models with gated feed-forward blocks, else NULL */
    float *y;               /* [n_rows, D] what a sublayer adds */
    float *qkv;             /* [n_rows, 3D] */

    /* Per member. */
    float *scores; /* [n_members, scores_stride] attention weights of a few rows at a time */
    size_t scores_stride;
    float *logits; /* [n_members, max_rows, MT_SELECT_BLOCK]: one block of the vocabulary */
    struct mt_scored_token *top; /* [n_members, max_rows, top_stride] */
    size_t top_stride;
    uint32_t *order;        /* [n_members, max_rows]: rows that want an output */
    unsigned char *columns; /* [n_members, columns_stride]: of candidates (candidates.h) */
    size_t columns_stride;

    struct mt_block_sum *block_sums; /* [max_rows, n_blocks] */
    size_t n_blocks;                 /* of the vocabulary */
    size_t max_rows;
};

struct mt_workspace_shape {
    const struct mt_hparams *hparams;
    bool is_int8;        /* rows carry their quantised form */
    bool has_candidates; /* rows may have some */
    size_t max_rows, encode_tokens, max_attended, n_members;
};

/* Lays the workspace out in memory, which is borrowed, aligned like an arena's and *n_bytes long at
 * least. NULL: only says how long that is. What is in it need not be zero. MT_LIMIT on overflow. */
MT_MUST_CHECK enum mt_status mt_workspace_lay_out(struct mt_workspace *workspace,
                                                  const struct mt_workspace_shape *shape,
                                                  void *memory, size_t *n_bytes,
                                                  struct mt_error *err);

/* The rows from first_row on, with what is one member's, as the workspace of a member that takes
 * these rows through a pass alone. */
struct mt_workspace mt_workspace_part(const struct mt_workspace *workspace, size_t member,
                                      size_t first_row);

#endif
