/*
 * Pulls a model: from the name that the user typed to a directory that can be served.
 *
 * It looks the name up, checks whether that model is here already, asks whether the licence is
 * accepted, fetches the small documents that determine the other files, then those files, checks
 * the model (check.h), and makes it appear. Files that the replaced model has, too, are not fetched
 * again.
 *
 * Thread-safety: one thread at a time; a signal handler may set the cancelling flag.
 */
#ifndef MT_SERVER_PULL_PULL_H
#define MT_SERVER_PULL_PULL_H

#include "server/pull/look_up.h"

struct mt_model_options;

struct mt_pull {
    struct mt_downloader *downloader;
    struct mt_endpoints endpoints;
    const char *root;                     /* directory where models are stored */
    const char *text;                     /* the name that the user typed */
    const char *local_name;               /* name on this machine; NULL: derived from text */
    const struct mt_model_options *model; /* the options with which the check opens it */
    const atomic_bool *is_cancelled;

    /* Each may be NULL; context is passed to them. */
    /* prints a line for the user */
    void (*say)(void *context, const char *message);
    /* NULL: every licence is accepted */
    bool (*accept_licence)(void *context, const struct mt_remote *remote);
    /* Called before mt_download_on_progress reports a file; its indexes are those of files. */
    void (*on_files)(void *context, const struct mt_staged_file *files, size_t n);
    mt_download_on_progress *on_progress;
    void *context;
};

/* The result, which mt_pulled_finish frees. */
struct mt_pulled {
    struct mt_remote *remote;
    char *path;     /* ROOT/NAME */
    int64_t size;   /* bytes of all files */
    bool was_there; /* the same commit or version was here already, and nothing was fetched */
};

/* MT_FORBIDDEN: the licence was not accepted; MT_FORMAT, MT_UNSUPPORTED, MT_NOT_FOUND: the model
 * cannot be served, and the previous one stays; MT_CANCELLED; statuses of mt_pull_name_parse,
 * mt_look_up, mt_choice_begin, mt_choice_read, mt_staging_open, mt_staging_fetch and
 * mt_staging_commit. */
MT_MUST_CHECK enum mt_status mt_pull_run(const struct mt_pull *pull, struct mt_pulled *out,
                                         struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_pulled_finish(struct mt_pulled *pulled);

#endif
