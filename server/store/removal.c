#include "server/store/removal.h"

#include "base/file.h"
#include "model/files/cache_files.h"
#include "server/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOOMED ".removing-"
#define UNFINISHED ".pulling"
#define MAX_OPEN 16

static int delete_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* Deletes a file, or a directory with everything in it; links are not followed. */
static enum mt_status delete_tree(const char *path, struct mt_error *err)
{
    if (nftw(path, delete_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 && errno != ENOENT)
        return mt_fail_errno(err, path, "delete it");
    return MT_OK;
}

/* Deletes the remains of removals that were killed. */
static void delete_leftovers(const char *directory)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    char *path;
    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, DOOMED, strlen(DOOMED)) == 0 &&
            mt_path_join(directory, entry->d_name, &path, NULL) == MT_OK) {
            (void)delete_tree(path, NULL);
            free(path);
        }
    if (entries)
        closedir(entries);
}

static enum mt_status check(const struct mt_stored_model *model, struct mt_error *err)
{
    struct stat st;
    if (lstat(model->path, &st) != 0)
        return mt_fail_errno(err, model->path, "remove it");
    if (S_ISLNK(st.st_mode))
        return mt_fail(err, MT_FORBIDDEN,
                       "%s is a symbolic link, which attentiond pull does not make; it stays",
                       model->path);
    if (model->place != MT_PLACE_MODELS || !model->origin.is_pulled)
        return mt_fail(err, MT_FORBIDDEN,
                       "%s was not put there by attentiond pull, and stays: whoever put it there "
                       "may remove it",
                       model->path);
    return MT_OK;
}

/* Returns the path of the packed form; NULL where there is none, or its path cannot be
 * determined. */
static char *packed_form(const struct mt_stored_model *model, const char *cache_directory)
{
    char *path = NULL;
    if (cache_directory[0] == '\0' ||
        mt_cache_file_path(cache_directory, model->path, &path, NULL) != MT_OK)
        return NULL;
    return path;
}

static enum mt_status move_and_delete(const struct mt_stored_model *model, const char *doomed,
                                      const char *origin, struct mt_error *err)
{
    struct stat st;
    bool is_file = stat(model->path, &st) == 0 && S_ISREG(st.st_mode);
    if (rename(model->path, doomed) != 0)
        return mt_fail_errno(err, model->path, "remove it");
    if (is_file && unlink(origin) != 0 && errno != ENOENT)
        return mt_fail_errno(err, origin, "delete it");
    return delete_tree(doomed, err);
}

enum mt_status mt_stored_model_remove(const struct mt_stored_model *model,
                                      const char *cache_directory, struct mt_error *err)
{
    char *doomed = NULL, *origin = NULL;
    enum mt_status status = check(model, err);
    if (status)
        return status;
    const char *slash = strrchr(model->path, '/');
    char *directory = strndup(model->path, slash ? (size_t)(slash - model->path) : 0);
    char *packed = packed_form(model, cache_directory);
    status = mt_origin_path(model->path, &origin, err);
    if (!status && (!directory || asprintf(&doomed, "%s/" DOOMED "%s", directory, model->name) < 0))
        status = mt_fail_memory(err, PATH_MAX, "path");
    if (!status) {
        delete_leftovers(directory);
        status = move_and_delete(model, doomed, origin, err);
    }
    if (!status && packed && unlink(packed) != 0 && errno != ENOENT)
        status = mt_fail_errno(err, packed, "delete it");
    free(directory);
    free(packed);
    free(origin);
    free(doomed);
    return status;
}

/* Whether the path still names the open file: a pull unlinks its lock at the end. */
static bool is_same_file(int fd, const char *path)
{
    struct stat of_fd, of_path;
    return fstat(fd, &of_fd) == 0 && stat(path, &of_path) == 0 && of_fd.st_dev == of_path.st_dev &&
           of_fd.st_ino == of_path.st_ino;
}

/* Takes the lock that a pull holds while it runs. */
static enum mt_status take_lock(const char *path, const char *name, int *out_fd,
                                struct mt_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, MT_FILE_MODE);
    if (fd < 0)
        return mt_fail_errno(err, path, "open it");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_same_file(fd, path)) {
        close(fd);
        return mt_fail(err, MT_BUSY, "%s is being pulled at the moment, and stays", name);
    }
    *out_fd = fd;
    return MT_OK;
}

static enum mt_status remove_unfinished(const char *folder, const char *name, struct mt_error *err)
{
    char *lock_path;
    int lock = -1;
    if (asprintf(&lock_path, "%s.lock", folder) < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    enum mt_status status = take_lock(lock_path, name, &lock, err);
    if (!status) {
        status = delete_tree(folder, err);
        unlink(lock_path);
        close(lock);
    }
    free(lock_path);
    return status;
}

enum mt_status mt_unfinished_pull_remove(const char *root, const char *name, bool *was_there,
                                         struct mt_error *err)
{
    char *folder;
    enum mt_status status = MT_OK;
    *was_there = false;
    if (name[0] == '.' || strchr(name, '/'))
        return MT_OK;
    if (asprintf(&folder, "%s/" UNFINISHED "/%s", root, name) < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    if (mt_path_exists(folder) == MT_OK) {
        status = remove_unfinished(folder, name, err);
        *was_there = !status;
    }
    free(folder);
    return status;
}
