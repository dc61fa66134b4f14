#include "server/text/text_threads.h"

#include "base/clock.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define N_TASKS 64

struct job {
    struct mt_text_task task;
    int name;
    sem_t *gate; /* it waits there, if it is not NULL */
};

struct fixture {
    struct mt_text_threads *threads;
    struct job jobs[N_TASKS];
    atomic_int n_run;
    atomic_int order[N_TASKS]; /* names, as they were run; -1: not yet */
    sem_t has_run;             /* once for each */
};

static struct fixture f;

static void run(struct mt_text_task *task)
{
    struct job *job = (struct job *)task;
    atomic_store(&f.order[atomic_fetch_add(&f.n_run, 1)], job->name);
    if (job->gate)
        sem_wait(job->gate);
    sem_post(&f.has_run);
}

static void open_threads(void)
{
    memset(&f, 0, sizeof f);
    for (int i = 0; i < N_TASKS; i++)
        atomic_init(&f.order[i], -1);
    sem_init(&f.has_run, 0, 0);
    ck_assert_int_eq(mt_text_threads_create(2, &f.threads, NULL), MT_OK);
}

static struct job *make(int name, bool is_long, uint64_t client)
{
    f.jobs[name] = (struct job){
        .task = {.run = run, .is_long = is_long, .client = client, .deadline_ns = INT64_MAX},
        .name = name};
    return &f.jobs[name];
}

static void submit(struct job *job)
{
    mt_text_threads_submit(f.threads, &job->task);
}

static void wait_for(int n)
{
    for (int i = 0; i < n; i++)
        while (sem_wait(&f.has_run) != 0)
            ;
}

/* Both threads, until the gate is opened for each. */
static void occupy(sem_t *gate)
{
    sem_init(gate, 0, 0);
    for (int i = 0; i < 2; i++) {
        struct job *job = make(i, false, 99);
        job->gate = gate;
        submit(job);
    }
    while (atomic_load(&f.n_run) < 2)
        usleep(100);
}

static void release(sem_t *gate)
{
    sem_post(gate);
    sem_post(gate);
}

static void close_threads(void)
{
    mt_text_threads_destroy(f.threads);
    sem_destroy(&f.has_run);
}

/* Where the task of that name was run. */
static int place_of(int name)
{
    for (int i = 0; i < atomic_load(&f.n_run); i++)
        if (atomic_load(&f.order[i]) == name)
            return i;
    ck_abort_msg("task %d was not run", name);
}

START_TEST(every_task_is_run_once)
{
    open_threads();
    for (int i = 0; i < N_TASKS; i++)
        submit(make(i, i % 3 == 0, (uint64_t)(i % 5)));
    wait_for(N_TASKS);
    ck_assert_int_eq(atomic_load(&f.n_run), N_TASKS);
    for (int i = 0; i < N_TASKS; i++)
        (void)place_of(i);
    close_threads();
}
END_TEST

START_TEST(long_ones_leave_a_thread_to_short_ones)
{
    sem_t gate;
    sem_init(&gate, 0, 0);
    open_threads();
    for (int i = 0; i < 4; i++) {
        struct job *job = make(i, true, (uint64_t)i);
        job->gate = &gate;
        submit(job);
    }
    submit(make(4, false, 9));
    wait_for(1); /* the short one: no long one gets past the gate */
    while (atomic_load(&f.n_run) < 2)
        usleep(100);
    ck_assert_int_le(place_of(4), 1);
    for (int i = 0; i < 4; i++)
        sem_post(&gate);
    wait_for(4);
    close_threads();
}
END_TEST

START_TEST(endings_come_first)
{
    sem_t gate;
    open_threads();
    occupy(&gate);
    submit(make(2, true, 1));
    submit(make(3, false, 2));
    struct job *long_ending = make(4, true, 3), *short_ending = make(5, false, 4);
    long_ending->task.is_ending = short_ending->task.is_ending = true;
    submit(long_ending);
    submit(short_ending);
    sem_post(&gate); /* one thread does it all */
    wait_for(5);
    ck_assert_int_eq(place_of(5), 2);
    ck_assert_int_eq(place_of(4), 3);
    ck_assert_int_eq(place_of(3), 4);
    ck_assert_int_eq(place_of(2), 5);
    sem_post(&gate);
    close_threads();
}
END_TEST

/* Client 1 has come with ten tasks before client 2 comes with one. */
START_TEST(clients_take_turns)
{
    sem_t gate;
    open_threads();
    occupy(&gate);
    for (int i = 2; i < 12; i++)
        submit(make(i, false, 1));
    submit(make(12, false, 2));
    sem_post(&gate);
    wait_for(12);
    ck_assert_int_eq(place_of(12), 3);
    for (int i = 2; i < 11; i++)
        ck_assert_int_lt(place_of(i), place_of(i + 1));
    sem_post(&gate);
    close_threads();
}
END_TEST

START_TEST(short_ones_do_not_starve_a_long_one)
{
    sem_t gate;
    open_threads();
    occupy(&gate);
    for (int i = 2; i < 42; i++)
        submit(make(i, false, (uint64_t)i));
    submit(make(42, true, 1));
    sem_post(&gate);
    wait_for(42);
    ck_assert_int_le(place_of(42), 2 + 8);
    sem_post(&gate);
    close_threads();
}
END_TEST

/* Its deadline comes while another long one has the only thread for long ones. */
START_TEST(an_overdue_one_is_run_to_say_so)
{
    sem_t gate;
    sem_init(&gate, 0, 0);
    open_threads();
    struct job *first = make(0, true, 1), *second = make(1, true, 2);
    first->gate = &gate;
    second->task.deadline_ns = mt_now_ns() + 20000000;
    submit(first);
    submit(second);
    wait_for(1);
    ck_assert_int_eq(place_of(1), 1);
    ck_assert(mt_now_ns() >= second->task.deadline_ns);
    sem_post(&gate);
    wait_for(1);
    close_threads();
}
END_TEST

START_TEST(a_hurried_one_comes_first)
{
    sem_t gate;
    open_threads();
    occupy(&gate);
    for (int i = 2; i < 10; i++)
        submit(make(i, i == 9, 1));
    mt_text_threads_prioritise(f.threads, &f.jobs[9].task);
    sem_post(&gate);
    wait_for(9);
    ck_assert_int_eq(place_of(9), 2);
    mt_text_threads_prioritise(f.threads, &f.jobs[9].task); /* which does nothing */
    sem_post(&gate);
    close_threads();
}
END_TEST

START_TEST(what_waits_is_run_before_the_end)
{
    sem_t gate;
    open_threads();
    occupy(&gate);
    for (int i = 2; i < N_TASKS; i++)
        submit(make(i, i % 2 == 0, 1));
    release(&gate);
    close_threads();
    ck_assert_int_eq(atomic_load(&f.n_run), N_TASKS);
}
END_TEST

static void *submit_the_first(void *unused)
{
    (void)unused;
    submit(&f.jobs[0]);
    return NULL;
}

/* The submitter may still be about to wake a thread when another one has run the task. */
START_TEST(the_end_may_come_as_soon_as_the_last_one_has_run)
{
    for (int round = 0; round < 50; round++) {
        pthread_t submitter;
        open_threads();
        make(0, false, 1);
        ck_assert_int_eq(pthread_create(&submitter, NULL, submit_the_first, NULL), 0);
        wait_for(1);
        mt_text_threads_destroy(f.threads);
        pthread_join(submitter, NULL);
    }
}
END_TEST

static void submit_again(struct mt_text_task *task)
{
    if (atomic_fetch_add(&f.n_run, 1) < 99)
        mt_text_threads_submit(f.threads, task);
    else
        sem_post(&f.has_run);
}

START_TEST(a_task_may_submit_itself)
{
    open_threads();
    struct job *job = make(0, false, 1);
    job->task.run = submit_again;
    submit(job);
    wait_for(1);
    ck_assert_int_eq(atomic_load(&f.n_run), 100);
    close_threads();
}
END_TEST

Suite *suite_text_threads(void)
{
    Suite *suite = suite_create("text_threads");
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_task_is_run_once);
    tcase_add_test(all, long_ones_leave_a_thread_to_short_ones);
    tcase_add_test(all, endings_come_first);
    tcase_add_test(all, clients_take_turns);
    tcase_add_test(all, short_ones_do_not_starve_a_long_one);
    tcase_add_test(all, an_overdue_one_is_run_to_say_so);
    tcase_add_test(all, a_hurried_one_comes_first);
    tcase_add_test(all, what_waits_is_run_before_the_end);
    tcase_add_test(all, the_end_may_come_as_soon_as_the_last_one_has_run);
    tcase_add_test(all, a_task_may_submit_itself);
    suite_add_tcase(suite, all);
    return suite;
}
