/*
 * The names of packed models in the cache directory. A name tells which directory the model was in,
 * so that files for directories that no longer exist can be found. Thread-safety: safe, for several
 * processes, too.
 */
#ifndef MT_MODEL_FILES_CACHE_FILES_H
#define MT_MODEL_FILES_CACHE_FILES_H

#include "base/status.h"

#include <stddef.h>

/* Returns the path for the packed form of the model in a directory; MT_NOT_FOUND if that does not
 * exist. The file is named after the directory's path, with %2F for each slash. If that is too
 * long, the name is the path's end and a hash, and mt_cache_remove_orphans ignores such a file. The
 * caller frees *out. */
MT_MUST_CHECK enum mt_status mt_cache_file_path(const char *cache_directory, const char *directory,
                                                char **out, struct mt_error *err);

/* Removes the packed forms of directories that no longer exist, if this process's user wrote them.
 * Otherwise each model that was ever installed under a path of its own would leave one. Returns how
 * many it removed. */
size_t mt_cache_remove_orphans(const char *cache_directory);

/* Removes files of processes that were killed while they wrote a packed form. Files that a process
 * is writing now, which may be another daemon with the same cache, stay. Returns how many it
 * removed. */
size_t mt_cache_remove_leftovers(const char *cache_directory);

#endif
