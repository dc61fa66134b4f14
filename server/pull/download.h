/*
 * Downloads files and small documents over HTTP, with libcurl.
 *
 * A file grows as PATH.part, beside PATH.part.json, which tells what it is a part of: URL, ETag,
 * size and digest. It is renamed to PATH when it is complete and its digest is right. After an
 * interruption the same call continues where the part ends, and fetches only the missing bytes.
 *
 * These failures are tried again, with a pause that doubles (with jitter), and without losing what
 * was received: status 408, 425, 429 (Retry-After is respected) and 5xx, lost connections, stalls,
 * transfers that are too slow, hosts that do not answer. A complete file with the wrong digest is
 * deleted and fetched once more. The attempts are counted anew whenever a file has grown.
 *
 * Redirects are followed from https only to https, and from http to both. The token is sent only to
 * its origin, and never again after a redirect to another one. Proxies are those of the usual
 * variables (https_proxy, all_proxy, no_proxy), certificate authorities those of the system, or of
 * CURL_CA_BUNDLE or SSL_CERT_FILE, and SSL_CERT_DIR.
 *
 * Thread-safety: one thread at a time; any thread and a signal handler may set the cancelling flag.
 */
#ifndef MT_SERVER_PULL_DOWNLOAD_H
#define MT_SERVER_PULL_DOWNLOAD_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MT_DOWNLOAD_PARALLEL 4 /* default number of transfers at once */
#define MT_DOWNLOAD_MAX_PARALLEL 16
#define MT_DOWNLOAD_MAX_ATTEMPTS 6        /* in a row without new bytes */
#define MT_DOWNLOAD_MAX_REDIRECTS 8       /* in a row */
#define MT_DOWNLOAD_MAX_PAUSE_MS 30000    /* between two attempts, without Retry-After */
#define MT_DOWNLOAD_MAX_RETRY_AFTER_S 120 /* a server that demands a longer pause is given up */
#define MT_DOWNLOAD_FIRST_PAUSE_MS 500    /* before the second attempt; doubles */
/* without a byte, after which the connection is given up */
#define MT_DOWNLOAD_STALL_S 30
#define MT_DOWNLOAD_MIN_SPEED 1000     /* bytes a second; a slower transfer is given up */
#define MT_DOWNLOAD_SPEED_S 60         /* time over which the speed is measured */
#define MT_DOWNLOAD_CONNECT_S 20       /* for name, connection and TLS together */
#define MT_DOWNLOAD_MAX_URL_BYTES 4096 /* signed URLs of content hosts have about 1,500 */
#define MT_DOWNLOAD_MAX_FILE_BYTES ((int64_t)1 << 40)

struct mt_downloader;

/* NULL and 0 are the defaults. Strings are copied. */
struct mt_download_settings {
    const char *token;               /* for "Authorization: Bearer"; NULL: none */
    const char *token_origin;        /* any URL of that scheme, host and port gets the token */
    const atomic_bool *is_cancelled; /* once true, everything ends with MT_CANCELLED */
    /* For tests with servers on this machine. */
    int64_t first_pause_ms; /* default MT_DOWNLOAD_FIRST_PAUSE_MS */
    int64_t stall_s;        /* default MT_DOWNLOAD_STALL_S */
    int64_t speed_s;        /* default MT_DOWNLOAD_SPEED_S */
    int64_t min_speed;      /* default MT_DOWNLOAD_MIN_SPEED; < 0: no limit */
    size_t max_parallel;    /* transfers at once; default MT_DOWNLOAD_PARALLEL */
};

/* The first call initialises libcurl, while no other thread may run. MT_INVALID (a token without an
 * origin), MT_MEMORY, MT_IO. */
MT_MUST_CHECK enum mt_status mt_downloader_create(const struct mt_download_settings *settings,
                                                  struct mt_downloader **out, struct mt_error *err);

/* NULL is allowed. */
void mt_downloader_destroy(struct mt_downloader *downloader);

/* The kind of a failure, for callers with messages of their own. A struct mt_error has a sentence
 * in any case. */
enum mt_download_trouble {
    MT_TROUBLE_NONE = 0,
    /* http_status. MT_FORBIDDEN (401, 403), MT_NOT_FOUND (404, 410), MT_THROTTLED (429), MT_IO */
    MT_TROUBLE_STATUS,
    /* there is no such host, or no name server. MT_IO, as for the next four */
    MT_TROUBLE_RESOLVE,
    MT_TROUBLE_CONNECT,   /* nothing listens there, or a proxy refused */
    MT_TROUBLE_TLS,       /* the certificate is not trusted, or no protocol version is shared */
    MT_TROUBLE_LOST,      /* the connection was lost, stalled or too slow several times */
    MT_TROUBLE_REDIRECT,  /* there were too many, or one that is not allowed */
    MT_TROUBLE_MISMATCH,  /* wrong size or digest, twice. MT_FORMAT */
    MT_TROUBLE_TOO_LARGE, /* larger than the limit. MT_LIMIT */
    MT_TROUBLE_DISK,      /* the file cannot be written. MT_IO */
    MT_TROUBLE_DISK_FULL, /* MT_IO; what was received stays */
    MT_TROUBLE_CANCELLED, /* MT_CANCELLED */
    MT_TROUBLE_OURS,      /* MT_INVALID, MT_MEMORY, or libcurl refused an option: MT_IO */
};

struct mt_download_failure {
    enum mt_download_trouble trouble;
    int http_status; /* of the last reply; 0: there was no reply */
    size_t file;     /* index of the file */
    /* The last reply's X-Error-Code, cut; "": none. Hugging Face answers 401 both for what does not
     * exist (RepoNotFound) and for what is gated (GatedRepo). */
    char error_code[32];
};

/* GETs a document of at most limit_bytes into *out (malloc'd, NUL-terminated, owned by the caller).
 * Redirects and retries are as for a file. accept: the media type to request, or NULL. MT_LIMIT
 * where it is larger. failure may be NULL. */
MT_MUST_CHECK enum mt_status mt_download_document(struct mt_downloader *downloader, const char *url,
                                                  const char *accept, size_t limit_bytes,
                                                  char **out, size_t *out_length,
                                                  struct mt_download_failure *failure,
                                                  struct mt_error *err);

/* Returns the URL of the next page from the last document's Link header (rel="next", RFC 8288), or
 * "". It is borrowed until the next document. */
const char *mt_downloader_next_page(const struct mt_downloader *downloader);

/* HEAD: *size gets the file's size, or -1 where the server does not tell it. MT_NOT_FOUND: the file
 * does not exist; a server without HEAD gives MT_TROUBLE_STATUS with 405 or 501. failure may be
 * NULL. */
MT_MUST_CHECK enum mt_status mt_download_probe(struct mt_downloader *downloader, const char *url,
                                               int64_t *size, struct mt_download_failure *failure,
                                               struct mt_error *err);

enum mt_digest_kind {
    MT_DIGEST_NONE = 0,
    MT_DIGEST_SHA256,
    MT_DIGEST_GIT_BLOB, /* SHA-1 of "blob SIZE", a NUL and the bytes; needs a known size */
};

/* A file to fetch. If neither digest nor size is known, then anything that the server sends is
 * accepted: its Content-Length has to be right, and it is resumed only where a strong ETag tells
 * that it is the same. */
struct mt_download {
    const char *url;  /* http or https */
    const char *path; /* where the file is written */
    int64_t size;     /* -1: unknown */
    enum mt_digest_kind digest_kind;
    const char *digest; /* lowercase hexadecimal, 64 or 40 digits; NULL with MT_DIGEST_NONE */
    /* Set on success. */
    int64_t final_size;
    char sha256[65];
};

enum mt_download_event {
    MT_DOWNLOAD_ADVANCED, /* bytes were received; a few times a second */
    MT_DOWNLOAD_FINISHED, /* the file is complete and verified */
    MT_DOWNLOAD_PRESENT,  /* the file was complete before, and is verified */
    MT_DOWNLOAD_RESUMED,  /* the file is continued behind the bytes that were there */
    MT_DOWNLOAD_RETRY,    /* the file is tried again after a pause; why has the reason */
};

struct mt_download_progress {
    enum mt_download_event event;
    size_t file; /* index; n_files with MT_DOWNLOAD_ADVANCED, which is about several files */
    size_t n_files, n_finished;
    /* bytes of all files, including those that were there before; total 0: unknown */
    int64_t done, total;
    int64_t received;  /* bytes received over the network, for a rate */
    int64_t file_done; /* bytes of this file that are there */
    const char *why;   /* MT_DOWNLOAD_RETRY: a message, which tells the pause */
};
typedef void mt_download_on_progress(void *context, const struct mt_download_progress *progress);

/* Fetches files into existing directories, several at once, in their order.
 *
 * A file that is already at its path is verified and kept if it is right (by the digest or, without
 * one, by PATH.part.json), otherwise deleted. The first failure ends all transfers; parts stay, to
 * be resumed. on_progress and failure may be NULL. */
MT_MUST_CHECK enum mt_status mt_download_files(struct mt_downloader *downloader,
                                               struct mt_download *files, size_t n_files,
                                               mt_download_on_progress *on_progress, void *context,
                                               struct mt_download_failure *failure,
                                               struct mt_error *err);

/* Names of the files beside an incomplete file. */
#define MT_PART_SUFFIX ".part"
#define MT_PART_NOTE_SUFFIX ".part.json"

#endif
