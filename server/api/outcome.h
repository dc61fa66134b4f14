/*
 * What became of one text of /translate, once its sentences have been decoded: all that the reply
 * says of it, so that neither the passage nor the model that translated it is needed any longer.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_OUTCOME_H
#define MT_SERVER_API_OUTCOME_H

#include "base/json.h"
#include "server/passages/passage.h"

/* Zero-initialise. */
struct mt_outcome {
    struct mt_text *translations;            /* distinct in more than signs, best first */
    float *scores;                           /* of each */
    size_t n;                                /* 0: there is none yet */
    struct mt_text alignment;                /* JSON; empty where none was asked for */
    bool keeps_sentences;                    /* the caller's to set: sentences are wanted */
    struct mt_text sentences;                /* likewise JSON */
    size_t n_source_tokens, n_target_tokens; /* of all models that the text went through */

    struct mt_sentence_pairs *pairs; /* while it is taken: of each translation; NULL: not wanted */
};

/* A text that is its own translation. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_outcome_keep(struct mt_outcome *outcome, const char *bytes,
                                             size_t length, struct mt_error *err);

/* The best translation of a passage that has been decoded, and at most n_alternatives others, in
 * the place of what was there. alignment NULL: none. */
MT_MUST_CHECK enum mt_status mt_outcome_take(struct mt_outcome *outcome, struct mt_passage *passage,
                                             size_t n_alternatives,
                                             const struct mt_alignment_trace *alignment,
                                             struct mt_error *err);

void mt_outcome_finish(struct mt_outcome *outcome);

/* Values, for an object's member or an array. */
void mt_outcome_write_best(struct mt_json_writer *writer, const struct mt_outcome *outcome);
void mt_outcome_write_alternatives(struct mt_json_writer *writer, const struct mt_outcome *outcome);
void mt_outcome_write_scores(struct mt_json_writer *writer, const struct mt_outcome *outcome);
/* Its words' links; none where nothing was translated. */
void mt_outcome_write_alignment(struct mt_json_writer *writer, const struct mt_outcome *outcome);
/* Its sentences, and what else each might have become; none where nothing was translated, or where
 * the best translation is no well-formed UTF-8. */
void mt_outcome_write_sentences(struct mt_json_writer *writer, const struct mt_outcome *outcome);

#endif
