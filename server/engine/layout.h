/*
 * How a lane's rows are shared among the threads: together, in one batch that a team steps, or
 * apart, in a batch for each thread. Which is faster depends on the model, the processor, the
 * sentences and on what else the machine does, so it is learned while the lane works. Now and then
 * the other way is tried for as long as some sentences take, and its output is compared with the
 * output just before. Each size (a number of rows in all) has its own result, the mean of its last
 * trials; all results together show from how many rows on apart is faster.
 *
 *   reference -> drain (the sentences that are under way end) -> trial -> drain -> reference ...
 *
 * Trials are frequent at first, less so far above the presumed size, and become rare: in the end
 * they take a sixty-fourth of the time, and where one way is much faster a quarter of that. The
 * translations are the same either way.
 *
 * Thread-safety: none of its own; the engine's mutex guards it. Nothing is allocated.
 */
#ifndef MT_SERVER_ENGINE_LAYOUT_H
#define MT_SERVER_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two sizes per octave, from 2 rows on: 2, 3, 4, 6, 8, ... The last size includes all above it. */
#define MT_LAYOUT_SIZES 11

enum mt_layout_way { MT_TOGETHER, MT_APART };

/* What all workers together have done for a lane since it was made. */
struct mt_layout_work {
    int64_t busy_ns; /* time in which the lane had sentences */
    /* time of encoder passes; those that several workers make at once are added */
    int64_t encode_ns;
    uint64_t n_rows;      /* rows of decoder steps */
    uint64_t n_tokens;    /* source tokens that went through the encoder */
    uint64_t n_sentences; /* sentences that have ended */
};

/* A stretch of work in one way at about one size, which began at begin. */
struct mt_layout_window {
    enum mt_layout_way way;
    size_t size;
    bool is_open, is_drained;
    uint64_t drained_at; /* it is drained once n_sentences has this value */
    struct mt_layout_work begin;
};

struct mt_layout_result {
    double gain; /* natural logarithm of the speed apart divided by the speed together */
    unsigned n_trials;
    int64_t next_ns; /* the next trial is due at this busy_ns of the lane */
};

struct mt_layout {
    size_t n_workers[2]; /* how many take sentences, for each way */
    size_t presumed;    /* from this size on apart is faster, as long as nothing has been learned */
    size_t first_apart; /* the same, as far as has been learned; MT_LAYOUT_SIZES: never */
    bool is_trial;
    int64_t trial_began_ns;
    struct mt_layout_window window;
    struct mt_layout_work reference; /* the work of the window before the trial */
    struct mt_layout_result results[MT_LAYOUT_SIZES];
};

/* n_apart >= n_together >= 1; if they are equal, there is no choice. n_rows: the total number of
 * rows from which on apart is assumed to be faster. */
void mt_layout_init(struct mt_layout *layout, size_t n_together, size_t n_apart, size_t n_rows);

/* Returns the total number of rows, at least 2, from which on apart is faster, as far as is known.
 * If it never is, the number is larger than any engine has. */
size_t mt_layout_rows(const struct mt_layout *layout);

/* To be called after each step. n_rows: the lane's recent rows, including those that wait.
 * n_running: its sentences in batches. n_taking: how many workers take sentences now. */
void mt_layout_note(struct mt_layout *layout, const struct mt_layout_work *work, double n_rows,
                    size_t n_running, size_t n_taking);

/* To be called where another lane has sentences, too: what has been measured since the last note is
 * dropped. */
void mt_layout_interrupt(struct mt_layout *layout, int64_t busy_ns);

/* How many workers have to take sentences for a trial; 0: there is no trial. */
size_t mt_layout_on_trial(const struct mt_layout *layout);

#endif
