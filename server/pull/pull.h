/*
 * Fetches a model: from what the user typed to a directory that serve takes.
 *
 * It asks what the name stands for, looks whether that is here already, has the licence accepted,
 * fetches the small documents that decide, then the rest, has it checked (check.h), and lets the model
 * appear. Files that are the same in the model that is replaced are not fetched again.
 *
 * Thread-safety: one thread at a time; the cancelling flag may be set by a signal handler.
 */
#ifndef MT_SERVER_PULL_PULL_H
#define MT_SERVER_PULL_PULL_H

#include "server/pull/look_up.h"

struct mt_model_options;

struct mt_pull {
    struct mt_downloader *downloader;
    struct mt_endpoints endpoints;
    const char *root;                     /* where models are kept */
    const char *text;                     /* what names the model */
    const char *local_name;               /* what it is called here; NULL: after its name */
    const struct mt_model_options *model; /* how it is to be opened, when it is checked */
    const atomic_bool *is_cancelled;

    /* Each may be NULL; context is theirs. */
    void (*say)(void *context, const char *message);                       /* a line for the user */
    bool (*accept_licence)(void *context, const struct mt_remote *remote); /* NULL: accepted */
    /* Before a file event of mt_download_on_progress; files are those of its indices. */
    void (*on_files)(void *context, const struct mt_staged_file *files, size_t n);
    mt_download_on_progress *on_progress;
    void *context;
};

/* What came of it: mt_pulled_finish it. */
struct mt_pulled {
    struct mt_remote *remote;
    char *path;     /* ROOT/NAME */
    int64_t size;   /* bytes of its files */
    bool was_there; /* at this commit or version: nothing was fetched */
};

/* MT_FORBIDDEN: the licence was not accepted; MT_FORMAT, MT_UNSUPPORTED, MT_NOT_FOUND: the model
 * cannot be served, and what was there before stays; MT_CANCELLED; statuses of mt_pull_name_parse,
 * mt_look_up, mt_choice_begin, mt_choice_read, mt_staging_open, mt_staging_fetch and
 * mt_staging_commit. */
MT_MUST_CHECK enum mt_status mt_pull_run(const struct mt_pull *pull, struct mt_pulled *out,
                                         struct mt_error *err);
/* Takes a zeroed one. */
void mt_pulled_finish(struct mt_pulled *pulled);

#endif
