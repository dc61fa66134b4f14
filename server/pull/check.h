/*
 * The last look at a model before it takes its place: in a process that can read and compute, and
 * neither write a file nor reach the network, since what a registry has sent is read there for the
 * first time. Whatever it makes that process do, the pull goes on, and says how it ended.
 *
 * Thread-safety: one thread at a time, while no other one runs.
 */
#ifndef MT_SERVER_PULL_CHECK_H
#define MT_SERVER_PULL_CHECK_H

#include "base/status.h"

#include <stdatomic.h>

struct mt_model_options;

/* mt_model_files_check (model_check.h) of a directory or a package. is_cancelled (which may be NULL)
 * ends it: MT_CANCELLED. MT_FORMAT where the process died; MT_IO where there can be none. */
MT_MUST_CHECK enum mt_status mt_pull_check(const char *path, const char *name,
                                           const struct mt_model_options *options,
                                           const atomic_bool *is_cancelled, struct mt_error *err);

#endif
