#include "server/store/hub.h"

#include "base/file.h"
#include "base/size.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "models--"
#define BETWEEN "--" /* stands for the '/' in a repository's name, and occurs in no name */
#define SNAPSHOTS "snapshots"
#define REF_MAX_BYTES 256

bool mt_hub_repository_of(const char *folder, char out[MT_HUB_NAME_BYTES])
{
    size_t length = strlen(folder), n_prefix = strlen(PREFIX);
    if (strncmp(folder, PREFIX, n_prefix) != 0 || length == n_prefix ||
        length - n_prefix >= MT_HUB_NAME_BYTES)
        return false;
    strcpy(out, folder + n_prefix);
    char *between = strstr(out, BETWEEN);
    if (between) {
        *between = '/';
        memmove(between + 1, between + strlen(BETWEEN), strlen(between + strlen(BETWEEN)) + 1);
    }
    return true;
}

/* Copies the part of a path that ends at `end`, and moves *end before it and its slash. */
static bool take_last(const char *path, const char **end, char *out, size_t capacity)
{
    while (*end > path && (*end)[-1] == '/')
        (*end)--;
    const char *begin = *end;
    while (begin > path && begin[-1] != '/')
        begin--;
    size_t length = (size_t)(*end - begin);
    *end = begin;
    if (length == 0 || length >= capacity)
        return false;
    memcpy(out, begin, length);
    out[length] = '\0';
    return true;
}

bool mt_hub_is_snapshot(const char *path, struct mt_hub_snapshot *out)
{
    char middle[sizeof SNAPSHOTS], folder[MT_HUB_NAME_BYTES + sizeof PREFIX];
    const char *end = path + strlen(path);
    return take_last(path, &end, out->commit, sizeof out->commit) &&
           take_last(path, &end, middle, sizeof middle) && strcmp(middle, SNAPSHOTS) == 0 &&
           take_last(path, &end, folder, sizeof folder) &&
           mt_hub_repository_of(folder, out->repository);
}

void mt_model_name_of(const char *path, char out[MT_HUB_NAME_BYTES])
{
    struct mt_hub_snapshot snapshot;
    char resolved[PATH_MAX];
    const char *real = realpath(path, resolved) ? resolved : path;
    const char *from = mt_hub_is_snapshot(real, &snapshot) ? snapshot.repository : real;
    const char *slash = strrchr(from, '/');
    const char *name = slash && slash[1] ? slash + 1 : from;
    size_t length = mt_size_min(strlen(name), MT_HUB_NAME_BYTES - 1);
    memcpy(out, name, length);
    out[length] = '\0';
}

/* Whether the revision is a path that stays below the repository's folder. */
static bool is_plain(const char *revision)
{
    return revision[0] != '/' && revision[0] != '.' && !strstr(revision, "..");
}

static enum mt_status folder_of(const char *hub, const char *repository, char **out,
                                struct mt_error *err)
{
    const char *slash = strchr(repository, '/');
    int n_first = slash ? (int)(slash - repository) : (int)strlen(repository);
    if (asprintf(out, "%s/" PREFIX "%.*s%s%s", hub, n_first, repository, slash ? BETWEEN : "",
                 slash ? slash + 1 : "") < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    return MT_OK;
}

/* Reads the commit of a branch or tag; MT_NOT_FOUND. */
static enum mt_status read_ref(const char *folder, const char *revision,
                               char out[MT_HUB_COMMIT_BYTES], struct mt_error *err)
{
    char *path, *bytes;
    size_t length;
    if (asprintf(&path, "%s/refs/%s", folder, revision) < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    enum mt_status status = mt_file_read(path, REF_MAX_BYTES, &bytes, &length, err);
    free(path);
    if (status)
        return status == MT_MEMORY ? status : MT_NOT_FOUND;
    while (length > 0 && isspace((unsigned char)bytes[length - 1]))
        bytes[--length] = '\0';
    bool is_commit = length > 0 && length < MT_HUB_COMMIT_BYTES && !strchr(bytes, '/') &&
                     bytes[0] != '.' && strlen(bytes) == length;
    if (is_commit)
        memcpy(out, bytes, length + 1);
    free(bytes);
    return is_commit ? MT_OK : MT_NOT_FOUND;
}

/* Finds the name of the only folder in snapshots. Returns false if there is none, or several. */
static bool find_only(const char *snapshots, char out[MT_HUB_COMMIT_BYTES])
{
    DIR *directory = opendir(snapshots);
    const struct dirent *entry;
    size_t n = 0;
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < MT_HUB_COMMIT_BYTES) {
            strcpy(out, entry->d_name);
            n++;
        }
    if (directory)
        closedir(directory);
    return n == 1;
}

static enum mt_status find_commit(const char *folder, const char *snapshots, const char *revision,
                                  char out[MT_HUB_COMMIT_BYTES], struct mt_error *err)
{
    enum mt_status status = read_ref(folder, *revision ? revision : "main", out, err);
    if (status != MT_NOT_FOUND)
        return status;
    if (!*revision && find_only(snapshots, out))
        return MT_OK;
    if (*revision && !strchr(revision, '/') && strlen(revision) < MT_HUB_COMMIT_BYTES) {
        strcpy(out, revision); /* it is a commit itself */
        return MT_OK;
    }
    return MT_NOT_FOUND;
}

enum mt_status mt_hub_find(const char *hub, const char *repository, const char *revision,
                           char **out, struct mt_error *err)
{
    char commit[MT_HUB_COMMIT_BYTES];
    char *folder, *snapshots = NULL, *path = NULL;
    if (*revision && !is_plain(revision))
        return mt_fail(err, MT_NOT_FOUND, "\"%.60s\" is no revision", revision);
    enum mt_status status = folder_of(hub, repository, &folder, err);
    if (status)
        return status;
    status = mt_path_join(folder, SNAPSHOTS, &snapshots, err);
    if (!status)
        status = find_commit(folder, snapshots, revision, commit, err);
    if (!status)
        status = mt_path_join(snapshots, commit, &path, err);
    if (!status && mt_path_exists(path) != MT_OK)
        status = MT_NOT_FOUND;
    if (status == MT_NOT_FOUND)
        status = mt_fail(err, MT_NOT_FOUND, "%s: no snapshot of %s", folder,
                         *revision ? revision : "main");
    free(folder);
    free(snapshots);
    if (status)
        free(path);
    else
        *out = path;
    return status;
}
