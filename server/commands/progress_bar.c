#include "server/commands/progress_bar.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 1000
#define REFRESH_MS 200
#define BAR_COLUMNS 30
/* Columns of the whole line: the bar, "100 %", and the text behind it. */
#define LINE_COLUMNS 79

void mt_progress_bar_begin(struct mt_progress_bar *bar, const char *unit)
{
    *bar = (struct mt_progress_bar){
        .unit = unit,
        .next_ms = mt_now_ms() + PATIENCE_MS,
        .is_on_terminal = isatty(STDERR_FILENO) == 1,
    };
}

/* This uses only blanks and a carriage return, which every terminal understands. */
static void erase(void)
{
    fprintf(stderr, "\r%*s\r", LINE_COLUMNS, "");
}

static bool is_due(const struct mt_progress_bar *bar)
{
    return bar->is_on_terminal && mt_now_ms() >= bar->next_ms;
}

void mt_progress_bar_show(struct mt_progress_bar *bar, const char *text, double done, double total)
{
    if (!is_due(bar))
        return;
    bar->next_ms = mt_now_ms() + REFRESH_MS;
    bar->is_shown = true;
    erase();
    if (total > 0) {
        double share = done < total ? done / total : 1;
        char cells[BAR_COLUMNS + 1] = {0};
        memset(cells, '.', BAR_COLUMNS);
        memset(cells, '#', (size_t)(share * BAR_COLUMNS));
        fprintf(stderr, "[%s] %3d %%, ", cells, (int)(share * 100));
    }
    fputs(text, stderr);
}

void mt_progress_bar_update(struct mt_progress_bar *bar, size_t n_units, size_t done, size_t total)
{
    char text[LINE_COLUMNS];
    if (!bar || !is_due(bar))
        return;
    snprintf(text, sizeof text, "%zu %s", n_units, bar->unit);
    mt_progress_bar_show(bar, text, (double)done, (double)total);
}

void mt_progress_bar_hide(struct mt_progress_bar *bar)
{
    if (bar->is_shown)
        erase();
    bar->is_shown = false;
}

void mt_progress_bar_end(struct mt_progress_bar *bar)
{
    mt_progress_bar_hide(bar);
    bar->is_on_terminal = false;
}
