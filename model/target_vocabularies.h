/*
 * The target vocabularies of a model (model/files/target_vocabulary.h), each with a copy of its
 * tokens' columns of the output layer, because these are scattered there.
 *
 * Thread-safety: immutable once open.
 */
#ifndef MT_MODEL_TARGET_VOCABULARIES_H
#define MT_MODEL_TARGET_VOCABULARIES_H

#include "model/candidates.h"
#include "model/files/source.h"

struct mt_target_vocabulary {
    const char *language; /* the model's own code; NULL: any language */
    struct mt_candidates allowed;
    struct mt_linear columns;
};

/* Opens the vocabularies that are beside the weights, into the model's arena. The tokenizer and the
 * weights are already open. */
MT_MUST_CHECK enum mt_status mt_target_vocabularies_open(struct mt_model *model,
                                                         const struct mt_source *source,
                                                         struct mt_error *err);

/* Returns the vocabulary of a target language, which is given by the model's own code or NULL; NULL
 * if there is none. */
const struct mt_target_vocabulary *mt_target_vocabulary_of(const struct mt_model *model,
                                                           const char *language);

/* Whether all of the ids are allowed. */
bool mt_target_vocabulary_has(const struct mt_target_vocabulary *vocabulary, const int32_t *ids,
                              size_t n);

#endif
