/*
 * A progress bar on standard error, where that is a terminal; elsewhere all of this does nothing,
 * and a pipe or a file gets not one byte. It appears only when the work has taken a second.
 *
 *   [##########....................]  33 %, 1200 lines
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_PROGRESS_BAR_H
#define MT_SERVER_COMMANDS_PROGRESS_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_progress_bar {
    const char *unit;    /* "lines" */
    int64_t next_ms;     /* when it is shown again */
    bool is_on_terminal; /* false: never shown */
    bool is_shown;
};

void mt_progress_bar_begin(struct mt_progress_bar *bar, const char *unit);

/* n_units are done, which is done of total in what both are measured in; total 0: unknown.
 * Takes NULL. */
void mt_progress_bar_update(struct mt_progress_bar *bar, size_t n_units, size_t done, size_t total);

/* Shows the bar with another text behind it, of at most 39 columns. */
void mt_progress_bar_show(struct mt_progress_bar *bar, const char *text, double done, double total);

/* Takes it off the terminal until the next update, so that a line can be printed. */
void mt_progress_bar_hide(struct mt_progress_bar *bar);

/* Takes it off the terminal. Takes a zeroed one. */
void mt_progress_bar_end(struct mt_progress_bar *bar);

#endif
