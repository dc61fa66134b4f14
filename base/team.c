#include "base/team.h"

#include "base/clock.h"
#include "base/cores.h"
#include "base/fault.h"
#include "base/size.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long a waiting thread spins before it sleeps. On a virtual machine a sleeping thread takes 50
 * microseconds to wake even if its processor is idle, which is as long as a layer of a small
 * model. */

/* How long a member spins before it sleeps: longer than a worker takes between two steps, so that
 * it is awake for the next one. */
#define NEXT_RUN_SPIN_NS 60000

/* How long a member spins after it was woken: about as long as the work before its run takes. */
#define WOKEN_SPIN_NS 150000

/* Within a run: longer than the gap between two operations of a layer. After that the wait counts
 * as a delay by a member that does not run, because another thread has its processor. If the delay
 * is short, spinning on saves a sleep. If it is long, spinning only keeps that other thread from a
 * second processor. So a team halves the time that it spins after each delay that was longer, and
 * adds a step after each that was not. */
#define SPIN_NS 20000
#define MAX_DELAY_SPIN_NS 100000
#define MIN_DELAY_SPIN_NS 6000 /* which is also the step */

/* Reading the clock costs about as much as this many pauses. */
#define PAUSES_PER_LOOK 16

#define CACHE_LINE 64

struct member {
    struct mt_team *team;
    size_t index;
    pthread_t thread;
};

/* A generation is a number and, in its low bits, how many members take part in its run, so that a
 * member that does not take part and wakes up late never joins the wrong run. */
#define WIDTH_BITS 9
#define WIDTH_MASK ((UINT32_C(1) << WIDTH_BITS) - 1)
_Static_assert(MT_TEAM_MAX_THREADS <= WIDTH_MASK, "a width fits");

/*
 * One run:
 *
 *   caller                                   member
 *   sets work, context, n_pending = n - 1    waits until generation changes
 *   next generation, wakes sleepers          does its share, if it takes part
 *   does its own share                       n_pending--, the last one wakes the caller
 *   waits until n_pending is 0               waits until generation changes
 *
 * generation is what the members wait on, n_pending what the caller waits on; each has a cache line
 * of its own. Both waits follow one protocol: the waiter announces that it sleeps, then asks the
 * kernel to sleep unless the value has changed; the other side changes the value, then looks for
 * sleepers. All four accesses are sequentially consistent: at least one side sees the other, so no
 * wake-up is lost, and no system call is made while everyone spins.
 */
struct mt_team {
    size_t n_members;
    struct member *members; /* 1..n_members-1; member 0 is the caller */
    /* number of members that take part; owned by the caller, and read by members during a run */
    size_t width;
    bool can_spin; /* there is a processor for each member */

    /* Written by the caller before generation, read by members after it. */
    mt_team_work *work;
    void *context;
    atomic_bool is_stopping;

    _Alignas(CACHE_LINE) _Atomic uint32_t generation;
    _Atomic uint32_t n_sleeping;
    _Alignas(CACHE_LINE) _Atomic uint32_t n_pending;
    _Atomic uint32_t is_caller_sleeping;

    /* The barrier within a run: the last to arrive opens the next phase. */
    _Alignas(CACHE_LINE) _Atomic uint32_t n_arrived;
    _Alignas(CACHE_LINE) _Atomic uint32_t phase;
    _Atomic uint32_t n_sleeping_at_barrier;
    _Atomic int64_t held_up_ns;
    _Atomic int64_t delay_spin_ns; /* how long a member that is held up spins */
};

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Returns at once if *value is no longer `seen`, and may also return for no reason, so callers
 * loop. */
static void futex_wait(_Atomic uint32_t *value, uint32_t seen)
{
    syscall(SYS_futex, value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *value)
{
    syscall(SYS_futex, value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Spins while *value is `seen`, for at most spin_ns. Returns the last value read. */
static uint32_t spin_while(_Atomic uint32_t *value, uint32_t seen, int64_t spin_ns)
{
    uint32_t now = atomic_load_explicit(value, memory_order_acquire);
    if (now != seen || spin_ns == 0)
        return now;
    int64_t end = mt_now_ns() + spin_ns;
    do {
        for (int i = 0; i < PAUSES_PER_LOOK; i++) {
            now = atomic_load_explicit(value, memory_order_acquire);
            if (now != seen)
                return now;
            pause_cpu();
        }
    } while (mt_now_ns() < end);
    return now;
}

/* Waits while *value is `seen`, and returns the new value. */
static uint32_t wait_while(_Atomic uint32_t *value, uint32_t seen, _Atomic uint32_t *n_sleeping,
                           int64_t spin_ns)
{
    uint32_t now = spin_while(value, seen, spin_ns);
    if (now != seen)
        return now;
    atomic_fetch_add(n_sleeping, 1);
    while ((now = atomic_load(value)) == seen)
        futex_wait(value, seen);
    atomic_fetch_sub(n_sleeping, 1);
    return now;
}

/* Wakes the first width members for a run; 0: wakes the others, so that they expect one. */
static void wake_members(struct mt_team *team, size_t width)
{
    uint32_t number = atomic_load_explicit(&team->generation, memory_order_relaxed) >> WIDTH_BITS;
    atomic_store(&team->generation, (number + 1) << WIDTH_BITS | (uint32_t)width);
    if (atomic_load(&team->n_sleeping))
        futex_wake_all(&team->generation);
}

static void finish_share(struct mt_team *team)
{
    bool is_last = atomic_fetch_sub(&team->n_pending, 1) == 1;
    if (is_last && atomic_load(&team->is_caller_sleeping))
        futex_wake_all(&team->n_pending);
}

/* Waits within a run, until *value differs from `seen`. */
static uint32_t wait_in_run(struct mt_team *team, _Atomic uint32_t *value, uint32_t seen,
                            _Atomic uint32_t *n_sleeping)
{
    uint32_t now = spin_while(value, seen, team->can_spin ? SPIN_NS : 0);
    if (now != seen)
        return now;
    int64_t begin_ns = mt_now_ns();
    int64_t spin_ns = atomic_load_explicit(&team->delay_spin_ns, memory_order_relaxed);
    now = spin_while(value, seen, team->can_spin ? spin_ns : 0);
    if (now == seen) {
        now = wait_while(value, seen, n_sleeping, 0);
        spin_ns = spin_ns / 2 > MIN_DELAY_SPIN_NS ? spin_ns / 2 : MIN_DELAY_SPIN_NS;
    } else if (spin_ns < MAX_DELAY_SPIN_NS) {
        spin_ns += MIN_DELAY_SPIN_NS;
    }
    atomic_store_explicit(&team->delay_spin_ns, spin_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->held_up_ns, mt_now_ns() - begin_ns, memory_order_relaxed);
    return now;
}

static void wait_for_members(struct mt_team *team)
{
    uint32_t pending = atomic_load_explicit(&team->n_pending, memory_order_acquire);
    while (pending)
        pending = wait_in_run(team, &team->n_pending, pending, &team->is_caller_sleeping);
}

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct mt_team *team = member->team;
    prctl(PR_SET_NAME, "team");
    /* The current generation is not taken, because the first run may have begun before this
     * thread. */
    uint32_t seen = 0;
    int64_t spin_ns = team->can_spin ? NEXT_RUN_SPIN_NS : 0;
    for (;;) {
        seen = wait_while(&team->generation, seen, &team->n_sleeping, spin_ns);
        if (atomic_load(&team->is_stopping))
            return NULL;
        size_t width = seen & WIDTH_MASK;
        /* A member that does not take part expects no run soon, so it leaves the processor to
         * others. */
        spin_ns = 0;
        if (team->can_spin && width == 0)
            spin_ns = WOKEN_SPIN_NS;
        else if (team->can_spin && member->index < width)
            spin_ns = NEXT_RUN_SPIN_NS;
        if (member->index >= width)
            continue;
        team->work(team->context, member->index, width);
        finish_share(team);
    }
}

/* With fewer processors than members, a spinning thread takes the time of the one it waits for. */
static bool has_processors(size_t n_members)
{
    return mt_cores_available() >= n_members;
}

/* Stops and joins the threads of members 1..n_started. */
static void stop_members(struct mt_team *team, size_t n_started)
{
    atomic_store(&team->is_stopping, true);
    wake_members(team, team->width);
    for (size_t i = 1; i <= n_started; i++)
        pthread_join(team->members[i].thread, NULL);
}

/* Signals are blocked for members, because they are meant for the threads that the program itself
 * started. */
static enum mt_status start_members(struct mt_team *team, struct mt_error *err)
{
    sigset_t old;
    mt_fault_block_others(&old);
    enum mt_status status = MT_OK;
    for (size_t i = 1; i < team->n_members && !status; i++) {
        struct member *member = &team->members[i];
        *member = (struct member){.team = team, .index = i};
        int error = pthread_create(&member->thread, NULL, member_main, member);
        if (error) {
            status = mt_fail(err, MT_IO, "cannot start thread %zu of a team of %zu: %s", i + 1,
                             team->n_members, strerror(error));
            stop_members(team, i - 1);
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

static void release(struct mt_team *team)
{
    free(team->members);
    free(team);
}

enum mt_status mt_team_create(size_t n_threads, struct mt_team **out, struct mt_error *err)
{
    if (n_threads < 1 || n_threads > MT_TEAM_MAX_THREADS)
        return mt_fail(err, MT_INVALID, "a team of %zu threads, expected 1 to %d", n_threads,
                       MT_TEAM_MAX_THREADS);
    struct mt_team *team = aligned_alloc(CACHE_LINE, sizeof *team);
    if (!team)
        return mt_fail_memory(err, sizeof *team, "team");
    *team = (struct mt_team){.n_members = n_threads,
                             .width = n_threads,
                             .can_spin = has_processors(n_threads),
                             .delay_spin_ns = MAX_DELAY_SPIN_NS};
    team->members = calloc(n_threads, sizeof *team->members);
    enum mt_status status = team->members
                                ? start_members(team, err)
                                : mt_fail_memory(err, n_threads * sizeof *team->members, "team");
    if (status) {
        release(team);
        return status;
    }
    *out = team;
    return MT_OK;
}

enum mt_status mt_team_try_create(size_t n_threads, struct mt_team **out, struct mt_error *err)
{
    *out = NULL;
    enum mt_status status = mt_team_create(n_threads, out, err);
    return status == MT_IO ? MT_OK : status;
}

void mt_team_destroy(struct mt_team *team)
{
    if (!team)
        return;
    stop_members(team, team->n_members - 1);
    release(team);
}

size_t mt_team_size(const struct mt_team *team)
{
    return team ? team->n_members : 1;
}

void mt_team_set_width(struct mt_team *team, size_t n)
{
    assert(n >= 1 && n <= team->n_members);
    team->width = n;
}

size_t mt_team_width(const struct mt_team *team)
{
    return team ? team->width : 1;
}

int64_t mt_team_held_up_ns(const struct mt_team *team)
{
    return team ? atomic_load_explicit(&team->held_up_ns, memory_order_relaxed) : 0;
}

void mt_team_wake_up(struct mt_team *team)
{
    if (mt_team_width(team) > 1)
        wake_members(team, 0);
}

void mt_team_run(struct mt_team *team, mt_team_work *work, void *context)
{
    if (mt_team_width(team) == 1) {
        work(context, 0, 1);
        return;
    }
    team->work = work;
    team->context = context;
    atomic_store_explicit(&team->n_pending, (uint32_t)(team->width - 1), memory_order_relaxed);
    wake_members(team, team->width);
    work(context, 0, team->width);
    wait_for_members(team);
}

void mt_team_barrier(struct mt_team *team)
{
    if (mt_team_width(team) == 1)
        return;
    uint32_t phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
    if (atomic_fetch_add(&team->n_arrived, 1) + 1 == team->width) {
        atomic_store_explicit(&team->n_arrived, 0, memory_order_relaxed);
        atomic_fetch_add(&team->phase, 1);
        if (atomic_load(&team->n_sleeping_at_barrier))
            futex_wake_all(&team->phase);
        return;
    }
    while (atomic_load_explicit(&team->phase, memory_order_acquire) == phase)
        wait_in_run(team, &team->phase, phase, &team->n_sleeping_at_barrier);
}

void mt_team_share(size_t n, size_t granularity, size_t member, size_t n_members, size_t *begin,
                   size_t *end)
{
    size_t granules = n / granularity + (n % granularity != 0);
    size_t each = granules / n_members, left_over = granules % n_members;
    size_t first = member * each + mt_size_min(member, left_over);
    size_t behind = first + each + (member < left_over);
    /* The last share may end earlier; computing its end by a product could overflow. */
    *begin = first == granules ? n : first * granularity;
    *end = behind == granules ? n : behind * granularity;
}
