#include "server/pull/record.h"

#include "base/file.h"
#include "base/json.h"
#include "server/models/model_defaults.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mt_status format_path(char **out, struct mt_error *err, const char *format,
                                  const char *a, const char *b, const char *c)
{
    if (asprintf(out, format, a, b, c) >= 0)
        return MT_OK;
    *out = NULL;
    return mt_fail_memory(err, strlen(a) + strlen(b) + strlen(c) + 2, "path");
}

enum mt_status mt_record_read(const char *root, const char *name, bool is_single_file,
                              struct mt_record *out, struct mt_error *err)
{
    static const struct mt_json_limits limits = {.max_values = 16 * MT_STAGING_MAX_FILES};
    struct mt_record record = {0};
    char *path;
    enum mt_status status =
        is_single_file ? format_path(&path, err, "%s/%s%s", root, name, MT_STAGING_FILE_RECORD)
                       : format_path(&path, err, "%s/%s/%s", root, name, MT_STAGING_RECORD);
    if (status)
        return status;
    if (mt_json_read_file(path, MT_RECORD_MAX_BYTES, &limits, &record.json, NULL))
        record.json = NULL;
    free(path);
    status = is_single_file ? format_path(&record.folder, err, "%s%s%s", root, "", "")
                            : format_path(&record.folder, err, "%s/%s%s", root, name, "");
    if (status)
        mt_record_finish(&record);
    else
        *out = record;
    return status;
}

void mt_record_finish(struct mt_record *record)
{
    cJSON_Delete(record->json);
    free(record->folder);
    *record = (struct mt_record){0};
}

static const char *string(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static int64_t size_of(const cJSON *file)
{
    int64_t size = -1;
    bool is_good =
        !mt_json_get_integer(file, "size", 0, MT_DOWNLOAD_MAX_FILE_BYTES, &size, NULL, NULL);
    return is_good ? size : -1;
}

/* Returns the path of a file in the record, if it is a regular file of that size; malloc'd. */
static char *find(const struct mt_record *record, const cJSON *file)
{
    const char *name = string(file, "name");
    struct stat found;
    char *path;
    if (!*name || *name == '.' || strchr(name, '/') ||
        asprintf(&path, "%s/%s", record->folder, name) < 0)
        return NULL;
    if (lstat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == size_of(file))
        return path;
    free(path);
    return NULL;
}

static const cJSON *files_of(const struct mt_record *record)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(record->json, "files");
    return cJSON_IsArray(files) ? files->child : NULL;
}

bool mt_record_is_whole(const struct mt_record *record, const char *from, int64_t *size)
{
    int64_t sum = 0;
    if (!record->json || strcmp(string(record->json, "from"), from) != 0 || !files_of(record))
        return false;
    for (const cJSON *file = files_of(record); file; file = file->next) {
        char *path = find(record, file);
        if (!path && strcmp(string(file, "name"), MT_MODEL_DEFAULTS_FILE) == 0)
            continue;
        if (!path)
            return false;
        sum += size_of(file);
        free(path);
    }
    *size = sum;
    return true;
}

/* For file systems without hard links. */
static void copy(const char *from, const char *to, int64_t size)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MT_FILE_MODE);
    bool is_good = out >= 0;
    while (is_good && size > 0) {
        ssize_t n = sendfile(out, in, NULL, (size_t)size);
        is_good = n > 0;
        size -= is_good ? n : 0;
    }
    if (out >= 0 && (close(out) || !is_good))
        unlink(to);
    if (in >= 0)
        close(in);
}

void mt_record_reuse(const struct mt_record *record, const struct mt_staged_file *file,
                     const char *path)
{
    if (!record->json || file->digest_kind == MT_DIGEST_NONE || file->size < 0 ||
        file->packing != MT_PACKING_NONE)
        return;
    for (const cJSON *known = files_of(record); known; known = known->next) {
        if (strcmp(string(known, "name"), file->name) != 0 || size_of(known) != file->size ||
            (file->digest_kind == MT_DIGEST_SHA256 &&
             strcmp(string(known, "sha256"), file->digest) != 0))
            continue;
        char *old = find(record, known);
        if (old && link(old, path) && access(path, F_OK))
            copy(old, path, file->size);
        free(old);
        return;
    }
}
