/*
 * One sentence to be translated by a batch: it gets source ids and options, and returns hypotheses
 * and traces. All its memory is allocated at creation, so that nothing fails later for lack of it.
 * The batch that it was admitted to fills it; until it is taken back nobody else may look at it.
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

/* What other threads may see of a sentence that is in a batch. */
enum mt_publish {
    MT_PUBLISH_NOTHING,
    MT_PUBLISH_END,   /* that it has ended */
    MT_PUBLISH_TOKENS /* the same, and before that the tokens that are certain */
};

/* {0} means the model's defaults. The names are CTranslate2's, with the same meaning unless said
 * otherwise. */
struct mt_sentence_options {
    size_t beam_size;      /* 1 (greedy) to MT_MAX_BEAMS; 0: the model's */
    size_t num_hypotheses; /* 1 to beam_size; 0: 1 */
    bool has_length_penalty;
    float length_penalty; /* score = sum of log-probabilities / length^penalty, length with eos; 0
                             to 10 */
    size_t min_decoding_length; /* generated tokens before eos is allowed */
    size_t max_decoding_length; /* generated tokens, eos included; 0: the model's max_length - 1 */
    /* A further limit: most generated tokens for each source token, but at least MT_LENGTH_FLOOR
     * (Marian's max-length-factor, which has no minimum). 0: only the limit in the model's own
     * files. */
    float max_length_factor;
    /* any token is allowed even if the model has a lexical shortlist; without effect on a given
     * target, which may have any token */
    bool skips_shortlist;
    bool skips_target_vocabulary; /* the same for the target's vocabulary */
    /* the model's own code, which selects that vocabulary; NULL: unknown; not kept */
    const char *target_language;
    bool has_first_target;
    /* first token of every hypothesis, which does not count for the score, instead of the model's
     * forced_bos_token_id: a language's token */
    int32_t first_target;
    const int32_t *target_prefix; /* next tokens of the hypothesis; copied */
    size_t n_target_prefix;
    const int32_t
        /* teacher forcing: exactly these tokens, including eos, are taken without a search;
         * copied */
        *forced_target;
    size_t n_forced_target;
    bool skip_scores; /* greedy only: scores and log-probabilities are not computed and read as 0,
                         which saves a pass over the vocabulary per token */
    /* per-token log-probabilities of every hypothesis, regardless of skip_scores */
    bool return_logprobs;
    size_t n_top;   /* most probable next tokens to report per step of the best hypothesis; 0 to
                          MT_MAX_TOP */
    unsigned trace; /* enum mt_trace_kind or'ed */
    struct mt_kept_heads kept_heads;    /* copied */
    const struct mt_head *switched_off; /* heads whose output is replaced by 0; copied */
    size_t n_switched_off;
    /* keeps the continuations that every step of the search considered: mt_sentence_search */
    bool trace_search;
    enum mt_publish publish; /* what mt_sentence_progress reports before the end */
};

#define MT_MAX_TOP 32

/* A least number of tokens, because the length of short sentences varies more. */
#define MT_LENGTH_FLOOR 30

struct mt_hypothesis {
    const int32_t
        *ids; /* without the start token; ends with eos unless the limit cut it (has_eos) */
    size_t n_ids;
    float score; /* sum / n_ids^length_penalty; greedy: mean log-probability */
    /* log-softmax of each id at its step, 0 for an end that the limit forced (as transformers
     * counts it). NULL if they were not needed: in a greedy search with skip_scores */
    const float *token_logprobs;
    /* the model chose to end; false if max_decoding_length was reached */
    bool has_eos;
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

/* A pointer of the caller's, which the batch does not use. */
void mt_sentence_set_user(struct mt_sentence *sentence, void *user);
void *mt_sentence_user(const struct mt_sentence *sentence);

/* Marks the sentence as short: mt_batch_step_short steps it, too. Not while it is in a batch. */
void mt_sentence_set_short(struct mt_sentence *sentence);

size_t mt_sentence_n_source(const struct mt_sentence *sentence);
/* Most rows of a decoder step that it takes: its beam size. */
size_t mt_sentence_n_rows(const struct mt_sentence *sentence);
/* Memory that it takes during its whole life. */
size_t mt_sentence_bytes(const struct mt_sentence *sentence);
/* Most generated tokens. */
size_t mt_sentence_max_target(const struct mt_sentence *sentence);

/* The results, which are valid once the batch has returned the sentence. Best first. Pointers are
 * borrowed from the sentence. */
size_t mt_sentence_n_hypotheses(const struct mt_sentence *sentence);
struct mt_hypothesis mt_sentence_hypothesis(const struct mt_sentence *sentence, size_t index);

/* The n_top most probable next tokens at a step of the best hypothesis, most probable first. */
const struct mt_top_token *mt_sentence_top(const struct mt_sentence *sentence, size_t step);

/*
 * The progress of a sentence whose options.publish asked for it. This is the exception to the rule
 * above: any thread may ask at any time, also while the sentence is in a batch.
 */
struct mt_progress {
    /* tokens with which the best hypothesis will certainly begin: in greedy search all that were
     * chosen, otherwise those that all beams and finished hypotheses have in common. The list only
     * grows, and eos is not in it */
    const int32_t *ids;
    size_t n_ids;   /* 0 without MT_PUBLISH_TOKENS */
    bool has_ended; /* the results may be read, even if the sentence was not returned yet */
};
struct mt_progress mt_sentence_progress(const struct mt_sentence *sentence);

/* What was done with a continuation that a step of the search considered. */
enum mt_search_fate {
    MT_SEARCH_KEPT,     /* it is a beam of the next step */
    MT_SEARCH_FINISHED, /* it ended, and ranked high enough to become a hypothesis */
    MT_SEARCH_DROPPED
};

struct mt_search_candidate {
    int32_t beam; /* the beam that it continues, counted at this step; 0 at the first */
    int32_t next; /* the beam that it becomes at the next step; -1 unless kept */
    int32_t token;
    float logprob; /* of the token */
    float sum;     /* of all its tokens */
    enum mt_search_fate fate;
};

/* Returns the *n continuations that step number `step` of the search considered, best first, at
 * most twice the beam size. *n is 0 unless options.trace_search is set, at steps of a given prefix,
 * and after the search's end. */
const struct mt_search_candidate *mt_sentence_search(const struct mt_sentence *sentence,
                                                     size_t step, size_t *n);

/* Returns NULL unless options.trace asked for something. */
const struct mt_trace *mt_sentence_trace(const struct mt_sentence *sentence);

#endif
