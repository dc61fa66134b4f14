/*
 * A model appears whole or not at all: it is put together in ROOT/.pulling/NAME/, and one rename
 * makes it ROOT/NAME, whatever ends the program, and when.
 *
 *   ROOT/NAME/                      what is served (server/store/)
 *   ROOT/NAME/attentiond-pull.json  from where, under which licence, which files with which digests
 *   ROOT/.pulling/NAME.lock         flock'ed by the one who pulls NAME
 *   ROOT/.pulling/NAME/FILE         whole and verified
 *   ROOT/.pulling/NAME/FILE.part    growing (download.h), with FILE.part.json
 *
 * A model that is one file (Argos' packages) is ROOT/FILE with ROOT/FILE.pull.json, and goes the same
 * way.
 *
 *   open, fetch what decides (config.json), look at it, fetch the rest, commit, close
 *
 * Close without commit keeps what is there: the same pull again goes on with it.
 * Thread-safety: one thread at a time; other processes are kept out by the lock.
 */
#ifndef MT_SERVER_PULL_STAGING_H
#define MT_SERVER_PULL_STAGING_H

#include "server/pull/download.h"
#include "server/pull/unpack.h"

#define MT_STAGING_MAX_FILES 256
#define MT_STAGING_MAX_NAME_BYTES 200
#define MT_STAGING_FOLDER ".pulling"
#define MT_STAGING_RECORD "attentiond-pull.json"
#define MT_STAGING_FILE_RECORD ".pull.json" /* behind the name of a model that is one file */
/* Must be left on the disk besides all files. */
#define MT_STAGING_SPARE_BYTES (1 << 20)

/* A file of the model. */
struct mt_staged_file {
    const char *name; /* in the model: no '/', no '.' in front, none of the endings above */
    const char *url;
    int64_t size;                    /* as it is fetched; -1: not known */
    enum mt_digest_kind digest_kind; /* as it is fetched */
    const char *digest;
    enum mt_packing packing; /* it is unpacked before it belongs to the model */
    int64_t unpacked_size;   /* -1: not known; then MT_STAGING_MAX_UNPACKED_BYTES is the limit */
    const char *unpacked_sha256; /* NULL: not known */
};
#define MT_STAGING_MAX_UNPACKED_BYTES ((int64_t)4 << 30)

struct mt_staging_request {
    const char *root;    /* the store; made where it is missing */
    const char *name;    /* the model's */
    const char *from;    /* "hf:ORG/NAME@COMMIT": for the record; what makes two pulls the same */
    const char *licence; /* "apache-2.0"; NULL: none is known */
    bool is_single_file; /* the model is its only file, with the name of that */
    bool never_wait;     /* another pull of the same name: MT_BUSY instead of waiting for its end */
    const atomic_bool *is_cancelled;                     /* ends the waiting; may be NULL */
    void (*on_wait)(void *context, const char *message); /* says once that it waits; may be NULL */
    /* Looks at what is to become the model, a folder or a file, before anything is replaced; what it
     * refuses is not committed. NULL: nobody looks. */
    enum mt_status (*check)(void *context, const char *path, struct mt_error *err);
    void *context;
};

struct mt_staging;

/* Takes the lock of the name, and waits for it. Look at ROOT/NAME only then: another pull may just
 * have made it. Strings are copied. MT_INVALID: a bad name, or what has the name was not pulled, and
 * is never replaced; MT_BUSY, MT_CANCELLED, MT_IO. */
MT_MUST_CHECK enum mt_status mt_staging_open(const struct mt_staging_request *request,
                                             struct mt_staging **out, struct mt_error *err);

/* Fetches files, or finds them fetched: may be called again with others. Before that, the disk must
 * have room for what is missing, which costs a message with both figures (MT_TROUBLE_DISK_FULL). The
 * indices that on_progress and failure get are those of files. */
MT_MUST_CHECK enum mt_status mt_staging_fetch(struct mt_staging *staging,
                                              struct mt_downloader *downloader,
                                              const struct mt_staged_file *files, size_t n_files,
                                              mt_download_on_progress *on_progress, void *context,
                                              struct mt_download_failure *failure,
                                              struct mt_error *err);

/* Where a file that was fetched lies (packed, if it is), to be looked at: borrowed until the next
 * call. NULL: it was not fetched, or there is no memory. */
const char *mt_staging_path(struct mt_staging *staging, const char *name);

/* licence may be known only when a card has been read; replaces the request's. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_staging_set_licence(struct mt_staging *staging, const char *licence,
                                                    struct mt_error *err);

/* Unpacks, writes the record, has the model checked, syncs and renames: all that was fetched and put
 * is the model now, and what had its name before is gone. Anything else in the folder is deleted, but
 * for an attentiond.json that the operator has written into what is replaced, or changed there: it
 * goes along, in the place of one that was fetched. Failure leaves
 * what was served before, and what was fetched. MT_CANCELLED only before anything is renamed;
 * failures of the check. */
MT_MUST_CHECK enum mt_status mt_staging_commit(struct mt_staging *staging, struct mt_error *err);

/* Deletes what was fetched: the model is none of ours, and nobody will go on with it. */
void mt_staging_discard(struct mt_staging *staging);

/* Lets the lock go. Takes NULL. */
void mt_staging_close(struct mt_staging *staging);

#endif
