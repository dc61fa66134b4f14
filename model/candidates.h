/*
 * What a sentence may be translated to where the model has a lexical shortlist: the words that are
 * frequent, and those that the words of its source are likely to become. Or where it has a
 * vocabulary of the target's language (target_vocabularies.h): its tokens. Only their logits are
 * computed, and probabilities are among them.
 *
 * They depend on the sentence alone, and not on those beside it in a batch, as Marian's do: the same
 * text has the same translation wherever it is translated.
 *
 * Thread-safety: functions are safe; candidates are immutable once made.
 */
#ifndef MT_MODEL_CANDIDATES_H
#define MT_MODEL_CANDIDATES_H

#include "base/arena.h"
#include "model/files/weights.h"

struct mt_model;

struct mt_candidates {
    const int32_t *ids; /* [n], rising */
    size_t n;           /* 0: there are none, and every token is one */
};

/* For a source, as Marian makes them: the shortlist's first ids, what it has for each of the source's
 * tokens, those tokens themselves where both sides have one vocabulary, and as many of the lowest
 * other ids as make it a multiple of 8. And eos, and the ids that are to be written whatever the
 * shortlist says. The model must have a shortlist; the ids live in the arena. */
MT_MUST_CHECK enum mt_status mt_candidates_make(const struct mt_model *model, const int32_t *source,
                                                size_t n_source, const int32_t *given,
                                                size_t n_given, struct mt_arena *arena,
                                                struct mt_candidates *out, struct mt_error *err);

/* Others, and those that are to be written whatever they say. */
MT_MUST_CHECK enum mt_status mt_candidates_join(const struct mt_model *model,
                                                const struct mt_candidates *others,
                                                const int32_t *given, size_t n_given,
                                                struct mt_arena *arena, struct mt_candidates *out,
                                                struct mt_error *err);

/* So many candidates most sentences have at most: a batch keeps the columns of theirs, which are
 * gathered anew at every step for others. */
#define MT_CANDIDATES_KEPT 2048

/* Where the model has a shortlist, the output layer's columns a second time, each by itself: as packed,
 * one is scattered over a page or more, and gathering those of a sentence took a fifth of the time that
 * a small model has for it. As many bytes as the packed ones, in the model's arena. fp32 has them so
 * anyway. */
MT_MUST_CHECK enum mt_status mt_candidates_lay_out(struct mt_model *model, struct mt_error *err);

/* The output layer's columns of n ids as a layer of its own, in memory of the caller's: so many bytes,
 * aligned as an arena's. */
size_t mt_candidates_columns_bytes(size_t n, size_t d_model, bool is_int8);
struct mt_linear mt_candidates_columns(const struct mt_model *model, const int32_t *ids, size_t n,
                                       void *memory);

#endif
