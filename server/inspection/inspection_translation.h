/*
 * From a translation that has run to an inspection of it.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_TRANSLATION_H
#define MT_SERVER_INSPECTION_INSPECTION_TRANSLATION_H

#include "server/inspection/inspection.h"

struct mt_model;
struct mt_translation;
struct mt_translation_part;

/* The shape of a model. The strings are borrowed; NULL is "". */
struct mt_inspection_model mt_inspection_describe_model(const struct mt_model *model,
                                                        const char *id, const char *source_lang,
                                                        const char *target_lang);

/* What the sentences must be decoded with, so that they can be inspected: traces, log-probabilities
 * and next tokens. */
void mt_inspection_require(const struct mt_inspection_options *options,
                           struct mt_sentence_options *decoding);

/* Numbers that tracing one sentence, or all that are traced, takes in memory: exact for what is known, and
 * for targets twice as long as their sources where they are still to be found; the log of a search
 * has room for the longest. */
uint64_t mt_inspection_estimate_part(const struct mt_model *model,
                                     const struct mt_translation_part *part,
                                     const struct mt_inspection_options *options, bool is_forced);
uint64_t mt_inspection_estimate_traced(const struct mt_model *model,
                                       const struct mt_translation *translation,
                                       const struct mt_inspection_options *options, bool is_forced);

/* The estimate for a sentence that is still to be made, of its cross-attention alone. */
uint64_t mt_inspection_estimate_cross(const struct mt_model *model, size_t n_source);

/* The sentences of translation have ended; those that were not traced are left out. The inspection borrows the translation: see
 * mt_inspection_keep. Errors: mt_inspection_create's. */
MT_MUST_CHECK enum mt_status
mt_inspection_of_translation(const struct mt_model *model, struct mt_translation *translation,
                             const struct mt_inspection_model *description,
                             const struct mt_inspection_options *options, bool is_forced,
                             struct mt_inspection **out, struct mt_error *err);

#endif
