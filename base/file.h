/*
 * Files: read-only mappings of large ones, whole reads of small ones.
 */
#ifndef MT_BASE_FILE_H
#define MT_BASE_FILE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* How a large file gets into memory. */
enum mt_load_mode {
    MT_LOAD_MMAP, /* the file itself, mapped: no memory of its own, shared with other processes */
    MT_LOAD_COPY, /* a sealed copy: nobody can change it, whatever happens to the file */
};

struct mt_mapping_watch;

struct mt_mapping {
    const unsigned char *bytes; /* page-aligned; NULL for an empty file */
    size_t length;
    struct mt_mapping_watch *watch; /* of a mapped file; NULL: there is nothing to watch */
};

/*
 * Maps a regular file, or a copy of it, read-only. The mapping stays valid after the file is
 * unlinked or replaced by rename. A weight file is never changed in place (weights/README.md);
 * where it is all the same, mt_mapping_check tells, and with mt_fault_install (fault.h) reading
 * what was cut off gives zeros instead of SIGBUS. A copy fails with MT_IO where the file changes
 * meanwhile. MT_FORMAT: only a Git LFS pointer is there. Thread-safety: the mapping is immutable.
 */
MT_MUST_CHECK enum mt_status mt_mapping_open(const char *path, enum mt_load_mode mode,
                                             struct mt_mapping *out, struct mt_error *err);

/* Whether the file is still what was mapped: its size and the time of its last change are looked
 * at, which costs a system call. MT_IO says what happened to it; it stays so. */
MT_MUST_CHECK enum mt_status mt_mapping_check(const struct mt_mapping *mapping,
                                              struct mt_error *err);

/* Takes a zeroed or already closed mapping. */
void mt_mapping_close(struct mt_mapping *mapping);

/* The whole of a regular file of at most limit_bytes in *out: malloc'd, the caller frees it,
 * NUL-terminated behind *out_length. */
MT_MUST_CHECK enum mt_status mt_file_read(const char *path, size_t limit_bytes, char **out,
                                          size_t *out_length, struct mt_error *err);

/* The mode of files that are written. */
#define MT_FILE_MODE 0644

/* Writes the file under a temporary name in the same directory, syncs it and renames it to path:
 * nobody ever sees half of it, and a failure leaves what was there. What former writers of the same
 * path left, because they were killed, is removed. */
MT_MUST_CHECK enum mt_status mt_file_write(const char *path, const void *bytes, size_t length,
                                           struct mt_error *err);

/* Likewise; MT_CANCELLED, with nothing left behind, where *is_cancelled becomes true meanwhile. The
 * disk is waited for all the same. NULL: it never does. */
MT_MUST_CHECK enum mt_status mt_file_write_unless(const atomic_bool *is_cancelled, const char *path,
                                                  const void *bytes, size_t length,
                                                  struct mt_error *err);

/* What writers leave that are killed: of the name of a temporary file, as many bytes as are the
 * name that it was to get; 0: it is another file. */
size_t mt_file_temporary_length(const char *name);
/* Removes such a file from a directory, unless somebody writes it, which its lock says, also of
 * other processes. Whether it is gone. */
bool mt_file_remove_leftover(int directory, const char *name);

/* Joins directory and name with one '/', malloc'd. */
MT_MUST_CHECK enum mt_status mt_path_join(const char *directory, const char *name, char **out,
                                          struct mt_error *err);

/* mkdir -p. Failure shows when something is put there. */
void mt_make_directories(const char *path);

/* MT_OK if path names something that exists, MT_NOT_FOUND if not, without a message. */
enum mt_status mt_path_exists(const char *path);

/* Whether something of that name, or a regular file, exists in the directory. Take no memory, so
 * that a lack of it cannot make a file look absent. */
bool mt_path_holds(const char *directory, const char *name);
bool mt_path_holds_file(const char *directory, const char *name);

/* "regular file", "directory", "FIFO", ...: what a message says was found. */
const char *mt_file_kind(mode_t mode);

/* What errno says of a path, "PATH: cannot VERB: ...": MT_NOT_FOUND, MT_MEMORY or MT_IO. */
enum mt_status mt_fail_errno(struct mt_error *err, const char *path, const char *verb);

#endif
