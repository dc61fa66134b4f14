/*
 * Translated files in a directory that several daemons may share, so that each of them answers for
 * all, and a restart keeps them. What file_store.h says of names, time and room holds for all
 * daemons together.
 *
 *   attentiond-file-n-00000199c0ffee00-3fa1-0123456789abcdef0123456789abcdef.srt
 *                   |        |          |                |
 *                   |        |          |                '- the name that clients know
 *                   |        |          '- a number of the client, 16 bits of a hash: 65,536
 *                   |        |             addresses of IPv4 have the same
 *                   |        '- when it ends, milliseconds of Unix time
 *                   '- n: not fetched yet; f: fetched
 *
 *   attentiond file 1\n film.de.srt\n and then the translated file     (without the blank)
 *
 * Nothing else in the directory is counted, removed or served: the name must be exactly like that,
 * the file a regular one, and its first line ours.
 *
 * There are no locks, so that a daemon that stands still keeps nobody waiting. A file is written
 * under a temporary name, synced and renamed; before and after that its writer makes room by the
 * same rule as all others, so that the last one to write leaves no more than the limit. Until then
 * files that are being written at the same moment may be beyond it.
 *
 * Thread-safety: safe, but for open and close.
 */
#ifndef MT_SERVER_SERVICE_FILE_DIRECTORY_H
#define MT_SERVER_SERVICE_FILE_DIRECTORY_H

#include "server/service/file_store.h"

struct mt_file_directory;

/* The directory must exist and be writable, which is tried. MT_IO says what to do. */
MT_MUST_CHECK enum mt_status
mt_file_directory_open(const char *path, struct mt_file_directory **out, struct mt_error *err);
/* directory may be NULL. The files stay. */
void mt_file_directory_close(struct mt_file_directory *directory);

/* Removes files until one of that length has room. MT_BUSY: there is no room, and no client holds
 * more than this one would; MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_directory_make_room(struct mt_file_directory *directory,
                                                         uint64_t client, size_t length,
                                                         size_t limit_bytes, struct mt_error *err);

/* Writes a file; name is the one that clients know. MT_BUSY: there is no room, or the disk does not
 * accept the file; nothing of it is left then, and the log says why. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_directory_write(struct mt_file_directory *directory,
                                                     const char *name, uint64_t client,
                                                     const struct mt_stored_file *file,
                                                     int64_t lifetime_ms, size_t limit_bytes,
                                                     struct mt_error *err);

/* Like mt_file_store_get. */
MT_MUST_CHECK enum mt_status mt_file_directory_read(struct mt_file_directory *directory,
                                                    const char *name, struct mt_text *body,
                                                    struct mt_text *file_name,
                                                    struct mt_error *err);

/* Removes files whose lifetime is over, whichever daemon wrote them, and what daemons left that
 * were killed while writing; at most every MT_FILES_SWEEP_MS. */
#define MT_FILES_SWEEP_MS 5000
void mt_file_directory_sweep(struct mt_file_directory *directory);

/* Returns the counts of the last listing, without waiting for the disk. */
void mt_file_directory_count(struct mt_file_directory *directory, struct mt_file_store_counts *out);

#endif
