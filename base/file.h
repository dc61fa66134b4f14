/*
 * Files: read-only mappings of large ones, and reading of small ones.
 */
#ifndef MT_BASE_FILE_H
#define MT_BASE_FILE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* How a large file is loaded. */
enum mt_load_mode {
    /* the file is mapped: it needs no private memory, and is shared with other processes */
    MT_LOAD_MMAP,
    MT_LOAD_COPY, /* a sealed copy, which cannot change, whatever happens to the file */
};

struct mt_mapping_watch;

struct mt_mapping {
    const unsigned char *bytes; /* page-aligned; NULL for an empty file */
    size_t length;
    struct mt_mapping_watch *watch; /* for a mapped file; NULL: there is nothing to watch */
};

/*
 * Maps a regular file, or a copy of it, read-only. The mapping stays valid after the file is
 * unlinked or replaced by rename. A weight file should never be changed in place
 * (weights/README.md). If that happens, mt_mapping_check reports it, and with mt_fault_install
 * (fault.h) reading the truncated part gives zeros instead of SIGBUS. A copy fails with MT_IO if
 * the file changes meanwhile. MT_FORMAT: the file is only a Git LFS pointer. Thread-safety: the
 * mapping is immutable.
 */
MT_MUST_CHECK enum mt_status mt_mapping_open(const char *path, enum mt_load_mode mode,
                                             struct mt_mapping *out, struct mt_error *err);

/* Whether the file is unchanged since it was mapped: its size and the time of its last change are
 * checked, with one system call. MT_IO tells what happened to it, and is then returned by every
 * call. */
MT_MUST_CHECK enum mt_status mt_mapping_check(const struct mt_mapping *mapping,
                                              struct mt_error *err);

/* A zeroed or already closed mapping is allowed. */
void mt_mapping_close(struct mt_mapping *mapping);

/* Reads a regular file of at most limit_bytes into *out, which is malloc'd, freed by the caller,
 * and NUL-terminated behind *out_length. */
MT_MUST_CHECK enum mt_status mt_file_read(const char *path, size_t limit_bytes, char **out,
                                          size_t *out_length, struct mt_error *err);

/* The mode of files that are written. */
#define MT_FILE_MODE 0644

/* Writes the file under a temporary name in the same directory, syncs it and renames it to path:
 * nobody ever sees an incomplete file, and a failure leaves the previous one. Temporary files for
 * the same path whose writers were killed are removed. */
MT_MUST_CHECK enum mt_status mt_file_write(const char *path, const void *bytes, size_t length,
                                           struct mt_error *err);

/* Writes as mt_file_write does. MT_CANCELLED, with nothing left behind, if *is_cancelled becomes
 * true meanwhile. Syncing is not interrupted. is_cancelled NULL: it is never cancelled. */
MT_MUST_CHECK enum mt_status mt_file_write_unless(const atomic_bool *is_cancelled, const char *path,
                                                  const void *bytes, size_t length,
                                                  struct mt_error *err);

/* For the name of a temporary file, returns the length of the name that the file was to get; 0: it
 * is another file. */
size_t mt_file_temporary_length(const char *name);
/* Removes a temporary file from a directory, unless a process still writes it, which its lock
 * tells. Returns whether it is gone. */
bool mt_file_remove_leftover(int directory, const char *name);

/* Joins directory and name with one '/', malloc'd. */
MT_MUST_CHECK enum mt_status mt_path_join(const char *directory, const char *name, char **out,
                                          struct mt_error *err);

/* Creates the directories like mkdir -p. A failure shows when something is written there. */
void mt_make_directories(const char *path);

/* MT_OK if path names something that exists, MT_NOT_FOUND if not, without a message. */
enum mt_status mt_path_exists(const char *path);

/* Whether something of that name, or a regular file, exists in the directory. They allocate no
 * memory, so that a lack of it cannot make a file seem missing. */
bool mt_path_holds(const char *directory, const char *name);
bool mt_path_holds_file(const char *directory, const char *name);

/* Returns "regular file", "directory", "FIFO", ..., for messages. */
const char *mt_file_kind(mode_t mode);

/* Returns the status for errno, with the message "PATH: cannot VERB: ...": MT_NOT_FOUND, MT_MEMORY
 * or MT_IO. */
enum mt_status mt_fail_errno(struct mt_error *err, const char *path, const char *verb);

#endif
