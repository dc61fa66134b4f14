/*
 * A file that is being downloaded: PATH.part, and beside it PATH.part.json, a note that tells what
 * it is a part of. The note is written before the first byte, so that after any interruption the
 * next run can identify the part. Parts that it cannot identify are deleted.
 *
 * A part is resumed if it has the file's digest in its note. Without a digest it needs the same URL
 * and size, and a strong ETag by which the server can tell whether the rest belongs to it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_PART_H
#define MT_SERVER_PULL_PART_H

#include "server/pull/digest.h"
#include "server/pull/download.h"

#define MT_PART_ETAG_BYTES 256 /* a longer one is ignored */
#define MT_PART_NOTE_LIMIT 16384

/* Has to be {0} until mt_part_open. */
struct mt_part {
    struct mt_download *file; /* borrowed */
    char *path, *note_path;
    int fd;                 /* valid if is_open */
    bool is_open, is_whole; /* is_whole: the file is complete and verified, and nothing is open */
    bool is_disk_full;      /* the last failure was a full disk */
    int64_t length;         /* bytes that are there */
    int64_t size;           /* of the whole file, from the caller or the server; -1: unknown */
    char etag[MT_PART_ETAG_BYTES]; /* strong; "": there is none */
    struct mt_digest digest;       /* of the bytes that are there */
};

/* Examines the file at its path, and its part, by reading them completely. What is wrong and cannot
 * be resumed is deleted. MT_IO, MT_MEMORY, MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_part_open(struct mt_part *part, struct mt_download *file,
                                          struct mt_error *err);

/* Begins at 0, with the server's current etag (strong, or "") and size. */
MT_MUST_CHECK enum mt_status mt_part_restart(struct mt_part *part, const char *etag, int64_t size,
                                             struct mt_error *err);

/* Appends bytes. If the disk is full, then those that were written stay. MT_FORMAT: more bytes than
 * the file has. */
MT_MUST_CHECK enum mt_status mt_part_write(struct mt_part *part, const void *bytes, size_t length,
                                           struct mt_error *err);

/* Verifies the digest once all bytes are there. The part is renamed to the file, or deleted:
 * MT_FORMAT. Sets the file's final_size and sha256. */
MT_MUST_CHECK enum mt_status mt_part_finish(struct mt_part *part, struct mt_error *err);

/* Deletes part and note; writing again needs mt_part_restart. */
void mt_part_delete(struct mt_part *part);

/* Closes the part, which stays on the disk. {0} is allowed. */
void mt_part_close(struct mt_part *part);

#endif
