/*
 * Where a model came from, as attentiond pull has written it down:
 *
 *   {"from": "hf:Helsinki-NLP/opus-mt-en-fr@<commit>", "licence": "apache-2.0",
 *    "pulled": "2026-11-23T10:00:00Z", "files": [...]}
 *
 * in NAME/attentiond-pull.json, or beside a model in one file in NAME.argosmodel.pull.json. Other
 * members are ignored. A snapshot of Hugging Face's cache says the same by its path.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_STORE_ORIGIN_H
#define MT_SERVER_STORE_ORIGIN_H

#include "base/status.h"

#include <stdbool.h>

#define MT_ORIGIN_FILE "attentiond-pull.json"
#define MT_ORIGIN_ENDING ".pull.json"

/* Longer ones are taken for none. */
#define MT_ORIGIN_FROM_BYTES 512
#define MT_ORIGIN_LICENCE_BYTES 64
#define MT_ORIGIN_TIME_BYTES 32

struct mt_origin {
    bool is_pulled;                        /* the file is there */
    char from[MT_ORIGIN_FROM_BYTES];       /* what attentiond pull takes; "": not known */
    char licence[MT_ORIGIN_LICENCE_BYTES]; /* "": it does not say */
    char pulled[MT_ORIGIN_TIME_BYTES];     /* "": not known */
};

/* Reads the origin of a model, which is a directory or one file. Where it is no JSON, or has
 * another form, nothing is known of the origin. Fails with MT_MEMORY alone. */
MT_MUST_CHECK enum mt_status mt_origin_read(const char *path, struct mt_origin *out,
                                            struct mt_error *err);

/* Whether the small file of that name in a model's directory is as it came with the model, and so says
 * what its author wants: attentiond-pull.json has it with this SHA-256; or the directory is a
 * snapshot of Hugging Face's cache, or one of LibreTranslate's packages, where others write. A file
 * that was written or changed since says what the operator wants. Of one that is not there: false.
 * MT_IO, MT_LIMIT (longer than limit_bytes), MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_origin_brought(const char *directory, const char *name,
                                               size_t limit_bytes, bool *out, struct mt_error *err);

/* The path of a model's file about its origin; malloc'd. */
MT_MUST_CHECK enum mt_status mt_origin_path(const char *path, char **out, struct mt_error *err);

#endif
