/*
 * Greedy and beam search over one sentence, step by step, by the rules of the model's family:
 *
 *   generate     Hugging Face's (4.55). Each step takes the best 2K of all beams' continuations; a
 *                continuation that ends (eos, or the length limit) and ranks among the best K
 *                enters the pool of hypotheses with score sum / n^length_penalty; the best K that
 *                go on are the next beams. early_stopping determines the end of the search.
 *   ctranslate2  The same, but n does not count eos, at least one token comes before it, and the
 *                search ends once the pool has held K; without length penalty, once the best
 *                continuation of a step has ended and there are as many hypotheses as are wanted.
 *   marian       Each step takes the best K', as many as there are beams (K at first). Those that
 *                end enter the pool with score (sum - n * word_penalty) / n^length_penalty and are
 *                not replaced: the beam shrinks, and the search ends when none is left.
 *
 * The hypotheses form a tree that is never copied: a beam is a node, and its past is the path to
 * the root.
 *
 *   step 0        step 1             step 2
 *   (Das, -1)  <- (Haus, parent 0) <- ...      node = steps[t * K + j]: token, its
 *   (Ein, -1)  <- (Auto, parent 0)             log-probability, parent's j at t - 1
 *
 * Thread-safety: one thread at a time. All memory is taken at init.
 */
#ifndef MT_MODEL_SEARCH_H
#define MT_MODEL_SEARCH_H

#include "base/arena.h"
#include "model/decoder.h"
#include "model/files/hparams.h"
#include "model/sentence.h"

struct mt_search_options {
    size_t n_beams; /* 1: greedy */
    float length_penalty;
    size_t min_length, max_length; /* generated tokens, eos included */
    int32_t eos_id;
    bool force_eos; /* eos is forced at max_length, with log-probability 0 */
    bool renormalize;
    enum mt_early_stopping early_stopping;
    enum mt_search_rules rules;
    float word_penalty;
    size_t n_wanted; /* wanted number of hypotheses */
};

struct mt_node {
    int32_t token;
    int32_t parent; /* beam at the step before, -1 at the first */
    float logprob;  /* of the token, by the model */
};

/* A beam with the sum of its log-probabilities so far; its last token is nodes[(n_generated - 1) *
 * n_beams + its index]. */
struct mt_beam {
    float sum;
    size_t parent; /* the row of the last step that it continues */
};

/* A finished hypothesis: the path to a parent node, and one more token. */
struct mt_finished {
    float score;
    size_t n_tokens;
    int32_t parent; /* beam at step n_tokens - 2 */
    int32_t token;
    float logprob;
    bool has_eos;
};

struct mt_search {
    struct mt_search_options options;
    size_t n_generated;  /* number of tokens in every live beam */
    size_t n_live;       /* number of beams, which are rows of the next step; 1 before the first */
    size_t width;        /* most beams that there may be */
    bool best_has_ended; /* the best continuation of a step has ended */
    struct mt_beam beams[MT_MAX_BEAMS];
    struct mt_node *nodes;                 /* [max_length, n_beams] */
    struct mt_finished pool[MT_MAX_BEAMS]; /* by falling score */
    size_t n_finished;
    bool is_done;
    /* The continuations that each step considered, if they are wanted: [max_length, 2 * n_beams]
     * and [max_length]. */
    struct mt_search_candidate *log;
    uint8_t *log_counts;
};

MT_MUST_CHECK enum mt_status mt_search_init(struct mt_search *search,
                                            const struct mt_search_options *options,
                                            struct mt_arena *arena, struct mt_error *err);

/* Makes the search keep the continuations that it considers. To be called before the first
 * advance. */
MT_MUST_CHECK enum mt_status mt_search_keep_log(struct mt_search *search, struct mt_arena *arena,
                                                struct mt_error *err);

/* Number of candidates that each row has to provide: mt_row_output.n_top. */
size_t mt_search_n_top(const struct mt_search *search);

/* Adds a token of a forced prefix, with its log-probability, instead of choosing one. To be called
 * before the first advance. */
void mt_search_force(struct mt_search *search, int32_t token, float logprob);

/* Takes the outputs of one step, outputs[j] for beam j, and updates the beams: afterwards
 * beams[j].parent is the row of this step that beam j continues, unless is_done. */
void mt_search_advance(struct mt_search *search, const struct mt_row_output *const *outputs);

/* The last token of a live beam. n_generated > 0. */
int32_t mt_search_last_token(const struct mt_search *search, size_t beam);

/* Writes to ids [max_length] the tokens with which every possible hypothesis begins, and returns
 * their number; the first n_known are there already from an earlier call. Must not be called once
 * is_done. */
size_t mt_search_common_prefix(const struct mt_search *search, int32_t *ids, size_t n_known);

/* Writes the tokens of a finished hypothesis to ids [n_tokens] and their log-probabilities. */
void mt_search_path(const struct mt_search *search, const struct mt_finished *finished,
                    int32_t *ids, float *logprobs);

#endif
