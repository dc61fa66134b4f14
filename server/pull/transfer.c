#include "server/pull/transfer.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef MT_VERSION
#define MT_VERSION "0"
#endif

static enum mt_status fail(struct mt_transfer *transfer, enum mt_download_trouble trouble,
                           enum mt_status status, const char *format, ...) MT_PRINTF(4, 5);
static enum mt_status fail(struct mt_transfer *transfer, enum mt_download_trouble trouble,
                           enum mt_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mt_vfail(&transfer->err, status, format, args);
    va_end(args);
    transfer->failure.trouble = trouble;
    return status;
}

/* Keeps the message, which the part has written. */
static enum mt_status fail_of_part(struct mt_transfer *transfer, enum mt_status status)
{
    transfer->failure.trouble = status == MT_FORMAT           ? MT_TROUBLE_MISMATCH
                                : transfer->part.is_disk_full ? MT_TROUBLE_DISK_FULL
                                : status == MT_MEMORY         ? MT_TROUBLE_OURS
                                : status == MT_INVALID        ? MT_TROUBLE_OURS
                                                              : MT_TROUBLE_DISK;
    return status;
}

static const char *at_url(const struct mt_transfer *transfer)
{
    return transfer->hop_url ? transfer->hop_url : transfer->url;
}

char *mt_url_origin(const char *url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *origin = NULL;
    if (parts && !curl_url_set(parts, CURLUPART_URL, url, 0) &&
        !curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
        !curl_url_get(parts, CURLUPART_HOST, &host, 0) &&
        !curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) &&
        asprintf(&origin, "%s://%s:%s", scheme, host, port) < 0)
        origin = NULL;
    for (char *at = origin; at && *at; at++)
        if (mt_ascii_is_capital(*at))
            *at = (char)(*at - 'A' + 'a');
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return origin;
}

/* ---- the head of a reply ---- */

static int http_status(const struct mt_transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* Returns the value of a header of the last reply, or "". */
static const char *header(const struct mt_transfer *transfer, const char *name)
{
    struct curl_header *found;
    return curl_easy_header(transfer->easy, name, 0, CURLH_HEADER, -1, &found) ? "" : found->value;
}

static const char *strong_etag(const struct mt_transfer *transfer)
{
    const char *etag = header(transfer, "ETag");
    return etag[0] == '"' ? etag : "";
}

static int64_t content_length(const struct mt_transfer *transfer)
{
    curl_off_t length = -1;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length;
}

/* Reads "bytes 10-99/100": where the range begins, and the size of the whole; -1 for missing values
 * (RFC 9110, 14.4). */
static void read_content_range(const char *value, int64_t *begin, int64_t *size)
{
    long long first = -1, last = -1, whole = -1;
    *begin = *size = -1;
    if (sscanf(value, "bytes %lld-%lld/%lld", &first, &last, &whole) >= 2 && first >= 0 &&
        last >= first) {
        *begin = first;
        *size = whole > last ? whole : -1;
    } else if (sscanf(value, "bytes */%lld", &whole) == 1) {
        *size = whole;
    }
}

/* size is that of the whole file in the reply; -1: unknown. */
static enum mt_status check_size(struct mt_transfer *transfer, int64_t size)
{
    int64_t wanted = transfer->part.file->size;
    if (size >= 0 && wanted >= 0 && size != wanted)
        return fail(transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
                    "%s: the server has %lld bytes, where the registry says %lld", transfer->url,
                    (long long)size, (long long)wanted);
    if (size > MT_DOWNLOAD_MAX_FILE_BYTES)
        return fail(transfer, MT_TROUBLE_TOO_LARGE, MT_LIMIT,
                    "%s: %lld bytes are more than the %lld that a file may have", transfer->url,
                    (long long)size, (long long)MT_DOWNLOAD_MAX_FILE_BYTES);
    return MT_OK;
}

/* Checks a 206: it has to be the missing rest of the same file. */
static enum mt_status begin_range(struct mt_transfer *transfer)
{
    struct mt_part *part = &transfer->part;
    int64_t begin, size;
    read_content_range(header(transfer, "Content-Range"), &begin, &size);
    const char *etag = strong_etag(transfer);
    if (begin != part->length || transfer->asked_from == 0)
        return fail(transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
                    "%s: the server sends \"%.80s\" where bytes from %lld on were asked for",
                    transfer->url, header(transfer, "Content-Range"),
                    (long long)transfer->asked_from);
    if (part->etag[0] && etag[0] && strcmp(part->etag, etag))
        return fail(transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
                    "%s: the file changed on the server (ETag %.80s, before %.80s)", transfer->url,
                    etag, part->etag);
    if (size >= 0 && part->size >= 0 && size != part->size)
        return fail(transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
                    "%s: the server has %lld bytes now, before it had %lld", transfer->url,
                    (long long)size, (long long)part->size);
    transfer->was_resumed = true;
    return MT_OK;
}

/* Processes the head of a successful reply to a GET of a file. */
static enum mt_status begin_file(struct mt_transfer *transfer)
{
    const char *encoding = header(transfer, "Content-Encoding");
    if (encoding[0] && strcasecmp(encoding, "identity"))
        return fail(
            transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
            "%s: the server sends it with Content-Encoding \"%.40s\", which was not asked for",
            transfer->url, encoding);
    if (http_status(transfer) == 206)
        return begin_range(transfer);
    enum mt_status status = check_size(transfer, content_length(transfer));
    if (status)
        return status;
    const struct mt_download *file = transfer->part.file;
    int64_t size = file->size >= 0 ? file->size : content_length(transfer);
    status = mt_part_restart(&transfer->part, strong_etag(transfer), size, &transfer->err);
    return status ? fail_of_part(transfer, status) : MT_OK;
}

static enum mt_status begin_reply(struct mt_transfer *transfer)
{
    if (transfer->is_begun)
        return MT_OK;
    transfer->is_begun = true;
    return transfer->kind == MT_TRANSFER_FILE ? begin_file(transfer) : MT_OK;
}

static bool is_good(const struct mt_transfer *transfer, int status)
{
    return status == 200 || (status == 206 && transfer->kind == MT_TRANSFER_FILE);
}

static size_t on_bytes(char *bytes, size_t one, size_t length, void *context)
{
    struct mt_transfer *transfer = context;
    transfer->n_body += (int64_t)length;
    if (!is_good(transfer, http_status(transfer)))
        return transfer->n_body > (int64_t)MT_TRANSFER_ERROR_BODY_LIMIT ? CURL_WRITEFUNC_ERROR
                                                                        : length;
    transfer->downloader->n_received += (int64_t)length;
    enum mt_status status = begin_reply(transfer);
    if (!status && transfer->kind == MT_TRANSFER_FILE) {
        status = mt_part_write(&transfer->part, bytes, length, &transfer->err);
        if (status)
            fail_of_part(transfer, status);
    } else if (!status) {
        mt_text_append(&transfer->text, bytes, length);
        status = transfer->text.status;
        if (status == MT_LIMIT)
            fail(transfer, MT_TROUBLE_TOO_LARGE, MT_LIMIT,
                 "%s: it has more than the %zu bytes that such a document may have", transfer->url,
                 transfer->text.limit_bytes);
        else if (status)
            fail(transfer, MT_TROUBLE_OURS, status, "%s: no memory for it", transfer->url);
    }
    return status ? CURL_WRITEFUNC_ERROR : length;
}

/* ---- the request ---- */

enum mt_status mt_transfer_begin(struct mt_transfer *transfer, struct mt_downloader *downloader,
                                 enum mt_transfer_kind kind, const char *url,
                                 struct mt_download *file, size_t limit_bytes)
{
    *transfer = (struct mt_transfer){.downloader = downloader,
                                     .kind = kind,
                                     .url = url,
                                     .text.limit_bytes = limit_bytes,
                                     .told_size = -1};
    if (strlen(url) >= MT_DOWNLOAD_MAX_URL_BYTES)
        return fail(transfer, MT_TROUBLE_OURS, MT_LIMIT, "%.80s...: a URL of %zu bytes, at most %d",
                    url, strlen(url), MT_DOWNLOAD_MAX_URL_BYTES - 1);
    if (strncasecmp(url, "https://", 8) && strncasecmp(url, "http://", 7))
        return fail(transfer, MT_TROUBLE_OURS, MT_INVALID,
                    "%s: the URL begins neither with https:// nor with http://", url);
    if (file) {
        enum mt_status status = mt_part_open(&transfer->part, file, &transfer->err);
        if (status)
            return fail_of_part(transfer, status);
        transfer->high_water = transfer->part.length;
    }
    transfer->easy = curl_easy_init();
    return transfer->easy ? MT_OK
                          : fail(transfer, MT_TROUBLE_OURS, MT_MEMORY, "no memory for a transfer");
}

static enum mt_status add_header(struct mt_transfer *transfer, const char *name, const char *value)
{
    char *line;
    struct curl_slist *headers = NULL;
    if (asprintf(&line, "%s: %s", name, value) >= 0) {
        headers = curl_slist_append(transfer->headers, line);
        free(line);
    }
    if (!headers)
        return fail(transfer, MT_TROUBLE_OURS, MT_MEMORY, "no memory for a request");
    transfer->headers = headers;
    return MT_OK;
}

static enum mt_status add_token(struct mt_transfer *transfer)
{
    const struct mt_downloader *downloader = transfer->downloader;
    if (!downloader->token || transfer->has_left)
        return MT_OK;
    char *origin = mt_url_origin(at_url(transfer));
    bool is_for_it = origin && strcmp(origin, downloader->token_origin) == 0;
    free(origin);
    transfer->has_left = !is_for_it;
    char *value;
    if (!is_for_it)
        return MT_OK;
    if (asprintf(&value, "Bearer %s", downloader->token) < 0)
        return fail(transfer, MT_TROUBLE_OURS, MT_MEMORY, "no memory for a request");
    enum mt_status status = add_header(transfer, "Authorization", value);
    free(value);
    return status;
}

static enum mt_status make_headers(struct mt_transfer *transfer)
{
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    enum mt_status status = add_token(transfer);
    if (!status && transfer->accept)
        status = add_header(transfer, "Accept", transfer->accept);
    /* Without this header a server may choose an encoding. */
    if (!status && transfer->kind != MT_TRANSFER_DOCUMENT)
        status = add_header(transfer, "Accept-Encoding", "identity");
    if (!status && transfer->asked_from > 0 && transfer->part.etag[0])
        status = add_header(transfer, "If-Range", transfer->part.etag);
    return status;
}

static bool set_options(struct mt_transfer *transfer)
{
    const struct mt_downloader *downloader = transfer->downloader;
    CURL *easy = transfer->easy;
    char range[32];
    bool is_set = true;
    curl_easy_reset(easy);
    transfer->curl_message[0] = '\0';
#define SET(option, value) (is_set = curl_easy_setopt(easy, option, value) == CURLE_OK && is_set)
    SET(CURLOPT_URL, at_url(transfer));
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_USERAGENT, "attentiond/" MT_VERSION);
    SET(CURLOPT_HTTPHEADER, transfer->headers);
    SET(CURLOPT_ERRORBUFFER, transfer->curl_message);
    SET(CURLOPT_PRIVATE, transfer);
    SET(CURLOPT_WRITEFUNCTION, on_bytes);
    SET(CURLOPT_WRITEDATA, transfer);
    SET(CURLOPT_CONNECTTIMEOUT, (long)MT_DOWNLOAD_CONNECT_S);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)downloader->stall_s);
    if (downloader->ca_bundle) {
        SET(CURLOPT_CAINFO, downloader->ca_bundle);
        SET(CURLOPT_PROXY_CAINFO, downloader->ca_bundle);
    }
    if (downloader->ca_folder) {
        SET(CURLOPT_CAPATH, downloader->ca_folder);
        SET(CURLOPT_PROXY_CAPATH, downloader->ca_folder);
    }
    if (transfer->kind == MT_TRANSFER_PROBE)
        SET(CURLOPT_NOBODY, 1L);
    if (transfer->kind == MT_TRANSFER_DOCUMENT)
        SET(CURLOPT_ACCEPT_ENCODING, "");
    if (transfer->asked_from > 0) {
        snprintf(range, sizeof range, "%lld-", (long long)transfer->asked_from);
        SET(CURLOPT_RANGE, range);
    }
#undef SET
    return is_set;
}

enum mt_status mt_transfer_prepare(struct mt_transfer *transfer)
{
    transfer->is_begun = false;
    transfer->n_body = 0;
    transfer->text.length = 0;
    transfer->failure.http_status = 0;
    transfer->failure.error_code[0] = '\0';
    /* Without digest and ETag it could not be verified that the rest belongs to the part. */
    const struct mt_part *part = &transfer->part;
    bool can_resume = part->length > 0 && (part->file->digest_kind || part->etag[0]);
    transfer->asked_from = can_resume ? part->length : 0;
    enum mt_status status = make_headers(transfer);
    if (!status && !set_options(transfer))
        status = fail(transfer, MT_TROUBLE_OURS, MT_IO, "%s: libcurl %s refuses an option",
                      transfer->url, curl_version_info(CURLVERSION_NOW)->version);
    return status;
}

/* ---- the end ---- */

/* Returns a random number from low to high that differs between clients: those that were refused
 * together must not come back together. Vigna's xorshift64*. */
static int64_t jitter(struct mt_downloader *downloader, int64_t low, int64_t high)
{
    uint64_t x = downloader->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    downloader->random = x;
    return low + (int64_t)((x * 2685821657736338717u >> 33) % (uint64_t)(high - low + 1));
}

static void forget_redirects(struct mt_transfer *transfer)
{
    free(transfer->hop_url);
    transfer->hop_url = NULL;
    transfer->n_redirects = 0;
    transfer->has_left = false;
}

/* The reason is in err. The attempts are counted anew if the server has sent something new. */
static enum mt_transfer_end try_again(struct mt_transfer *transfer, unsigned most_attempts,
                                      int64_t retry_after_s)
{
    if (transfer->part.length >= transfer->high_water + MT_TRANSFER_GROWTH_BYTES) {
        transfer->high_water = transfer->part.length;
        transfer->n_attempts = 0;
    }
    if (++transfer->n_attempts >= most_attempts)
        return MT_TRANSFER_FAILED;
    if (retry_after_s > MT_DOWNLOAD_MAX_RETRY_AFTER_S) {
        char context[96];
        snprintf(context, sizeof context, "a pause of %lld s is asked for, at most %d are waited",
                 (long long)retry_after_s, MT_DOWNLOAD_MAX_RETRY_AFTER_S);
        mt_fail_in(&transfer->err, transfer->err.status, context);
        return MT_TRANSFER_FAILED;
    }
    int64_t pause_ms = transfer->downloader->first_pause_ms;
    for (unsigned i = 1; i < transfer->n_attempts && pause_ms < MT_DOWNLOAD_MAX_PAUSE_MS; i++)
        pause_ms *= 2;
    if (pause_ms > MT_DOWNLOAD_MAX_PAUSE_MS)
        pause_ms = MT_DOWNLOAD_MAX_PAUSE_MS;
    pause_ms = jitter(transfer->downloader, pause_ms / 2, pause_ms);
    transfer->pause_ms = pause_ms > retry_after_s * 1000 ? pause_ms : retry_after_s * 1000;
    transfer->is_retry = true;
    forget_redirects(transfer);
    return MT_TRANSFER_AGAIN;
}

/* What was received is wrong, as err says. It is tried once more from the beginning. */
static enum mt_transfer_end try_anew(struct mt_transfer *transfer)
{
    if (transfer->kind == MT_TRANSFER_FILE)
        mt_part_delete(&transfer->part);
    transfer->high_water = 0;
    if (++transfer->n_mismatches > 1)
        return MT_TRANSFER_FAILED;
    transfer->pause_ms = 0;
    transfer->is_retry = true;
    forget_redirects(transfer);
    return MT_TRANSFER_AGAIN;
}

/* Follows the redirect to url, which is malloc'd. */
static enum mt_transfer_end follow(struct mt_transfer *transfer, int status)
{
    char *target = NULL, *url;
    curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_URL, &target);
    transfer->failure.trouble = MT_TROUBLE_REDIRECT;
    if (!target || strlen(target) >= MT_DOWNLOAD_MAX_URL_BYTES) {
        fail(transfer, MT_TROUBLE_REDIRECT, MT_IO, "%s: the server answers %d %s", transfer->url,
             status, target ? "and leads to a URL that is too long" : "and does not say where to");
        return MT_TRANSFER_FAILED;
    }
    bool is_secure = strncasecmp(target, "https://", 8) == 0;
    bool was_secure = strncasecmp(at_url(transfer), "https://", 8) == 0;
    if (!is_secure && (was_secure || strncasecmp(target, "http://", 7))) {
        fail(transfer, MT_TROUBLE_REDIRECT, MT_IO,
             "%s: the server leads to %.200s, which is not %s", transfer->url, target,
             was_secure ? "https" : "http or https");
        return MT_TRANSFER_FAILED;
    }
    if (++transfer->n_redirects > MT_DOWNLOAD_MAX_REDIRECTS) {
        fail(transfer, MT_TROUBLE_REDIRECT, MT_IO, "%s: more than %d redirects, the last to %.200s",
             transfer->url, MT_DOWNLOAD_MAX_REDIRECTS, target);
        return MT_TRANSFER_FAILED;
    }
    url = strdup(target);
    if (!url) {
        fail(transfer, MT_TROUBLE_OURS, MT_MEMORY, "no memory for a redirect");
        return MT_TRANSFER_FAILED;
    }
    free(transfer->hop_url);
    transfer->hop_url = url;
    transfer->pause_ms = 0;
    transfer->is_retry = false;
    return MT_TRANSFER_AGAIN;
}

static enum mt_transfer_end conclude_file(struct mt_transfer *transfer)
{
    struct mt_part *part = &transfer->part;
    if (part->size >= 0 && part->length < part->size) {
        fail(transfer, MT_TROUBLE_LOST, MT_IO, "%s: the connection ended at %lld of %lld bytes",
             transfer->url, (long long)part->length, (long long)part->size);
        return try_again(transfer, MT_DOWNLOAD_MAX_ATTEMPTS, 0);
    }
    enum mt_status status = mt_part_finish(part, &transfer->err);
    if (!status)
        return MT_TRANSFER_DONE;
    fail_of_part(transfer, status);
    return status == MT_FORMAT ? try_anew(transfer) : MT_TRANSFER_FAILED;
}

/* Handles a 416, which means that nothing follows the part. If the part has the size of the whole
 * file, then the server is right. */
static enum mt_transfer_end conclude_without_range(struct mt_transfer *transfer)
{
    struct mt_part *part = &transfer->part;
    int64_t begin, size;
    read_content_range(header(transfer, "Content-Range"), &begin, &size);
    if (part->length > 0 && size == part->length && (part->size < 0 || part->size == size))
        return conclude_file(transfer);
    fail(transfer, MT_TROUBLE_MISMATCH, MT_FORMAT,
         "%s: the server has no bytes from %lld on (Content-Range \"%.80s\")", transfer->url,
         (long long)part->length, header(transfer, "Content-Range"));
    return try_anew(transfer);
}

static enum mt_transfer_end conclude_refusal(struct mt_transfer *transfer, int http)
{
    enum mt_status status = http == 401 || http == 403   ? MT_FORBIDDEN
                            : http == 404 || http == 410 ? MT_NOT_FOUND
                            : http == 429                ? MT_THROTTLED
                                                         : MT_IO;
    struct mt_text said = {.limit_bytes = 200};
    const char *message = header(transfer, "X-Error-Message");
    mt_text_append_printable(&said, message, mt_size_min(strlen(message), 120));
    char *origin = transfer->hop_url ? mt_url_origin(transfer->hop_url) : NULL;
    fail(transfer, MT_TROUBLE_STATUS, status, "%s: %s answers %d%s%s", transfer->url,
         origin ? origin : "the server", http, said.length ? ": " : "",
         said.length ? said.bytes : "");
    free(origin);
    mt_text_finish(&said);
    snprintf(transfer->failure.error_code, sizeof transfer->failure.error_code, "%s",
             header(transfer, "X-Error-Code"));
    bool is_passing = http == 408 || http == 425 || http == 429 || (http >= 500 && http != 501);
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    return is_passing ? try_again(transfer, MT_DOWNLOAD_MAX_ATTEMPTS, retry_after_s)
                      : MT_TRANSFER_FAILED;
}

/* Handles an error of libcurl. */
static enum mt_transfer_end conclude_trouble(struct mt_transfer *transfer, CURLcode code)
{
    const char *why = transfer->curl_message[0] ? transfer->curl_message : curl_easy_strerror(code);
    unsigned most_attempts = MT_DOWNLOAD_MAX_ATTEMPTS;
    enum mt_download_trouble trouble = MT_TROUBLE_LOST;
    enum mt_status status = code == CURLE_OPERATION_TIMEDOUT ? MT_TIMEOUT : MT_IO;
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        fail(transfer, MT_TROUBLE_OURS, MT_MEMORY, "%s: no memory for the transfer", transfer->url);
        return MT_TRANSFER_FAILED;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        fail(transfer, MT_TROUBLE_OURS, MT_INVALID, "%s: not a URL that can be fetched: %s",
             at_url(transfer), why);
        return MT_TRANSFER_FAILED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        trouble = MT_TROUBLE_RESOLVE;
        most_attempts = MT_TRANSFER_MAX_UNREACHABLE;
        break;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
        trouble = MT_TROUBLE_CONNECT;
        most_attempts = MT_TRANSFER_MAX_UNREACHABLE;
        break;
    case CURLE_SSL_CONNECT_ERROR:
        trouble = MT_TROUBLE_TLS;
        most_attempts = MT_TRANSFER_MAX_UNREACHABLE;
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
        trouble = MT_TROUBLE_TLS;
        most_attempts = 1;
        break;
    default:
        break;
    }
    fail(transfer, trouble, status, "%s: %s", at_url(transfer), why);
    return try_again(transfer, most_attempts, 0);
}

/* Reads Link: <https://...>; rel="next", perhaps among other links. One that is too long is
 * ignored. */
static void note_next_page(struct mt_transfer *transfer)
{
    char *out = transfer->downloader->next_page;
    out[0] = '\0';
    for (const char *link = strchr(header(transfer, "Link"), '<'); link; link = strchr(link, '<')) {
        const char *end = strchr(link, '>');
        if (!end)
            return;
        size_t length = (size_t)(end - link - 1), n_rest = strcspn(end, "<");
        if (memmem(end, n_rest, "rel=\"next\"", strlen("rel=\"next\"")) &&
            length < sizeof transfer->downloader->next_page) {
            memcpy(out, link + 1, length);
            out[length] = '\0';
            return;
        }
        link = end;
    }
}

enum mt_transfer_end mt_transfer_conclude(struct mt_transfer *transfer, CURLcode code)
{
    int http = http_status(transfer);
    transfer->failure.http_status = http;
    bool is_file = transfer->kind == MT_TRANSFER_FILE;
    if (is_good(transfer, http)) {
        /* A callback that refused the data has written the reason. */
        bool has_refused = code == CURLE_WRITE_ERROR;
        /* For a reply without a body the callback was not called. */
        if (code == CURLE_OK)
            has_refused = begin_reply(transfer) != MT_OK;
        if (has_refused)
            return transfer->failure.trouble == MT_TROUBLE_MISMATCH ? try_anew(transfer)
                                                                    : MT_TRANSFER_FAILED;
        if (code == CURLE_OK && transfer->kind == MT_TRANSFER_PROBE)
            transfer->told_size = content_length(transfer);
        if (code == CURLE_OK && transfer->kind == MT_TRANSFER_DOCUMENT)
            note_next_page(transfer);
        if (code == CURLE_OK)
            return is_file ? conclude_file(transfer) : MT_TRANSFER_DONE;
        return conclude_trouble(transfer, code);
    }
    if (http >= 300 && http <= 308 && http != 304 && http != 305 && http != 306 && http != 300)
        return follow(transfer, http);
    if (http == 416 && is_file)
        return conclude_without_range(transfer);
    if (http >= 200)
        return conclude_refusal(transfer, http);
    return conclude_trouble(transfer, code);
}

void mt_transfer_finish(struct mt_transfer *transfer)
{
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer->hop_url);
    mt_part_close(&transfer->part);
    mt_text_finish(&transfer->text);
    transfer->easy = NULL;
    transfer->headers = NULL;
    transfer->hop_url = NULL;
}
