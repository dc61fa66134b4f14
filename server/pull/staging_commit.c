#include "server/pull/staging_state.h"

#include "base/file.h"
#include "base/json.h"
#include "server/models/model_defaults.h"
#include "server/store/origin.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum mt_status sync_path(const char *path, struct mt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mt_fail_errno(err, path, "open");
    enum mt_status status = fsync(fd) ? mt_fail_errno(err, path, "sync") : MT_OK;
    close(fd);
    return status;
}

static enum mt_status unpack(const struct mt_staging *staging, struct mt_staged *staged,
                             struct mt_error *err)
{
    char *from = mt_staging_join(staging, staged->name, mt_packing_suffix(staged->packing));
    char *to = mt_staging_join(staging, staged->name, "");
    bool has_size = staged->unpacked_size >= 0;
    int64_t limit = has_size ? staged->unpacked_size : MT_STAGING_MAX_UNPACKED_BYTES;
    enum mt_status status = !from || !to ? mt_staging_fail_path(err)
                                         : mt_unpack(staged->packing, from, to, limit,
                                                     &staged->size, staged->sha256, err);
    if (!status && has_size && staged->size != staged->unpacked_size)
        status =
            mt_fail(err, MT_FORMAT, "%s: it unpacks to %lld bytes, where the registry says %lld",
                    from, (long long)staged->size, (long long)staged->unpacked_size);
    const char *sha256 = staged->unpacked_sha256;
    if (!status && sha256 && strcmp(staged->sha256, sha256))
        status = mt_fail(err, MT_FORMAT,
                         "%s: it unpacks to bytes with the digest %s, where the registry says %s",
                         from, staged->sha256, sha256);
    staged->is_ready = !status;
    free(from);
    free(to);
    return status;
}

static enum mt_status write_record(const struct mt_staging *staging, const char *path,
                                   struct mt_error *err)
{
    struct timespec now;
    struct tm utc;
    char pulled[32];
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(pulled, sizeof pulled, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now.tv_sec, &utc));
    struct mt_text text = {.limit_bytes = MT_STAGING_RECORD_LIMIT};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &text);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, "from", staging->from);
    mt_json_member(&writer, "licence", staging->licence);
    mt_json_member(&writer, "pulled", pulled);
    mt_json_member_array(&writer, "files");
    for (size_t i = 0; i < staging->n; i++) {
        const struct mt_staged *staged = &staging->files[i];
        mt_json_begin_object(&writer);
        mt_json_member(&writer, "name", staged->name);
        mt_json_member_integer(&writer, "size", staged->size);
        mt_json_member(&writer, "sha256", staged->sha256);
        mt_json_end_object(&writer);
    }
    mt_json_end_array(&writer);
    mt_json_end_object(&writer);
    mt_text_append_string(&text, "\n");
    enum mt_status status = mt_text_check(&text, path, err);
    if (!status)
        status = mt_file_write(path, text.bytes, text.length, err);
    mt_text_finish(&text);
    return status;
}

/* Deletes what does not belong to the model. */
static void sweep(struct mt_staging *staging)
{
    DIR *directory = opendir(staging->folder);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || mt_staging_find(staging, name) ||
            (!staging->is_single_file && strcmp(name, MT_STAGING_RECORD) == 0))
            continue;
        char *path = mt_staging_join(staging, name, "");
        if (path)
            mt_staging_remove_tree(path);
        free(path);
    }
    closedir(directory);
}

/* If nothing has the name yet, then one rename is enough. Otherwise the two are exchanged, and the
 * old model is deleted in its hidden place. */
static enum mt_status move_folder(const struct mt_staging *staging, const char *target,
                                  struct mt_error *err)
{
    if (renameat2(AT_FDCWD, staging->folder, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return MT_OK;
    if (!mt_staging_exists(target))
        return rename(staging->folder, target) ? mt_fail_errno(err, target, "rename a model to")
                                               : MT_OK;
    if (renameat2(AT_FDCWD, staging->folder, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
        mt_staging_remove_tree(staging->folder);
        return MT_OK;
    }
    /* Some file systems cannot do that (NFS, FUSE). */
    if (rename(target, staging->backup))
        return mt_fail_errno(err, target, "move away");
    if (rename(staging->folder, target)) {
        enum mt_status status = mt_fail_errno(err, target, "rename a model to");
        return rename(staging->backup, target) ? mt_fail_in(err, status, staging->backup) : status;
    }
    mt_staging_remove_tree(staging->backup);
    return MT_OK;
}

/* Deletes a file that the model no longer has. */
static void forget(struct mt_staging *staging, const char *name)
{
    struct mt_staged *staged = mt_staging_find(staging, name);
    if (!staged)
        return;
    free(staged->name);
    free(staged->unpacked_sha256);
    *staged = staging->files[--staging->n];
}

/* A file that the operator has written or changed is kept when the model is replaced, instead of a
 * file of the same name in the new version. */
static enum mt_status keep_settings(struct mt_staging *staging, const char *target,
                                    struct mt_error *err)
{
    bool is_brought = false;
    char *bytes = NULL;
    size_t length = 0;
    if (!mt_path_holds_file(target, MT_MODEL_DEFAULTS_FILE))
        return MT_OK;
    enum mt_status status = mt_origin_brought(target, MT_MODEL_DEFAULTS_FILE,
                                              MT_MODEL_DEFAULTS_MAX_BYTES, &is_brought, err);
    if (status || is_brought)
        return status;
    char *from = mt_staging_format("%s/" MT_MODEL_DEFAULTS_FILE, target);
    char *to = mt_staging_join(staging, MT_MODEL_DEFAULTS_FILE, "");
    status = from && to ? mt_file_read(from, MT_MODEL_DEFAULTS_MAX_BYTES, &bytes, &length, err)
                        : mt_staging_fail_path(err);
    if (!status)
        status = mt_file_write(to, bytes, length, err);
    if (!status)
        forget(staging, MT_MODEL_DEFAULTS_FILE);
    free(bytes);
    free(from);
    free(to);
    return status;
}

static enum mt_status check(const struct mt_staging *staging, const char *path,
                            struct mt_error *err)
{
    return staging->check ? staging->check(staging->context, path, err) : MT_OK;
}

static enum mt_status commit_folder(struct mt_staging *staging, struct mt_error *err)
{
    char *target = mt_staging_format("%s/%s", staging->root, staging->name);
    char *record = mt_staging_join(staging, MT_STAGING_RECORD, "");
    enum mt_status status = target && record ? MT_OK : mt_staging_fail_path(err);
    if (!status) {
        sweep(staging);
        status = keep_settings(staging, target, err);
    }
    if (!status)
        status = write_record(staging, record, err);
    if (!status) {
        status = check(staging, staging->folder, err);
        if (status) /* otherwise tidy would believe that the model was served */
            unlink(record);
    }
    if (!status)
        status = sync_path(staging->folder, err);
    if (!status)
        status = mt_staging_check_target(staging, NULL, err);
    if (!status)
        status = move_folder(staging, target, err);
    free(target);
    free(record);
    return status;
}

/* The record is written first: one without its file is ignored, but a file without its record
 * counts as somebody's own. */
static enum mt_status commit_single(struct mt_staging *staging, struct mt_error *err)
{
    if (staging->n != 1)
        return mt_fail(err, MT_INVALID, "%s: %zu files, where the model is one", staging->name,
                       staging->n);
    const char *name = staging->files[0].name;
    char *from = mt_staging_join(staging, name, "");
    char *target = mt_staging_format("%s/%s", staging->root, name);
    char *record = mt_staging_format("%s/%s" MT_STAGING_FILE_RECORD, staging->root, name);
    enum mt_status status = from && target && record ? mt_staging_check_target(staging, name, err)
                                                     : mt_staging_fail_path(err);
    if (!status)
        status = check(staging, from, err);
    if (!status)
        status = write_record(staging, record, err);
    if (!status && rename(from, target))
        status = mt_fail_errno(err, target, "rename a model to");
    if (!status)
        mt_staging_remove_tree(staging->folder);
    free(from);
    free(target);
    free(record);
    return status;
}

enum mt_status mt_staging_commit(struct mt_staging *staging, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; !status && i < staging->n; i++) {
        struct mt_staged *staged = &staging->files[i];
        if (mt_staging_is_cancelled(staging))
            return mt_fail(err, MT_CANCELLED, "stopped");
        if (!staged->is_ready && !staged->packing)
            return mt_fail(err, MT_INVALID, "%s: %s was not fetched", staging->name, staged->name);
        if (!staged->is_ready)
            status = unpack(staging, staged, err);
        char *path = status ? NULL : mt_staging_join(staging, staged->name, "");
        if (!status)
            status = path ? sync_path(path, err) : mt_staging_fail_path(err);
        free(path);
    }
    if (!status)
        status =
            staging->is_single_file ? commit_single(staging, err) : commit_folder(staging, err);
    return status ? status : sync_path(staging->root, err);
}
