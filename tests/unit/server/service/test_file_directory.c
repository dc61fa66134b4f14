#include "server/service/file_directory.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ALICE UINT64_C(0x7f000001)
#define BOB UINT64_C(0xc0a80001)
/* The head of a file that is called a.de.srt, and its end. */
#define HEAD_BYTES (18 + 8 + 1)

static char path[] = "/tmp/mt_test_files.XXXXXX";
static struct mt_file_store *first, *second; /* two daemons */

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(path));
    ck_assert_int_eq(mt_file_store_create(path, &first, NULL), MT_OK);
    ck_assert_int_eq(mt_file_store_create(path, &second, NULL), MT_OK);
}

static void teardown(void)
{
    char command[128];
    mt_file_store_destroy(first);
    mt_file_store_destroy(second);
    snprintf(command, sizeof command, "rm -rf %s", path);
    ck_assert_int_eq(system(command), 0);
}

static const char *inside(const char *name)
{
    static char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return whole;
}

static enum mt_status reserve(struct mt_file_store *store, uint64_t client, size_t length,
                              size_t limit_bytes, char name[MT_STORED_NAME_BYTES])
{
    const struct mt_file_room room = {
        .client = client, .length = length, .limit_bytes = limit_bytes, .extension = ".srt"};
    return mt_file_store_reserve(store, &room, name, NULL);
}

static enum mt_status add(struct mt_file_store *store, uint64_t client, size_t length,
                          int64_t lifetime_ms, size_t limit_bytes, char name[MT_STORED_NAME_BYTES])
{
    char *bytes = malloc(length);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 'x', length);
    const struct mt_stored_file file = {.bytes = bytes, .length = length, .file_name = "a.de.srt"};
    enum mt_status status = reserve(store, client, length, limit_bytes, name);
    if (!status)
        status = mt_file_store_fill(store, name, &file, lifetime_ms, limit_bytes, NULL);
    free(bytes);
    return status;
}

/* The bytes of the file of that name; -1: there is none. */
static int get(struct mt_file_store *store, const char *name)
{
    struct mt_text body = {0}, file_name = {0};
    enum mt_status status = mt_file_store_get(store, name, &body, &file_name, NULL);
    int n = status ? -1 : (int)body.length;
    if (!status)
        ck_assert_str_eq(file_name.bytes, "a.de.srt");
    if (n > 0)
        ck_assert_uint_eq(strspn(body.bytes, "x"), body.length);
    mt_text_finish(&body);
    mt_text_finish(&file_name);
    return n;
}

/* What is in the directory: how many files, the bytes of all, and the name of the last. */
static size_t look(size_t *out_bytes, char *out_name)
{
    DIR *stream = opendir(path);
    size_t n = 0, n_bytes = 0;
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *item; (item = readdir(stream));) {
        struct stat status;
        if (item->d_name[0] == '.' || lstat(inside(item->d_name), &status) != 0)
            continue;
        n++;
        n_bytes += (size_t)status.st_size;
        if (out_name)
            snprintf(out_name, 256, "%s", item->d_name);
    }
    closedir(stream);
    if (out_bytes)
        *out_bytes = n_bytes;
    return n;
}

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(inside(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

START_TEST(any_daemon_has_what_one_has_and_a_later_one_too)
{
    char name[MT_STORED_NAME_BYTES];
    struct mt_file_store_counts counts;
    ck_assert_int_eq(add(first, ALICE, 100, 60000, 1000, name), MT_OK);
    ck_assert_int_eq(get(first, name), 100);
    ck_assert_int_eq(get(second, name), 100);
    ck_assert_int_eq(get(second, name), 100);
    mt_file_store_destroy(first);
    mt_file_store_destroy(second);
    ck_assert_int_eq(mt_file_store_create(path, &first, NULL), MT_OK);
    ck_assert_int_eq(mt_file_store_create(path, &second, NULL), MT_OK);
    ck_assert_int_eq(get(second, name), 100);
    mt_file_store_count(second, &counts);
    ck_assert_uint_eq(counts.n_files, 1);
    ck_assert_uint_eq(counts.n_bytes, 100 + HEAD_BYTES);
    name[0] ^= 1;
    ck_assert_int_eq(get(first, name), -1);
    name[32] = '\0';
    ck_assert_int_eq(get(first, name), -1);
    ck_assert_int_eq(get(first, ""), -1);
    ck_assert_int_eq(get(first, "../../../../../../etc/passwd"), -1);
}
END_TEST

START_TEST(the_client_is_not_told)
{
    char name[MT_STORED_NAME_BYTES], disk_name[256], content[256] = "";
    ck_assert_int_eq(add(first, UINT64_C(0xcb007107), 3, 60000, 1000, name), MT_OK);
    ck_assert_uint_eq(look(NULL, disk_name), 1);
    FILE *file = fopen(inside(disk_name), "r");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    ck_assert_uint_eq(n, 3 + HEAD_BYTES);
    ck_assert_str_eq(content, "attentiond file 1\na.de.srt\nxxx");
    ck_assert_ptr_null(strstr(disk_name, "7107")); /* 203.0.113.7 */
    ck_assert_uint_eq(strlen(disk_name), strlen("attentiond-file-n-") + 16 + 1 + 4 + 1 + 36);
}
END_TEST

START_TEST(time_is_over_for_all)
{
    char name[MT_STORED_NAME_BYTES], other[MT_STORED_NAME_BYTES];
    ck_assert_int_eq(add(first, ALICE, 10, 20, 1000, name), MT_OK);
    ck_assert_int_eq(add(first, ALICE, 10, 60000, 1000, other), MT_OK);
    sleep_ms(40);
    ck_assert_int_eq(get(second, name), -1);
    ck_assert_int_eq(add(second, ALICE, 10, 60000, 1000, name), MT_OK); /* which looks around */
    ck_assert_uint_eq(look(NULL, NULL), 2);
    ck_assert_int_eq(get(first, other), 10);
}
END_TEST

START_TEST(the_limit_is_of_all_daemons_together)
{
    char names[4][MT_STORED_NAME_BYTES], name[MT_STORED_NAME_BYTES];
    size_t limit = 4 * (100 + HEAD_BYTES), n_bytes;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(add(i % 2 ? first : second, ALICE, 100, 60000, limit, names[i]), MT_OK);
        sleep_ms(2);
    }
    /* Who holds most gets no more; a client that holds less gets her oldest one's room. */
    ck_assert_int_eq(add(first, ALICE, 100, 60000, limit, name), MT_BUSY);
    ck_assert_int_eq(add(second, ALICE, 100, 60000, limit, name), MT_BUSY);
    ck_assert_int_eq(add(second, BOB, 100, 60000, limit, name), MT_OK);
    ck_assert_int_eq(get(first, names[0]), -1);
    ck_assert_int_eq(get(first, names[1]), 100);
    /* And what was fetched goes first, whosoever it is. */
    ck_assert_int_eq(add(second, ALICE, 100, 60000, limit, name), MT_OK);
    ck_assert_int_eq(get(second, names[1]), -1);
    ck_assert_int_eq(get(second, names[2]), 100);
    ck_assert_uint_eq(look(&n_bytes, NULL), 4);
    ck_assert_uint_le(n_bytes, limit);
    ck_assert_int_eq(reserve(first, BOB, limit + 1, limit, name), MT_LIMIT);
}
END_TEST

/* Names like ours whose content is not, and the other way round. */
START_TEST(what_is_not_ours_is_left_alone)
{
    static const char *const names[] = {
        "attentiond-file-n-0000000000000000-0000-0123456789abcdef0123456789abcdef.srt",
        "attentiond-file-n-7000000000000000-0000-1123456789abcdef0123456789abcdef.srt",
        "attentiond-file-x-0000000000000000-0000-2123456789abcdef0123456789abcdef.srt",
        "attentiond-file-n-0000000000000000-0000-3123456789abcdef0123456789abcdef",
        "attentiond-file-n-0000000000000000-0000-4123456789abcdef0123456789abcdef.SRT",
        "attentiond-file-n-0000000000000000-00000-5123456789abcdef0123456789abcdef.srt",
        "notes.txt",
        "notes.txt.abcdef.attentiond-tmp",
    };
    char name[MT_STORED_NAME_BYTES];
    size_t n = sizeof names / sizeof names[0];
    for (size_t i = 0; i < n; i++)
        write_file(names[i], i < 2 ? "my own notes, and not a file of the daemon's"
                                   : "attentiond file 1\na.de.srt\nxxx");
    const char *link =
        "attentiond-file-n-7000000000000000-0000-6123456789abcdef0123456789abcdef.srt";
    ck_assert_int_eq(symlink("notes.txt", inside(link)), 0);
    const char *pipe =
        "attentiond-file-n-7000000000000000-0000-7123456789abcdef0123456789abcdef.srt";
    ck_assert_int_eq(mkfifo(inside(pipe), 0600), 0);
    for (char digit = '0'; digit < '8'; digit++) {
        char served[] = "0123456789abcdef0123456789abcdef.srt";
        served[0] = digit;
        ck_assert_int_eq(get(first, served), -1);
    }
    ck_assert_int_eq(add(first, ALICE, 10, 60000, 200, name), MT_OK);
    (void)add(first, BOB, 100, 60000, 150, name); /* for which room is to be made */
    mt_file_store_sweep(first);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(access(inside(names[i]), F_OK) == 0, "%s", names[i]);
    struct stat status;
    ck_assert_int_eq(lstat(inside(link), &status), 0);
    ck_assert_int_eq(lstat(inside(pipe), &status), 0);
}
END_TEST

START_TEST(what_a_killed_daemon_left_goes_after_a_while)
{
    const char *leftover = "attentiond-file-n-7000000000000000-0000-"
                           "0123456789abcdef0123456789abcdef.srt.abcdef.attentiond-tmp";
    char name[MT_STORED_NAME_BYTES];
    write_file(leftover, "attentiond file 1\n");
    ck_assert_int_eq(add(first, ALICE, 10, 60000, 1000, name), MT_OK);
    ck_assert_int_eq(access(inside(leftover), F_OK), 0); /* somebody may be writing it */
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
    ck_assert_int_eq(utimensat(AT_FDCWD, inside(leftover), times, 0), 0);
    ck_assert_int_eq(add(first, ALICE, 10, 60000, 1000, name), MT_OK);
    ck_assert_int_ne(access(inside(leftover), F_OK), 0);
}
END_TEST

/* As where the disk is full: writing fails in the middle of the file. */
START_TEST(a_full_disk_leaves_no_part)
{
    char name[MT_STORED_NAME_BYTES], file_name[] = "a.de.srt", bytes[5000];
    struct mt_error err;
    memset(bytes, 'x', sizeof bytes);
    const struct mt_stored_file file = {
        .bytes = bytes, .length = sizeof bytes, .file_name = file_name};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(reserve(first, ALICE, sizeof bytes, 100000, name), MT_OK);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, RLIM_INFINITY}), 0);
    enum mt_status status = mt_file_store_fill(first, name, &file, 60000, 100000, &err);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    ck_assert_int_eq(status, MT_BUSY);
    ck_assert_ptr_nonnull(strstr(err.message, "the disk"));
    ck_assert_ptr_null(strstr(err.message, path));
    ck_assert_uint_eq(look(NULL, NULL), 0);
    ck_assert_int_eq(get(first, name), -1);
    ck_assert_int_eq(add(first, ALICE, 5000, 60000, 100000, name), MT_OK);
}
END_TEST

START_TEST(a_directory_that_cannot_be_used_is_refused)
{
    struct mt_file_store *store = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_file_store_create("/none/of/this", &store, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "files_directory is /none/of/this"));
    ck_assert_ptr_nonnull(strstr(err.message, "mkdir"));
    write_file("file", "");
    ck_assert_int_eq(mt_file_store_create(inside("file"), &store, &err), MT_IO);
    ck_assert_int_eq(mt_file_store_create("/proc/self", &store, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "no file can be written"));
    ck_assert_ptr_null(store);
}
END_TEST

#define N_THREADS 4
#define N_EACH 50
#define SHARED_LIMIT ((size_t)5000)

static void *add_many(void *argument)
{
    uint64_t client = (uint64_t)(uintptr_t)argument;
    char name[MT_STORED_NAME_BYTES];
    size_t n_kept = 0;
    for (int i = 0; i < N_EACH; i++) {
        enum mt_status status =
            add(client % 2 ? first : second, client, 100 + client, 60000, SHARED_LIMIT, name);
        ck_assert(status == MT_OK || status == MT_BUSY);
        if (!status && i % 3 == 0)
            n_kept += get(client % 2 ? second : first, name) == (int)(100 + client);
        mt_file_store_sweep(first);
    }
    return (void *)(uintptr_t)n_kept;
}

START_TEST(the_limit_holds_where_many_write_and_clean_at_once)
{
    pthread_t threads[N_THREADS];
    char name[MT_STORED_NAME_BYTES];
    size_t n_kept = 0, n_bytes;
    for (uintptr_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_many, (void *)(i + 1)), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        void *n;
        pthread_join(threads[i], &n);
        n_kept += (size_t)(uintptr_t)n;
    }
    ck_assert_uint_gt(n_kept, 0);
    size_t n = look(&n_bytes, NULL);
    ck_assert_uint_le(n_bytes, SHARED_LIMIT);
    ck_assert_uint_gt(n, 10); /* and no more was removed than had to be, by far */
    ck_assert_int_eq(add(first, 99, 100, 60000, SHARED_LIMIT, name), MT_OK);
    ck_assert_int_eq(get(second, name), 100);
}
END_TEST

static pthread_barrier_t round_barrier;

static void *add_in_rounds(void *argument)
{
    char name[MT_STORED_NAME_BYTES];
    uint64_t client = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < N_EACH; i++) {
        pthread_barrier_wait(&round_barrier);
        (void)!add(client % 2 ? first : second, client, 400, 60000, 1000, name);
        pthread_barrier_wait(&round_barrier); /* and the test looks */
        pthread_barrier_wait(&round_barrier);
    }
    return NULL;
}

START_TEST(the_last_one_to_write_leaves_no_more_than_the_limit)
{
    pthread_t threads[N_THREADS];
    size_t n_bytes;
    pthread_barrier_init(&round_barrier, NULL, N_THREADS + 1);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_in_rounds, (void *)(i + 1)), 0);
    for (int i = 0; i < N_EACH; i++) {
        pthread_barrier_wait(&round_barrier);
        pthread_barrier_wait(&round_barrier);
        look(&n_bytes, NULL);
        ck_assert_uint_le(n_bytes, 1000);
        pthread_barrier_wait(&round_barrier);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&round_barrier);
}
END_TEST

Suite *suite_file_directory(void)
{
    Suite *suite = suite_create("file_directory");
    TCase *tcase = tcase_create("file_directory");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, any_daemon_has_what_one_has_and_a_later_one_too);
    tcase_add_test(tcase, the_client_is_not_told);
    tcase_add_test(tcase, time_is_over_for_all);
    tcase_add_test(tcase, the_limit_is_of_all_daemons_together);
    tcase_add_test(tcase, what_is_not_ours_is_left_alone);
    tcase_add_test(tcase, what_a_killed_daemon_left_goes_after_a_while);
    tcase_add_test(tcase, a_full_disk_leaves_no_part);
    tcase_add_test(tcase, a_directory_that_cannot_be_used_is_refused);
    tcase_add_test(tcase, the_limit_holds_where_many_write_and_clean_at_once);
    tcase_add_test(tcase, the_last_one_to_write_leaves_no_more_than_the_limit);
    suite_add_tcase(suite, tcase);
    return suite;
}
