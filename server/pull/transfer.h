/*
 * One GET or HEAD with libcurl, hop by hop: what is asked, what becomes of the bytes, and what its end
 * means. Redirects are followed here rather than by libcurl, so that the token's way and the schemes
 * are decided in one place, whatever the library's version.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_TRANSFER_H
#define MT_SERVER_PULL_TRANSFER_H

#include "base/text.h"
#include "server/pull/download.h"
#include "server/pull/part.h"

#include <curl/curl.h>

#define MT_TRANSFER_ERROR_BODY_LIMIT ((size_t)1 << 20) /* read and dropped, to keep a connection */
#define MT_TRANSFER_GROWTH_BYTES (64 << 10)            /* with so many more, attempts count anew */
#define MT_TRANSFER_MAX_UNREACHABLE 3 /* attempts at a host that cannot be reached */

struct mt_downloader {
    char *token, *token_origin; /* as origin_of gives it; NULL: none */
    const atomic_bool *is_cancelled;
    int64_t first_pause_ms, stall_s;
    int64_t min_speed, speed_s; /* min_speed 0: any */
    size_t max_parallel;
    char *ca_bundle, *ca_folder;               /* NULL: libcurl's own */
    uint64_t random;                           /* for jitter */
    int64_t n_received;                        /* bytes of bodies */
    char next_page[MT_DOWNLOAD_MAX_URL_BYTES]; /* of the last document; "": none */
};

enum mt_transfer_kind { MT_TRANSFER_DOCUMENT, MT_TRANSFER_PROBE, MT_TRANSFER_FILE };

enum mt_transfer_end {
    MT_TRANSFER_DONE,
    MT_TRANSFER_AGAIN, /* after pause_ms: at another hop, or another attempt */
    MT_TRANSFER_FAILED,
};

struct mt_transfer {
    struct mt_downloader *downloader;
    enum mt_transfer_kind kind;
    const char *url, *accept; /* accept: may be NULL */
    CURL *easy;
    struct curl_slist *headers;
    char curl_message[CURL_ERROR_SIZE];

    /* this hop */
    char *hop_url; /* where redirects led; NULL: url */
    unsigned n_redirects;
    bool has_left;      /* the token's origin, for good */
    bool is_begun;      /* the reply's head was looked at */
    int64_t asked_from; /* bytes from there on; 0: all */
    int64_t n_body;

    /* all attempts */
    unsigned n_attempts, n_mismatches;
    int64_t high_water; /* length of the part when attempts were last counted anew */
    bool was_resumed;   /* a range was answered with it */
    int64_t pause_ms;   /* MT_TRANSFER_AGAIN */
    bool is_retry;      /* likewise: it is worth a line; err says why */

    /* what came */
    struct mt_part part; /* of a file */
    struct mt_text text; /* of a document */
    int64_t told_size;   /* of a probe */

    struct mt_download_failure failure;
    struct mt_error err;
};

/* file: for MT_TRANSFER_FILE, else NULL. limit_bytes: of a document. MT_MEMORY, MT_INVALID, MT_IO. */
MT_MUST_CHECK enum mt_status mt_transfer_begin(struct mt_transfer *transfer,
                                               struct mt_downloader *downloader,
                                               enum mt_transfer_kind kind, const char *url,
                                               struct mt_download *file, size_t limit_bytes);

/* Sets the handle for the next hop. Failures are in err and failure, as everywhere here. */
MT_MUST_CHECK enum mt_status mt_transfer_prepare(struct mt_transfer *transfer);

/* The handle has ended with code. */
enum mt_transfer_end mt_transfer_conclude(struct mt_transfer *transfer, CURLcode code);

/* Takes {0}. */
void mt_transfer_finish(struct mt_transfer *transfer);

/* "https://host:port" of a URL, lowercase, malloc'd; NULL: it is none, or there is no memory. */
char *mt_url_origin(const char *url);

#endif
