#include "server/bell.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static int n_wakes;

static void count_wake(void *context)
{
    ck_assert_ptr_eq(context, &n_wakes);
    n_wakes++;
}

START_TEST(wakes_once_and_only_who_rests)
{
    struct mt_bell bell;
    mt_bell_init(&bell, count_wake, &n_wakes);
    ck_assert(!mt_bell_rest(&bell)); /* at first there may be news */
    mt_bell_hear(&bell);
    ck_assert(mt_bell_rest(&bell));
    mt_bell_ring(&bell);
    mt_bell_ring(&bell);
    ck_assert_int_eq(n_wakes, 1);
    mt_bell_hear(&bell);
    mt_bell_ring(&bell);
    ck_assert(!mt_bell_rest(&bell));
    ck_assert_int_eq(n_wakes, 1);
    mt_bell_hear(&bell);
    ck_assert(mt_bell_rest(&bell));
    mt_bell_ring(&bell);
    ck_assert_int_eq(n_wakes, 2);
}
END_TEST

START_TEST(a_silenced_bell_wakes_nobody)
{
    struct mt_bell bell;
    mt_bell_init(&bell, count_wake, &n_wakes);
    mt_bell_hear(&bell);
    mt_bell_silence(&bell);
    mt_bell_ring(&bell);
    mt_bell_ring(&bell);
    ck_assert_int_eq(n_wakes, 0);
    ck_assert(!mt_bell_rest(&bell));
}
END_TEST

#define N_RINGERS 3
#define N_NEWS 20000

/* Each ringer's news is its own, written without order but for that of the bell. */
static struct {
    struct mt_bell bell;
    sem_t wakes;
    atomic_size_t news[N_RINGERS];
} shared;

static void post_wake(void *context)
{
    (void)context;
    sem_post(&shared.wakes);
}

static void *tell_news(void *argument)
{
    atomic_size_t *news = argument;
    for (size_t i = 1; i <= N_NEWS; i++) {
        atomic_store_explicit(news, i, memory_order_relaxed);
        mt_bell_ring(&shared.bell);
    }
    return NULL;
}

/* A lost ring would leave this waiting for ever: the time limit is the check. */
START_TEST(no_ring_is_lost_between_threads)
{
    pthread_t threads[N_RINGERS];
    mt_bell_init(&shared.bell, post_wake, NULL);
    ck_assert_int_eq(sem_init(&shared.wakes, 0, 0), 0);
    for (size_t i = 0; i < N_RINGERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, tell_news, &shared.news[i]), 0);
    for (size_t sum = 0; sum < (size_t)N_RINGERS * N_NEWS;) {
        mt_bell_hear(&shared.bell);
        sum = 0;
        for (size_t i = 0; i < N_RINGERS; i++)
            sum += atomic_load_explicit(&shared.news[i], memory_order_relaxed);
        if (sum < (size_t)N_RINGERS * N_NEWS && mt_bell_rest(&shared.bell))
            sem_wait(&shared.wakes);
    }
    for (size_t i = 0; i < N_RINGERS; i++)
        pthread_join(threads[i], NULL);
    int n_left;
    sem_getvalue(&shared.wakes, &n_left);
    ck_assert_int_eq(n_left, 0);
    sem_destroy(&shared.wakes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bell");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, wakes_once_and_only_who_rests);
    tcase_add_test(tcase, a_silenced_bell_wakes_nobody);
    tcase_add_test(tcase, no_ring_is_lost_between_threads);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
