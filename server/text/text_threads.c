#include "server/text/text_threads.h"

#include "base/clock.h"
#include "base/cores.h"
#include "base/list.h"
#include "base/size.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Two, so that one is always free for short tasks. */
#define MIN_THREADS 2
/* How many short beginnings go before a long one that waits: they take some milliseconds each, a
 * long one up to a hundred. */
#define MAX_SHORT_IN_A_ROW 8
/* Long compared to the time that waking a thread takes, short compared to what clients notice. */
#define LATE_NS 1000000

/* Lines are in the order in which they are served. */
enum queue { URGENT, SHORT_ENDINGS, LONG_ENDINGS, SHORT_BEGINNINGS, LONG_BEGINNINGS, N_QUEUES };

struct mt_text_threads {
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t work;
    struct {
        struct mt_text_task *first, *last; /* by round */
        uint64_t round;                    /* round of the last task taken from the queue */
    } queues[N_QUEUES];
    size_t n_waiting, n_idle;
    /* when an idle thread was woken that has not looked for work since; 0: none */
    int64_t woken_ns;
    size_t n_long; /* how many long tasks run */
    unsigned n_short_in_a_row;
    int64_t next_deadline_ns; /* no waiting task has an earlier deadline */
    bool is_stopping;
    /* threads that have released the mutex and are about to signal work */
    atomic_size_t n_signalling;

    size_t max_long;
    size_t n_threads;
    pthread_t threads[];
};

static bool is_long_queue(int queue)
{
    return queue == LONG_ENDINGS || queue == LONG_BEGINNINGS;
}

static void take_out(struct mt_text_threads *threads, struct mt_text_task *task)
{
    MT_LIST_REMOVE(&threads->queues[task->queue], task);
    task->is_waiting = false;
    threads->n_waiting--;
}

/* Inserts the task behind all of the same or an earlier round. */
static void put_in(struct mt_text_threads *threads, struct mt_text_task *task)
{
    struct mt_text_task *previous = threads->queues[task->queue].last;
    while (previous && previous->round > task->round)
        previous = previous->previous;
    MT_LIST_INSERT(&threads->queues[task->queue], task, previous);
    task->is_waiting = true;
    threads->n_waiting++;
}

/* Returns the round of a client's next task: it comes after that of its last task, and after the
 * one that is being served, in which the client may have had its turn. */
static uint64_t find_round(const struct mt_text_threads *threads, int queue, uint64_t client)
{
    const struct mt_text_task *task = threads->queues[queue].last;
    while (task && task->client != client)
        task = task->previous;
    return (task ? task->round : threads->queues[queue].round) + 1;
}

static void make_urgent(struct mt_text_threads *threads, struct mt_text_task *task)
{
    take_out(threads, task);
    task->queue = URGENT;
    put_in(threads, task);
}

static int queue_of(const struct mt_text_task *task)
{
    if (task->is_ending)
        return task->is_long ? LONG_ENDINGS : SHORT_ENDINGS;
    return task->is_long ? LONG_BEGINNINGS : SHORT_BEGINNINGS;
}

/* Returns the queue that is served next; N_QUEUES where none may be now. */
static int choose_queue(const struct mt_text_threads *threads)
{
    bool may_be_long = threads->n_long < threads->max_long || threads->is_stopping;
    bool has_long = may_be_long && threads->queues[LONG_BEGINNINGS].first;
    if (has_long && threads->n_short_in_a_row >= MAX_SHORT_IN_A_ROW &&
        !threads->queues[URGENT].first)
        return LONG_BEGINNINGS;
    for (int queue = 0; queue < N_QUEUES; queue++)
        if (threads->queues[queue].first && (may_be_long || !is_long_queue(queue)))
            return queue;
    return N_QUEUES;
}

/* Puts tasks whose deadline has come before all others. */
static void rescue_overdue(struct mt_text_threads *threads, int64_t now_ns)
{
    threads->next_deadline_ns = INT64_MAX;
    for (int queue = SHORT_BEGINNINGS; queue < N_QUEUES; queue++) {
        struct mt_text_task *next;
        for (struct mt_text_task *task = threads->queues[queue].first; task; task = next) {
            next = task->next;
            if (task->deadline_ns <= now_ns)
                make_urgent(threads, task);
            else if (task->deadline_ns < threads->next_deadline_ns)
                threads->next_deadline_ns = task->deadline_ns;
        }
    }
}

static struct mt_text_task *take_next(struct mt_text_threads *threads, int queue)
{
    struct mt_text_task *task = threads->queues[queue].first;
    if (queue == SHORT_BEGINNINGS)
        threads->n_short_in_a_row++;
    else if (queue == LONG_BEGINNINGS)
        threads->n_short_in_a_row = 0;
    threads->queues[queue].round = task->round;
    take_out(threads, task);
    return task;
}

/* Releases the mutex. Where a task waits, wakes an idle thread, which takes the task or, if it may
 * not be run yet, sleeps until its deadline. Waking a thread costs more than a short task, and a
 * woken thread takes all that has come meanwhile and wakes the next one if more is left. So no
 * other thread is woken until it has looked, unless it is late: it may have no processor, and glibc
 * loses a signal once in a long while (its bug 25847). */
static void unlock_and_wake(struct mt_text_threads *threads, bool has_task)
{
    bool wakes = false;
    if (has_task && threads->n_idle > 0) {
        int64_t now_ns = mt_now_ns();
        wakes = threads->woken_ns == 0 || now_ns - threads->woken_ns >= LATE_NS;
        if (wakes) {
            threads->woken_ns = now_ns;
            atomic_fetch_add(&threads->n_signalling, 1);
        }
    }
    pthread_mutex_unlock(&threads->mutex);
    if (wakes) {
        pthread_cond_signal(&threads->work);
        atomic_fetch_sub(&threads->n_signalling, 1);
    }
}

/* Returns when a task may be ready. Called with the mutex held. */
static void sleep_until_work(struct mt_text_threads *threads)
{
    threads->n_idle++;
    if (threads->n_waiting == 0 || threads->next_deadline_ns == INT64_MAX) {
        pthread_cond_wait(&threads->work, &threads->mutex);
    } else {
        const struct timespec until = mt_timespec_of_ns(threads->next_deadline_ns);
        pthread_cond_timedwait(&threads->work, &threads->mutex, &until);
    }
    threads->n_idle--;
    threads->woken_ns = 0;
}

/* Returns NULL where the threads stop and no task waits. Called with the mutex held. */
static struct mt_text_task *wait_for_task(struct mt_text_threads *threads)
{
    for (;;) {
        if (threads->n_waiting > 0 && threads->next_deadline_ns != INT64_MAX) {
            int64_t now_ns = mt_now_ns();
            if (now_ns >= threads->next_deadline_ns)
                rescue_overdue(threads, now_ns);
        }
        int queue = choose_queue(threads);
        if (queue != N_QUEUES)
            return take_next(threads, queue);
        if (threads->is_stopping)
            return NULL;
        sleep_until_work(threads);
    }
}

static void *run(void *argument)
{
    struct mt_text_threads *threads = argument;
    struct mt_text_task *task;
    prctl(PR_SET_NAME, "text");
    pthread_mutex_lock(&threads->mutex);
    while ((task = wait_for_task(threads))) {
        bool is_long = is_long_queue(task->queue);
        threads->n_long += is_long;
        unlock_and_wake(threads, threads->n_waiting > 0);
        task->run(task);
        pthread_mutex_lock(&threads->mutex);
        threads->n_long -= is_long;
    }
    pthread_mutex_unlock(&threads->mutex);
    return NULL;
}

static enum mt_status start_threads(struct mt_text_threads *threads, size_t n, struct mt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int code = pthread_create(&threads->threads[i], NULL, run, threads);
        if (code)
            return mt_fail(err, MT_IO, "cannot start a text thread: %s", strerror(code));
        threads->n_threads++;
    }
    return MT_OK;
}

static size_t choose_n_threads(size_t n_threads)
{
    return mt_size_max(n_threads ? n_threads : mt_cores_available(), MIN_THREADS);
}

size_t mt_text_threads_max_long(size_t n_threads)
{
    return choose_n_threads(n_threads) / 2;
}

enum mt_status mt_text_threads_create(size_t n_threads, struct mt_text_threads **out,
                                      struct mt_error *err)
{
    size_t n = choose_n_threads(n_threads);
    struct mt_text_threads *threads = calloc(1, sizeof *threads + n * sizeof threads->threads[0]);
    if (!threads)
        return mt_fail_memory(err, sizeof *threads, "text threads");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    threads->next_deadline_ns = INT64_MAX;
    threads->max_long = mt_text_threads_max_long(n);
    enum mt_status status = start_threads(threads, n, err);
    if (status) {
        mt_text_threads_destroy(threads);
        return status;
    }
    *out = threads;
    return MT_OK;
}

void mt_text_threads_destroy(struct mt_text_threads *threads)
{
    if (!threads)
        return;
    pthread_mutex_lock(&threads->mutex);
    threads->is_stopping = true;
    pthread_cond_broadcast(&threads->work);
    pthread_mutex_unlock(&threads->mutex);
    for (size_t i = 0; i < threads->n_threads; i++)
        pthread_join(threads->threads[i], NULL);
    /* A thread that submitted the last task may still be about to wake another one for it. */
    while (atomic_load(&threads->n_signalling) > 0)
        sched_yield();
    pthread_cond_destroy(&threads->work);
    pthread_mutex_destroy(&threads->mutex);
    free(threads);
}

void mt_text_threads_submit(struct mt_text_threads *threads, struct mt_text_task *task)
{
    pthread_mutex_lock(&threads->mutex);
    assert(!task->is_waiting);
    task->queue = queue_of(task);
    task->round = find_round(threads, task->queue, task->client);
    put_in(threads, task);
    if (task->deadline_ns < threads->next_deadline_ns)
        threads->next_deadline_ns = task->deadline_ns;
    unlock_and_wake(threads, true);
}

void mt_text_threads_prioritise(struct mt_text_threads *threads, struct mt_text_task *task)
{
    pthread_mutex_lock(&threads->mutex);
    bool is_waiting = task->is_waiting;
    if (is_waiting)
        make_urgent(threads, task);
    unlock_and_wake(threads, is_waiting);
}
