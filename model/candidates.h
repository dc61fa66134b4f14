/*
 * The tokens that a sentence's translation may have, if the model has a lexical shortlist: frequent
 * words, and those that the words of its source are likely to become. Or, if the model has a
 * vocabulary of the target language (target_vocabularies.h), the tokens of that. Only their logits
 * are computed, and probabilities are relative to them.
 *
 * They depend only on the sentence, and not, as in Marian, on the other sentences of the batch: the
 * same text always has the same translation.
 *
 * Thread-safety: functions are safe; candidates are immutable once made.
 */
#ifndef MT_MODEL_CANDIDATES_H
#define MT_MODEL_CANDIDATES_H

#include "base/arena.h"
#include "model/files/weights.h"

struct mt_model;

struct mt_candidates {
    const int32_t *ids; /* [n], ascending */
    size_t n;           /* 0: there are no candidates, and every token is allowed */
};

/* Makes the candidates for a source, as Marian does: the shortlist's first ids, its entries for
 * each of the source's tokens, those tokens themselves if both sides have one vocabulary, and as
 * many of the lowest other ids as make their number a multiple of 8. eos and the given ids are
 * always added. The model must have a shortlist; the ids live in the arena. */
MT_MUST_CHECK enum mt_status mt_candidates_make(const struct mt_model *model, const int32_t *source,
                                                size_t n_source, const int32_t *given,
                                                size_t n_given, struct mt_arena *arena,
                                                struct mt_candidates *out, struct mt_error *err);

/* Makes candidates of others and the given ids. */
MT_MUST_CHECK enum mt_status mt_candidates_join(const struct mt_model *model,
                                                const struct mt_candidates *others,
                                                const int32_t *given, size_t n_given,
                                                struct mt_arena *arena, struct mt_candidates *out,
                                                struct mt_error *err);

/* Most candidates for which a batch keeps the columns of the output layer; most sentences have
 * fewer. The columns for others are gathered again at every step. */
#define MT_MAX_CACHED_CANDIDATES 2048

/* If the model has a shortlist, stores the output layer's columns a second time, each one
 * contiguous. In the packed form a column is scattered over at least a page, and gathering those of
 * a sentence took a fifth of a small model's time for it. The copy has as many bytes as the packed
 * form, in the model's arena. fp32 columns are contiguous anyway. */
MT_MUST_CHECK enum mt_status mt_candidates_lay_out(struct mt_model *model, struct mt_error *err);

/* Makes a layer of the output layer's columns of n ids, in the caller's memory, which has the size
 * that the first function returns and is aligned like an arena's. */
size_t mt_candidates_columns_bytes(size_t n, size_t d_model, bool is_int8);
struct mt_linear mt_candidates_columns(const struct mt_model *model, const int32_t *ids, size_t n,
                                       void *memory);

#endif
