/*
 * Removing a pulled model.
 *
 * Thread-safety: safe, for several processes, too.
 */
#ifndef MT_SERVER_STORE_REMOVAL_H
#define MT_SERVER_STORE_REMOVAL_H

#include "base/status.h"

#include <stdbool.h>

struct mt_stored_model;

/* Takes a model out of its models directory at once, by renaming it to a name that begins with a
 * dot, and then deletes it; its packed form in the cache (cache_directory may be "") goes as well.
 * What a removal left that was killed is deleted by the next one there. A pull of the model that is
 * under way is not disturbed. MT_FORBIDDEN: attentiond pull has not put it there; MT_IO,
 * MT_NOT_FOUND, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_stored_model_remove(const struct mt_stored_model *model,
                                                    const char *cache_directory,
                                                    struct mt_error *err);

/* Deletes what a pull of that name has fetched and nobody goes on with, ROOT/.pulling/NAME
 * (server/pull/staging.h); *was_there says whether there was any. MT_BUSY: somebody pulls it now;
 * MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_unfinished_pull_remove(const char *root, const char *name,
                                                       bool *was_there, struct mt_error *err);

#endif
