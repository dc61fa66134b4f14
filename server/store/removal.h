/*
 * Removes a pulled model.
 *
 * Thread-safety: safe, for several processes, too.
 */
#ifndef MT_SERVER_STORE_REMOVAL_H
#define MT_SERVER_STORE_REMOVAL_H

#include "base/status.h"

#include <stdbool.h>

struct mt_stored_model;

/* Removes a model from its models directory by first renaming it to a name that begins with a dot,
 * and then deleting it. Its packed form in the cache (cache_directory may be "") is deleted, too.
 * If a removal is killed, then the next one in that directory deletes the rest. A pull of the same
 * model in progress is not disturbed. MT_FORBIDDEN: the model was not pulled by attentiond pull;
 * MT_IO, MT_NOT_FOUND, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_stored_model_remove(const struct mt_stored_model *model,
                                                    const char *cache_directory,
                                                    struct mt_error *err);

/* Deletes the files of an unfinished pull of that name, ROOT/.pulling/NAME (server/pull/staging.h).
 * *was_there: there were any. MT_BUSY: a pull of it is running; MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_unfinished_pull_remove(const char *root, const char *name,
                                                       bool *was_there, struct mt_error *err);

#endif
