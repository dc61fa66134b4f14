/*
 * A file that grows: PATH.part, and beside it PATH.part.json, which says of what it is a part. The
 * note is on the disk before the first byte, so that whatever ends the program, the next run knows
 * what it finds; what it does not know it deletes.
 *
 * A part is resumed where its digest is that of the file, or else where URL and size are, and a strong
 * ETag lets the server tell whether the rest belongs to it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_PART_H
#define MT_SERVER_PULL_PART_H

#include "server/pull/digest.h"
#include "server/pull/download.h"

#define MT_PART_ETAG_BYTES 256 /* a longer one is taken for none */
#define MT_PART_NOTE_LIMIT 16384

/* {0} is none. */
struct mt_part {
    struct mt_download *file; /* borrowed */
    char *path, *note_path;
    int fd;                 /* where it is open */
    bool is_open, is_whole; /* whole: the file is there and right; nothing is open */
    bool is_disk_full;      /* why the last failure was one */
    int64_t length;         /* bytes that are there */
    int64_t size;           /* of the whole: the file's, or what the server says; -1: not known */
    char etag[MT_PART_ETAG_BYTES]; /* strong; "": none */
    struct mt_digest digest;       /* of those bytes */
};

/* Looks at what lies at the file's path, and at its part; deletes what is neither right nor worth
 * going on with. Reads all of it. MT_IO, MT_MEMORY, MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_part_open(struct mt_part *part, struct mt_download *file,
                                          struct mt_error *err);

/* Begins at 0, with what the server says of the file now. etag: strong, or "". */
MT_MUST_CHECK enum mt_status mt_part_restart(struct mt_part *part, const char *etag, int64_t size,
                                             struct mt_error *err);

/* Appends; what fits is kept where the disk is full. MT_FORMAT: more bytes than the file has. */
MT_MUST_CHECK enum mt_status mt_part_write(struct mt_part *part, const void *bytes, size_t length,
                                           struct mt_error *err);

/* All bytes are there: the digest decides whether it becomes the file, or is deleted: MT_FORMAT. Sets
 * the file's final_size and sha256. */
MT_MUST_CHECK enum mt_status mt_part_finish(struct mt_part *part, struct mt_error *err);

/* Deletes part and note: the next byte needs mt_part_restart. */
void mt_part_delete(struct mt_part *part);

/* What is there stays. Takes {0}. */
void mt_part_close(struct mt_part *part);

#endif
