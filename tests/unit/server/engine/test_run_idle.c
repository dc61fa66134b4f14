#include "tests/unit/server/engine/engine_jobs.h"

#include <check.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t n_runs;
    char thread[16];
    bool may_end;
} idle_task = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Submits a job to the lane, if there is one, and stays until it may end. */
static void run_idle_task(void *argument)
{
    if (argument)
        test_submit(argument, 1, 1, 1, 3);
    pthread_mutex_lock(&idle_task.mutex);
    prctl(PR_GET_NAME, idle_task.thread);
    idle_task.n_runs++;
    pthread_cond_broadcast(&idle_task.changed);
    while (!idle_task.may_end)
        pthread_cond_wait(&idle_task.changed, &idle_task.mutex);
    pthread_mutex_unlock(&idle_task.mutex);
}

static void wait_for_task(size_t n_runs)
{
    pthread_mutex_lock(&idle_task.mutex);
    while (idle_task.n_runs < n_runs)
        pthread_cond_wait(&idle_task.changed, &idle_task.mutex);
    pthread_mutex_unlock(&idle_task.mutex);
}

static void let_task_end(void)
{
    pthread_mutex_lock(&idle_task.mutex);
    idle_task.may_end = true;
    pthread_cond_broadcast(&idle_task.changed);
    pthread_mutex_unlock(&idle_task.mutex);
}

START_TEST(the_first_worker_runs_a_task_while_nothing_waits_or_runs)
{
    struct mt_lane *lane;
    test_start(1, 4, 100);
    lane = test_attach(NULL);
    while (!mt_engine_run_idle(test_engine, run_idle_task, lane)) /* it has just begun */
        usleep(1000);
    wait_for_task(1);
    ck_assert_str_eq(idle_task.thread, "worker-0");
    ck_assert(!mt_engine_run_idle(test_engine, run_idle_task, lane));
    let_task_end();
    test_wait(1);
    test_expect_decoded(&test_jobs[0]);

    fake_close_gate();
    test_submit(lane, 1, 1, 1, 3);
    fake_wait_for_batches(1);
    ck_assert(!mt_engine_run_idle(test_engine, run_idle_task, lane));
    fake_open_gate();
    test_wait(2);
    ck_assert_uint_eq(idle_task.n_runs, 1);
    test_finish();
}
END_TEST

START_TEST(a_lent_thread_comes_back_before_the_engine_ends)
{
    test_start(1, 4, 100);
    let_task_end();
    while (!mt_engine_run_idle(test_engine, run_idle_task, NULL))
        usleep(1000);
    test_finish();
    ck_assert_uint_eq(idle_task.n_runs, 1);
}
END_TEST

Suite *suite_run_idle(void)
{
    Suite *suite = suite_create("run_idle");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, the_first_worker_runs_a_task_while_nothing_waits_or_runs);
    tcase_add_test(tcase, a_lent_thread_comes_back_before_the_engine_ends);
    suite_add_tcase(suite, tcase);
    return suite;
}
