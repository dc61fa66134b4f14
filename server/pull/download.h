/*
 * Files and small documents over HTTP, with libcurl.
 *
 * A file grows as PATH.part, beside PATH.part.json, which says what it is a part of: URL, ETag, size
 * and digest. It becomes PATH when all of it is there and its digest is right. After any kind of end
 * the same call goes on where the part ends, and fetches only the bytes that are missing.
 *
 * What is tried again, with a pause that doubles (with jitter), without losing what is there: status
 * 408, 425, 429 (Retry-After is kept) and 5xx, lost connections, stalls, drips, hosts that do not answer. A
 * file that is whole and has the wrong digest is deleted and fetched once more. Attempts count anew
 * whenever a file has grown.
 *
 * Redirects are followed from https to https only, from http to both. The token goes to the origin
 * that it is for, and no further once a redirect has led elsewhere. Proxies are those of the usual
 * variables (https_proxy, all_proxy, no_proxy), certificate authorities the system's, or those of
 * CURL_CA_BUNDLE or SSL_CERT_FILE, and SSL_CERT_DIR.
 *
 * Thread-safety: one thread at a time; the cancelling flag may be set by any, and by a signal handler.
 */
#ifndef MT_SERVER_PULL_DOWNLOAD_H
#define MT_SERVER_PULL_DOWNLOAD_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MT_DOWNLOAD_PARALLEL 4 /* transfers at once, unless the settings say otherwise */
#define MT_DOWNLOAD_MAX_PARALLEL 16
#define MT_DOWNLOAD_MAX_ATTEMPTS 6        /* in a row that brought nothing */
#define MT_DOWNLOAD_MAX_REDIRECTS 8       /* in a row */
#define MT_DOWNLOAD_MAX_PAUSE_MS 30000    /* between two attempts, of our own will */
#define MT_DOWNLOAD_MAX_RETRY_AFTER_S 120 /* a server that wants a longer pause is given up */
#define MT_DOWNLOAD_FIRST_PAUSE_MS 500    /* before the second attempt; doubles */
#define MT_DOWNLOAD_STALL_S 30            /* without a byte: the connection is lost */
#define MT_DOWNLOAD_MIN_SPEED 1000     /* bytes a second of each transfer: slower ones are lost, */
#define MT_DOWNLOAD_SPEED_S 60         /* measured over so long */
#define MT_DOWNLOAD_CONNECT_S 20       /* name, connection and TLS together */
#define MT_DOWNLOAD_MAX_URL_BYTES 4096 /* signed URLs of content hosts have some 1,500 */
#define MT_DOWNLOAD_MAX_FILE_BYTES ((int64_t)1 << 40)

struct mt_downloader;

/* NULL or 0 is the default. Strings are copied. */
struct mt_download_settings {
    const char *token;               /* for "Authorization: Bearer"; NULL: none */
    const char *token_origin;        /* whom it is for: any URL of that scheme, host and port */
    const atomic_bool *is_cancelled; /* becomes true: what runs ends with MT_CANCELLED */
    /* For servers on this machine, which need no patience. */
    int64_t first_pause_ms; /* MT_DOWNLOAD_FIRST_PAUSE_MS */
    int64_t stall_s;        /* MT_DOWNLOAD_STALL_S */
    int64_t speed_s;        /* MT_DOWNLOAD_SPEED_S */
    int64_t min_speed;      /* MT_DOWNLOAD_MIN_SPEED; < 0: any */
    size_t max_parallel;    /* transfers at once: MT_DOWNLOAD_PARALLEL */
};

/* libcurl is initialised at the first one: no other thread may run then. MT_INVALID (a token without
 * an origin), MT_MEMORY, MT_IO. */
MT_MUST_CHECK enum mt_status mt_downloader_create(const struct mt_download_settings *settings,
                                                  struct mt_downloader **out, struct mt_error *err);

/* Takes NULL. */
void mt_downloader_destroy(struct mt_downloader *downloader);

/* What went wrong, for those who say it in their own words. The struct mt_error has a sentence of
 * ours in any case. */
enum mt_download_trouble {
    MT_TROUBLE_NONE = 0,
    MT_TROUBLE_STATUS,    /* http_status. MT_FORBIDDEN (401, 403), MT_NOT_FOUND (404, 410),
                             MT_THROTTLED (429), MT_IO */
    MT_TROUBLE_RESOLVE,   /* no such host, or no name server. MT_IO, as the next four */
    MT_TROUBLE_CONNECT,   /* nobody listens there, or a proxy refused */
    MT_TROUBLE_TLS,       /* no trust in the certificate, or no common language */
    MT_TROUBLE_LOST,      /* cut, stalled or too slow, again and again */
    MT_TROUBLE_REDIRECT,  /* too many, or to what is not allowed */
    MT_TROUBLE_MISMATCH,  /* wrong size or digest, twice. MT_FORMAT */
    MT_TROUBLE_TOO_LARGE, /* more than the limit. MT_LIMIT */
    MT_TROUBLE_DISK,      /* the file cannot be written. MT_IO */
    MT_TROUBLE_DISK_FULL, /* likewise. MT_IO; what is there stays */
    MT_TROUBLE_CANCELLED, /* MT_CANCELLED */
    MT_TROUBLE_OURS,      /* MT_INVALID, MT_MEMORY, or libcurl refused an option: MT_IO */
};

struct mt_download_failure {
    enum mt_download_trouble trouble;
    int http_status; /* of the last reply; 0: there was none */
    size_t file;     /* which of the files */
    /* The last reply's X-Error-Code, cut; "": none. Hugging Face answers 401 both for what is missing
     * (RepoNotFound) and for what is gated (GatedRepo). */
    char error_code[32];
};

/* GETs a document of at most limit_bytes into *out (malloc'd, NUL-terminated, the caller's), with
 * the redirects and the patience of a file. accept: the media type that is asked for, or NULL.
 * MT_LIMIT where it is larger. failure may be NULL. */
MT_MUST_CHECK enum mt_status mt_download_document(struct mt_downloader *downloader, const char *url,
                                                  const char *accept, size_t limit_bytes,
                                                  char **out, size_t *out_length,
                                                  struct mt_download_failure *failure,
                                                  struct mt_error *err);

/* Where the header Link of the last document that was got says that the next one is (rel="next", RFC
 * 8288): an address, borrowed until the next document, or "". */
const char *mt_downloader_next_page(const struct mt_downloader *downloader);

/* HEAD: *size is that of the file, -1 where the server does not say. What is missing is MT_NOT_FOUND,
 * a server that knows no HEAD MT_TROUBLE_STATUS with 405 or 501. failure may be NULL. */
MT_MUST_CHECK enum mt_status mt_download_probe(struct mt_downloader *downloader, const char *url,
                                               int64_t *size, struct mt_download_failure *failure,
                                               struct mt_error *err);

enum mt_digest_kind {
    MT_DIGEST_NONE = 0,
    MT_DIGEST_SHA256,
    MT_DIGEST_GIT_BLOB, /* SHA-1 of "blob SIZE", a NUL and the bytes; size must be known */
};

/* A file to fetch. Where neither digest nor size is known, it is what the server sends: its
 * Content-Length is kept, and it is resumed only where a strong ETag says that it is the same. */
struct mt_download {
    const char *url;  /* http or https */
    const char *path; /* where it goes */
    int64_t size;     /* -1: not known */
    enum mt_digest_kind digest_kind;
    const char *digest; /* lowercase hexadecimal, of 64 or 40 digits; NULL with MT_DIGEST_NONE */
    /* Set on success. */
    int64_t final_size;
    char sha256[65];
};

enum mt_download_event {
    MT_DOWNLOAD_ADVANCED, /* bytes came; a few times a second */
    MT_DOWNLOAD_FINISHED, /* file is whole and verified */
    MT_DOWNLOAD_PRESENT,  /* likewise, and was so before */
    MT_DOWNLOAD_RESUMED,  /* file goes on at the bytes that were there */
    MT_DOWNLOAD_RETRY,    /* file is tried again after a pause: why says what happened */
};

struct mt_download_progress {
    enum mt_download_event event;
    size_t file; /* which; n_files with MT_DOWNLOAD_ADVANCED: several */
    size_t n_files, n_finished;
    int64_t done, total; /* bytes of all files, those that were there included; total 0: unknown */
    int64_t received;    /* bytes that came over the network, for a rate */
    int64_t file_done;   /* of file: bytes that are there */
    const char *why;     /* MT_DOWNLOAD_RETRY: a message, with the pause */
};
typedef void mt_download_on_progress(void *context, const struct mt_download_progress *progress);

/* Fetches files into directories that exist, several at once, in their order.
 * What lies at a path already is verified and kept where it is right (by the digest, or by what
 * PATH.part.json says where there is none), else deleted. The first failure ends the others, too;
 * parts stay, to be resumed. on_progress and failure may be NULL. */
MT_MUST_CHECK enum mt_status mt_download_files(struct mt_downloader *downloader,
                                               struct mt_download *files, size_t n_files,
                                               mt_download_on_progress *on_progress, void *context,
                                               struct mt_download_failure *failure,
                                               struct mt_error *err);

/* What stands beside a file until it belongs to a model. */
#define MT_PART_SUFFIX ".part"
#define MT_PART_NOTE_SUFFIX ".part.json"

#endif
