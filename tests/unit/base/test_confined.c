#include "base/confined.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define N_BLOCKS 64
#define BLOCK_BYTES 100000 /* too small for a mapping of its own */

/* glibc gives memory of a thread's arena back, and looks into /proc whether it may. */
static enum mt_status take_and_give_back(void *context, int fd, struct mt_error *err)
{
    void *blocks[N_BLOCKS];
    for (size_t i = 0; i < N_BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_BYTES);
        if (!blocks[i])
            return mt_fail_memory(err, BLOCK_BYTES, "block");
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    for (size_t i = N_BLOCKS; i > 0; i--)
        free(blocks[i - 1]);
    return mt_confined_write(fd, context, strlen(context), err);
}

static void *run(void *unused)
{
    char text[] = "done";
    const struct mt_confined confined = {.work = take_and_give_back,
                                         .context = text,
                                         .what = "test",
                                         .max_memory_bytes = (size_t)256 << 20,
                                         .max_seconds = 20,
                                         .max_elapsed_seconds = 60};
    struct mt_mapping result = {0};
    struct mt_error err = {0};
    ck_assert_msg(mt_confined_run(&confined, &result, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(result.length, strlen(text));
    ck_assert_int_eq(memcmp(result.bytes, text, result.length), 0);
    mt_mapping_close(&result);
    return unused;
}

START_TEST(work_of_a_thread_may_free_its_memory)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

static enum mt_status fail_by_name(void *context, int fd, struct mt_error *err)
{
    return mt_fail(err, MT_FORMAT, "%s: wrong", (const char *)context);
}

START_TEST(errors_come_back)
{
    char text[] = "file";
    const struct mt_confined confined = {.work = fail_by_name,
                                         .context = text,
                                         .what = "test",
                                         .max_memory_bytes = (size_t)64 << 20,
                                         .max_seconds = 20,
                                         .max_elapsed_seconds = 60};
    struct mt_mapping result = {0};
    struct mt_error err = {0};
    ck_assert_int_eq(mt_confined_run(&confined, &result, &err), MT_FORMAT);
    ck_assert_str_eq(err.message, "file: wrong");
}
END_TEST

/* As an allocator does whose lock another thread held when the process was made. */
static enum mt_status wait_for_ever(void *context, int fd, struct mt_error *err)
{
    pthread_mutex_t *held = context;
    pthread_mutex_lock(held);
    return mt_fail(err, MT_INVALID, "nobody unlocks what descriptor %d would wait for", fd);
}

START_TEST(work_that_waits_for_ever_is_ended)
{
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    const struct mt_confined confined = {.work = wait_for_ever,
                                         .context = &held,
                                         .what = "model",
                                         .max_memory_bytes = (size_t)256 << 20,
                                         .max_seconds = 20,
                                         .max_elapsed_seconds = 1};
    struct mt_mapping result = {0};
    struct mt_error err = {0};
    pthread_mutex_lock(&held);
    ck_assert_int_eq(mt_confined_run(&confined, &result, &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "model: the process that read it was killed: it had not ended "
                                  "after 1 seconds");
    pthread_mutex_unlock(&held);
}
END_TEST

static void *read_time_zone(void *unused)
{
    tzset();
    return unused;
}

/* Long enough that a process begins, and does not come far. */
static void *end_time_zone(void *fd)
{
    usleep(100000);
    close(*(int *)fd);
    return NULL;
}

static enum mt_status make_time(void *context, int fd, struct mt_error *err)
{
    struct tm tm = {.tm_year = 100, .tm_mday = 1};
    (void)mktime(&tm);
    return mt_confined_write(fd, context, strlen(context), err);
}

/* libzip asks mktime what the time of each entry means. Here a thread holds the C library's lock of the time
 * zone when the process is made: what it reads the zone from is a pipe that nobody writes to. */
START_TEST(work_may_ask_for_the_time)
{
    char text[] = "done", folder[] = "/tmp/confined-XXXXXX", path[64], zone[65];
    const struct mt_confined confined = {.work = make_time,
                                         .context = text,
                                         .what = "test",
                                         .max_memory_bytes = (size_t)256 << 20,
                                         .max_seconds = 20,
                                         .max_elapsed_seconds = 60};
    struct mt_mapping result = {0};
    struct mt_error err = {0};
    pthread_t reader, ender;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/zone", folder);
    snprintf(zone, sizeof zone, ":%s", path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(setenv("TZ", zone, 1), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_time_zone, NULL), 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC); /* waits for the reader */
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pthread_create(&ender, NULL, end_time_zone, &fd), 0);
    ck_assert_msg(mt_confined_run(&confined, &result, &err) == MT_OK, "%s", err.message);
    mt_mapping_close(&result);
    ck_assert_int_eq(pthread_join(ender, NULL), 0);
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
    ck_assert_int_eq(unsetenv("TZ"), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

Suite *suite_confined(void)
{
    Suite *suite = suite_create("confined");
    TCase *tcase = tcase_create("confined");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, work_of_a_thread_may_free_its_memory);
    tcase_add_test(tcase, errors_come_back);
    tcase_add_test(tcase, work_that_waits_for_ever_is_ended);
    tcase_add_test(tcase, work_may_ask_for_the_time);
    suite_add_tcase(suite, tcase);
    return suite;
}
