/*
 * What a pull prints on standard error: a progress bar where that is a terminal,
 *
 *   [#########.....................]  31 %, 93.1 of 302.4 MB, 11.3 MB/s, 19 s
 *
 * otherwise a line for each complete file; and the question whether a licence is accepted.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_CONSOLE_H
#define MT_SERVER_PULL_CONSOLE_H

#include "server/commands/progress_bar.h"
#include "server/pull/remote.h"

struct mt_console {
    bool is_quiet;        /* prints only errors and questions */
    bool accepts_licence; /* --accept-licence */
    struct mt_progress_bar bar;
    const struct mt_staged_file *files; /* the files whose progress is reported */
    size_t n_files;
    int64_t rate_ms, rate_received; /* when the rate was computed, and how much had been received */
    double rate;                    /* bytes a second; 0: unknown */
};

void mt_console_begin(struct mt_console *console, bool is_quiet, bool accepts_licence);
void mt_console_end(struct mt_console *console);

/* The callbacks of struct mt_pull (pull.h); context is a struct mt_console. */
void mt_console_say(void *context, const char *message);
bool mt_console_accept_licence(void *context, const struct mt_remote *remote);
void mt_console_on_files(void *context, const struct mt_staged_file *files, size_t n);
void mt_console_on_progress(void *context, const struct mt_download_progress *progress);

/* Formats as in "302.4 MB", with powers of 1000, as is usual for disks and networks. */
#define MT_CONSOLE_SIZE_BYTES 24
void mt_console_format_size(int64_t bytes, char out[MT_CONSOLE_SIZE_BYTES]);

#endif
