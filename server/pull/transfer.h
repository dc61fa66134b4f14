/*
 * One GET or HEAD with libcurl, one hop after the other: its request, what is done with the bytes,
 * and what its result means. Redirects are followed here instead of by libcurl, so that one place
 * decides which hosts get the token and which schemes are allowed, for every version of the
 * library.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_TRANSFER_H
#define MT_SERVER_PULL_TRANSFER_H

#include "base/text.h"
#include "server/pull/download.h"
#include "server/pull/part.h"

#include <curl/curl.h>

/* of an error's body, which is read and dropped, so that the connection can be used again */
#define MT_TRANSFER_ERROR_BODY_LIMIT ((size_t)1 << 20)
/* after this growth attempts are counted anew */
#define MT_TRANSFER_GROWTH_BYTES (64 << 10)
#define MT_TRANSFER_MAX_UNREACHABLE 3 /* attempts at a host that cannot be reached */

struct mt_downloader {
    char *token, *token_origin; /* origin as mt_url_origin returns it; NULL: none */
    const atomic_bool *is_cancelled;
    int64_t first_pause_ms, stall_s;
    int64_t min_speed, speed_s; /* min_speed 0: no limit */
    size_t max_parallel;
    char *ca_bundle, *ca_folder;               /* NULL: libcurl's defaults */
    uint64_t random;                           /* state of the generator for jitter */
    int64_t n_received;                        /* bytes of bodies */
    char next_page[MT_DOWNLOAD_MAX_URL_BYTES]; /* from the last document; "": none */
};

enum mt_transfer_kind { MT_TRANSFER_DOCUMENT, MT_TRANSFER_PROBE, MT_TRANSFER_FILE };

enum mt_transfer_end {
    MT_TRANSFER_DONE,
    MT_TRANSFER_AGAIN, /* after pause_ms: the next hop, or another attempt */
    MT_TRANSFER_FAILED,
};

struct mt_transfer {
    struct mt_downloader *downloader;
    enum mt_transfer_kind kind;
    const char *url, *accept; /* accept may be NULL */
    CURL *easy;
    struct curl_slist *headers;
    char curl_message[CURL_ERROR_SIZE];

    /* of this hop */
    char *hop_url; /* target of redirects; NULL: url */
    unsigned n_redirects;
    bool has_left;      /* a redirect has left the token's origin, so it is never sent again */
    bool is_begun;      /* the head of the reply has been processed */
    int64_t asked_from; /* first byte that was requested; 0: everything */
    int64_t n_body;

    /* of all attempts */
    unsigned n_attempts, n_mismatches;
    int64_t high_water; /* length of the part when attempts were last counted anew */
    bool was_resumed;   /* the server has sent a requested range */
    int64_t pause_ms;   /* for MT_TRANSFER_AGAIN */
    bool is_retry;      /* for MT_TRANSFER_AGAIN: it is worth a message, with the reason in err */

    /* what was received */
    struct mt_part part; /* for a file */
    struct mt_text text; /* for a document */
    int64_t told_size;   /* for a probe */

    struct mt_download_failure failure;
    struct mt_error err;
};

/* file is NULL except for MT_TRANSFER_FILE. limit_bytes is for a document. MT_MEMORY, MT_INVALID,
 * MT_IO. */
MT_MUST_CHECK enum mt_status mt_transfer_begin(struct mt_transfer *transfer,
                                               struct mt_downloader *downloader,
                                               enum mt_transfer_kind kind, const char *url,
                                               struct mt_download *file, size_t limit_bytes);

/* Prepares the handle for the next hop. Failures are in err and failure. */
MT_MUST_CHECK enum mt_status mt_transfer_prepare(struct mt_transfer *transfer);

/* Evaluates a handle that has ended with code. */
enum mt_transfer_end mt_transfer_conclude(struct mt_transfer *transfer, CURLcode code);

/* {0} is allowed. */
void mt_transfer_finish(struct mt_transfer *transfer);

/* Returns "https://host:port" of a URL, lowercase, malloc'd; NULL: it is not a URL, or there is no
 * memory. */
char *mt_url_origin(const char *url);

#endif
