/*
 * Which layers and heads of a model stand for the alignment of words.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_MODEL_ALIGNMENT_H
#define MT_SERVER_MODELS_MODEL_ALIGNMENT_H

#include "server/inspection/inspection_request.h"

struct mt_loaded_model;

/* What mt_alignment_of_settings gives (inspection_request.h), under what the model's own
 * attentiond.json says of them. Settings for a model with more layers or heads than
 * this one leave it both as they are by default. */
MT_MUST_CHECK enum mt_status mt_alignment_of_model(const struct mt_settings *settings,
                                                   const struct mt_loaded_model *model,
                                                   struct mt_alignment_choice *out,
                                                   struct mt_error *err);

#endif
