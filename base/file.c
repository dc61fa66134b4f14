#include "base/file.h"

#include "base/fault.h"
#include "base/size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes for one call of sendfile, which cannot be interrupted. */
#define COPY_BYTES ((size_t)16 << 20)

/* Bytes for one call of write; between two calls the writing may be cancelled. */
#define WRITE_BYTES ((size_t)8 << 20)

/* A change is noticed through the open file, even after it was renamed or unlinked. */
struct mt_mapping_watch {
    int fd;
    size_t fault_number;
    off_t length;
    struct timespec changed;
    atomic_bool is_damaged;
    char path[];
};

static enum mt_status status_of(int number)
{
    if (number == ENOENT || number == ENOTDIR)
        return MT_NOT_FOUND;
    return number == ENOMEM ? MT_MEMORY : MT_IO;
}

enum mt_status mt_fail_errno(struct mt_error *err, const char *path, const char *verb)
{
    enum mt_status status = status_of(errno);
    return mt_fail(err, status, "%s: cannot %s: %s", path, verb, strerror(errno));
}

const char *mt_file_kind(mode_t mode)
{
    return S_ISREG(mode)    ? "regular file"
           : S_ISDIR(mode)  ? "directory"
           : S_ISFIFO(mode) ? "FIFO"
           : S_ISSOCK(mode) ? "socket"
           : S_ISLNK(mode)  ? "symbolic link"
                            : "device";
}

/* O_NONBLOCK, because opening a FIFO by mistake must not block; regular files ignore it. */
static enum mt_status open_regular(const char *path, int *out_fd, struct stat *out_stat,
                                   struct mt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return mt_fail_errno(err, path, "open");
    struct stat st;
    if (fstat(fd, &st)) {
        enum mt_status status = mt_fail_errno(err, path, "stat");
        close(fd);
        return status;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return mt_fail(err, MT_IO, "%s: expected a regular file, found a %s", path,
                       mt_file_kind(st.st_mode));
    }
    *out_fd = fd;
    *out_stat = st;
    return MT_OK;
}

static enum mt_status map(int fd, const char *path, size_t length, struct mt_mapping *out,
                          struct mt_error *err)
{
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return mt_fail_errno(err, path, "map");
    *out = (struct mt_mapping){.bytes = bytes, .length = length};
    return MT_OK;
}

/* ctime is not compared, because renames and links, which are harmless, change it, too. */
static bool is_unchanged(int fd, off_t length, const struct timespec *changed)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size == length && st.st_mtim.tv_sec == changed->tv_sec &&
           st.st_mtim.tv_nsec == changed->tv_nsec;
}

/* Takes over fd if it succeeds. */
static enum mt_status watch(int fd, const char *path, const struct stat *st,
                            struct mt_mapping *mapping, struct mt_error *err)
{
    size_t n_bytes = sizeof *mapping->watch + strlen(path) + 1;
    struct mt_mapping_watch *watch = calloc(1, n_bytes);
    if (!watch)
        return mt_fail_memory(err, n_bytes, path);
    enum mt_status status =
        mt_fault_add(mapping->bytes, mapping->length, &watch->fault_number, err);
    if (status) {
        free(watch);
        return status;
    }
    watch->fd = fd;
    watch->length = st->st_size;
    watch->changed = st->st_mtim;
    strcpy(watch->path, path);
    mapping->watch = watch;
    return MT_OK;
}

static enum mt_status copy_bytes(int from, int to, const char *path, size_t length,
                                 struct mt_error *err)
{
    size_t at = 0;
    while (at < length) {
        size_t n_wanted = length - at < COPY_BYTES ? length - at : COPY_BYTES;
        ssize_t n = sendfile(to, from, NULL, n_wanted);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mt_fail_errno(err, path, "copy");
        if (n == 0)
            return mt_fail(err, MT_IO, "%s: expected %zu bytes, the file ended after %zu", path,
                           length, at);
        at += (size_t)n;
    }
    return MT_OK;
}

static enum mt_status map_copy(int fd, const char *path, const struct stat *st,
                               struct mt_mapping *out, struct mt_error *err)
{
    size_t length = (size_t)st->st_size;
    int copy = memfd_create("weights", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0)
        return mt_fail_errno(err, path, "make memory for a copy");
    enum mt_status status = copy_bytes(fd, copy, path, length, err);
    if (!status && !is_unchanged(fd, st->st_size, &st->st_mtim))
        status = mt_fail(err, MT_IO, "%s: the file changed while it was being read", path);
    if (!status &&
        fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        status = mt_fail_errno(err, path, "seal the copy");
    if (!status)
        status = map(copy, path, length, out, err);
    close(copy);
    return status;
}

/* Refuses the pointer that a repository has instead of a large file if it was cloned without
 * git-lfs. */
static enum mt_status refuse_lfs_pointer(const char *path, const void *bytes, size_t length,
                                         struct mt_error *err)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    if (length < sizeof begin - 1 || memcmp(bytes, begin, sizeof begin - 1))
        return MT_OK;
    return mt_fail(err, MT_FORMAT,
                   "%s: a Git LFS pointer, not the file itself: git lfs pull fetches it", path);
}

enum mt_status mt_mapping_open(const char *path, enum mt_load_mode mode, struct mt_mapping *out,
                               struct mt_error *err)
{
    int fd = -1;
    struct stat st;
    struct mt_mapping mapping = {0};
    enum mt_status status = open_regular(path, &fd, &st, err);
    if (status)
        return status;
    bool is_mapped = mode == MT_LOAD_MMAP && st.st_size > 0;
    if (is_mapped)
        status = map(fd, path, (size_t)st.st_size, &mapping, err);
    else if (st.st_size > 0)
        status = map_copy(fd, path, &st, &mapping, err);
    if (is_mapped && !status)
        status = watch(fd, path, &st, &mapping, err);
    if (!status)
        status = refuse_lfs_pointer(path, mapping.bytes, mapping.length, err);
    if (!mapping.watch)
        close(fd);
    if (status)
        mt_mapping_close(&mapping);
    else
        *out = mapping;
    return status;
}

enum mt_status mt_mapping_check(const struct mt_mapping *mapping, struct mt_error *err)
{
    struct mt_mapping_watch *watch = mapping->watch;
    if (!watch)
        return MT_OK;
    if (mt_fault_happened(watch->fault_number) ||
        !is_unchanged(watch->fd, watch->length, &watch->changed))
        atomic_store(&watch->is_damaged, true);
    if (!atomic_load(&watch->is_damaged))
        return MT_OK;
    return mt_fail(err, MT_IO,
                   "%s: the file was cut short or written to while it was in use; weights are "
                   "replaced by rename",
                   watch->path);
}

void mt_mapping_close(struct mt_mapping *mapping)
{
    if (mapping->watch) {
        mt_fault_remove(mapping->watch->fault_number);
        close(mapping->watch->fd);
        free(mapping->watch);
    }
    if (mapping->bytes)
        munmap((void *)(uintptr_t)mapping->bytes, mapping->length);
    *mapping = (struct mt_mapping){0};
}

static enum mt_status read_all(int fd, const char *path, char *bytes, size_t length,
                               struct mt_error *err)
{
    size_t at = 0;
    while (at < length) {
        ssize_t n = read(fd, bytes + at, length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mt_fail_errno(err, path, "read");
        if (n == 0)
            return mt_fail(err, MT_IO, "%s: expected %zu bytes, the file ended after %zu", path,
                           length, at);
        at += (size_t)n;
    }
    return MT_OK;
}

enum mt_status mt_file_read(const char *path, size_t limit_bytes, char **out, size_t *out_length,
                            struct mt_error *err)
{
    int fd = -1;
    struct stat st;
    enum mt_status status = open_regular(path, &fd, &st, err);
    if (status)
        return status;
    size_t length = (size_t)st.st_size;
    char *bytes = NULL;
    if (length > limit_bytes) {
        status = mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", path, length,
                         limit_bytes);
        goto done;
    }
    bytes = malloc(length + 1);
    if (!bytes) {
        status = mt_fail_memory(err, length + 1, path);
        goto done;
    }
    status = read_all(fd, path, bytes, length, err);
    bytes[length] = '\0';
    if (!status)
        status = refuse_lfs_pointer(path, bytes, length, err);
done:
    close(fd);
    if (status) {
        free(bytes);
        return status;
    }
    *out = bytes;
    if (out_length)
        *out_length = length;
    return MT_OK;
}

static enum mt_status check_wanted(const atomic_bool *is_cancelled, const char *path,
                                   struct mt_error *err)
{
    bool is_wanted = !is_cancelled || !atomic_load(is_cancelled);
    return is_wanted ? MT_OK : mt_fail(err, MT_CANCELLED, "%s: not wanted any more", path);
}

static enum mt_status write_all(const atomic_bool *is_cancelled, int fd, const char *path,
                                const unsigned char *bytes, size_t length, struct mt_error *err)
{
    for (size_t at = 0; at < length;) {
        enum mt_status status = check_wanted(is_cancelled, path, err);
        if (status)
            return status;
        ssize_t n = write(fd, bytes + at, mt_size_min(length - at, WRITE_BYTES));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mt_fail_errno(err, path, "write");
        at += (size_t)n;
    }
    return fsync(fd) ? mt_fail_errno(err, path, "sync") : check_wanted(is_cancelled, path, err);
}

/* A temporary file's name is the path, mkostemps' six letters, and an ending that no other program
 * uses: "config.json.backup" must not be removed. */
#define N_RANDOM 6
#define TEMPORARY_END ".attentiond-tmp"

/* A new file belongs to its writer once it is locked. A process that removes leftovers locks them,
 * too, and may have come first; then the file is being removed, or is already gone. On file systems
 * without locks nobody removes leftovers. */
static bool is_taken(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* The name is random instead of using the process id: a container's daemon is always process 1, and
 * a file that it left when it was killed would be in its way for ever. */
static enum mt_status create_temporary(const char *path, char **out_name, int *out_fd,
                                       struct mt_error *err)
{
    for (;;) {
        char *name;
        if (asprintf(&name, "%s.XXXXXX" TEMPORARY_END, path) < 0)
            return mt_fail_memory(err, strlen(path) + sizeof ".XXXXXX" TEMPORARY_END, "path");
        int fd = mkostemps(name, sizeof TEMPORARY_END - 1, O_CLOEXEC);
        if (fd < 0) {
            enum mt_status status = mt_fail_errno(err, path, "create a temporary file beside it");
            free(name);
            return status;
        }
        if (!is_taken(fd)) {
            *out_name = name;
            *out_fd = fd;
            return MT_OK;
        }
        close(fd);
        free(name);
    }
}

bool mt_file_remove_leftover(int directory, const char *name)
{
    struct stat st;
    int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
    is_left = is_left && unlinkat(directory, name, 0) == 0;
    close(fd);
    return is_left;
}

size_t mt_file_temporary_length(const char *name)
{
    const size_t n_end = 1 + N_RANDOM + sizeof TEMPORARY_END - 1;
    size_t length = strlen(name);
    if (length <= n_end || name[length - n_end] != '.' ||
        strcmp(name + length - n_end + 1 + N_RANDOM, TEMPORARY_END) != 0)
        return 0;
    return length - n_end;
}

/* Removes temporary files of the same path whose writers were killed: a daemon that repeatedly
 * crashes at its start must not fill the disk. */
static void remove_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *entries = directory ? opendir(directory) : NULL;
    free(directory);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        size_t length = mt_file_temporary_length(entry->d_name);
        if (length > 0 && length == strlen(name) && strncmp(entry->d_name, name, length) == 0)
            (void)mt_file_remove_leftover(dirfd(entries), entry->d_name);
    }
    closedir(entries);
}

enum mt_status mt_file_write(const char *path, const void *bytes, size_t length,
                             struct mt_error *err)
{
    return mt_file_write_unless(NULL, path, bytes, length, err);
}

enum mt_status mt_file_write_unless(const atomic_bool *is_cancelled, const char *path,
                                    const void *bytes, size_t length, struct mt_error *err)
{
    char *name = NULL;
    int fd = -1;
    enum mt_status status = create_temporary(path, &name, &fd, err);
    if (status)
        return status;
    remove_leftovers(path);
    status = write_all(is_cancelled, fd, path, bytes, length, err);
    if (!status && fchmod(fd, MT_FILE_MODE))
        status = mt_fail_errno(err, path, "set the mode of");
    /* Closing cannot lose synced data. The lock must not end before the rename, because another
     * writer would take the file for a leftover. */
    if (!status && rename(name, path))
        status = mt_fail_errno(err, path, "rename to");
    if (status)
        unlink(name);
    close(fd);
    free(name);
    return status;
}

enum mt_status mt_path_join(const char *directory, const char *name, char **out,
                            struct mt_error *err)
{
    size_t n = strlen(directory);
    const char *slash = n && directory[n - 1] == '/' ? "" : "/";
    char *path;
    if (asprintf(&path, "%s%s%s", directory, slash, name) < 0)
        return mt_fail_memory(err, n + strlen(name) + 2, "path");
    *out = path;
    return MT_OK;
}

void mt_make_directories(const char *path)
{
    char partial[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof partial)
        return;
    memcpy(partial, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (partial[i] != '/' && partial[i] != '\0')
            continue;
        char end = partial[i];
        partial[i] = '\0';
        (void)!mkdir(partial, 0755);
        partial[i] = end;
    }
}

enum mt_status mt_path_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) ? MT_NOT_FOUND : MT_OK;
}

static bool stat_in(const char *directory, const char *name, struct stat *out)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, out) == 0;
}

bool mt_path_holds(const char *directory, const char *name)
{
    struct stat st;
    return stat_in(directory, name, &st);
}

bool mt_path_holds_file(const char *directory, const char *name)
{
    struct stat st;
    return stat_in(directory, name, &st) && S_ISREG(st.st_mode);
}
