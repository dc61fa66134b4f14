#include "server/pull/console.h"

#include "base/clock.h"
#include "server/commands/cli.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The rate is averaged over this time, so that it neither flickers nor lags behind. */
#define RATE_MS 500
#define RATE_WEIGHT 0.2
#define ANSWER_BYTES 32

void mt_console_begin(struct mt_console *console, bool is_quiet, bool accepts_licence)
{
    *console = (struct mt_console){.is_quiet = is_quiet, .accepts_licence = accepts_licence};
    if (!is_quiet)
        mt_progress_bar_begin(&console->bar, "files");
}

void mt_console_end(struct mt_console *console)
{
    mt_progress_bar_end(&console->bar);
}

void mt_console_say(void *context, const char *message)
{
    struct mt_console *console = context;
    if (console->is_quiet)
        return;
    mt_progress_bar_hide(&console->bar);
    mt_cli_say("%s", message);
}

bool mt_console_accept_licence(void *context, const struct mt_remote *remote)
{
    struct mt_console *console = context;
    char answer[ANSWER_BYTES];
    if (console->accepts_licence || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return console->accepts_licence;
    mt_cli_say("%s is under the licence %s, which forbids commercial use%s%s.", remote->title,
               remote->licence, remote->page ? "; it is explained at " : "",
               remote->page ? remote->page : "");
    fputs("Do you accept it? [y/N] ", stderr);
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    answer[strcspn(answer, " \r\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

void mt_console_on_files(void *context, const struct mt_staged_file *files, size_t n)
{
    struct mt_console *console = context;
    console->files = files;
    console->n_files = n;
    console->rate = 0;
    console->rate_ms = mt_now_ms();
    console->rate_received = 0;
    if (n == 0)
        mt_progress_bar_hide(&console->bar);
}

void mt_console_format_size(int64_t bytes, char out[MT_CONSOLE_SIZE_BYTES])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)bytes / 1000;
    size_t unit = 0;
    if (bytes < 1000) {
        snprintf(out, MT_CONSOLE_SIZE_BYTES, "%d bytes", (int)bytes);
        return;
    }
    while (value >= 999.95 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(out, MT_CONSOLE_SIZE_BYTES, "%.1f %s", value, units[unit]);
}

static void measure(struct mt_console *console, int64_t received)
{
    int64_t now = mt_now_ms(), elapsed = now - console->rate_ms;
    if (elapsed < RATE_MS)
        return;
    double rate = (double)(received - console->rate_received) * 1000 / (double)elapsed;
    console->rate = console->rate > 0 ? console->rate + RATE_WEIGHT * (rate - console->rate) : rate;
    console->rate_ms = now;
    console->rate_received = received;
}

static void format_time(double seconds, char *out, size_t out_bytes)
{
    if (seconds < 100)
        snprintf(out, out_bytes, "%d s", (int)(seconds + 0.5));
    else if (seconds < 100 * 60)
        snprintf(out, out_bytes, "%d min", (int)(seconds / 60 + 0.5));
    else if (seconds < 100 * 3600)
        snprintf(out, out_bytes, "%d h", (int)(seconds / 3600 + 0.5));
    else
        snprintf(out, out_bytes, "days");
}

/* Shows "93.1 MB of 302.4 MB, 11.3 MB/s, 19 s", which has at most 39 columns. */
static void show(struct mt_console *console, const struct mt_download_progress *progress)
{
    char done[MT_CONSOLE_SIZE_BYTES], total[MT_CONSOLE_SIZE_BYTES], text[128];
    char rate[MT_CONSOLE_SIZE_BYTES + 8] = "", left[32] = "";
    measure(console, progress->received);
    mt_console_format_size(progress->done, done);
    mt_console_format_size(progress->total, total);
    if (console->rate >= 1) {
        char amount[MT_CONSOLE_SIZE_BYTES];
        mt_console_format_size((int64_t)console->rate, amount);
        snprintf(rate, sizeof rate, ", %s/s", amount);
        if (progress->total > progress->done) {
            char time[24];
            format_time((double)(progress->total - progress->done) / console->rate, time,
                        sizeof time);
            snprintf(left, sizeof left, ", %s", time);
        }
    }
    /* If both have the same unit, it is written once. */
    char *unit = strrchr(done, ' '), *other = strrchr(total, ' ');
    if (progress->total > 0 && unit && other && strcmp(unit, other) == 0)
        *unit = '\0';
    snprintf(text, sizeof text, "%s%s%s%s%s", done, progress->total > 0 ? " of " : "",
             progress->total > 0 ? total : "", rate, left);
    mt_progress_bar_show(&console->bar, text, (double)progress->done, (double)progress->total);
}

void mt_console_on_progress(void *context, const struct mt_download_progress *progress)
{
    struct mt_console *console = context;
    char size[MT_CONSOLE_SIZE_BYTES];
    if (console->is_quiet)
        return;
    const char *name = progress->file < console->n_files ? console->files[progress->file].name : "";
    mt_console_format_size(progress->file_done, size);
    switch (progress->event) {
    case MT_DOWNLOAD_ADVANCED:
        show(console, progress);
        return;
    case MT_DOWNLOAD_RETRY:
        mt_progress_bar_hide(&console->bar);
        mt_cli_say("%s: %s", name, progress->why);
        return;
    case MT_DOWNLOAD_RESUMED:
        mt_progress_bar_hide(&console->bar);
        mt_cli_say("%s: goes on at %s", name, size);
        return;
    case MT_DOWNLOAD_FINISHED:
    case MT_DOWNLOAD_PRESENT:
        break;
    }
    /* On a terminal the bar shows it. */
    if (console->bar.is_on_terminal)
        show(console, progress);
    else
        mt_cli_say("%s: %s%s", name, size,
                   progress->event == MT_DOWNLOAD_PRESENT ? ", was there already" : "");
}
