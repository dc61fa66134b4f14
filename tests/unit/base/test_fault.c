#include "base/fault.h"
#include "base/file.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_BYTES ((size_t)1 << 20)

static char path[] = "/tmp/mt_test_fault.XXXXXX";
static struct mt_error err;

static void make_file(void)
{
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unsigned char *bytes = malloc(N_BYTES);
    memset(bytes, 7, N_BYTES);
    ck_assert_int_eq(write(fd, bytes, N_BYTES), (ssize_t)N_BYTES);
    free(bytes);
    close(fd);
    ck_assert_int_eq(mt_fault_install(&err), MT_OK);
}

static void remove_file(void)
{
    unlink(path);
    strcpy(path, "/tmp/mt_test_fault.XXXXXX");
}

static struct mt_mapping open_file(enum mt_load_mode mode)
{
    struct mt_mapping mapping;
    ck_assert_msg(mt_mapping_open(path, mode, &mapping, &err) == MT_OK, "%s", err.message);
    return mapping;
}

static size_t sum(const struct mt_mapping *mapping)
{
    size_t total = 0;
    for (size_t i = 0; i < mapping->length; i++)
        total += mapping->bytes[i];
    return total;
}

static void damaged(const struct mt_mapping *mapping)
{
    ck_assert_int_eq(mt_mapping_check(mapping, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, path));
    ck_assert_ptr_nonnull(strstr(err.message, "cut short or written to"));
}

/* A page boundary, the middle of a page, nothing left, and all but a byte. */
static const size_t lengths[] = {N_BYTES / 2, N_BYTES / 2 + 100, 0, 1, N_BYTES - 1};

START_TEST(what_was_cut_off_reads_as_zeros_and_is_noticed)
{
    size_t length = lengths[_i];
    struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
    ck_assert_int_eq(mt_mapping_check(&mapping, &err), MT_OK);
    ck_assert_int_eq(truncate(path, (off_t)length), 0);
    ck_assert_uint_eq(sum(&mapping), 7 * length);
    damaged(&mapping);
    damaged(&mapping);
    mt_mapping_close(&mapping);
}
END_TEST

START_TEST(a_change_is_noticed_without_reading)
{
    struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
    usleep(20000); /* file times are as coarse as the kernel's tick */
    int fd = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "x", 1, 5000), 1);
    close(fd);
    damaged(&mapping);
    mt_mapping_close(&mapping);
}
END_TEST

START_TEST(growing_back_does_not_help)
{
    struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
    struct stat before;
    stat(path, &before);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_uint_eq(sum(&mapping), 0);
    ck_assert_int_eq(truncate(path, N_BYTES), 0);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0); /* as if nothing had been */
    damaged(&mapping);
    mt_mapping_close(&mapping);
}
END_TEST

START_TEST(renaming_linking_and_removing_do_no_harm)
{
    char other[64];
    struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
    snprintf(other, sizeof other, "%s.other", path);
    usleep(20000);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(link(other, path), 0);
    ck_assert_int_eq(chmod(other, 0400), 0);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mt_mapping_check(&mapping, &err), MT_OK);
    ck_assert_uint_eq(sum(&mapping), 7 * N_BYTES);
    mt_mapping_close(&mapping);
}
END_TEST

START_TEST(a_copy_is_out_of_reach)
{
    struct mt_mapping mapping = open_file(MT_LOAD_COPY);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_uint_eq(sum(&mapping), 7 * N_BYTES);
    ck_assert_int_eq(mt_mapping_check(&mapping, &err), MT_OK);
    mt_mapping_close(&mapping);
    mapping = open_file(MT_LOAD_COPY); /* of nothing */
    ck_assert_ptr_null(mapping.bytes);
    mt_mapping_close(&mapping);
}
END_TEST

static void *read_in_thread(void *argument)
{
    return (void *)(uintptr_t)sum(argument);
}

START_TEST(many_threads_may_run_into_it_together)
{
    pthread_t threads[8];
    sigset_t old;
    struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
    ck_assert_int_eq(truncate(path, 0), 0);
    mt_fault_block_others(&old); /* as in the engine's threads */
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_in_thread, &mapping), 0);
    for (size_t i = 0; i < 8; i++) {
        void *total;
        pthread_join(threads[i], &total);
        ck_assert_ptr_null(total);
    }
    damaged(&mapping);
    mt_mapping_close(&mapping);
}
END_TEST

#define MANY 200

/* As many models are in memory at once, or as many shards of one. */
START_TEST(many_files_are_watched_at_once)
{
    static struct mt_mapping mappings[MANY];
    for (size_t i = 0; i < MANY; i++)
        mappings[i] = open_file(MT_LOAD_MMAP);
    ck_assert_int_eq(truncate(path, 0), 0);
    for (size_t i = 0; i < MANY; i += MANY - 1) {
        ck_assert_uint_eq(sum(&mappings[i]), 0);
        damaged(&mappings[i]);
    }
    for (size_t i = 0; i < MANY; i++)
        mt_mapping_close(&mappings[i]);
}
END_TEST

START_TEST(ranges_are_given_back)
{
    for (int i = 0; i < 3 * MT_MAX_FAULT_RANGES; i++) {
        struct mt_mapping mapping = open_file(MT_LOAD_MMAP);
        ck_assert_int_eq(mt_mapping_check(&mapping, &err), MT_OK);
        mt_mapping_close(&mapping);
    }
}
END_TEST

START_TEST(more_than_the_limit_are_refused)
{
    struct mt_mapping one_more;
    static char nothing[1];
    static size_t numbers[MT_MAX_FAULT_RANGES];
    for (int i = 0; i < MT_MAX_FAULT_RANGES; i++)
        ck_assert_int_eq(mt_fault_add(nothing, 1, &numbers[i], &err), MT_OK);
    ck_assert_int_eq(mt_mapping_open(path, MT_LOAD_MMAP, &one_more, &err), MT_LIMIT);
    for (int i = 0; i < MT_MAX_FAULT_RANGES; i++)
        mt_fault_remove(numbers[i]);
}
END_TEST

/* Ends with the signal. */
START_TEST(faults_of_others_end_the_process)
{
    int fd = open(path, O_RDONLY);
    const char *bytes = mmap(NULL, N_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(*(const volatile char *)bytes, 1);
}
END_TEST

Suite *suite_fault(void)
{
    Suite *suite = suite_create("fault");
    TCase *tcase = tcase_create("faults");
    tcase_add_checked_fixture(tcase, make_file, remove_file);
    tcase_add_loop_test(tcase, what_was_cut_off_reads_as_zeros_and_is_noticed, 0,
                        sizeof lengths / sizeof *lengths);
    tcase_add_test(tcase, a_change_is_noticed_without_reading);
    tcase_add_test(tcase, growing_back_does_not_help);
    tcase_add_test(tcase, renaming_linking_and_removing_do_no_harm);
    tcase_add_test(tcase, a_copy_is_out_of_reach);
    tcase_add_test(tcase, many_threads_may_run_into_it_together);
    tcase_add_test(tcase, many_files_are_watched_at_once);
    tcase_add_test(tcase, ranges_are_given_back);
    tcase_add_test(tcase, more_than_the_limit_are_refused);
    tcase_add_test_raise_signal(tcase, faults_of_others_end_the_process, SIGBUS);
    suite_add_tcase(suite, tcase);
    return suite;
}
