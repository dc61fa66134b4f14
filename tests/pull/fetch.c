/*
 * server/pull/ without any registry: fetches what a plan says, for tests/pull/test_faults.py. A plan is
 * JSON on standard input:
 *
 *   {"root":..., "name":..., "from":..., "licence":..., "single":false, "never_wait":false,
 *    "token":..., "token_origin":..., "pause_ms":1, "stall_s":1, "speed_s":1, "min_speed":0,
 *    "files":[{"name","url","size","sha256" or "git","packing","unpacked_size","unpacked_sha256"}],
 *    "rest":[files that a second fetch brings, the first with "after": a file of the first],
 *    "new_licence":..., "commit":true, "discard":false,
 *    "document":URL, "accept":..., "limit":N, "probe":URL}
 *
 * Standard output gets a line of JSON for each event, but for those that tell of bytes, and a last one
 * with the result.
 */
#include "base/file.h"
#include "base/json.h"
#include "server/pull/staging.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAN_LIMIT ((size_t)1 << 20)

static atomic_bool is_cancelled;

static void on_signal(int number)
{
    atomic_store(&is_cancelled, true);
}

static const char *string_of(const cJSON *plan, const char *key)
{
    const char *value = NULL;
    if (mt_json_get_string(plan, key, &value, NULL, NULL))
        exit(2);
    return value;
}

static int64_t integer_of(const cJSON *plan, const char *key, int64_t standard)
{
    int64_t value = standard;
    if (mt_json_get_integer(plan, key, -1, (int64_t)1 << 50, &value, NULL, NULL))
        exit(2);
    return value;
}

static bool bool_of(const cJSON *plan, const char *key)
{
    bool value = false;
    if (mt_json_get_bool(plan, key, &value, NULL, NULL))
        exit(2);
    return value;
}

static void print(cJSON *line)
{
    char *text = cJSON_PrintUnformatted(line);
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    cJSON_Delete(line);
}

static void on_wait(void *context, const char *message)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", "wait");
    cJSON_AddStringToObject(line, "why", message);
    print(line);
}

static void on_progress(void *context, const struct mt_download_progress *progress)
{
    static const char *const names[] = {"advanced", "finished", "present", "resumed", "retry"};
    if (progress->event == MT_DOWNLOAD_ADVANCED && !context)
        return;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", names[progress->event]);
    cJSON_AddNumberToObject(line, "file", (double)progress->file);
    cJSON_AddNumberToObject(line, "file_done", (double)progress->file_done);
    cJSON_AddNumberToObject(line, "done", (double)progress->done);
    cJSON_AddNumberToObject(line, "total", (double)progress->total);
    cJSON_AddNumberToObject(line, "received", (double)progress->received);
    if (progress->why)
        cJSON_AddStringToObject(line, "why", progress->why);
    print(line);
}

static enum mt_packing packing_of(const char *name)
{
    return !name ? MT_PACKING_NONE : strcmp(name, "gzip") == 0 ? MT_PACKING_GZIP : MT_PACKING_ZSTD;
}

static enum mt_status fetch_list(struct mt_staging *staging, struct mt_downloader *downloader,
                                 const cJSON *list, struct mt_download_failure *failure,
                                 struct mt_error *err)
{
    size_t n = 0;
    struct mt_staged_file *files = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *files);
    if (!files)
        abort();
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        const char *sha256 = string_of(entry, "sha256"), *git = string_of(entry, "git");
        files[n++] = (struct mt_staged_file){
            .name = string_of(entry, "name"),
            .url = string_of(entry, "url"),
            .size = integer_of(entry, "size", -1),
            .digest_kind = sha256 ? MT_DIGEST_SHA256
                           : git  ? MT_DIGEST_GIT_BLOB
                                  : MT_DIGEST_NONE,
            .digest = sha256 ? sha256 : git,
            .packing = packing_of(string_of(entry, "packing")),
            .unpacked_size = integer_of(entry, "unpacked_size", -1),
            .unpacked_sha256 = string_of(entry, "unpacked_sha256"),
        };
    }
    enum mt_status status =
        mt_staging_fetch(staging, downloader, files, n, on_progress, NULL, failure, err);
    free(files);
    return status;
}

static enum mt_status stage(const cJSON *plan, struct mt_downloader *downloader,
                            struct mt_download_failure *failure, struct mt_error *err)
{
    const struct mt_staging_request request = {
        .root = string_of(plan, "root"),
        .name = string_of(plan, "name"),
        .from = string_of(plan, "from"),
        .licence = string_of(plan, "licence"),
        .is_single_file = bool_of(plan, "single"),
        .never_wait = bool_of(plan, "never_wait"),
        .is_cancelled = &is_cancelled,
        .on_wait = on_wait,
    };
    struct mt_staging *staging;
    enum mt_status status = mt_staging_open(&request, &staging, err);
    if (status)
        return status;
    const cJSON *rest = cJSON_GetObjectItemCaseSensitive(plan, "rest");
    status = fetch_list(staging, downloader, cJSON_GetObjectItemCaseSensitive(plan, "files"),
                        failure, err);
    if (!status && rest) {
        /* As registries do: what decides lies there to be read. */
        const char *name = string_of(rest->child, "after");
        if (!mt_staging_path(staging, name) || access(mt_staging_path(staging, name), R_OK))
            status = mt_fail(err, MT_NOT_FOUND, "%s was fetched, and is not there", name);
        if (!status)
            status = fetch_list(staging, downloader, rest, failure, err);
    }
    if (!status && string_of(plan, "new_licence"))
        status = mt_staging_set_licence(staging, string_of(plan, "new_licence"), err);
    if (!status && bool_of(plan, "commit"))
        status = mt_staging_commit(staging, err);
    if (!status && bool_of(plan, "discard"))
        mt_staging_discard(staging);
    mt_staging_close(staging);
    return status;
}

static void print_result(enum mt_status status, const struct mt_download_failure *failure,
                         const struct mt_error *err, cJSON *line)
{
    static const char *const troubles[] = {
        "none",     "status",    "resolve", "connect",   "tls",       "lost", "redirect",
        "mismatch", "too_large", "disk",    "disk_full", "cancelled", "ours",
    };
    cJSON_AddStringToObject(line, "status", mt_status_name(status));
    cJSON_AddStringToObject(line, "message", status ? err->message : "");
    cJSON_AddStringToObject(line, "trouble", troubles[failure->trouble]);
    cJSON_AddNumberToObject(line, "http_status", failure->http_status);
    cJSON_AddNumberToObject(line, "file", (double)failure->file);
    cJSON_AddStringToObject(line, "error_code", failure->error_code);
    print(line);
}

static enum mt_status carry_out(const cJSON *plan, struct mt_downloader *downloader,
                                struct mt_download_failure *failure, cJSON *line,
                                struct mt_error *err)
{
    const char *document = string_of(plan, "document"), *probe = string_of(plan, "probe");
    if (document) {
        char *bytes;
        size_t length;
        enum mt_status status = mt_download_document(
            downloader, document, string_of(plan, "accept"),
            (size_t)integer_of(plan, "limit", 1 << 20), &bytes, &length, failure, err);
        if (status)
            return status;
        cJSON_AddStringToObject(line, "document", bytes);
        free(bytes);
        return MT_OK;
    }
    if (probe) {
        int64_t size;
        enum mt_status status = mt_download_probe(downloader, probe, &size, failure, err);
        if (!status)
            cJSON_AddNumberToObject(line, "size", (double)size);
        return status;
    }
    return stage(plan, downloader, failure, err);
}

int main(void)
{
    struct mt_error err;
    struct mt_json_limits limits = {.max_values = 100000};
    cJSON *plan;
    char *bytes = malloc(PLAN_LIMIT);
    size_t length = bytes ? fread(bytes, 1, PLAN_LIMIT, stdin) : 0;
    if (mt_json_parse(bytes, length, &limits, "plan", &plan, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    signal(SIGINT, on_signal);
    const struct mt_download_settings settings = {
        .token = string_of(plan, "token"),
        .token_origin = string_of(plan, "token_origin"),
        .is_cancelled = &is_cancelled,
        .first_pause_ms = integer_of(plan, "pause_ms", 0),
        .stall_s = integer_of(plan, "stall_s", 0),
        .speed_s = integer_of(plan, "speed_s", 0),
        .min_speed = integer_of(plan, "min_speed", 0),
    };
    struct mt_downloader *downloader = NULL;
    struct mt_download_failure failure = {0};
    cJSON *line = cJSON_CreateObject();
    enum mt_status status = mt_downloader_create(&settings, &downloader, &err);
    if (!status)
        status = carry_out(plan, downloader, &failure, line, &err);
    print_result(status, &failure, &err, line);
    mt_downloader_destroy(downloader);
    cJSON_Delete(plan);
    free(bytes);
    return status ? 1 : 0;
}
