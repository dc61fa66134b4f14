/*
 * The decoder, one step at a time: M rows, each one position of a hypothesis, pass through N layers
 * of masked self-attention or a recurrent cell (enum mt_decoder_cell), attention to the source, and
 * feed-forward (Vaswani et al. 2017, section 3.1).
 *
 * Rows of different sentences at different positions share the step. Several rows may be
 * consecutive positions of one hypothesis (a forced prefix, or a given target): the causal mask is
 * that each sees the positions up to its own; a cell takes such rows in order.
 *
 * The state of a cell is stored where other decoders have keys and values, in a cache of one
 * position (mt_decoder_cache_positions): states after even positions in the place of the keys,
 * states after odd ones in that of the values. So a beam can read the state of the beam that it
 * continues, which others may continue, too, while its own is written.
 */
#ifndef MT_MODEL_DECODER_H
#define MT_MODEL_DECODER_H

#include "model/candidates.h"
#include "model/kvcache.h"
#include "model/layers.h"
#include "model/trace.h"
#include "model/workspace.h"

struct mt_model;

/* What the model says about the next token, after one row. */
struct mt_row_output {
    struct mt_scored_token *top; /* [n_top], by falling logit; without suppressed tokens */
    size_t n_top;
    int32_t target_id;  /* input: another token whose logit is wanted, or MT_NO_TOKEN */
    float target_logit; /* output */
    float eos_logit;    /* output */
    bool wants_sum;     /* input: log-probabilities are needed, not only the order */
    float log_sum_exp;  /* output: log-probability of a token = its logit - log_sum_exp */
};

struct mt_decoder_row {
    int32_t token;         /* input token */
    size_t position;       /* 0 for the start token */
    uint16_t slot;         /* slot for its key and value */
    const uint16_t *slots; /* [position + 1]: which slot holds each position; the last is slot */
    uint16_t cross_slot;
    size_t n_source;
    struct mt_trace *trace;  /* or NULL */
    const uint8_t *switches; /* or NULL (switches.h) */
    /* the output layer's columns of the candidates; NULL: not kept */
    const struct mt_linear *columns;
    const struct mt_candidates *candidates; /* for the next token; NULL: any token is allowed */
    struct mt_row_output *output;           /* NULL: only its keys and values are needed */
};

/* Return how many positions the cache needs for a target of n, and how many bytes its numbers have,
 * if those of other decoders have element_bytes. States are fp32, because every step adds to
 * them. */
size_t mt_decoder_cache_positions(const struct mt_hparams *hparams, size_t n);
size_t mt_decoder_cache_element_bytes(const struct mt_hparams *hparams, size_t element_bytes);

/* Runs one step. n_rows is at most the workspace's rows, and at most the batch's max_rows of them
 * want an output. All members of the team call it with the same arguments. */
void mt_decoder_step(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_workspace *workspace, const struct mt_decoder_row *rows,
                     size_t n_rows, const struct mt_kvcache *self, const struct mt_kvcache *cross);

#endif
