#include "base/team.h"

#include "base/size.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

/* One thread, fewer than processors, more than processors. */
static const size_t team_sizes[] = {1, 2, 3, 4, 9};
#define N_TEAM_SIZES ((int)(sizeof team_sizes / sizeof *team_sizes))
#define MAX_SIZE 9

static struct mt_team *create(size_t n)
{
    struct mt_team *team;
    struct mt_error err;
    ck_assert_msg(mt_team_create(n, &team, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(mt_team_size(team), n);
    return team;
}

/* Plain memory, so that the thread sanitizer sees whether a run orders what its members do. */
struct counts {
    size_t n_calls[MAX_SIZE], n_members_seen[MAX_SIZE];
};

static void count(void *context, size_t member, size_t n_members)
{
    struct counts *counts = context;
    counts->n_calls[member]++;
    counts->n_members_seen[member] = n_members;
}

START_TEST(every_member_runs_once_per_run)
{
    size_t n = team_sizes[_i];
    struct mt_team *team = create(n);
    struct counts counts = {0};
    for (size_t run = 1; run <= 3000; run++) {
        mt_team_run(team, count, &counts);
        for (size_t member = 0; member < n; member++)
            if (counts.n_calls[member] != run || counts.n_members_seen[member] != n)
                ck_abort_msg("run %zu of %zu members: member %zu was called %zu times", run, n,
                             member, counts.n_calls[member]);
    }
    mt_team_destroy(team);
}
END_TEST

/* In every order of widths: who is left out comes back in time, and does not take part twice. */
START_TEST(only_those_within_the_width_take_part)
{
    size_t n = team_sizes[_i], n_runs[MAX_SIZE] = {0};
    struct mt_team *team = create(n);
    struct counts counts = {0};
    ck_assert_uint_eq(mt_team_width(team), n);
    for (size_t run = 1; run <= 3000; run++) {
        size_t width = 1 + run * 7 / 3 % n;
        mt_team_set_width(team, width);
        if (run % 100 == 0)
            usleep(300);
        mt_team_run(team, count, &counts);
        for (size_t member = 0; member < n; member++) {
            n_runs[member] += member < width;
            if (counts.n_calls[member] != n_runs[member] ||
                (member < width && counts.n_members_seen[member] != width))
                ck_abort_msg("run %zu of %zu: member %zu was called %zu times, expected %zu", run,
                             width, member, counts.n_calls[member], n_runs[member]);
        }
    }
    mt_team_destroy(team);
}
END_TEST

/* Longer pauses than anyone spins: members sleep, and must be woken. */
START_TEST(sleeping_members_are_woken)
{
    size_t n = team_sizes[_i];
    struct mt_team *team = create(n);
    struct counts counts = {0};
    for (size_t run = 1; run <= 100; run++) {
        usleep((useconds_t)(run % 3) * 400);
        mt_team_run(team, count, &counts);
        for (size_t member = 0; member < n; member++)
            ck_assert_uint_eq(counts.n_calls[member], run);
    }
    mt_team_destroy(team);
}
END_TEST

/* Whether a run follows at once, late or not at all: nobody works for having been woken. */
START_TEST(woken_members_work_when_there_is_a_run)
{
    size_t n = team_sizes[_i];
    struct mt_team *team = create(n);
    struct counts counts = {0};
    for (size_t run = 1; run <= 300; run++) {
        mt_team_wake_up(team);
        usleep((useconds_t)(run % 3) * 200);
        for (size_t member = 0; member < n; member++)
            ck_assert_uint_eq(counts.n_calls[member], run - 1);
        if (run % 5 == 0)
            mt_team_wake_up(team);
        mt_team_run(team, count, &counts);
        for (size_t member = 0; member < n; member++)
            ck_assert_uint_eq(counts.n_calls[member], run);
    }
    mt_team_wake_up(team);
    mt_team_wake_up(NULL);
    mt_team_destroy(team);
}
END_TEST

/* The member that takes longest is waited for, asleep. */
static void work_slowly(void *context, size_t member, size_t n_members)
{
    if (member == n_members - 1)
        usleep(2000);
    count(context, member, n_members);
}

START_TEST(the_slowest_member_is_waited_for)
{
    size_t n = team_sizes[_i];
    struct mt_team *team = create(n);
    struct counts counts = {0};
    for (size_t run = 1; run <= 50; run++) {
        mt_team_run(team, work_slowly, &counts);
        ck_assert_uint_eq(counts.n_calls[n - 1], run);
    }
    mt_team_destroy(team);
}
END_TEST

struct identity {
    pthread_t threads[MAX_SIZE];
    bool takes_signals[MAX_SIZE];
};

static void identify(void *context, size_t member, size_t n_members)
{
    struct identity *identity = context;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    identity->threads[member] = pthread_self();
    identity->takes_signals[member] = !sigismember(&blocked, SIGTERM);
}

START_TEST(members_are_different_threads_and_the_first_is_the_caller)
{
    size_t n = team_sizes[_i];
    struct mt_team *team = create(n);
    struct identity identity;
    mt_team_run(team, identify, &identity);
    ck_assert(pthread_equal(identity.threads[0], pthread_self()));
    for (size_t i = 0; i < n; i++) {
        ck_assert(identity.takes_signals[i] == (i == 0));
        for (size_t j = 0; j < i; j++)
            ck_assert(!pthread_equal(identity.threads[i], identity.threads[j]));
    }
    mt_team_destroy(team);
}
END_TEST

#define N_PHASES 200

struct relay {
    struct mt_team *team;
    size_t phases[MAX_SIZE];
    atomic_size_t n_wrong;
};

/* Behind each barrier everyone must see everyone in the same phase. */
static void pass_barriers(void *context, size_t member, size_t n_members)
{
    struct relay *relay = context;
    for (size_t phase = 1; phase <= N_PHASES; phase++) {
        relay->phases[member] = phase;
        mt_team_barrier(relay->team);
        for (size_t i = 0; i < n_members; i++)
            relay->n_wrong += relay->phases[i] != phase;
        mt_team_barrier(relay->team);
    }
}

START_TEST(barriers_hold_until_all_have_come)
{
    struct relay relay = {.team = create(team_sizes[_i])};
    for (int run = 0; run < 5; run++)
        mt_team_run(relay.team, pass_barriers, &relay);
    ck_assert_uint_eq(relay.n_wrong, 0);
    mt_team_destroy(relay.team);
}
END_TEST

static int64_t cpu_time_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

START_TEST(an_idle_team_takes_no_time)
{
    struct mt_team *team = create(4);
    struct counts counts = {0};
    mt_team_run(team, count, &counts);
    usleep(20000); /* spinning ends long before */
    int64_t before = cpu_time_us();
    usleep(200000);
    /* One spinning thread would take the 200,000. */
    ck_assert_int_lt(cpu_time_us() - before, 50000);
    mt_team_destroy(team);
}
END_TEST

START_TEST(no_team_is_a_team_of_one)
{
    struct counts counts = {0};
    ck_assert_uint_eq(mt_team_size(NULL), 1);
    mt_team_run(NULL, count, &counts);
    ck_assert_uint_eq(counts.n_calls[0], 1);
    ck_assert_uint_eq(counts.n_members_seen[0], 1);
    mt_team_barrier(NULL);
    mt_team_destroy(NULL);
}
END_TEST

START_TEST(sizes_out_of_range_are_refused)
{
    struct mt_team *team = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_team_create(0, &team, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "a team of 0 threads, expected 1 to 256");
    ck_assert_int_eq(mt_team_create(MT_TEAM_MAX_THREADS + 1, &team, &err), MT_INVALID);
    ck_assert_ptr_null(team);
}
END_TEST

static rlim_t address_space_bytes(void)
{
    unsigned long n_pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert(file && fscanf(file, "%lu", &n_pages) == 1);
    fclose(file);
    return (rlim_t)n_pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Room for a few stacks, but not for all: the threads that did start must be stopped again. */
START_TEST(failure_to_start_a_thread_is_reported_and_undone)
{
    if (IS_SANITIZED) {
        fprintf(stderr, "test_team: skipped under a sanitizer: no limit on the address space\n");
        return;
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)256 << 20), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&attributes), 0);
    struct rlimit old, limit;
    getrlimit(RLIMIT_AS, &old);
    limit = old;
    limit.rlim_cur = address_space_bytes() + ((rlim_t)1 << 30);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);

    struct mt_team *team = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_team_create(32, &team, &err), MT_IO);
    ck_assert_ptr_null(team);
    unsigned n = 0;
    ck_assert_int_eq(sscanf(err.message, "cannot start thread %u of a team of 32: ", &n), 1);
    ck_assert_uint_gt(n, 2);
    setrlimit(RLIMIT_AS, &old);
    struct counts counts = {0};
    team = create(3);
    mt_team_run(team, count, &counts);
    ck_assert_uint_eq(counts.n_calls[2], 1);
    mt_team_destroy(team);
}
END_TEST

static void sleep_if_second(void *context, size_t member, size_t n_members)
{
    (void)n_members;
    if (member == 1)
        usleep(*(useconds_t *)context);
}

START_TEST(waits_in_runs_are_counted)
{
    struct mt_team *team;
    useconds_t long_time = 20000;
    ck_assert_int_eq(mt_team_held_up_ns(NULL), 0);
    ck_assert_int_eq(mt_team_create(2, &team, NULL), MT_OK);
    usleep(20000); /* between runs it is not */
    ck_assert_int_eq(mt_team_held_up_ns(team), 0);
    /* On a busy machine the first member may come so late that the second has slept already. */
    for (int i = 0; i < 100 && mt_team_held_up_ns(team) < 15000000; i++)
        mt_team_run(team, sleep_if_second, &long_time);
    ck_assert_int_ge(mt_team_held_up_ns(team), 15000000);
    mt_team_destroy(team);
}
END_TEST

static void check_shares(size_t n, size_t granularity, size_t n_members)
{
    size_t expected_begin = 0, least = SIZE_MAX, most = 0;
    for (size_t member = 0; member < n_members; member++) {
        size_t begin, end;
        mt_team_share(n, granularity, member, n_members, &begin, &end);
        bool is_in_granules = end == n || end % granularity == 0;
        if (begin != expected_begin || end < begin || end > n || !is_in_granules)
            ck_abort_msg("%zu items by %zu for member %zu of %zu: [%zu, %zu)", n, granularity,
                         member, n_members, begin, end);
        size_t granules = (end - begin) / granularity + ((end - begin) % granularity != 0);
        least = mt_size_min(least, granules);
        most = mt_size_max(most, granules);
        expected_begin = end;
    }
    ck_assert_uint_eq(expected_begin, n);
    ck_assert_uint_le(most - least, 1);
}

START_TEST(shares_cover_everything_evenly)
{
    static const size_t large[] = {1000, 54688, SIZE_MAX - 1, SIZE_MAX};
    for (size_t granularity = 1; granularity <= 17; granularity++)
        for (size_t n_members = 1; n_members <= 9; n_members++) {
            for (size_t n = 0; n <= 70; n++)
                check_shares(n, granularity, n_members);
            for (size_t i = 0; i < sizeof large / sizeof *large; i++)
                check_shares(large[i], granularity, n_members);
        }
    check_shares(5, SIZE_MAX, 3);
    check_shares(1000, 1, MT_TEAM_MAX_THREADS);
}
END_TEST

Suite *suite_team(void)
{
    Suite *suite = suite_create("team");
    TCase *tcase = tcase_create("runs");
    tcase_add_loop_test(tcase, every_member_runs_once_per_run, 0, N_TEAM_SIZES);
    tcase_add_loop_test(tcase, only_those_within_the_width_take_part, 0, N_TEAM_SIZES);
    tcase_add_loop_test(tcase, sleeping_members_are_woken, 0, N_TEAM_SIZES);
    tcase_add_loop_test(tcase, woken_members_work_when_there_is_a_run, 0, N_TEAM_SIZES);
    tcase_add_loop_test(tcase, the_slowest_member_is_waited_for, 0, N_TEAM_SIZES);
    tcase_add_loop_test(tcase, members_are_different_threads_and_the_first_is_the_caller, 0,
                        N_TEAM_SIZES);
    tcase_add_loop_test(tcase, barriers_hold_until_all_have_come, 0, N_TEAM_SIZES);
    tcase_add_test(tcase, an_idle_team_takes_no_time);
    tcase_add_test(tcase, waits_in_runs_are_counted);
    tcase_add_test(tcase, no_team_is_a_team_of_one);
    tcase_add_test(tcase, sizes_out_of_range_are_refused);
    tcase_add_test(tcase, failure_to_start_a_thread_is_reported_and_undone);
    tcase_set_timeout(tcase, 60); /* a busy machine, the thread sanitizer */
    suite_add_tcase(suite, tcase);
    TCase *shares = tcase_create("shares");
    tcase_add_test(shares, shares_cover_everything_evenly);
    suite_add_tcase(suite, shares);
    return suite;
}
