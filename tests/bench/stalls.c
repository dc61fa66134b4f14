#include "tests/bench/stalls.h"

#include "base/size.h"
#include "tests/bench/machine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAP_NS 2000000
/* A timer may be late by less. */
#define LATE_NS 1000000
/* Stalls of a processor that are remembered: those of the last second are asked for. */
#define N_REMEMBERED 1024

struct stall {
    int64_t begin_ns, end_ns;
};

struct watch {
    struct load_stalls *stalls;
    size_t processor;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    struct stall stalls_seen[N_REMEMBERED];
    size_t n_seen; /* the last one's place is (n_seen - 1) % N_REMEMBERED */
    int64_t longest_ns;
};

struct load_stalls {
    atomic_bool is_stopping;
    size_t n;
    struct watch watches[];
};

static void remember(struct watch *watch, struct stall stall)
{
    pthread_mutex_lock(&watch->lock);
    watch->stalls_seen[watch->n_seen++ % N_REMEMBERED] = stall;
    int64_t length_ns = stall.end_ns - stall.begin_ns;
    if (length_ns > watch->longest_ns)
        watch->longest_ns = length_ns;
    pthread_mutex_unlock(&watch->lock);
}

static void *run(void *argument)
{
    struct watch *watch = argument;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    while (!atomic_load(&watch->stalls->is_stopping)) {
        int64_t due_ns = load_real_time_ns() + NAP_NS;
        nanosleep(&nap, NULL);
        int64_t now_ns = load_real_time_ns();
        if (now_ns > due_ns + LATE_NS)
            remember(watch, (struct stall){due_ns, now_ns});
    }
    return NULL;
}

static int start_watch(struct watch *watch)
{
    pthread_attr_t attributes;
    cpu_set_t processor;
    CPU_ZERO(&processor);
    CPU_SET(watch->processor, &processor);
    const struct sched_param first = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &first);
    pthread_attr_setaffinity_np(&attributes, sizeof processor, &processor);
    pthread_mutex_init(&watch->lock, NULL);
    int code = pthread_create(&watch->thread, &attributes, run, watch);
    pthread_attr_destroy(&attributes);
    if (code)
        pthread_mutex_destroy(&watch->lock);
    return code;
}

enum mt_status load_stalls_start(struct load_stalls **out, struct mt_error *err)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return mt_fail(err, MT_IO, "which processors there are: %s", strerror(errno));
    size_t bytes = (size_t)CPU_COUNT(&usable) * sizeof(struct watch);
    struct load_stalls *stalls = calloc(1, sizeof *stalls + bytes);
    if (!stalls)
        return mt_fail_memory(err, bytes, "a watch for stalls");
    int code = 0;
    for (size_t i = 0; i < CPU_SETSIZE && !code; i++) {
        if (!CPU_ISSET(i, &usable))
            continue;
        struct watch *watch = &stalls->watches[stalls->n];
        watch->stalls = stalls;
        watch->processor = i;
        code = start_watch(watch);
        stalls->n += code == 0;
    }
    if (code) {
        load_stalls_stop(stalls);
        return mt_fail(err, code == EPERM ? MT_UNSUPPORTED : MT_IO,
                       "a thread with real-time priority: %s", strerror(code));
    }
    *out = stalls;
    return MT_OK;
}

void load_stalls_stop(struct load_stalls *stalls)
{
    if (!stalls)
        return;
    atomic_store(&stalls->is_stopping, true);
    for (size_t i = 0; i < stalls->n; i++) {
        pthread_join(stalls->watches[i].thread, NULL);
        pthread_mutex_destroy(&stalls->watches[i].lock);
    }
    free(stalls);
}

static int64_t within(struct watch *watch, int64_t from_ns, int64_t until_ns)
{
    int64_t sum_ns = 0;
    pthread_mutex_lock(&watch->lock);
    size_t n = mt_size_min(watch->n_seen, N_REMEMBERED);
    for (size_t i = 1; i <= n; i++) {
        struct stall stall = watch->stalls_seen[(watch->n_seen - i) % N_REMEMBERED];
        if (stall.end_ns <= from_ns)
            break;
        int64_t begin_ns = stall.begin_ns > from_ns ? stall.begin_ns : from_ns;
        int64_t end_ns = stall.end_ns < until_ns ? stall.end_ns : until_ns;
        if (end_ns > begin_ns)
            sum_ns += end_ns - begin_ns;
    }
    pthread_mutex_unlock(&watch->lock);
    return sum_ns;
}

int64_t load_stalls_within(struct load_stalls *stalls, int64_t from_ns, int64_t until_ns)
{
    int64_t most_ns = 0;
    for (size_t i = 0; i < stalls->n; i++) {
        int64_t sum_ns = within(&stalls->watches[i], from_ns, until_ns);
        if (sum_ns > most_ns)
            most_ns = sum_ns;
    }
    return most_ns;
}

int64_t load_stalls_longest(struct load_stalls *stalls)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < stalls->n; i++) {
        struct watch *watch = &stalls->watches[i];
        pthread_mutex_lock(&watch->lock);
        if (watch->longest_ns > longest_ns)
            longest_ns = watch->longest_ns;
        pthread_mutex_unlock(&watch->lock);
    }
    return longest_ns;
}
