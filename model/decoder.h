/*
 * The decoder, one step at a time: M rows, each one position of some hypothesis, pass through N
 * layers of masked self-attention, or of a recurrent cell (enum mt_decoder_cell), attention to the source, and feed-forward (Vaswani et al. 2017,
 * section 3.1).
 *
 * Rows of different sentences at different positions share the step. Several rows may be
 * consecutive positions of one hypothesis (a forced prefix, a whole target that is given): the
 * causal mask is that each sees the positions up to its own; a cell takes such rows in their order.
 *
 * What a cell remembers of a hypothesis lies where others have its keys and values, in a cache of
 * one position (mt_decoder_cache_positions): the states behind even positions in the place of the
 * keys, those behind odd ones in that of the values, so that a beam reads the state of the one that
 * it continues, which others may continue, too, while its own is written.
 */
#ifndef MT_MODEL_DECODER_H
#define MT_MODEL_DECODER_H

#include "model/candidates.h"
#include "model/kvcache.h"
#include "model/layers.h"
#include "model/trace.h"
#include "model/workspace.h"

struct mt_model;

/* What the next token may be, after one row. */
struct mt_row_output {
    struct mt_scored_token *top; /* [n_top], by falling logit; suppressed tokens never among them */
    size_t n_top;
    int32_t target_id;  /* in: the token whose logit is wanted, too, or MT_NO_TOKEN */
    float target_logit; /* out */
    float eos_logit;    /* out */
    bool wants_sum;     /* in: log-probabilities are needed, not only the order */
    float log_sum_exp;  /* out: log-probability of a token = its logit - log_sum_exp */
};

struct mt_decoder_row {
    int32_t token;         /* consumed */
    size_t position;       /* 0 for the start token */
    uint16_t slot;         /* its key and value go here */
    const uint16_t *slots; /* [position + 1]: which slot holds each position; the last is slot */
    uint16_t cross_slot;
    size_t n_source;
    struct mt_trace *trace;          /* or NULL */
    const uint8_t *switches;         /* or NULL (switches.h) */
    const struct mt_linear *columns; /* the output layer's, of the candidates; NULL: not kept */
    const struct mt_candidates *candidates; /* of the next token; NULL: any may be */
    struct mt_row_output *output;           /* or NULL: only its keys and values are wanted */
};

/* How many positions the cache of a target of n needs; and how large its numbers are, of which
 * others have element_bytes each. A state is added to at every step: it stays fp32. */
size_t mt_decoder_cache_positions(const struct mt_hparams *hparams, size_t n);
size_t mt_decoder_cache_element_bytes(const struct mt_hparams *hparams, size_t element_bytes);

/* One step. n_rows is at most the workspace's rows; at most the batch's max_rows of them want an
 * output. All members of the team call it with the same arguments. */
void mt_decoder_step(const struct mt_member *me, const struct mt_model *model,
                     const struct mt_workspace *workspace, const struct mt_decoder_row *rows,
                     size_t n_rows, const struct mt_kvcache *self, const struct mt_kvcache *cross);

#endif
