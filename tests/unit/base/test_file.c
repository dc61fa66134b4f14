#include "base/file.h"

#include <check.h>
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/mt_test_file.XXXXXX";

static void make_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static size_t count_files(void)
{
    size_t n = 0;
    DIR *handle = opendir(directory);
    ck_assert_ptr_nonnull(handle);
    for (struct dirent *entry; (entry = readdir(handle));)
        n += entry->d_name[0] != '.';
    closedir(handle);
    return n;
}

static char *inside(const char *name)
{
    char *path;
    ck_assert_int_eq(mt_path_join(directory, name, &path, NULL), MT_OK);
    return path;
}

static char *write_bytes(const char *name, const char *bytes, size_t length)
{
    char *path = inside(name);
    ck_assert_int_eq(mt_file_write(path, bytes, length, NULL), MT_OK);
    return path;
}

static void remove_directory(void)
{
    DIR *handle = opendir(directory);
    for (struct dirent *entry; handle && (entry = readdir(handle));) {
        char *path = inside(entry->d_name);
        remove(path);
        free(path);
    }
    if (handle)
        closedir(handle);
    rmdir(directory);
}

START_TEST(what_is_written_is_read_and_mapped)
{
    static const char content[] = "one\0two";
    char *path = write_bytes("file", content, sizeof content - 1), *bytes;
    size_t length;
    ck_assert_int_eq(mt_file_read(path, 7, &bytes, &length, NULL), MT_OK);
    ck_assert_uint_eq(length, 7);
    ck_assert_mem_eq(bytes, content, 8); /* with a NUL of its own */
    free(bytes);

    struct mt_mapping mapping;
    ck_assert_int_eq(mt_mapping_open(path, MT_LOAD_MMAP, &mapping, NULL), MT_OK);
    ck_assert_uint_eq(mapping.length, 7);
    unlink(path); /* the mapping stays */
    ck_assert_mem_eq(mapping.bytes, content, 7);
    mt_mapping_close(&mapping);
    ck_assert_ptr_null(mapping.bytes);
    mt_mapping_close(&mapping);
    free(path);
}
END_TEST

START_TEST(empty_files_are_files)
{
    char *path = write_bytes("empty", "", 0), *bytes;
    size_t length;
    ck_assert_int_eq(mt_file_read(path, 0, &bytes, &length, NULL), MT_OK);
    ck_assert_uint_eq(length, 0);
    ck_assert_str_eq(bytes, "");
    free(bytes);
    struct mt_mapping mapping = {.length = 99};
    ck_assert_int_eq(mt_mapping_open(path, MT_LOAD_MMAP, &mapping, NULL), MT_OK);
    ck_assert_uint_eq(mapping.length, 0);
    ck_assert_ptr_null(mapping.bytes);
    mt_mapping_close(&mapping);
    free(path);
}
END_TEST

START_TEST(what_git_left_in_place_of_a_large_file_is_named)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
                                  "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258da\n"
                                  "size 12345\n";
    static const enum mt_load_mode modes[] = {MT_LOAD_MMAP, MT_LOAD_COPY};
    char *path = write_bytes("pointer", pointer, sizeof pointer - 1);
    for (size_t i = 0; i < 2; i++) {
        struct mt_mapping mapping;
        struct mt_error err;
        ck_assert_int_eq(mt_mapping_open(path, modes[i], &mapping, &err), MT_FORMAT);
        ck_assert_msg(strstr(err.message, "pointer: a Git LFS pointer"), "%s", err.message);
    }
    struct mt_error err;
    char *bytes = NULL;
    ck_assert_int_eq(mt_file_read(path, sizeof pointer, &bytes, NULL, &err), MT_FORMAT);
    ck_assert_msg(strstr(err.message, "pointer: a Git LFS pointer"), "%s", err.message);
    ck_assert_ptr_null(bytes);
    free(path);
}
END_TEST

START_TEST(limit_is_told_with_both_sizes)
{
    struct mt_error err;
    char *path = write_bytes("large", "12345", 5), *bytes = NULL, expected[200];
    ck_assert_int_eq(mt_file_read(path, 4, &bytes, NULL, &err), MT_LIMIT);
    snprintf(expected, sizeof expected, "%s: 5 bytes, expected at most 4", path);
    ck_assert_str_eq(err.message, expected);
    ck_assert_ptr_null(bytes);
    free(path);
}
END_TEST

START_TEST(what_is_absent_is_not_found)
{
    struct mt_error err;
    struct mt_mapping mapping;
    char *path = inside("absent"), *below = inside("absent/file"), *bytes;
    ck_assert_int_eq(mt_file_read(path, 9, &bytes, NULL, &err), MT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "absent: cannot open: No such file"));
    ck_assert_int_eq(mt_mapping_open(below, MT_LOAD_MMAP, &mapping, &err), MT_NOT_FOUND);
    ck_assert_int_eq(mt_path_exists(path), MT_NOT_FOUND);
    ck_assert_int_eq(mt_path_exists(directory), MT_OK);
    ck_assert(!mt_path_holds(directory, "absent"));
    ck_assert(mt_path_holds(directory, "."));
    errno = ENOMEM;
    ck_assert_int_eq(mt_fail_errno(&err, "there", "read it"), MT_MEMORY);
    ck_assert_str_eq(err.message, "there: cannot read it: Cannot allocate memory");
    free(path);
    free(below);
}
END_TEST

/* A FIFO without a writer would block an ordinary open for ever. */
START_TEST(only_regular_files_are_opened)
{
    struct mt_error err;
    struct mt_mapping mapping;
    char *fifo = inside("fifo"), *bytes;
    ck_assert_int_eq(mt_mapping_open(directory, MT_LOAD_MMAP, &mapping, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "expected a regular file, found a directory"));
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(mt_file_read(fifo, 9, &bytes, NULL, &err), MT_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "found a FIFO"));
    free(fifo);
}
END_TEST

START_TEST(writing_replaces_the_whole_file_and_leaves_nothing_else)
{
    size_t before = count_files();
    char *path = write_bytes("replaced", "a long first version", 20), *bytes;
    struct mt_mapping old;
    ck_assert_int_eq(mt_mapping_open(path, MT_LOAD_MMAP, &old, NULL), MT_OK);
    ck_assert_int_eq(mt_file_write(path, "short", 5, NULL), MT_OK);
    ck_assert_mem_eq(old.bytes, "a long first version", 20);
    mt_mapping_close(&old);
    ck_assert_int_eq(mt_file_read(path, 100, &bytes, NULL, NULL), MT_OK);
    ck_assert_str_eq(bytes, "short");
    free(bytes);
    ck_assert_uint_eq(count_files(), before + 1);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0644);
    free(path);
}
END_TEST

START_TEST(a_failed_write_leaves_what_was_there)
{
    struct mt_error err;
    char *path = inside("directory"), *below = inside("absent/file");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    size_t before = count_files();
    ck_assert_int_eq(mt_file_write(path, "x", 1, &err), MT_IO); /* rename over a directory */
    ck_assert_ptr_nonnull(strstr(err.message, "cannot rename to"));
    ck_assert_int_eq(mt_file_write(below, "x", 1, &err), MT_NOT_FOUND);
    ck_assert_uint_eq(count_files(), before);
    free(path);
    free(below);
}
END_TEST

START_TEST(a_cancelled_write_leaves_nothing)
{
    struct mt_error err;
    char *path = inside("cancelled");
    atomic_bool is_cancelled = true;
    size_t before = count_files();
    ck_assert_int_eq(mt_file_write_unless(&is_cancelled, path, "x", 1, &err), MT_CANCELLED);
    ck_assert_ptr_nonnull(strstr(err.message, "cancelled: not wanted any more"));
    ck_assert_uint_eq(count_files(), before);
    is_cancelled = false;
    ck_assert_int_eq(mt_file_write_unless(&is_cancelled, path, "x", 1, &err), MT_OK);
    ck_assert_uint_eq(count_files(), before + 1);
    free(path);
}
END_TEST

/* As a writer that was killed leaves it. */
static char *leave(const char *name)
{
    char *path = inside(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    return path;
}

START_TEST(a_write_removes_what_killed_ones_left)
{
    static const struct {
        const char *name;
        bool goes;
    } cases[] = {
        {"left.Ab3dE6.attentiond-tmp", true},
        {"left.ZZZZZZ.attentiond-tmp", true},
        {"left.recent.attentiond-tmp", true},
        {"left.locked.attentiond-tmp", false},
        {"left.toolong.attentiond-tmp", false},
        {"left.attentiond-tmp", false},
        {"other.Ab3dE6.attentiond-tmp", false},
        {"left.backup", false}, /* somebody's */
        {"left.Ab3dE6", false},
        {"left.json", false},
        {"left", false},
    };
    enum { N = sizeof cases / sizeof *cases };
    char *paths[N];
    for (size_t i = 0; i < N; i++)
        paths[i] = leave(cases[i].name);
    int writer = open(paths[3], O_RDWR);
    ck_assert_int_eq(flock(writer, LOCK_EX), 0);
    free(write_bytes("left", "whole", 5));
    for (size_t i = 0; i < N; i++) {
        ck_assert_msg((access(paths[i], F_OK) != 0) == cases[i].goes, "%s", cases[i].name);
        free(paths[i]);
    }
    close(writer);
}
END_TEST

START_TEST(a_name_says_what_a_temporary_file_is_for)
{
    static const struct {
        const char *name;
        size_t length;
    } cases[] = {
        {"left.Ab3dE6.attentiond-tmp", 4},
        {"a.b.Ab3dE6.attentiond-tmp", 3},
        {".Ab3dE6.attentiond-tmp", 0},
        {"left.toolong.attentiond-tmp", 0},
        {"left.Ab3dE6.attentiond-tm", 0},
        {"left.attentiond-tmp", 0},
        {"left", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(mt_file_temporary_length(cases[i].name) == cases[i].length, "%s",
                      cases[i].name);
}
END_TEST

/* As a directory's name has none. */
START_TEST(without_a_name_nothing_is_removed)
{
    char *path = leave("somebodys"), *folder = strdup(path);
    strrchr(folder, '/')[1] = '\0';
    ck_assert_int_ne(mt_file_write(folder, "x", 1, NULL), MT_OK);
    ck_assert_int_eq(access(path, F_OK), 0);
    free(path);
    free(folder);
}
END_TEST

START_TEST(paths_are_joined_with_one_slash)
{
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "/b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path;
        ck_assert_int_eq(mt_path_join(cases[i][0], cases[i][1], &path, NULL), MT_OK);
        ck_assert_str_eq(path, cases[i][2]);
        free(path);
    }
}
END_TEST

Suite *suite_file(void)
{
    Suite *suite = suite_create("file");
    TCase *tcase = tcase_create("files");
    tcase_add_unchecked_fixture(tcase, make_directory, remove_directory);
    tcase_add_test(tcase, what_is_written_is_read_and_mapped);
    tcase_add_test(tcase, empty_files_are_files);
    tcase_add_test(tcase, what_git_left_in_place_of_a_large_file_is_named);
    tcase_add_test(tcase, limit_is_told_with_both_sizes);
    tcase_add_test(tcase, what_is_absent_is_not_found);
    tcase_add_test(tcase, only_regular_files_are_opened);
    tcase_add_test(tcase, writing_replaces_the_whole_file_and_leaves_nothing_else);
    tcase_add_test(tcase, a_failed_write_leaves_what_was_there);
    tcase_add_test(tcase, a_cancelled_write_leaves_nothing);
    tcase_add_test(tcase, a_write_removes_what_killed_ones_left);
    tcase_add_test(tcase, a_name_says_what_a_temporary_file_is_for);
    tcase_add_test(tcase, without_a_name_nothing_is_removed);
    tcase_add_test(tcase, paths_are_joined_with_one_slash);
    suite_add_tcase(suite, tcase);
    return suite;
}
