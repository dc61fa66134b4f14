/*
 * The result of one text of /translate, once its sentences have been decoded: everything that the
 * reply contains about it, so that neither the passage nor the model is needed any longer.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_OUTCOME_H
#define MT_SERVER_API_OUTCOME_H

#include "base/json.h"
#include "server/passages/passage.h"

/* Has to be zero-initialised. */
struct mt_outcome {
    struct mt_text *translations;            /* they differ in more than punctuation; best first */
    float *scores;                           /* of each */
    size_t n;                                /* 0: there is no result yet */
    struct mt_text alignment;                /* JSON; empty where none was requested */
    bool keeps_sentences;                    /* set by the caller: sentences are requested */
    struct mt_text sentences;                /* JSON; empty where none were requested */
    size_t n_source_tokens, n_target_tokens; /* of all models that translated the text */

    /* one list for each translation, only in mt_outcome_take; NULL: not requested */
    struct mt_sentence_pairs *pairs;
};

/* Takes a text that is its own translation. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_outcome_keep(struct mt_outcome *outcome, const char *bytes,
                                             size_t length, struct mt_error *err);

/* Takes the best translation of a passage that has been decoded, and at most n_alternatives others,
 * and replaces the previous result. alignment NULL: none. */
MT_MUST_CHECK enum mt_status mt_outcome_take(struct mt_outcome *outcome, struct mt_passage *passage,
                                             size_t n_alternatives,
                                             const struct mt_alignment_trace *alignment,
                                             struct mt_error *err);

void mt_outcome_finish(struct mt_outcome *outcome);

/* Write values, for an object's member or an array. */
void mt_outcome_write_best(struct mt_json_writer *writer, const struct mt_outcome *outcome);
void mt_outcome_write_alternatives(struct mt_json_writer *writer, const struct mt_outcome *outcome);
void mt_outcome_write_scores(struct mt_json_writer *writer, const struct mt_outcome *outcome);
/* Writes the links of its words; none where nothing was translated. */
void mt_outcome_write_alignment(struct mt_json_writer *writer, const struct mt_outcome *outcome);
/* Writes its sentences and the alternatives of each; none where nothing was translated, or where
 * the best translation is not well-formed UTF-8. */
void mt_outcome_write_sentences(struct mt_json_writer *writer, const struct mt_outcome *outcome);

#endif
