#include "server/store/origin.h"

#include "base/file.h"
#include "base/json.h"
#include "server/store/hub.h"
#include "server/store/places.h"

#include <cjson/cJSON.h>
#include <gnutls/crypto.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Most bytes of the file, enough for some thousands of model files. */
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

/* Tries the path itself, and then the path with its links resolved. */
static void describe_snapshot(const char *path, struct mt_origin *out)
{
    struct mt_hub_snapshot snapshot;
    char resolved[PATH_MAX];
    if (realpath(path, resolved) && mt_hub_is_snapshot(resolved, &snapshot))
        snprintf(out->from, sizeof out->from, "hf:%s@%s", snapshot.repository, snapshot.commit);
}

static bool is_snapshot(const char *path)
{
    struct mt_hub_snapshot snapshot;
    char resolved[PATH_MAX];
    return realpath(path, resolved) && mt_hub_is_snapshot(resolved, &snapshot);
}

#define SHA256_BYTES 32

static bool has_digest(const char *bytes, size_t length, const char *expected)
{
    unsigned char digest[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, length, digest) < 0)
        return true; /* it might not be the operator's */
    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return strcmp(text, expected) == 0;
}

/* Whether the record lists the file with this content. A record without a list counts as having
 * it. */
static bool is_recorded(const cJSON *record, const char *name, const char *bytes, size_t length)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(record, "files"), *file;
    if (!cJSON_IsArray(files))
        return true;
    cJSON_ArrayForEach(file, files)
    {
        const char *recorded = NULL, *digest = NULL;
        if (mt_json_get_string(file, "name", &recorded, NULL, NULL) == MT_OK && recorded &&
            strcmp(recorded, name) == 0 &&
            mt_json_get_string(file, "sha256", &digest, NULL, NULL) == MT_OK && digest)
            return has_digest(bytes, length, digest);
    }
    return false;
}

/* Whether attentiond-pull.json lists this file with its present content. */
static enum mt_status was_pulled(const char *directory, const char *name, size_t limit_bytes,
                                 bool *out, struct mt_error *err)
{
    const struct mt_json_limits limits = {.max_values = MAX_VALUES};
    char *record_path, *path = NULL, *bytes = NULL;
    cJSON *record = NULL;
    size_t length = 0;
    enum mt_status status = mt_path_join(directory, MT_ORIGIN_FILE, &record_path, err);
    if (status)
        return status;
    if (mt_path_exists(record_path) == MT_OK) {
        status = mt_path_join(directory, name, &path, err);
        if (!status)
            status = mt_file_read(path, limit_bytes, &bytes, &length, err);
        if (!status &&
            mt_json_read_file(record_path, MAX_BYTES, &limits, &record, NULL) == MT_MEMORY)
            status = mt_fail_memory(err, MAX_BYTES, record_path);
        if (!status)
            *out = is_recorded(record, name, bytes, length);
    }
    cJSON_Delete(record);
    free(bytes);
    free(path);
    free(record_path);
    return status;
}

enum mt_status mt_origin_brought(const char *directory, const char *name, size_t limit_bytes,
                                 bool *out, struct mt_error *err)
{
    *out = false;
    if (!mt_path_holds(directory, name))
        return MT_OK;
    *out = is_snapshot(directory);
    enum mt_status status = *out ? MT_OK : mt_places_is_argos(directory, out, err);
    return status || *out ? status : was_pulled(directory, name, limit_bytes, out, err);
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
