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
 * target), many positions per step. REVIEWING: the winner is read once more, as a given target, for
 * its trace and its runners-up.
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
    const struct mt_target_vocabulary *vocabulary; /* whose tokens are candidates; NULL: none */
    struct mt_candidates candidates; /* of its own; n 0: any token of the vocabulary is one */
    size_t n_beams, n_wanted;        /* rows at most; hypotheses to report */
    size_t max_target;               /* generated tokens at most */
    bool is_forced;                  /* the whole target is given */
    bool has_bos;                    /* given[1] is no choice */
    bool is_free;                    /* the options give nothing of the target */
    bool wants_scores;
    size_t n_top;

    /* What the decoder reads: given[0] is the start token; given[i + 1] is the target of position
     * i. */
    int32_t *given; /* [1 + max_target] */
    size_t n_given; /* tokens read before the search chooses; without a forced target's last */
    size_t n_read;  /* positions done */

    struct mt_search search;
    struct mt_hypothesis_state *hypotheses; /* [n_wanted] */
    size_t n_hypotheses;
    struct mt_top_token *top; /* [max_target, n_top] */
    struct mt_trace *trace;   /* NULL: nothing is traced */
    uint8_t *switches;        /* NULL: no head is switched off (switches.h) */

    /*
     * What other threads may look at: settled[0, n) never changes once n was published, n and
     * whether the sentence has ended travel in one number, stored with release order.
     *
     *   progress = n << 1 | has_ended
     */
    enum mt_publish publish;
    int32_t *settled; /* [max_target] with MT_PUBLISH_TOKENS */
    atomic_size_t progress;

    /* The batch's part. */
    enum mt_phase phase;
    bool is_short;
    uint16_t cross_slot;
    struct mt_linear columns; /* the output layer's, of the candidates; n_out 0: not kept */
    uint16_t self_slots[MT_MAX_BEAMS]; /* one per beam */
    uint16_t *tables[2]; /* [n_beams, max_target] each: which slot holds a beam's positions; the
                            other is the scratch of reordering */
    struct mt_row_output outputs[MT_MAX_BEAMS];
    struct mt_sentence *next, *previous; /* in the batch's list */
};

/* The table of a beam: max_target entries. */
uint16_t *mt_sentence_table(const struct mt_sentence *sentence, size_t beam);

/* Lets other threads see what the search has settled so far; and that the sentence has ended, for
 * which its results must be complete. Nothing happens where options.publish did not ask. */
void mt_sentence_publish_tokens(struct mt_sentence *sentence);
void mt_sentence_publish_end(struct mt_sentence *sentence);

/* The winner's tokens become the given ones, for the review. */
void mt_sentence_collect(struct mt_sentence *sentence);

#endif
