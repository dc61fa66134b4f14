/*
 * Installs a model completely or not at all: its files are collected in ROOT/.pulling/NAME/, and
 * one rename makes this ROOT/NAME, so that an interruption at any time does no harm.
 *
 *   ROOT/NAME/                      what is served (server/store/)
 *   ROOT/NAME/attentiond-pull.json  origin, licence, and the files with their digests
 *   ROOT/.pulling/NAME.lock         flock'ed by the process that pulls NAME
 *   ROOT/.pulling/NAME/FILE         complete and verified
 *   ROOT/.pulling/NAME/FILE.part    growing (download.h), with FILE.part.json
 *
 * A model that is one file (Argos' packages) is ROOT/FILE with ROOT/FILE.pull.json, and is
 * installed in the same way.
 *
 *   open, fetch the first files (config.json), read them, fetch the rest, commit, close
 *
 * If it is closed without commit, then the files stay, and the same pull can be resumed.
 *
 * Thread-safety: one thread at a time; the lock excludes other processes.
 */
#ifndef MT_SERVER_PULL_STAGING_H
#define MT_SERVER_PULL_STAGING_H

#include "server/pull/download.h"
#include "server/pull/unpack.h"

#define MT_STAGING_MAX_FILES 256
#define MT_STAGING_MAX_NAME_BYTES 200
#define MT_STAGING_FOLDER ".pulling"
#define MT_STAGING_RECORD "attentiond-pull.json"
#define MT_STAGING_FILE_RECORD ".pull.json" /* appended to the name of a model that is one file */
/* Free space that has to remain on the disk. */
#define MT_STAGING_SPARE_BYTES (1 << 20)

/* A file of the model. */
struct mt_staged_file {
    /* name in the model: no '/', does not begin with '.', and has none of the endings above */
    const char *name;
    const char *url;
    int64_t size;                    /* of the downloaded form; -1: unknown */
    enum mt_digest_kind digest_kind; /* of the downloaded form */
    const char *digest;
    enum mt_packing packing;     /* it is unpacked when it is installed */
    int64_t unpacked_size;       /* -1: unknown; then MT_STAGING_MAX_UNPACKED_BYTES is the limit */
    const char *unpacked_sha256; /* NULL: unknown */
};
#define MT_STAGING_MAX_UNPACKED_BYTES ((int64_t)4 << 30)

struct mt_staging_request {
    const char *root; /* the store; created if it is missing */
    const char *name; /* name of the model */
    /* "hf:ORG/NAME@COMMIT" for the record; two pulls with the same value are for the same files */
    const char *from;
    const char *licence; /* "apache-2.0"; NULL: unknown */
    bool is_single_file; /* the model is a single file, whose name is the model's */
    /* another running pull of the same name gives MT_BUSY, instead of a wait for its end */
    bool never_wait;
    const atomic_bool *is_cancelled; /* ends the wait; may be NULL */
    /* called once when a wait begins; may be NULL */
    void (*on_wait)(void *context, const char *message);
    /* Checks the new model, a folder or a file, before anything is replaced. A failure prevents the
     * commit. NULL: there is no check. */
    enum mt_status (*check)(void *context, const char *path, struct mt_error *err);
    void *context;
};

struct mt_staging;

/* Takes the lock of the name, and waits for it. Look at ROOT/NAME only after this, since another
 * pull may just have created it. Strings are copied. MT_INVALID: a bad name, or something of that
 * name was not pulled and is therefore never replaced; MT_BUSY, MT_CANCELLED, MT_IO. */
MT_MUST_CHECK enum mt_status mt_staging_open(const struct mt_staging_request *request,
                                             struct mt_staging **out, struct mt_error *err);

/* Fetches files that are not there yet. May be called again with other files. First it checks that
 * the disk has room for what is missing; the message of a failure has both sizes
 * (MT_TROUBLE_DISK_FULL). The indexes for on_progress and failure are those of files. */
MT_MUST_CHECK enum mt_status mt_staging_fetch(struct mt_staging *staging,
                                              struct mt_downloader *downloader,
                                              const struct mt_staged_file *files, size_t n_files,
                                              mt_download_on_progress *on_progress, void *context,
                                              struct mt_download_failure *failure,
                                              struct mt_error *err);

/* Returns the path of a fetched file (still packed, if it is), for reading it. Borrowed until the
 * next call. NULL: it was not fetched, or there is no memory. */
const char *mt_staging_path(struct mt_staging *staging, const char *name);

/* Replaces the request's licence, which may be known only after a card has been read. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_staging_set_licence(struct mt_staging *staging, const char *licence,
                                                    struct mt_error *err);

/* Unpacks, writes the record, has the model checked, syncs and renames: the fetched files are the
 * model then, and the previous model of that name is deleted. Other files in the folder are
 * deleted, too, except an attentiond.json that the operator has written or changed in the replaced
 * model: it is copied, and replaces one that was fetched. A failure leaves both the previous model
 * and the fetched files. MT_CANCELLED is only possible before anything is renamed; failures of the
 * check. */
MT_MUST_CHECK enum mt_status mt_staging_commit(struct mt_staging *staging, struct mt_error *err);

/* Deletes the fetched files of a model that cannot be used, so that nobody will resume the pull. */
void mt_staging_discard(struct mt_staging *staging);

/* Releases the lock. NULL is allowed. */
void mt_staging_close(struct mt_staging *staging);

#endif
