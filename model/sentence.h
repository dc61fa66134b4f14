/*
 * One sentence on its way through a batch: source ids and options in, hypotheses and traces out.
 *
 * All its memory is taken at creation, so nothing fails later for lack of it. A sentence is filled
 * by the batch that it was admitted to; until it is taken back nobody else may look at it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_MODEL_SENTENCE_H
#define MT_MODEL_SENTENCE_H

#include "base/status.h"
#include "model/switches.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_model;
struct mt_sentence;

/* What others may see of a sentence that a batch has. */
enum mt_publish {
    MT_PUBLISH_NOTHING,
    MT_PUBLISH_END,   /* that it has ended */
    MT_PUBLISH_TOKENS /* and before that, the tokens that are certain */
};

/* {0} means the model's defaults. Names as in CTranslate2, with the same meaning unless said
 * otherwise. */
struct mt_sentence_options {
    size_t beam_size;      /* 1 (greedy) to MT_MAX_BEAMS; 0: the model's */
    size_t num_hypotheses; /* 1 to beam_size; 0: 1 */
    bool has_length_penalty;
    float length_penalty; /* score = sum of log-probabilities / length^penalty, length with eos; 0
                             to 10 */
    size_t min_decoding_length; /* generated tokens before eos is allowed */
    size_t max_decoding_length; /* generated tokens, eos included; 0: the model's max_length - 1 */
    /* A further limit: so many generated tokens for each of the source's, and at least
     * MT_LENGTH_FLOOR (Marian's max-length-factor, which knows no least). 0: only what the model's
     * own files say. */
    float max_length_factor;
    bool skips_shortlist; /* any token may be next, though the model has a lexical shortlist; of no
                             effect on a given target, which may hold any */
    bool skips_target_vocabulary; /* likewise of the target's vocabulary */
    const char *target_language;  /* the model's own code, by which that is found; NULL: none said;
                                     not kept */
    bool has_first_target;
    int32_t first_target;         /* what every hypothesis begins with, at no cost, in the place of
                                     the model's forced_bos_token_id: a language's token */
    const int32_t *target_prefix; /* the hypothesis goes on with these; copied */
    size_t n_target_prefix;
    const int32_t
        *forced_target; /* teacher forcing: no search, exactly these, eos included; copied */
    size_t n_forced_target;
    bool skip_scores; /* greedy only: scores and log-probabilities are not computed and read as 0,
                         which saves a pass over the vocabulary per token */
    bool return_logprobs; /* per-token log-probabilities of every hypothesis, whatever skip_scores
                             says */
    size_t n_top;   /* most probable next tokens to report per step of the best hypothesis; 0 to
                          MT_MAX_TOP */
    unsigned trace; /* enum mt_trace_kind or'ed */
    const struct mt_head *switched_off; /* heads that gather nothing: what they would add to their
                                           layer's output is 0; copied */
    size_t n_switched_off;
    bool trace_search;       /* keep what every step of the search weighed: mt_sentence_search */
    enum mt_publish publish; /* what mt_sentence_progress tells before the end */
};

#define MT_MAX_TOP 32

/* Short sentences vary more in length. */
#define MT_LENGTH_FLOOR 30

struct mt_hypothesis {
    const int32_t
        *ids; /* without the start token; ends with eos unless the limit cut it (has_eos) */
    size_t n_ids;
    float score;                 /* sum / n_ids^length_penalty; greedy: mean log-probability */
    const float *token_logprobs; /* log-softmax of each id at its step, 0 of an end that the limit
                                    forced (as transformers counts it). NULL where nobody needed
                                    them: in a greedy search with skip_scores */
    bool has_eos;                /* the model chose to end; false where max_decoding_length did */
};

struct mt_top_token {
    int32_t id;
    float logprob;
};

/* Copies source_ids (n_source >= 1, normally ending in eos; all within the source vocabulary; at
 * most max_positions, else MT_LIMIT). MT_INVALID names an option that is out of range. */
MT_MUST_CHECK enum mt_status mt_sentence_create(const struct mt_model *model,
                                                const int32_t *source_ids, size_t n_source,
                                                const struct mt_sentence_options *options,
                                                struct mt_sentence **out, struct mt_error *err);
void mt_sentence_destroy(struct mt_sentence *sentence);

/* The caller's own pointer, untouched by the batch. */
void mt_sentence_set_user(struct mt_sentence *sentence, void *user);
void *mt_sentence_user(const struct mt_sentence *sentence);

/* It is to end soon: mt_batch_step_short takes it, too. Not while a batch has it. */
void mt_sentence_set_short(struct mt_sentence *sentence);

size_t mt_sentence_n_source(const struct mt_sentence *sentence);
/* Rows of a decoder step that it takes at most: its beam size. */
size_t mt_sentence_n_rows(const struct mt_sentence *sentence);
/* Memory that it takes, from its creation to its end. */
size_t mt_sentence_bytes(const struct mt_sentence *sentence);
/* Generated tokens at most. */
size_t mt_sentence_max_target(const struct mt_sentence *sentence);

/* Results, valid once the batch gave the sentence back. Best first. Pointers are borrowed from the
 * sentence. */
size_t mt_sentence_n_hypotheses(const struct mt_sentence *sentence);
struct mt_hypothesis mt_sentence_hypothesis(const struct mt_sentence *sentence, size_t index);

/* The n_top most probable next tokens at a step of the best hypothesis, most probable first. */
const struct mt_top_token *mt_sentence_top(const struct mt_sentence *sentence, size_t step);

/*
 * How far a sentence is whose options.publish asked for it. The exception to the rule above: any
 * thread may ask, at any time, also while a batch has the sentence.
 */
struct mt_progress {
    const int32_t *ids; /* what the best hypothesis begins with, whatever is still to come: in
                           greedy search all that was chosen, else what all beams and finished
                           hypotheses have in common. Only ever grows; eos is not among them */
    size_t n_ids;       /* 0 without MT_PUBLISH_TOKENS */
    bool has_ended;     /* the results below may be read, though not yet given back */
};
struct mt_progress mt_sentence_progress(const struct mt_sentence *sentence);

/* What became of a continuation that a step of the search weighed. */
enum mt_search_fate {
    MT_SEARCH_KEPT,     /* it is a beam of the next step */
    MT_SEARCH_FINISHED, /* it ended, and was good enough to be a hypothesis */
    MT_SEARCH_DROPPED
};

struct mt_search_candidate {
    int32_t beam; /* the beam that it continues, counted at this step; 0 at the first */
    int32_t next; /* the beam that it becomes at the next step; -1 unless kept */
    int32_t token;
    float logprob; /* of the token */
    float sum;     /* of all its tokens' */
    enum mt_search_fate fate;
};

/* The continuations that step number `step` of the search weighed, best first, at most twice the
 * beam size: *n of them. *n is 0 unless options.trace_search asked for it, at steps of a given
 * prefix, and from the search's end on. */
const struct mt_search_candidate *mt_sentence_search(const struct mt_sentence *sentence,
                                                     size_t step, size_t *n);

/* NULL unless options.trace asked for something. */
const struct mt_trace *mt_sentence_trace(const struct mt_sentence *sentence);

#endif
