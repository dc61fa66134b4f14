/*
 * Makes an inspection of a finished translation.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_TRANSLATION_H
#define MT_SERVER_INSPECTION_INSPECTION_TRANSLATION_H

#include "server/inspection/inspection.h"

struct mt_model;
struct mt_translation;
struct mt_translation_part;

/* Returns the shape of a model. The strings are borrowed; NULL becomes "". */
struct mt_inspection_model mt_inspection_describe_model(const struct mt_model *model,
                                                        const char *id, const char *source_lang,
                                                        const char *target_lang);

/* Sets the options with which sentences have to be decoded so that they can be inspected: traces,
 * log-probabilities and next tokens. */
void mt_inspection_require(const struct mt_inspection_options *options,
                           struct mt_sentence_options *decoding);

/* Return how many numbers the traces of one sentence, or of all traced ones, take in memory. The
 * result is exact for known targets, and otherwise assumes that they are twice as long as their
 * sources; the log of a search has room for the longest one. */
uint64_t mt_inspection_estimate_part(const struct mt_model *model,
                                     const struct mt_translation_part *part,
                                     const struct mt_inspection_options *options, bool is_forced);
uint64_t mt_inspection_estimate_traced(const struct mt_model *model,
                                       const struct mt_translation *translation,
                                       const struct mt_inspection_options *options, bool is_forced);

/* Returns the estimate for the cross-attention of a sentence that is still to be made. */
uint64_t mt_inspection_estimate_cross(const struct mt_model *model,
                                      const struct mt_inspection_options *options, size_t n_source);

/* Makes the inspection when the sentences of translation have ended; those that were not traced are
 * left out. It borrows the translation: see mt_inspection_keep. Errors of mt_inspection_create. */
MT_MUST_CHECK enum mt_status
mt_inspection_of_translation(const struct mt_model *model, struct mt_translation *translation,
                             const struct mt_inspection_model *description,
                             const struct mt_inspection_options *options, bool is_forced,
                             struct mt_inspection **out, struct mt_error *err);

#endif
