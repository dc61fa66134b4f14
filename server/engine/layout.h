/*
 * How a lane's rows are shared among the threads: together, in one batch that a team steps, or apart,
 * in a batch for each thread. Which is faster depends on the model, the processor, the sentences and
 * on what else the machine does, so it is learned while the lane works: now and then the other way is
 * tried for as long as some sentences take, and what came out in that time is held against what came
 * out just before. Each size, a number of rows in all, has a result of its own, the mean of its last
 * trials, and from all of them follows how many rows are enough for apart.
 *
 *   reference -> settle (the sentences that are under way end) -> trial -> settle -> reference ...
 *
 * Trials are frequent at first, less so far above the presumed size, and become rare: in the end they
 * take a sixty-fourth of the time, and where one way is much faster a quarter of that. What is decoded
 * is the same either way.
 *
 * Thread-safety: none of its own; the engine's mutex guards it. Nothing is allocated.
 */
#ifndef MT_SERVER_ENGINE_LAYOUT_H
#define MT_SERVER_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two to an octave, from 2 rows on: 2, 3, 4, 6, 8, ... The last is for all above. */
#define MT_LAYOUT_SIZES 11

enum mt_layout_way { MT_TOGETHER, MT_APART };

/* What a lane's workers have done since it was made, all of them together. */
struct mt_layout_work {
    int64_t busy_ns;      /* time in which it had sentences */
    int64_t encode_ns;    /* of encoder passes; those of several workers at once are added */
    uint64_t n_rows;      /* of decoder steps */
    uint64_t n_tokens;    /* of sources, through the encoder */
    uint64_t n_sentences; /* that have ended */
};

/* Work in one way at about one size, from begin on. */
struct mt_layout_window {
    enum mt_layout_way way;
    size_t size;
    bool is_open, is_settled;
    uint64_t settled_at; /* n_sentences at which it is */
    struct mt_layout_work begin;
};

struct mt_layout_result {
    double gain; /* the natural logarithm of how many times as fast apart is */
    unsigned n_trials;
    int64_t next_ns; /* the next trial is due when the lane has been busy for so long */
};

struct mt_layout {
    size_t n_workers[2]; /* that take sentences, by way */
    size_t presumed;     /* the size from which on apart is faster, as long as nothing is known */
    size_t first_apart;  /* the same, as far as is known; MT_LAYOUT_SIZES: never */
    bool is_trial;
    int64_t trial_began_ns;
    struct mt_layout_window window;
    struct mt_layout_work reference; /* of the window before the trial */
    struct mt_layout_result results[MT_LAYOUT_SIZES];
};

/* n_apart >= n_together >= 1; where they are equal there is nothing to choose. n_rows: in all, from
 * which on apart is presumed to be faster. */
void mt_layout_init(struct mt_layout *layout, size_t n_together, size_t n_apart, size_t n_rows);

/* The least number of rows in all, 2 or more, with which apart is faster as far as is known; more than
 * an engine has, where it never is. */
size_t mt_layout_rows(const struct mt_layout *layout);

/* After each step. n_rows: of the lane of late, those that wait included. n_running: its sentences
 * in batches. n_taking: how many workers take sentences now. */
void mt_layout_note(struct mt_layout *layout, const struct mt_layout_work *work, double n_rows,
                    size_t n_running, size_t n_taking);

/* Another lane has sentences, too: what has been measured since the last note says nothing. */
void mt_layout_interrupt(struct mt_layout *layout, int64_t busy_ns);

/* How many workers are to take sentences because of a trial; 0: there is none. */
size_t mt_layout_on_trial(const struct mt_layout *layout);

#endif
