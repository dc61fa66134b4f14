/*
 * Translated files until they are fetched: in memory, so that nothing of them is left on a disk, or
 * in a directory that several daemons share (file_directory.h). Names cannot be guessed (128 random
 * bits), and whoever has one may fetch the file. A file ends when its time is over, and one in
 * memory with the server.
 *
 * Room is reserved before a file is translated, so that no work is done for what cannot be kept:
 *
 *   reserve -> fill -> get, as often as one likes
 *          '-> cancel
 *
 * Where there is none, others make room: the oldest files that have been fetched, whosoever they
 * are, and then the oldest of the client that holds most, if it holds more than the one who asks
 * would. So a client may hold all of it while nobody else needs any, and whoever asks for no more
 * than an equal share of it gets room.
 *
 * In a directory, room is made when it is reserved, but the reservation is this daemon's alone:
 * where others fill it, fill makes room once more, or fails.
 *
 * Thread-safety: safe, but for create and destroy.
 */
#ifndef MT_SERVER_SERVICE_FILE_STORE_H
#define MT_SERVER_SERVICE_FILE_STORE_H

#include "base/text.h"

struct mt_file_store;

/* "0123456789abcdef0123456789abcdef.stringsdict" */
#define MT_STORED_NAME_BYTES 48
/* Files at once, whatever their size. */
#define MT_MAX_STORED_FILES 4096

struct mt_stored_file {
    const char *bytes;
    size_t length;
    const char *file_name; /* what it is called when it is saved */
};

/* directory: "" for memory. MT_IO: files cannot be written there; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_create(const char *directory, struct mt_file_store **out,
                                                  struct mt_error *err);
/* Takes NULL. */
void mt_file_store_destroy(struct mt_file_store *store);

struct mt_file_room {
    uint64_t client;       /* whose it is (client.h) */
    size_t length;         /* what the file is expected to need at most */
    size_t limit_bytes;    /* of all files together */
    const char *extension; /* of the file's name; ".srt" */
};

/* Reserves room for a file that is called out_name from now on. MT_LIMIT: it is larger than
 * limit_bytes; MT_BUSY: there is none, and nobody
 * holds more than the client would; MT_IO: no random numbers, or the directory cannot be read;
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_reserve(struct mt_file_store *store,
                                                   const struct mt_file_room *room,
                                                   char out_name[MT_STORED_NAME_BYTES],
                                                   struct mt_error *err);

/* Copies the file to where room was reserved, be it longer or shorter; it ends after lifetime_ms.
 * MT_LIMIT: it alone is larger than limit_bytes; MT_BUSY: it is longer and there is no room, or its
 * room had to be given to a client that holds less, or the disk does not take it; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_fill(struct mt_file_store *store, const char *name,
                                                const struct mt_stored_file *file,
                                                int64_t lifetime_ms, size_t limit_bytes,
                                                struct mt_error *err);

/* Gives back room that was reserved and not filled. */
void mt_file_store_cancel(struct mt_file_store *store, const char *name);

/* Appends the file of that name to body and what it is called to file_name. MT_NOT_FOUND: there is
 * none, or none any more. */
MT_MUST_CHECK enum mt_status mt_file_store_get(struct mt_file_store *store, const char *name,
                                               struct mt_text *body, struct mt_text *file_name,
                                               struct mt_error *err);

/* Forgets what has expired. */
void mt_file_store_sweep(struct mt_file_store *store);

/* How many files can be fetched, and their bytes. */
struct mt_file_store_counts {
    size_t n_files, n_bytes;
};
void mt_file_store_count(struct mt_file_store *store, struct mt_file_store_counts *out);

#endif
