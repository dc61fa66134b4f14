/*
 * A progress bar on standard error if that is a terminal. Otherwise nothing is written, not even to
 * a pipe or a file. The bar appears after one second.
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
    int64_t next_ms;     /* when it is drawn again */
    bool is_on_terminal; /* false: it is never shown */
    bool is_shown;
};

void mt_progress_bar_begin(struct mt_progress_bar *bar, const char *unit);

/* Shows n_units, and the fraction done / total; total 0: unknown. bar may be NULL. */
void mt_progress_bar_update(struct mt_progress_bar *bar, size_t n_units, size_t done, size_t total);

/* Shows the bar followed by another text of at most 39 columns. */
void mt_progress_bar_show(struct mt_progress_bar *bar, const char *text, double done, double total);

/* Erases the bar until the next update, so that a line can be printed. */
void mt_progress_bar_hide(struct mt_progress_bar *bar);

/* Erases the bar for good. A zeroed bar is allowed. */
void mt_progress_bar_end(struct mt_progress_bar *bar);

#endif
