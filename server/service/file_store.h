/*
 * Translated files until they are fetched: in memory, so that nothing of them remains on a disk, or
 * in a directory that several daemons share (file_directory.h). Names cannot be guessed (128 random
 * bits), and whoever has one may fetch the file. A file ends when its lifetime is over; one in
 * memory also ends with the server.
 *
 * Room is reserved before a file is translated, so that no work is done for a file that cannot be
 * kept:
 *
 *   reserve -> fill -> get, as often as one likes
 *          '-> cancel
 *
 * Where there is no room, other files are removed: first the oldest ones that have been fetched,
 * whichever client they belong to, and then the oldest ones of the client that holds most, if it
 * holds more than the client that asks would. So a client may use all of the room while nobody else
 * needs any, and a client that asks for no more than an equal share gets it.
 *
 * In a directory, room is made when it is reserved, but only this daemon knows of the reservation:
 * where other daemons have used the room, fill makes room once more, or fails.
 *
 * Thread-safety: safe, except create and destroy.
 */
#ifndef MT_SERVER_SERVICE_FILE_STORE_H
#define MT_SERVER_SERVICE_FILE_STORE_H

#include "base/text.h"

struct mt_file_store;

/* Long enough for "0123456789abcdef0123456789abcdef.stringsdict". */
#define MT_STORED_NAME_BYTES 48
/* Most files at a time, whatever their size. */
#define MT_MAX_STORED_FILES 4096

struct mt_stored_file {
    const char *bytes;
    size_t length;
    const char *file_name; /* the name under which clients save it */
};

/* directory is "" for memory. MT_IO where files cannot be written there; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_create(const char *directory, struct mt_file_store **out,
                                                  struct mt_error *err);
/* Takes NULL. */
void mt_file_store_destroy(struct mt_file_store *store);

struct mt_file_room {
    uint64_t client;       /* the client that it belongs to (client.h) */
    size_t length;         /* most bytes that the file is expected to have */
    size_t limit_bytes;    /* limit for all files together */
    const char *extension; /* of the file's name, such as ".srt" */
};

/* Reserves room for a file, whose name becomes out_name. MT_LIMIT: it is larger than limit_bytes;
 * MT_BUSY: there is no room, and no client holds more than this one would; MT_IO: no random
 * numbers, or the directory cannot be read; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_reserve(struct mt_file_store *store,
                                                   const struct mt_file_room *room,
                                                   char out_name[MT_STORED_NAME_BYTES],
                                                   struct mt_error *err);

/* Copies the file into its reservation; it may be longer or shorter than that. It ends after
 * lifetime_ms. MT_LIMIT: the file alone is larger than limit_bytes; MT_BUSY: it is longer and there
 * is no room, or its room was given to a client that holds less, or the disk does not accept it;
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_fill(struct mt_file_store *store, const char *name,
                                                const struct mt_stored_file *file,
                                                int64_t lifetime_ms, size_t limit_bytes,
                                                struct mt_error *err);

/* Gives back room that was reserved and not filled. */
void mt_file_store_cancel(struct mt_file_store *store, const char *name);

/* Appends the file of that name to body, and the name under which it is saved to file_name.
 * MT_NOT_FOUND: there is no such file, or it has ended. */
MT_MUST_CHECK enum mt_status mt_file_store_get(struct mt_file_store *store, const char *name,
                                               struct mt_text *body, struct mt_text *file_name,
                                               struct mt_error *err);

/* Removes files whose lifetime is over. */
void mt_file_store_sweep(struct mt_file_store *store);

/* How many files can be fetched, and how many bytes they have. */
struct mt_file_store_counts {
    size_t n_files, n_bytes;
};
void mt_file_store_count(struct mt_file_store *store, struct mt_file_store_counts *out);

#endif
