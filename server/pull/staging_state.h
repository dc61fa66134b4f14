/*
 * What the two halves of staging share: staging.c, which opens and fetches, and staging_commit.c.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_STAGING_STATE_H
#define MT_SERVER_PULL_STAGING_STATE_H

#include "server/pull/staging.h"

#define MT_STAGING_RECORD_LIMIT ((size_t)1 << 20)

struct mt_staged {
    char *name;
    enum mt_packing packing;
    int64_t unpacked_size;
    char *unpacked_sha256; /* NULL: unknown */
    /* The final form exists, which for a packed file is the unpacked one. */
    bool is_ready;
    int64_t size;
    char sha256[MT_SHA256_HEX_BYTES];
};

struct mt_staging {
    char *root, *name, *from, *licence;
    char *folder; /* ROOT/.pulling/NAME */
    char *backup; /* ROOT/.pulling/NAME.old, for file systems that cannot exchange two names */
    char *lock_path;
    char *shown_path;
    int lock; /* descriptor; -1: none */
    bool is_single_file;
    const atomic_bool *is_cancelled;
    enum mt_status (*check)(void *context, const char *path, struct mt_error *err);
    void *context;
    struct mt_staged files[MT_STAGING_MAX_FILES];
    size_t n;
};

bool mt_staging_is_cancelled(const struct mt_staging *staging);

/* Returns the file of that name; NULL: there is none. */
struct mt_staged *mt_staging_find(struct mt_staging *staging, const char *name);

/* Returns ROOT/.pulling/NAME/name and the suffix, malloc'd; NULL without memory, for which
 * mt_staging_fail_path has the message. */
char *mt_staging_join(const struct mt_staging *staging, const char *name, const char *suffix);
char *mt_staging_format(const char *format, ...) MT_PRINTF(1, 2);
enum mt_status mt_staging_fail_path(struct mt_error *err);

bool mt_staging_exists(const char *path);

/* Files that cannot be deleted are left, since nothing depends on it. */
void mt_staging_remove_tree(const char *path);

/* Something with the name of the model, or of its file, that was not pulled is somebody's own work:
 * MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_staging_check_target(const struct mt_staging *staging,
                                                     const char *file, struct mt_error *err);

#endif
