/*
 * Translated files until they are fetched: in memory, so that nothing of them is left on a disk.
 * Names cannot be guessed (128 random bits), and whoever has one may fetch the file. A file ends
 * when its time is over, and with the server.
 *
 * Thread-safety: safe, but for create and destroy.
 */
#ifndef MT_SERVER_FILE_STORE_H
#define MT_SERVER_FILE_STORE_H

#include "base/text.h"

struct mt_file_store;

/* "0123456789abcdef0123456789abcdef.html" */
#define MT_STORED_NAME_BYTES 40
/* Files at once, whatever their size. */
#define MT_MAX_STORED_FILES 4096

struct mt_stored_file {
    const char *bytes;
    size_t length;
    const char *extension;    /* of the name that it gets; ".srt" */
    const char *content_type; /* static */
    const char *file_name;    /* what it is called when it is saved */
};

MT_MUST_CHECK enum mt_status mt_file_store_create(struct mt_file_store **out, struct mt_error *err);
/* Takes NULL. */
void mt_file_store_destroy(struct mt_file_store *store);

/* Copies the file; it ends after lifetime_ms. limit_bytes: of all files together. MT_LIMIT: it
 * alone is larger; MT_BUSY: others leave no room; MT_IO: no random numbers; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_store_add(struct mt_file_store *store,
                                               const struct mt_stored_file *file,
                                               int64_t lifetime_ms, size_t limit_bytes,
                                               char out_name[MT_STORED_NAME_BYTES],
                                               struct mt_error *err);

/* Appends the file of that name to body and what it is called to file_name. MT_NOT_FOUND: there is
 * none, or none any more. */
MT_MUST_CHECK enum mt_status mt_file_store_get(struct mt_file_store *store, const char *name,
                                               struct mt_text *body, const char **content_type,
                                               struct mt_text *file_name, struct mt_error *err);

/* Forgets what has expired. */
void mt_file_store_sweep(struct mt_file_store *store);

struct mt_file_store_counts {
    size_t n_files, n_bytes;
};
void mt_file_store_count(struct mt_file_store *store, struct mt_file_store_counts *out);

#endif
