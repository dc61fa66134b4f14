/*
 * Threads for what the text of requests takes: parsing, splitting, tokenizing, and putting replies
 * together. A task waits in a queue until a thread runs it, to its end.
 *
 * Short tasks do not wait for long ones: at most half of the threads run long ones at a time, and
 * there are always two threads at least. Of the tasks that wait, those that end a request come
 * first, because such a request holds memory until it has ended; then short beginnings; then long
 * ones, of which each goes before the ninth short one. Clients take turns, so that many tasks of
 * one client do not delay another client's first. A task whose deadline has come is run before all
 * others, whatever it is, so that it can say so.
 *
 * Thread-safety: every function but create and destroy is safe.
 */
#ifndef MT_SERVER_TEXT_TEXT_THREADS_H
#define MT_SERVER_TEXT_TEXT_THREADS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_text_threads;

/* {0} at first. It belongs to the threads from submit until run is called, and may not be submitted
 * again meanwhile; run may free it, or submit it again. */
struct mt_text_task {
    void (*run)(struct mt_text_task *task);
    bool is_long;        /* it may take more than some milliseconds */
    bool is_ending;      /* what it does lets memory go */
    uint64_t client;     /* whose it is: client.h */
    int64_t deadline_ns; /* clock.h; INT64_MAX: none */

    /* Private. */
    struct mt_text_task *next, *previous;
    uint64_t round;
    int line;
    bool is_waiting;
};

/* n_threads 0: as many as there are processors; at least 2 in any case. Signals are blocked in all
 * of them where they are blocked in the caller. MT_MEMORY, MT_IO. */
MT_MUST_CHECK enum mt_status mt_text_threads_create(size_t n_threads, struct mt_text_threads **out,
                                                    struct mt_error *err);

/* How many long tasks run at a time, at most; n_threads as for create. */
size_t mt_text_threads_max_long(size_t n_threads);

/* Takes NULL. Runs what still waits, and joins the threads. A call of submit or prioritise whose
 * task has run need not have returned yet: destroy waits for it. */
void mt_text_threads_destroy(struct mt_text_threads *threads);

/* Time: proportional to the number of tasks that wait in the same line. */
void mt_text_threads_submit(struct mt_text_threads *threads, struct mt_text_task *task);

/* Runs the task before all others if it waits; does nothing if it does not. The caller knows that
 * the task exists, and that nobody submits it at the same time. */
void mt_text_threads_prioritise(struct mt_text_threads *threads, struct mt_text_task *task);

/* How many tasks wait. */
size_t mt_text_threads_n_waiting(struct mt_text_threads *threads);

#endif
