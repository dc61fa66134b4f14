#include "base/file.h"
#include "model/files/cache_files.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/mt_test_cache.XXXXXX";
static char cache[64];
static struct mt_error err;

static void make(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(cache, sizeof cache, "%s/cache", root);
    ck_assert_int_eq(mkdir(cache, 0755), 0);
}

static void remove_all(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
    strcpy(root, "/tmp/mt_test_cache.XXXXXX");
}

/* The path of a directory that is made, and of a packed form of it that is written. */
static char *make_model(const char *name, char *directory, size_t size)
{
    char *path;
    snprintf(directory, size, "%s/%s", root, name);
    mt_make_directories(directory);
    ck_assert_msg(!mt_cache_file_path(cache, directory, &path, &err), "%s", err.message);
    ck_assert_msg(!mt_file_write(path, "x", 1, &err), "%s", err.message);
    return path;
}

static const char *const names[] = {
    "en-de",        "a b",          "100%",       "%2F",
    "models/en-de", "\xC3\xA9\xFF", "line\nfeed", "x.int8.safetensors"};
#define N_NAMES ((int)(sizeof names / sizeof *names))

START_TEST(what_is_packed_goes_with_its_directory)
{
    char directory[256], other_directory[256];
    char *path = make_model(names[_i], directory, sizeof directory);
    char *other = make_model("other", other_directory, sizeof other_directory);
    ck_assert_ptr_null(strchr(path + strlen(cache) + 1, '/'));
    ck_assert_uint_eq(mt_cache_remove_orphans(cache), 0);
    ck_assert_int_eq(rmdir(directory), 0);
    ck_assert_uint_eq(mt_cache_remove_orphans(cache), 1);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_uint_eq(mt_cache_remove_orphans(cache), 0);
    free(path);
    free(other);
}
END_TEST

/* Writers were killed in the middle, just now; another one lives. */
START_TEST(what_killed_writers_left_goes)
{
    char directory[256], *path = make_model("en-de", directory, sizeof directory), *left, *locked;
    ck_assert_int_gt(asprintf(&left, "%s.Ab3dE6.attentiond-tmp", path), 0);
    ck_assert_int_gt(asprintf(&locked, "%s.ZZZZZZ.attentiond-tmp", path), 0);
    ck_assert_int_eq(mt_file_write(left, "x", 1, &err), MT_OK);
    ck_assert_int_eq(mt_file_write(locked, "x", 1, &err), MT_OK);
    int writer = open(locked, O_RDWR);
    ck_assert_int_eq(flock(writer, LOCK_EX), 0);
    ck_assert_uint_eq(mt_cache_remove_leftovers(cache), 1);
    ck_assert_int_eq(access(left, F_OK), -1);
    ck_assert_int_eq(access(locked, F_OK), 0);
    close(writer);
    ck_assert_uint_eq(mt_cache_remove_leftovers(cache), 1);
    ck_assert_int_eq(access(path, F_OK), 0);
    free(path);
    free(left);
    free(locked);
}
END_TEST

static atomic_bool is_over;

static void *keep_removing(void *argument)
{
    while (!atomic_load(&is_over))
        (void)mt_cache_remove_leftovers(cache);
    return argument;
}

/* Another daemon with the same cache starts again and again. */
START_TEST(a_writer_loses_nothing_to_who_removes)
{
    char directory[256], *path = make_model("en-de", directory, sizeof directory);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, keep_removing, NULL), 0);
    for (size_t i = 0; i < 30; i++)
        ck_assert_msg(!mt_file_write(path, "x", 1, &err), "%s", err.message);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(path);
}
END_TEST

START_TEST(each_directory_has_a_name_of_its_own)
{
    char *paths[N_NAMES], directory[256];
    for (int i = 0; i < N_NAMES; i++) {
        paths[i] = make_model(names[i], directory, sizeof directory);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(paths[i], paths[j]);
    }
    for (int i = 0; i < N_NAMES; i++)
        free(paths[i]);
}
END_TEST

/* The same directory under another name. */
START_TEST(a_link_is_what_it_points_to)
{
    char directory[256], link[128], *path = make_model("en-de", directory, sizeof directory),
                                    *found;
    snprintf(link, sizeof link, "%s/latest", root);
    ck_assert_int_eq(symlink(directory, link), 0);
    ck_assert_int_eq(mt_cache_file_path(cache, link, &found, &err), MT_OK);
    ck_assert_str_eq(found, path);
    free(path);
    free(found);
}
END_TEST

START_TEST(a_path_that_is_too_long_for_a_name_stays)
{
    char name[400], directory[512], *path;
    memset(name, 'd', sizeof name);
    name[200] = '/';
    name[sizeof name - 1] = '\0';
    path = make_model(name, directory, sizeof directory);
    ck_assert_uint_lt(strlen(strrchr(path, '/')), 256 - 32);
    ck_assert_int_eq(rmdir(directory), 0);
    ck_assert_uint_eq(mt_cache_remove_orphans(cache), 0);
    ck_assert_int_eq(access(path, F_OK), 0);
    free(path);
}
END_TEST

/* Whatever else there is: other names, no files, percent signs that stand for nothing. */
START_TEST(nothing_else_is_removed)
{
    static const char *const others[] = {"en-de-0123456789abcdef.int8.safetensors",
                                         "%2Fgone",
                                         "%2Fgone.safetensors",
                                         "%2Fgone%.int8.safetensors",
                                         "%2Fgone%2.int8.safetensors",
                                         "%2Fgone%2g.int8.safetensors",
                                         "%2Fgone%00.int8.safetensors",
                                         "gone.int8.safetensors",
                                         ".int8.safetensors"};
    char path[256];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "%s/%s", cache, others[i]);
        ck_assert_int_eq(mt_file_write(path, "x", 1, &err), MT_OK);
    }
    snprintf(path, sizeof path, "%s/%%2Fgone%%2Fdirectory.int8.safetensors", cache);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/%%2Fgone%%2Flink.int8.safetensors", cache);
    ck_assert_int_eq(symlink(root, path), 0);
    ck_assert_uint_eq(mt_cache_remove_orphans(cache), 0);
    ck_assert_uint_eq(mt_cache_remove_orphans("/nowhere"), 0);
}
END_TEST

START_TEST(a_directory_that_is_not_there_has_no_path)
{
    char *path;
    ck_assert_int_eq(mt_cache_file_path(cache, "/nowhere/at/all", &path, &err), MT_NOT_FOUND);
}
END_TEST

Suite *suite_cache_files(void)
{
    Suite *suite = suite_create("cache_files");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, make, remove_all);
    tcase_add_loop_test(tcase, what_is_packed_goes_with_its_directory, 0, N_NAMES);
    tcase_add_test(tcase, what_killed_writers_left_goes);
    tcase_add_test(tcase, a_writer_loses_nothing_to_who_removes);
    tcase_add_test(tcase, each_directory_has_a_name_of_its_own);
    tcase_add_test(tcase, a_link_is_what_it_points_to);
    tcase_add_test(tcase, a_path_that_is_too_long_for_a_name_stays);
    tcase_add_test(tcase, nothing_else_is_removed);
    tcase_add_test(tcase, a_directory_that_is_not_there_has_no_path);
    suite_add_tcase(suite, tcase);
    return suite;
}
