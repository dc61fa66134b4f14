/*
 * Checks whether a model could be served, before it replaces a model that works.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_MODEL_CHECK_H
#define MT_SERVER_MODELS_MODEL_CHECK_H

#include "base/status.h"

struct mt_alignment_choice;
struct mt_model;
struct mt_model_defaults;
struct mt_model_options;

/* Checks everything that loading checks, with the same messages, except the warm-up; nothing is
 * packed or kept in memory. This includes documents and languages, attentiond.json, and the name,
 * shape and numbers of every tensor. Each file is read once; a family that has to be converted
 * (model/files/source.h) takes the memory for that. Languages may be read from name
 * (model_profile.h). Of options only precision and kernels are used. */
MT_MUST_CHECK enum mt_status mt_model_files_check(const char *path, const char *name,
                                                  const struct mt_model_options *options,
                                                  struct mt_error *err);

/* Checks whether this model supports what attentiond.json demands, and returns its alignment, or
 * the default one where none is named. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_model_defaults_check(const struct mt_model_defaults *defaults,
                                                     const struct mt_model *model,
                                                     struct mt_alignment_choice *out,
                                                     struct mt_error *err);

#endif
