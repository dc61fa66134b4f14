/*
 * Checks a model before it is installed. This is done in a process that can only read and compute,
 * since the files of a registry are parsed here for the first time. If they crash that process,
 * then the pull reports it.
 *
 * Thread-safety: one thread at a time, while no other one runs.
 */
#ifndef MT_SERVER_PULL_CHECK_H
#define MT_SERVER_PULL_CHECK_H

#include "base/status.h"

#include <stdatomic.h>

struct mt_model_options;

/* Runs mt_model_files_check (model_check.h) for a directory or a package. is_cancelled (which may
 * be NULL) ends it: MT_CANCELLED. MT_FORMAT where the process crashed; MT_IO where it could not be
 * started. */
MT_MUST_CHECK enum mt_status mt_pull_check(const char *path, const char *name,
                                           const struct mt_model_options *options,
                                           const atomic_bool *is_cancelled, struct mt_error *err);

#endif
