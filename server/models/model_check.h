/*
 * Whether a model could be served: the last look at what is to take the place of something good.
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

/* Everything that loading looks at, in its own words, but for the warm-up, and nothing is packed or
 * kept: documents and languages, attentiond.json, the name, shape and numbers of every tensor. Reads
 * each file once, and takes the memory of a family's conversion (model/files/source.h). name: what
 * the languages may be read from (model_profile.h). Of options, precision and kernels count. */
MT_MUST_CHECK enum mt_status mt_model_files_check(const char *path, const char *name,
                                                  const struct mt_model_options *options,
                                                  struct mt_error *err);

/* Whether what attentiond.json says is something that this model can do, and the alignment that it
 * names: the default one where it names none. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_model_defaults_check(const struct mt_model_defaults *defaults,
                                                     const struct mt_model *model,
                                                     struct mt_alignment_choice *out,
                                                     struct mt_error *err);

#endif
