#include "server/engine/layout.h"

#include "base/size.h"

#include <math.h>

/* The least that a window has: the rows of a few sentences, and more time than one turn of other
 * programs on the machine. */
#define WINDOW_ROWS 1000
#define WINDOW_NS (40 * INT64_C(1000000))

/* More rows than an engine has: apart is never faster. */
#define NEVER_ROWS ((size_t)1 << 20)

/* The largest gain that a trial counts for, so that a trial held up by the host does not outweigh
 * the others. */
#define MAX_GAIN 0.7
/* Number of trials over which a result is averaged. */
#define REMEMBERED 8
/* The pause until the next trial, as a multiple of the time that the last one took: at first, and
 * at most. */
#define FIRST_PAUSE 2
#define LAST_PAUSE 64
/* Sizes at least this far above the presumed border are probably faster apart; the probability
 * grows with the distance, up to MAX_CONFIDENCE further sizes. Each of these doubles the pause and
 * delays the first trial, because with many rows of a large model a trial takes seconds. Below the
 * border trials are short. */
#define NEAR_SIZES 3
#define MAX_CONFIDENCE 3
/* After this many trials a gain of at least this much makes further trials rare; and a greater gain
 * does so after one trial. */
#define CLEAR_GAIN 0.1
#define CLEAR_TRIALS 3
#define STRIKING_GAIN 0.25
#define CLEAR_PAUSE 4

/* The least number of rows of each size. */
static const size_t least_rows[MT_LAYOUT_SIZES] = {2, 3, 4, 6, 8, 12, 16, 23, 32, 46, 64};

static size_t size_of(double n_rows)
{
    size_t size = 0;
    while (size + 1 < MT_LAYOUT_SIZES && n_rows >= (double)least_rows[size + 1])
        size++;
    return size;
}

void mt_layout_init(struct mt_layout *layout, size_t n_together, size_t n_apart, size_t n_rows)
{
    size_t size = size_of((double)n_rows);
    *layout = (struct mt_layout){
        .n_workers = {n_together, n_apart}, .presumed = size, .first_apart = size};
}

size_t mt_layout_rows(const struct mt_layout *layout)
{
    return layout->first_apart < MT_LAYOUT_SIZES ? least_rows[layout->first_apart] : NEVER_ROWS;
}

size_t mt_layout_on_trial(const struct mt_layout *layout)
{
    return layout->is_trial ? layout->n_workers[layout->window.way] : 0;
}

/* Apart is faster from some size on. This finds the size that agrees best with the results and, of
 * several such sizes, the one nearest to the presumed one. */
static size_t choose_first_apart(const struct mt_layout *layout)
{
    size_t best = layout->presumed;
    double least = INFINITY;
    for (size_t first = 0; first <= MT_LAYOUT_SIZES; first++) {
        double loss = 1e-6 * fabs((double)first - (double)layout->presumed);
        for (size_t i = 0; i < MT_LAYOUT_SIZES; i++)
            loss += fmax(0.0, i < first ? layout->results[i].gain : -layout->results[i].gain);
        if (loss < least) {
            least = loss;
            best = first;
        }
    }
    return best;
}

static bool is_clear(const struct mt_layout_result *result)
{
    return fabs(result->gain) > (result->n_trials < CLEAR_TRIALS ? STRIKING_GAIN : CLEAR_GAIN);
}

/* A size that was never tried needs no trial where a smaller one is clearly faster apart, or a
 * larger one clearly faster together. */
static bool goes_without(const struct mt_layout *layout, size_t size)
{
    if (layout->results[size].n_trials)
        return false;
    for (size_t i = 0; i < MT_LAYOUT_SIZES; i++)
        if (is_clear(&layout->results[i]) && (layout->results[i].gain > 0.0) == (i < size))
            return true;
    return false;
}

static void begin_window(struct mt_layout *layout, const struct mt_layout_work *work, size_t size,
                         enum mt_layout_way way, size_t n_running)
{
    layout->window = (struct mt_layout_window){.way = way,
                                               .size = size,
                                               .is_open = true,
                                               .drained_at = work->n_sentences + n_running,
                                               .begin = *work};
}

static unsigned confidence_of(const struct mt_layout *layout, size_t size)
{
    size_t first = layout->presumed + NEAR_SIZES;
    return size > first ? (unsigned)mt_size_min(size - first, MAX_CONFIDENCE) : 0;
}

static int64_t pause_after(const struct mt_layout *layout, size_t size, int64_t ns)
{
    const struct mt_layout_result *result = &layout->results[size];
    size_t doublings = mt_size_min(result->n_trials + confidence_of(layout, size), 5);
    size_t pause = mt_size_min((size_t)FIRST_PAUSE << doublings, LAST_PAUSE);
    return (int64_t)(is_clear(result) ? pause * CLEAR_PAUSE : pause) * ns;
}

/* Schedules the size's next trial after a pause in proportion to the time that this one took. */
static void leave_trial(struct mt_layout *layout, int64_t busy_ns)
{
    size_t size = layout->window.size;
    layout->results[size].next_ns =
        busy_ns + pause_after(layout, size, busy_ns - layout->trial_began_ns);
    layout->is_trial = false;
}

void mt_layout_interrupt(struct mt_layout *layout, int64_t busy_ns)
{
    if (layout->is_trial)
        leave_trial(layout, busy_ns);
    layout->window.is_open = false;
}

static struct mt_layout_work since(const struct mt_layout_work *now,
                                   const struct mt_layout_work *begin)
{
    return (struct mt_layout_work){.busy_ns = now->busy_ns - begin->busy_ns,
                                   .encode_ns = now->encode_ns - begin->encode_ns,
                                   .n_rows = now->n_rows - begin->n_rows,
                                   .n_tokens = now->n_tokens - begin->n_tokens,
                                   .n_sentences = now->n_sentences - begin->n_sentences};
}

/* Returns the time that a row takes. Sentences begin in bunches, so that windows differ in how many
 * of them they have to encode; the time is corrected to that of a window with tokens_per_row tokens
 * to encode for each row. */
static double ns_per_row(const struct mt_layout_work *done, double tokens_per_row, size_t n_workers)
{
    double n_rows = (double)done->n_rows, n_tokens = (double)done->n_tokens;
    double token_ns = n_tokens > 0.0 ? (double)done->encode_ns / n_tokens / (double)n_workers : 0.0;
    return ((double)done->busy_ns + (tokens_per_row * n_rows - n_tokens) * token_ns) / n_rows;
}

static double gain_of(const struct mt_layout *layout, const struct mt_layout_work *trial)
{
    const struct mt_layout_work *reference = &layout->reference;
    enum mt_layout_way way = layout->window.way;
    double ratio = (double)reference->n_tokens / (double)reference->n_rows;
    double before = ns_per_row(reference, ratio, layout->n_workers[!way]);
    double now = ns_per_row(trial, ratio, layout->n_workers[way]);
    double gain = now > 0.0 && before > 0.0 ? log(before / now) : 0.0;
    gain = fmin(fmax(gain, -MAX_GAIN), MAX_GAIN);
    return way == MT_APART ? gain : -gain;
}

static void end_trial(struct mt_layout *layout, int64_t busy_ns, const struct mt_layout_work *done)
{
    struct mt_layout_result *result = &layout->results[layout->window.size];
    result->n_trials++;
    result->gain +=
        (gain_of(layout, done) - result->gain) / (double)mt_size_min(result->n_trials, REMEMBERED);
    leave_trial(layout, busy_ns);
    layout->first_apart = choose_first_apart(layout);
}

static void end_window(struct mt_layout *layout, const struct mt_layout_work *work,
                       const struct mt_layout_work *done, size_t n_running)
{
    enum mt_layout_way way = layout->window.way;
    size_t size = layout->window.size;
    if (layout->is_trial) {
        end_trial(layout, work->busy_ns, done);
        begin_window(layout, work, size, !way, n_running);
        return;
    }
    layout->reference = *done;
    if (!layout->results[size].next_ns && confidence_of(layout, size))
        layout->results[size].next_ns = work->busy_ns + pause_after(layout, size, done->busy_ns);
    if (work->busy_ns < layout->results[size].next_ns || goes_without(layout, size)) {
        layout->window.begin = *work;
        return;
    }
    layout->is_trial = true;
    layout->trial_began_ns = work->busy_ns;
    begin_window(layout, work, size, !way, n_running);
}

void mt_layout_note(struct mt_layout *layout, const struct mt_layout_work *work, double n_rows,
                    size_t n_running, size_t n_taking)
{
    struct mt_layout_window *window = &layout->window;
    const size_t *n_workers = layout->n_workers;
    enum mt_layout_way way = n_taking == n_workers[MT_APART] ? MT_APART : MT_TOGETHER;
    size_t size = size_of(n_rows);
    bool is_choice = n_workers[MT_APART] > n_workers[MT_TOGETHER] && n_rows > 1.25;
    bool is_same = way == window->way && size <= window->size + 1 && window->size <= size + 1;
    if (!is_choice || n_taking != n_workers[way] || !is_same)
        mt_layout_interrupt(layout, work->busy_ns);
    if (!is_choice || n_taking != n_workers[way])
        return;
    if (!window->is_open)
        begin_window(layout, work, size, way, n_running);
    if (!window->is_drained && work->n_sentences >= window->drained_at) {
        window->is_drained = true;
        window->begin = *work;
    }
    struct mt_layout_work done = since(work, &window->begin);
    if (window->is_drained && done.n_rows >= WINDOW_ROWS && done.busy_ns >= WINDOW_NS)
        end_window(layout, work, &done, n_running);
}
