/*
 * The names of packed models in the cache directory. A name says which directory the model was in,
 * so that what is left of directories that are gone can be told from what is of use. Thread-safety:
 * safe, for several processes, too.
 */
#ifndef MT_MODEL_FILES_CACHE_FILES_H
#define MT_MODEL_FILES_CACHE_FILES_H

#include "base/status.h"

#include <stddef.h>

/* The path of the packed form of the model in a directory; MT_NOT_FOUND where there is no such
 * directory. The file is named like the directory's path, with %2F for each slash. Where that is
 * too long, the name is the path's end and a hash, and mt_cache_remove_orphans leaves such a file
 * alone. The caller frees *out. */
MT_MUST_CHECK enum mt_status mt_cache_file_path(const char *cache_directory, const char *directory,
                                                char **out, struct mt_error *err);

/* Removes the packed forms, written by this process's user, of directories that are not there any
 * more. Without it, each model that is ever installed under a path of its own would leave one.
 * Returns how many it removed. */
size_t mt_cache_remove_orphans(const char *cache_directory);

/* Removes what processes have left that were killed while they wrote a packed form; what somebody
 * writes now, also another daemon with the same cache, stays. Returns how many it removed. */
size_t mt_cache_remove_leftovers(const char *cache_directory);

#endif
