/*
 * The inside of a sentence, shared by sentence.c (which creates and reads it) and batch.c (which
 * moves it forward).
 */
#ifndef MT_MODEL_SENTENCE_STATE_H
#define MT_MODEL_SENTENCE_STATE_H

#include "model/search.h"
#include "model/sentence.h"
#include "model/trace_state.h"

#include <stdatomic.h>

/*
 *   WAITING -> [encoder] -> READING -> SEARCHING -> (REVIEWING) -> ENDED
 *
 * READING: the decoder consumes given tokens (start, forced prefix, or the whole of a given
 * target), many positions per step. REVIEWING: the best hypothesis is read once more, as a given
 * target, for its trace and its runners-up.
 */
enum mt_phase { MT_WAITING, MT_READING, MT_SEARCHING, MT_REVIEWING, MT_ENDED };

struct mt_hypothesis_state {
    int32_t *ids;    /* [max_target] */
    float *logprobs; /* [max_target] */
    size_t n_ids;
    float score;
    bool has_eos;
};

struct mt_sentence {
    const struct mt_model *model;
    struct mt_arena *arena;
    void *user;

    int32_t *source;
    size_t n_source;
    /* the candidates are its tokens; NULL: there is none */
    const struct mt_target_vocabulary *vocabulary;
    struct mt_candidates candidates; /* the sentence's own; n 0: any token is allowed */
    size_t n_beams, n_wanted;        /* most rows; number of hypotheses to return */
    size_t max_target;               /* most generated tokens */
    bool is_forced;                  /* the whole target is given */
    bool has_bos;                    /* given[1] follows the start token, not chosen by the model */
    bool is_free;                    /* the options give no tokens of the target */
    bool wants_scores;
    size_t n_top;

    /* The decoder's input: given[0] is the start token; given[i + 1] is the target of position
     * i. */
    int32_t *given; /* [1 + max_target] */
    /* tokens that are read before the search chooses; without the last one of a forced target */
    size_t n_given;
    size_t n_read; /* positions that are done */

    struct mt_search search;
    struct mt_hypothesis_state *hypotheses; /* [n_wanted] */
    size_t n_hypotheses;
    struct mt_top_token *top; /* [max_target, n_top] */
    struct mt_trace *trace;   /* NULL: nothing is traced */
    uint8_t *switches;        /* NULL: no head is switched off (switches.h) */

    /*
     * What other threads may look at. published[0, n) never changes once n was published. n and
     * whether the sentence has ended are one number, stored with release order.
     *
     *   progress = n << 1 | has_ended
     */
    enum mt_publish publish;
    int32_t *published; /* [max_target] with MT_PUBLISH_TOKENS */
    atomic_size_t progress;

    /* Used by the batch. */
    enum mt_phase phase;
    bool is_short;
    uint16_t cross_slot;
    struct mt_linear columns; /* the output layer's columns of the candidates; n_out 0: not kept */
    uint16_t self_slots[MT_MAX_BEAMS]; /* one per beam */
    /* [n_beams, max_target] each: the slot of each of a beam's positions; the other one is scratch
     * for reordering */
    uint16_t *tables[2];
    struct mt_row_output outputs[MT_MAX_BEAMS];
    struct mt_sentence *next, *previous; /* in the batch's list */
};

/* The table of a beam: max_target entries. */
uint16_t *mt_sentence_table(const struct mt_sentence *sentence, size_t beam);

/* Make visible for other threads which tokens are certain, and that the sentence has ended, for
 * which its results must be complete. They do nothing unless options.publish asks for it. */
void mt_sentence_publish_tokens(struct mt_sentence *sentence);
void mt_sentence_publish_end(struct mt_sentence *sentence);

/* Makes the best hypothesis' tokens the given ones, for the review. */
void mt_sentence_collect(struct mt_sentence *sentence);

#endif
