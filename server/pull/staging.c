#include "server/pull/staging_state.h"

#include "base/file.h"
#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define LOCK_POLL_MS 100
#define TREE_DESCRIPTORS 16

bool mt_staging_is_cancelled(const struct mt_staging *staging)
{
    return staging->is_cancelled && atomic_load(staging->is_cancelled);
}

char *mt_staging_format(const char *format, ...)
{
    char *path;
    va_list args;
    va_start(args, format);
    if (vasprintf(&path, format, args) < 0)
        path = NULL;
    va_end(args);
    return path;
}

enum mt_status mt_staging_fail_path(struct mt_error *err)
{
    return mt_fail(err, MT_MEMORY, "no memory for a path");
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

static enum mt_status check_name(const char *name, const char *what, struct mt_error *err)
{
    size_t length = strlen(name);
    bool is_bad = length == 0 || length > MT_STAGING_MAX_NAME_BYTES || name[0] == '.' ||
                  strchr(name, '/') || mt_utf8_valid_prefix(name, length) != length;
    for (size_t i = 0; i < length; i++)
        is_bad = is_bad || (unsigned char)name[i] < ' ' || name[i] == 0x7f;
    if (is_bad)
        return mt_fail(
            err, MT_INVALID,
            "\"%.80s\" cannot be the name of a %s: 1 to %d bytes of UTF-8 without '/' and "
            "control characters, and no '.' in front",
            name, what, MT_STAGING_MAX_NAME_BYTES);
    if (ends_in(name, MT_PART_SUFFIX) || ends_in(name, MT_PART_NOTE_SUFFIX) ||
        strcmp(name, MT_STAGING_RECORD) == 0 || ends_in(name, MT_STAGING_FILE_RECORD))
        return mt_fail(err, MT_INVALID, "\"%s\" cannot be the name of a %s: we use it ourselves",
                       name, what);
    return MT_OK;
}

/* ---- trees ---- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    remove(path);
    return 0;
}

/* Files that cannot be deleted are left, since nothing depends on it. */
void mt_staging_remove_tree(const char *path)
{
    nftw(path, remove_entry, TREE_DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

bool mt_staging_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* ---- open ---- */

/* Whether the path still names the descriptor's file: the previous holder of the lock deletes
 * it. */
static bool is_same_file(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

static enum mt_status take_lock(struct mt_staging *staging,
                                const struct mt_staging_request *request, struct mt_error *err)
{
    bool has_told = false;
    for (;;) {
        int fd = open(staging->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, MT_FILE_MODE);
        if (fd < 0)
            return mt_fail_errno(err, staging->lock_path, "open");
        bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        int number = errno;
        if (is_locked && is_same_file(fd, staging->lock_path)) {
            staging->lock = fd;
            return MT_OK;
        }
        close(fd);
        if (is_locked)
            continue;
        errno = number;
        if (number != EWOULDBLOCK && number != EINTR)
            return mt_fail_errno(err, staging->lock_path, "lock");
        if (request->never_wait)
            return mt_fail(err, MT_BUSY, "another process is pulling %s into %s", staging->name,
                           staging->root);
        if (mt_staging_is_cancelled(staging))
            return mt_fail(err, MT_CANCELLED, "stopped");
        if (!has_told && request->on_wait) {
            char message[MT_ERROR_BYTES];
            snprintf(message, sizeof message,
                     "another process is pulling %s into %s: waiting for its end", staging->name,
                     staging->root);
            request->on_wait(request->context, message);
        }
        has_told = true;
        struct timespec pause = {.tv_nsec = LOCK_POLL_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
}

enum mt_status mt_staging_check_target(const struct mt_staging *staging, const char *file,
                                       struct mt_error *err)
{
    const char *root = staging->root, *name = file ? file : staging->name;
    char *target = mt_staging_format("%s/%s", root, name);
    char *record = mt_staging_format("%s/%s%s", root, name,
                                     file ? MT_STAGING_FILE_RECORD : "/" MT_STAGING_RECORD);
    enum mt_status status = MT_OK;
    if (!target || !record)
        status = mt_staging_fail_path(err);
    else if (mt_staging_exists(target) && !mt_staging_exists(record))
        status = mt_fail(err, MT_INVALID,
                         "%s was not pulled (there is no %s), and is not replaced: give the model "
                         "another name, or move it away",
                         target, record);
    free(target);
    free(record);
    return status;
}

/* Whether the record names this origin. */
static bool is_record_of(const char *path, const char *from)
{
    cJSON *document = NULL;
    const char *said = NULL;
    struct mt_json_limits limits = {.max_values = 16 * MT_STAGING_MAX_FILES};
    bool is = mt_json_read_file(path, MT_STAGING_RECORD_LIMIT, &limits, &document, NULL) == MT_OK &&
              mt_json_get_string(document, "from", &said, NULL, NULL) == MT_OK && said &&
              strcmp(said, from) == 0;
    cJSON_Delete(document);
    return is;
}

/* Completes what a process left that was killed during a commit. */
static enum mt_status tidy(struct mt_staging *staging, struct mt_error *err)
{
    char *target = mt_staging_format("%s/%s", staging->root, staging->name);
    char *target_record =
        mt_staging_format("%s/%s/" MT_STAGING_RECORD, staging->root, staging->name);
    char *record = mt_staging_format("%s/" MT_STAGING_RECORD, staging->folder);
    enum mt_status status = MT_OK;
    if (!target || !target_record || !record) {
        status = mt_staging_fail_path(err);
    } else if (mt_staging_exists(staging->backup)) {
        /* The commit consists of two renames here. If it stopped after the first, then there was no
         * model. */
        if (mt_staging_exists(target))
            mt_staging_remove_tree(staging->backup);
        else if (rename(staging->backup, target))
            status = mt_fail_errno(err, staging->backup, "bring back");
    } else if (mt_staging_exists(record) && is_record_of(target_record, staging->from)) {
        /* The commit exchanged both, so that the folder holds the old model. */
        mt_staging_remove_tree(staging->folder);
    }
    free(target);
    free(target_record);
    free(record);
    return status;
}

static enum mt_status make_folder(const char *path, struct mt_error *err)
{
    return mkdir(path, 0755) && errno != EEXIST ? mt_fail_errno(err, path, "make") : MT_OK;
}

static enum mt_status set_up(struct mt_staging *staging, const struct mt_staging_request *request,
                             struct mt_error *err)
{
    staging->root = strdup(request->root);
    staging->name = strdup(request->name);
    staging->from = strdup(request->from);
    staging->licence = strdup(request->licence ? request->licence : "");
    staging->folder =
        mt_staging_format("%s/" MT_STAGING_FOLDER "/%s", request->root, request->name);
    staging->backup =
        mt_staging_format("%s/" MT_STAGING_FOLDER "/%s.old", request->root, request->name);
    staging->lock_path =
        mt_staging_format("%s/" MT_STAGING_FOLDER "/%s.lock", request->root, request->name);
    if (!staging->root || !staging->name || !staging->from || !staging->licence ||
        !staging->folder || !staging->backup || !staging->lock_path)
        return mt_staging_fail_path(err);
    char *parent = mt_staging_format("%s/" MT_STAGING_FOLDER, request->root);
    if (!parent)
        return mt_staging_fail_path(err);
    mt_make_directories(parent);
    /* The next steps report a failure of these. */
    enum mt_status status = make_folder(staging->root, err);
    if (!status)
        status = make_folder(parent, err);
    free(parent);
    if (!status)
        status = take_lock(staging, request, err);
    if (!status)
        status = tidy(staging, err);
    if (!status && !staging->is_single_file)
        status = mt_staging_check_target(staging, NULL, err);
    return status ? status : make_folder(staging->folder, err);
}

enum mt_status mt_staging_open(const struct mt_staging_request *request, struct mt_staging **out,
                               struct mt_error *err)
{
    enum mt_status status = check_name(request->name, "model", err);
    if (status)
        return status;
    struct mt_staging *staging = calloc(1, sizeof *staging);
    if (!staging)
        return mt_fail_memory(err, sizeof *staging, "a model that is pulled");
    staging->lock = -1;
    staging->is_single_file = request->is_single_file;
    staging->is_cancelled = request->is_cancelled;
    staging->check = request->check;
    staging->context = request->context;
    status = set_up(staging, request, err);
    if (status)
        mt_staging_close(staging);
    else
        *out = staging;
    return status;
}

/* ---- files ---- */

struct mt_staged *mt_staging_find(struct mt_staging *staging, const char *name)
{
    for (size_t i = 0; i < staging->n; i++)
        if (strcmp(staging->files[i].name, name) == 0)
            return &staging->files[i];
    return NULL;
}

/* Returns the entry of that name, or a new one; NULL, with the message in err. */
static struct mt_staged *add(struct mt_staging *staging, const char *name, struct mt_error *err)
{
    struct mt_staged *staged = mt_staging_find(staging, name);
    if (staged) {
        free(staged->unpacked_sha256);
        *staged = (struct mt_staged){.name = staged->name};
        return staged;
    }
    if (staging->n == MT_STAGING_MAX_FILES) {
        mt_fail(err, MT_LIMIT, "%s: more than the %d files that a model may have", staging->name,
                MT_STAGING_MAX_FILES);
        return NULL;
    }
    staged = &staging->files[staging->n];
    *staged = (struct mt_staged){.name = strdup(name)};
    if (!staged->name) {
        mt_staging_fail_path(err);
        return NULL;
    }
    staging->n++;
    return staged;
}

char *mt_staging_join(const struct mt_staging *staging, const char *name, const char *suffix)
{
    return mt_staging_format("%s/%s%s", staging->folder, name, suffix);
}

/* Whether a packed file is already there in its unpacked form; then *size and sha256 describe
 * that. */
static bool is_unpacked(const struct mt_staging *staging, const struct mt_staged_file *file,
                        int64_t *size, char sha256[MT_SHA256_HEX_BYTES])
{
    if (!file->packing || !file->unpacked_sha256)
        return false;
    char *path = mt_staging_join(staging, file->name, "");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct mt_digest digest = {0};
    bool is_right = fd >= 0 && mt_digest_begin(&digest, -1, NULL) == MT_OK &&
                    mt_digest_add_file(&digest, fd, path, NULL) == MT_OK;
    if (is_right) {
        *size = digest.length;
        mt_digest_end(&digest, sha256, NULL);
        is_right = strcmp(sha256, file->unpacked_sha256) == 0;
    }
    mt_digest_drop(&digest);
    if (fd >= 0)
        close(fd);
    free(path);
    return is_right;
}

/* The files that have to be fetched. The others are there in unpacked form. */
struct selection {
    struct mt_staging *staging;
    struct mt_download *downloads;
    size_t *places; /* for each download, its index in the caller's files */
    size_t n, n_files;
    mt_download_on_progress *on_progress;
    void *context;
};

static void relay_progress(void *context, const struct mt_download_progress *progress)
{
    const struct selection *selection = context;
    struct mt_download_progress relayed = *progress;
    relayed.file =
        progress->file < selection->n ? selection->places[progress->file] : selection->n_files;
    relayed.n_files = selection->n_files;
    relayed.n_finished += selection->n_files - selection->n;
    selection->on_progress(selection->context, &relayed);
}

static int64_t bytes_at(const char *path, const char *suffix)
{
    char *whole = mt_staging_format("%s%s", path, suffix);
    struct stat st = {0};
    if (!whole || stat(whole, &st))
        st.st_size = 0;
    free(whole);
    return st.st_size;
}

/* Returns how much space on the disk a file needs. */
static int64_t missing_bytes(const struct mt_staged_file *file, const struct mt_download *download)
{
    int64_t there = bytes_at(download->path, "") + bytes_at(download->path, MT_PART_SUFFIX);
    int64_t missing = file->size > there ? file->size - there : 0;
    return missing + (file->packing && file->unpacked_size > 0 ? file->unpacked_size : 0);
}

static enum mt_status check_room(const struct selection *selection,
                                 const struct mt_staged_file *files,
                                 struct mt_download_failure *failure, struct mt_error *err)
{
    const char *root = selection->staging->root;
    int64_t missing = 0;
    for (size_t i = 0; i < selection->n; i++)
        missing += missing_bytes(&files[selection->places[i]], &selection->downloads[i]);
    struct statvfs disk;
    if (missing == 0 || statvfs(root, &disk))
        return MT_OK;
    int64_t has = (int64_t)((uint64_t)disk.f_bavail * disk.f_frsize);
    if (has >= missing + MT_STAGING_SPARE_BYTES)
        return MT_OK;
    failure->trouble = MT_TROUBLE_DISK_FULL;
    return mt_fail(
        err, MT_IO,
        "%s: %.1f MB are needed for %s, and the disk has %.1f MB left: make room, or give "
        "another folder",
        root, (double)(missing + MT_STAGING_SPARE_BYTES) / 1e6, selection->staging->name,
        (double)has / 1e6);
}

static enum mt_status check_file(const struct mt_staging *staging, const char *name,
                                 struct mt_error *err)
{
    enum mt_status status = check_name(name, "file", err);
    return !status && staging->is_single_file ? mt_staging_check_target(staging, name, err)
                                              : status;
}

/* Adds a file to staging, and to the selection if it has to be fetched. */
static enum mt_status select_file(struct selection *selection, const struct mt_staged_file *file,
                                  size_t place, struct mt_error *err)
{
    struct mt_staging *staging = selection->staging;
    enum mt_status status = check_file(staging, file->name, err);
    if (status)
        return status;
    if (file->size > MT_DOWNLOAD_MAX_FILE_BYTES || file->unpacked_size > MT_DOWNLOAD_MAX_FILE_BYTES)
        return mt_fail(err, MT_LIMIT,
                       "%s: its size is more than the %lld bytes that a file may have", file->url,
                       (long long)MT_DOWNLOAD_MAX_FILE_BYTES);
    struct mt_staged *staged = add(staging, file->name, err);
    if (!staged)
        return err ? err->status : MT_MEMORY;
    staged->packing = file->packing;
    staged->unpacked_size = file->unpacked_size;
    if (file->unpacked_sha256 && !(staged->unpacked_sha256 = strdup(file->unpacked_sha256)))
        return mt_staging_fail_path(err);
    if (is_unpacked(staging, file, &staged->size, staged->sha256)) {
        staged->is_ready = true;
        return MT_OK;
    }
    char *path = mt_staging_join(staging, file->name, mt_packing_suffix(file->packing));
    if (!path)
        return mt_staging_fail_path(err);
    selection->places[selection->n] = place;
    selection->downloads[selection->n++] = (struct mt_download){
        .url = file->url,
        .path = path,
        .size = file->size,
        .digest_kind = file->digest_kind,
        .digest = file->digest,
    };
    return MT_OK;
}

static enum mt_status fetch_selection(struct selection *selection, struct mt_downloader *downloader,
                                      const struct mt_staged_file *files,
                                      struct mt_download_failure *failure, struct mt_error *err)
{
    enum mt_status status = check_room(selection, files, failure, err);
    if (status)
        return status;
    status =
        mt_download_files(downloader, selection->downloads, selection->n,
                          selection->on_progress ? relay_progress : NULL, selection, failure, err);
    if (status && failure->file < selection->n)
        failure->file = selection->places[failure->file];
    for (size_t i = 0; !status && i < selection->n; i++) {
        const struct mt_download *download = &selection->downloads[i];
        struct mt_staged *staged =
            mt_staging_find(selection->staging, files[selection->places[i]].name);
        staged->is_ready = !staged->packing;
        staged->size = download->final_size;
        snprintf(staged->sha256, sizeof staged->sha256, "%s", download->sha256);
    }
    return status;
}

enum mt_status mt_staging_fetch(struct mt_staging *staging, struct mt_downloader *downloader,
                                const struct mt_staged_file *files, size_t n_files,
                                mt_download_on_progress *on_progress, void *context,
                                struct mt_download_failure *failure, struct mt_error *err)
{
    struct mt_download_failure unused;
    struct mt_error unused_err;
    if (!failure)
        failure = &unused;
    if (!err)
        err = &unused_err;
    *failure = (struct mt_download_failure){.trouble = MT_TROUBLE_OURS};
    struct selection selection = {
        .staging = staging, .n_files = n_files, .on_progress = on_progress, .context = context};
    if (n_files > MT_STAGING_MAX_FILES)
        return mt_fail(err, MT_LIMIT, "%s: %zu files, at most %d may be fetched", staging->name,
                       n_files, MT_STAGING_MAX_FILES);
    selection.downloads = calloc(n_files + 1, sizeof *selection.downloads);
    selection.places = calloc(n_files + 1, sizeof *selection.places);
    enum mt_status status =
        selection.downloads && selection.places ? MT_OK : mt_staging_fail_path(err);
    for (size_t i = 0; !status && i < n_files; i++)
        status = select_file(&selection, &files[i], i, err);
    if (!status) {
        failure->trouble = MT_TROUBLE_NONE;
        status = fetch_selection(&selection, downloader, files, failure, err);
    }
    for (size_t i = 0; i < selection.n; i++)
        free((char *)selection.downloads[i].path);
    free(selection.downloads);
    free(selection.places);
    return status;
}

const char *mt_staging_path(struct mt_staging *staging, const char *name)
{
    const struct mt_staged *staged = mt_staging_find(staging, name);
    free(staging->shown_path);
    staging->shown_path = !staged ? NULL
                          : staged->is_ready
                              ? mt_staging_join(staging, name, "")
                              : mt_staging_join(staging, name, mt_packing_suffix(staged->packing));
    return staging->shown_path;
}

enum mt_status mt_staging_set_licence(struct mt_staging *staging, const char *licence,
                                      struct mt_error *err)
{
    char *copy = strdup(licence ? licence : "");
    if (!copy)
        return mt_staging_fail_path(err);
    free(staging->licence);
    staging->licence = copy;
    return MT_OK;
}

void mt_staging_discard(struct mt_staging *staging)
{
    mt_staging_remove_tree(staging->folder);
}

void mt_staging_close(struct mt_staging *staging)
{
    if (!staging)
        return;
    if (staging->folder)
        rmdir(staging->folder); /* deletes it only if nothing was fetched */
    if (staging->lock >= 0) {
        unlink(staging->lock_path);
        close(staging->lock);
    }
    for (size_t i = 0; i < staging->n; i++) {
        free(staging->files[i].name);
        free(staging->files[i].unpacked_sha256);
    }
    free(staging->root);
    free(staging->name);
    free(staging->from);
    free(staging->licence);
    free(staging->folder);
    free(staging->backup);
    free(staging->lock_path);
    free(staging->shown_path);
    free(staging);
}
