/*
 * Threads that work on the text of requests: they parse, split, tokenize, and write replies. A task
 * waits in a queue until a thread runs it to its end.
 *
 * Short tasks do not wait for long ones: at most half of the threads run long ones at a time, and
 * there are at least two threads. Of the tasks that wait, those that end a request go first,
 * because a request holds memory until it has ended; then short beginnings; then long ones, each of
 * which waits for at most eight short ones. Clients take turns, so that many tasks of one client do
 * not delay another client's first. A task whose deadline has come goes before all others, so that
 * it can report that.
 *
 * Thread-safety: safe, except create and destroy.
 */
#ifndef MT_SERVER_TEXT_TEXT_THREADS_H
#define MT_SERVER_TEXT_TEXT_THREADS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_text_threads;

/* {0} at first. From submit until run is called it belongs to the threads and may not be submitted
 * again; run may free it or submit it again. */
struct mt_text_task {
    void (*run)(struct mt_text_task *task);
    bool is_long;        /* it may take more than some milliseconds */
    bool is_ending;      /* it frees memory */
    uint64_t client;     /* the client that it is for: client.h */
    int64_t deadline_ns; /* clock.h; INT64_MAX: none */

    /* For the threads' use. */
    struct mt_text_task *next, *previous;
    uint64_t round;
    int queue;
    bool is_waiting;
};

/* n_threads 0: one per processor; always at least 2. Signals are blocked in them where they are
 * blocked in the caller. MT_MEMORY, MT_IO. */
MT_MUST_CHECK enum mt_status mt_text_threads_create(size_t n_threads, struct mt_text_threads **out,
                                                    struct mt_error *err);

/* Returns how many long tasks run at a time at most; n_threads as for create. */
size_t mt_text_threads_max_long(size_t n_threads);

/* Runs the tasks that still wait, and joins the threads. Waits for calls of submit or prioritise
 * that have not returned although their task has run. threads may be NULL. */
void mt_text_threads_destroy(struct mt_text_threads *threads);

/* This takes time in proportion to the number of tasks in the same queue. */
void mt_text_threads_submit(struct mt_text_threads *threads, struct mt_text_task *task);

/* If the task waits, it goes before all others from now on. The caller makes sure that the task
 * exists, and that nobody submits it at the same time. */
void mt_text_threads_prioritise(struct mt_text_threads *threads, struct mt_text_task *task);

#endif
