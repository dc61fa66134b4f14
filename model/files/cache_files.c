#include "model/files/cache_files.h"

#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END ".int8.safetensors"
#define SLASH "%2F"
/* Most bytes of a name without its ending, which leaves room for a temporary file's ending. */
#define MAX_NAME (NAME_MAX - 64)

/* Escapes characters that a name cannot contain, and "%" itself, as in URLs, so that two paths
 * never share a name. If there is not enough room, the result is cut. */
static size_t escape(const char *path, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = path; *p && n + sizeof SLASH <= size; p++)
        if (*p == '/' || *p == '%' || (unsigned char)*p < ' ')
            n += (size_t)snprintf(out + n, size - n, "%%%02X", (unsigned)(unsigned char)*p);
        else
            out[n++] = *p;
    out[n] = '\0';
    return n;
}

static int hexadecimal(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* Makes a directory's path of a file's name without its ending. Returns false if the name is not
 * one of ours. */
static bool unescape(const char *name, size_t length, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (name[i] != '%') {
            out[n++] = name[i];
            continue;
        }
        int high = i + 2 < length ? hexadecimal(name[i + 1]) : -1;
        int low = i + 2 < length ? hexadecimal(name[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return false;
        out[n++] = (char)(high * 16 + low);
        i += 2;
    }
    out[n] = '\0';
    return out[0] == '/';
}

enum mt_status mt_cache_file_path(const char *cache_directory, const char *directory, char **out,
                                  struct mt_error *err)
{
    char real[PATH_MAX], name[NAME_MAX + 1];
    if (!realpath(directory, real))
        return mt_fail(err, MT_NOT_FOUND, "%s: %s", directory, strerror(errno));
    if (escape(real, name, sizeof name) > MAX_NAME)
        snprintf(name, sizeof name, "long-%.64s-%016" PRIx64, strrchr(real, '/') + 1,
                 mt_hash(MT_HASH_BEGIN, real, strlen(real)));
    if (asprintf(out, "%s/%s" END, cache_directory, name) < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    return MT_OK;
}

/* If the directory may not be accessed, it exists. */
static bool is_orphan(int cache, const char *name)
{
    char directory[NAME_MAX + 1];
    struct stat st;
    size_t length = strlen(name), n_end = sizeof END - 1;
    if (length <= n_end || strncmp(name + length - n_end, END, n_end) != 0 ||
        !unescape(name, length - n_end, directory))
        return false;
    bool is_gone = stat(directory, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
    return is_gone && fstatat(cache, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid();
}

static bool remove_orphan(int cache, const char *name)
{
    return is_orphan(cache, name) && unlinkat(cache, name, 0) == 0;
}

static bool remove_leftover(int cache, const char *name)
{
    size_t length = mt_file_temporary_length(name), n_end = sizeof END - 1;
    return length > n_end && strncmp(name + length - n_end, END, n_end) == 0 &&
           mt_file_remove_leftover(cache, name);
}

static size_t remove_all(const char *cache_directory, bool (*remove)(int cache, const char *name))
{
    size_t n = 0;
    DIR *entries = opendir(cache_directory);
    if (!entries)
        return 0;
    for (const struct dirent *entry; (entry = readdir(entries));)
        n += remove(dirfd(entries), entry->d_name);
    closedir(entries);
    return n;
}

size_t mt_cache_remove_orphans(const char *cache_directory)
{
    return remove_all(cache_directory, remove_orphan);
}

size_t mt_cache_remove_leftovers(const char *cache_directory)
{
    return remove_all(cache_directory, remove_leftover);
}
