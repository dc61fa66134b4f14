#include "server/store/origin.h"

#include "base/file.h"
#include "base/json.h"
#include "server/store/hub.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Room for some thousands of files. */
#define MAX_BYTES ((size_t)4 << 20)
#define MAX_VALUES 65536

static void take(const cJSON *document, const char *key, char *out, size_t capacity)
{
    const char *value = NULL;
    if (mt_json_get_string(document, key, &value, NULL, NULL) == MT_OK && value &&
        strlen(value) < capacity)
        strcpy(out, value);
}

enum mt_status mt_origin_path(const char *path, char **out, struct mt_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return mt_path_join(path, MT_ORIGIN_FILE, out, err);
    if (asprintf(out, "%s" MT_ORIGIN_ENDING, path) < 0)
        return mt_fail_memory(err, PATH_MAX, "path");
    return MT_OK;
}

/* The path's own, or with its links resolved. */
static void describe_snapshot(const char *path, struct mt_origin *out)
{
    struct mt_hub_snapshot snapshot;
    char resolved[PATH_MAX];
    if (realpath(path, resolved) && mt_hub_is_snapshot(resolved, &snapshot))
        snprintf(out->from, sizeof out->from, "hf:%s@%s", snapshot.repository, snapshot.commit);
}

enum mt_status mt_origin_read(const char *path, struct mt_origin *out, struct mt_error *err)
{
    const struct mt_json_limits limits = {.max_values = MAX_VALUES};
    struct mt_origin origin = {0};
    struct mt_error why;
    cJSON *document = NULL;
    char *file;
    enum mt_status status = mt_origin_path(path, &file, err);
    if (status)
        return status;
    status = mt_json_read_file(file, MAX_BYTES, &limits, &document, &why);
    free(file);
    if (status == MT_MEMORY)
        return mt_fail(err, MT_MEMORY, "%s", why.message);
    origin.is_pulled = status != MT_NOT_FOUND;
    if (!status && cJSON_IsObject(document)) {
        take(document, "from", origin.from, sizeof origin.from);
        take(document, "licence", origin.licence, sizeof origin.licence);
        take(document, "pulled", origin.pulled, sizeof origin.pulled);
    }
    cJSON_Delete(document);
    if (!origin.from[0])
        describe_snapshot(path, &origin);
    *out = origin;
    return MT_OK;
}
