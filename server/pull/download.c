#include "server/pull/download.h"

#include "base/clock.h"
#include "server/pull/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 100 /* how often a request to stop is checked; signals interrupt the wait */
#define PROGRESS_MS 100

enum mt_status mt_downloader_create(const struct mt_download_settings *settings,
                                    struct mt_downloader **out, struct mt_error *err)
{
    static const struct mt_download_settings defaults;
    if (!settings)
        settings = &defaults;
    if (settings->token && !settings->token_origin)
        return mt_fail(err, MT_INVALID, "a token without the origin that it is for");
    if (settings->token && strpbrk(settings->token, "\r\n"))
        return mt_fail(err, MT_INVALID, "the token has a line break");
    struct mt_downloader *downloader = calloc(1, sizeof *downloader);
    if (!downloader)
        return mt_fail_memory(err, sizeof *downloader, "a downloader");
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
        free(downloader);
        return mt_fail(err, MT_IO, "libcurl cannot be initialised");
    }
    downloader->is_cancelled = settings->is_cancelled;
    downloader->first_pause_ms =
        settings->first_pause_ms ? settings->first_pause_ms : MT_DOWNLOAD_FIRST_PAUSE_MS;
    downloader->stall_s = settings->stall_s ? settings->stall_s : MT_DOWNLOAD_STALL_S;
    downloader->speed_s = settings->speed_s ? settings->speed_s : MT_DOWNLOAD_SPEED_S;
    downloader->min_speed = settings->min_speed ? settings->min_speed : MT_DOWNLOAD_MIN_SPEED;
    if (downloader->min_speed < 0)
        downloader->min_speed = 0;
    downloader->max_parallel =
        settings->max_parallel ? settings->max_parallel : MT_DOWNLOAD_PARALLEL;
    downloader->random = (uint64_t)mt_now_ns() | 1;
    const char *bundle = getenv("CURL_CA_BUNDLE"), *folder = getenv("SSL_CERT_DIR");
    if (!bundle || !bundle[0])
        bundle = getenv("SSL_CERT_FILE");
    bool has_memory = true;
    if (bundle && bundle[0])
        has_memory = (downloader->ca_bundle = strdup(bundle));
    if (folder && folder[0])
        has_memory = (downloader->ca_folder = strdup(folder)) && has_memory;
    bool has_origin = true;
    if (settings->token) {
        has_memory = (downloader->token = strdup(settings->token)) && has_memory;
        has_origin = (downloader->token_origin = mt_url_origin(settings->token_origin));
    }
    if (!has_memory || !has_origin) {
        mt_downloader_destroy(downloader);
        return has_memory ? mt_fail(err, MT_INVALID, "%s: not a URL that a token can be for",
                                    settings->token_origin)
                          : mt_fail(err, MT_MEMORY, "no memory for a downloader");
    }
    *out = downloader;
    return MT_OK;
}

void mt_downloader_destroy(struct mt_downloader *downloader)
{
    if (!downloader)
        return;
    free(downloader->token);
    free(downloader->token_origin);
    free(downloader->ca_bundle);
    free(downloader->ca_folder);
    free(downloader);
    curl_global_cleanup();
}

/* ---- several transfers at once ---- */

enum state { WAITING, RUNNING, ENDED };

struct item {
    struct mt_transfer transfer;
    enum state state;
    int64_t not_before_ms; /* for WAITING */
    /* For RUNNING: since when its speed is measured, and how much had been received then. */
    int64_t measured_ms, measured_bytes;
    bool has_told; /* it has been reported that the file is resumed */
};

struct run {
    struct mt_downloader *downloader;
    CURLM *multi;
    struct item *items;
    size_t n, n_running, n_ended;
    int64_t received_before;
    int64_t next_progress_ms;
    mt_download_on_progress *on_progress;
    void *context;
};

static int64_t total_of(const struct run *run)
{
    int64_t total = 0;
    for (size_t i = 0; i < run->n; i++) {
        if (run->items[i].transfer.part.size < 0)
            return 0;
        total += run->items[i].transfer.part.size;
    }
    return total;
}

/* item is NULL with MT_DOWNLOAD_ADVANCED. */
static void tell(struct run *run, enum mt_download_event event, const struct item *item,
                 const char *why)
{
    if (!run->on_progress)
        return;
    struct mt_download_progress progress = {
        .event = event,
        .file = item ? (size_t)(item - run->items) : run->n,
        .n_files = run->n,
        .n_finished = run->n_ended,
        .total = total_of(run),
        .received = run->downloader->n_received - run->received_before,
        .file_done = item ? item->transfer.part.length : 0,
        .why = why,
    };
    for (size_t i = 0; i < run->n; i++)
        progress.done += run->items[i].transfer.part.length;
    run->on_progress(run->context, &progress);
}

static void tell_if_resumed(struct run *run, struct item *item)
{
    if (!item->transfer.was_resumed || item->has_told)
        return;
    item->has_told = true;
    tell(run, MT_DOWNLOAD_RESUMED, item, NULL);
}

static void tell_of_bytes(struct run *run)
{
    for (size_t i = 0; i < run->n; i++)
        tell_if_resumed(run, &run->items[i]);
    if (mt_now_ms() < run->next_progress_ms)
        return;
    run->next_progress_ms = mt_now_ms() + PROGRESS_MS;
    tell(run, MT_DOWNLOAD_ADVANCED, NULL, NULL);
}

static bool is_cancelled(const struct run *run)
{
    return run->downloader->is_cancelled && atomic_load(run->downloader->is_cancelled);
}

static enum mt_status start(struct run *run, struct item *item)
{
    enum mt_status status = mt_transfer_prepare(&item->transfer);
    if (status)
        return status;
    if (curl_multi_add_handle(run->multi, item->transfer.easy)) {
        item->transfer.failure.trouble = MT_TROUBLE_OURS;
        return mt_fail(&item->transfer.err, MT_MEMORY, "no memory for a transfer");
    }
    item->state = RUNNING;
    item->measured_ms = mt_now_ms();
    item->measured_bytes = 0;
    run->n_running++;
    return MT_OK;
}

/* Starts transfers whose pause is over. *wait_ms gets the time until the next one. Returns the item
 * that failed. */
static struct item *start_waiting(struct run *run, int *wait_ms)
{
    int64_t now = mt_now_ms();
    *wait_ms = POLL_MS;
    for (size_t i = 0; i < run->n && run->n_running < run->downloader->max_parallel; i++) {
        struct item *item = &run->items[i];
        if (item->state != WAITING)
            continue;
        int64_t left = item->not_before_ms - now;
        if (left > 0 && left < *wait_ms)
            *wait_ms = (int)left;
        if (left <= 0 && start(run, item))
            return item;
    }
    return NULL;
}

static bool end(struct run *run, struct item *item, CURLcode code)
{
    struct mt_transfer *transfer = &item->transfer;
    enum mt_transfer_end outcome = mt_transfer_conclude(transfer, code);
    curl_multi_remove_handle(run->multi, transfer->easy);
    run->n_running--;
    tell_if_resumed(run, item);
    if (outcome == MT_TRANSFER_DONE) {
        item->state = ENDED;
        run->n_ended++;
        if (transfer->kind == MT_TRANSFER_FILE)
            tell(run, MT_DOWNLOAD_FINISHED, item, NULL);
        return true;
    }
    item->state = WAITING;
    item->not_before_ms = mt_now_ms() + transfer->pause_ms;
    if (outcome == MT_TRANSFER_AGAIN && transfer->is_retry) {
        char why[MT_ERROR_BYTES + 64];
        snprintf(why, sizeof why, "%s; once more in %.1f s", transfer->err.message,
                 (double)transfer->pause_ms / 1000);
        item->has_told = transfer->was_resumed = false;
        tell(run, MT_DOWNLOAD_RETRY, item, why);
    }
    return outcome == MT_TRANSFER_AGAIN;
}

/* Returns the item that failed. */
static struct item *take_ends(struct run *run)
{
    int n_left;
    for (CURLMsg *message; (message = curl_multi_info_read(run->multi, &n_left));) {
        struct mt_transfer *transfer;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        struct item *item = (struct item *)transfer; /* it is the item's first member */
        if (!end(run, item, code))
            return item;
    }
    return NULL;
}

/* Ends transfers that are too slow, as if the connection were lost. libcurl's own limit does not
 * end those that send a little more now and then. Returns the item that failed. */
static struct item *end_slow(struct run *run)
{
    const struct mt_downloader *downloader = run->downloader;
    int64_t now = mt_now_ms();
    for (size_t i = 0; i < run->n; i++) {
        struct item *item = &run->items[i];
        struct mt_transfer *transfer = &item->transfer;
        if (item->state != RUNNING || now - item->measured_ms < downloader->speed_s * 1000)
            continue;
        int64_t came = transfer->n_body - item->measured_bytes;
        item->measured_ms = now;
        item->measured_bytes = transfer->n_body;
        if (came >= downloader->min_speed * downloader->speed_s)
            continue;
        snprintf(transfer->curl_message, sizeof transfer->curl_message,
                 "%lld bytes came in %lld s, expected at least %lld a second", (long long)came,
                 (long long)downloader->speed_s, (long long)downloader->min_speed);
        if (!end(run, item, CURLE_OPERATION_TIMEDOUT))
            return item;
    }
    return NULL;
}

/* Runs until all have ended, or one has failed, which is returned. *status is for failures that
 * belong to no item. */
static struct item *run_all(struct run *run, enum mt_status *status, struct mt_error *err)
{
    *status = MT_OK;
    while (run->n_ended < run->n) {
        if (is_cancelled(run)) {
            *status = mt_fail(err, MT_CANCELLED, "stopped");
            return NULL;
        }
        int n_running, wait_ms;
        struct item *failed = start_waiting(run, &wait_ms);
        CURLMcode code = failed ? CURLM_OK : curl_multi_perform(run->multi, &n_running);
        if (!failed)
            failed = take_ends(run);
        if (!failed)
            failed = end_slow(run);
        tell_of_bytes(run);
        if (failed)
            return failed;
        if (!code && run->n_ended < run->n)
            code = curl_multi_poll(run->multi, NULL, 0, wait_ms, NULL);
        if (code) {
            *status = mt_fail(err, code == CURLM_OUT_OF_MEMORY ? MT_MEMORY : MT_IO, "libcurl: %s",
                              curl_multi_strerror(code));
            return NULL;
        }
    }
    return NULL;
}

/* Runs items that have begun; the caller finishes them. */
static enum mt_status run_items(struct run *run, struct mt_download_failure *failure,
                                struct mt_error *err)
{
    enum mt_status status;
    struct item *failed = NULL;
    run->received_before = run->downloader->n_received;
    run->multi = curl_multi_init();
    if (run->multi) {
        failed = run_all(run, &status, err);
        for (size_t i = 0; i < run->n; i++)
            if (run->items[i].state == RUNNING)
                curl_multi_remove_handle(run->multi, run->items[i].transfer.easy);
        curl_multi_cleanup(run->multi);
    } else {
        status = mt_fail(err, MT_MEMORY, "no memory for transfers");
    }
    if (failed) {
        status = mt_fail(err, failed->transfer.err.status, "%s", failed->transfer.err.message);
        *failure = failed->transfer.failure;
        failure->file = (size_t)(failed - run->items);
    } else if (status) {
        failure->trouble = status == MT_CANCELLED ? MT_TROUBLE_CANCELLED : MT_TROUBLE_OURS;
    }
    return status;
}

/* Runs a single transfer that is not a file. */
static enum mt_status run_one(struct mt_downloader *downloader, struct item *item,
                              enum mt_transfer_kind kind, const char *url, const char *accept,
                              size_t limit_bytes, struct mt_download_failure *failure,
                              struct mt_error *err)
{
    struct mt_download_failure unused;
    if (!failure)
        failure = &unused;
    *failure = (struct mt_download_failure){0};
    enum mt_status status =
        mt_transfer_begin(&item->transfer, downloader, kind, url, NULL, limit_bytes);
    if (status) {
        *failure = item->transfer.failure;
        return mt_fail(err, status, "%s", item->transfer.err.message);
    }
    item->transfer.accept = accept;
    struct run run = {.downloader = downloader, .items = item, .n = 1};
    return run_items(&run, failure, err);
}

enum mt_status mt_download_document(struct mt_downloader *downloader, const char *url,
                                    const char *accept, size_t limit_bytes, char **out,
                                    size_t *out_length, struct mt_download_failure *failure,
                                    struct mt_error *err)
{
    struct item item = {0};
    enum mt_status status =
        run_one(downloader, &item, MT_TRANSFER_DOCUMENT, url, accept, limit_bytes, failure, err);
    if (!status)
        status = mt_text_take(&item.transfer.text, url, out, out_length, err);
    mt_transfer_finish(&item.transfer);
    return status;
}

const char *mt_downloader_next_page(const struct mt_downloader *downloader)
{
    return downloader->next_page;
}

enum mt_status mt_download_probe(struct mt_downloader *downloader, const char *url, int64_t *size,
                                 struct mt_download_failure *failure, struct mt_error *err)
{
    struct item item = {0};
    enum mt_status status =
        run_one(downloader, &item, MT_TRANSFER_PROBE, url, NULL, 0, failure, err);
    if (!status)
        *size = item.transfer.told_size;
    mt_transfer_finish(&item.transfer);
    return status;
}

/* Examines the files that are there. Returns the item that failed. */
static struct item *begin_files(struct run *run, struct mt_download *files)
{
    for (size_t i = 0; i < run->n; i++) {
        struct item *item = &run->items[i];
        if (mt_transfer_begin(&item->transfer, run->downloader, MT_TRANSFER_FILE, files[i].url,
                              &files[i], 0))
            return item;
        if (item->transfer.part.is_whole) {
            item->state = ENDED;
            run->n_ended++;
        }
        if (is_cancelled(run)) {
            mt_fail(&item->transfer.err, MT_CANCELLED, "stopped");
            item->transfer.failure.trouble = MT_TROUBLE_CANCELLED;
            return item;
        }
    }
    for (size_t i = 0; i < run->n; i++)
        if (run->items[i].state == ENDED)
            tell(run, MT_DOWNLOAD_PRESENT, &run->items[i], NULL);
    return NULL;
}

enum mt_status mt_download_files(struct mt_downloader *downloader, struct mt_download *files,
                                 size_t n_files, mt_download_on_progress *on_progress,
                                 void *context, struct mt_download_failure *failure,
                                 struct mt_error *err)
{
    struct mt_download_failure unused;
    if (!failure)
        failure = &unused;
    *failure = (struct mt_download_failure){0};
    struct run run = {
        .downloader = downloader, .n = n_files, .on_progress = on_progress, .context = context};
    run.items = calloc(n_files ? n_files : 1, sizeof *run.items);
    if (!run.items) {
        failure->trouble = MT_TROUBLE_OURS;
        return mt_fail_memory(err, n_files * sizeof *run.items, "transfers");
    }
    enum mt_status status;
    struct item *failed = begin_files(&run, files);
    if (failed) {
        *failure = failed->transfer.failure;
        failure->file = (size_t)(failed - run.items);
        status = mt_fail(err, failed->transfer.err.status, "%s", failed->transfer.err.message);
    } else {
        status = run_items(&run, failure, err);
    }
    for (size_t i = 0; i < n_files; i++)
        mt_transfer_finish(&run.items[i].transfer);
    free(run.items);
    return status;
}
