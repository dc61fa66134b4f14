#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mt_status fail_errno(struct mt_error *err, const char *path, const char *verb)
{
    enum mt_status status = errno == ENOENT || errno == ENOTDIR ? MT_NOT_FOUND : MT_IO;
    return mt_fail(err, status, "%s: cannot %s: %s", path, verb, strerror(errno));
}

/* O_NONBLOCK: opening a FIFO by mistake must not hang; regular files ignore it. */
static enum mt_status open_regular(const char *path, int *out_fd, size_t *out_length,
                                   struct mt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_errno(err, path, "open");
    struct stat st;
    if (fstat(fd, &st)) {
        enum mt_status status = fail_errno(err, path, "stat");
        close(fd);
        return status;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return mt_fail(err, MT_IO, "%s: expected a regular file, found a %s", path,
                       S_ISDIR(st.st_mode) ? "directory" : "special file");
    }
    *out_fd = fd;
    *out_length = (size_t)st.st_size;
    return MT_OK;
}

enum mt_status mt_mapping_open(const char *path, struct mt_mapping *out, struct mt_error *err)
{
    int fd = -1;
    size_t length = 0;
    enum mt_status status = open_regular(path, &fd, &length, err);
    if (status)
        return status;
    struct mt_mapping mapping = {.length = length};
    if (length) {
        void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) {
            status = fail_errno(err, path, "map");
            close(fd);
            return status;
        }
        mapping.bytes = bytes;
    }
    close(fd); /* the mapping keeps the file */
    *out = mapping;
    return MT_OK;
}

void mt_mapping_close(struct mt_mapping *mapping)
{
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
            return fail_errno(err, path, "read");
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
    size_t length = 0;
    enum mt_status status = open_regular(path, &fd, &length, err);
    if (status)
        return status;
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

static enum mt_status write_all(int fd, const char *path, const unsigned char *bytes, size_t length,
                                struct mt_error *err)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = write(fd, bytes + at, length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, path, "write");
        at += (size_t)n;
    }
    return fsync(fd) ? fail_errno(err, path, "sync") : MT_OK;
}

/* A random name, not one made of the process id: a container's daemon is always process 1, and what
 * it left behind when it was killed would be in its way for ever. */
static enum mt_status create_temporary(const char *path, char **out_name, int *out_fd,
                                       struct mt_error *err)
{
    char *name;
    if (asprintf(&name, "%s.XXXXXX", path) < 0)
        return mt_fail_memory(err, strlen(path) + sizeof ".XXXXXX", "path");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        enum mt_status status = fail_errno(err, path, "create a temporary file for");
        free(name);
        return status;
    }
    *out_name = name;
    *out_fd = fd;
    return MT_OK;
}

enum mt_status mt_file_write(const char *path, const void *bytes, size_t length,
                             struct mt_error *err)
{
    char *temporary = NULL;
    int fd = -1;
    enum mt_status status = create_temporary(path, &temporary, &fd, err);
    if (status)
        return status;
    status = write_all(fd, path, bytes, length, err);
    if (!status && fchmod(fd, 0644))
        status = fail_errno(err, path, "set the mode of");
    if (close(fd) && !status)
        status = fail_errno(err, path, "close");
    if (!status && rename(temporary, path))
        status = fail_errno(err, path, "rename to");
    if (status)
        unlink(temporary);
    free(temporary);
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

enum mt_status mt_path_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) ? MT_NOT_FOUND : MT_OK;
}
